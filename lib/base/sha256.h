/* SPDX-License-Identifier: Apache-2.0 */
/** SHA-256 (FIPS 180-4). @threads any thread */
#ifndef LP_BASE_SHA256_H
#define LP_BASE_SHA256_H

#include <stddef.h>

/** 64 hexadecimal digits, as sha256sum prints them, and a NUL. */
void lp_sha256(const void *bytes, size_t size, char hex_out[65]);

#endif

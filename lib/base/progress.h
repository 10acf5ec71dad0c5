/* SPDX-License-Identifier: Apache-2.0 */
/** How far a long call has come, for llmperf_progress(). @threads any thread; calls of several
 * threads replace each other's state */
#ifndef LP_BASE_PROGRESS_H
#define LP_BASE_PROGRESS_H

#include <stdint.h>

/** @param what  static text: "reading a recording"; NULL: nothing long is in progress. @param done
 * of `total`; total 0: not known */
void lp_progress(const char *what, uint64_t done, uint64_t total);

#endif

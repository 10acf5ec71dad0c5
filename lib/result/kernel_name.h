/* SPDX-License-Identifier: Apache-2.0 */
/** Kernel names for people; lp_kernel_shorten() stands in result.h. For lib/result only. @threads
 * one at a time */
#ifndef LP_RESULT_KERNEL_NAME_H
#define LP_RESULT_KERNEL_NAME_H

#include "lib/result/result.h"

/** Append the C++ name; the name itself if it is not mangled or the C++ runtime is not there. */
void lp_kernel_demangle(struct lp_text *text, const char *name);

#endif

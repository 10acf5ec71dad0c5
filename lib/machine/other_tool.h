/* SPDX-License-Identifier: Apache-2.0 */
/** Tools beside us in this process, by what they leave in the environment. */
#ifndef LP_MACHINE_OTHER_TOOL_H
#define LP_MACHINE_OTHER_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/** Does a tool of the vendor, or one that the driver loads, profile this process? Then it holds
 * CUPTI. @param name  Out: who, for people. */
bool lp_other_tool(char *name, size_t size);

#endif

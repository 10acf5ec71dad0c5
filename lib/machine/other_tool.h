/* SPDX-License-Identifier: Apache-2.0 */
/** Other tools in this process, detected by the environment variables they set. */
#ifndef LP_MACHINE_OTHER_TOOL_H
#define LP_MACHINE_OTHER_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/** Does a tool of the vendor, or one that the driver loads, profile this process? Then it owns
 * CUPTI. @param name  Out: display name of the tool. */
bool lp_other_tool(char *name, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Variables of the environment. @threads any thread */
#ifndef LP_BASE_VARIABLE_H
#define LP_BASE_VARIABLE_H

#include <stdbool.h>

/** Value of an environment variable; NULL: not set, or lp_variables_are_ignored(). The library
 * reads the environment only through this function. */
const char *lp_variable(const char *name);

/** Does the program have rights that its user may lack (setuid, setgid, file capabilities)? Then
 * the user's environment must not choose what is loaded, read or written. */
bool lp_variables_are_ignored(void);

#endif

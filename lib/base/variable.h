/* SPDX-License-Identifier: Apache-2.0 */
/** Variables of the environment. @threads any thread */
#ifndef LP_BASE_VARIABLE_H
#define LP_BASE_VARIABLE_H

#include <stdbool.h>

/** The value of a variable; NULL: not set, or lp_variables_are_ignored(). The only way in which the
 * library reads the environment. */
const char *lp_variable(const char *name);

/** The program has rights that its user may not have (setuid, setgid, file capabilities), so that
 * the user's environment must not choose what is loaded, read or written. */
bool lp_variables_are_ignored(void);

#endif

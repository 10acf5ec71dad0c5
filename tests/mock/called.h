/* SPDX-License-Identifier: Apache-2.0 */
/** Shared by the parts of the stand-in for libcupti. */
#ifndef TESTS_MOCK_CALLED_H
#define TESTS_MOCK_CALLED_H

/** Count a call by its name without "cupti". @return what it shall answer */
int called(const char *name);

/** The activity part, as it was loaded. */
void reset_activity(void);

#endif

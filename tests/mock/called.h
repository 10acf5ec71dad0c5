/* SPDX-License-Identifier: Apache-2.0 */
/** Shared by the parts of the stand-in for libcupti. */
#ifndef TESTS_MOCK_CALLED_H
#define TESTS_MOCK_CALLED_H

#include <stdbool.h>
#include <stdint.h>

/** Count a call by its name without "cupti". @return what it shall answer */
int called(const char *name);

/** The activity part, as it was loaded. */
void reset_activity(void);

/** The same of PC sampling; and what it samples while it is started. */
void reset_stalls(void);
void stall(const char *kernel, uint64_t offset, uint32_t reason, uint32_t samples);
uint32_t period(void);

/** While PC sampling is enabled, no kind of records can be. */
bool sampling_enabled(void);

#endif

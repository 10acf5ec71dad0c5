/* SPDX-License-Identifier: Apache-2.0 */
/** What tests of GPU data share. Yours: llmperf_hardware_free(). */
#ifndef TESTS_SUPPORT_HARDWARE_H
#define TESTS_SUPPORT_HARDWARE_H

#include <stdbool.h>

#include "llmperf/hardware.h"

/** What is found; the test fails if nothing is. */
llmperf_hardware *find_gpu(const llmperf_hardware_query *query);
llmperf_hardware *find_gpu_name(const char *name);

/** Values, held to the rule that each has a source or a reason. */
llmperf_hardware_value peak_of(const llmperf_hardware *hardware, const char *dtype);
llmperf_hardware_value quantity_of(const llmperf_hardware *hardware, uint32_t which);
double bandwidth_of(const llmperf_hardware *hardware);
void assert_near(double value, double expected, double tolerance, const char *what);

/** Does a warning hold `part`? */
bool hardware_warns(const llmperf_hardware *hardware, const char *part);

/** What the driver says about an H200. */
llmperf_hardware_query h200_query(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/hardware.h"

llmperf_hardware *find_gpu(const llmperf_hardware_query *query)
{
    llmperf_hardware *hardware = NULL;

    if (llmperf_hardware_find(query, NULL, &hardware) < 0)
        fail_msg("%s: %s", query->name ? query->name : "no name", llmperf_last_error());
    return hardware;
}

llmperf_hardware *find_gpu_name(const char *name)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;

    query.name = name;
    return find_gpu(&query);
}

llmperf_hardware_value peak_of(const llmperf_hardware *hardware, const char *dtype)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    if (llmperf_hardware_peak(hardware, dtype, &value) < 0)
        fail_msg("%s", llmperf_last_error());
    assert_true(isnan(value.value) == (value.origin == LLMPERF_ORIGIN_NONE));
    assert_true((value.reason != NULL) == isnan(value.value));
    assert_true((value.source != NULL) == !isnan(value.value));
    assert_true(isnan(value.value) || value.confidence != LLMPERF_CONFIDENCE_NONE);
    return value;
}

llmperf_hardware_value quantity_of(const llmperf_hardware *hardware, uint32_t which)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    assert_int_equal(llmperf_hardware_quantity(hardware, which, &value), LLMPERF_OK);
    return value;
}

double bandwidth_of(const llmperf_hardware *hardware)
{
    return quantity_of(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).value;
}

void assert_near(double value, double expected, double tolerance, const char *what)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %.10g, not %.10g", what, value, expected);
}

bool hardware_warns(const llmperf_hardware *hardware, const char *part)
{
    const char *line;

    for (size_t i = 0; (line = llmperf_hardware_warning(hardware, i)); i++)
        if (strstr(line, part))
            return true;
    return false;
}

/* What cuDeviceGetAttribute gives for an H200. */
llmperf_hardware_query h200_query(void)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;

    query.name = "NVIDIA H200";
    query.memory_bytes = 150109880320;
    query.cc_major = 9;
    query.sm_count = 132;
    query.clock_khz = 1980000;
    query.memory_clock_khz = 3201000;
    query.bus_width_bits = 6016;
    query.l2_bytes = 62914560;
    return query;
}

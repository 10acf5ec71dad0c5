/* SPDX-License-Identifier: Apache-2.0 */
/** What tests tell the stand-in for libnvidia-ml, by dlsym(). */
#ifndef TESTS_MOCK_NVML_H
#define TESTS_MOCK_NVML_H

/** Results are those of NVML: 0 is success, 3 is "not supported". */
struct mock_nvml {
    int init_result, find_result, energy_result, power_result, clock_result, memory_result;
    const char *uuid;    /* of the only GPU; NULL: any */
    double watts;        /* the counter grows with the time */
    long long offset_mj; /* added to the counter */
    int still;           /* the counter stands still */
    unsigned power_mw, sm_mhz, memory_mhz, celsius;
    unsigned long long reasons, used_bytes;
};

void mock_nvml_set(const struct mock_nvml *wanted);

/** Calls since mock_nvml_set(): of the counter, and of nvmlInit_v2() without nvmlShutdown(). */
int mock_nvml_reads(void);
int mock_nvml_open(void);

#endif

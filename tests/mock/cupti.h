/* SPDX-License-Identifier: Apache-2.0 */
/** What tests tell the stand-in for libcupti, by dlsym(). @threads one at a time */
#ifndef TESTS_MOCK_CUPTI_H
#define TESTS_MOCK_CUPTI_H

#include <stdint.h>

/** What DeviceSupported says is in the way. */
enum mock_obstacle { MOCK_NOTHING, MOCK_OLD, MOCK_VGPU, MOCK_CONFIDENTIAL, MOCK_WSL };

struct mock_cupti {
    /** As it was loaded: nothing fails, one pass, nothing was called. */
    void (*reset)(void);
    /** From now on calls of this name (without "cupti") answer `result`. */
    void (*set_failure)(const char *call, int result);
    void (*obstruct)(enum mock_obstacle obstacle);
    void (*set_passes)(uint32_t passes);
    /** The beginning of a range takes at least so long. */
    void (*set_delay)(uint32_t us);
    /** How often a call was made. */
    unsigned (*count)(const char *call);
    /** The GPU works: `amount` goes into the range that is open. */
    void (*work)(double amount);
    /** While samples are taken: `count` more, one behind another, `value` in each. */
    void (*sample)(unsigned count, double value);
    /** So many are lost on the way. */
    void (*lose)(unsigned count);
    /** The time at which the next sample begins. */
    uint64_t (*now)(void);
    /** Of the configuration in use. */
    uint64_t (*interval)(void);
};

/** The one symbol to look for: "mock_cupti". */
typedef const struct mock_cupti *mock_cupti_get(void);

#endif

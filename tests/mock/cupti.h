/* SPDX-License-Identifier: Apache-2.0 */
/** What tests tell the stand-in for libcupti, by dlsym(). @threads one at a time */
#ifndef TESTS_MOCK_CUPTI_H
#define TESTS_MOCK_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cupti/abi.h"

/** Stall reasons of the stand-in. */
enum mock_reason { MOCK_LONG_SCOREBOARD, MOCK_NOT_ISSUED, MOCK_WAIT, MOCK_SELECTED };

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
    /** While PC sampling is started: an instruction of a kernel is sampled, with a reason of
     * mock_reason. NULL: of a kernel that CUPTI does not know. */
    void (*stall)(const char *kernel, uint64_t offset, uint32_t reason, uint32_t samples);
    /** Of PC sampling: 2^period cycles. */
    uint32_t (*period)(void);
};

/** The symbol to look for: "mock_cupti". */
typedef const struct mock_cupti *mock_cupti_get(void);

/** A resource callback in the middle of a call. */
struct mock_resource {
    uint32_t id;
    struct lp_cupti_graph_data graph; /* handles are ids */
};

/** A call of the driver and the device work that it starts. */
struct mock_call {
    uint32_t id;               /* driver callback id, see cupti_cbids.h */
    int result;                /* one that fails starts no work */
    uint32_t kind, records;    /* of its device work */
    const char *name;          /* of its kernels */
    uint64_t bytes;            /* of its copies and sets */
    uint64_t node;             /* graph node of the first record; those behind it count up */
    const void *parameters[4]; /* what a callback may look at */
    void *context;
    const struct mock_resource *resources;
    uint32_t resource_count;
};

/** Callbacks and activity records. What is on is what the library switched on; a record comes with
 * the time of the library's clock. @threads any thread */
struct mock_activity {
    /** Enter, resources, records, exit, on this thread. @return its correlation id */
    uint32_t (*call)(const struct mock_call *call);
    /** One driver callback alone, whether it is on or not. */
    void (*tell)(const struct mock_call *call, uint32_t site, uint32_t correlation);
    void (*tell_resource)(uint32_t id, const struct lp_cupti_graph_data *graph);
    /** The program loads code. */
    void (*load)(const void *cubin, size_t size);
    /** A record as it stands, if its kind is on or 0. */
    void (*put_record)(uint32_t kind, const void *record);
    /** The driver drops so many records. */
    void (*drop)(size_t count);
    /** What cuptiGetVersion() says. */
    void (*set_version)(uint32_t version);
    /** Another profiler has CUPTI; NULL: none. */
    void (*hold)(const char *holder);
    /** A callback of a domain; of domain 0 the records of a kind. */
    bool (*is_on)(uint32_t domain, uint32_t id);
};

/** The symbol to look for: "mock_activity". */
typedef const struct mock_activity *mock_activity_get(void);

#endif

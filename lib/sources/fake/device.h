/* SPDX-License-Identifier: Apache-2.0 */
/** Device of a script: streams that run operations in order, with a fault injected every N records.
 * @threads one at a time per object */
#ifndef LP_SOURCES_FAKE_DEVICE_H
#define LP_SOURCES_FAKE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/device/device.h"
#include "lib/sources/fake/script.h"

/** Bit in correlation ids without a launch. */
#define LP_FAKE_NEVER_LAUNCHED 0x80000000u

struct lp_fake_device {
    struct lp_names *names;
    struct lp_hashmap streams; /* (device and stream, context) -> index of free_ns */
    LP_VECTOR(uint64_t) free_ns;
    uint8_t fault; /* enum lp_fake_fault */
    uint64_t fault_every, fault_seen;
    uint64_t random;
    LP_VECTOR(struct lp_activity) activities, late; /* to be sent; `late` only at the end */
};

void lp_fake_device_init(struct lp_fake_device *device, struct lp_names *names);
void lp_fake_device_clear(struct lp_fake_device *device);

/** Enable the fault of `op`. */
void lp_fake_device_set_fault(struct lp_fake_device *device, const struct lp_fake_op *op);

/** Is this fault enabled, and does it occur this time? */
bool lp_fake_device_strikes(struct lp_fake_device *device, enum lp_fake_fault fault);

/** Add an operation on the statement's stream that can start at `now_ns`. `activity` says what
 * runs. 0 or LLMPERF_ENOMEM. */
int lp_fake_device_run(struct lp_fake_device *device, uint64_t now_ns, const struct lp_fake_op *op,
                       struct lp_activity activity, const char *name);

/** Send the activities; with `all` the late ones, too. */
void lp_fake_device_send(struct lp_fake_device *device, bool all,
                         const struct lp_device_sink *sink);

/** A time of the script's clock, which stops at its end. */
uint64_t lp_fake_add_time(uint64_t time_ns, uint64_t more_ns);

#endif

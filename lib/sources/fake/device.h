/* SPDX-License-Identifier: Apache-2.0 */
/** The device that a script runs on: streams that run one operation after another, and the fault
 * injected every so many records.
 * @threads one at a time per object */
#ifndef LP_SOURCES_FAKE_DEVICE_H
#define LP_SOURCES_FAKE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/device/device.h"
#include "lib/sources/fake/script.h"

/** Set in correlation ids that no launch has. */
#define LP_FAKE_NEVER_LAUNCHED 0x80000000u

struct lp_fake_device {
    struct lp_names *names;
    struct lp_hashmap streams; /* (device and stream, context) -> index of free_ns */
    LP_VECTOR(uint64_t) free_ns;
    uint8_t fault; /* enum lp_fake_fault */
    uint64_t fault_every, fault_seen;
    uint64_t random;
    LP_VECTOR(struct lp_activity) activities, late; /* not yet sent; late: only at the end */
};

void lp_fake_device_init(struct lp_fake_device *device, struct lp_names *names);
void lp_fake_device_clear(struct lp_fake_device *device);

/** From now on the fault of `op` is on. */
void lp_fake_device_set_fault(struct lp_fake_device *device, const struct lp_fake_op *op);

/** Is this fault on, and does it strike this time? */
bool lp_fake_device_strikes(struct lp_fake_device *device, enum lp_fake_fault fault);

/** One interval on the stream of the statement, ready from `now_ns` on. `activity` says what runs.
 * 0, LLMPERF_ENOMEM. */
int lp_fake_device_run(struct lp_fake_device *device, uint64_t now_ns, const struct lp_fake_op *op,
                       struct lp_activity activity, const char *name);

/** Send what is there; the late ones too if `all`. */
void lp_fake_device_send(struct lp_fake_device *device, bool all,
                         const struct lp_device_sink *sink);

/** A time of the script's clock, which stops at its end. */
uint64_t lp_fake_add_time(uint64_t time_ns, uint64_t more_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** A thread of a script: its open regions, and the records in its ring.
 * @threads one at a time per object */
#ifndef LP_SOURCES_FAKE_THREAD_H
#define LP_SOURCES_FAKE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/device/device.h"
#include "lib/sources/fake/script.h"
#include "lib/record/record.h"
#include "llmperf/region.h"

/** Zero-initialised: no region is open. The functions return 0 or LLMPERF_ENOMEM. */
struct lp_fake_thread {
    uint32_t depth; /* may exceed LLMPERF_REGION_DEPTH, as in a real thread */
    uint32_t stack[LLMPERF_REGION_DEPTH];
    LP_VECTOR(struct lp_record) records; /* not yet sent */
    bool cut;                            /* records from `late` on are sent with the next call */
    size_t late;                         /* the first such record */
};

void lp_fake_thread_clear(struct lp_fake_thread *thread);

/** The innermost open region. */
uint32_t lp_fake_thread_path(const struct lp_fake_thread *thread);

/** Add a record of the innermost region. */
int lp_fake_thread_report(struct lp_fake_thread *thread, uint64_t now_ns, uint16_t kind,
                          uint16_t detail, uint64_t value);

int lp_fake_thread_count(struct lp_fake_thread *thread, uint64_t now_ns, uint32_t quantity,
                         uint64_t amount);

/** Open the region `label` with the statement's kind and counts. */
int lp_fake_thread_begin(struct lp_fake_thread *thread, uint64_t now_ns, const char *label,
                         const struct lp_fake_op *op);
int lp_fake_thread_end(struct lp_fake_thread *thread, uint64_t now_ns);

/** What the statement says of a request. */
int lp_fake_thread_request(struct lp_fake_thread *thread, uint64_t now_ns,
                           const struct lp_fake_op *op);
int lp_fake_thread_exit(struct lp_fake_thread *thread, uint64_t now_ns);

/** Send the last record, and all later ones, with the next call: a ring keeps its order. */
void lp_fake_thread_postpone(struct lp_fake_thread *thread);

/** Send the records up to `late`. */
void lp_fake_thread_send(struct lp_fake_thread *thread, uint32_t index,
                         const struct lp_device_sink *sink);

#endif

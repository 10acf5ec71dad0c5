/* SPDX-License-Identifier: Apache-2.0 */
/** CUPTI's records to ours. @threads collector only */
#ifndef LP_SOURCES_CUPTI_DECODE_H
#define LP_SOURCES_CUPTI_DECODE_H

#include "lib/device/buffers.h"
#include "lib/sources/cupti/client.h"
#include "lib/device/device.h"

#define LP_NAME_CACHE 1024u

struct lp_cupti_decoder {
    struct lp_names *names;
    uint64_t foreign;     /* records of kinds that another profiler requested */
    uint64_t incomplete;  /* buffers given up at a half-written record, records of a layout that was
                             not reported */
    uint64_t clock_shift; /* from the times of the buffer at hand to ours */
    uint64_t overhead_ns; /* sum of OVERHEAD records */
    bool counters;        /* the range profiler may run beside: its own kernels are left out */
    uint32_t generation;  /* of the name cache: one a buffer, because a pointer may be reused once
                             its module is unloaded */
    struct {
        const char *pointer;
        uint32_t generation, name;
    } cache[LP_NAME_CACHE];
    struct lp_activity_batch batch;
};

/** Decode one buffer into the sink. */
void lp_cupti_decode(struct lp_cupti_decoder *decoder, const struct lp_cupti_client *client,
                     struct lp_buffer *buffer, const struct lp_device_sink *sink);

#endif

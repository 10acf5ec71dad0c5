/* SPDX-License-Identifier: Apache-2.0 */
/** Converts CUPTI's records to ours. @threads collector only */
#ifndef LP_SOURCES_CUPTI_DECODE_H
#define LP_SOURCES_CUPTI_DECODE_H

#include "lib/device/buffers.h"
#include "lib/sources/cupti/client.h"
#include "lib/device/device.h"

#define LP_NAME_CACHE 1024u

struct lp_cupti_decoder {
    struct lp_names *names;
    uint64_t foreign;     /* records of kinds that another profiler requested */
    uint64_t incomplete;  /* buffers with an incomplete record, and records whose layout was not
                             reported */
    uint64_t clock_shift; /* added to times of the current buffer */
    uint64_t overhead_ns; /* sum of OVERHEAD records */
    bool counters;        /* the range profiler may be active: skip its own kernels */
    uint32_t generation;  /* of the name cache: one per buffer, because a name's address may be
                             reused after its module is unloaded */
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

/* SPDX-License-Identifier: Apache-2.0 */
/** Our subscription to CUPTI: how activity records are requested, and the offsets of their fields.
 *
 * Two ways, chosen at each subscription. *Slim*, from CUPTI 13.3 on: records hold only the fields
 * that we read (64 bytes a kernel instead of 216 to 248), and other profilers that request it may
 * subscribe as well. *Whole*: the records of every CUPTI, one profiler a process. CUPTI does not go
 * from one to the other within a process. It takes buffers and registers callbacks once a process,
 * so there is one client. */
#ifndef LP_SOURCES_CUPTI_CLIENT_H
#define LP_SOURCES_CUPTI_CLIENT_H

#include <stdbool.h>

#include "lib/cupti/symbols.h"

enum lp_cupti_field {
    LP_CUPTI_FIELD_CORRELATION, /* uint32_t */
    LP_CUPTI_FIELD_DEVICE,      /* uint32_t */
    LP_CUPTI_FIELD_CONTEXT,     /* uint32_t */
    LP_CUPTI_FIELD_STREAM,      /* uint32_t */
    LP_CUPTI_FIELD_GRAPH,       /* uint32_t */
    LP_CUPTI_FIELD_START,       /* uint64_t */
    LP_CUPTI_FIELD_END,         /* uint64_t */
    LP_CUPTI_FIELD_GRAPH_NODE,  /* uint64_t */
    LP_CUPTI_FIELD_NAME,        /* const char * */
    LP_CUPTI_FIELD_BYTES,       /* uint64_t */
    LP_CUPTI_FIELD_COPY_KIND,   /* uint8_t */
    LP_CUPTI_FIELDS
};

/** Offsets in the records of a kind; 0 where it has no such field. */
struct lp_cupti_layout {
    uint16_t at[LP_CUPTI_FIELDS];
};

struct lp_cupti_client {
    const struct lp_cupti *cupti;
    lp_cupti_subscriber subscriber; /* NULL: not subscribed */
    bool slim;
};

/** Subscribe: for slim records where CUPTI has them and the driver is of CUDA 13.3 or newer, else
 * and if `whole_only` for whole ones. LLMPERF_CUPTI_RECORDS=slim or whole in the environment
 * decides instead of the driver. CUPTI does not go from one to the other within a process. 0;
 * LLMPERF_EBUSY (another profiler has CUPTI), LLMPERF_ENODEVICE. `holder`: the name of that
 * profiler, else "".
 * @threads one at a time, as all of these but lp_cupti_enable() and lp_cupti_disable() */
int lp_cupti_subscribe(struct lp_cupti_client *client, const struct lp_cupti *cupti,
                       bool whole_only, lp_cupti_callback callback, char *holder,
                       size_t holder_size);
void lp_cupti_unsubscribe(struct lp_cupti_client *client);

/** Take CUPTI out of the process, subscription and all. Each of its functions attaches it again,
 * without one. Only at rest: no thread is in a call of the driver, no device has work left, records
 * were on at the last launch of each graph (else its next one fails: CUPTI 13.0, 13.5), and all
 * buffers are in. A CUPTI result. */
int lp_cupti_finalize(struct lp_cupti_client *client);

/** Say where buffers come from and go to. Once a subscription in slim, once a process in whole
 * records. 0, LLMPERF_ENOTSUP (no common clock), LLMPERF_ENODEVICE. */
int lp_cupti_take_buffers(struct lp_cupti_client *client, lp_cupti_buffer_requested requested,
                          lp_cupti_buffer_completed completed);

/** Switch the records of a kind. A CUPTI result. @threads any thread */
int lp_cupti_enable(const struct lp_cupti_client *client, uint32_t kind);
int lp_cupti_disable(const struct lp_cupti_client *client, uint32_t kind);

/** Records that CUPTI dropped since the last call. */
uint64_t lp_cupti_dropped(const struct lp_cupti_client *client);

/** The record after `*record`, or the first one if that is NULL. A CUPTI result. */
int lp_cupti_next_record(const struct lp_cupti_client *client, uint8_t *bytes, size_t valid,
                         struct lp_cupti_record **record);

/** Offsets of the fields of a kind; NULL: this CUPTI has not reported them. */
const struct lp_cupti_layout *lp_cupti_layout_of(const struct lp_cupti_client *client,
                                                 uint32_t kind);

/** What to add to the times of records to get ours (lp_clock_now()), modulo 2^64. Slim records
 * carry the time of day: valid for the current records only, as that clock may be set meanwhile. */
uint64_t lp_cupti_clock_shift(const struct lp_cupti_client *client);

#endif

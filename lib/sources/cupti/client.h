/* SPDX-License-Identifier: Apache-2.0 */
/** Our subscription to CUPTI: how activity records are requested, and the offsets of their fields.
 *
 * There are two modes, chosen at each subscription. *Slim*, from CUPTI 13.3 on: records contain
 * only the fields that we read (about 100 bytes per kernel instead of 216 to 248), and other slim
 * profilers may subscribe as well. *Whole*: the records of every CUPTI, one profiler per process. A
 * process cannot change the mode. Buffers and callbacks are registered once per process, so there
 * is one client. */
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
    LP_CUPTI_FIELD_SOURCE,      /* uint8_t, memory kind of what is read */
    LP_CUPTI_FIELD_DESTINATION, /* uint8_t, the same of what is written */
    LP_CUPTI_FIELD_FLAGS,       /* uint8_t, the low byte where it is wider */
    LP_CUPTI_FIELD_REGISTERS,   /* uint16_t */
    LP_CUPTI_FIELD_GRID_X,      /* uint32_t, this and all that follow */
    LP_CUPTI_FIELD_GRID_Y,
    LP_CUPTI_FIELD_GRID_Z,
    LP_CUPTI_FIELD_BLOCK_X,
    LP_CUPTI_FIELD_BLOCK_Y,
    LP_CUPTI_FIELD_BLOCK_Z,
    LP_CUPTI_FIELD_STATIC_SHARED,
    LP_CUPTI_FIELD_DYNAMIC_SHARED,
    LP_CUPTI_FIELDS
};

/** Offsets in the records of a kind; 0: no such field. */
struct lp_cupti_layout {
    uint16_t at[LP_CUPTI_FIELDS];
};

struct lp_cupti_client {
    const struct lp_cupti *cupti;
    lp_cupti_subscriber subscriber; /* NULL: not subscribed */
    bool slim;
};

/** Subscribe. Slim records are used if CUPTI has them and the driver is of CUDA 13.3 or newer,
 * unless `whole_only`; LLMPERF_CUPTI_RECORDS=slim or whole overrides the driver check. A process
 * cannot change the mode. 0; LLMPERF_EBUSY (another profiler uses CUPTI; `holder` is its name, else
 * ""), LLMPERF_ENODEVICE.
 * @threads one at a time, as all of these except lp_cupti_enable() and lp_cupti_disable() */
int lp_cupti_subscribe(struct lp_cupti_client *client, const struct lp_cupti *cupti,
                       bool whole_only, lp_cupti_callback callback, char *holder,
                       size_t holder_size);
void lp_cupti_unsubscribe(struct lp_cupti_client *client);

/** Detach CUPTI with its subscription. Any CUPTI call attaches it again, without a subscription.
 * Allowed only if no thread is in a driver call, no device has work, all buffers were read, and
 * records were enabled at the last launch of each graph (else its next launch fails: CUPTI 13.0,
 * 13.5). A CUPTI result. */
int lp_cupti_finalize(struct lp_cupti_client *client);

/** Register the buffer callbacks: once per subscription with slim records, once per process with
 * whole records. 0, LLMPERF_ENOTSUP (no common clock), LLMPERF_ENODEVICE. */
int lp_cupti_take_buffers(struct lp_cupti_client *client, lp_cupti_buffer_requested requested,
                          lp_cupti_buffer_completed completed);

/** Enable or disable the records of a kind. A CUPTI result. @threads any thread */
int lp_cupti_enable(const struct lp_cupti_client *client, uint32_t kind);
int lp_cupti_disable(const struct lp_cupti_client *client, uint32_t kind);

/** Records dropped by CUPTI since the last call. */
uint64_t lp_cupti_dropped(const struct lp_cupti_client *client);

/** Next record after `*record`; the first if that is NULL. A CUPTI result. */
int lp_cupti_next_record(const struct lp_cupti_client *client, uint8_t *bytes, size_t valid,
                         struct lp_cupti_record **record);

/** Offsets of the fields of a kind; NULL: not reported by this CUPTI. */
const struct lp_cupti_layout *lp_cupti_layout_of(const struct lp_cupti_client *client,
                                                 uint32_t kind);

/** Difference from record times to our clock (lp_clock_now()), modulo 2^64. Slim records have the
 * time of day, which may be set, so it is valid for the current records only. */
uint64_t lp_cupti_clock_shift(const struct lp_cupti_client *client);

#endif

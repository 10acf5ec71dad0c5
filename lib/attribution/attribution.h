/* SPDX-License-Identifier: Apache-2.0 */
/** Attribution: takes host records and activities, gives attributed activities and the ledger of
 * what was expected and seen.
 * @threads one at a time per object, all functions */
#ifndef LP_ATTRIBUTION_ATTRIBUTION_H
#define LP_ATTRIBUTION_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/graph_event.h"
#include "lib/record/record.h"
#include "llmperf/profile.h"

/** No unit. */
#define LP_UNIT_NONE 0u

/** Slot of the calls of stages that lib/structure finds, one at a time: no unit of attribution has
 * it.
 */
#define LP_UNIT_FOUND 1u

/** Units at once, at most: a unit's slot is the low half of its id. */
#define LP_UNIT_SLOTS 65536u

/** How a region relates to triggered windows (tier light): calls in one are not a random sample. */
enum lp_in_window {
    LP_WINDOW_NOT,
    LP_WINDOW_OUTERMOST, /* a call that the window collects */
    LP_WINDOW_NESTED     /* a region inside such a call */
};

/** Receives the calls of stages one by one (units.h). An id may be reused after its unit is done.
 * NULL functions: not needed. */
struct lp_unit_sink {
    /** @param collected  Its device work is collected; sampling skips others.
     * @param window  Triggered window that contains it; 0: none.
     * @param chance  LP_CHANCE_… with which it was collected; 0: not known. */
    void (*begin)(void *context, uint32_t unit, uint32_t parent, uint32_t node, uint64_t begin_ns,
                  bool collected, uint32_t window, uint32_t chance);
    void (*count)(void *context, uint32_t unit, uint32_t quantity, uint64_t amount);
    /** @param truncated  Its end was not seen. */
    void (*end)(void *context, uint32_t unit, uint64_t end_ns, bool truncated);
    /** All its device work has been delivered. */
    void (*done)(void *context, uint32_t unit);
};

/** Receives begin and end of all regions of a thread, inner ones first at the end. NULL functions:
 * not needed. */
struct lp_span_sink {
    /** @param before  It was open before collection started. */
    void (*begin)(void *context, uint32_t thread, uint32_t node, uint64_t begin_ns, bool before);
    /** @param end_ns  0: it was open when collection ended.
     * @param truncated  An end was not seen. */
    void (*end)(void *context, uint32_t thread, uint32_t node, uint64_t begin_ns, uint64_t end_ns,
                bool truncated);
};

/** Receives the attributed records. Batches are borrowed during the call. */
struct lp_attribution_sink {
    void *context;
    /** @param window  How it relates to a triggered window. */
    void (*region)(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                   enum lp_in_window window);
    /** @param amount  LLMPERF_UNKNOWN: a call of the region has an amount that is not known. */
    void (*count)(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                  enum lp_in_window window);
    void (*activities)(void *context, const struct lp_activity *activities, size_t count);
    struct lp_unit_sink units;
    struct lp_span_sink spans;
    /** LP_RECORD_HOST_CALL; NULL: not needed.
     * @param unit  The innermost that was open on its thread; LP_UNIT_NONE: none. */
    void (*host_call)(void *context, uint32_t unit, const struct lp_record *call);
    /** LP_RECORD_MEMORY; NULL: not needed. */
    void (*memory)(void *context, uint32_t thread, const struct lp_record *record);
};

struct lp_attribution;

/** NULL: out of memory. */
struct lp_attribution *lp_attribution_create(const struct lp_attribution_sink *sink);
void lp_attribution_free(struct lp_attribution *attribution);

/** Device work is collected in windows only: records without a known launch belong to none of them
 * and are only counted. A host record of a skipped region implies this too. */
void lp_attribution_sample(struct lp_attribution *attribution);

/** From `now_ns` on, activities come from a running device: a record without a known launch may be
 * of a call in progress at that time. Call it before the first activity. */
void lp_attribution_live(struct lp_attribution *attribution, uint64_t now_ns);

/** Current time of a running device: no activity ends later. */
void lp_attribution_now(struct lp_attribution *attribution, uint64_t now_ns);

/** The driver was asked to flush at that time, and the records have arrived. A unit is done only
 * after a flush without new records of it. */
void lp_attribution_answered(struct lp_attribution *attribution, uint64_t asked_ns);

/** Is an ended unit waiting for a flush? */
bool lp_attribution_unanswered(const struct lp_attribution *attribution);

bool lp_attribution_is_sampled(const struct lp_attribution *attribution);

/** Were launches between these two correlation ids not collected? */
bool lp_attribution_missed(const struct lp_attribution *attribution, uint32_t after,
                           uint32_t before);

/** Host records of one thread, in order. */
void lp_attribution_host(struct lp_attribution *attribution, uint32_t thread,
                         const struct lp_record *records, size_t count);

/** Graph events of the process, in order, before the activities that need them. */
void lp_attribution_graphs(struct lp_attribution *attribution, const struct lp_graph_event *events,
                           size_t count);

/** Activities in any order. Their node and captured fields are filled in; invalid ones are counted
 * and removed. */
void lp_attribution_activities(struct lp_attribution *attribution, struct lp_activity *activities,
                               size_t count);

/** End of a round of host records and activities. Activities without a known launch are tried
 * again; after the second round, or if `final`, they count as unattributed. `final` also counts
 * launches without records as missing, and ends all units.
 * @param now_ns  Host time; 0: that of the newest record. */
void lp_attribution_settle(struct lp_attribution *attribution, uint64_t now_ns, bool final);

/** Close all open regions as truncated: collection ends or pauses. */
void lp_attribution_close_regions(struct lp_attribution *attribution);

struct lp_attribution_progress {
    uint64_t awaited;  /* successful launch calls of kernels and graphs */
    uint64_t reported; /* their records so far, also invalid ones */
};

void lp_attribution_progress(const struct lp_attribution *attribution,
                             struct lp_attribution_progress *progress_out);

/** Does the launch with this correlation id count? */
bool lp_attribution_counts(struct lp_attribution *attribution, uint32_t correlation);

/** Were graphs launched? */
bool lp_attribution_has_graphs(const struct lp_attribution *attribution);

/** Records of launches that count, also invalid ones. */
uint64_t lp_attribution_counted(const struct lp_attribution *attribution);

/** Launch calls of kernels and graphs whose record is missing so far. */
uint64_t lp_attribution_pending(const struct lp_attribution *attribution);

/** Records that launches of graphs lack, compared with other launches of the same graph. */
uint64_t lp_attribution_pending_graphs(const struct lp_attribution *attribution);

/** Memcpy and memset calls whose record is missing so far, without calls of zero bytes. */
uint64_t lp_attribution_pending_memory(const struct lp_attribution *attribution);

/** Calls of stages that were not followed, because too many were open. */
uint64_t lp_attribution_untracked(const struct lp_attribution *attribution);

/** Memory ran out: launches or regions are missing. */
bool lp_attribution_failed(const struct lp_attribution *attribution);

/** Fill in the ledger's fields that attribution knows. */
void lp_attribution_ledger(const struct lp_attribution *attribution, llmperf_ledger *ledger);

#endif

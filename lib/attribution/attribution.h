/* SPDX-License-Identifier: Apache-2.0 */
/** The API of attribution: host records and activities in, attributed facts out, and the ledger of
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

/** Most units at once: a unit's slot is the low half of its id. */
#define LP_UNIT_SLOTS 65536u

/** How a region relates to triggered windows (tier light): calls in one are not a random sample. */
enum lp_in_window {
    LP_WINDOW_NOT,
    LP_WINDOW_OUTERMOST, /* a call that the window consists of */
    LP_WINDOW_NESTED     /* a region inside such a call */
};

/** Receives the calls of stages that are followed one by one (units.h). An id may be reused after
 * its unit is done. All NULL: they are not followed. */
struct lp_unit_sink {
    /** `collected`: its device work is; sampling leaves others out. `window`: the triggered window
     * that it lies in; 0: none. */
    void (*begin)(void *context, uint32_t unit, uint32_t parent, uint32_t node, uint64_t begin_ns,
                  bool collected, uint32_t window);
    void (*count)(void *context, uint32_t unit, uint32_t quantity, uint64_t amount);
    /** `truncated`: its end was not seen. */
    void (*end)(void *context, uint32_t unit, uint64_t end_ns, bool truncated);
    /** All its device work was handed over. */
    void (*done)(void *context, uint32_t unit);
};

/** Receives the calls of all regions as they open and close on their threads. All NULL: not needed.
 * Inner ones close before outer ones. */
struct lp_span_sink {
    /** `before`: it was open before collection started. */
    void (*begin)(void *context, uint32_t thread, uint32_t node, uint64_t begin_ns, bool before);
    /** @param end_ns  0: collection ended with it open. `truncated`: an end was not seen. */
    void (*end)(void *context, uint32_t thread, uint32_t node, uint64_t begin_ns, uint64_t end_ns,
                bool truncated);
};

/** Receives the attributed facts; batches are borrowed until the call returns. */
struct lp_attribution_sink {
    void *context;
    /** `window`: what of a triggered window it is. */
    void (*region)(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                   enum lp_in_window window);
    void (*count)(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                  enum lp_in_window window);
    void (*activities)(void *context, const struct lp_activity *activities, size_t count);
    struct lp_unit_sink units;
    struct lp_span_sink spans;
};

struct lp_attribution;

/** NULL without memory. */
struct lp_attribution *lp_attribution_create(const struct lp_attribution_sink *sink);
void lp_attribution_free(struct lp_attribution *attribution);

/** Device work is collected now and then: a record without a launch belongs to none of the windows
 * and is only counted. Also follows from a host record that reports a region left out. */
void lp_attribution_sample(struct lp_attribution *attribution);

/** Activities come from a running device since `now_ns`: a record without an id may be of a call
 * that was in progress when collecting began. Call it before the first. */
void lp_attribution_live(struct lp_attribution *attribution, uint64_t now_ns);

/** The time of a running device: no activity ends after it. */
void lp_attribution_now(struct lp_attribution *attribution, uint64_t now_ns);

/** A flush was requested from the driver at that time, and its records are in: a unit is done only
 * after a flush that delivered nothing more of it. */
void lp_attribution_answered(struct lp_attribution *attribution, uint64_t asked_ns);

/** Does a unit that has ended wait for such an answer? */
bool lp_attribution_unanswered(const struct lp_attribution *attribution);

bool lp_attribution_is_sampled(const struct lp_attribution *attribution);

/** Host records of one thread, in its order. */
void lp_attribution_host(struct lp_attribution *attribution, uint32_t thread,
                         const struct lp_record *records, size_t count);

/** Graph events of the process, in their order, before the activities that they explain. */
void lp_attribution_graphs(struct lp_attribution *attribution, const struct lp_graph_event *events,
                           size_t count);

/** Activities in any order, of any thread. Their node and captured fields are filled in; invalid
 * ones are counted and left out. */
void lp_attribution_activities(struct lp_attribution *attribution, struct lp_activity *activities,
                               size_t count);

/** End of a round of host records and activities: activities whose launch was not seen are tried
 * again; after a second round, or if `final`, they are passed on as unattributed. `final` also
 * closes the books on launches without a record, and on units. @param now_ns  Time of the host; 0:
 * that of its newest record. */
void lp_attribution_settle(struct lp_attribution *attribution, uint64_t now_ns, bool final);

/** Close the regions that are open now as truncated: collection ends or pauses. */
void lp_attribution_close_regions(struct lp_attribution *attribution);

struct lp_attribution_progress {
    uint64_t awaited;  /* launch calls of kernels and graphs that succeeded */
    uint64_t reported; /* records of kernels and graphs that came, valid or not */
};

void lp_attribution_progress(const struct lp_attribution *attribution,
                             struct lp_attribution_progress *progress_out);

/** Is the launch with this correlation id known to count? */
bool lp_attribution_counts(struct lp_attribution *attribution, uint32_t correlation);

/** Were graphs launched? */
bool lp_attribution_has_graphs(const struct lp_attribution *attribution);

/** Records that came for launches that count, whatever was wrong with them. */
uint64_t lp_attribution_counted(const struct lp_attribution *attribution);

/** Launch calls of kernels and graphs that should have a record and have none yet. */
uint64_t lp_attribution_pending(const struct lp_attribution *attribution);

/** Records that launches of graphs are short of, as far as other launches of them show. */
uint64_t lp_attribution_pending_graphs(const struct lp_attribution *attribution);

/** The same for calls of copies and sets; those of zero bytes never have one. */
uint64_t lp_attribution_pending_memory(const struct lp_attribution *attribution);

/** Calls of stages that were not followed: too many at once. */
uint64_t lp_attribution_untracked(const struct lp_attribution *attribution);

/** Memory ran out: launches or regions are missing. */
bool lp_attribution_failed(const struct lp_attribution *attribution);

/** Fill in what attribution knows of the ledger; the rest is left alone. */
void lp_attribution_ledger(const struct lp_attribution *attribution, llmperf_ledger *ledger);

#endif

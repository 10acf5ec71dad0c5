/* SPDX-License-Identifier: Apache-2.0 */
/** Hardware counters of the regions of this process: range profiler, PM sampling or PC sampling, as
 * the preset specifies. One at a time in a process. Set up when a region opens on a thread with a
 * CUDA context, which determines the GPU: ranges and PC sampling by that thread, at the first
 * requested region; PM sampling by the collector. */
#ifndef LP_COUNTERS_COUNTERS_H
#define LP_COUNTERS_COUNTERS_H

#include "lib/base/pattern.h"
#include "lib/counters/host.h"
#include "lib/device/device.h"

/** How passes are repeated. */
enum lp_counter_replay {
    LP_REPLAY_NONE,  /* one pass only: the set must fit */
    LP_REPLAY_USER,  /* the program repeats the region: one pass per call */
    LP_REPLAY_KERNEL /* CUPTI repeats each kernel */
};

struct lp_counters_options {
    const struct lp_counter_preset *preset; /* Borrowed until close */
    const struct lp_patterns *include;      /* Borrowed until close: regions by label or path */
    enum lp_counter_replay replay;
    uint32_t most_passes; /* 0: 1 without replay, else 64; with groups: maximum number of groups */
    uint32_t group;       /* of the preset, see groups.h; 0: all of it */
    uint32_t budget;      /* percent of the time that ranges may cost or windows of PC sampling
                             last; 0: no limit, 1 with PC sampling */
    uint64_t interval_ns; /* PM sampling: initial interval */
    bool attached;        /* CUPTI is attached already; else lp_counters_attach() follows */
    struct lp_names *names;
};

/** State of the collection itself. */
struct lp_counters_state {
    bool running;        /* set up */
    char problem[512];   /* why it is not set up or has stopped; "": no problem */
    uint64_t boundaries; /* begins and ends of ranges */
    uint64_t cost_ns; /* time of the program's threads for them; with sampling, of the collector */
    uint64_t others;  /* other threads' launches while a region was counted, included in it */
    uint64_t samples; /* PM and PC sampling */
    uint64_t samples_lost;
    uint64_t samples_unknown; /* PC sampling: of kernels that CUPTI cannot name */
    uint64_t overflows;       /* times that samples were lost because the buffer was full */
    uint32_t groups;          /* of the preset; 0: it was not split */
};

struct lp_counters;

/** Start to watch regions. 0; LLMPERF_ESTATE (already started), LLMPERF_ENOMEM. Later errors are in
 * the state, since CUPTI is not loaded yet. @threads one at a time */
int lp_counters_open(const struct lp_counters_options *options, struct lp_counters **counters_out);

/** CUPTI is attached from now on, in a session that began without it. @threads any thread */
void lp_counters_attach(void);

/** The program has made this CUDA context. Called in the driver's callback. @threads any thread */
void lp_counters_context(void *context);

/** Deliver what was counted since the last call. @threads collector only */
void lp_counters_deliver(struct lp_counters *counters, const struct lp_device_sink *sink);

/** Pause counting; open ranges are still closed. @threads collector only */
void lp_counters_pause(struct lp_counters *counters, bool paused);

/** Stop counting; deliver once more to get the rest. @threads collector only */
void lp_counters_stop(struct lp_counters *counters);

/** Stop without calling the driver, which has shut down: values not read yet are lost.
 * @threads collector only */
void lp_counters_abandon(struct lp_counters *counters);

/** PM sampling: take samples at another interval from now on, after a pause of a few ms.
 * @threads collector only */
void lp_counters_resample(struct lp_counters *counters, uint64_t interval_ns,
                          const struct lp_device_sink *sink);

/** Is this region requested? @threads any thread */
bool lp_counters_watches(struct lp_counters *counters, uint32_t node);

/** Sampling interval in ns; 0: not sampling. @threads collector only */
uint64_t lp_counters_interval(const struct lp_counters *counters);

void lp_counters_state(struct lp_counters *counters, struct lp_counters_state *state);

/** What is collected, with the missing quantities; NULL: not set up yet. Borrowed. @threads
 * collector only */
const struct lp_counter_set *lp_counters_set(const struct lp_counters *counters);

/** Close; stops first. NULL is allowed. @threads collector only */
void lp_counters_close(struct lp_counters *counters);

/** A kernel launch on this thread (`name` may be NULL), from the driver's callback. Reads only one
 * variable unless ranges are counted. */
void lp_counters_launch(uint32_t kind, const char *name, void *launch_context,
                        uint32_t correlation);
void lp_counters_launch_cancelled(uint32_t correlation);

/** Is the driver call that this thread makes ours, not the program's? */
bool lp_counters_calling(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of struct lp_serving: for serving.c, serving_load.c and serving_freeze.c. */
#ifndef LP_PROFILE_SERVING_STATE_H
#define LP_PROFILE_SERVING_STATE_H

#include <stdbool.h>

#include "lib/base/vector.h"
#include "lib/statistics/distribution.h"
#include "lib/profile/serving/serving.h"

#define LP_SLOW_KEPT   10u
#define LP_LOAD_POINTS 128u

/** Something that happened, to be sorted by time. */
struct lp_serving_event {
    uint64_t time_ns, order;
    uint64_t request;
    uint64_t a, b;   /* begin: arrival, id; step: sequences, context */
    uint32_t amount; /* of the record */
    uint32_t thread; /* of a step */
    uint32_t kind;   /* enum lp_served, or LP_EVENT_… */
};

enum { LP_EVENT_PREFILL_BEGIN = 100, LP_EVENT_PREFILL_END, LP_EVENT_STEP_END };

struct lp_open_request {
    uint64_t request, id;
    uint64_t arrival_ns, begin_ns, first_ns, last_ns; /* arrival, first: 0: none */
    uint64_t itl_max_ns;
    uint64_t output;
    uint32_t prompt;
    uint32_t next; /* of its chain or of the free ones, and 1; 0: none */
};

struct lp_slow_list {
    llmperf_slow_request rows[LP_SLOW_KEPT]; /* slowest first */
    size_t count;
};

struct lp_load_point {
    uint64_t begun, ended, prompt_tokens, output_tokens, running_max;
    uint64_t steps, batch, batch_max, context, context_max; /* sums over steps, and maxima */
};

struct lp_load_series {
    struct lp_load_point points[LP_LOAD_POINTS];
    uint64_t begin_ns, width_ns; /* begin 0: nothing happened yet */
    size_t last;
};

struct lp_serving_thread {
    bool in_prefill;
    uint64_t sequences, context; /* of the decode step that is open */
    uint64_t arrival_ns, id;     /* of the request that begins next */
    uint32_t arrival_of, id_of;
    uint64_t step_ns; /* end of its last decode step; 0: none */
};

struct lp_serving {
    struct lp_serving_options options;
    LP_VECTOR(struct lp_serving_thread) threads;
    LP_VECTOR(struct lp_serving_event) events;
    uint64_t order, newest_ns, taken_ns;
    bool active; /* a request was reported */
    bool failed; /* memory ran out */

    LP_VECTOR(struct lp_open_request) slots;
    uint32_t *heads; /* LLMPERF_REQUESTS_OPEN chains of slots, by the low bits of the request */
    uint32_t vacant; /* slot and 1 */
    uint64_t swept_ns;

    llmperf_requests totals; /* but rates */
    uint64_t first_ns, last_ns;
    struct lp_distribution latencies[LP_LATENCIES];
    struct lp_slow_list slow[3]; /* ttft, tpot, e2e */
    struct lp_load_series load;
    uint64_t decoding;   /* open requests that have a token */
    uint64_t busy_ns;    /* since when there is one */
    uint64_t prefills;   /* open */
    uint64_t prefill_ns; /* end of the last one */
};

/** The interval of this time; `open`: requests now. */
struct lp_load_point *lp_load_at(struct lp_load_series *series, uint64_t time_ns, uint64_t open);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light: evaluates rules over the calls of stages. A rule that is true opens a triggered
 * window. For lib/session, on the collector thread. */
#ifndef LP_SESSION_WATCH_H
#define LP_SESSION_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/profile/profile.h"
#include "lib/session/options/rule.h"

struct llmperf_session;

#define LP_WATCH_KEPT    4096u /* newest calls kept for a rule */
#define LP_WATCH_WINDOWS 256u  /* per session */

/** A call of a stage. */
struct lp_watched_unit {
    uint64_t end_ns;
    double first, second; /* by quantity: wall ns; tokens and wall ns; idle and interval ms */
};

/** A rule and its calls. */
struct lp_watched_rule {
    struct lp_rule rule;
    struct lp_watched_unit *units; /* ring buffer of LP_WATCH_KEPT */
    uint64_t seen;                 /* calls so far */
    uint32_t windows;              /* windows opened by it */
    uint64_t next_ns;              /* earliest time of the next window */
};

/** A triggered window. */
struct lp_trigger {
    uint32_t rule, units;
    double value;
    uint64_t value_units, time_ns;
};

struct lp_watch {
    struct lp_watched_rule rules[LP_RULES];
    size_t count;
    LP_VECTOR(struct lp_trigger) triggers; /* window n is at index n - 1 */
    bool open;                             /* the newest window is requested or open */
    uint64_t since_ns;                     /* earlier calls do not count */
    uint64_t looked_ns, next_ns;
};

/** 0, LLMPERF_EINVAL (a rule), LLMPERF_ENOMEM. */
int lp_watch_init(struct lp_watch *watch, const char *rules);
void lp_watch_clear(struct lp_watch *watch);

/** Receives the calls from the totals. */
struct lp_watcher lp_watch_watcher(struct llmperf_session *session);

/** Collection begins; ends. */
void lp_watch_begin(struct llmperf_session *session);
void lp_watch_end(struct llmperf_session *session);

/** Evaluate the rules; open or close a window. */
void lp_watch_look(struct llmperf_session *session, uint64_t now_ns);

/** Add the windows' data to a profile. 0 or LLMPERF_ENOMEM. */
int lp_watch_fill(const struct llmperf_session *session, llmperf_profile *profile);

#endif

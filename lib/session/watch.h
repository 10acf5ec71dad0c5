/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light: rules are evaluated over the calls of stages, and one that is true opens a triggered
 * window. For lib/session, on the collector thread. */
#ifndef LP_SESSION_WATCH_H
#define LP_SESSION_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/profile/profile.h"
#include "lib/session/options/rule.h"

struct llmperf_session;

#define LP_WATCH_KEPT    4096u /* calls that a rule looks at; the newest */
#define LP_WATCH_WINDOWS 256u  /* of a session */

/** A call of a stage. */
struct lp_watched_unit {
    uint64_t end_ns;
    double first, second; /* wall ns; tokens and wall ns; idle and interval ms */
};

/** A rule and what it looks at. */
struct lp_watched_rule {
    struct lp_rule rule;
    struct lp_watched_unit *units; /* a ring of LP_WATCH_KEPT */
    uint64_t seen;                 /* calls so far */
    uint32_t windows;              /* that it opened */
    uint64_t next_ns;              /* not before */
};

/** A window that was triggered. */
struct lp_trigger {
    uint32_t rule, units;
    double value;
    uint64_t value_units, time_ns;
};

struct lp_watch {
    struct lp_watched_rule rules[LP_RULES];
    size_t count;
    LP_VECTOR(struct lp_trigger) triggers; /* window n is at n - 1 */
    bool open;                             /* the newest is requested or open */
    uint64_t since_ns;                     /* calls that ended before do not count */
    uint64_t looked_ns, next_ns;
};

/** 0, LLMPERF_EINVAL (a rule), LLMPERF_ENOMEM. */
int lp_watch_init(struct lp_watch *watch, const char *rules);
void lp_watch_clear(struct lp_watch *watch);

/** Takes the calls that the totals report. */
struct lp_watcher lp_watch_watcher(struct llmperf_session *session);

/** Collecting begins, ends. */
void lp_watch_begin(struct llmperf_session *session);
void lp_watch_end(struct llmperf_session *session);

/** Evaluate the rules, and open and close the window. */
void lp_watch_look(struct llmperf_session *session, uint64_t now_ns);

/** What is known of the windows into a profile. 0 or LLMPERF_ENOMEM. */
int lp_watch_fill(const struct llmperf_session *session, llmperf_profile *profile);

#endif

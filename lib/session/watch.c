/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/session/session.h"
#include "lib/regions/sampler.h"

#define LOOK_NS     UINT64_C(200000000)
#define LONGEST_NS  UINT64_C(60000000000) /* limit for a window to get its calls */
#define LEAST_UNITS 5u /* calls needed to evaluate a rule; one is enough for the longest call */

/* After a window, none is opened for 19 times its length: windows take at most 5 % of the time. */
#define PAUSE_FACTOR 19u

int lp_watch_init(struct lp_watch *watch, const char *rules)
{
    struct lp_rule read[LP_RULES];
    int status;

    *watch = (struct lp_watch){ .count = 0 };
    if ((status = lp_rules_read(rules, read, &watch->count)) < 0)
        return status;
    for (size_t i = 0; i < watch->count; i++) {
        watch->rules[i].rule = read[i];
        watch->rules[i].units = calloc(LP_WATCH_KEPT, sizeof(*watch->rules[i].units));
        if (!watch->rules[i].units)
            return lp_out_of_memory();
    }
    return 0;
}

void lp_watch_clear(struct lp_watch *watch)
{
    for (size_t i = 0; i < LP_RULES; i++)
        free(watch->rules[i].units);
    lp_vector_clear(&watch->triggers);
}

/* Calls */

static void keep(struct lp_watched_rule *rule, uint64_t end_ns, double first, double second)
{
    rule->units[rule->seen++ % LP_WATCH_KEPT] = (struct lp_watched_unit){ end_ns, first, second };
}

static void take_ended(void *context, uint32_t node, uint64_t end_ns, uint64_t wall_ns,
                       const uint64_t *quantities)
{
    struct lp_watch *watch = &((struct llmperf_session *)context)->watch;
    uint64_t tokens = quantities[LLMPERF_QUANTITY_TOKENS];

    for (size_t i = 0; i < watch->count; i++) {
        struct lp_watched_rule *rule = &watch->rules[i];

        if (rule->rule.quantity == LP_QUANTITY_IDLE || !lp_path_has_label(node, rule->rule.label))
            continue;
        if (rule->rule.quantity != LP_QUANTITY_TOKENS_PER_S)
            keep(rule, end_ns, (double)wall_ns, 0);
        else if (tokens > 0) /* tokens not given is not a rate of 0 */
            keep(rule, end_ns, (double)tokens, (double)wall_ns);
    }
}

/* Calls whose device work was collected. It is known one or two seconds after their end, and counts
 * from then on. */
static void take_done(void *context, uint32_t node, const llmperf_iteration *row)
{
    struct lp_watch *watch = &((struct llmperf_session *)context)->watch;

    for (size_t i = 0; i < watch->count && !isnan(row->span_ms); i++)
        if (watch->rules[i].rule.quantity == LP_QUANTITY_IDLE &&
            lp_path_has_label(node, watch->rules[i].rule.label))
            keep(&watch->rules[i], lp_clock_now(), row->idle_ms, row->span_ms);
}

struct lp_watcher lp_watch_watcher(struct llmperf_session *session)
{
    return (struct lp_watcher){ session, take_ended, take_done };
}

/* Rules */

static int compare_numbers(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static double measure(enum lp_quantity quantity, double *first, double second_sum, size_t count)
{
    static const double fractions[] = { [LP_QUANTITY_P50] = 0.50,
                                        [LP_QUANTITY_P95] = 0.95,
                                        [LP_QUANTITY_P99] = 0.99,
                                        [LP_QUANTITY_MAX] = 1 };
    double sum = 0;

    if (quantity == LP_QUANTITY_P50 || quantity == LP_QUANTITY_P95 || quantity == LP_QUANTITY_P99 ||
        quantity == LP_QUANTITY_MAX) {
        qsort(first, count, sizeof(*first), compare_numbers);
        return first[(size_t)ceil(fractions[quantity] * (double)count) - 1] / 1e6;
    }
    for (size_t i = 0; i < count; i++)
        sum += first[i];
    if (quantity == LP_QUANTITY_MEAN)
        return sum / (double)count / 1e6;
    return quantity == LP_QUANTITY_IDLE ? 100 * sum / second_sum : 1e9 * sum / second_sum;
}

/* Value of a rule over its interval that ends at `to_ns`; NaN: too few calls. */
static double evaluate(const struct lp_watch *watch, const struct lp_watched_rule *rule,
                       uint64_t to_ns, size_t *count_out)
{
    static double first[LP_WATCH_KEPT]; /* only the collector uses it, and there is one session */
    uint64_t kept = rule->seen < LP_WATCH_KEPT ? rule->seen : LP_WATCH_KEPT;
    uint64_t from_ns = to_ns > rule->rule.span_ns ? to_ns - rule->rule.span_ns : 0;
    size_t least = rule->rule.quantity == LP_QUANTITY_MAX ? 1 : LEAST_UNITS;
    double second_sum = 0;

    *count_out = 0;
    if (from_ns < watch->since_ns)
        return NAN;
    for (uint64_t i = 0; i < kept; i++) {
        const struct lp_watched_unit *unit = &rule->units[i];

        if (unit->end_ns <= from_ns || unit->end_ns > to_ns)
            continue;
        first[(*count_out)++] = unit->first;
        second_sum += unit->second;
    }
    return *count_out < least ? (double)NAN
                              : measure(rule->rule.quantity, first, second_sum, *count_out);
}

static bool holds(const struct lp_rule *rule, double value)
{
    return rule->above ? value > rule->threshold : value < rule->threshold;
}

/* Windows */

static void trigger(struct lp_watch *watch, uint32_t index, double value, size_t count,
                    uint64_t now_ns)
{
    struct lp_watched_rule *rule = &watch->rules[index];
    struct lp_trigger made = { index, rule->rule.units, value, count, now_ns };

    if (lp_vector_push(&watch->triggers, made) < 0)
        return;
    rule->windows++;
    watch->open = true;
    lp_sampler_trigger((uint32_t)watch->triggers.count, rule->rule.units);
    lp_log(LLMPERF_LOG_WARN,
           "window %zu: rule \"%s\" fired: %s of %s was %s %s over %zu calls; the next %" PRIu32
           " calls are collected completely",
           watch->triggers.count, rule->rule.text, lp_quantity_name(rule->rule.quantity),
           rule->rule.label, LP_NUMBER(value, 4), lp_quantity_unit(rule->rule.quantity), count,
           rule->rule.units);
    if (rule->windows == rule->rule.limit || watch->triggers.count == LP_WATCH_WINDOWS)
        lp_log(LLMPERF_LOG_WARN,
               "window %zu is the last one of rule \"%s\" in this session (limit reached)",
               watch->triggers.count, rule->rule.text);
}

static void close_window(struct lp_watch *watch, uint64_t now_ns)
{
    const struct lp_trigger *newest = &watch->triggers.items[watch->triggers.count - 1];
    struct lp_watched_rule *rule = &watch->rules[newest->rule];

    watch->open = false;
    watch->next_ns = now_ns + PAUSE_FACTOR * (now_ns - newest->time_ns);
    rule->next_ns = now_ns + rule->rule.cooldown_ns;
    lp_log(LLMPERF_LOG_INFO, "window %zu ended after %.3f s", watch->triggers.count,
           (double)(now_ns - newest->time_ns) / 1e9);
}

static void follow_window(struct lp_watch *watch, uint64_t now_ns)
{
    const struct lp_trigger *newest = &watch->triggers.items[watch->triggers.count - 1];

    if (now_ns - newest->time_ns > LONGEST_NS)
        lp_sampler_cut();
    if (!lp_sampler_triggered())
        close_window(watch, now_ns);
}

/* Intervals that end later are new. Earlier ones were evaluated or are in a pause. */
static uint64_t begin_of_look(const struct lp_watch *watch, const struct lp_watched_rule *rule)
{
    uint64_t begin_ns = watch->looked_ns;

    begin_ns = watch->next_ns > begin_ns ? watch->next_ns : begin_ns;
    return rule->next_ns > begin_ns ? rule->next_ns : begin_ns;
}

/* Intervals shorter than the time between two checks overlap by half, so a condition that lasts for
 * one and a half intervals fills at least one. */
static void look_at_rule(struct lp_watch *watch, uint32_t index, uint64_t now_ns)
{
    struct lp_watched_rule *rule = &watch->rules[index];
    uint64_t begin_ns = begin_of_look(watch, rule), to_ns = now_ns;

    do {
        size_t count = 0;
        double value = evaluate(watch, rule, to_ns, &count);

        if (holds(&rule->rule, value))
            trigger(watch, index, value, count, now_ns);
        to_ns -= rule->rule.span_ns / 2;
    } while (!watch->open && to_ns > begin_ns && to_ns < now_ns);
}

static void look_at_rules(struct lp_watch *watch, uint64_t now_ns)
{
    for (uint32_t i = 0; i < watch->count && !watch->open; i++) {
        const struct lp_watched_rule *rule = &watch->rules[i];

        if (rule->windows < rule->rule.limit && now_ns >= rule->next_ns)
            look_at_rule(watch, i, now_ns);
    }
}

void lp_watch_begin(struct llmperf_session *session)
{
    session->watch.since_ns = session->watch.looked_ns = lp_clock_now();
}

void lp_watch_end(struct llmperf_session *session)
{
    if (session->watch.open)
        close_window(&session->watch, lp_clock_now());
}

void lp_watch_look(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_watch *watch = &session->watch;

    if (watch->count == 0 || !session->sampling.on)
        return;
    if (watch->open) {
        follow_window(watch, now_ns);
        return;
    }
    if (now_ns - watch->looked_ns < LOOK_NS || now_ns < watch->next_ns ||
        watch->triggers.count >= LP_WATCH_WINDOWS)
        return;
    look_at_rules(watch, now_ns);
    watch->looked_ns = now_ns;
}

/* Rules have no effect in a session that does not sample; the run notes this. */
static int add_note(const struct llmperf_session *session, llmperf_profile *profile)
{
    if (session->watch.count == 0 || lp_attribution_is_sampled(session->attribution))
        return 0;
    return lp_profile_note(
        profile, "%s",
        lp_options_sample(&session->options)
            ? "rules: no device activity was sampled, so no window was opened"
            : "rules: this session collects all calls, so rules have no effect; use tier light");
}

int lp_watch_fill(const struct llmperf_session *session, llmperf_profile *profile)
{
    const struct lp_watch *watch = &session->watch;
    int status = add_note(session, profile);

    for (size_t i = 0; i < watch->triggers.count && status == 0; i++) {
        const struct lp_trigger *from = &watch->triggers.items[i];
        const struct lp_rule *rule = &watch->rules[from->rule].rule;
        llmperf_window_stats row = LLMPERF_WINDOW_STATS_INIT;

        row.number = i + 1;
        row.process_id = (uint32_t)session->pid;
        row.rule = rule->text;
        row.region = rule->label;
        row.quantity = lp_quantity_name(rule->quantity);
        row.unit = lp_quantity_unit(rule->quantity);
        row.value = from->value;
        row.threshold = rule->threshold;
        row.value_units = from->value_units;
        row.triggered_ns = from->time_ns;
        row.units_asked = from->units;
        status = lp_profile_set_trigger(profile, &row);
    }
    return status;
}

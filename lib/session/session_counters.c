/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/session_counters.h"
#include "lib/counters/counters.h"
#include "lib/output/format/json_writer.h"

/* The source may come later, with CUDA. */
static bool may_have_cupti(const struct llmperf_session *session)
{
    uint32_t kind = session->options.source;

    return strcmp(session->source_name, "cupti") == 0 ||
           (session->injected && (kind == LLMPERF_SOURCE_AUTO || kind == LLMPERF_SOURCE_CUPTI));
}

static int start_counting(struct llmperf_session *session)
{
    const struct lp_counter_request *request = &session->counter_request;
    const struct lp_counters_options options = {
        .preset = request->preset,
        .include = request->include,
        .replay = request->replay,
        .most_passes = request->passes,
        .group = request->group,
        .budget = request->budget,
        .interval_ns = lp_counter_pace_begin(&session->counter_pace, session->options.tier,
                                             request->interval_ns),
        .attached = session->source != NULL,
        .names = &session->names,
    };
    int status = lp_counters_open(&options, &session->counters);

    if (status < 0)
        snprintf(session->counters_reason, sizeof(session->counters_reason),
                 "no hardware counters: %s", llmperf_last_error());
    return status == LLMPERF_ENOMEM ? status : 0;
}

int lp_session_counters_open(struct llmperf_session *session)
{
    if (!session->counter_request.preset)
        return 0;
    if (may_have_cupti(session))
        return start_counting(session);
    if (!session->source || session->source->ops->live)
        snprintf(session->counters_reason, sizeof(session->counters_reason),
                 "no hardware counters: device activity is not collected");
    return 0;
}

void lp_session_counters_deliver(struct llmperf_session *session)
{
    if (session->counters)
        lp_counters_deliver(session->counters, &session->sink);
}

void lp_session_counters_stop(struct llmperf_session *session, bool driver)
{
    if (!session->counters)
        return;
    if (driver)
        lp_counters_stop(session->counters);
    else
        lp_counters_abandon(session->counters);
    lp_session_counters_deliver(session);
}

static void put_columns(struct lp_json *json, const struct lp_counter_plan *plan)
{
    lp_json_open(json, "quantities", '[');
    for (size_t i = 0; i < plan->count; i++) {
        lp_json_open(json, NULL, '{');
        lp_json_string(json, "quantity", plan->columns[i].quantity);
        lp_json_string(json, "metric", plan->columns[i].metric);
        lp_json_string(json, "unit", plan->columns[i].unit);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

/* Counters that the chip lacks, if they were queried here; not known for a recording. */
static void put_missing(struct lp_json *json, const struct llmperf_session *session)
{
    const struct lp_counter_set *set =
        session->counters ? lp_counters_set(session->counters) : NULL;

    lp_json_open(json, "missing", '[');
    for (size_t i = 0; set && i < set->missing.count; i++) {
        lp_json_open(json, NULL, '{');
        lp_json_string(json, "quantity", set->missing.items[i].quantity);
        lp_json_string(json, "reason", set->missing.items[i].reason);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

static int add_fact(const struct llmperf_session *session, const struct lp_counter_plan *plan,
                    const struct lp_counters_state *state, llmperf_profile *profile)
{
    struct lp_json json = { 0 };
    int status;

    lp_json_open(&json, NULL, '{');
    lp_json_string(&json, "chip", plan->chip);
    lp_json_string(&json, "preset", plan->preset);
    lp_json_string(&json, "method", plan->method);
    lp_json_string(&json, "replay", plan->replay);
    lp_json_count(&json, "passes", plan->passes);
    lp_json_count(&json, "interval_ns", plan->interval_ns ? plan->interval_ns : LLMPERF_UNKNOWN);
    lp_json_count(&json, "groups", state->groups ? state->groups : LLMPERF_UNKNOWN);
    if (session->counters) {
        lp_json_string(&json, "interval_reason",
                       plan->interval_ns ? session->counter_pace.reason : NULL);
        lp_json_count(&json, "interval_changes", session->counter_pace.changes);
        lp_json_count(&json, "boundaries", state->boundaries);
        lp_json_number(&json, "cost_ms", (double)state->cost_ns / 1e6);
        lp_json_count(&json, "samples", state->samples);
        lp_json_count(&json, "samples_lost", state->samples_lost);
        lp_json_count(&json, "samples_unknown", state->samples_unknown);
        lp_json_count(&json, "overflows", state->overflows);
        lp_json_count(&json, "launches_of_others", state->others);
    }
    put_columns(&json, plan);
    put_missing(&json, session);
    lp_json_close(&json, '}');
    lp_text_puts(&json.text, "");
    status = json.text.failed ? lp_out_of_memory()
                              : lp_profile_set_fact(profile, "counters", json.text.bytes);
    lp_text_clear(&json.text);
    return status;
}

static int add_cost(const struct lp_counters_state *state, llmperf_profile *profile)
{

    if (state->boundaries == 0)
        return 0;
    return lp_profile_note(
        profile,
        "counters: the program waited %.3f ms at the ends of %" PRIu64
        " ranges, where the GPU is drained, so wall times are longer than without counters.",
        (double)state->cost_ns / 1e6, state->boundaries);
}

static int add_others(const struct lp_counters_state *state, llmperf_profile *profile)
{

    if (state->others == 0)
        return 0;
    return lp_profile_note(profile,
                           "counters: other threads launched work %" PRIu64
                           " times while a region was measured; the counters include that work.",
                           state->others);
}

/* Effects of kernel replay on the rest of the profile. */
static int add_replay(const struct llmperf_session *session, llmperf_profile *profile)
{
    const struct lp_counter_plan *plan = lp_counter_totals_current_plan(session->counter_totals);

    if (!plan || strcmp(plan->method, "kernel") != 0)
        return 0;
    return lp_profile_note(profile,
                           "counters: with kernel replay CUPTI reports no kernel times; see "
                           "gpu_time in the counters. Region times include all passes.");
}

/* PM sampling goes on with the same interval. PC sampling lengthens its period, and shares remain
 * right. */
static int add_overflows(const struct llmperf_session *session,
                         const struct lp_counters_state *state, llmperf_profile *profile)
{
    const struct lp_counter_preset *preset = session->counter_request.preset;
    bool pc = preset && preset->method == LP_COUNTER_PC;

    return (pc ? lp_profile_note : lp_profile_problem)(
        profile,
        "counters: the GPU's sample buffer overflowed %" PRIu64 " times and samples are "
        "missing; %s",
        state->overflows,
        pc ? "the sampling period was doubled each time" : "use a longer interval_us");
}

static int add_lines(struct llmperf_session *session, const struct lp_counters_state *state,
                     llmperf_profile *profile)
{
    const char *problem = state->problem[0] ? state->problem : session->counters_reason;
    int status = 0;

    if (*problem)
        status = lp_profile_note(profile, "%s", problem);
    if (status == 0 && state->overflows > 0)
        status = add_overflows(session, state, profile);
    if (status == 0 && state->samples_lost > 0)
        status = lp_profile_note(profile,
                                 "counters: %" PRIu64 " of %" PRIu64
                                 " samples are missing; the values are from the others.",
                                 state->samples_lost, state->samples_lost + state->samples);
    /* About 2 % always are: work of the driver. */
    if (status == 0 && state->samples_unknown * 10 > state->samples)
        status = lp_profile_note(
            profile,
            "counters: %" PRIu64 " of %" PRIu64
            " samples are of kernels that CUPTI does not know, and are in no row: %s.",
            state->samples_unknown, state->samples_unknown + state->samples,
            "start the session before the program launches kernels");
    if (status == 0)
        status = add_replay(session, profile);
    if (status == 0)
        status = add_others(state, profile);
    return status < 0 ? status : add_cost(state, profile);
}

/* Number of passes, for a caller that runs the program repeatedly. */
static int add_groups(const struct lp_counters_state *state, llmperf_profile *profile)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", state->groups);
    return state->groups > 0 ? lp_profile_set_fact(profile, "counter_groups", text) : 0;
}

int lp_session_counters_add(struct llmperf_session *session, uint32_t process_id,
                            llmperf_profile *profile)
{
    const struct lp_counter_plan *plan = lp_counter_totals_current_plan(session->counter_totals);
    struct lp_counters_state state = { 0 };
    int status;

    if (session->counters)
        lp_counters_state(session->counters, &state);
    if ((status = add_lines(session, &state, profile)) < 0 ||
        (status = add_groups(&state, profile)) < 0 || !plan)
        return status;
    if ((status = add_fact(session, plan, &state, profile)) < 0 ||
        (status = lp_counter_totals_add(session->counter_totals, process_id, profile)) < 0)
        return status;
    return lp_profile_finish(profile);
}

void lp_session_counters_close(struct llmperf_session *session)
{
    lp_counters_close(session->counters);
    session->counters = NULL;
    lp_counter_request_clear(&session->counter_request);
}

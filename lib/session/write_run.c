/* SPDX-License-Identifier: Apache-2.0 */
/** Facts about the session in its profiles and run file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/machine/environment.h"
#include "lib/machine/program.h"
#include "lib/record/range_rules.h"
#include "lib/session/session.h"
#include "lib/session/session_counters.h"
#include "lib/session/session_trace.h"
#include "llmperf/api.h"
#include "lib/device/device.h"

void lp_session_fail(struct llmperf_session *session, int status)
{
    if (session->failed < 0)
        return;
    session->failed = status;
    snprintf(session->failure, sizeof(session->failure), "%s", llmperf_last_error());
    lp_log(LLMPERF_LOG_ERROR, "%s", session->failure);
}

void lp_session_written(struct llmperf_session *session, int status)
{
    if (status == 0)
        session->written_ns = session->committed_ns;
    if (status == 0 && session->unwritten < 0)
        lp_log(LLMPERF_LOG_WARN, "%s can be written again; nothing is missing from it",
               session->run_file);
    if (status < 0 && session->unwritten == 0)
        lp_log(LLMPERF_LOG_ERROR, "%s", llmperf_last_error());
    if (status < 0)
        snprintf(session->unwritten_reason, sizeof(session->unwritten_reason), "%s",
                 llmperf_last_error());
    session->unwritten = status;
}

void lp_session_environment(struct llmperf_session *session, bool last)
{
    bool cupti = session->source && session->source->cupti_version != 0;
    /* Querying the driver before the program uses the device would initialise it, but a parent that
     * forks must not have it initialised. */
    bool with_driver = cupti && session->activities > 0;
    char *text;

    if (session->environment && !last && (session->environment_has_driver || !with_driver))
        return;
    if (lp_environment_json(
            with_driver, session->source && session->source->gpu[0] ? session->source->gpu : NULL,
            cupti ? session->source->cupti_version : 0, cupti ? session->source->cupti_path : NULL,
            &text) < 0)
        return;
    free(session->environment);
    session->environment = text;
    session->environment_has_driver = with_driver;
}

/* Collected share of the time, with windows for all threads; NaN: calls of regions are sampled. */
static double window_share(const struct llmperf_session *session)
{
    uint64_t now_ns = session->stop_ns ? session->stop_ns : lp_clock_now();

    if (session->sampling.window_sum_ns == 0)
        return NAN;
    return (double)session->sampling.window_sum_ns / (double)(now_ns - session->start_ns);
}

void lp_session_fill_ledger(struct llmperf_session *session, llmperf_ledger *ledger,
                            struct lp_device_stats *stats)
{
    *ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    *stats = (struct lp_device_stats){ 0 };
    lp_attribution_ledger(session->attribution, ledger);
    if (session->source)
        session->source->ops->stats(session->source, stats);
    if (!session->source || stats->no_device)
        ledger->verdict = LLMPERF_VERDICT_NO_DEVICE;
    if (stats->cut || stats->full_ns ||
        (session->source &&
         session->failed < 0)) /* missing data may be in the part that was lost */
        ledger->verdict = LLMPERF_VERDICT_INCOMPLETE;
    if (session->health.dead && session->stop_ns == 0)
        ledger->verdict = LLMPERF_VERDICT_DEAD;
    lp_totals_sample(session->totals, lp_attribution_is_sampled(session->attribution),
                     window_share(session));
    ledger->sampled_fraction = lp_totals_sampled_fraction(session->totals);
    ledger->records_dropped = stats->records_dropped;
    ledger->records_incomplete += stats->records_incomplete;
    ledger->records_foreign = stats->records_foreign;
    ledger->source_errors = stats->errors;
    ledger->tracing_overhead_ms = stats->has_overhead ? (double)stats->overhead_ns / 1e6 : NAN;
}

/* A recording does not contain its tier, but sampling is visible. */
static uint32_t tier_of(const struct llmperf_session *session)
{
    bool replay = session->source && session->source->recorded;

    return replay && lp_attribution_is_sampled(session->attribution) ? LLMPERF_TIER_LIGHT
                                                                     : session->options.tier;
}

static const char *model_source(const struct llmperf_session *session)
{
    const char *path = *session->model_path ? session->model_path : session->options.model_path;

    return path || !session->stage_work ? path : LP_CONFIGURED_MODEL;
}

static int add_facts(struct llmperf_session *session, const struct lp_device_stats *stats,
                     llmperf_profile *profile)
{
    uint64_t now_ns = session->stop_ns ? session->stop_ns : lp_clock_now();
    uint64_t duration_ns = stats->duration_ns ? stats->duration_ns : now_ns - session->start_ns;
    const struct lp_session_config *config = &session->options.config;
    const char *recorded = session->source ? session->source->recorded : NULL;
    char duration[32], pid[32], started[32], tier[LP_OPTION_WORD_BYTES];
    int status;

    snprintf(duration, sizeof(duration), "%.3f", (double)duration_ns / 1e6);
    snprintf(pid, sizeof(pid), "%ld",
             (long)(stats->process_id ? (pid_t)stats->process_id : session->pid));
    snprintf(started, sizeof(started), "%" PRIu64, lp_process_started());
    if ((status = lp_profile_set_fact(profile, "run_id", session->options.run_id)) < 0 ||
        (status = lp_profile_set_fact(profile, "created_at", session->created_at)) < 0 ||
        /* Replaying a recording twice gives the same run. */
        (status = lp_profile_set_fact(profile, LP_RUN_KEY_FACT,
                                      recorded ? NULL : session->run_key)) < 0 ||
        (status = lp_profile_set_fact(profile, "tier",
                                      lp_option_word("run.mode", tier_of(session), tier))) < 0 ||
        (status = lp_profile_set_fact(profile, "source", session->source_name)) < 0 ||
        (status = lp_profile_set_fact(profile, "process_id", pid)) < 0 ||
        (status = lp_profile_set_fact(profile, LP_STARTED_FACT, recorded ? NULL : started)) < 0 ||
        (status = lp_profile_set_fact(profile, "llmperf_version", LLMPERF_VERSION_STRING)) < 0 ||
        (status = lp_profile_set_fact(profile, "duration_ms", duration)) < 0 ||
        (status = lp_profile_set_fact(profile, "model", model_source(session))) < 0 ||
        (status = lp_profile_set_fact(profile, "config", config->text)) < 0 ||
        (status = lp_profile_set_fact(profile, "config_fingerprint", config->fingerprint)) < 0 ||
        (status = lp_profile_set_fact(profile, "dtype", config->dtype)) < 0 ||
        (status = lp_profile_set_fact(profile, "inputs", config->inputs)) < 0 ||
        /* A replay reports the recording's machine. */
        (status = lp_profile_set_fact(profile, "env", recorded ? recorded : session->environment)) <
            0)
        return status;
    if (recorded &&
        (status = lp_profile_set_fact(profile, "recorded_from", session->options.device_path)) < 0)
        return status;
    return *session->source_reason
               ? lp_profile_set_fact(profile, "source_reason", session->source_reason)
               : 0;
}

static int add_given(struct llmperf_session *session, llmperf_profile *profile)
{
    char *inputs;
    int status = lp_input_list_json(&session->inputs, &inputs);

    if (status == 0)
        status = lp_profile_set_fact(profile, "given", inputs);
    free(inputs);
    return status;
}

static int add_lines(struct llmperf_session *session, const struct lp_device_stats *stats,
                     bool running, llmperf_profile *profile)
{
    int status = 0;

    if (session->stage_work)
        status = lp_stage_work_facts(session->stage_work, session->options.config.dtype, profile);
    if (status == 0 && *session->model_note)
        status = lp_profile_note(profile, "%s", session->model_note);
    if (status == 0 && lp_attribution_untracked(session->attribution) > 0)
        status =
            lp_profile_note(profile, "Some calls of stages were not recorded one by one because "
                                     "too many were open at the same time; totals include them.");
    if (status == 0 && *session->source_reason)
        status = lp_profile_note(profile, "%s", session->source_reason);
    if (status == 0 && (session->options.flags & LLMPERF_SESSION_GRAPH_LEVEL))
        status = lp_profile_note(
            profile, "Graph level: each launch of a CUDA graph is one interval, named [graph]. It "
                     "counts as busy time; its kernels, memcpys and memsets are not counted.");
    if (status == 0 && session->graph_ends.records > 0)
        status = lp_profile_problem(profile,
                                    "kernels of CUDA graphs that were collected in tier light have "
                                    "the end time of a later replay, as CUPTI wrote it, and were "
                                    "skipped: use tier deep for device times of graphs");
    if (status == 0 && lp_range_rules_problem())
        status = lp_profile_note(profile, "%s", lp_range_rules_problem());
    if (status == 0 && session->ignores)
        status = lp_profile_note(profile, LP_IGNORES);
    if (status == 0 && stats->no_device)
        status = lp_profile_note(profile, "the recording was made without a device source");
    if (status == 0 && running)
        status = lp_profile_problem(profile, LP_PROBLEM_OPEN);
    if (status == 0 && stats->cut)
        status = lp_profile_problem(profile,
                                    "the recording ends early: it was cut while it was written");
    if (status == 0 && stats->full_ns)
        status = lp_profile_problem(
            profile, "the recording reached its size limit: later events are missing");
    if (status == 0 && lp_attribution_failed(session->attribution))
        status = lp_profile_problem(profile, "out of memory: launches or regions are missing");
    if (status == 0 && session->failed < 0)
        status = lp_profile_problem(profile, "%s", session->failure);
    return status;
}

int lp_session_profile(struct llmperf_session *session, bool running, llmperf_profile **profile_out)
{
    struct lp_device_stats stats;
    llmperf_profile *profile;
    llmperf_ledger ledger;
    uint32_t process_id;
    int status;

    lp_session_fill_ledger(session, &ledger, &stats);
    process_id = stats.process_id ? stats.process_id : (uint32_t)session->pid;
    if ((status = lp_totals_freeze(session->totals, &ledger, process_id, &profile)) < 0)
        return status;
    if ((status = add_facts(session, &stats, profile)) < 0 ||
        (status = add_given(session, profile)) < 0 ||
        (status = lp_structure_fill(session->structure, profile)) < 0 ||
        (status = lp_watch_fill(session, profile)) < 0 ||
        (status = lp_detach_fill(session, profile)) < 0 ||
        (status = add_lines(session, &stats, running, profile)) < 0 ||
        (status = lp_profile_set_fact(profile, LP_ENERGY_FACT, lp_gpu_watch_reason(session))) < 0 ||
        (status = lp_session_trace_note(session, profile)) < 0 ||
        (status = lp_serving_freeze(session->serving, process_id, profile)) < 0 ||
        (status = lp_session_counters_add(session, process_id, profile)) < 0) {
        llmperf_profile_free(profile);
        return status;
    }
    *profile_out = profile;
    return 0;
}

void lp_session_commit(struct llmperf_session *session, bool running)
{
    llmperf_profile *profile;
    int status;

    session->committed_ns = lp_clock_now();
    if (!session->store)
        return;
    lp_session_environment(session, false);
    if (running)
        lp_structure_settle(session->structure, LP_STRUCTURE_SOME, session->attribution);
    status = lp_session_profile(session, running, &profile);
    lp_session_trace_flush(session);
    if (status == 0) {
        status = lp_store_write(session->store, profile);
        llmperf_profile_free(profile);
    }
    session->commit_cost_ns = lp_clock_now() - session->committed_ns;
    lp_session_written(session, status);
}

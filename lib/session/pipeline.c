/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/status.h"
#include "lib/session/found_model.h"
#include "lib/session/pipeline.h"
#include "lib/session/session.h"
#include "lib/session/session_trace.h"
#include "lib/device/device.h"
#include "lib/findings/kernels/kernel_class.h"

static void pass_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    struct llmperf_session *session = context;

    lp_attribution_host(session->attribution, thread, records, count);
    lp_counter_totals_host(session->counter_totals, thread, records, count);
    lp_serving_host(session->serving, thread, records, count);
}

static void pass_activities(void *context, struct lp_activity *activities, size_t count)
{
    struct llmperf_session *session = context;

    session->activities += count;
    if (count > 0) {
        lp_gpu_watch_saw(&session->gpu_watch, activities[0].device);
        lp_gpu_watch_saw(&session->gpu_watch, activities[count - 1].device);
    }
    if (lp_attribution_is_sampled(session->attribution))
        lp_graph_ends_pass(&session->graph_ends, session->attribution, activities, count);
    else
        lp_attribution_activities(session->attribution, activities, count);
}

static void pass_graphs(void *context, const struct lp_graph_event *events, size_t count)
{
    struct llmperf_session *session = context;

    session->detach.graphs += count;
    lp_attribution_graphs(session->attribution, events, count);
}

static void pass_plan(void *context, const struct lp_counter_plan *plan)
{
    lp_counter_totals_plan(((struct llmperf_session *)context)->counter_totals, plan);
}

static void pass_counter(void *context, const struct lp_counter_fact *fact, const double *values)
{
    lp_counter_totals_fact(((struct llmperf_session *)context)->counter_totals, fact, values);
}

static void pass_gpu(void *context, const struct lp_gpu_sample *sample)
{
    lp_totals_gpu(((struct llmperf_session *)context)->totals, sample);
}

static uint8_t classify(void *classes, const char *demangled, uint32_t kind)
{
    return lp_kernel_class_index(classes, demangled, kind);
}

static const char *name_class(void *classes, size_t index)
{
    return lp_kernel_class_name(classes, index);
}

/* Sources of the iterations' work and kernel classes. */
static int open_knowledge(struct llmperf_session *session)
{
    struct lp_work_source source;
    int status;

    if (session->watch.count > 0) {
        struct lp_watcher watcher = lp_watch_watcher(session);

        lp_totals_set_watcher(session->totals, &watcher);
    }
    if ((status = lp_kernel_classes_open(NULL, &session->classes)) == LLMPERF_ENOMEM)
        return status;
    lp_structure_set_classes(session->structure, session->classes);
    if (status == 0)
        lp_totals_set_classes(session->totals,
                              &(struct lp_classifier){ session->classes, classify, name_class });
    if ((status = lp_options_model(&session->options, &session->stage_work)) < 0)
        return status;
    if (!session->stage_work) {
        lp_found_model_take(session);
        return 0;
    }
    source = lp_stage_work_source(session->stage_work);
    lp_totals_set_work(session->totals, &source);
    lp_structure_set_hidden(session->structure, lp_stage_work_hidden(session->stage_work));
    return 0;
}

static struct lp_serving *open_serving(const struct lp_options *options)
{
    const struct lp_serving_options serving = {
        lp_options_number(options, "session.slo_ttft_ms"),
        lp_options_number(options, "session.slo_tpot_ms"),
        lp_options_number(options, "session.gpu_hour_cents"),
    };

    return lp_serving_create(&serving);
}

int lp_pipeline_make(struct llmperf_session *session)
{
    struct lp_attribution_sink results;
    struct lp_device_sink facts = { session,   pass_host,    pass_activities, pass_graphs,
                                    pass_plan, pass_counter, pass_gpu };
    int status;

    if (!(session->totals = lp_totals_create(&session->names)) ||
        !(session->counter_totals = lp_counter_totals_create(&session->names)) ||
        !(session->serving = open_serving(&session->options)))
        return lp_out_of_memory();
    lp_totals_set_counters(session->totals, session->counter_totals);
    results = lp_totals_sink(session->totals);
    if (!(session->structure = lp_structure_create(&results, &session->names)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    lp_totals_set_filter(
        session->totals,
        &(struct lp_totals_filter){ session->structure, lp_structure_take, lp_structure_mark });
    if (!(session->attribution = lp_attribution_create(&results)))
        return lp_out_of_memory();
    if ((status = open_knowledge(session)) < 0)
        return status;
    session->sink = facts;
    if (session->options.record_path)
        return lp_session_record(session, session->options.record_path, 0, false,
                                 &session->recorder);
    return 0;
}

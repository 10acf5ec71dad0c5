/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/findings/findings.h"
#include "lib/profile/fields.h"
#include "lib/record/host_calls.h"
#include "lib/record/paths.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "lib/findings/kernels/kernel_class.h"
#include "lib/findings/recommend.h"

/* A stage that is mostly one nested stage (decode_all of decode steps) gets no advice of its
 * own. */
#define FRAME_SHARE 0.8
#define STAGES_MOST 256u /* stages that get advice; each is compared with every other */

static bool is_stage(const llmperf_region_stats *region)
{
    return region->kind == LLMPERF_REGION_STAGE && *region->path;
}

/* Busy time without waiting in collectives: of GPUs that share a stage, the one that the others
 * wait for is the busiest. */
static double busy_of(const struct lp_findings *findings, const llmperf_region_stats *region)
{
    return isnan(region->gpu_busy_ms)
               ? -1
               : region->gpu_busy_ms -
                     lp_ranks_waiting(&findings->ranks, region->path, region->device);
}

/* Without device times the longest wall time decides. Of equal rows the first is used. */
static bool is_busier(const struct lp_findings *findings, const llmperf_region_stats *a,
                      const llmperf_region_stats *b, bool is_first)
{
    double busy_a = busy_of(findings, a), busy_b = busy_of(findings, b);

    if (busy_a < busy_b || busy_a > busy_b)
        return busy_a > busy_b;
    if (a->wall_sum_ms < b->wall_sum_ms || a->wall_sum_ms > b->wall_sum_ms)
        return a->wall_sum_ms > b->wall_sum_ms;
    return is_first;
}

static bool is_busiest(const struct lp_findings *findings, size_t index)
{
    const struct lp_region_finding *row = &findings->regions.items[index];

    for (const struct lp_region_finding *other = lp_rows_of(findings, row->stats.path); other;
         other = lp_rows_next(findings, other))
        if (other != row && is_busier(findings, &other->stats, &row->stats, other < row))
            return false;
    return true;
}

static bool fills(const struct lp_findings *findings, const llmperf_region_stats *inner,
                  const llmperf_region_stats *outer)
{
    if (inner == outer || !is_stage(inner) || strcmp(inner->path, outer->path) == 0 ||
        !lp_region_is_in(inner->path, outer->path))
        return false;
    if (findings->device_known && outer->gpu_busy_ms > 0)
        return inner->gpu_busy_ms >= FRAME_SHARE * outer->gpu_busy_ms;
    return inner->wall_sum_ms >= FRAME_SHARE * outer->wall_sum_ms;
}

static bool is_advised(const struct lp_findings *findings, size_t index)
{
    const llmperf_region_stats *region = &findings->regions.items[index].stats;

    if (!is_stage(region) || !is_busiest(findings, index))
        return false;
    /* Nested regions follow their parent. */
    for (size_t i = lp_profile_find_region(findings->profile, region->path);
         i < findings->regions.count &&
         lp_region_is_in(findings->regions.items[i].stats.path, region->path);
         i++)
        if (fills(findings, &findings->regions.items[i].stats, region))
            return false;
    return true;
}

static const char *advised_of(const struct lp_findings *findings, const char *path)
{
    for (const struct lp_region_finding *row = lp_rows_of(findings, path); row;
         row = lp_rows_next(findings, row))
        if (row->advised)
            return row->stats.path;
    return NULL;
}

/* Innermost enclosing region first. */
static int find_around(const struct lp_findings *findings, struct lp_region_finding *region)
{
    char *path = lp_text_copy(region->stats.path), *slash;

    if (!path)
        return lp_out_of_memory();
    for (int level = 0; level < LLMPERF_REGION_DEPTH && !region->around; level++) {
        if (!(slash = strrchr(path, '/')))
            break;
        *slash = '\0';
        region->around = advised_of(findings, path);
    }
    free(path);
    return 0;
}

int lp_stages_mark(struct lp_findings *findings)
{
    int status = 0;

    for (size_t i = 0; i < findings->regions.count; i++)
        findings->regions.items[i].advised = is_advised(findings, i);
    for (size_t i = 0; status == 0 && i < findings->regions.count; i++)
        if (findings->regions.items[i].advised)
            status = find_around(findings, &findings->regions.items[i]);
    return status;
}

static double known(uint64_t value)
{
    return value == LLMPERF_UNKNOWN ? NAN : (double)value;
}

/* Wall times are of complete calls only, so they are left out if a call was truncated. */
static void set_times(const struct lp_findings *findings, const struct lp_region_finding *region,
                      struct lp_stage_facts *facts)
{
    const llmperf_region_stats *stats = &region->stats;
    bool whole = stats->instances > 0 && stats->truncated == 0;
    bool device = findings->device_known && stats->device >= 0;

    facts->wall_ms = whole ? stats->wall_sum_ms : NAN;
    facts->busy_ms = device ? stats->gpu_busy_ms : NAN;
    facts->wall_p50_ms = whole ? stats->wall_p50_ms : NAN;
    facts->wall_p99_ms = whole ? stats->wall_p99_ms : NAN;
    facts->steady_calls = (double)stats->instances;
    facts->steady_ms = stats->wall_mean_ms;
    facts->kernel_ms = device ? stats->kernel_ms : NAN;
    facts->kernel_count = device && whole ? (double)stats->kernel_count : NAN;
    facts->memcpy_ms = device ? stats->memcpy_ms : NAN;
    facts->memcpy_count = device && whole ? (double)stats->memcpy_count : NAN;
    facts->floor_ms = region->use.time_floor_ms;
    facts->floor_ratio = region->use.floor_ratio;
    facts->wall_ratio = region->use.wall_ratio;
    facts->compute_floor_ms = region->use.compute_floor_ms;
    facts->memory_floor_ms = region->use.memory_floor_ms;
    facts->mbu = region->use.mbu;
    facts->bound = region->use.bound;
}

/* A row's part of a sum over all processes (for kernels: over those that share its GPU): the mean
 * for each call of the stage. 1 with one process. */
static double part_of(const struct lp_findings *findings, const llmperf_region_stats *stats,
                      int32_t device)
{
    struct lp_stage_sum all = lp_stage_sum_of(findings, stats->path, device);

    return all.processes > 1 && all.instances > 0 ? (double)stats->instances / (double)all.instances
                                                  : 1;
}

/* Without the excess of slow calls, if step_tail() speaks of that. */
static double usual_sum(const struct lp_stage_iterations *stage, const struct lp_stage_facts *facts,
                        enum lp_iteration_time time)
{
    double sum = stage->times[time].sum_ms;

    return lp_has_tail(facts)
               ? fmin(sum, stage->times[time].p50_ms * (double)stage->times[time].count)
               : sum;
}

static double less(double ms, double part_ms)
{
    return ms < part_ms ? 0 : ms - part_ms; /* NaN stays */
}

/* What the profiler itself took is no fault of the program. */
static void leave_out_profiler(const struct lp_profiler_cost *cost, double calls,
                               struct lp_stage_facts *facts)
{
    facts->before_ms = less(facts->before_ms, calls * cost->before_ms);
    facts->after_ms = less(facts->after_ms, calls * cost->after_ms);
    facts->idle_launch_ms = less(facts->idle_launch_ms, calls * cost->launch_ms);
    facts->idle_host_ms = less(facts->idle_host_ms, calls * cost->host_ms);
}

static void leave_out_warm_up(const struct lp_stage_iterations *stage, struct lp_stage_facts *facts)
{
    const llmperf_iteration_stats *wall = &stage->times[LP_TIME_WALL];

    facts->warm_up_calls = (double)stage->warm_up[LP_TIME_WALL].calls;
    facts->warm_up_ms = stage->warm_up[LP_TIME_WALL].ms;
    facts->wall_p50_ms = wall->p50_ms;
    facts->wall_p99_ms = wall->p99_ms;
    facts->steady_calls = (double)wall->count;
    facts->steady_ms = wall->mean_ms;
}

static void set_iterations(const struct lp_findings *findings,
                           const struct lp_region_finding *region, struct lp_stage_facts *facts)
{
    const llmperf_region_stats *stats = &region->stats;
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, facts->region);
    uint64_t all = lp_stage_sum_of(findings, stats->path, -1).instances;
    double part = part_of(findings, stats, -1);

    /* Those of warm-up would lose as much. */
    if (stage && stage->times[LP_TIME_ELAPSED].count > 0)
        part *= lp_all_calls(stage, LP_TIME_ELAPSED) / (double)stage->times[LP_TIME_ELAPSED].count;
    facts->step_ms = facts->span_ms = facts->before_ms = facts->after_ms = NAN;
    facts->idle_ms = facts->idle_launch_ms = facts->idle_host_ms = facts->idle_wait_ms = NAN;
    if (lp_findings_overlaps(findings,
                             facts->region)) { /* wall times of concurrent calls overlap */
        facts->wall_ms = facts->tokens_per_s = NAN;
        facts->wall_ratio = facts->floor_ratio;
        return;
    }
    if (stage && !isnan(facts->wall_ms) && stats->instances == all)
        leave_out_warm_up(stage, facts);
    if (!stage || lp_counters_delay(findings->profile))
        return;
    facts->step_ms = stage->sampled ? part_of(findings, stats, -1) * lp_all_sum(stage, LP_TIME_WALL)
                                    : part * stage->times[LP_TIME_ELAPSED].sum_ms;
    facts->before_ms = part * usual_sum(stage, facts, LP_TIME_BEFORE);
    facts->after_ms = part * usual_sum(stage, facts, LP_TIME_AFTER);
    facts->span_ms = part * stage->times[LP_TIME_SPAN].sum_ms;
    facts->idle_launch_ms = part * usual_sum(stage, facts, LP_TIME_IDLE_LAUNCH);
    facts->idle_host_ms = part * usual_sum(stage, facts, LP_TIME_IDLE_HOST);
    facts->idle_wait_ms = part * usual_sum(stage, facts, LP_TIME_IDLE_WAIT);
    facts->idle_ms = facts->idle_launch_ms + facts->idle_host_ms + facts->idle_wait_ms;
    leave_out_profiler(&region->profiler, part * (double)stage->times[LP_TIME_ELAPSED].count,
                       facts);
}

/* They wait for other ranks: no lower bound of their own work says how long they take. */
static bool is_collective(const char *kernel_class)
{
    return kernel_class && strcmp(kernel_class, "collective") == 0;
}

/* Of attention that is not fused: that has advice of its own. */
static bool is_softmax(const struct lp_waterfall_part *part, const struct lp_stage_facts *facts)
{
    return lp_is_unfused(facts) && lp_text_same(part->kernel, facts->softmax);
}

static bool holds_stages(const struct lp_findings *findings, const char *path)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        if (findings->regions.items[i].around &&
            strcmp(findings->regions.items[i].around, path) == 0)
            return true;
    return false;
}

/* Labels "layer00", "layer01" ... below the stage; else of the model that generates. */
static double layers_of(const struct lp_findings *findings, const char *path, const char *label)
{
    const char *before = "", *name = strchr(label, '@');
    double count = 0;

    if (holds_stages(findings, path))
        return NAN;
    for (size_t i = lp_profile_find_region(findings->profile, path);
         i < findings->regions.count &&
         lp_region_is_in(findings->regions.items[i].stats.path, path);
         i++) {
        const llmperf_region_stats *region = &findings->regions.items[i].stats;
        const char *layer = strstr(region->label, "layer");

        if (layer && strspn(layer + 5, "0123456789") > 0 && strcmp(before, region->path) != 0)
            count++;
        before = region->path;
    }
    if (count > 0)
        return count;
    return name && (strcmp(name, "@decode_step") == 0 || strcmp(name, "@prefill") == 0)
               ? lp_fact_number(findings->profile, LP_LAYERS_FACT)
               : (double)NAN;
}

static void set_waterfall(const struct lp_findings *findings, struct lp_stage_facts *facts)
{
    const struct lp_waterfall *waterfall = lp_waterfall_of(&findings->waterfalls, facts->region);

    facts->elapsed_ms = waterfall ? waterfall->elapsed_ms : (double)NAN;
    facts->elapsed_calls = (double)facts->instances;
    for (size_t i = 0; waterfall && i < waterfall->parts.count; i++) {
        const struct lp_waterfall_part *part = &waterfall->parts.items[i];

        if (lp_part_loss(part) > 0 && !is_collective(part->kernel_class) &&
            !is_softmax(part, facts) &&
            (!facts->worst || lp_part_loss(part) > lp_part_loss(facts->worst)))
            facts->worst = part;
    }
    if (facts->worst && facts->worst->kernel)
        facts->worst_shape = lp_kernel_shape_find(&findings->kernel_shapes, facts->region,
                                                  facts->worst->region, facts->worst->kernel);
}

/* Above it decoding with a short context is compute-bound: a weight takes 2 FLOPs a request and is
 * read once a step. */
static double critical_batch(const struct lp_limits *limits)
{
    return limits->ridge > 0 ? limits->ridge * lp_element_bytes(limits->dtype) / 2 : NAN;
}

static void set_batch(const struct lp_findings *findings, const llmperf_region_stats *stats,
                      struct lp_stage_facts *facts)
{
    const struct lp_limits *limits = &findings->limits;

    facts->decode = lp_label_is_decode(stats->label);
    facts->batch = known(stats->sequences) / (double)(stats->instances + stats->truncated);
    facts->dtype = limits->dtype;
    facts->critical_batch = critical_batch(limits);
    facts->cheap_batch = lp_batch_at(findings->profile, limits->peak.value, limits->bandwidth.value,
                                     LP_BATCH_GROWTH, &facts->model_batch, &facts->model_context);
}

static void set_ranks(const struct lp_findings *findings, struct lp_stage_facts *facts)
{
    const struct lp_rank *waits, *last;

    facts->waiting_ms = facts->last_share = NAN;
    lp_ranks_extremes(&findings->ranks, facts->region, &waits, &last);
    if (!waits)
        return;
    facts->waiting_ms = waits->waiting_ms * (double)waits->instances;
    facts->waiting_gpu = waits->device;
    facts->last_gpu = last->device;
    facts->last_share = last->last_share;
    facts->straggler_cause = last->cause;
}

static void keep_longest(struct lp_idle_call *longest, const llmperf_host_call *row, double ms)
{
    if (ms > longest->ms)
        *longest = (struct lp_idle_call){ row, ms };
}

static bool is_of_memory(const llmperf_host_call *row)
{
    enum lp_host_purpose purpose = lp_host_call_purpose(lp_host_call_find(row->call));

    return purpose == LP_HOST_ALLOCATE || purpose == LP_HOST_FREE || purpose == LP_HOST_MEMORY;
}

static void set_gap(const llmperf_profile *profile, struct lp_stage_facts *facts)
{
    struct lp_text key = { 0 };

    lp_text_printf(&key, "%s%s", LP_KEPT_GAP_FACT, facts->region);
    facts->gap = key.failed ? NULL : llmperf_profile_fact(profile, key.bytes);
    lp_text_clear(&key);
}

/* Not scaled up: the calls are recorded only where all device work is collected. */
static void set_host_calls(const struct lp_findings *findings, const llmperf_region_stats *stats,
                           struct lp_stage_facts *facts)
{
    double part = part_of(findings, stats, -1), longest_ms = 0;

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_HOST_CALL); i++) {
        const llmperf_host_call *row = lp_row_at(findings->profile, LP_ROW_HOST_CALL, i);

        if (!lp_stage_owns(findings, row->region, facts))
            continue;
        keep_longest(&facts->around_call, row, part * (row->idle_ms - row->between_ms));
        keep_longest(&facts->between_call, row, part * row->between_ms);
        if (!is_of_memory(row))
            continue;
        facts->memory_calls += part * (double)row->calls;
        facts->memory_call_ms += part * row->total_ms;
        facts->memory_call = row->total_ms > longest_ms ? row->call : facts->memory_call;
        longest_ms = fmax(longest_ms, row->total_ms);
    }
}

/* Scale the device numbers of the collected calls up to all calls. */
static void scale_up(double scale, struct lp_stage_facts *facts)
{
    double *const collected[] = {
        &facts->before_ms,        &facts->after_ms,         &facts->busy_ms,
        &facts->span_ms,          &facts->idle_ms,          &facts->idle_launch_ms,
        &facts->idle_host_ms,     &facts->idle_wait_ms,     &facts->floor_ms,
        &facts->compute_floor_ms, &facts->memory_floor_ms,  &facts->kernel_ms,
        &facts->kernel_count,     &facts->memcpy_ms,        &facts->memcpy_count,
        &facts->device_ms,        &facts->top_class_ms,     &facts->top_kernel_ms,
        &facts->classes_ms,       &facts->copy_cast_ms,     &facts->small_ms,
        &facts->softmax_ms,       &facts->softmax_calls,    &facts->attention_calls,
        &facts->collective_ms,    &facts->collective_calls, &facts->collective_least_ms,
        &facts->launches,         &facts->narrow_ms,        &facts->narrow_calls,
        &facts->narrow_loss_ms,
    };

    for (size_t i = 0; i < LP_LENGTH(collected); i++)
        *collected[i] *= scale;
    for (size_t i = 0; i < LP_COPY_NAMES; i++) {
        facts->copies[i].ms *= scale;
        facts->copies[i].calls *= scale;
        facts->copies[i].bytes *= scale;
    }
}

static int set_stage(const struct lp_findings *findings, const struct lp_region_finding *region,
                     struct lp_stage_facts *facts)
{
    int status;

    *facts = (struct lp_stage_facts){ .region = region->stats.path,
                                      .label = region->stats.label,
                                      .around = region->around,
                                      .holds_stages = holds_stages(findings, region->stats.path),
                                      .instances = region->stats.instances,
                                      .tokens_per_s = region->tokens_per_s };
    set_times(findings, region, facts);
    set_iterations(findings, region, facts);
    facts->layers = layers_of(findings, facts->region, facts->label);
    set_gap(findings->profile, facts);
    set_batch(findings, &region->stats, facts);
    set_ranks(findings, facts);
    set_host_calls(findings, &region->stats, facts);
    status = lp_stage_kernels_set(findings, &region->stats,
                                  part_of(findings, &region->stats, region->stats.device), facts);
    set_waterfall(findings, facts);
    scale_up(region->scale, facts);
    return status;
}

static void set_devices(const llmperf_profile *profile, struct lp_run_facts *run)
{
    size_t count = lp_row_count(profile, LP_ROW_DEVICE);

    if (count == 0)
        run->span_ms = NAN; /* then no comparison with the others holds */
    for (size_t i = 0; i < count; i++) {
        const struct lp_device_time *row = lp_row_at(profile, LP_ROW_DEVICE, i);

        run->span_ms += row->span_ms;
        run->busy_ms += row->busy_ms;
        run->idle_launch_ms += row->idle_launch_ms;
        run->idle_wait_ms += row->idle_wait_ms;
        run->idle_host_ms += row->idle_host_ms;
        run->activities += (double)row->activities;
    }
}

/* Calls from which a steady state shows. */
#define CALLS_LEAST 4
/* Of the time of all stages: below it a stage needs no longer run. */
#define RARE_SHARE 0.01

static void add_stage(const struct lp_findings *findings, const llmperf_region_stats *stage,
                      struct lp_run_facts *run)
{
    const struct lp_stage_iterations *iterations = lp_findings_iterations(findings, stage->path);

    run->marked = true;
    if ((iterations && iterations->warm_up[LP_TIME_WALL].calls > 0) || stage->instances == 0 ||
        stage->instances >= CALLS_LEAST || !(stage->wall_sum_ms > run->rare_ms))
        return;
    run->rare_stage = stage->label;
    run->rare_calls = stage->instances;
    run->rare_ms = stage->wall_sum_ms;
}

static void set_run(const struct lp_findings *findings, struct lp_run_facts *run)
{
    uint32_t verdict = findings->ledger.verdict;
    const char *source = llmperf_profile_fact(findings->profile, "source");
    double all_ms = 0;

    *run = (struct lp_run_facts){ .problem = NULL };
    /* The first problem of an import of ncu alone is that ncu measures a choice of kernels. */
    if (verdict == LLMPERF_VERDICT_INCOMPLETE || verdict == LLMPERF_VERDICT_DEAD)
        run->problem =
            llmperf_profile_problem(findings->profile, source && strcmp(source, "ncu") == 0);
    if (findings->ncu_kernels.rows.count > 0)
        run->measured = &findings->ncu_kernels.rows.items[0];
    run->device_usable = findings->device_known && !findings->withheld;
    run->host_usable = findings->ledger.regions_dropped == 0;
    run->device_ms = findings->sums.device_ms;
    run->outside_ms = findings->sums.outside_ms;
    run->found = llmperf_profile_fact(findings->profile, LP_FOUND_TEXT_FACT) != NULL;
    run->imported = source && (strstr(source, "nsys") || strstr(source, "ncu"));
    set_devices(findings->profile, run);
    if (findings->ledger.kernels_seen > 0)
        run->graph_share =
            (double)findings->ledger.graph_kernels_seen / (double)findings->ledger.kernels_seen;
    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];

        if (!region->advised)
            continue;
        add_stage(findings, &region->stats, run);
        all_ms += region->around ? 0 : region->stats.wall_sum_ms;
    }
    if (run->rare_ms < RARE_SHARE * all_ms)
        run->rare_stage = NULL;
}

int lp_advice_add(struct lp_findings *findings)
{
    LP_VECTOR(struct lp_stage_facts) stages = { NULL, 0, 0 };
    struct lp_run_facts run;
    int status = 0;

    set_run(findings, &run);
    for (size_t i = 0; status == 0 && i < findings->regions.count && stages.count < STAGES_MOST;
         i++) {
        struct lp_stage_facts facts;

        if (!findings->regions.items[i].advised)
            continue;
        if ((status = set_stage(findings, &findings->regions.items[i], &facts)) == 0)
            status = lp_vector_push(&stages, facts);
    }
    if (status == 0)
        status = lp_recommend(&run, stages.items, stages.count, &findings->advice);
    lp_vector_clear(&stages);
    return status;
}

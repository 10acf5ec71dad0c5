/* SPDX-License-Identifier: Apache-2.0 */
/* The waterfall of a stage in both sides, and what differs. */
#include "lib/compare/causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/compare/compare.h"
#include "lib/findings/findings.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"

#define WORD_SHARE    0.05 /* causes below this share of a change are not worth a word */
#define NOISY_SHARE   0.25 /* the same for those that may be chance */
#define CALL_SHARE    0.5  /* of a change that a driver call is named for */
#define REPLACED_MOST 64
#define WARM_UP_SHARE 0.02 /* the same for warm-up and the time of the stage */
#define CLOCK_MS      1e-6 /* no clock shows less */

/* Sums over the runs of a side; ms of a run that lacks the part is 0. */
struct sums {
    double ms, squares, calls, bytes;
    double run_ms;   /* of the run that is being added */
    double error_ms; /* of a single run; NaN: not known */
};

struct part {
    struct lp_cause cause;
    struct sums of[2]; /* base, new */
};

/* Idle time of the GPU during calls of a function of the driver. */
struct driver_call {
    const char *name;
    bool between; /* kernels; else before the first or after the last */
    double ms[2]; /* sums over the runs of base, of new; a call of the stage */
};

struct builder {
    const struct lp_compare_runs *sides[2];
    struct lp_stage_change change;
    LP_VECTOR(struct part) parts;
    struct lp_hashmap index; /* of parts */
    LP_VECTOR(struct driver_call) calls;
};

static const struct lp_findings *findings_of(const struct lp_compare_runs *runs, size_t run)
{
    const struct lp_findings *findings = NULL;

    /* lp_compare_read() made them. */
    return lp_findings_of(runs->profiles[run], &findings) < 0 ? NULL : findings;
}

static const struct lp_waterfall *waterfall_of(const struct lp_findings *findings, const char *path)
{
    return findings ? lp_waterfall_of(&findings->waterfalls, path) : NULL;
}

/* Parts */

static uint64_t hash_of(const char *text)
{
    return text ? lp_hash_text(text, strlen(text)) : 0;
}

static bool is_same(const struct lp_cause *a, const struct lp_cause *b)
{
    return a->kind == b->kind && lp_compare_text(a->name, b->name) == 0 &&
           lp_compare_text(a->region, b->region) == 0 &&
           lp_compare_text(a->kernel_class, b->kernel_class) == 0;
}

/* Made if it is new; NULL: out of memory. */
static struct part *find_part(struct builder *builder, const struct lp_cause *like)
{
    const struct part fresh = { .cause = *like };
    uint64_t first = hash_of(like->name);
    uint64_t second = hash_of(like->region) ^ 3 * hash_of(like->kernel_class) ^ like->kind;
    uint32_t at;

    while ((at = lp_hashmap_get(&builder->index, first, second)) != LP_HASHMAP_NONE) {
        if (is_same(&builder->parts.items[at].cause, like))
            return &builder->parts.items[at];
        second++;
    }
    at = (uint32_t)builder->parts.count;
    if (lp_vector_push(&builder->parts, fresh) < 0 ||
        lp_hashmap_put(&builder->index, first, second, at) < 0)
        return NULL;
    return &builder->parts.items[at];
}

static int add_part(struct builder *builder, size_t side, const struct lp_cause *like,
                    const struct sums *amount)
{
    struct part *part = find_part(builder, like);

    if (!part)
        return lp_out_of_memory();
    part->of[side].run_ms += amount->ms;
    part->of[side].calls += amount->calls;
    part->of[side].bytes += amount->bytes;
    part->of[side].error_ms += amount->error_ms;
    return 0;
}

static void end_run(struct builder *builder, size_t side)
{
    for (size_t i = 0; i < builder->parts.count; i++) {
        struct sums *sums = &builder->parts.items[i].of[side];

        sums->ms += sums->run_ms;
        sums->squares += sums->run_ms * sums->run_ms;
        sums->run_ms = 0;
    }
}

/* Standard error of a part that the iterations have; NaN: they do not. */
static double error_of(const struct lp_stage_iterations *stage, enum lp_part_kind kind)
{
    static const enum lp_iteration_time times[LP_PART_KINDS] = {
        [LP_PART_GAPS] = LP_TIME_IDLE_WAIT, [LP_PART_LAUNCH] = LP_TIME_IDLE_LAUNCH,
        [LP_PART_HOST] = LP_TIME_IDLE_HOST, [LP_PART_BEFORE] = LP_TIME_BEFORE,
        [LP_PART_AFTER] = LP_TIME_AFTER,
    };

    return kind < LP_PART_GAPS ? (double)NAN : lp_steady_error(stage, times[kind]);
}

/* Kernels count with their whole duration: the bound is the same in both runs, or it is not
 * known. */
static int add_waterfall(struct builder *builder, size_t side, const struct lp_findings *findings)
{
    const struct lp_waterfall *waterfall = waterfall_of(findings, builder->change.region);
    const struct lp_stage_iterations *stage =
        lp_findings_iterations(findings, builder->change.region);
    int status = 0;

    for (size_t i = 0; status == 0 && i < waterfall->kernels.count; i++) {
        const struct lp_waterfall_kernel *kernel = &waterfall->kernels.items[i];
        const struct lp_cause like = { .kind = LP_PART_KERNELS,
                                       .name = kernel->name,
                                       .region = kernel->region,
                                       .kernel_class = kernel->kernel_class };

        status = add_part(builder, side, &like,
                          &(struct sums){ .ms = kernel->ms,
                                          .calls = kernel->calls,
                                          .bytes = kernel->bytes,
                                          .error_ms = kernel->error_ms });
    }
    for (size_t i = 0; status == 0 && i < waterfall->parts.count; i++) {
        const struct lp_waterfall_part *part = &waterfall->parts.items[i];
        const struct lp_cause like = { .kind = part->kind, .region = part->region };

        if (part->kind >= LP_PART_NESTED)
            status = add_part(builder, side, &like,
                              &(struct sums){ .ms = part->ms,
                                              .calls = part->calls,
                                              .error_ms = error_of(stage, part->kind) });
    }
    end_run(builder, side);
    return status;
}

static int add_driver_call(struct builder *builder, size_t side, const char *name, bool between,
                           double ms)
{
    struct driver_call fresh = { .name = name, .between = between };

    fresh.ms[side] = ms;
    for (size_t i = 0; i < builder->calls.count; i++) {
        struct driver_call *call = &builder->calls.items[i];

        if (call->between == between && strcmp(call->name, name) == 0) {
            call->ms[side] += ms;
            return 0;
        }
    }
    return lp_vector_push(&builder->calls, fresh) < 0 ? lp_out_of_memory() : 0;
}

static int add_driver_calls(struct builder *builder, size_t side,
                            const struct lp_findings *findings, const char *path)
{
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, path);
    double calls = lp_all_calls(stage, LP_TIME_ELAPSED);
    int status = 0;

    for (size_t i = 0; status == 0 && i < lp_row_count(findings->profile, LP_ROW_HOST_CALL); i++) {
        const llmperf_host_call *row = lp_row_at(findings->profile, LP_ROW_HOST_CALL, i);
        double between_ms = row->between_ms / calls, around_ms = row->idle_ms / calls - between_ms;

        if (isnan(around_ms) || !lp_region_is_in(row->region, path))
            continue;
        status = add_driver_call(builder, side, row->call, true, between_ms);
        if (status == 0)
            status = add_driver_call(builder, side, row->call, false, around_ms);
    }
    return status;
}

static bool is_kernel(const struct part *part)
{
    return part->cause.kind == LP_PART_KERNELS && part->cause.name[0] != '[';
}

/* The longest kernel that only base has, of the class and region of one that only new has. */
static struct part *gone_for(struct builder *builder, const struct part *fresh)
{
    struct part *best = NULL;

    for (size_t i = 0; i < builder->parts.count; i++) {
        struct part *part = &builder->parts.items[i];

        if (is_kernel(part) && part->of[0].calls > 0 && !(part->of[1].calls > 0) &&
            lp_compare_text(part->cause.region, fresh->cause.region) == 0 &&
            lp_compare_text(part->cause.kernel_class, fresh->cause.kernel_class) == 0 &&
            (!best || part->of[0].ms > best->of[0].ms))
            best = part;
    }
    return best;
}

static int longest_new(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    return LP_ORDER(b->of[1].ms, a->of[1].ms);
}

/* A library that chooses another kernel for the same work. The longest new ones are enough. */
static void pair_replaced(struct builder *builder)
{
    lp_vector_sort(&builder->parts, longest_new);
    for (size_t i = 0; i < builder->parts.count && i < REPLACED_MOST; i++) {
        struct part *part = &builder->parts.items[i], *gone;

        if (!is_kernel(part) || part->of[0].calls > 0 || !(part->of[1].calls > 0) ||
            !(gone = gone_for(builder, part)))
            continue;
        part->cause.replaced = gone->cause.name;
        part->of[0] = gone->of[0];
        gone->of[0] = (struct sums){ 0 };
    }
}

static struct lp_cause_side side_of(const struct sums *sums, double runs)
{
    double rest = sums->squares - sums->ms * sums->ms / runs;

    return (struct lp_cause_side){ .ms = sums->ms / runs,
                                   .error_ms = runs > 1 ? sqrt(fmax(rest, 0) / (runs - 1) / runs)
                                                        : sums->error_ms,
                                   .calls = sums->calls / runs,
                                   .bytes = sums->bytes / runs };
}

/* A part whose own noise is not known has that of the whole call. */
static bool is_significant(const struct lp_stage_change *change, const struct lp_cause *cause)
{
    const struct lp_compare_mean base = { .error_ms = cause->base.error_ms,
                                          .freedom = change->base.freedom };
    const struct lp_compare_mean fresh = { .error_ms = cause->fresh.error_ms,
                                           .freedom = change->fresh.freedom };
    double noise_ms = lp_compare_noise(&base, &fresh);

    return !(fabs(cause->change_ms) <= (isnan(noise_ms) ? change->noise_ms : noise_ms));
}

/* The call whose idle time explains most of a change, at least half of it and not more. */
static void find_driver_call(const struct builder *builder, struct lp_cause *cause)
{
    bool between = cause->kind < LP_PART_BEFORE;

    if (cause->kind < LP_PART_GAPS)
        return;
    for (size_t i = 0; i < builder->calls.count; i++) {
        const struct driver_call *call = &builder->calls.items[i];
        double ms = call->ms[1] / (double)builder->sides[1]->count -
                    call->ms[0] / (double)builder->sides[0]->count;
        double share = ms / cause->change_ms;

        if (call->between != between || !(share >= CALL_SHARE && share <= 1 / CALL_SHARE) ||
            (cause->call && share <= cause->call_ms / cause->change_ms))
            continue;
        cause->call = call->name;
        cause->call_ms = ms;
    }
}

/* Those that are significant and push in the direction of the change, the others that do, and
 * those that push back. */
static int class_of(const struct lp_cause *cause, bool slower)
{
    return slower != (cause->change_ms > 0) ? 2 : cause->significant ? 0 : 1;
}

static int compare_causes(const struct lp_cause *a, const struct lp_cause *b, bool slower)
{
    double first = fabs(a->change_ms), second = fabs(b->change_ms);
    int order = class_of(a, slower) - class_of(b, slower);

    return order ? order : LP_ORDER(second, first);
}

static int slower_first(const void *left, const void *right)
{
    return compare_causes(left, right, true);
}

static int faster_first(const void *left, const void *right)
{
    return compare_causes(left, right, false);
}

static int settle_causes(struct builder *builder)
{
    struct lp_stage_change *change = &builder->change;

    pair_replaced(builder);
    for (size_t i = 0; i < builder->parts.count; i++) {
        struct part *part = &builder->parts.items[i];
        struct lp_cause *cause = &part->cause;

        cause->base = side_of(&part->of[0], (double)builder->sides[0]->count);
        cause->fresh = side_of(&part->of[1], (double)builder->sides[1]->count);
        cause->change_ms = cause->fresh.ms - cause->base.ms;
        cause->significant = is_significant(change, cause);
        find_driver_call(builder, cause);
        if (fabs(cause->change_ms) > 0 && lp_vector_push(&change->causes, *cause) < 0)
            return lp_out_of_memory();
    }
    if (change->causes.count > 0)
        qsort(change->causes.items, change->causes.count, sizeof(*change->causes.items),
              change->change_ms >= 0 ? slower_first : faster_first);
    return 0;
}

/* Stages */

/* Mean of the values of several runs, or that of the one. */
static void add_run(struct lp_compare_mean *mean, struct sums *sums, double ms, double error_ms,
                    double calls)
{
    sums->ms += ms;
    sums->squares += ms * ms;
    sums->calls++;
    mean->instances += (uint64_t)calls;
    mean->total_ms += ms * calls;
    mean->mean_ms = sums->ms / sums->calls;
    mean->error_ms = sums->calls > 1 ? side_of(sums, sums->calls).error_ms : error_ms;
    mean->freedom = sums->calls > 1 ? sums->calls - 1 : fmax(calls - 1, 1);
}

static struct lp_compare_mean elapsed_of(const struct lp_compare_runs *runs, const char *path)
{
    struct lp_compare_mean mean = { 0 };
    struct sums sums = { 0 };

    for (size_t i = 0; i < runs->count; i++) {
        const struct lp_findings *findings = findings_of(runs, i);
        const struct lp_stage_iterations *stage = lp_findings_iterations(findings, path);
        double calls = (double)stage->times[LP_TIME_ELAPSED].count;

        add_run(&mean, &sums, waterfall_of(findings, path)->elapsed_ms,
                lp_steady_error(stage, LP_TIME_ELAPSED), calls);
    }
    mean.total_ms /= (double)runs->count;
    return mean;
}

/* What the calls of warm-up take above the others; 0: no warm-up. */
static struct lp_compare_mean warm_up_of(const struct lp_compare_runs *runs, const char *path)
{
    struct lp_compare_mean mean = { 0 };
    struct sums sums = { 0 };

    for (size_t i = 0; i < runs->count; i++) {
        const struct lp_stage_iterations *stage =
            lp_findings_iterations(findings_of(runs, i), path);
        const struct lp_warm_up_time *warm_up = &stage->warm_up[LP_TIME_WALL];
        double steady_ms = (double)warm_up->calls * stage->times[LP_TIME_WALL].mean_ms;

        add_run(&mean, &sums, warm_up->calls > 0 ? warm_up->ms - steady_ms : 0, NAN, 1);
    }
    mean.total_ms = mean.mean_ms;
    return mean;
}

static void settle_change(struct lp_stage_change *change, double threshold_ms)
{
    change->change_ms = change->fresh.mean_ms - change->base.mean_ms;
    change->noise_ms = lp_compare_noise(&change->base, &change->fresh);
    change->significant = isnan(change->noise_ms)
                              ? fabs(change->change_ms) > threshold_ms
                              : fabs(change->change_ms) > fmax(change->noise_ms, CLOCK_MS);
}

static int put_change(struct lp_comparison *out, struct lp_stage_change *change)
{
    if (lp_vector_push(&out->changes, *change) == 0)
        return 0;
    lp_vector_clear(&change->causes);
    return lp_out_of_memory();
}

static int put_first_call(struct lp_comparison *out, const struct builder *builder)
{
    const struct lp_stage_change *all = &builder->change;
    struct lp_stage_change first = { .region = all->region, .first_call = true };

    first.base = warm_up_of(builder->sides[0], all->region);
    first.fresh = warm_up_of(builder->sides[1], all->region);
    settle_change(&first, WARM_UP_SHARE * fmin(all->base.total_ms, all->fresh.total_ms));
    first.total_ms = first.change_ms;
    return first.significant ? put_change(out, &first) : 0;
}

static int explain(struct lp_comparison *out, struct builder *builder)
{
    struct lp_stage_change *change = &builder->change;
    const char *path = change->region;
    int status = 0;

    change->base = elapsed_of(builder->sides[0], path);
    change->fresh = elapsed_of(builder->sides[1], path);
    settle_change(change, out->threshold * change->base.mean_ms);
    change->total_ms = change->change_ms * change->fresh.total_ms / change->fresh.mean_ms;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; status == 0 && i < builder->sides[side]->count; i++) {
            const struct lp_findings *findings = findings_of(builder->sides[side], i);

            status = add_waterfall(builder, side, findings);
            if (status == 0)
                status = add_driver_calls(builder, side, findings, path);
        }
    if (status == 0)
        status = settle_causes(builder);
    if (status == 0)
        status = put_first_call(out, builder);
    return status < 0 ? status : put_change(out, change);
}

static bool all_have(const struct lp_compare_runs *runs, const char *path)
{
    for (size_t i = 0; i < runs->count; i++)
        if (!waterfall_of(findings_of(runs, i), path))
            return false;
    return true;
}

/* Stages without waterfalls: their host times. */
static int add_host(struct lp_comparison *out, const struct lp_compare_row *row)
{
    struct lp_stage_change change = { .region = row->key.region,
                                      .base = row->base.of,
                                      .fresh = row->fresh.of,
                                      .change_ms = row->fresh.of.mean_ms - row->base.of.mean_ms,
                                      .noise_ms = row->noise_ms,
                                      .total_ms = row->fresh.of.total_ms - row->base.of.total_ms };

    change.reason = "its calls overlap on the device, or their device times are not known";
    change.significant = isnan(change.noise_ms)
                             ? fabs(change.change_ms) > out->threshold * change.base.mean_ms
                             : fabs(change.change_ms) > change.noise_ms;
    return lp_vector_push(&out->changes, change) < 0 ? lp_out_of_memory() : 0;
}

/* Runs without stages */

/* All kernels of a run by name. */
static int add_kernels(struct builder *builder, size_t side, const struct lp_findings *findings,
                       double *sum_ms)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);
        struct lp_cause like = { .kind = LP_PART_KERNELS };

        if (!(kernel->total_ms > 0))
            continue;
        like.name = kernel->short_name;
        like.kernel_class = findings->classes ? findings->kernel_classes.items[i] : NULL;
        *sum_ms += kernel->total_ms;
        status = add_part(builder, side, &like,
                          &(struct sums){ .ms = kernel->total_ms,
                                          .calls = (double)kernel->calls,
                                          .bytes = (double)kernel->bytes,
                                          .error_ms = NAN });
    }
    return status;
}

/* The kernels of a run and the idle times of its GPUs; returns their span. */
static int add_whole_run(struct builder *builder, size_t side, const struct lp_findings *findings,
                         double *span_ms)
{
    struct lp_device_time all = { .span_ms = 0 };
    double kernel_ms = 0;
    int status = add_kernels(builder, side, findings, &kernel_ms);

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_DEVICE); i++) {
        const struct lp_device_time *device = lp_row_at(findings->profile, LP_ROW_DEVICE, i);

        all.span_ms += device->span_ms;
        all.busy_ms += device->busy_ms;
        all.idle_wait_ms += device->idle_wait_ms;
        all.idle_launch_ms += device->idle_launch_ms;
        all.idle_host_ms += device->idle_host_ms;
    }
    const struct {
        struct lp_cause like;
        double ms;
    } parts[] = { { { .kind = LP_PART_OVERLAP }, all.busy_ms - kernel_ms },
                  { { .kind = LP_PART_GAPS }, all.idle_wait_ms },
                  { { .kind = LP_PART_LAUNCH }, all.idle_launch_ms },
                  { { .kind = LP_PART_HOST }, all.idle_host_ms } };

    for (size_t i = 0; status == 0 && i < LP_LENGTH(parts); i++)
        status = add_part(builder, side, &parts[i].like,
                          &(struct sums){ .ms = parts[i].ms, .error_ms = NAN });
    end_run(builder, side);
    *span_ms = all.span_ms;
    return status;
}

static int add_whole(struct builder *builder, size_t side, struct lp_compare_mean *mean)
{
    const struct lp_compare_runs *runs = builder->sides[side];
    struct sums sums = { 0 };
    int status = 0;

    for (size_t i = 0; status == 0 && i < runs->count; i++) {
        double span_ms = 0;

        status = add_whole_run(builder, side, findings_of(runs, i), &span_ms);
        add_run(mean, &sums, span_ms, NAN, 1);
    }
    return status;
}

static int explain_whole(struct lp_comparison *out, struct builder *builder)
{
    struct lp_stage_change *change = &builder->change;
    int status = 0;

    for (size_t side = 0; side < 2 && status == 0; side++)
        status = add_whole(builder, side, side ? &change->fresh : &change->base);
    if (status < 0 || !(change->base.mean_ms > 0) || !(change->fresh.mean_ms > 0))
        return status;
    settle_change(change, out->threshold * change->base.mean_ms);
    change->total_ms = change->change_ms;
    status = settle_causes(builder);
    return status < 0 ? status : put_change(out, change);
}

/* Causes belong to the change that was put, if it was. */
static void clear_builder(struct builder *builder, int status)
{
    if (status < 0)
        lp_vector_clear(&builder->change.causes);
    lp_vector_clear(&builder->parts);
    lp_vector_clear(&builder->calls);
    lp_hashmap_clear(&builder->index);
}

static bool is_advised(const struct lp_compare_runs *runs, const char *path)
{
    const struct lp_findings *findings = findings_of(runs, 0);

    for (size_t i = 0; findings && i < findings->regions.count; i++)
        if (findings->regions.items[i].advised &&
            strcmp(findings->regions.items[i].stats.path, path) == 0)
            return true;
    return false;
}

static int largest_first(const void *left, const void *right)
{
    const struct lp_stage_change *a = left, *b = right;

    if (a->significant != b->significant)
        return (int)b->significant - (int)a->significant;
    return (fabs(a->total_ms) < fabs(b->total_ms)) - (fabs(a->total_ms) > fabs(b->total_ms));
}

int lp_compare_explain(struct lp_comparison *out, const struct lp_compare_runs *base,
                       const struct lp_compare_runs *fresh)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < out->rows.count; i++) {
        const struct lp_compare_row *row = &out->rows.items[i];
        struct builder builder = { .sides = { base, fresh },
                                   .change = { .region = row->key.region } };

        if (row->key.scope != LP_COMPARE_JOB || strcmp(row->key.quantity, "wall") != 0 ||
            isnan(row->change) || !is_advised(base, row->key.region))
            continue;
        if (all_have(base, row->key.region) && all_have(fresh, row->key.region))
            status = explain(out, &builder);
        else
            status = add_host(out, row);
        clear_builder(&builder, status);
    }
    if (status == 0 && out->changes.count == 0) {
        struct builder builder = { .sides = { base, fresh }, .change = { .region = "" } };

        status = explain_whole(out, &builder);
        clear_builder(&builder, status);
    }
    lp_vector_sort(&out->changes, largest_first);
    return status;
}

bool lp_cause_counts(const struct lp_stage_change *change, const struct lp_cause *cause,
                     double threshold)
{
    double ms = fabs(cause->change_ms);

    if (!change->significant) /* parts that cancel each other */
        return cause->significant && ms > threshold * change->base.mean_ms;
    return ms > (cause->significant ? WORD_SHARE : NOISY_SHARE) * fabs(change->change_ms);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/cost_centres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"
#include "lib/findings/recommend.h"

/* Sums of kernels and gaps that are above the time of the stages by less are rounding. */
#define ROUNDING 1.01

/* Keys of times without kernels. */
#define IDLE        "idle"
#define IDLE_LAUNCH "launch"
#define IDLE_GAPS   "gaps"
#define IDLE_HOST   "host"

/* What a rule advises on a cost centre, in a few words; the first that spoke counts. */
static const struct {
    const char *key, *id, *act;
} actions[] = {
    { IDLE_LAUNCH, "launch_bound", "use CUDA graphs, or give each launch more work" },
    { IDLE_LAUNCH, "warm_up", "warm up before serving" },
    { IDLE_GAPS, "waiting", "launch fewer, larger kernels, or let the next one start early" },
    { IDLE_HOST, "host_gap", "overlap the host's work with the GPU, or make it cheaper" },
    { IDLE, "device_idle", "keep the GPU busy" },
    { "attention", "unfused_attention", "use a fused attention kernel" },
    { "reduction", "unfused_attention", "use a fused attention kernel" },
    { "copy/cast", "copy_cast", "keep one layout and one dtype between operators" },
    { "memory op", "memcpy_in_decode", "avoid these copies, or make them asynchronous" },
    { "collective", "uneven_ranks", "even out the work of the GPUs" },
    { "collective", "collectives", "fewer or faster collectives" },
    { "memory op", "memcpys", "avoid these copies, or hide them behind kernels" },
    { "norm", "tiny_kernels", "fuse small kernels" },
    { "elementwise", "tiny_kernels", "fuse small kernels" },
    { "copy/cast", "tiny_kernels", "fuse small kernels" },
    { "reduction", "tiny_kernels", "fuse small kernels" },
};

/* Kernel classes in words for readers who do not know GPUs. */
static const char *plain_class(const char *kernel_class)
{
    static const char *const words[][2] = {
        { "GEMM", "matrix products" },
        { "attention", "attention" },
        { "MoE", "MoE expert layers" },
        { "norm", "normalisation" },
        { "elementwise", "element-wise kernels" },
        { "copy/cast", "data movement and conversion kernels" },
        { "reduction", "reductions and softmax" },
        { "collective", "communication between GPUs" },
        { "sampling", "token sampling" },
        { "memory op", "memory copies" },
        { "other", "other kernels" },
    };

    for (size_t i = 0; i < LP_LENGTH(words); i++)
        if (strcmp(words[i][0], kernel_class) == 0)
            return words[i][1];
    return kernel_class;
}

/* Wall time of all calls of a stage / of its collected calls. 1 without sampling. */
static double scale_of(const struct lp_findings *findings, const char *label)
{
    double all_ms = 0, collected_ms = 0;

    for (size_t i = 0; label && i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (stats->kind != LLMPERF_REGION_STAGE || strcmp(stats->label, label) != 0)
            continue;
        all_ms += stats->wall_sum_ms;
        collected_ms += lp_collected_ms(stats);
    }
    return collected_ms > 0 && collected_ms < all_ms ? all_ms / collected_ms : 1;
}

static int add(struct lp_cost_centres *centres, const char *stage, const char *what,
               const char *key, double ms)
{
    struct lp_cost_centre row = { stage, what, ms, NAN, key, false, NULL, NAN };

    return ms > 0 ? lp_vector_push(&centres->rows, row) : 0;
}

static int add_waiting(struct lp_cost_centres *centres, const struct lp_findings *findings,
                       const llmperf_region_stats *stats, double idle_ms)
{
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, stats->path);
    double scale = scale_of(findings, stats->label);
    int status;

    if (stage && stage->overlaps)
        return 0;
    if (!stage || lp_all_calls(stage, LP_TIME_SPAN) == 0)
        return add(centres, stats->label, "GPU idle", IDLE, scale * idle_ms);
    if ((status = add(centres, stats->label, "GPU idle, waiting for the host to launch",
                      IDLE_LAUNCH, scale * lp_all_sum(stage, LP_TIME_IDLE_LAUNCH))) < 0 ||
        (status = add(centres, stats->label, "GPU idle, waiting for other work of the host",
                      IDLE_HOST, scale * lp_all_sum(stage, LP_TIME_IDLE_HOST))) < 0 ||
        (status = add(centres, stats->label, "gaps between dependent kernels", IDLE_GAPS,
                      scale * lp_all_sum(stage, LP_TIME_IDLE_WAIT))) < 0)
        return status;
    return add(centres, stats->label, "host work before and after the GPU work", IDLE_HOST,
               stage->host_ms);
}

static int compare(const void *left, const void *right)
{
    const struct lp_cost_centre *a = left, *b = right;

    return LP_ORDER(b->ms, a->ms);
}

/* Without a device: the stage's wall time less that of its nested stages. */
static double own_wall_ms(const struct lp_findings *findings, const char *path, double wall_ms)
{
    for (size_t i = lp_profile_find_region(findings->profile, path);
         i < findings->regions.count &&
         lp_region_is_in(findings->regions.items[i].stats.path, path);
         i++) {
        const struct lp_region_finding *inner = &findings->regions.items[i];

        if (inner->advised && inner->around && strcmp(inner->around, path) == 0)
            wall_ms -= lp_stage_sum_of(findings, inner->stats.path, -1).wall_ms;
    }
    return wall_ms;
}

static int add_regions(struct lp_cost_centres *centres, const struct lp_findings *findings,
                       double *all_ms)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;
        struct lp_stage_sum sum;

        if (!findings->regions.items[i].advised)
            continue;
        sum = lp_stage_sum_of(findings, stats->path, -1);
        centres->together |= sum.rows > 1;
        if (!findings->regions.items[i].around)
            *all_ms += sum.time_ms;
        status = findings->device_known ? add_waiting(centres, findings, stats, sum.idle_ms)
                                        : add(centres, stats->label, "host time", IDLE_HOST,
                                              own_wall_ms(findings, stats->path, sum.wall_ms));
    }
    return status;
}

static const char *word_of(const struct lp_recommendation *row, const char *name)
{
    for (size_t i = 0; i < row->advice.evidence; i++)
        if (strcmp(row->evidence[i].name, name) == 0)
            return row->evidence[i].text;
    return NULL;
}

/* What this advice says about the cost centre; NULL: nothing. */
static const char *act_of(const struct lp_cost_centre *centre, const struct lp_recommendation *row)
{
    const char *of_class = word_of(row, "kernel_class"), *top = word_of(row, "top_class");

    for (size_t i = 0; i < LP_LENGTH(actions); i++)
        if (strcmp(actions[i].id, row->advice.id) == 0 && strcmp(actions[i].key, centre->key) == 0)
            return actions[i].act;
    if (strcmp(row->advice.id, "slow_operator") == 0 && of_class &&
        strcmp(of_class, centre->key) == 0)
        return word_of(row, "kernel");
    return strcmp(row->advice.id, "slow_kernels") == 0 && top && strcmp(top, centre->key) == 0
               ? "faster kernels for these shapes"
               : NULL;
}

/* Without advice: the kernel that loses most against its lower bound, or the longest. */
static void set_kernel(struct lp_cost_centre *centre, const struct lp_findings *findings,
                       const struct lp_waterfall *waterfall)
{
    double worst = 0;

    if (strcmp(findings->regions.items[waterfall->finding].stats.label, centre->stage) != 0)
        return;
    for (size_t i = 0; i < waterfall->parts.count; i++) {
        const struct lp_waterfall_part *part = &waterfall->parts.items[i];
        double loss = fmax(0, lp_part_loss(part)) + 1e-6 * part->busy_ms; /* NaN counts as 0 */

        if (!part->kernel_class || strcmp(part->kernel_class, centre->key) != 0 ||
            (centre->act && !(loss > worst)))
            continue;
        worst = loss;
        centre->act = part->kernel;
    }
}

/* The advice with the largest saving comes first. */
static void set_action(struct lp_cost_centre *centre, const struct lp_findings *findings)
{
    const struct lp_recommendations *advice = &findings->advice;

    for (size_t i = 0; i < advice->rows.count && !centre->act; i++) {
        const struct lp_recommendation *row = &advice->rows.items[i];
        const char *slash = row->advice.stage ? strrchr(row->advice.stage, '/') : NULL;
        const char *label = slash ? slash + 1 : row->advice.stage;

        if (!label || !centre->stage || strcmp(label, centre->stage) != 0)
            continue;
        centre->act = act_of(centre, row);
        /* That of slow kernels is of all classes. */
        if (centre->act && row->advice.saving_ms > 0 && strcmp(row->advice.id, "slow_kernels") != 0)
            centre->saving_ms = fmin(row->advice.saving_ms, centre->ms);
    }
    for (size_t i = 0; centre->stage && !centre->act && i < findings->waterfalls.rows.count; i++)
        set_kernel(centre, findings, &findings->waterfalls.rows.items[i]);
}

/* Durations of kernels that ran at the same time add up to more than the time that there is.
 * Returns what shares are of. */
static double fit(struct lp_cost_centres *centres)
{
    double kernel_ms = 0, other_ms = 0, scale;

    for (size_t i = 0; i < centres->rows.count; i++)
        *(centres->rows.items[i].kernels ? &kernel_ms : &other_ms) += centres->rows.items[i].ms;
    if (!(kernel_ms + other_ms > centres->all_ms) || !(kernel_ms > 0))
        return centres->all_ms;
    centres->overlapped = kernel_ms + other_ms > ROUNDING * centres->all_ms;
    if (!centres->overlapped)
        return kernel_ms + other_ms;
    scale = fmax(0, centres->all_ms - other_ms) / kernel_ms;
    for (size_t i = 0; i < centres->rows.count; i++)
        if (centres->rows.items[i].kernels)
            centres->rows.items[i].ms *= scale;
    return centres->all_ms;
}

static int add_classes(struct lp_cost_centres *centres, const struct lp_findings *findings)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < findings->class_totals.rows.count; i++) {
        const struct lp_class_total *row = &findings->class_totals.rows.items[i];
        double ms = scale_of(findings, row->stage) * row->total_ms;

        if (!(ms > 0))
            continue;
        status = add(centres, row->stage, plain_class(row->kernel_class), row->kernel_class, ms);
        if (status == 0)
            centres->rows.items[centres->rows.count - 1].kernels = true;
        centres->all_ms += row->stage ? 0 : ms;
    }
    return status;
}

int lp_cost_centres_init(struct lp_cost_centres *centres, const struct lp_findings *findings)
{
    double whole_ms;
    int status;

    *centres = (struct lp_cost_centres){ 0 };
    if ((status = add_regions(centres, findings, &centres->all_ms)) < 0 ||
        (status = add_classes(centres, findings)) < 0)
        return status;
    whole_ms = fit(centres);
    for (size_t i = 0; i < centres->rows.count; i++) {
        struct lp_cost_centre *row = &centres->rows.items[i];

        row->share = whole_ms > 0 ? row->ms / whole_ms : (double)NAN;
        set_action(row, findings);
    }
    lp_vector_sort(&centres->rows, compare);
    return 0;
}

void lp_cost_centres_clear(struct lp_cost_centres *centres)
{
    lp_vector_clear(&centres->rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/waterfall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/findings.h"
#include "lib/findings/kernels/products.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"

/* Of a stage and its model: further apart than this, the model describes other work. */
#define SAME_WORK 0.02

#define PART_NAME(constant, name, heading) { name, heading },
const struct lp_part_name lp_part_names[LP_PART_KINDS] = { LP_WATERFALL_PARTS(PART_NAME) };

/* Where the kernels of a model operator are found: in a region whose name has one of the words,
 * best the first, and in a kernel class. */
static const struct {
    const char *operator, * words[3], *kernel_class;
} homes[] = {
    { "qkv", { "qkv", "attn", "attention" }, "GEMM" },
    { "o_proj", { "o_proj", "attn", "attention" }, "GEMM" },
    { "attention", { "attn", "attention", NULL }, "attention" },
    { "rope", { "rope", "attn", "attention" }, "elementwise" },
    { "mlp", { "mlp", "ffn", NULL }, "GEMM" },
    { "shared_experts", { "shared", "moe", "mlp" }, "GEMM" },
    { "experts", { "expert", "moe", NULL }, "MoE" },
    { "router", { "router", "gate", "moe" }, "GEMM" },
    { "lm_head", { "lm_head", "head", "logits" }, "GEMM" },
    { "norm", { "norm", NULL, NULL }, "norm" },
    { "final_norm", { "norm", NULL, NULL }, "norm" },
    { "embedding", { "embed", NULL, NULL }, "copy/cast" },
    { "activation", { "act", "mlp", "ffn" }, "elementwise" },
    { "residual", { "residual", NULL, NULL }, "elementwise" },
    { "sampling", { "sampl", "head", "logits" }, "sampling" },
};
#define HOMES LP_LENGTH(homes)

struct builder {
    const struct lp_findings *findings;
    const struct lp_region_finding *stage;
    struct lp_waterfall *out;
    double calls; /* that times are of: those after warm-up */
    double all_calls;
    double share; /* part of the time of a kernel in all calls that is that of a mean call */
    bool sampled;
    double estimated; /* the same of what it is estimated to be; NaN: there is no estimate */
};

static int add_part(struct builder *builder, const struct lp_waterfall_part *part)
{
    return lp_vector_push(&builder->out->parts, *part);
}

/* A layer has all operators in it: its name says nothing. */
static bool is_layer(const char *name)
{
    size_t digits = strcspn(name, "0123456789");

    return name[digits] && strspn(name + digits, "0123456789") == strlen(name + digits);
}

const char *lp_label_in_stage(const char *region, const char *captured_in, const char *stage)
{
    const char *path = captured_in ? captured_in : region;
    const char *label = strrchr(path, '/');

    if (captured_in ? !label : strcmp(path, stage) == 0)
        return NULL; /* in the stage itself, or directly in what was captured */
    label = label ? label + 1 : path;
    return is_layer(label) || strncmp(label, "LLM@(", 5) == 0 ? NULL : label;
}

static struct lp_waterfall_part *find_part(struct builder *builder,
                                           const struct lp_waterfall_part *like)
{
    for (size_t i = 0; i < builder->out->parts.count; i++) {
        struct lp_waterfall_part *part = &builder->out->parts.items[i];

        if (part->kind == like->kind && lp_text_same(part->region, like->region) &&
            lp_text_same(part->kernel_class, like->kernel_class))
            return part;
    }
    return add_part(builder, like) < 0 ? NULL
                                       : &builder->out->parts.items[builder->out->parts.count - 1];
}

/* The outermost advised stage in this one that a kernel belongs to; NULL: none. */
static const char *nested_stage(const struct lp_findings *findings, const char *region,
                                const char *stage)
{
    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *other = &findings->regions.items[i];

        if (other->advised && strcmp(other->stats.path, stage) != 0 &&
            lp_region_is_in(other->stats.path, stage) && lp_region_is_in(region, other->stats.path))
            return other->stats.path;
    }
    return NULL;
}

#define NORMAL_P95 1.645 /* 95th percentile of the standard normal distribution */

double lp_kernel_spread(const llmperf_kernel_stats *kernel)
{
    return kernel->calls < 2 ? (double)NAN : (kernel->p95_ms - kernel->p50_ms) / NORMAL_P95;
}

/* One name has a row for each region and captured region. NULL: out of memory. */
static struct lp_waterfall_kernel *add_name(struct lp_waterfall *waterfall,
                                            const struct lp_waterfall_kernel *fresh)
{
    for (size_t i = 0; i < waterfall->kernels.count; i++) {
        struct lp_waterfall_kernel *kernel = &waterfall->kernels.items[i];

        if (strcmp(kernel->name, fresh->name) != 0 ||
            lp_compare_text(kernel->region, fresh->region) != 0 ||
            lp_compare_text(kernel->kernel_class, fresh->kernel_class) != 0)
            continue;
        kernel->ms += fresh->ms;
        kernel->calls += fresh->calls;
        kernel->bytes += fresh->bytes;
        kernel->error_ms =
            isnan(kernel->error_ms) ? fresh->error_ms : kernel->error_ms + fmax(fresh->error_ms, 0);
        return kernel;
    }
    return lp_vector_push(&waterfall->kernels, *fresh) < 0
               ? NULL
               : &waterfall->kernels.items[waterfall->kernels.count - 1];
}

static int add_kernel(struct builder *builder, const llmperf_kernel_stats *kernel,
                      const char *kernel_class)
{
    const char *stage = builder->stage->stats.path;
    const char *nested = nested_stage(builder->findings, kernel->region, stage);
    struct lp_waterfall_part like = {
        .kind = nested ? LP_PART_NESTED : LP_PART_KERNELS,
        .region = nested ? nested : lp_label_in_stage(kernel->region, kernel->captured_in, stage),
        .kernel_class = nested ? NULL : kernel_class,
        .bound_ms = NAN
    };
    struct lp_waterfall_part *part = find_part(builder, &like);
    bool estimated = kernel->estimate_ms * builder->estimated > 0;
    const struct lp_interval interval = { kernel->estimate_low_ms, kernel->estimate_high_ms };
    double collected = (double)kernel->estimate_collected;
    const struct lp_waterfall_kernel fresh = {
        .region = like.region,
        .kernel_class = like.kernel_class,
        .name = kernel->short_name,
        .ms = estimated ? builder->estimated * kernel->estimate_ms
                        : builder->share * kernel->total_ms,
        .calls = (double)kernel->calls / builder->all_calls,
        .bytes = (double)kernel->bytes / builder->all_calls,
        .error_ms = estimated && kernel->estimate_high_ms > 0
                        ? builder->estimated * lp_standard_error(interval, collected)
                        : lp_kernel_spread(kernel) * (double)kernel->calls / builder->all_calls /
                              sqrt(builder->calls),
    };
    const struct lp_waterfall_kernel *name;

    if (!part)
        return lp_out_of_memory();
    part->ms += fresh.ms;
    part->busy_ms += fresh.ms;
    if (builder->sampled)
        part->half_ms += builder->estimated * (kernel->estimate_high_ms - kernel->estimate_ms);
    part->calls += fresh.calls;
    if (nested)
        return 0;
    if (!(name = add_name(builder->out, &fresh)))
        return lp_out_of_memory();
    if (name->ms > part->kernel_ms) {
        part->kernel = name->name;
        part->kernel_ms = name->ms;
        part->kernel_calls = name->calls;
    }
    return 0;
}

static int add_kernels(struct builder *builder)
{
    const struct lp_findings *findings = builder->findings;
    int status = 0;

    for (size_t i = 0; status == 0 && i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);

        if (kernel->total_ms > 0 && lp_region_is_in(kernel->region, builder->stage->stats.path))
            status = add_kernel(builder, kernel,
                                findings->classes ? findings->kernel_classes.items[i] : NULL);
    }
    return status;
}

/* What the model's operators need at least */

static bool has_word(const char *label, const char *word)
{
    return label && word && strcasestr(label, word);
}

int lp_operator_points(const char *operator_name, const char *label)
{
    for (size_t i = 0; i < HOMES; i++)
        if (strcmp(homes[i].operator, operator_name) == 0)
            for (int word = 0; word < 3; word++)
                if (has_word(label, homes[i].words[word]))
                    return 3 - word;
    return has_word(label, operator_name) ? 1 : 0;
}

struct home {
    struct lp_waterfall_part *part; /* NULL: none fits */
    bool own;   /* its kernels read the operator's inputs and write its outputs */
    bool alone; /* and those of no other operator */
};

static bool is_of_class(const struct lp_waterfall_part *part, const char *kernel_class)
{
    return part->kernel_class && strcmp(part->kernel_class, kernel_class) == 0;
}

static bool names_operator(const char *label)
{
    for (size_t i = 0; i < HOMES; i++)
        if (lp_operator_points(homes[i].operator, label) > 0)
            return true;
    return false;
}

/* A norm that adds the residual in the same kernel, which it reads and writes: such as
 * fused_add_rms_norm_kernel. */
static struct lp_waterfall_part *norm_that_adds(struct builder *builder)
{
    for (size_t i = 0; i < builder->out->parts.count; i++) {
        struct lp_waterfall_part *part = &builder->out->parts.items[i];

        if (is_of_class(part, "norm") &&
            (has_word(part->kernel, "add") || has_word(part->kernel, "residual")))
            return part;
    }
    return NULL;
}

/* The part that an operator's kernels are in: by the name of its region and by its class, of equal
 * ones the longest. */
static struct home home_of(struct builder *builder, const char *operator)
{
    static const char *const none[3] = { NULL, NULL, NULL };
    const char *const *words = none, *kernel_class = "GEMM";
    struct home best = { NULL, true, false };
    int best_points = 0;

    if (strcmp(operator, "residual") == 0 && (best.part = norm_that_adds(builder)))
        return best;
    for (size_t i = 0; i < HOMES; i++)
        if (strcmp(homes[i].operator, operator) == 0) {
            words = homes[i].words;
            kernel_class = homes[i].kernel_class;
        }
    for (size_t i = 0; i < builder->out->parts.count; i++) {
        struct lp_waterfall_part *part = &builder->out->parts.items[i];
        bool same_class = is_of_class(part, kernel_class);
        bool first = has_word(part->region, words[0]);
        bool other = has_word(part->region, words[1]) || has_word(part->region, words[2]);
        int points = (first ? 8 : other ? 4 : 0) + (same_class ? 2 : 0);

        if (part->kind != LP_PART_KERNELS || points == 0)
            continue;
        /* Work by element in a region that is named for another operator is that one's. */
        if (points == 2 && !names_operator(part->region))
            points++;
        else if (points == 2 && is_of_class(part, "elementwise"))
            same_class = false;
        if (points > best_points || (points == best_points && part->busy_ms > best.part->busy_ms)) {
            best = (struct home){ part, first || same_class, first || same_class };
            best_points = points;
        }
    }
    return best;
}

/* Work of the stages in it, all calls together. */
static void take_nested(const struct builder *builder, double *flops, double *bytes)
{
    const struct lp_findings *findings = builder->findings;
    const llmperf_region_stats *stage = &builder->stage->stats;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *other = &findings->regions.items[i];

        if (!other->advised || &other->stats == stage || other->stats.flops == LLMPERF_UNKNOWN ||
            !lp_region_is_in(other->stats.path, stage->path) ||
            nested_stage(findings, other->stats.path, stage->path) != other->stats.path)
            continue;
        *flops -= (double)other->stats.flops;
        *bytes -= (double)other->stats.bytes;
    }
}

static double attention_ratio(const struct lp_limits *limits, const struct lp_stage_operator *row,
                              const char **source_out)
{
    double flops = 4.0 * row->head_dim * row->heads * row->pairs;

    return lp_achievable_attention(limits, row->dtype, flops, row->layer_bytes, source_out) /
           lp_bound_ms(limits, row->dtype, flops, row->layer_bytes);
}

/* Time of the operator at the rates that good kernels reach for its sizes / its lower bound; 0: not
 * known. Of products in several forms the first counts. */
static double good_ratio(const struct lp_limits *limits, const struct lp_stage_operator *row,
                         const char **source_out)
{
    const struct lp_gemm like = { .name = row->name, .dtype = row->dtype };
    struct lp_gemms gemms = { .items = { NULL, 0, 0 } };
    double bound_ms = 0, good_ms = 0;

    if (row->heads > 0)
        return attention_ratio(limits, row, source_out);
    lp_gemms_read(&gemms, &like, 1, NAN, row->products);
    for (size_t i = 0; i < gemms.items.count; i++) {
        const struct lp_gemm *gemm = &gemms.items.items[i];
        struct lp_achievable achievable =
            lp_achievable_product(limits, row->dtype, gemm->m, gemm->n, gemm->k);
        double ms = lp_bound_ms(limits, row->dtype,
                                2.0 * (double)gemm->m * (double)gemm->n * (double)gemm->k,
                                lp_product_bytes(row->dtype, gemm->m, gemm->n, gemm->k));

        if (gemm->form > 1 || gemm->batch > 1 || row->differs || !achievable.source)
            continue;
        bound_ms += (double)gemm->calls * ms;
        good_ms += (double)gemm->calls * ms / achievable.share;
        *source_out = achievable.source;
    }
    lp_vector_clear(&gemms.items);
    return good_ms > 0 ? good_ms / bound_ms : 0;
}

static const char *why_no_operators(const struct builder *builder)
{
    const llmperf_region_stats *stats = &builder->stage->stats;
    const llmperf_profile *profile = builder->findings->profile;
    double flops = (double)stats->flops, bytes = (double)stats->bytes;
    double model_flops = 0, model_bytes = 0;

    for (size_t i = 0; i < profile->stage_operators.count; i++) {
        const struct lp_stage_operator *row = &profile->stage_operators.items[i];

        if (strcmp(row->stage, stats->label) == 0) {
            model_flops += row->flops;
            model_bytes += row->bytes;
        }
    }
    if (!(model_bytes > 0))
        return "no model describes the operators of this stage";
    if (!builder->findings->limits.hardware || !(builder->findings->limits.bandwidth.value > 0))
        return "the limits of this GPU are not known";
    if (stats->flops == LLMPERF_UNKNOWN || stats->bytes == LLMPERF_UNKNOWN)
        return "FLOPs or bytes of the stage are not known";
    take_nested(builder, &flops, &bytes);
    /* Only shares count: the model may have been asked for a mean call, once. */
    if (fabs(model_flops / model_bytes - flops / bytes) > SAME_WORK * flops / bytes)
        return "the program counted other work than the model computes";
    return NULL;
}

/* Give an operator's lower bound to the kernels that compute it. What passes between operators that
 * share a kernel stays on chip: only as many inputs and outputs move as there are kernels. */
static void take_operator(struct builder *builder, const struct lp_stage_operator *row,
                          double calls)
{
    const struct lp_limits *limits = &builder->findings->limits;
    struct home home = home_of(builder, row->name);
    struct lp_waterfall_part *part = home.part;
    double moved, bound_ms, cached_ms, ratio;

    if (!part)
        return;
    moved =
        home.own ? row->activation_bytes * fmin(1, part->calls / fmax(part->own_kernels, 1)) : 0;
    bound_ms = lp_bound_ms(limits, row->dtype, row->flops / calls, (row->bytes + moved) / calls);
    cached_ms = lp_bound_ms(limits, row->dtype, row->flops / calls, row->bytes / calls);
    if (!(bound_ms > 0))
        return;
    ratio = good_ratio(limits, row, &part->source);
    part->bound_ms = fmax(part->bound_ms, 0) + bound_ms;
    part->cached_ms += cached_ms;
    part->good_ms += fmax(bound_ms * (ratio > 0 ? ratio : 1 / LP_ACHIEVABLE),
                          home.alone ? row->kernels * LP_KERNEL_LEAST_MS : 0);
}

static void take_operators(struct builder *builder)
{
    const llmperf_region_stats *stats = &builder->stage->stats;
    const llmperf_profile *profile = builder->findings->profile;
    double flops = (double)stats->flops, bytes = (double)stats->bytes, model_bytes = 0;

    take_nested(builder, &flops, &bytes);
    for (size_t i = 0; i < profile->stage_operators.count; i++) {
        const struct lp_stage_operator *row = &profile->stage_operators.items[i];
        struct home home = { NULL, false, false };

        if (strcmp(row->stage, stats->label) == 0) {
            model_bytes += row->bytes;
            home = home_of(builder, row->name);
        }
        if (home.alone && home.part)
            home.part->own_kernels += row->kernels;
    }
    for (size_t i = 0; i < profile->stage_operators.count; i++)
        if (strcmp(profile->stage_operators.items[i].stage, stats->label) == 0)
            take_operator(builder, &profile->stage_operators.items[i],
                          (double)stats->instances * model_bytes / bytes);
}

/* Kernels faster than their bound found their inputs in a cache; if they are faster than without
 * any, they computed something else, and their bound is not known. */
static double settle_bounds(struct builder *builder)
{
    double sum = 0;

    for (size_t i = 0; i < builder->out->parts.count; i++) {
        struct lp_waterfall_part *part = &builder->out->parts.items[i];

        if (part->bound_ms > part->busy_ms)
            part->bound_ms = part->cached_ms > 0 ? part->cached_ms : (double)NAN;
        if (part->bound_ms > part->busy_ms)
            part->bound_ms = NAN;
        if (isnan(part->bound_ms))
            continue;
        part->ms = part->busy_ms - part->bound_ms;
        sum += part->bound_ms;
    }
    return sum;
}

static int add_fixed(struct builder *builder, enum lp_part_kind kind, double ms, double half_ms)
{
    struct lp_waterfall_part part = {
        .kind = kind, .ms = ms, .half_ms = half_ms, .busy_ms = NAN, .bound_ms = NAN
    };

    return isnan(ms) || fabs(ms) < 1e-9 ? 0 : add_part(builder, &part);
}

static int add_bounds(struct builder *builder)
{
    double bound_ms = builder->stage->floor_call_ms, serial_ms = 0;
    int status = 0;

    if (!(builder->out->bound_reason = why_no_operators(builder))) {
        take_operators(builder);
        serial_ms = settle_bounds(builder);
    }
    if (serial_ms > 0 && bound_ms > 0 && bound_ms < serial_ms)
        status = add_fixed(builder, LP_PART_SERIAL, serial_ms - bound_ms, 0);
    else
        bound_ms = serial_ms;
    return status < 0 ? status : add_fixed(builder, LP_PART_BOUND, bound_ms, 0);
}

bool lp_part_is_small(const struct lp_waterfall_part *part)
{
    return part->bound_ms < part->calls * LP_KERNEL_LEAST_MS;
}

double lp_part_loss(const struct lp_waterfall_part *part)
{
    return part->kind == LP_PART_KERNELS && !isnan(part->bound_ms) ? part->busy_ms - part->good_ms
                                                                   : (double)NAN;
}

static double busy_of(const struct lp_waterfall *waterfall)
{
    double sum = 0;

    for (size_t i = 0; i < waterfall->parts.count; i++)
        if (!isnan(waterfall->parts.items[i].busy_ms))
            sum += waterfall->parts.items[i].busy_ms;
    return sum;
}

static int compare_parts(const void *left, const void *right)
{
    const struct lp_waterfall_part *a = left, *b = right;

    if (a->kind != b->kind)
        return (int)a->kind - (int)b->kind;
    return LP_ORDER(b->ms, a->ms);
}

/* Mean over the calls after warm-up; of a sampled stage estimated for them, or all but
 * the first, if there is an interval. Some calls may have no device work. */
static double mean_of(const struct builder *builder, const struct lp_stage_iterations *iterations,
                      enum lp_iteration_time time, double *half_out)
{
    const llmperf_iteration_stats *row = &iterations->times[time];
    const llmperf_iteration_stats *elapsed = &iterations->times[LP_TIME_ELAPSED];
    double with = (double)row->estimate_collected / (double)elapsed->estimate_collected;

    *half_out = builder->sampled ? with * (row->estimate_high_ms - row->estimate_ms) : 0;
    return builder->sampled && !isnan(*half_out) ? with * row->estimate_ms
                                                 : iterations->times[time].sum_ms / builder->calls;
}

static int fill(struct builder *builder, const struct lp_stage_iterations *iterations)
{
    static const struct {
        enum lp_part_kind kind;
        enum lp_iteration_time time;
    } idle[] = {
        { LP_PART_GAPS, LP_TIME_IDLE_WAIT }, { LP_PART_LAUNCH, LP_TIME_IDLE_LAUNCH },
        { LP_PART_HOST, LP_TIME_IDLE_HOST }, { LP_PART_BEFORE, LP_TIME_BEFORE },
        { LP_PART_AFTER, LP_TIME_AFTER },
    };
    const struct lp_profiler_cost *cost = &builder->stage->profiler;
    const double taken[] = { 0, cost->launch_ms, cost->host_ms, cost->before_ms, cost->after_ms };
    const double unknown = builder->sampled ? (double)NAN : 0;
    double busy_ms, ms, half_ms;
    int status = add_kernels(builder);

    busy_ms = mean_of(builder, iterations, LP_TIME_BUSY, &half_ms);
    if (status == 0)
        status = add_fixed(builder, LP_PART_OVERLAP, busy_ms - busy_of(builder->out), unknown);
    if (status == 0)
        status = add_bounds(builder);
    for (size_t i = 0; status == 0 && i < LP_LENGTH(idle); i++) {
        ms = mean_of(builder, iterations, idle[i].time, &half_ms);
        status = add_fixed(builder, idle[i].kind, ms - taken[i], half_ms);
    }
    if (status == 0)
        status =
            add_fixed(builder, LP_PART_PROFILER,
                      cost->launch_ms + cost->host_ms + cost->before_ms + cost->after_ms, unknown);
    lp_vector_sort(&builder->out->parts, compare_parts);
    return status;
}

static void set_shares(struct builder *builder, const struct lp_stage_iterations *iterations)
{
    const llmperf_iteration_stats *busy = &iterations->times[LP_TIME_BUSY];
    double first_ms = fmax(0, iterations->first.busy_ms);
    double others =
        (double)busy->estimate_calls + fmax(0, (double)iterations->warm_up[LP_TIME_WALL].calls - 1);

    builder->share = busy->sum_ms / builder->calls / lp_all_sum(iterations, LP_TIME_BUSY);
    builder->sampled = iterations->sampled;
    builder->estimated = iterations->sampled && !isnan(busy->estimate_low_ms)
                             ? busy->estimate_ms / (first_ms + others * busy->estimate_ms)
                             : (double)NAN;
}

int lp_waterfalls_init(struct lp_waterfalls *waterfalls, const struct lp_findings *findings)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < findings->regions.count; i++) {
        const struct lp_region_finding *stage = &findings->regions.items[i];
        const struct lp_stage_iterations *iterations =
            lp_findings_iterations(findings, stage->stats.path);
        struct lp_waterfall fresh = { .region = stage->stats.path, .finding = i };
        struct builder builder = { .findings = findings, .stage = stage };

        if (!stage->advised || !iterations || iterations->overlaps || !findings->device_known ||
            !(iterations->times[LP_TIME_SPAN].sum_ms > 0) ||
            !(iterations->times[LP_TIME_ELAPSED].sum_ms > 0))
            continue;
        builder.calls = (double)iterations->times[LP_TIME_ELAPSED].count;
        builder.all_calls = lp_all_calls(iterations, LP_TIME_ELAPSED);
        set_shares(&builder, iterations);
        fresh.elapsed_ms = mean_of(&builder, iterations, LP_TIME_ELAPSED, &fresh.half_ms);
        if (lp_vector_push(&waterfalls->rows, fresh) < 0)
            return LLMPERF_ENOMEM;
        builder.out = &waterfalls->rows.items[waterfalls->rows.count - 1];
        status = fill(&builder, iterations);
    }
    return status;
}

const struct lp_waterfall *lp_waterfall_of(const struct lp_waterfalls *waterfalls, const char *path)
{
    for (size_t i = 0; i < waterfalls->rows.count; i++)
        if (strcmp(waterfalls->rows.items[i].region, path) == 0)
            return &waterfalls->rows.items[i];
    return NULL;
}

void lp_waterfalls_clear(struct lp_waterfalls *waterfalls)
{
    for (size_t i = 0; i < waterfalls->rows.count; i++) {
        lp_vector_clear(&waterfalls->rows.items[i].parts);
        lp_vector_clear(&waterfalls->rows.items[i].kernels);
    }
    lp_vector_clear(&waterfalls->rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/stage_shapes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/findings/findings.h"
#include "lib/findings/kernels/products.h"
#include "lib/findings/limits/achievable.h"
#include "lib/profile/data.h"

static const char no_stage[] = "it ran in no stage";
static const char no_model[] = "no model describes the operators of this stage";
static const char no_grid[] = "its grid was not recorded";
static const char no_operator[] = "the model's operators of this stage have no such product";
static const char no_calls[] = "the number of collected calls of the stage is unknown";
static const char uneven[] = "it does not run equally often in each call of the stage";
static const char is_sum[] = "it adds up the parts of a split product";
static const char is_part[] = "it prepares or combines the parts of a split attention";
static const char no_attention[] =
    "the model does not describe the attention of this stage as heads "
    "of one length";
static const char not_layers[] = "kernels of attention do not run once for each layer here";
static const char unfused[] = "attention runs as separate matrix products here";
static const char some_calls[] =
    "calls of the stage differ in length or batch, and it may have run in some of them only";
static const char too_fast[] = "it is faster than the attention of a layer can be";

/* Calls whose (query, key) pairs differ by less have one shape, their mean. */
#define SAME_LENGTH 1.05

/* A KV cache in the L2 is read faster than device memory. */
#define FASTEST 4

/* A row and the label of the region that launched or captured it. */
struct member {
    size_t row;
    const char *label; /* NULL: none that says what it does */
    size_t kernel;     /* number among the kernels of its label */
};

struct stage {
    const struct lp_findings *findings;
    const llmperf_region_stats *stats;
    llmperf_kernel_shape *rows;
    const bool *attention; /* by row: of class attention, not GEMM */
    size_t row_count;
    uint64_t sms, calls;
    LP_VECTOR(struct member) members;
    LP_VECTOR(const char *) homes; /* labels that operators have as their home; NULL: the rest */
};

static const char *class_of(const struct lp_findings *findings, const llmperf_kernel_shape *row)
{
    struct lp_text name = { NULL, 0, 0, false };
    const char *kernel_class = "";

    if (row->kind != LLMPERF_ACTIVITY_KERNEL || !findings->classes)
        return "";
    lp_kernel_demangle(&name, row->name);
    if (!name.failed)
        kernel_class = lp_kernel_class(findings->classes, name.bytes, row->kind);
    lp_text_clear(&name);
    return kernel_class;
}

static bool has_operators(const struct lp_findings *findings, const char *label)
{
    for (size_t i = 0; i < findings->profile->stage_operators.count; i++)
        if (strcmp(findings->profile->stage_operators.items[i].stage, label) == 0)
            return true;
    return false;
}

/* Is the row of a stage inside this one that the model describes, too? */
static bool is_nested(const struct stage *stage, const llmperf_kernel_shape *row)
{
    const struct lp_findings *findings = stage->findings;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *other = &findings->regions.items[i].stats;

        if (strcmp(other->path, stage->stats->path) != 0 &&
            lp_region_is_in(other->path, stage->stats->path) &&
            lp_region_is_in(row->region, other->path) && has_operators(findings, other->label))
            return true;
    }
    return false;
}

/* Over the processes of a path. */
static uint64_t collected_calls(const struct stage *stage)
{
    const struct lp_findings *findings = stage->findings;
    uint64_t sum = 0;

    for (const struct lp_region_finding *row = lp_rows_of(findings, stage->stats->path); row;
         row = lp_rows_next(findings, row)) {
        if (row->stats.device != stage->stats->device)
            continue;
        if (row->collected_calls == LLMPERF_UNKNOWN)
            return 0;
        sum += row->collected_calls;
    }
    return sum;
}

static const char *why_not(const struct stage *stage, const llmperf_kernel_shape *row)
{
    if (lp_gemm_is_sum(row->name))
        return is_sum;
    if (row->grid_x == LLMPERF_UNKNOWN || row->grid_y == LLMPERF_UNKNOWN ||
        row->grid_z == LLMPERF_UNKNOWN)
        return no_grid;
    return stage->calls == 0 ? no_calls : NULL;
}

/* Is it of this stage, and its shape still unknown? */
static bool is_member(const struct stage *stage, size_t index, bool attention)
{
    const llmperf_kernel_shape *row = &stage->rows[index];

    return row->region && row->device == stage->stats->device && row->shape_reason &&
           stage->attention[index] == attention &&
           lp_region_is_in(row->region, stage->stats->path) && !is_nested(stage, row);
}

static int add_members(struct stage *stage)
{
    for (size_t i = 0; i < stage->row_count; i++) {
        llmperf_kernel_shape *row = &stage->rows[i];
        struct member member = { .row = i };

        if (!is_member(stage, i, false))
            continue;
        row->shape_reason = why_not(stage, row);
        if (row->shape_reason)
            continue;
        member.label = lp_label_in_stage(row->region, row->captured_in, stage->stats->path);
        if (lp_vector_push(&stage->members, member) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

/* The label whose region runs the operator; NULL: none says so. */
static const char *home_of(const struct stage *stage, const char *operator_name)
{
    const char *best = NULL;
    int most = 0;

    for (size_t i = 0; i < stage->members.count; i++) {
        const char *label = stage->members.items[i].label;
        int points = label ? lp_operator_points(operator_name, label) : 0;

        if (points > most) {
            most = points;
            best = label;
        }
    }
    return best;
}

static int add_homes(struct stage *stage)
{
    const llmperf_profile *profile = stage->findings->profile;

    for (size_t i = 0; i < profile->stage_operators.count; i++) {
        const struct lp_stage_operator *row = &profile->stage_operators.items[i];
        const char *home;
        size_t k = 0;

        if (strcmp(row->stage, stage->stats->label) != 0 || !row->products)
            continue;
        home = home_of(stage, row->name);
        while (k < stage->homes.count && lp_compare_text(stage->homes.items[k], home) != 0)
            k++;
        if (k == stage->homes.count && lp_vector_push(&stage->homes, home) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

static bool is_at_home(const struct stage *stage, const struct member *member, const char *home)
{
    for (size_t i = 0; !home && i < stage->homes.count; i++)
        if (member->label && lp_text_same(member->label, stage->homes.items[i]))
            return false; /* the rest */
    return !home || lp_text_same(member->label, home);
}

/* Kinds of layers of a model are few; further ones share the last bit. */
static uint32_t kind_bit(const struct stage *stage, const char *layer_kind)
{
    const llmperf_profile *profile = stage->findings->profile;
    const char *seen[31];
    size_t count = 0;

    for (size_t i = 0; i < profile->stage_operators.count && count < 31; i++) {
        const struct lp_stage_operator *row = &profile->stage_operators.items[i];
        size_t k = 0;

        if (strcmp(row->stage, stage->stats->label) != 0)
            continue;
        while (k < count && strcmp(seen[k], row->layer_kind) != 0)
            k++;
        if (k == count)
            seen[count++] = row->layer_kind;
        if (strcmp(seen[k], layer_kind) == 0)
            return UINT32_C(1) << k;
    }
    return UINT32_C(1) << 31;
}

static int read_products(const struct stage *stage, const char *home, struct lp_gemms *gemms)
{
    const llmperf_profile *profile = stage->findings->profile;
    const struct lp_limits *limits = lp_findings_describes(stage->findings, stage->stats->device)
                                         ? &stage->findings->limits
                                         : NULL;
    int status = 0;

    for (size_t i = 0; status == 0 && i < profile->stage_operators.count; i++) {
        const struct lp_stage_operator *row = &profile->stage_operators.items[i];
        struct lp_gemm like = { .name = row->name,
                                .kinds = kind_bit(stage, row->layer_kind),
                                .dtype = row->dtype,
                                .place = i,
                                .differs = row->differs };

        if (strcmp(row->stage, stage->stats->label) == 0 && row->products &&
            lp_text_same(home_of(stage, row->name), home))
            status = lp_gemms_read(gemms, &like, row->layers, lp_peak_tflops(limits, row->dtype),
                                   row->products);
    }
    return status;
}

struct kernels {
    LP_VECTOR(struct lp_gemm_kernel) items;
    LP_VECTOR(const llmperf_kernel_shape *) rows; /* the first of each */
};

static bool same_kernel(const llmperf_kernel_shape *a, const llmperf_kernel_shape *b)
{
    return strcmp(a->name, b->name) == 0 && a->grid_x == b->grid_x && a->grid_y == b->grid_y &&
           a->grid_z == b->grid_z && a->block_x == b->block_x;
}

/* Rows of all layers and labels of a home with one name and grid are one kernel. */
static int add_kernel(struct kernels *kernels, struct stage *stage, struct member *member)
{
    const llmperf_kernel_shape *row = &stage->rows[member->row];
    struct lp_gemm_kernel fresh = { .name = row->name,
                                    .blocks = row->grid_x * row->grid_y * row->grid_z,
                                    .grid_z = row->grid_z,
                                    .first_ns = UINT64_MAX };
    size_t i = 0;

    while (i < kernels->rows.count && !same_kernel(kernels->rows.items[i], row))
        i++;
    if (i == kernels->rows.count &&
        (lp_vector_push(&kernels->rows, row) < 0 || lp_vector_push(&kernels->items, fresh) < 0))
        return LLMPERF_ENOMEM;
    member->kernel = i;
    kernels->items.items[i].mean_ms =
        (kernels->items.items[i].mean_ms * (double)kernels->items.items[i].calls + row->total_ms) /
        (double)(kernels->items.items[i].calls + row->calls);
    kernels->items.items[i].calls += row->calls;
    if (row->first_ns < kernels->items.items[i].first_ns)
        kernels->items.items[i].first_ns = row->first_ns;
    return 0;
}

/* Those that run equally often in each call are put first. */
static size_t settle_calls(struct kernels *kernels, const struct stage *stage, size_t *place)
{
    size_t even = 0;

    for (size_t i = 0; i < kernels->items.count; i++) {
        struct lp_gemm_kernel kernel = kernels->items.items[i];

        place[i] = SIZE_MAX;
        if (kernel.calls % stage->calls > 0)
            continue;
        kernel.calls /= stage->calls;
        kernels->items.items[even] = kernel;
        place[i] = even++;
    }
    return even;
}

static void give_shape(llmperf_kernel_shape *row, const struct lp_gemm_kernel *kernel)
{
    const struct lp_gemm *gemm = kernel->product;

    row->shape_reason = kernel->reason;
    row->model_operator = gemm ? gemm->name : NULL;
    if (!gemm || kernel->reason)
        return;
    row->m = gemm->m;
    row->n = gemm->n;
    row->k = gemm->k;
    row->batch = gemm->batch;
    row->call_flops = 2.0 * (double)gemm->m * (double)gemm->n * (double)gemm->k * gemm->batch;
    row->call_bytes = lp_product_bytes(gemm->dtype, gemm->m, gemm->n, gemm->k) * gemm->batch;
    row->dtype = gemm->dtype;
}

static int match_kernels(struct stage *stage, const char *home, struct kernels *kernels,
                         struct lp_gemms *gemms, size_t *place)
{
    size_t even = settle_calls(kernels, stage, place);

    lp_gemms_match(gemms, kernels->items.items, even, stage->sms);
    for (size_t i = 0; i < stage->members.count; i++) {
        const struct member *member = &stage->members.items[i];
        llmperf_kernel_shape *row = &stage->rows[member->row];

        if (!is_at_home(stage, member, home))
            continue;
        row->shape_reason = uneven;
        if (place[member->kernel] != SIZE_MAX)
            give_shape(row, &kernels->items.items[place[member->kernel]]);
    }
    return 0;
}

static int match_home(struct stage *stage, const char *home)
{
    struct kernels kernels = { .items = { NULL, 0, 0 } };
    struct lp_gemms gemms = { .items = { NULL, 0, 0 } };
    LP_VECTOR(size_t) place = { NULL, 0, 0 };
    int status = read_products(stage, home, &gemms);

    for (size_t i = 0; status == 0 && i < stage->members.count; i++)
        if (is_at_home(stage, &stage->members.items[i], home))
            status = add_kernel(&kernels, stage, &stage->members.items[i]);
    if (status == 0 && kernels.items.count > 0 &&
        (status = lp_vector_reserve(&place, kernels.items.count)) == 0)
        status = match_kernels(stage, home, &kernels, &gemms, place.items);
    lp_vector_clear(&kernels.items);
    lp_vector_clear(&kernels.rows);
    lp_vector_clear(&gemms.items);
    lp_vector_clear(&place);
    return status;
}

static int match_stage(struct stage *stage)
{
    int status = add_members(stage);

    for (size_t i = 0; i < stage->members.count; i++)
        stage->rows[stage->members.items[i].row].shape_reason = no_operator;
    if (status == 0 && stage->members.count > 0)
        status = add_homes(stage);
    for (size_t i = 0; status == 0 && i < stage->homes.count; i++)
        status = match_home(stage, stage->homes.items[i]);
    lp_vector_clear(&stage->members);
    lp_vector_clear(&stage->homes);
    return status;
}

static bool same_but_numbers(const char *a, const char *b)
{
    for (; a && b && *a && *b; a++, b++) {
        while (isdigit((unsigned char)*a) && isdigit((unsigned char)a[1]))
            a++;
        while (isdigit((unsigned char)*b) && isdigit((unsigned char)b[1]))
            b++;
        if (*a != *b && !(isdigit((unsigned char)*a) && isdigit((unsigned char)*b)))
            return false;
    }
    return a && b ? *a == *b : a == b;
}

bool lp_kernel_shapes_alike(const llmperf_kernel_shape *a, const llmperf_kernel_shape *b)
{
    return a->kind == b->kind && a->device == b->device && a->grid_x == b->grid_x &&
           a->grid_y == b->grid_y && a->grid_z == b->grid_z && a->block_x == b->block_x &&
           a->block_y == b->block_y && a->block_z == b->block_z && a->registers == b->registers &&
           a->dynamic_shared_bytes == b->dynamic_shared_bytes && a->m == b->m && a->n == b->n &&
           a->k == b->k && a->batch == b->batch && strcmp(a->name, b->name) == 0 &&
           same_but_numbers(a->region, b->region) &&
           same_but_numbers(a->captured_in, b->captured_in);
}

/* Attention */

static bool has_word(const char *name, const char *const *words)
{
    while (*words && !strcasestr(name, *words))
        words++;
    return *words;
}

static bool same_attention(const struct lp_stage_operator *a, const struct lp_stage_operator *b)
{
    return a->heads == b->heads && a->kv_heads == b->kv_heads && a->head_dim == b->head_dim &&
           a->queries == b->queries && a->keys == b->keys && a->pairs == b->pairs;
}

/* What a layer's attention does in all calls of the stage, and the number of layers. */
static const char *find_attention(const struct stage *stage, struct lp_stage_operator *attention)
{
    const llmperf_profile *profile = stage->findings->profile;
    uint32_t layers = 0;

    for (size_t i = 0; i < profile->stage_operators.count; i++) {
        const struct lp_stage_operator *row = &profile->stage_operators.items[i];

        if (strcmp(row->stage, stage->stats->label) != 0 || strcmp(row->name, "attention") != 0)
            continue;
        if (row->heads == 0 || row->calls == 0 || (layers > 0 && !same_attention(row, attention)))
            return no_attention;
        *attention = *row;
        layers += row->layers;
    }
    attention->layers = layers;
    return layers == 0 ? no_attention : stage->calls == 0 ? no_calls : NULL;
}

/* With different lengths the mean holds for kernels that run in each call: one shape for all
 * layers, or for each layer one of its own. */
static bool has_mean(const struct stage *stage, const struct lp_stage_operator *attention,
                     const llmperf_kernel_shape *row)
{
    uint64_t all = attention->layers * stage->calls, alike = 0;

    if (attention->most_pairs <= SAME_LENGTH * attention->least_pairs)
        return true;
    for (size_t i = 0; i < stage->row_count; i++)
        alike += lp_kernel_shapes_alike(&stage->rows[i], row) && stage->rows[i].calls == row->calls;
    return attention->calls == stage->calls &&
           (row->calls == all || (row->calls == stage->calls && alike == attention->layers));
}

static void give_attention(const struct stage *stage, const struct lp_stage_operator *attention,
                           llmperf_kernel_shape *row)
{
    double calls = (double)attention->calls, bytes = attention->layer_bytes / calls, least_ms = NAN;
    double flops = 4.0 * attention->head_dim * attention->heads * attention->pairs / calls;

    if (lp_findings_describes(stage->findings, row->device))
        least_ms = lp_bound_ms(&stage->findings->limits, attention->dtype, flops, bytes);
    row->model_operator = attention->name;
    row->shape_reason = !has_mean(stage, attention, row)    ? some_calls
                        : row->mean_ms < least_ms / FASTEST ? too_fast
                                                            : NULL;
    if (row->shape_reason)
        return;
    row->heads = attention->heads;
    row->kv_heads = attention->kv_heads;
    row->head_dim = attention->head_dim;
    row->sequences = attention->sequences / calls;
    row->query_length = attention->queries / attention->sequences;
    row->kv_length = attention->keys / attention->sequences;
    row->call_flops = flops;
    row->call_bytes = bytes;
    row->dtype = attention->dtype;
}

/* A fused kernel for each layer; others prepare or combine its parts. */
static void match_attention(const struct stage *stage)
{
    static const char *const parts[] = { "combine", "reduce", "merge", "prepare", NULL };
    struct lp_stage_operator attention = { .layers = 0 };
    const char *reason = find_attention(stage, &attention);
    uint64_t launches = 0;

    for (size_t i = 0; i < stage->row_count; i++) {
        const llmperf_kernel_shape *row = &stage->rows[i];

        if (is_member(stage, i, true))
            launches += has_word(row->name, parts) ? 0 : row->calls;
        else if (row->m != LLMPERF_UNKNOWN && row->model_operator &&
                 strcmp(row->model_operator, "attention") == 0 &&
                 lp_region_is_in(row->region, stage->stats->path) && !is_nested(stage, row))
            reason = unfused;
    }
    if (!reason && launches != attention.layers * stage->calls)
        reason = not_layers;
    for (size_t i = 0; i < stage->row_count; i++) {
        llmperf_kernel_shape *row = &stage->rows[i];

        if (!is_member(stage, i, true))
            continue;
        row->shape_reason = has_word(row->name, parts) ? is_part : reason;
        if (!row->shape_reason)
            give_attention(stage, &attention, row);
    }
}

/* A path has a row for each process. */
static bool is_first(const struct lp_findings *findings, size_t region)
{
    const struct lp_region_finding *row = &findings->regions.items[region];
    const struct lp_region_finding *first = lp_rows_of(findings, row->stats.path);

    while (first->stats.device != row->stats.device)
        first++;
    return first == row;
}

/* Kernels of both classes have a reason until their shape is found. */
static void give_reasons(const struct lp_findings *findings, llmperf_kernel_shape *rows,
                         size_t count, bool *attention)
{
    const char *reason = findings->profile->stage_operators.count == 0 ? no_model : no_stage;

    for (size_t i = 0; i < count; i++) {
        const char *kernel_class = class_of(findings, &rows[i]);
        bool gemm = strcmp(kernel_class, "GEMM") == 0;

        attention[i] = strcmp(kernel_class, "attention") == 0;
        if (gemm || attention[i])
            rows[i].shape_reason = gemm && lp_gemm_is_sum(rows[i].name) ? is_sum : reason;
    }
}

int lp_stage_shapes_find(const struct lp_findings *findings, llmperf_kernel_shape *rows,
                         size_t count, uint64_t sms)
{
    bool *attention = calloc(count + 1, sizeof(*attention));
    int status = attention ? 0 : LLMPERF_ENOMEM;

    if (attention)
        give_reasons(findings, rows, count, attention);
    for (size_t i = 0; status == 0 && i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;
        struct stage stage = { .findings = findings,
                               .stats = stats,
                               .rows = rows,
                               .attention = attention,
                               .row_count = count,
                               .sms = sms };

        if (!has_operators(findings, stats->label) || !is_first(findings, i))
            continue;
        stage.calls = collected_calls(&stage);
        status = match_stage(&stage);
        match_attention(&stage);
    }
    free(attention);
    return status;
}

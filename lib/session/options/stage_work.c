/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/options/stage_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/model/work.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/record/paths.h"
#include "llmperf/model.h"
#include "llmperf/region.h"

#define SEQUENCES_MAX 65536u
#define SWEEP_MOST    1024u /* times the batch of the run */
#define PHASES        (LLMPERF_PHASE_VISION + 1)

struct lp_stage_work {
    llmperf_model *model;
    llmperf_model_info info;
    struct lp_parallel parallel;
    uint64_t *new_tokens, *cached_tokens; /* SEQUENCES_MAX each */
    uint64_t unknown;                     /* calls without known work */
    char reason[512];                     /* of the first one */
    bool shared_equally; /* lengths of several sequences were assumed to be equal */
    uint64_t steps, step_sequences, step_context; /* of decode steps with known work */
    struct phase_sum {
        char label[LLMPERF_LABEL_BYTES]; /* of its first call */
        size_t count;
        uint64_t calls;
        struct {
            struct lp_operator op; /* of its newest call: names, layers, dtype, products */
            double flops, bytes;   /* of all */
            double activations, beside;
            struct lp_heads heads; /* sums of all */
            double least_pairs, most_pairs;
            bool differs; /* calls differ in products */
        } operators[LP_OPERATORS_MAX];
    } phases[PHASES]; /* by LLMPERF_PHASE_…; 0: mixed steps */
};

int lp_stage_work_open(llmperf_model *model, const struct lp_parallel *parallel,
                       struct lp_stage_work **work_out)
{
    struct lp_stage_work *work = calloc(1, sizeof(*work));
    int status;

    if (!work) {
        llmperf_model_free(model);
        return lp_out_of_memory();
    }
    work->model = model;
    work->new_tokens = malloc(SEQUENCES_MAX * sizeof(*work->new_tokens));
    work->cached_tokens = malloc(SEQUENCES_MAX * sizeof(*work->cached_tokens));
    work->info = (llmperf_model_info)LLMPERF_MODEL_INFO_INIT;
    work->parallel = *parallel;
    if (!work->new_tokens || !work->cached_tokens)
        status = lp_out_of_memory();
    else if ((status = llmperf_model_info_get(work->model, &work->info)) == 0)
        status = lp_parallel_check(parallel, work->model, &work->info);
    if (status < 0)
        lp_stage_work_free(work);
    else
        *work_out = work;
    return status;
}

uint64_t lp_stage_work_hidden(const struct lp_stage_work *work)
{
    return work->info.has_decoder ? work->info.hidden : 0;
}

void lp_stage_work_free(struct lp_stage_work *work)
{
    if (!work)
        return;
    llmperf_model_free(work->model);
    free(work->new_tokens);
    free(work->cached_tokens);
    free(work);
}

/* Steps with requests in prefill and others in decode. */
static bool is_mixed(const char *label)
{
    return strcmp(label + strcspn(label, "@"), "@mixed_step") == 0;
}

/* Phase of a stage in the model, in any domain; 0: none. A model without decoder has one phase. */
static uint32_t phase_of(const struct lp_stage_work *work, const char *label)
{
    const char *name = label + strcspn(label, "@");

    if (lp_label_is_prefill(label) || is_mixed(label))
        return LLMPERF_PHASE_PREFILL;
    if (lp_label_is_decode(label))
        return LLMPERF_PHASE_DECODE;
    if (!strcmp(name, "@vision") || (!work->info.has_decoder && !strcmp(name, "@forward")))
        return LLMPERF_PHASE_VISION;
    return 0;
}

/* Divide an amount into parts that differ by at most one. */
static void share_out(uint64_t amount, uint64_t parts, uint64_t *shares)
{
    for (uint64_t i = 0; i < parts; i++)
        shares[i] = amount / parts + (i < amount % parts);
}

/* The program gives sums over the sequences; equal lengths are assumed. */
static int fill_sequences(struct lp_stage_work *work, const char *label, const uint64_t *quantities,
                          llmperf_step *step)
{
    uint64_t sequences = quantities[LLMPERF_QUANTITY_SEQUENCES];
    uint64_t tokens = quantities[LLMPERF_QUANTITY_TOKENS];
    uint64_t context = quantities[LLMPERF_QUANTITY_CONTEXT];
    bool decode = step->phase == LLMPERF_PHASE_DECODE;

    if (decode && tokens == 0)
        tokens = sequences;
    if (sequences == 0)
        sequences = decode ? tokens : 1;
    if (lp_label_is_found(label) && (tokens == 0 || context == 0))
        return lp_error(LLMPERF_EINVAL, "%s not follow from its kernels",
                        tokens ? "number and length of its sequences do" : "its tokens do");
    if (tokens == 0)
        return lp_error(LLMPERF_EINVAL, "its tokens were not given");
    if (context == 0 && (decode || is_mixed(label)))
        return lp_error(LLMPERF_EINVAL, "its context was not given");
    if (context == 0)
        context = tokens; /* a prompt without cached tokens */
    if (context < tokens)
        return lp_error(LLMPERF_EINVAL,
                        "its context of %" PRIu64 " is smaller than its %" PRIu64
                        " tokens (each new token counts itself)",
                        context, tokens);
    if (sequences > tokens || sequences > SEQUENCES_MAX)
        return lp_error(LLMPERF_EINVAL,
                        "%" PRIu64 " sequences cannot have %" PRIu64 " tokens in total", sequences,
                        tokens);
    share_out(tokens, sequences, work->new_tokens);
    share_out(context - tokens, sequences, work->cached_tokens);
    work->shared_equally = work->shared_equally || sequences > 1;
    step->requests = sequences;
    step->new_tokens = work->new_tokens;
    step->cached_tokens = work->cached_tokens;
    return 0;
}

static void add_heads(struct phase_sum *sum, size_t index, const struct lp_heads *heads)
{
    struct lp_heads *all = &sum->operators[index].heads;
    double *least = &sum->operators[index].least_pairs, *most = &sum->operators[index].most_pairs;

    *least = sum->calls == 0 || heads->pairs < *least ? heads->pairs : *least;
    *most = heads->pairs > *most ? heads->pairs : *most;
    *all = (struct lp_heads){ heads->heads,
                              heads->kv_heads,
                              heads->head_dim,
                              all->sequences + heads->sequences,
                              all->queries + heads->queries,
                              all->keys + heads->keys,
                              all->pairs + heads->pairs,
                              all->bytes + heads->bytes };
}

/* The operators of a model are the same in each step of a phase. */
static void add_operators(struct phase_sum *sum, const char *label, const struct lp_operators *list)
{
    if (sum->count == 0)
        snprintf(sum->label, sizeof(sum->label), "%s", label);
    sum->count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        const struct lp_operator *op = &list->items[i];

        sum->operators[i].differs |=
            sum->calls > 0 &&
            memcmp(sum->operators[i].op.products, op->products, sizeof(op->products)) != 0;
        sum->operators[i].op = *op;
        add_heads(sum, i, &op->heads);
        sum->operators[i].flops += (double)op->model;
        sum->operators[i].bytes += (double)(op->weights + op->kv_read + op->kv_write);
        sum->operators[i].activations += (double)(op->activations + op->vectors);
        sum->operators[i].beside += (double)op->beside.bytes;
    }
    sum->calls++;
}

static int compute(struct lp_stage_work *work, uint32_t phase, const char *label,
                   const uint64_t *quantities, llmperf_work *out)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t images = quantities[LLMPERF_QUANTITY_SEQUENCES];
    struct lp_operators list;
    struct lp_step prepared;
    int status;

    step.phase = phase;
    if ((status = lp_parallel_apply(&work->parallel, &step)) < 0)
        return status;
    if (phase == LLMPERF_PHASE_VISION)
        step.images = images ? images : 1;
    else
        status = fill_sequences(work, label, quantities, &step);
    if (status < 0 || (status = lp_model_operators(work->model, &step, &prepared, &list)) < 0 ||
        (status = lp_operators_work(&prepared, &list, out)) < 0)
        return status;
    add_operators(&work->phases[is_mixed(label) ? 0 : phase], label, &list);
    if (phase == LLMPERF_PHASE_DECODE) {
        work->steps++;
        work->step_sequences += step.requests;
        work->step_context += quantities[LLMPERF_QUANTITY_CONTEXT];
    }
    return 0;
}

static bool counts_its_work(const uint64_t *quantities)
{
    return quantities[LLMPERF_QUANTITY_FLOPS] && quantities[LLMPERF_QUANTITY_BYTES];
}

static void give_work(void *context, const char *label, const uint64_t *quantities,
                      uint64_t *flops_out, uint64_t *bytes_out)
{
    struct lp_stage_work *work = context;
    uint32_t phase = phase_of(work, label);
    llmperf_work result = LLMPERF_WORK_INIT;

    if (!phase)
        return;
    if (compute(work, phase, label, quantities, &result) == 0) {
        *flops_out = result.model_flops;
        *bytes_out = result.bytes;
    } else if (!counts_its_work(quantities) && work->unknown++ == 0) {
        snprintf(work->reason, sizeof(work->reason), "%s: %s", label, llmperf_last_error());
    }
}

struct lp_work_source lp_stage_work_source(struct lp_stage_work *work)
{
    return (struct lp_work_source){ work, give_work };
}

/* Dtype of the matrix products: that of the operator with most FLOPs. */
static const char *compute_dtype(const struct lp_stage_work *work)
{
    llmperf_operator_work row = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t one = 1, most = 0;
    uint32_t dtype = work->info.weight_dtype;

    step.phase = work->info.has_decoder ? LLMPERF_PHASE_DECODE : LLMPERF_PHASE_VISION;
    step.requests = step.images = 1;
    step.new_tokens = work->info.has_decoder ? &one : NULL;
    for (size_t i = 0; llmperf_model_operator(work->model, &step, i, &row) == 0; i++)
        if (row.model_flops > most) {
            most = row.model_flops;
            dtype = row.compute_dtype;
        }
    return llmperf_name(LLMPERF_NAME_DTYPE, dtype);
}

static int add_lines(const struct lp_stage_work *work, llmperf_profile *profile)
{
    size_t assumptions = 0;
    const char *line;
    char key[48];
    int status = 0;

    for (; status == 0 && (line = llmperf_model_assumption(work->model, assumptions));
         assumptions++) {
        snprintf(key, sizeof(key), "model_assumption.%zu", assumptions);
        status = lp_profile_set_fact(profile, key, line);
    }
    if (status == 0)
        status = lp_parallel_facts(&work->parallel, &work->info, assumptions, profile);
    for (size_t i = 0; status == 0 && (line = llmperf_model_warning(work->model, i)); i++) {
        snprintf(key, sizeof(key), "model_warning.%zu", i);
        status = lp_profile_set_fact(profile, key, line);
    }
    return status;
}

static int add_notes(const struct lp_stage_work *work, llmperf_profile *profile)
{
    int status = 0;

    if (work->shared_equally)
        status = lp_profile_note(
            profile,
            "The model's FLOPs and bytes assume that the sequences of a batch have equal length.");
    if (status < 0 || work->unknown == 0)
        return status;
    return lp_profile_note(profile,
                           "The model cannot compute the work of %" PRIu64
                           " calls of stages (the first is %s).",
                           work->unknown, work->reason);
}

const char *lp_stage_work_reason(const struct lp_stage_work *work)
{
    return work->unknown ? work->reason : NULL;
}

static void write_products(struct lp_text *text, const struct lp_operator *op)
{
    for (size_t i = 0; op->product_count <= LP_PRODUCTS_MAX && i < op->product_count; i++) {
        const struct lp_product *product = &op->products[i];

        lp_text_printf(text,
                       "%s%" PRIu32 ":%" PRIu32 "*%" PRIu32 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64,
                       i ? " " : "", product->form, product->count, product->batch, product->m,
                       product->n, product->k);
    }
}

static int add_operator_row(llmperf_profile *profile, struct lp_stage_operator *row)
{
    int status = lp_row_keep(profile, LP_ROW_STAGE_OPERATOR, row);

    return status < 0 ? status : lp_row_push(profile, LP_ROW_STAGE_OPERATOR, row);
}

static int add_stage_operator(const struct phase_sum *sum, size_t index, llmperf_profile *profile)
{
    const struct lp_operator *op = &sum->operators[index].op;
    const struct lp_heads *heads = &sum->operators[index].heads;
    struct lp_text products = { NULL, 0, 0, false };
    struct lp_stage_operator beside = {
        .stage = sum->label,
        .name = op->beside.name,
        .layer_kind = op->layer_kind,
        .dtype = llmperf_name(LLMPERF_NAME_DTYPE, op->dtype),
        .layers = (uint32_t)op->layers,
        .kernels = (uint32_t)op->layers * op->beside.kernels,
        .calls = sum->calls,
        .activation_bytes = sum->operators[index].beside,
    };
    struct lp_stage_operator row = beside;
    int status;

    row.name = op->name;
    row.kernels = (uint32_t)op->layers * op->kernels;
    row.flops = sum->operators[index].flops;
    row.bytes = sum->operators[index].bytes;
    row.activation_bytes = sum->operators[index].activations;
    row.differs = sum->operators[index].differs;
    row.heads = (uint32_t)heads->heads;
    row.kv_heads = (uint32_t)heads->kv_heads;
    row.head_dim = (uint32_t)heads->head_dim;
    row.sequences = heads->sequences;
    row.queries = heads->queries;
    row.keys = heads->keys;
    row.pairs = heads->pairs;
    row.layer_bytes = heads->bytes;
    row.least_pairs = sum->operators[index].least_pairs;
    row.most_pairs = sum->operators[index].most_pairs;
    write_products(&products, op);
    row.products = products.bytes;
    status = products.failed ? lp_out_of_memory() : add_operator_row(profile, &row);
    lp_text_clear(&products);
    return status < 0 || !beside.name ? status : add_operator_row(profile, &beside);
}

static int add_stage_operators(const struct lp_stage_work *work, llmperf_profile *profile)
{
    int status = 0;

    profile->stage_operators.count = 0;
    for (size_t phase = 0; phase < PHASES; phase++)
        for (size_t i = 0; status == 0 && i < work->phases[phase].count; i++)
            status = add_stage_operator(&work->phases[phase], i, profile);
    return status;
}

/* Work of decode steps with larger batches than the mean one, at the mean context: what advice on
 * the batch size rests on. */
static int add_sweep(const struct lp_stage_work *work, llmperf_profile *profile)
{
    struct lp_text text = { NULL, 0, 0, false };
    uint64_t batch, context;
    int status;

    if (work->steps == 0)
        return 0;
    batch = (work->step_sequences + work->steps / 2) / work->steps;
    context = work->step_context / work->step_sequences;
    lp_text_printf(&text, "{\"context\": %" PRIu64 ", \"steps\": [", context);
    for (uint64_t factor = 1; factor <= SWEEP_MOST && batch * factor <= SEQUENCES_MAX;
         factor *= 2) {
        llmperf_step step = LLMPERF_STEP_INIT;
        llmperf_work out = LLMPERF_WORK_INIT;

        step.phase = LLMPERF_PHASE_DECODE;
        step.requests = batch * factor;
        step.cached_each = context > 0 ? context - 1 : 0;
        if (lp_parallel_apply(&work->parallel, &step) < 0 ||
            llmperf_model_work(work->model, &step, &out) < 0)
            break;
        lp_text_printf(&text, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", factor > 1 ? ", " : "",
                       step.requests, out.model_flops, out.bytes);
    }
    lp_text_puts(&text, "]}");
    status =
        text.failed ? lp_out_of_memory() : lp_profile_set_fact(profile, LP_SWEEP_FACT, text.bytes);
    lp_text_clear(&text);
    return status;
}

static int set_number(llmperf_profile *profile, const char *key, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    return lp_profile_set_fact(profile, key, text);
}

/* What a GPU holds: a step of one token writes as much of the KV cache as each token needs. */
static int add_sizes(const struct lp_stage_work *work, llmperf_profile *profile)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work out = LLMPERF_WORK_INIT;
    int status = 0;

    if (work->parallel.tensor == 1 && work->parallel.expert == 1)
        status = set_number(profile, LP_WEIGHTS_FACT, work->info.weight_bytes);
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = 1;
    if (status == 0 && work->info.has_decoder && work->info.window_layers == 0 &&
        lp_parallel_apply(&work->parallel, &step) == 0 &&
        llmperf_model_work(work->model, &step, &out) == 0)
        status = set_number(profile, LP_KV_TOKEN_FACT, out.kv_write_bytes);
    return status;
}

int lp_stage_work_facts(const struct lp_stage_work *work, const char *dtype,
                        llmperf_profile *profile)
{
    const llmperf_model_info *info = &work->info;
    int status;

    if ((status = lp_profile_set_fact(profile, "model_name", info->name)) < 0 ||
        (status = lp_profile_set_fact(profile, "model_family", info->family)) < 0 ||
        (status = lp_profile_set_fact(profile, "model_convention", info->convention)) < 0 ||
        (status = set_number(profile, "model_parameters_total", info->parameters_total)) < 0 ||
        (status = set_number(profile, "model_parameters_active", info->parameters_active)) < 0 ||
        (status = lp_profile_set_fact(profile, "dtype", dtype ? dtype : compute_dtype(work))) < 0 ||
        (status = add_sizes(work, profile)) < 0 || (status = add_lines(work, profile)) < 0 ||
        (status = add_stage_operators(work, profile)) < 0 ||
        (status = add_sweep(work, profile)) < 0)
        return status;
    return add_notes(work, profile);
}

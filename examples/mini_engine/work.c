/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "llmperf/llmperf.h"
#include "work.h"

static enum operator_id id_of(const char *name)
{
    static const struct {
        const char *name;
        enum operator_id id;
    } names[] = {
        { "qkv", OPERATOR_ATTENTION },
        { "rope", OPERATOR_ATTENTION },
        { "attention", OPERATOR_ATTENTION },
        { "o_proj", OPERATOR_ATTENTION },
        { "mlp", OPERATOR_MLP },
        { "router", OPERATOR_ROUTER },
        { "shared_experts", OPERATOR_MOE },
        { "experts", OPERATOR_MOE },
        { "lm_head", OPERATOR_LM_HEAD },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].id;
    return OPERATOR_OTHER;
}

/* Layers of several kinds do the same attention: the first kind speaks for all. */
static int counts_for_a_layer(const llmperf_operator_work *row, const char **kind)
{
    if (id_of(row->name) != OPERATOR_ATTENTION)
        return row->layers > 0;
    if (!*kind)
        *kind = row->layer_kind;
    return strcmp(*kind, row->layer_kind) == 0 && row->layers > 0;
}

static int plan_step(const struct work *work, const llmperf_step *step, struct stage_work *out)
{
    llmperf_work sum = LLMPERF_WORK_INIT;
    int status = llmperf_model_work(work->model, step, &sum);
    const char *kind = NULL;

    memset(out, 0, sizeof(*out));
    if (status < 0)
        return status;
    out->all.flops = sum.model_flops;
    out->all.bytes = sum.bytes;
    for (size_t i = 0;; i++) {
        llmperf_operator_work row = LLMPERF_OPERATOR_WORK_INIT;
        struct amount *each;

        if (llmperf_model_operator(work->model, step, i, &row) < 0)
            return 0;
        if (!counts_for_a_layer(&row, &kind))
            continue;
        each = &out->each[id_of(row.name)];
        each->flops += row.model_flops / row.layers;
        each->bytes += (row.weight_bytes + row.kv_read_bytes + row.kv_write_bytes) / row.layers;
    }
}

/* An array of `count` times `value`; NULL without memory. */
static uint64_t *repeat(uint64_t value, size_t count)
{
    uint64_t *out = malloc(count * sizeof(*out));

    for (size_t i = 0; out && i < count; i++)
        out[i] = value;
    return out;
}

static int plan_decode_at(const struct work *work, uint64_t context, struct stage_work *out)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t *cached = repeat(context - 1, work->sequences);
    int status;

    step.phase = LLMPERF_PHASE_DECODE;
    step.tensor_parallel = (uint32_t)work->world;
    step.requests = work->sequences;
    step.cached_tokens = cached;
    status = cached ? plan_step(work, &step, out) : LLMPERF_ENOMEM;
    free(cached);
    return status;
}

static struct amount minus(struct amount a, struct amount b)
{
    return (struct amount){ a.flops - b.flops, a.bytes - b.bytes };
}

/* Everything but attention is the same at every context, and attention is linear in it. */
static int plan_decode(struct work *work)
{
    struct stage_work longer;
    int status;

    if ((status = plan_decode_at(work, 1, &work->decode)) < 0 ||
        (status = plan_decode_at(work, 2, &longer)) < 0)
        return status;
    work->decode_more.all = minus(longer.all, work->decode.all);
    for (int i = 0; i < OPERATORS; i++)
        work->decode_more.each[i] = minus(longer.each[i], work->decode.each[i]);
    return 0;
}

int work_open(struct work *work, const char *model_path, size_t sequences, size_t world)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;
    int status;

    memset(work, 0, sizeof(*work));
    work->sequences = sequences;
    work->world = world;
    if ((status = llmperf_model_open(model_path, &work->model)) < 0 ||
        (status = llmperf_model_info_get(work->model, &info)) < 0)
        return status;
    return info.has_decoder ? plan_decode(work) : 0;
}

void work_close(struct work *work)
{
    llmperf_model_free(work->model);
    work->model = NULL;
}

static enum vision_part part_of(const llmperf_operator_work *row)
{
    if (strncmp(row->layer_kind, "sam", 3) == 0)
        return VISION_SAM;
    if (strcmp(row->layer_kind, "conv") == 0)
        return VISION_COMPRESSOR;
    return strcmp(row->layer_kind, "clip") == 0 ? VISION_CLIP : VISION_PROJECTOR;
}

static void plan_vision_parts(struct work *work, const llmperf_step *step)
{
    llmperf_operator_work row = LLMPERF_OPERATOR_WORK_INIT;

    memset(work->vision_parts, 0, sizeof(work->vision_parts));
    for (size_t i = 0; llmperf_model_operator(work->model, step, i, &row) == 0; i++) {
        work->vision_parts[part_of(&row)].flops += row.model_flops;
        work->vision_parts[part_of(&row)].bytes += row.weight_bytes;
    }
}

/* One call of the encoder for the whole views, one for the tiles. */
static int plan_vision(struct work *work, const struct work_image *image)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t *pixels = repeat(image->pixels, work->sequences);
    uint64_t *rows = repeat(image->tile_rows, work->sequences);
    uint64_t *columns = repeat(image->tile_columns, work->sequences);
    int status = LLMPERF_ENOMEM;

    step.phase = LLMPERF_PHASE_VISION;
    step.images = work->sequences;
    step.image_heights = pixels;
    step.tile_rows = rows;
    step.tile_columns = columns;
    step.tile_pixels = image->tile_pixels;
    step.vision_calls = image->tile_rows * image->tile_columns > 0 ? 2 : 1;
    if (pixels && rows && columns)
        status = plan_step(work, &step, &work->vision);
    if (status == 0)
        plan_vision_parts(work, &step);
    free(pixels);
    free(rows);
    free(columns);
    return status;
}

int work_plan(struct work *work, uint64_t tokens, const struct work_image *image)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t *new_tokens = repeat(tokens, work->sequences);
    int status;

    memset(&work->vision, 0, sizeof(work->vision));
    step.phase = LLMPERF_PHASE_PREFILL;
    step.tensor_parallel = (uint32_t)work->world;
    step.requests = work->sequences;
    step.new_tokens = new_tokens;
    status = new_tokens ? plan_step(work, &step, &work->prefill) : LLMPERF_ENOMEM;
    free(new_tokens);
    if (status == 0 && image->pixels > 0)
        status = plan_vision(work, image);
    work->prefill.all.flops += work->vision.all.flops;
    work->prefill.all.bytes += work->vision.all.bytes;
    return status;
}

static void begin(const struct work *work, const char *label, uint32_t kind, struct amount amount,
                  uint64_t tokens, uint64_t context)
{
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;

    if (work->off)
        return;
    attr.label = label;
    attr.kind = kind;
    attr.tokens = tokens;
    attr.sequences = tokens > 0 ? work->sequences : 0;
    attr.context = context;
    attr.flops = amount.flops;
    attr.bytes = amount.bytes;
    llmperf_region_begin_attr(&attr);
}

void end_region(struct work *work)
{
    if (!work->off)
        llmperf_region_end();
}

void begin_prefill(struct work *work, uint64_t tokens)
{
    work->now = &work->prefill;
    work->now_more = NULL;
    begin(work, "LLM@prefill", LLMPERF_REGION_STAGE, work->prefill.all, tokens * work->sequences,
          work->sequences * tokens);
}

void begin_vision(struct work *work)
{
    work->now = NULL;
    begin(work, "LLM@vision", LLMPERF_REGION_STAGE, work->vision.all, 0, 0);
}

void begin_vision_part(struct work *work, const char *label, enum vision_part part, double share)
{
    struct amount amount = work->vision_parts[part];

    amount.flops = (uint64_t)((double)amount.flops * share);
    amount.bytes = (uint64_t)((double)amount.bytes * share);
    begin(work, label, LLMPERF_REGION_OPERATOR, amount, 0, 0);
}

void end_vision(struct work *work)
{
    work->now = &work->prefill;
    end_region(work);
}

void begin_decode_all(struct work *work)
{
    begin(work, "LLM@decode_all", LLMPERF_REGION_STAGE, (struct amount){ 0, 0 }, 0, 0);
}

void end_decode_all(struct work *work, uint64_t tokens)
{
    if (work->off)
        return;
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, tokens);
    llmperf_region_end();
}

static struct amount at_context(struct amount first, struct amount more, uint64_t context)
{
    return (struct amount){ first.flops + more.flops * (context - 1),
                            first.bytes + more.bytes * (context - 1) };
}

void begin_decode_step(struct work *work, uint64_t context)
{
    work->now = &work->decode;
    work->now_more = &work->decode_more;
    work->now_context = context;
    begin(work, "LLM@decode_step", LLMPERF_REGION_STAGE,
          at_context(work->decode.all, work->decode_more.all, context), work->sequences,
          work->sequences * context);
}

void begin_capture(struct work *work)
{
    work->now = NULL;
    begin(work, "LLM@graph_capture", LLMPERF_REGION_OPERATOR, (struct amount){ 0, 0 }, 0, 0);
}

void begin_operator(struct work *work, const char *label, enum operator_id id)
{
    struct amount amount = { 0, 0 };

    if (work->now && work->now_more)
        amount = at_context(work->now->each[id], work->now_more->each[id], work->now_context);
    else if (work->now)
        amount = work->now->each[id];
    begin(work, label, LLMPERF_REGION_OPERATOR, amount, 0, 0);
}

void begin_part(struct work *work, const char *label)
{
    begin(work, label, LLMPERF_REGION_OPERATOR, (struct amount){ 0, 0 }, 0, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of an encoder's step. Model FLOPs are of the image's patches; hardware FLOPs include
 * the padding of windows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/model/work.h"
#include "lib/base/status.h"

#define VIEWS_MAX (1 << 20)

/* Approximate vector FLOPs per element. */
enum { LAYER_NORM = 7, SOFTMAX = 5, ACTIVATION = 5, RESIDUALS = 2 };

struct grid {
    uint64_t rows, columns;
};

/* A kind of view in a step, and its number. */
struct view {
    struct grid pixels;
    lp_u128 count;
};

struct build {
    const struct llmperf_model *model;
    const struct lp_vision *vision;
    const struct lp_step *step;
    struct lp_operators *out;
    size_t next; /* index of the next operator: the first view adds operators, later views add to
                    them */
};

static struct lp_operator *next(struct build *build, const char *name, const char *kind,
                                uint64_t layers, lp_u128 parameters)
{
    struct lp_operator *op;

    if (build->next < build->out->count)
        return &build->out->items[build->next++];
    op = lp_operator_add(build->out, name, kind, layers);
    op->dtype = build->step->base;
    op->weights = lp_dtype_bytes(op->dtype, parameters) *
                  (build->step->input.vision_calls ? build->step->input.vision_calls : 1);
    build->next++;
    return op;
}

static void add_flops(struct lp_operator *op, lp_u128 model, lp_u128 hardware)
{
    op->model += model;
    op->hardware += hardware;
    op->expected += (double)model;
}

static void add_elements(const struct build *build, struct lp_operator *op, lp_u128 elements)
{
    op->activations += lp_dtype_bytes(build->step->base, elements);
}

/* Each view adds to it. */
static void add_beside(const struct build *build, struct lp_operator *op, const char *name,
                       lp_u128 elements)
{
    op->beside.name = name;
    op->beside.kernels = 1;
    op->beside.bytes += lp_dtype_bytes(build->step->base, elements);
}

static uint64_t round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* Layers of one kind: `tokens` of the image, `padded` to whole windows; each attends to `span`
 * tokens. The table of relative positions has rows and columns. */
struct attention {
    lp_u128 tokens, padded, span, rows, columns;
};

static void add_linear(struct build *build, const char *name, const char *kind, lp_u128 layers,
                       lp_u128 in, lp_u128 out, const struct attention *at, lp_u128 count)
{
    struct lp_operator *op = next(build, name, kind, (uint64_t)layers, layers * (in * out + out));

    add_flops(op, 2 * at->tokens * in * out * layers * count,
              2 * at->padded * in * out * layers * count);
    op->vector += at->tokens * out * layers * count;
    add_elements(build, op, at->padded * (in + out) * layers * count);
    lp_operator_product(op, 1, 1, at->padded * count, out, in);
    if (at->padded != at->tokens)
        lp_operator_product(op, 2, 1, at->tokens * count, out, in);
    if (out == 3 * in) { /* query, key and value apart */
        lp_operator_product(op, 3, 3, at->padded * count, in, in);
        if (at->padded != at->tokens)
            lp_operator_product(op, 4, 3, at->tokens * count, in, in);
    }
}

static struct lp_heads heads_of(const struct build *build, const struct lp_vit *vit,
                                const struct attention *at, lp_u128 count)
{
    double tokens = (double)(at->padded * count);

    return (struct lp_heads){
        vit->heads,
        vit->heads,
        vit->width / vit->heads,
        tokens / (double)at->span,
        tokens,
        tokens,
        tokens * (double)at->span,
        (double)lp_dtype_bytes(build->step->base, 4 * at->padded * count * vit->width),
    };
}

static void add_layers(struct build *build, const struct lp_vit *vit, const char *kind,
                       uint64_t layers, const struct attention *at, lp_u128 count)
{
    lp_u128 c = vit->width, m = vit->mlp, d = c / vit->heads, all = layers * count;
    lp_u128 table = lp_vit_table_parameters(vit, vit->window && at->rows == vit->window);
    lp_u128 pair = 4 * c * at->span;
    struct lp_operator *op;

    if (vit->relative_positions)
        pair += 2 * vit->heads * d * (at->rows + at->columns);
    op = next(build, "norm", kind, layers, table * layers);
    op->vector += at->tokens * all * c * (2 * LAYER_NORM + RESIDUALS);
    op->vectors += lp_dtype_bytes(op->dtype, 2 * 2 * at->tokens * all * c);
    add_beside(build, op, "residual", 2 * RESIDUALS * at->tokens * all * c);
    add_linear(build, "qkv", kind, layers, c, 3 * c, at, count);
    op = next(build, "attention", kind, layers, 0);
    add_flops(op, pair * at->tokens * all, pair * at->padded * all);
    op->vector += SOFTMAX * vit->heads * at->tokens * at->span * all;
    op->vectors += lp_dtype_bytes(op->dtype, 4 * at->padded * all * c);
    op->heads = op->product_count ? (struct lp_heads){ 0 } /* several views: several kernels */
                                  : heads_of(build, vit, at, count);
    lp_operator_attention(op, vit->heads * count * (at->padded / at->span), at->span, at->span, d);
    add_linear(build, "o_proj", kind, layers, c, c, at, count);
    op = next(build, "mlp", kind, layers, layers * (2 * c * m + m + c));
    add_flops(op, 4 * at->tokens * c * m * all, 4 * at->tokens * c * m * all);
    op->vector += ACTIVATION * at->tokens * m * all;
    add_beside(build, op, "activation", 2 * at->tokens * m * all);
    add_elements(build, op, at->tokens * 2 * (c + m) * all);
    lp_operator_product(op, 0, 1, at->tokens * count, m, c);
    lp_operator_product(op, 0, 1, at->tokens * count, c, m);
}

/* The layers of an encoder over a grid of patches. */
static void add_vit(struct build *build, const struct lp_vit *vit, struct grid grid, lp_u128 count)
{
    lp_u128 patches = (lp_u128)grid.rows * grid.columns, tokens = patches + vit->class_tokens;
    uint64_t windowed = vit->window ? vit->layers - vit->global_layers : 0;
    struct attention global = { tokens, tokens, tokens, grid.rows, grid.columns };
    struct lp_operator *op;

    op = next(build, "patch_embed", vit->name, 1, lp_vit_input_parameters(vit));
    if (vit->embeds) {
        lp_u128 flops = 2 * patches * vit->width * vit->channels * vit->patch * vit->patch * count;

        add_flops(op, flops, flops);
        add_elements(build, op,
                     patches * count * (vit->width + vit->channels * vit->patch * vit->patch));
        lp_operator_product(op, 0, 1, patches * count, vit->width,
                            vit->channels * vit->patch * vit->patch);
    }
    if (windowed) {
        uint64_t w = vit->window;
        lp_u128 padded = (lp_u128)round_up(grid.rows, w) * round_up(grid.columns, w);
        struct attention local = { tokens, padded, (lp_u128)w * w, w, w };

        add_layers(build, vit, strcmp(vit->name, "sam") == 0 ? "sam_window" : "window", windowed,
                   &local, count);
    }
    if (vit->layers > windowed)
        add_layers(build, vit, vit->name, vit->layers - windowed, &global, count);
    if (vit->pre_norm || vit->post_norm) {
        lp_u128 norms = (vit->pre_norm ? 1U : 0U) + (vit->post_norm ? 1U : 0U);

        op = next(build, "final_norm", vit->name, 1, norms * 2 * vit->width);
        op->vector += norms * LAYER_NORM * tokens * vit->width * count;
        op->vectors += lp_dtype_bytes(op->dtype, 2 * norms * tokens * vit->width * count);
    }
}

static int too_small(const struct build *build, struct grid pixels)
{
    return lp_error(LLMPERF_EINVAL, "%s: an image of %" PRIu64 " x %" PRIu64 " is too small",
                    build->model->name, pixels.rows, pixels.columns);
}

static bool convolve(struct grid in, const struct lp_conv *conv, struct grid *out)
{
    if (in.rows + 2 * conv->padding < conv->kernel || in.columns + 2 * conv->padding < conv->kernel)
        return false;
    out->rows = (in.rows + 2 * conv->padding - conv->kernel) / conv->stride + 1;
    out->columns = (in.columns + 2 * conv->padding - conv->kernel) / conv->stride + 1;
    return true;
}

/* Parameters of all convolutions of a part, and number of convolutions. */
static lp_u128 part_parameters(const struct lp_vision *vision, const char *part, uint64_t *layers)
{
    lp_u128 sum = 0;

    *layers = 0;
    for (size_t i = 0; i < vision->convs.count; i++)
        if (strcmp(vision->convs.items[i].part, part) == 0) {
            sum += lp_conv_parameters(&vision->convs.items[i]);
            *layers += vision->convs.items[i].role != LP_CONV_POOL;
        }
    return sum;
}

static void add_conv(const struct build *build, struct lp_operator *op, const struct lp_conv *conv,
                     struct grid in, struct grid out, lp_u128 count)
{
    lp_u128 places = (lp_u128)out.rows * out.columns * count, flops;

    if (conv->role == LP_CONV_POOL)
        return;
    flops = 2 * places * conv->kernel * conv->kernel * conv->in * conv->out;
    add_flops(op, flops, flops);
    op->vector += places * conv->out * (conv->norm ? 3U : 1U);
    add_elements(build, op, places * conv->out + (lp_u128)in.rows * in.columns * count * conv->in);
    lp_operator_product(op, 0, 1, places, conv->out,
                        (lp_u128)conv->kernel * conv->kernel * conv->in);
}

/* The chain of convolutions; *grid is the size of its input, then of its output. */
static bool add_convs(struct build *build, struct grid *grid, lp_u128 count)
{
    const struct lp_vision *vision = build->vision;
    struct grid block = *grid, out;
    struct lp_operator *op = NULL;
    const char *part = "";

    for (size_t i = 0; i < vision->convs.count; i++) {
        const struct lp_conv *conv = &vision->convs.items[i];
        struct grid in = conv->role == LP_CONV_SHORTCUT ? block : *grid;
        uint64_t layers;

        if (!op || strcmp(part, conv->part) != 0) {
            lp_u128 parameters = part_parameters(vision, conv->part, &layers);

            part = conv->part;
            op = next(build, part, "conv", layers, parameters);
        }
        if (conv->block_start)
            block = *grid;
        if (!convolve(in, conv, &out))
            return false;
        add_conv(build, op, conv, in, out, count);
        if (conv->role != LP_CONV_SHORTCUT)
            *grid = out;
    }
    return true;
}

static void add_linear_head(struct build *build, lp_u128 rows)
{
    const struct lp_vision *vision = build->vision;
    lp_u128 in = vision->linear_in, out = vision->linear_out, flops = 2 * rows * in * out;
    struct lp_operator *op;

    if (!out)
        return;
    op = next(build, vision->linear_per_token ? "projector" : "classifier", "output", 1,
              in * out + (vision->linear_bias ? out : 0) + vision->special);
    add_flops(op, flops, flops);
    op->vector += vision->linear_bias ? rows * out : 0;
    add_elements(build, op, rows * (in + out));
    lp_operator_product(op, 0, 1, rows, out, in);
}

/* Token grid of a view. */
static int add_view(struct build *build, const struct view *view, struct grid *left_out)
{
    const struct lp_vision *vision = build->vision;
    struct grid grid = view->pixels;
    lp_u128 rows;

    build->next = 0;
    if (vision->vit.layers) {
        grid.rows /= vision->vit.patch;
        grid.columns /= vision->vit.patch;
        if (grid.rows == 0 || grid.columns == 0)
            return too_small(build, view->pixels);
        add_vit(build, &vision->vit, grid, view->count);
    }
    if (!add_convs(build, &grid, view->count))
        return too_small(build, view->pixels);
    if (vision->clip.layers)
        add_vit(build, &vision->clip, grid, view->count);
    rows = vision->pooled_tokens ? vision->pooled_tokens : (lp_u128)grid.rows * grid.columns;
    add_linear_head(build, (vision->linear_per_token ? rows : 1) * view->count);
    *left_out = grid;
    return 0;
}

static lp_u128 tokens_of(const struct lp_vision *vision, struct grid left)
{
    if (vision->pooled_tokens)
        return vision->pooled_tokens;
    if (vision->kind == LP_VISION_CONV)
        return 1;
    return (lp_u128)left.rows * left.columns +
           (vision->kind == LP_VISION_VIT ? vision->vit.class_tokens : 0);
}

static int check_view(const struct view *view)
{
    if (view->pixels.rows >= 1 && view->pixels.rows <= LP_LIMIT_PIXELS &&
        view->pixels.columns >= 1 && view->pixels.columns <= LP_LIMIT_PIXELS)
        return 0;
    return lp_error(LLMPERF_EINVAL,
                    "the image is %" PRIu64 " x %" PRIu64 " pixels; each side must be 1 to %d",
                    view->pixels.rows, view->pixels.columns, LP_LIMIT_PIXELS);
}

/* View of the whole image. DeepSeek-OCR ends each row and the view with a separator token. */
static int add_whole(struct build *build, uint64_t image)
{
    const llmperf_step *input = &build->step->input;
    const struct lp_vision *vision = build->vision;
    struct view view = { { vision->height, vision->width }, 1 };
    struct grid left;
    lp_u128 tokens;
    int status;

    if (input->image_heights)
        view.pixels.rows = view.pixels.columns = input->image_heights[image];
    if (input->image_widths)
        view.pixels.columns = input->image_widths[image];
    if ((status = check_view(&view)) < 0 || (status = add_view(build, &view, &left)) < 0)
        return status;
    tokens = tokens_of(vision, left);
    build->out->tokens += tokens;
    build->out->positions +=
        vision->kind == LP_VISION_SAM_CLIP ? (lp_u128)left.rows * (left.columns + 1) + 1 : tokens;
    return 0;
}

/* Views of the tiles side by side, with a separator token after each row of the combined grid. */
static int add_tiles(struct build *build, uint64_t rows, uint64_t columns)
{
    const llmperf_step *input = &build->step->input;
    struct view view = { { input->tile_pixels, input->tile_pixels }, (lp_u128)rows * columns };
    struct grid left;
    int status;

    if ((status = check_view(&view)) < 0 || (status = add_view(build, &view, &left)) < 0)
        return status;
    build->out->tokens += tokens_of(build->vision, left) * view.count;
    build->out->positions += build->vision->kind == LP_VISION_SAM_CLIP
                                 ? (lp_u128)rows * left.rows * (columns * (lp_u128)left.columns + 1)
                                 : tokens_of(build->vision, left) * view.count;
    return 0;
}

int lp_vision_work(const struct llmperf_model *model, const struct lp_step *step,
                   struct lp_operators *out)
{
    struct build build = { .model = model, .vision = &model->vision, .step = step, .out = out };
    const llmperf_step *input = &step->input;
    uint64_t views = 0;
    int status;

    out->experts_touched = NAN;
    out->tokens = out->positions = 0;
    if (input->images == 0 || input->images > VIEWS_MAX)
        return lp_error(LLMPERF_EINVAL,
                        "the vision step has %" PRIu64 " images; it must have 1 to %d",
                        input->images, VIEWS_MAX);
    if (!input->tile_rows != !input->tile_columns)
        return lp_error(LLMPERF_EINVAL, "tile_rows and tile_columns must be given together");
    for (uint64_t i = 0; i < input->images; i++) {
        uint64_t rows = input->tile_rows ? input->tile_rows[i] : 0;
        uint64_t columns = input->tile_columns ? input->tile_columns[i] : 0;

        if (rows > 1024 || columns > 1024 || (views += 1 + rows * columns) > VIEWS_MAX)
            return lp_error(LLMPERF_EINVAL, "more than 1024 tiles per side or %d views", VIEWS_MAX);
        if ((status = add_whole(&build, i)) < 0 ||
            (rows * columns > 0 && (status = add_tiles(&build, rows, columns)) < 0))
            return status;
    }
    return 0;
}

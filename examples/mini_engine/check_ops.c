/* SPDX-License-Identifier: Apache-2.0 */
/* Each operation of the GPU against the CPU's, at sizes that leave edges everywhere. Random inputs,
 * outputs poisoned. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define PART   ((size_t)8 << 20)
#define PARTS  12
#define FILLED ((size_t)2 << 20) /* bytes of each part that are written before a check */

/* The same places on both devices: inputs 0 to 4, outputs 5 to 8, scratch 9. Random bf16 in the
 * inputs. */
#define NUMBERS(i)  ((bf16 *)(base + (size_t)(i)*PART))
#define FLOATS(i)   ((float *)(base + (size_t)(i)*PART))
#define INTEGERS(i) ((int32_t *)(base + (size_t)(i)*PART))

struct sides {
    struct ops *cpu, *gpu;
    char *cpu_base, *gpu_base;
};

typedef void run_function(struct ops *ops, char *base);

enum kind { BF16, FLOAT };

static void prepare(struct ops *ops, char *base)
{
    static const int32_t positions[] = { 0, 36, 5, 199 };
    int32_t index[64];
    float *values = malloc(FILLED), poison = NAN;
    struct block all = { 1, FILLED / sizeof(bf16), FILLED / sizeof(bf16), 0 };

    if (!values)
        abort();
    for (int i = 0; i < 4; i++)
        ops->fill(ops, NUMBERS(i), all, 77 + (uint64_t)i, 1, 0);
    for (size_t i = 0; i < FILLED / sizeof(float); i++)
        values[i] = random_value(5, i, 2, 0);
    ops->put(ops, FLOATS(4), values, FILLED);
    for (size_t i = 0; i < FILLED / sizeof(float); i++)
        values[i] = poison;
    for (int i = 5; i < 10; i++)
        ops->put(ops, FLOATS(i), values, FILLED);
    for (int i = 0; i < 64; i++)
        index[i] = i % 7 == 3 ? -1 : (i * 13) % 50;
    ops->put(ops, INTEGERS(10), index, sizeof(index));
    ops->put(ops, INTEGERS(11), positions, sizeof(positions));
    free(values);
}

static void to_float(const char *from, enum kind kind, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        bf16 bits;

        memcpy(&bits, from + i * sizeof(bits), sizeof(bits));
        if (kind == BF16)
            out[i] = bf16_to_float(bits);
        else
            memcpy(&out[i], from + i * sizeof(float), sizeof(float));
    }
}

/* The first `count` numbers of part `out`. */
static void compare(struct sides *sides, const char *name, int out, enum kind kind, size_t count,
                    double tolerance)
{
    float *found = malloc(count * sizeof(*found)), *wanted = malloc(count * sizeof(*wanted));
    double *reference = malloc(count * sizeof(*reference)), error;
    char *raw = malloc(count * sizeof(float));

    if (!found || !wanted || !reference || !raw)
        abort();
    if (sides->gpu->get(sides->gpu, raw, sides->gpu_base + (size_t)out * PART,
                        count * (kind == BF16 ? sizeof(bf16) : sizeof(float))) < 0)
        printf("%s\n", sides->gpu->error);
    to_float(raw, kind, count, found);
    to_float(sides->cpu_base + (size_t)out * PART, kind, count, wanted);
    for (size_t i = 0; i < count; i++)
        reference[i] = (double)wanted[i];
    error = distance(found, reference, count);
    claim(error < tolerance, name, "relative error %.2e of %zu", error, count);
    free(found);
    free(wanted);
    free(reference);
    free(raw);
}

static void run_on_both(struct sides *sides, run_function *run)
{
    prepare(sides->cpu, sides->cpu_base);
    prepare(sides->gpu, sides->gpu_base);
    run(sides->cpu, sides->cpu_base);
    run(sides->gpu, sides->gpu_base);
}

static void check(struct sides *sides, const char *name, run_function *run, enum kind kind,
                  size_t count)
{
    run_on_both(sides, run);
    compare(sides, name, 5, kind, count, 5e-3);
}

static void linear(struct ops *ops, char *base)
{
    ops->linear(ops, (struct linear){ .y = NUMBERS(5),
                                      .x = NUMBERS(0),
                                      .w = NUMBERS(1),
                                      .bias = NUMBERS(2),
                                      .rows = 37,
                                      .in = 136,
                                      .out = 72 });
}

static void linear_added(struct ops *ops, char *base)
{
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(3),
                                  .images = 1,
                                  .count = 5,
                                  .width = 256,
                                  .y_stride = 256,
                                  .x_stride = 256 });
    ops->linear(ops, (struct linear){ .y = NUMBERS(5),
                                      .x = NUMBERS(0),
                                      .w = NUMBERS(1),
                                      .rows = 5,
                                      .in = 64,
                                      .out = 256,
                                      .add = 1 });
}

static void linear_to_float(struct ops *ops, char *base)
{
    ops->linear(ops, (struct linear){ .y_float = FLOATS(5),
                                      .x = NUMBERS(0),
                                      .w = NUMBERS(1),
                                      .rows = 3,
                                      .in = 128,
                                      .out = 1000 });
}

static void linear_uneven(struct ops *ops, char *base)
{
    ops->linear(ops, (struct linear){ .y_float = FLOATS(5),
                                      .x = NUMBERS(0),
                                      .w = NUMBERS(1),
                                      .bias = NUMBERS(2),
                                      .rows = 5,
                                      .in = 27,
                                      .out = 10 });
}

static void layer_norm(struct ops *ops, char *base)
{
    ops->norm(ops, (struct norm){ .y = NUMBERS(5),
                                  .x = NUMBERS(0),
                                  .weight = NUMBERS(1),
                                  .bias = NUMBERS(2),
                                  .rows = 19,
                                  .width = 300,
                                  .per_row = 1,
                                  .x_stride = 300,
                                  .y_stride = 300,
                                  .epsilon = 1e-6f });
}

static void rms_norm_of_parts(struct ops *ops, char *base)
{
    ops->norm(ops, (struct norm){ .y = NUMBERS(5),
                                  .x = NUMBERS(0),
                                  .weight = NUMBERS(1),
                                  .rows = 21,
                                  .width = 64,
                                  .per_row = 3,
                                  .x_stride = 500,
                                  .y_stride = 192,
                                  .epsilon = 1e-6f,
                                  .rms = 1 });
}

static void silu_times(struct ops *ops, char *base)
{
    ops->activate(
        ops, (struct activate){
                 .y = NUMBERS(5), .x = NUMBERS(0), .rows = 11, .width = 100, .kind = SILU_TIMES });
}

static void gelu(struct ops *ops, char *base)
{
    ops->activate(ops,
                  (struct activate){
                      .y = NUMBERS(5), .x = NUMBERS(0), .rows = 11, .width = 100, .kind = GELU });
}

static void quick_gelu(struct ops *ops, char *base)
{
    ops->activate(
        ops, (struct activate){
                 .y = NUMBERS(5), .x = NUMBERS(0), .rows = 11, .width = 100, .kind = QUICK_GELU });
}

static void gather(struct ops *ops, char *base)
{
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(3),
                                  .images = 1,
                                  .count = 64,
                                  .width = 40,
                                  .y_stride = 40,
                                  .x_stride = 40 });
    ops->gather(
        ops,
        (struct gather){
            .y = NUMBERS(5), .table = NUMBERS(1), .index = INTEGERS(10), .rows = 64, .width = 40 });
}

static void rows(struct ops *ops, char *base)
{
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(0),
                                  .images = 3,
                                  .count = 1,
                                  .width = 24,
                                  .y_stride = 8 * 24 });
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(1),
                                  .images = 3,
                                  .count = 7,
                                  .width = 24,
                                  .y_skip = 1,
                                  .y_stride = 24,
                                  .x_skip = 2,
                                  .x_stride = 24 });
}

static struct split heads(char *base)
{
    return (struct split){ .in = NUMBERS(0),
                           .q = NUMBERS(5),
                           .k = NUMBERS(6),
                           .v = NUMBERS(7),
                           .batch = 3,
                           .tokens = 5,
                           .heads = 4,
                           .kv_heads = 2,
                           .dim = 32,
                           .theta = 10000 };
}

static void split(struct ops *ops, char *base)
{
    struct split a = heads(base);

    a.positions = INTEGERS(11);
    a.cache_k = NUMBERS(8);
    a.cache_v = NUMBERS(9);
    a.capacity = 64;
    ops->split(ops, a);
    /* Behind q: keys and values, and all of one position of the cache. */
    ops->rows(
        ops, (struct rows){
                 .y = NUMBERS(5) + 1920, .x = NUMBERS(6), .images = 1, .count = 1, .width = 1920 });
    ops->rows(
        ops, (struct rows){
                 .y = NUMBERS(5) + 3840, .x = NUMBERS(7), .images = 1, .count = 1, .width = 1920 });
    ops->rows(ops,
              (struct rows){
                  .y = NUMBERS(5) + 5760, .x = NUMBERS(8), .images = 1, .count = 1, .width = 160 });
    ops->rows(ops, (struct rows){ .y = NUMBERS(5) + 5920,
                                  .x = NUMBERS(9) + (2 * 64 + 36) * 32,
                                  .images = 1,
                                  .count = 1,
                                  .width = 160 });
}

static void split_latent(struct ops *ops, char *base)
{
    ops->split_latent(ops, (struct split_latent){ .q_in = NUMBERS(0),
                                                  .expanded = NUMBERS(1),
                                                  .latent = NUMBERS(2),
                                                  .q = NUMBERS(5),
                                                  .k = NUMBERS(5) + 3 * 5 * 4 * 48,
                                                  .v = NUMBERS(5) + 2 * 3 * 5 * 4 * 48,
                                                  .cache_k = NUMBERS(8),
                                                  .cache_v = NUMBERS(9),
                                                  .positions = INTEGERS(11),
                                                  .batch = 3,
                                                  .tokens = 5,
                                                  .heads = 4,
                                                  .nope = 32,
                                                  .rope = 16,
                                                  .value = 24,
                                                  .rank = 40,
                                                  .capacity = 64,
                                                  .theta = 10000 });
}

static struct attend pictures(char *base)
{
    return (struct attend){ .out = NUMBERS(5),
                            .q = NUMBERS(0),
                            .k = NUMBERS(1),
                            .v = NUMBERS(2),
                            .scores = FLOATS(9),
                            .batch = 6,
                            .queries = 49,
                            .keys = 49,
                            .dim = 64,
                            .value = 32,
                            .scale = 0.125f };
}

static void attend_causal(struct ops *ops, char *base)
{
    struct attend a = pictures(base);

    a.causal = 1;
    ops->attend(ops, a);
}

static void attend_with_positions(struct ops *ops, char *base)
{
    struct attend a = pictures(base);

    a.grid = 7;
    a.bias_rows = FLOATS(4);
    a.bias_columns = FLOATS(4) + 6 * 49 * 7;
    ops->attend(ops, a);
}

static void attend_long(struct ops *ops, char *base)
{
    struct attend a = pictures(base);

    a.queries = a.keys = 605;
    a.batch = 5;
    ops->attend(ops, a);
}

static void attend_cache(struct ops *ops, char *base)
{
    ops->attend_cache(ops, (struct attend_cache){ .out = NUMBERS(5),
                                                  .q = NUMBERS(0),
                                                  .cache_k = NUMBERS(1),
                                                  .cache_v = NUMBERS(2),
                                                  .positions = INTEGERS(11),
                                                  .batch = 4,
                                                  .heads = 6,
                                                  .kv_heads = 2,
                                                  .dim = 128,
                                                  .value = 128,
                                                  .capacity = 200,
                                                  .scale = 0.2f });
}

static void attend_cache_wide(struct ops *ops, char *base)
{
    ops->attend_cache(ops, (struct attend_cache){ .out = NUMBERS(5),
                                                  .q = NUMBERS(0),
                                                  .cache_k = NUMBERS(1),
                                                  .cache_v = NUMBERS(2),
                                                  .positions = INTEGERS(11),
                                                  .batch = 4,
                                                  .heads = 3,
                                                  .kv_heads = 3,
                                                  .dim = 192,
                                                  .value = 128,
                                                  .capacity = 200,
                                                  .scale = 0.2f });
}

static void merge(struct ops *ops, char *base)
{
    ops->merge(
        ops,
        (struct merge){
            .out = NUMBERS(5), .in = NUMBERS(0), .batch = 2, .heads = 3, .tokens = 7, .dim = 40 });
}

static struct route choice(char *base, size_t tokens)
{
    return (struct route){ .logits = FLOATS(4),
                           .weights = FLOATS(5),
                           .chosen = INTEGERS(6),
                           .order = INTEGERS(7),
                           .starts = INTEGERS(8),
                           .tokens = tokens,
                           .experts = 40,
                           .choices = 6 };
}

static void route(struct ops *ops, char *base)
{
    ops->route(ops, choice(base, 100));
}

static void route_renormalised(struct ops *ops, char *base)
{
    struct route a = choice(base, 9);

    a.renormalise = 1;
    ops->route(ops, a);
}

/* The order within an expert is free, and does not show in the products. */
static void experts(struct ops *ops, char *base, size_t tokens)
{
    struct route a = choice(base, tokens);
    struct linear_experts b = { .y = NUMBERS(9),
                                .x = NUMBERS(0),
                                .w = NUMBERS(1),
                                .chosen = a.chosen,
                                .order = a.order,
                                .starts = a.starts,
                                .pairs = tokens * 6,
                                .per_x = 6,
                                .experts = 40,
                                .in = 136,
                                .out = 168 };

    ops->route(ops, a);
    ops->linear_experts(ops, b);
    b.x = b.y;
    b.y = NUMBERS(5);
    b.per_x = 1;
    b.in = 168;
    b.out = 72;
    ops->linear_experts(ops, b);
}

static void few_experts(struct ops *ops, char *base)
{
    experts(ops, base, 3);
}

static void many_experts(struct ops *ops, char *base)
{
    experts(ops, base, 333);
}

static void combine(struct ops *ops, char *base)
{
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(3),
                                  .images = 1,
                                  .count = 9,
                                  .width = 56,
                                  .y_stride = 56,
                                  .x_stride = 56 });
    ops->combine(ops, (struct combine){ .y = NUMBERS(5),
                                        .parts = NUMBERS(0),
                                        .weights = FLOATS(4),
                                        .tokens = 9,
                                        .choices = 3,
                                        .width = 56,
                                        .add = 1 });
}

static void combine_alone(struct ops *ops, char *base)
{
    ops->combine(ops, (struct combine){ .y = NUMBERS(5),
                                        .parts = NUMBERS(0),
                                        .weights = FLOATS(4),
                                        .tokens = 9,
                                        .choices = 3,
                                        .width = 56 });
}

/* The second half of each of 7 rows of 96. */
static void fill_part(struct ops *ops, char *base)
{
    ops->fill(ops, NUMBERS(5), (struct block){ 7, 48, 96, 48 }, 9, 1, 0);
}

static void unfold(struct ops *ops, char *base)
{
    ops->unfold(ops, (struct unfold){ .y = NUMBERS(5),
                                      .x = NUMBERS(0),
                                      .images = 2,
                                      .height = 9,
                                      .width = 11,
                                      .channels = 3,
                                      .kernel = 3,
                                      .stride = 2,
                                      .padding = 1,
                                      .y_stride = 32 });
}

static void windows(struct ops *ops, char *base)
{
    ops->windows(
        ops,
        (struct windows){
            .y = NUMBERS(5), .x = NUMBERS(0), .images = 2, .grid = 10, .window = 4, .width = 24 });
}

static void windows_merged(struct ops *ops, char *base)
{
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(3),
                                  .images = 1,
                                  .count = 200,
                                  .width = 24,
                                  .y_stride = 24,
                                  .x_stride = 24 });
    ops->windows(ops, (struct windows){ .y = NUMBERS(5),
                                        .x = NUMBERS(0),
                                        .images = 2,
                                        .grid = 10,
                                        .window = 4,
                                        .width = 24,
                                        .merge = 1 });
}

static void place(struct ops *ops, char *base)
{
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(3),
                                  .images = 1,
                                  .count = 2 * 50,
                                  .width = 24,
                                  .y_stride = 24,
                                  .x_stride = 24 });
    ops->place(ops, (struct place){ .x = NUMBERS(5),
                                    .table = NUMBERS(0),
                                    .images = 2,
                                    .grid = 7,
                                    .table_grid = 10,
                                    .width = 24,
                                    .skip = 1 });
}

static void relative(struct ops *ops, char *base)
{
    ops->relative(ops, (struct relative){ .rows = FLOATS(5),
                                          .columns = FLOATS(5) + 4 * 100 * 10,
                                          .q = NUMBERS(0),
                                          .row_table = NUMBERS(1),
                                          .column_table = NUMBERS(2),
                                          .batch = 4,
                                          .grid = 10,
                                          .table_grid = 16,
                                          .dim = 64 });
}

static void affine(struct ops *ops, char *base)
{
    ops->rows(ops, (struct rows){ .y = NUMBERS(5),
                                  .x = NUMBERS(3),
                                  .images = 1,
                                  .count = 20,
                                  .width = 24,
                                  .y_stride = 24,
                                  .x_stride = 24 });
    ops->affine(ops, (struct affine){ .x = NUMBERS(5),
                                      .scale = NUMBERS(0),
                                      .shift = NUMBERS(1),
                                      .add = NUMBERS(2),
                                      .rows = 20,
                                      .width = 24,
                                      .relu = 1 });
}

static void mean(struct ops *ops, char *base)
{
    ops->mean(ops, (struct mean){
                       .y = NUMBERS(5), .x = NUMBERS(0), .images = 3, .count = 400, .width = 24 });
}

/* A NaN of the poison must not stay: tokens and positions start as integers. */
static void sample(struct ops *ops, char *base)
{
    ops->sample(ops, (struct sample){ .logits = FLOATS(4),
                                      .tokens = INTEGERS(5),
                                      .positions = INTEGERS(11),
                                      .batch = 3,
                                      .vocabulary = 100003,
                                      .advance = 2 });
}

static void check_integers(struct sides *sides, const char *name, int part, size_t count)
{
    int32_t found[1024];

    sides->gpu->get(sides->gpu, found, sides->gpu_base + (size_t)part * PART,
                    count * sizeof(found[0]));
    claim(memcmp(found, sides->cpu_base + (size_t)part * PART, count * sizeof(found[0])) == 0, name,
          "%zu integers, first %d", count, found[0]);
}

static void check_choices(struct sides *sides)
{
    run_on_both(sides, route);
    compare(sides, "weights_of_experts", 5, FLOAT, 600, 1e-5);
    check_integers(sides, "chosen_experts", 6, 600);
    check_integers(sides, "starts_of_experts", 8, 41);
    run_on_both(sides, route_renormalised);
    compare(sides, "renormalised_weights_of_experts", 5, FLOAT, 54, 1e-5);
    run_on_both(sides, sample);
    check_integers(sides, "sampled_tokens", 5, 3);
    check_integers(sides, "advanced_positions", 11, 3);
}

static void check_each(struct sides *sides)
{
    check(sides, "product_with_bias", linear, BF16, 37 * 72);
    check(sides, "product_added", linear_added, BF16, 5 * 256);
    check(sides, "product_to_float", linear_to_float, FLOAT, 3000);
    check(sides, "product_of_uneven_width", linear_uneven, FLOAT, 50);
    check(sides, "layer_norm", layer_norm, BF16, 19 * 300);
    check(sides, "rms_norm_of_parts_of_rows", rms_norm_of_parts, BF16, 21 * 64);
    check(sides, "silu_times", silu_times, BF16, 1100);
    check(sides, "gelu", gelu, BF16, 1100);
    check(sides, "quick_gelu", quick_gelu, BF16, 1100);
    check(sides, "gather_leaves_negative_rows", gather, BF16, 64 * 40);
    check(sides, "rows_behind_a_class_token", rows, BF16, 3 * 8 * 24);
    check(sides, "split_heads_and_cache", split, BF16, 6080);
    check(sides, "split_latent_heads", split_latent, BF16, 3 * 5 * 4 * (48 + 48 + 24));
    check(sides, "attend_causal", attend_causal, BF16, 6 * 49 * 32);
    check(sides, "attend_with_relative_positions", attend_with_positions, BF16, 6 * 49 * 32);
    check(sides, "attend_many_keys", attend_long, BF16, 5 * 605 * 32);
    check(sides, "attend_cache", attend_cache, BF16, 4 * 6 * 128);
    check(sides, "attend_cache_of_wide_keys", attend_cache_wide, BF16, 4 * 3 * 128);
    check(sides, "merge_heads", merge, BF16, 2 * 3 * 7 * 40);
    check(sides, "experts_of_few_tokens", few_experts, BF16, 18 * 72);
    check(sides, "experts_of_many_tokens", many_experts, BF16, 333 * 6 * 72);
    check(sides, "combine_experts", combine, BF16, 9 * 56);
    check(sides, "combine_experts_onto_nothing", combine_alone, BF16, 9 * 56);
    check(sides, "fill_a_part_of_a_tensor", fill_part, BF16, 7 * 48);
    check(sides, "unfold_with_stride_and_padding", unfold, BF16, 2 * 5 * 6 * 32);
    check(sides, "windows_with_a_rim", windows, BF16, 2 * 9 * 16 * 24);
    check(sides, "windows_merged", windows_merged, BF16, 2 * 100 * 24);
    check(sides, "interpolated_positions", place, BF16, 2 * 50 * 24);
    check(sides, "relative_positions", relative, FLOAT, 2 * 4 * 100 * 10);
    check(sides, "affine_of_a_sum", affine, BF16, 20 * 24);
    check(sides, "mean_of_rows", mean, BF16, 72);
    check_choices(sides);
}

void check_ops(void)
{
    struct sides sides = { ops_cpu_open(), ops_open(0), NULL, NULL };

    if (!sides.cpu || !sides.gpu ||
        sides.cpu->reserve(sides.cpu, PARTS * PART, (void **)&sides.cpu_base) < 0 ||
        sides.gpu->reserve(sides.gpu, PARTS * PART, (void **)&sides.gpu_base) < 0) {
        claim(0, "devices_open", "out of memory");
        return;
    }
    check_each(&sides);
    sides.gpu->destroy(sides.gpu);
    sides.cpu->destroy(sides.cpu);
}

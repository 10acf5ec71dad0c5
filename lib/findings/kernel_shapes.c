/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/kernel_shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/findings.h"
#include "lib/findings/limits/achievable.h"
#include "lib/findings/stage_shapes.h"
#include "lib/hardware/occupancy.h"
#include "lib/profile/fields.h"
#include "llmperf/sys/hardware.h"

/* Of the GPU that the findings are about; without data all is 0. */
struct gpu {
    struct lp_sm_limits sm;
    double sms;
};

static void read_gpu(struct gpu *gpu, const llmperf_hardware *hardware)
{
    llmperf_hardware_value sms = LLMPERF_HARDWARE_VALUE_INIT;

    *gpu = (struct gpu){ .sms = 0 };
    if (!hardware || llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_SMS, &sms) < 0 ||
        !(sms.value >= 1) || lp_sm_limits_read(llmperf_hardware_capability(hardware), &gpu->sm) < 0)
        return;
    gpu->sms = sms.value;
}

static bool is_known(const llmperf_kernel_shape *row)
{
    return row->grid_x != LLMPERF_UNKNOWN && row->grid_y != LLMPERF_UNKNOWN &&
           row->grid_z != LLMPERF_UNKNOWN && row->block_x != LLMPERF_UNKNOWN &&
           row->block_y != LLMPERF_UNKNOWN && row->block_z != LLMPERF_UNKNOWN &&
           row->registers != LLMPERF_UNKNOWN && row->static_shared_bytes != LLMPERF_UNKNOWN &&
           row->dynamic_shared_bytes != LLMPERF_UNKNOWN;
}

static void apply(const struct gpu *gpu, llmperf_kernel_shape *row)
{
    const struct lp_block block = { row->block_x * row->block_y * row->block_z, row->registers,
                                    row->static_shared_bytes + row->dynamic_shared_bytes };
    uint64_t blocks = lp_blocks_per_sm(&gpu->sm, &block);

    if (blocks == 0)
        return;
    row->blocks_per_sm = blocks;
    row->occupancy = (double)(blocks * lp_block_warps(&block)) / gpu->sm.warps;
    row->waves = (double)row->grid_x * (double)row->grid_y * (double)row->grid_z /
                 (gpu->sms * (double)blocks);
    row->tail_share = 1 - row->waves / ceil(row->waves);
}

/* A memcpy as the sweep calls it: "htod_pinned"; "" for others. */
static void name_copy(const llmperf_kernel_shape *row, char name[16])
{
    bool in = strstr(row->name, "HtoD") != NULL, out = strstr(row->name, "DtoH") != NULL;
    const char *memory = in ? row->source : row->destination;

    name[0] = '\0';
    if (strstr(row->name, "DtoD"))
        snprintf(name, 16, "dtod");
    else if ((in || out) && memory &&
             (strcmp(memory, "pinned") == 0 || strcmp(memory, "pageable") == 0))
        snprintf(name, 16, "%s_%s", in ? "htod" : "dtoh", memory);
}

/* At the rate of the nearest larger memcpy that was measured, but no faster than the smallest. */
static void set_copy_rates(const struct lp_findings *findings, llmperf_kernel_shape *row)
{
    uint64_t bytes = row->calls > 0 && row->bytes != LLMPERF_UNKNOWN ? row->bytes / row->calls : 0;
    const struct lp_sweep_point *point, *least;
    const struct lp_sweep *sweep;
    const char *source = NULL;
    char name[16];

    if (bytes == 0 || !(row->mean_ms > 0))
        return;
    row->gbs = (double)bytes / row->mean_ms / 1e6;
    name_copy(row, name);
    sweep = lp_findings_describes(findings, row->device)
                ? lp_measured_sweep(&findings->limits, &source)
                : NULL;
    if (!sweep || !(point = lp_sweep_nearest(sweep, name, bytes, 1, 1)))
        return;
    least = lp_sweep_nearest(sweep, name, 1, 1, 1);
    row->achievable_ms =
        fmax((double)point->ns * (double)bytes / (double)point->m, (double)least->ns) / 1e6;
    row->achievable_source = source;
}

static void set_rates(const struct lp_findings *findings, llmperf_kernel_shape *row)
{
    struct lp_achievable achievable = { LP_ACHIEVABLE, NULL };

    if (row->kind == LLMPERF_ACTIVITY_MEMCPY)
        set_copy_rates(findings, row);
    if (!(row->call_flops > 0) || !(row->mean_ms > 0))
        return;
    row->tflops = row->call_flops / row->mean_ms / 1e9;
    row->gbs = row->call_bytes / row->mean_ms / 1e6;
    if (!lp_findings_describes(findings, row->device))
        return;
    if (row->head_dim != LLMPERF_UNKNOWN) {
        row->achievable_ms = lp_achievable_attention(&findings->limits, row->dtype, row->call_flops,
                                                     row->call_bytes, &row->achievable_source);
        return;
    }
    achievable = row->batch == 1
                     ? lp_achievable_product(&findings->limits, row->dtype, row->m, row->n, row->k)
                     : achievable;
    row->achievable_ms =
        lp_bound_ms(&findings->limits, row->dtype, row->call_flops, row->call_bytes) /
        achievable.share;
    if (!isnan(row->achievable_ms))
        row->achievable_source =
            achievable.source ? achievable.source : "80 % of the bound, assumed";
}

int lp_kernel_shapes_init(struct lp_kernel_shapes *shapes, const struct lp_findings *findings)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_KERNEL_SHAPE);
    struct gpu gpu;

    if (count == 0)
        return 0;
    if (lp_vector_reserve(&shapes->rows, count) < 0)
        return LLMPERF_ENOMEM;
    read_gpu(&gpu, findings->limits.hardware);
    shapes->rows.count = count;
    for (size_t i = 0; i < count; i++) {
        const llmperf_kernel_shape *row = lp_row_at(findings->profile, LP_ROW_KERNEL_SHAPE, i);

        shapes->rows.items[i] = *row;
        if (is_known(row) && lp_findings_describes(findings, row->device))
            apply(&gpu, &shapes->rows.items[i]);
    }
    if (lp_stage_shapes_find(findings, shapes->rows.items, count, (uint64_t)gpu.sms) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < count; i++)
        set_rates(findings, &shapes->rows.items[i]);
    return 0;
}

double lp_shape_filled(const llmperf_kernel_shape *shape)
{
    return shape->waves * (double)shape->blocks_per_sm; /* NaN: not known */
}

static bool has_short_name(const llmperf_kernel_shape *row, const char *short_name)
{
    struct lp_text brief = { NULL, 0, 0, false };
    bool has;

    lp_kernel_short_name(&brief, row->name);
    has = brief.bytes && !brief.failed && strcmp(brief.bytes, short_name) == 0;
    lp_text_clear(&brief);
    return has;
}

const llmperf_kernel_shape *lp_kernel_shape_find(const struct lp_kernel_shapes *shapes,
                                                 const char *stage, const char *label,
                                                 const char *short_name)
{
    const llmperf_kernel_shape *best = NULL;

    for (size_t i = 0; i < shapes->rows.count; i++) {
        const llmperf_kernel_shape *row = &shapes->rows.items[i];

        if (row->kind == LLMPERF_ACTIVITY_KERNEL && row->region &&
            lp_region_is_in(row->region, stage) && (!best || row->total_ms > best->total_ms) &&
            lp_text_same(lp_label_in_stage(row->region, row->captured_in, stage), label) &&
            has_short_name(row, short_name))
            best = row;
    }
    return best;
}

static void put_mean(double mean, struct lp_text *out)
{
    if (mean == floor(mean))
        lp_text_printf(out, "%.0f x ", mean);
    else
        lp_text_printf(out, "%s x ", LP_NUMBER(mean, 4));
}

void lp_kernel_shape_size(const llmperf_kernel_shape *row, struct lp_text *out)
{
    if (row->head_dim != LLMPERF_UNKNOWN) {
        put_mean(row->sequences, out);
        lp_text_printf(out, "%" PRIu64 " heads x ", row->heads);
        put_mean(row->query_length, out);
        put_mean(row->kv_length, out);
        lp_text_printf(out, "%" PRIu64, row->head_dim);
        return;
    }
    if (row->batch > 1)
        lp_text_printf(out, "%" PRIu64 " of ", row->batch);
    lp_text_printf(out, "%" PRIu64 " x %" PRIu64 " x %" PRIu64, row->m, row->n, row->k);
}

void lp_kernel_shape_words(const llmperf_kernel_shape *row, struct lp_text *out)
{
    if (row->m == LLMPERF_UNKNOWN && row->head_dim == LLMPERF_UNKNOWN)
        return;
    lp_kernel_shape_size(row, out);
    if (isnan(row->tflops))
        return;
    lp_text_printf(out, " at %s TFLOP/s and %s GB/s", LP_NUMBER(row->tflops, 3),
                   LP_NUMBER(row->gbs, 3));
    if (!isnan(row->achievable_ms))
        lp_text_printf(out, ", %.0f %% of what is achievable (%s)",
                       100 * row->achievable_ms / row->mean_ms, row->achievable_source);
}

void lp_kernel_shapes_clear(struct lp_kernel_shapes *shapes)
{
    lp_vector_clear(&shapes->rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/kernels/kernel_amounts.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/vector.h"

#define TERMS_EACH 3

/* What a set of metrics measures. FLOPs of one kind have the same peak. */
enum kind { TIME, BYTES, BF16, FP16, FP8, FP4, TF32, FP64_TENSOR, FP32, FP64, KINDS };
#define FIRST_TENSOR BF16
#define LAST_TENSOR  FP64_TENSOR

static const char *const dtypes[KINDS] = { NULL,  NULL,   "bf16",    "fp16", "fp8",
                                           "fp4", "tf32", "fp64_tc", "fp32", "fp64" };

#define SASS(unit, op) unit "__sass_thread_inst_executed_op_" op "_pred_on"
#define TENSOR(types)  "sm__ops_path_tensor_src_" types

/* An amount is the sum of the terms of a line. Per kind, the best line comes first. Metrics of ncu
 * are listed without their suffix. */
static const struct {
    enum kind kind;
    struct {
        const char *base;
        double factor;
    } terms[TERMS_EACH];
} alternatives[] = {
    { TIME, { { "gpu_time", 1 } } },
    { TIME, { { "gpu__time_duration", 1 } } },
    { TIME, { { "Duration", 1 } } },
    { BYTES, { { "dram_read_bytes", 1 }, { "dram_write_bytes", 1 } } },
    { BYTES, { { "dram__bytes_read", 1 }, { "dram__bytes_write", 1 } } },
    { BYTES, { { "dram__bytes_op_read", 1 }, { "dram__bytes_op_write", 1 } } },
    { BYTES, { { "dram__bytes", 1 } } },
    { BF16, { { "tensor_flops_bf16", 1 } } },
    { BF16, { { TENSOR("bf16_dst_fp32"), 1 } } },
    { FP16, { { "tensor_flops_fp16", 1 } } },
    { FP16, { { TENSOR("fp16"), 1 } } },
    { FP16, { { TENSOR("fp16_dst_fp32"), 1 }, { TENSOR("fp16_dst_fp16"), 1 } } },
    { FP8, { { "tensor_flops_fp8", 1 } } },
    { FP8, { { TENSOR("fp8"), 1 } } },
    { FP8, { { TENSOR("fp8_dst_fp32"), 1 }, { TENSOR("fp8_dst_fp16"), 1 } } },
    { FP4, { { "tensor_flops_fp4", 1 } } },
    { FP4, { { TENSOR("fp4_dst_fp32"), 1 } } },
    { TF32, { { "tensor_flops_tf32", 1 } } },
    { TF32, { { TENSOR("tf32_dst_fp32"), 1 } } },
    { FP64_TENSOR, { { "tensor_flops_fp64", 1 } } },
    { FP64_TENSOR, { { TENSOR("fp64"), 1 } } },
    { FP32, { { "flops_fp32", 1 } } },
    { FP32, { { SASS("sm", "fadd"), 1 }, { SASS("sm", "fmul"), 1 }, { SASS("sm", "ffma"), 2 } } },
    { FP32,
      { { SASS("smsp", "fadd"), 1 }, { SASS("smsp", "fmul"), 1 }, { SASS("smsp", "ffma"), 2 } } },
    { FP64, { { "flops_fp64", 1 } } },
    { FP64, { { SASS("sm", "dadd"), 1 }, { SASS("sm", "dmul"), 1 }, { SASS("sm", "dfma"), 2 } } },
    { FP64,
      { { SASS("smsp", "dadd"), 1 }, { SASS("smsp", "dmul"), 1 }, { SASS("smsp", "dfma"), 2 } } },
};

/* Suffixes of ncu's metrics: total, per cycle, per second. */
enum form { SUM, PER_CYCLE, PER_SECOND };
static const char *const forms[LP_AMOUNT_FORMS] = { ".sum", ".sum.per_cycle_elapsed",
                                                    ".sum.per_second" };
static const char cycles[] = "smsp__cycles_elapsed.avg";

/* -1: none of these suffixes. */
static int form_of(const char *behind)
{
    if (*behind == '\0')
        return SUM;
    for (int form = SUM; form < LP_AMOUNT_FORMS; form++)
        if (strcmp(behind, forms[form]) == 0)
            return form;
    return -1;
}

static bool is_base(const char *base, const char *metric, size_t length)
{
    return base && strncmp(base, metric, length) == 0 && base[length] == '\0';
}

void lp_kernel_amounts_add(struct lp_kernel_amounts *amounts, const llmperf_metric_stats *metric)
{
    size_t length = strcspn(metric->name, ".");
    int form = form_of(metric->name + length);
    double count = (double)metric->count;

    static_assert(LP_LENGTH(alternatives) * TERMS_EACH <= LP_AMOUNT_TERMS, "terms have room");
    if (metric->count == 0 || isnan(metric->mean))
        return;
    if (strcmp(metric->name, cycles) == 0) {
        amounts->cycles_sum += metric->mean * count;
        amounts->cycles_count += count;
    }
    for (size_t i = 0; form >= 0 && i < LP_LENGTH(alternatives); i++)
        for (size_t t = 0; t < TERMS_EACH; t++)
            if (is_base(alternatives[i].terms[t].base, metric->name, length)) {
                size_t at = i * TERMS_EACH + t;

                amounts->terms[at][form].sum += metric->mean * count;
                amounts->terms[at][form].count += count;
                amounts->source = metric->source;
            }
}

static double mean_of(const struct lp_kernel_amounts *amounts, size_t at, enum form form)
{
    return amounts->terms[at][form].count > 0
               ? amounts->terms[at][form].sum / amounts->terms[at][form].count
               : (double)NAN;
}

/* A term for one call, from the first suffix that was measured. */
static double amount_of(const struct lp_kernel_amounts *amounts, size_t at, double time_ns)
{
    double value = mean_of(amounts, at, SUM);

    if (isnan(value) && amounts->cycles_count > 0)
        value = mean_of(amounts, at, PER_CYCLE) * amounts->cycles_sum / amounts->cycles_count;
    if (isnan(value))
        value = mean_of(amounts, at, PER_SECOND) * time_ns / 1e9;
    return value;
}

static double kind_of(const struct lp_kernel_amounts *amounts, enum kind kind, double time_ns)
{
    for (size_t i = 0; i < LP_LENGTH(alternatives); i++) {
        double value = 0;

        if (alternatives[i].kind != kind)
            continue;
        for (size_t t = 0; t < TERMS_EACH && alternatives[i].terms[t].base; t++)
            value +=
                alternatives[i].terms[t].factor * amount_of(amounts, i * TERMS_EACH + t, time_ns);
        if (!isnan(value))
            return value;
    }
    return NAN;
}

void lp_kernel_amounts_read(const struct lp_kernel_amounts *amounts,
                            struct lp_kernel_counted *counted)
{
    double most = 0, sum = 0;
    bool tensor = false, vector = false;

    *counted = (struct lp_kernel_counted){ .time_ns = kind_of(amounts, TIME, NAN) };
    counted->bytes = kind_of(amounts, BYTES, counted->time_ns);
    for (enum kind kind = FIRST_TENSOR; kind < KINDS; kind++) {
        double flops = kind_of(amounts, kind, counted->time_ns);

        if (isnan(flops))
            continue;
        tensor |= kind <= LAST_TENSOR;
        vector |= kind == FP32;
        sum += flops;
        if (flops > most) {
            most = flops;
            counted->dtype = dtypes[kind];
        }
    }
    /* FLOPs are not known unless all kinds were counted: they may be of another kind. */
    counted->flops = sum > 0 || (tensor && vector) ? sum : (double)NAN;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/base/dtype.h"
#include "lib/base/status.h"
#include "llmperf/model.h"
#include "llmperf/sys/hardware.h"

/* Formats of weights, indexed by LLMPERF_DTYPE_…, then dtypes that are not weight formats. Sizes of
 * 4-bit to 8-bit blocks include their scales: 20 bits for 128 weights in AWQ and GPTQ, an E4M3
 * scale for 16 in nvfp4, an E8M0 scale for 32 in mxfp4, an fp32 scale for 64 in NF4; ggml's block
 * structs for the Q ones. */
static const struct lp_dtype dtypes[] = {
    [LLMPERF_DTYPE_DEFAULT] = { "default", NULL, LP_PEAKS, 0, 0, false, false },
    [LLMPERF_DTYPE_FP32] = { "fp32", " float32 float ", LP_PEAK_FP32, 4, 1, false, true },
    [LLMPERF_DTYPE_BF16] = { "bf16", " bfloat16 ", LP_PEAK_BF16, 2, 1, false, true },
    [LLMPERF_DTYPE_FP16] = { "fp16", " float16 half ", LP_PEAK_FP16, 2, 1, false, true },
    [LLMPERF_DTYPE_FP8] = { "fp8", " fp8_tensor float8_e4m3fn float8_e5m2 fp8_e4m3 fp8_e5m2 ",
                            LP_PEAK_FP8, 1, 1, true, true },
    [LLMPERF_DTYPE_FP8_BLOCK128] = { "fp8_block128", NULL, LP_PEAK_FP8, 4097, 4096, true, false },
    [LLMPERF_DTYPE_INT8] = { "int8", " int8_chan ", LP_PEAK_INT8, 1, 1, true, true },
    [LLMPERF_DTYPE_INT4_G128] = { "int4_g128", " int4 ", LP_PEAKS, 133, 256, true, false },
    [LLMPERF_DTYPE_NVFP4] = { "nvfp4", NULL, LP_PEAK_FP4, 9, 16, true, true },
    [LLMPERF_DTYPE_MXFP4] = { "mxfp4", NULL, LP_PEAK_FP4, 17, 32, true, true },
    [LLMPERF_DTYPE_NF4] = { "nf4", NULL, LP_PEAKS, 9, 16, true, false },
    [LLMPERF_DTYPE_Q4_0] = { "q4_0", NULL, LP_PEAKS, 18, 32, true, true },
    [LLMPERF_DTYPE_Q4_K] = { "q4_k", NULL, LP_PEAKS, 144, 256, true, false },
    [LLMPERF_DTYPE_Q6_K] = { "q6_k", NULL, LP_PEAKS, 210, 256, true, false },
    [LLMPERF_DTYPE_Q8_0] = { "q8_0", NULL, LP_PEAKS, 34, 32, true, true },
    [LLMPERF_DTYPE_INT4_G64] = { "int4_g64", NULL, LP_PEAKS, 69, 128, true, false },
    [LLMPERF_DTYPE_INT4_G32] = { "int4_g32", NULL, LP_PEAKS, 37, 64, true, false },
    [LLMPERF_DTYPE_INT4_CHANNEL] = { "int4_channel", NULL, LP_PEAKS, 1, 2, true, false },
    [LLMPERF_DTYPE_INT4_G32_SYM] = { "int4_g32_sym", NULL, LP_PEAKS, 9, 16, true, false },
    { "fp64", " float64 double ", LP_PEAK_FP64, 0, 0, false, false },
    { "fp64_tc", " fp64_tensor ", LP_PEAK_FP64_TC, 0, 0, false, false },
    { "tf32", NULL, LP_PEAK_TF32, 0, 0, false, false },
    { "fp6", NULL, LP_PEAK_FP8, 0, 0, false, false },
    { "fp4", " float4_e2m1fn ", LP_PEAK_FP4, 0, 0, false, false },
    { "w4a16", NULL, LP_PEAKS, 0, 0, false, false },
};
#define DTYPES (sizeof(dtypes) / sizeof(dtypes[0]))

static const char *const peaks[LP_PEAKS] = { "fp64", "fp64_tc", "fp32", "tf32", "fp16",
                                             "bf16", "fp8",     "int8", "fp4" };

static bool is_named(const struct lp_dtype *dtype, const char *name)
{
    char word[40];

    snprintf(word, sizeof(word), " %.37s ", name);
    return strcmp(dtype->name, name) == 0 ||
           (dtype->aliases && !strchr(name, ' ') && strstr(dtype->aliases, word));
}

static const struct lp_dtype *find_name(const char *name)
{
    for (size_t i = LLMPERF_DTYPE_DEFAULT + 1; i < DTYPES; i++)
        if (is_named(&dtypes[i], name))
            return &dtypes[i];
    return NULL;
}

const struct lp_dtype *lp_dtype(uint32_t dtype)
{
    return dtype < DTYPES && dtypes[dtype].numerator > 0 ? &dtypes[dtype] : NULL;
}

const char *lp_dtype_name(uint32_t dtype)
{
    if (dtype == LLMPERF_DTYPE_DEFAULT)
        return dtypes[dtype].name;
    return lp_dtype(dtype) ? dtypes[dtype].name : "unknown";
}

lp_u128 lp_dtype_bytes(uint32_t dtype, lp_u128 elements)
{
    const struct lp_dtype *format = lp_dtype(dtype);

    return (elements * format->numerator + format->denominator - 1) / format->denominator;
}

/* "a, b or c" of formats of weights, or of peaks. */
static const char *list(char *text, size_t size, bool formats)
{
    const char *name, *next;
    size_t used = 0;

    for (uint32_t i = formats ? 1 : 0; used < size; i++) {
        name = formats ? (lp_dtype(i) ? dtypes[i].name : NULL) : llmperf_hardware_dtype(i);
        next = formats ? (lp_dtype(i + 1) ? "" : NULL) : llmperf_hardware_dtype(i + 1);
        if (!name)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used == 0 ? ""
                                 : next    ? ", "
                                           : " or ",
                                 name);
    }
    return text;
}

int llmperf_dtype_find(const char *name, uint32_t *dtype_out)
{
    const struct lp_dtype *found = name ? find_name(name) : NULL;
    char names[256];

    if (!name || !dtype_out)
        return lp_error(LLMPERF_EINVAL, "name and dtype_out are required");
    if (!found || found->numerator == 0)
        return lp_error(LLMPERF_EINVAL, "unknown dtype \"%.40s\"; use %s", name,
                        list(names, sizeof(names), true));
    *dtype_out = (uint32_t)(found - dtypes);
    return 0;
}

int lp_peak_find(const char *name)
{
    const struct lp_dtype *found = find_name(name);

    return found && found->peak < LP_PEAKS ? found->peak : -1;
}

int lp_peak_read(const char *name)
{
    const struct lp_dtype *found = find_name(name);
    char names[128];

    if (!found)
        return lp_error(LLMPERF_EINVAL, "unknown dtype %.40s; use %s", name,
                        list(names, sizeof(names), false));
    if (found->peak == LP_PEAKS)
        return lp_error(LLMPERF_EINVAL,
                        "weights in %s are computed in the dtype of their activations: use the "
                        "peak of that dtype (bf16, fp16 or fp8)",
                        name);
    return found->peak;
}

bool lp_peak_is_tensor(int peak)
{
    return peak != LP_PEAK_FP64 && peak != LP_PEAK_FP64_TC && peak != LP_PEAK_FP32;
}

const char *llmperf_hardware_dtype(size_t index)
{
    return index < LP_PEAKS ? peaks[index] : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/hardware/dtype.h"
#include "lib/base/status.h"
#include "llmperf/sys/analysis.h"

/* At the index of LLMPERF_DTYPE_…. Sizes of the 4-bit to 8-bit blocks are those of the formats' own
 * layouts, scales included: 20 bits for 128 weights in AWQ and GPTQ, an E4M3 scale for 16 in nvfp4,
 * an E8M0 scale for 32 in mxfp4, an fp32 scale for 64 in NF4; ggml's block structs for the Q ones.
 */
static const struct lp_dtype dtypes[] = {
    [LLMPERF_DTYPE_FP32] = { 4, 1, false, true },
    [LLMPERF_DTYPE_BF16] = { 2, 1, false, true },
    [LLMPERF_DTYPE_FP16] = { 2, 1, false, true },
    [LLMPERF_DTYPE_FP8] = { 1, 1, true, true },
    [LLMPERF_DTYPE_FP8_BLOCK128] = { 4097, 4096, true, false },
    [LLMPERF_DTYPE_INT8] = { 1, 1, true, true },
    [LLMPERF_DTYPE_INT4_G128] = { 133, 256, true, false },
    [LLMPERF_DTYPE_NVFP4] = { 9, 16, true, true },
    [LLMPERF_DTYPE_MXFP4] = { 17, 32, true, true },
    [LLMPERF_DTYPE_NF4] = { 9, 16, true, false },
    [LLMPERF_DTYPE_Q4_0] = { 18, 32, true, true },
    [LLMPERF_DTYPE_Q4_K] = { 144, 256, true, false },
    [LLMPERF_DTYPE_Q6_K] = { 210, 256, true, false },
    [LLMPERF_DTYPE_Q8_0] = { 34, 32, true, true },
};
#define DTYPES (sizeof(dtypes) / sizeof(dtypes[0]))

static const struct {
    const char *name;
    uint32_t dtype;
} aliases[] = {
    { "float32", LLMPERF_DTYPE_FP32 },      { "float", LLMPERF_DTYPE_FP32 },
    { "bfloat16", LLMPERF_DTYPE_BF16 },     { "float16", LLMPERF_DTYPE_FP16 },
    { "half", LLMPERF_DTYPE_FP16 },         { "fp8_tensor", LLMPERF_DTYPE_FP8 },
    { "float8_e4m3fn", LLMPERF_DTYPE_FP8 }, { "fp8_e4m3", LLMPERF_DTYPE_FP8 },
    { "fp8_e5m2", LLMPERF_DTYPE_FP8 },      { "int8_chan", LLMPERF_DTYPE_INT8 },
    { "int4", LLMPERF_DTYPE_INT4_G128 },
};

const struct lp_dtype *lp_dtype(uint32_t dtype)
{
    return dtype < DTYPES && dtypes[dtype].numerator > 0 ? &dtypes[dtype] : NULL;
}

lp_u128 lp_dtype_bytes(uint32_t dtype, lp_u128 elements)
{
    const struct lp_dtype *format = lp_dtype(dtype);

    return (elements * format->numerator + format->denominator - 1) / format->denominator;
}

int llmperf_dtype_find(const char *name, uint32_t *dtype_out)
{
    if (!name || !dtype_out)
        return lp_error(LLMPERF_EINVAL, "name and dtype_out are required");
    for (uint32_t i = 0; i < DTYPES; i++)
        if (lp_dtype(i) && strcmp(llmperf_name(LLMPERF_NAME_DTYPE, i), name) == 0) {
            *dtype_out = i;
            return 0;
        }
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(aliases[i].name, name) == 0) {
            *dtype_out = aliases[i].dtype;
            return 0;
        }
    return lp_error(LLMPERF_EINVAL,
                    "unknown dtype \"%.40s\"; use fp32, bf16, fp16, fp8, fp8_block128, int8, "
                    "int4_g128, nvfp4, mxfp4, nf4, q4_0, q4_k, q6_k or q8_0",
                    name);
}

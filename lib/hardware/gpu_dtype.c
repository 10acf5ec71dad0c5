/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/hardware/gpu_dtype.h"
#include "llmperf/hardware.h"
#include "llmperf/sys/hardware.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const dtypes[LP_PEAKS] = { "fp64", "fp64_tc", "fp32", "tf32", "fp16",
                                              "bf16", "fp8",     "int8", "fp4" };

/* Other spellings, and formats of weights that a unit computes in. */
static const struct {
    const char *name, *dtype;
} aliases[] = {
    { "float64", "fp64" },   { "double", "fp64" },     { "fp64_tensor", "fp64_tc" },
    { "float32", "fp32" },   { "float", "fp32" },      { "float16", "fp16" },
    { "half", "fp16" },      { "bfloat16", "bf16" },   { "fp8_block128", "fp8" },
    { "fp8_e4m3", "fp8" },   { "fp8_e5m2", "fp8" },    { "float8_e4m3fn", "fp8" },
    { "fp8_tensor", "fp8" }, { "float8_e5m2", "fp8" }, { "fp6", "fp8" },
    { "nvfp4", "fp4" },      { "mxfp4", "fp4" },       { "float4_e2m1fn", "fp4" },
};

/* Storage formats of weights whose products are computed in the activations' dtype. */
static const char *const stored[] = { "int4", "int4_g128", "nf4",  "q4_0",
                                      "q4_k", "q6_k",      "q8_0", "w4a16" };

int lp_hardware_dtype_index(const char *name)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (strcmp(aliases[i].name, name) == 0)
            name = aliases[i].dtype;
    for (int i = 0; i < LP_PEAKS; i++)
        if (strcmp(dtypes[i], name) == 0)
            return i;
    return -1;
}

bool lp_hardware_is_tensor(int dtype)
{
    return dtype != LP_PEAK_FP64 && dtype != LP_PEAK_FP64_TC && dtype != LP_PEAK_FP32;
}

const char *llmperf_hardware_dtype(size_t index)
{
    return index < LP_PEAKS ? dtypes[index] : NULL;
}

bool lp_hardware_dtype_is_stored(const char *name)
{
    for (size_t i = 0; i < COUNT(stored); i++)
        if (strcmp(stored[i], name) == 0)
            return true;
    return false;
}

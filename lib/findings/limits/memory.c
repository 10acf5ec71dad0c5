/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory of a GPU holds, as far as model, names of regions and NVML say. */
#include "lib/findings/limits/memory.h"

#include <math.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/findings/limits/facts.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

/* Is a region of the path named so in its domain: "LLM@load/default@weights"? */
static bool is_inside(const char *path, const char *name)
{
    const char *at = strchr(path, '@');

    for (; at; at = strchr(at, '@'))
        if (strncmp(++at, name, strlen(name)) == 0 &&
            (at[strlen(name)] == '/' || !at[strlen(name)]))
            return true;
    return false;
}

/* LLMPERF_UNKNOWN: no region of this name allocated memory. */
static uint64_t held_in(const struct lp_memory_held *held, const llmperf_memory *device,
                        const char *name)
{
    uint64_t sum = 0;
    bool found = false;

    for (size_t i = 0; i < held->rows.count; i++) {
        const llmperf_memory *row = &held->rows.items[i];

        if (!row->region || row->device != device->device ||
            row->process_id != device->process_id || row->allocations == 0 ||
            row->held_bytes == LLMPERF_UNKNOWN || !is_inside(row->region, name))
            continue;
        sum += row->held_bytes;
        found = true;
    }
    return found ? sum : LLMPERF_UNKNOWN;
}

static void because(struct lp_text *reason, const char *text)
{
    lp_text_printf(reason, "%s%s", reason->length > 0 ? "; " : "", text);
}

static size_t devices_of(const struct lp_memory_held *held, uint32_t process_id)
{
    size_t count = 0;

    for (size_t i = 0; i < held->rows.count; i++)
        count += !held->rows.items[i].region && held->rows.items[i].process_id == process_id;
    return count;
}

static void set_model(const struct lp_memory_held *held, llmperf_memory *row,
                      struct lp_text *reason)
{
    double weights = lp_fact_number(held->profile, LP_WEIGHTS_FACT);
    double token = lp_fact_number(held->profile, LP_KV_TOKEN_FACT);
    double tensor = lp_fact_number(held->profile, LP_TENSOR_FACT);
    size_t devices = devices_of(held, row->process_id);

    if (!lp_model_fact(held->profile)) {
        because(reason, "weights, KV cache in use: no model was given");
        return;
    }
    if (devices > 1 && (double)devices != tensor) {
        because(reason, "weights, KV cache in use: the process used several GPUs, and "
                        "tensor_parallel does not say that they share each layer");
        return;
    }
    if (!isnan(weights))
        row->weight_bytes = (uint64_t)weights;
    else
        because(reason, "weights: how the GPUs share the weights is not known "
                        "(tensor_parallel, expert_parallel)");
    if (isnan(token))
        because(reason, "KV cache in use: the model has no KV cache that keeps all tokens");
    else if (row->context_tokens == LLMPERF_UNKNOWN)
        because(reason, "KV cache in use: no stage counted its context");
    else
        row->cache_bytes = row->context_tokens * (uint64_t)token;
}

static const llmperf_energy *energy_of(const struct lp_memory_held *held,
                                       const llmperf_memory *memory)
{
    for (size_t i = 0; i < lp_row_count(held->profile, LP_ROW_ENERGY); i++) {
        const llmperf_energy *row = lp_row_at(held->profile, LP_ROW_ENERGY, i);

        if (row->device == memory->device &&
            (row->process_id == memory->process_id || !lp_profile_of_processes(held->profile)))
            return row;
    }
    return NULL;
}

static void set_free(const struct lp_memory_held *held, llmperf_memory *row, struct lp_text *reason)
{
    const llmperf_energy *gpu = energy_of(held, row);

    if (gpu)
        row->total_bytes = gpu->memory_total_bytes;
    if (gpu && gpu->memory_peak_bytes <= gpu->memory_total_bytes &&
        gpu->memory_total_bytes != LLMPERF_UNKNOWN)
        row->free_bytes = gpu->memory_total_bytes - gpu->memory_peak_bytes;
    else
        because(reason, "GPU memory, free: NVML did not report the memory in use");
}

static int describe(struct lp_memory_held *held, llmperf_memory *row)
{
    struct lp_text reason = { NULL, 0, 0, false };
    int status = 0;

    set_model(held, row, &reason);
    row->weight_allocated_bytes = held_in(held, row, "weights");
    row->cache_allocated_bytes = held_in(held, row, "kv_cache");
    if (row->weight_allocated_bytes == LLMPERF_UNKNOWN)
        because(&reason, "allocated for weights: no region named weights allocated memory");
    if (row->cache_allocated_bytes == LLMPERF_UNKNOWN)
        because(&reason, "KV cache capacity: no region named kv_cache allocated memory");
    set_free(held, row, &reason);
    row->reason = lp_strings_add(&held->texts, reason.bytes);
    if (reason.failed || (reason.bytes && !row->reason))
        status = LLMPERF_ENOMEM;
    lp_text_clear(&reason);
    return status;
}

int lp_memory_held_init(struct lp_memory_held *held, const llmperf_profile *profile)
{
    size_t count = lp_row_count(profile, LP_ROW_MEMORY);
    int status = lp_vector_reserve(&held->rows, count);

    held->profile = profile;
    for (size_t i = 0; i < count && status == 0; i++)
        held->rows.items[held->rows.count++] =
            *(const llmperf_memory *)lp_row_at(held->profile, LP_ROW_MEMORY, i);
    for (size_t i = 0; i < count && status == 0; i++)
        if (!held->rows.items[i].region)
            status = describe(held, &held->rows.items[i]);
    return status;
}

void lp_memory_held_clear(struct lp_memory_held *held)
{
    lp_vector_clear(&held->rows);
    lp_strings_clear(&held->texts);
}

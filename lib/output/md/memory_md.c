/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/profile/fields.h"

#define MOST 15u /* rows of regions; metrics.json has all */

/* A line of the table of GPUs. */
static const struct quantity {
    size_t member;
    const char *name, *meaning;
} quantities[] = {
    { offsetof(llmperf_memory, weight_bytes), "Weights", "computed from the model" },
    { offsetof(llmperf_memory, weight_allocated_bytes), "Allocated for weights",
      "in regions named `weights`" },
    { offsetof(llmperf_memory, cache_bytes), "KV cache in use",
      "computed from the model, for the step with most tokens of context" },
    { offsetof(llmperf_memory, cache_allocated_bytes), "KV cache capacity",
      "allocated in regions named `kv_cache`" },
    { offsetof(llmperf_memory, kept_bytes), "Allocated before the first stage",
      "not freed: weights, and a KV cache that is allocated once" },
    { offsetof(llmperf_memory, peak_bytes), "Peak", "most allocated at once" },
    { offsetof(llmperf_memory, largest_bytes), "Largest allocation", "of one call of the driver" },
    { offsetof(llmperf_memory, live_bytes), "At the end", "allocated and not freed" },
    { offsetof(llmperf_memory, pool_reserved_bytes), "Memory pools: reserved",
      "most that pools of the driver (`cudaMallocAsync`) held" },
    { offsetof(llmperf_memory, pool_used_bytes), "Memory pools: used",
      "most of it in use at once" },
    { offsetof(llmperf_memory, free_bytes), "Free", "used by no process whenever NVML was read" },
    { offsetof(llmperf_memory, total_bytes), "GPU memory", "of all processes, used and free" },
};

/* Devices come first. */
static size_t count_devices(const struct lp_findings *findings)
{
    size_t count = 0;

    while (count < findings->memory.rows.count && !findings->memory.rows.items[count].region)
        count++;
    return count;
}

static void add_heads(const struct lp_findings *findings, size_t devices, struct lp_text *out)
{
    lp_text_puts(out, "| GiB |");
    for (size_t i = 0; i < devices; i++) {
        const llmperf_memory *row = &findings->memory.rows.items[i];
        uint32_t process = lp_shown_process(findings->profile, row->process_id);

        lp_text_printf(out, " GPU %" PRId32, row->device);
        if (process)
            lp_text_printf(out, ", process %" PRIu32, process);
        lp_text_puts(out, " |");
    }
    lp_text_puts(out, " Meaning |\n| --- |");
    for (size_t i = 0; i < devices; i++)
        lp_text_puts(out, " ---: |");
    lp_text_puts(out, " --- |\n");
}

#define GIB 1073741824.0
#define MIB (1.0 / 1048576) /* in a byte */

static uint64_t value_of(const llmperf_memory *row, const struct quantity *quantity)
{
    return *(const uint64_t *)(const void *)((const char *)row + quantity->member);
}

/* Nothing where no GPU has the value. */
static void add_quantity(const struct lp_findings *findings, size_t devices,
                         const struct quantity *quantity, struct lp_text *out)
{
    const llmperf_memory *rows = findings->memory.rows.items;
    size_t known = 0;

    for (size_t i = 0; i < devices; i++)
        known += value_of(&rows[i], quantity) != LLMPERF_UNKNOWN;
    if (known == 0)
        return;
    lp_text_printf(out, "| %s |", quantity->name);
    for (size_t i = 0; i < devices; i++) {
        uint64_t bytes = value_of(&rows[i], quantity);

        lp_md_cell_number(out, bytes == LLMPERF_UNKNOWN ? (double)NAN : (double)bytes / GIB);
    }
    lp_text_printf(out, " %s |\n", quantity->meaning);
}

static void add_devices(const struct lp_findings *findings, struct lp_text *out)
{
    size_t devices = count_devices(findings);
    const char *reason = NULL;

    add_heads(findings, devices, out);
    for (size_t k = 0; k < sizeof(quantities) / sizeof(quantities[0]); k++)
        add_quantity(findings, devices, &quantities[k], out);
    for (size_t i = 0; i < devices && !reason; i++)
        reason = findings->memory.rows.items[i].reason;
    if (reason)
        lp_text_printf(out, "\nNot known: %s.\n", reason);
}

static bool is_region(const struct lp_findings *findings, const void *row)
{
    (void)findings;
    return ((const llmperf_memory *)row)->region != NULL;
}

static void add_regions(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_REGION("Region", llmperf_memory, region),
        LP_COLUMN("GPU", llmperf_memory, device),
        LP_COLUMN("Allocations", llmperf_memory, allocations),
        LP_COLUMN_TIMES("Allocated MiB", llmperf_memory, allocated_bytes, MIB),
        LP_COLUMN_TIMES("Largest MiB", llmperf_memory, largest_bytes, MIB),
        LP_COLUMN_TIMES("At once MiB", llmperf_memory, held_bytes, MIB),
        LP_COLUMN("Frees", llmperf_memory, frees),
        LP_COLUMN_TIMES("Not freed MiB", llmperf_memory, live_bytes, MIB),
        LP_COLUMN_TIMES("GPU peak MiB", llmperf_memory, peak_bytes, MIB),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_VECTOR(&findings->memory.rows), .has = is_region,
                                    .limit = MOST, .all_in = "metrics.json" };

    lp_table_add(findings, &table, out);
}

/* Calls in steps of decode, of all GPUs. */
static void add_steps(const struct lp_findings *findings, struct lp_text *out)
{
    uint64_t allocations = 0, frees = 0, bytes = 0;

    for (size_t i = 0; i < findings->memory.rows.count; i++) {
        const llmperf_memory *row = &findings->memory.rows.items[i];

        if (!row->region || !strstr(row->region, "@decode_step"))
            continue;
        allocations += row->allocations;
        frees += row->frees;
        bytes += row->allocated_bytes;
    }
    lp_text_printf(
        out, "\nIn decode steps: %" PRIu64 " allocations (%s MiB in all) and %" PRIu64 " frees.\n",
        allocations, LP_NUMBER((double)bytes / 1048576, 4), frees);
}

void lp_memory_md(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->memory.rows.count == 0)
        return;
    lp_text_puts(out,
                 "Memory that the program allocated from the CUDA driver "
                 "during the session. An allocator that divides large blocks itself, such as "
                 "PyTorch's, appears with what it reserves. Not included: memory from before the "
                 "session, CUDA contexts and code, memory nodes of graphs, managed memory.\n\n");
    add_devices(findings, out);
    add_steps(findings, out);
    lp_text_puts(out, "\nBy region, without nested regions, most allocated first. At once: most of "
                      "these allocations. GPU peak: most on the GPU while a call of the stage was "
                      "open.\n\n");
    add_regions(findings, out);
}

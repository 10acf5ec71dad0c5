/* SPDX-License-Identifier: Apache-2.0 */
/* Reports contain names and values of metrics but no units, which ncu adds when it prints. Names
 * have the form unit__counter.rollup.submetric; the counter gives the unit. The rules were checked
 * with 2,200 names in tables that ncu 2025.3 printed for a GH100. */
#include <stdbool.h>
#include <string.h>

#include "lib/vendor/ncu/report.h"

/* Names of another form; a final '*' matches any rest. */
static const struct {
    const char *name, *unit;
} exceptions[] = {
    { "launch__block_dim_*", "block" },
    { "launch__cluster_max_active", "cluster" },
    { "launch__cluster_max_potential_size", "block" },
    { "launch__occupancy_cluster_*", "%" },
    { "launch__occupancy_limit_*", "block" },
    { "launch__persisting_l2_cache_size", "byte" },
    { "launch__registers_per_thread*", "register/thread" },
    { "launch__shared_mem_config_size", "byte" },
    { "launch__shared_mem_per_block*", "byte/block" },
    { "launch__sm_count", "SM" },
    { "launch__thread_count", "thread" },
    { "profiler__pmsampler_buffer_size_bytes", "byte" },
    { "profiler__pmsampler_interval_time", "ns" },
    { "profiler__pmsampler_merged_samples", "sample" },
    { "profiler__replayer_bytes_*", "byte" },
    { "profiler__replayer_passes*", "pass" },
    { "smsp__pcsamp_aggregated_passes", "pass" },
    { "l1tex__lsu_writeback_active_mem_lgds.sum", "cycle" },
    { "l1tex__lsu_writeback_active_mem_lgds.sum.per_second", "hz" },
    { "l1tex__tex_writeback_active.sum", "cycle" },
    { "smsp__average_warp_latency_per_inst_issued.ratio", "cycle" },
    { "smsp__average_warps_active_per_inst_executed.ratio", "cycle" },
    { "smsp__average_warps_issue_stalled_*", "inst" },
    { "smsp__sass_average_data_bytes_per_sector_*", "byte/sector" },
    { "smsp__sass_branch_targets_*", "branches" },
    { "smsp__branch_targets_*", "branches" },
    { "derived__pct_occupancy_per_block_size", "%" },
    { "derived__pct_occupancy_per_register_count", "%/register" },
    { "derived__pct_occupancy_per_shared_mem_size", "%/byte" },
    { "inst_executed", "inst" },
    { "thread_inst_executed*", "inst" },
    { "memory_l1_*", "sectors" },
    { "memory_l2_*", "sectors" },
    { "sass__inst_executed_per_opcode*", "" },
    { "sass__inst_executed_*", "inst" },
    { "lts__t_requests*", "request" },
    { "gcc__cache_requests_*", "request" },
    /* ncu prints no unit for these. */
    { "c2clink__*", "" },
    { "device__*", "" },
    { "launch__*", "" },
    { "numa__*", "" },
    { "nvlink__*", "" },
    { "profiler__*", "" },
    { "sass__*", "" },
};

/* Unit from a word in the counter's name; the first match counts. */
struct quantity {
    const char *word, *unit, *rate, *per_cycle;
};
static const struct quantity quantities[] = {
    { "bytes", "byte", "byte/s", "byte/cycle" },
    { "sectors", "sector", "sector/s", "sector/cycle" },
    { "cycles", "cycle", "hz", "" },
    { "inst", "inst", "inst/s", "inst/cycle" },
    { "thread", "thread", "thread/s", "inst/cycle" },
    { "threads", "thread", "thread/s", "thread/cycle" },
    { "warps", "warp", "warp/s", "warp" },
    { "ctas", "block", "block/s", "block/cycle" },
};

static const char *find_exception(const char *name)
{
    for (size_t i = 0; i < LP_LENGTH(exceptions); i++) {
        size_t length = strlen(exceptions[i].name);
        bool start = exceptions[i].name[length - 1] == '*';

        if (start ? strncmp(name, exceptions[i].name, length - 1) == 0
                  : strcmp(name, exceptions[i].name) == 0)
            return exceptions[i].unit;
    }
    return NULL;
}

static const struct quantity *find_quantity(const char *counter, size_t length)
{
    while (length > 0) {
        const char *underscore = memchr(counter, '_', length);
        size_t word = underscore ? (size_t)(underscore - counter) : length;

        for (size_t i = 0; i < LP_LENGTH(quantities); i++)
            if (strlen(quantities[i].word) == word &&
                memcmp(quantities[i].word, counter, word) == 0)
                return &quantities[i];
        if (!underscore)
            return NULL;
        counter += word + 1;
        length -= word + 1;
    }
    return NULL;
}

static bool is_percentage(const char *name)
{
    size_t length = strlen(name);

    return strstr(name, ".pct") || (length > 4 && strcmp(name + length - 4, "_pct") == 0);
}

const char *lp_ncu_unit(const char *name)
{
    const char *exception = find_exception(name), *counter, *rollup;
    const struct quantity *quantity;

    if (is_percentage(name))
        return "%";
    if (exception)
        return exception;
    /* "derived__smsp__…" and "SM_A.TriageCompute.smsp__…" contain the names of counters. */
    if (!(counter = strstr(name, "__")))
        return NULL;
    if (strncmp(name, "derived__", 9) == 0 && strstr(counter + 2, "__"))
        counter = strstr(counter + 2, "__");
    counter += 2;
    rollup = counter + strcspn(counter, ".");
    if (strncmp(counter, "time_duration", strlen("time_duration")) == 0)
        return "ns";
    if (strstr(rollup, "ratio") || strstr(rollup, "max_rate") ||
        !(quantity = find_quantity(counter, (size_t)(rollup - counter))))
        return NULL;
    if (strstr(rollup, "per_second"))
        return quantity->rate;
    if (strstr(rollup, "per_cycle") || strstr(rollup, "peak_sustained"))
        return quantity->per_cycle;
    return quantity->unit;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/config/allowed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/config/config.h"
#include "lib/config/inside.h"

#define NSYS "pipeline.nsys.nsys_cli."
#define NCU  "pipeline.ncu.ncu_cli."

#define TOP_KERNELS 1000 /* that ncu is asked for by name, in one pattern */

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

#define TIERS    WORDS("regions", "light", "deep", "counters")
#define SAMPLING WORDS("none", "process-tree", "system-wide")

/* Who is asked for comes before who follows: run.mode is ${session.tier} unless it is given. */
static const struct lp_allowed table[] = {
    { "session.tier", TIERS, 0, 0 },
    { "run.mode", TIERS, 0, 0 },
    { "session.overhead_budget_permille", NULL, 1, 1000 },
    { "session.tensor_parallel", NULL, 1, 65536 },
    { "session.expert_parallel", NULL, 1, 65536 },
    { "session.path_limit", NULL, 16, 1048576 },
    { "run.top_n_kernels", NULL, 1, TOP_KERNELS },
    { "artifacts.keep_runs", NULL, 0, 1000000 },
    { "artifacts.keep_trace", NULL, 0, 0 },
    { "session.detach", NULL, 0, 0 },
    { "artifacts.trace_bytes", NULL, 1, INT64_MAX },
    { "artifacts.warn_bytes", NULL, 0, INT64_MAX },
    { NSYS "sample", SAMPLING, 0, 0 },
    { NSYS "cpuctxsw", SAMPLING, 0, 0 },
    { NSYS "cuda_graph_trace",
      WORDS("graph", "node", "graph:host-only", "graph:host-and-device", "node:host-only",
            "node:host-and-device"),
      0, 0 },
    { NSYS "cuda_memory_usage", NULL, 0, 0 },
    { NSYS "capture_range", WORDS("none", "nvtx", "cudaProfilerApi", "hotkey"), 0, 0 },
    { NSYS "discard_environment", NULL, 0, 0 },
    { NSYS "export.sqlite", NULL, 0, 0 },
    { NSYS "force_overwrite", NULL, 0, 0 },
    { NCU "target_processes", WORDS("all", "application-only"), 0, 0 },
    { NCU "replay_mode", WORDS("kernel", "application", "range", "app-range"), 0, 0 },
    { NCU "graph_profiling", WORDS("node", "graph"), 0, 0 },
    { NCU "kernel_name_base", WORDS("function", "demangled", "mangled"), 0, 0 },
    { NCU "launch_skip", NULL, 0, INT32_MAX },
    { NCU "launch_count", NULL, 0, INT32_MAX },
    { NCU "clock_control", WORDS("base", "boost", "none", "force-boost", "force-base"), 0, 0 },
    { NCU "cache_control", WORDS("all", "none"), 0, 0 },
    { NCU "profile_from_start", NULL, 0, 0 },
    { NCU "export.csv", NULL, 0, 0 },
    { NCU "force_overwrite", NULL, 0, 0 },
};
#define KEYS (sizeof(table) / sizeof(table[0]))

const struct lp_allowed *lp_allowed_find(const char *key)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(table[i].key, key) == 0)
            return &table[i];
    return NULL;
}

static int check_word(const llmperf_config *config, const struct lp_allowed *allowed)
{
    char list[256] = "";
    const char *word;
    int status = llmperf_config_text(config, allowed->key, &word);

    if (status < 0)
        return status;
    for (size_t i = 0; allowed->words[i]; i++) {
        if (strcmp(allowed->words[i], word) == 0)
            return 0;
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
                 allowed->words[i]);
    }
    return lp_config_refuse(config, allowed->key, "%.80s is not one of %s", word, list);
}

static int check_integer(const llmperf_config *config, const struct lp_allowed *allowed)
{
    int64_t value;
    int status = llmperf_config_integer(config, allowed->key, &value);

    if (status < 0 || (value >= allowed->least && value <= allowed->most))
        return status;
    return lp_config_refuse(config, allowed->key, "must be between %" PRId64 " and %" PRId64,
                            allowed->least, allowed->most);
}

int lp_allowed_check(const llmperf_config *config, const struct lp_allowed *allowed)
{
    int32_t truth;

    if (!llmperf_config_has(config, allowed->key))
        return 0;
    if (allowed->words)
        return check_word(config, allowed);
    return allowed->most ? check_integer(config, allowed)
                         : llmperf_config_boolean(config, allowed->key, &truth);
}

static bool is_asked_for(const llmperf_config *config, const char *key)
{
    const struct lp_value *value = lp_value_at(config->root, key);

    return value && value->kind == LP_VALUE_TEXT && strcmp(value->text, "???") == 0;
}

int lp_allowed_check_all(const llmperf_config *config)
{
    int status = 0;

    for (size_t i = 0; i < KEYS && status == 0; i++)
        if (!is_asked_for(config, table[i].key))
            status = lp_allowed_check(config, &table[i]);
    return status;
}

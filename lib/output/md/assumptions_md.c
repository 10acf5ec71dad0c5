/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/tables_md.h"
#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"
#include "llmperf/sys/hardware.h"
#include "lib/base/text.h"

static void add_line(struct lp_text *out, const char *name, const char *value)
{
    lp_text_printf(out, "- %s: ", name);
    lp_md_text(out, value ? value : "unknown");
    lp_text_puts(out, "\n");
}

static void add_fact(const struct lp_findings *findings, const char *name, const char *key,
                     struct lp_text *out)
{
    const char *value = llmperf_profile_fact(findings->profile, key);

    if (value)
        add_line(out, name, value);
}

static double each(uint64_t sum, const llmperf_region_stats *stats)
{
    return sum == LLMPERF_UNKNOWN ? NAN
                                  : (double)sum / (double)(stats->instances + stats->truncated);
}

static void batch_row(const llmperf_region_stats *stats, struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_md_cell_region(out, stats->path);
    lp_md_cell_count(out, stats->instances + stats->truncated);
    lp_md_cell_number(out, each(stats->sequences, stats));
    lp_md_cell_number(out, each(stats->tokens, stats));
    lp_md_cell_number(out, each(stats->context, stats));
    lp_md_cell_text(out, lp_work_origin(stats->flops_origin));
    lp_md_cell_text(out, lp_work_origin(stats->bytes_origin));
    lp_text_puts(out, "\n");
}

static void add_batches(const struct lp_findings *findings, struct lp_text *out)
{
    const char *last = NULL;

    lp_text_puts(
        out,
        "## Batch and work\n\n| Stage | Calls | Sequences per call | Tokens per call | Context per "
        "call | FLOPs from | Bytes from |\n| --- | ---: | ---: | ---: | ---: | --- | --- |\n");
    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (stats->kind != LLMPERF_REGION_STAGE || !*stats->path ||
            (last && strcmp(last, stats->path) == 0))
            continue;
        last = stats->path;
        batch_row(stats, out);
    }
    lp_text_puts(
        out,
        "\nMeans over all calls. Sequences, tokens and context are what the program counted.\n\n");
}

/* Is there a stage for which `is` holds? */
static bool any_stage(const struct lp_findings *findings,
                      bool (*is)(const llmperf_region_stats *stats))
{
    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (stats->kind == LLMPERF_REGION_STAGE && is(stats))
            return true;
    }
    return false;
}

static bool has_work(const llmperf_region_stats *stats)
{
    return lp_work_origin(stats->flops_origin) || lp_work_origin(stats->bytes_origin);
}

static bool is_vision_of_prefill(const llmperf_region_stats *stats)
{
    return strstr(stats->path, "@prefill/") && strstr(stats->path, "@vision");
}

static bool has_clock(const llmperf_region_stats *stats)
{
    return !isnan(stats->sm_clock_mhz);
}

static void add_conventions(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "## Conventions\n\n");
    if (any_stage(findings, has_work))
        lp_text_puts(
            out, "- A multiply-add is 2 FLOPs.\n- FLOPs are those of the model: no padding, no "
                 "recomputation, accepted tokens only.\n- Bytes are compulsory traffic of device "
                 "memory: each weight once per step, each cached key and value once. Real traffic "
                 "is larger, so MBU is a lower bound.\n- Work that the program counted itself is "
                 "taken as counted, by these rules.\n- The bound is a lower bound on time: the "
                 "larger of FLOPs / peak and bytes / bandwidth.\n- MFU and MBU are over elapsed "
                 "time: wall time, or GPU busy time where that is longer. While busy they are over "
                 "GPU busy time: the union of the intervals of a region's device work.\n");
    else
        lp_text_puts(out, "- No FLOPs or bytes of stages are known, so neither are MFU, MBU and "
                          "lower bounds.\n");
    if (any_stage(findings, is_vision_of_prefill))
        lp_text_puts(out, "- Vision is nested in prefill and counted once.\n");
    add_fact(findings, "Counting convention", "model_convention", out);
    add_line(out, "Dtype of the peaks",
             findings->limits.dtype[0] ? findings->limits.dtype : findings->limits.dtype_reason);
    lp_text_puts(out, "\n");
}

static void add_numbered_facts(const struct lp_findings *findings, const char *name,
                               const char *prefix, struct lp_text *out)
{
    const char *line;
    char key[64];

    for (size_t i = 0;; i++) {
        snprintf(key, sizeof(key), "%s.%zu", prefix, i);
        if (!(line = llmperf_profile_fact(findings->profile, key)))
            return;
        add_line(out, name, line);
    }
}

static void add_model(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "## Model\n\n");
    if (!llmperf_profile_fact(findings->profile, "model")) {
        lp_text_puts(out, "- No model was given");
        if (any_stage(findings, has_work))
            lp_text_puts(out, ": FLOPs and bytes are those that the program counted");
        lp_text_puts(out, ".\n\n");
        return;
    }
    add_fact(findings, "Description", "model", out);
    add_fact(findings, "Name", "model_name", out);
    add_fact(findings, "Family", "model_family", out);
    add_fact(findings, "Parameters", "model_parameters_total", out);
    add_fact(findings, "Active parameters per token", "model_parameters_active", out);
    add_fact(findings, "GPUs that share each layer (tensor_parallel)", LP_TENSOR_FACT, out);
    add_fact(findings, "GPUs that whole experts are distributed over (expert_parallel)",
             LP_EXPERT_FACT, out);
    add_numbered_facts(findings, "Assumed", "model_assumption", out);
    add_numbered_facts(findings, "Warning", "model_warning", out);
    lp_text_puts(out, "\n");
}

static void add_limits(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_limits *limits = &findings->limits;
    const char *measured = llmperf_hardware_measured(limits->hardware), *warning;

    lp_text_puts(out, "## Peaks\n\n");
    if (limits->hardware_reason[0])
        add_line(out, "Unknown", limits->hardware_reason);
    add_line(out, "GPU", limits->gpu_name);
    lp_limit_md(out, "Dense peak", "TFLOP/s", &limits->peak);
    lp_text_puts(out, "\n");
    lp_limit_md(out, "Bandwidth", "GB/s", &limits->bandwidth);
    lp_text_puts(out, "\n");
    add_line(out, "Measured peaks of this GPU", measured ? measured : "not measured");
    for (size_t i = 0; (warning = llmperf_hardware_warning(limits->hardware, i)); i++)
        add_line(out, "Warning", warning);
    lp_text_puts(out, "- Peaks are for the published clocks. Clocks were not locked; ");
    lp_text_puts(out, any_stage(findings, has_clock)
                          ? "those of the stages were read (sm_clock_mhz, mfu_at_clock).\n\n"
                          : "those during the stages are not known.\n\n");
}

static void add_conditions(const struct lp_findings *findings, struct lp_text *out)
{
    const char *blocking = lp_machine_text(findings->machine, "variables.CUDA_LAUNCH_BLOCKING");

    lp_text_puts(out, "## Measurement\n\n");
    add_fact(findings, "Tier", "tier", out);
    add_fact(findings, "Device source", "source", out);
    add_fact(findings, "Reason for this source", "source_reason", out);
    add_fact(findings, "Recorded in", "recorded_from", out);
    add_line(out, "Driver", lp_machine_text(findings->machine, "driver.kernel_version"));
    add_line(out, "Verdict of the ledger",
             llmperf_name(LLMPERF_NAME_VERDICT, findings->ledger.verdict));
    if (findings->ledger.verdict == LLMPERF_VERDICT_SAMPLED) {
        lp_text_puts(out, "- Collected: ");
        lp_md_number(out, 100 * findings->ledger.sampled_fraction);
        lp_text_puts(out, " % of the work (sampled)\n");
    }
    if (blocking && strcmp(blocking, "0") != 0)
        lp_text_puts(out, "- CUDA_LAUNCH_BLOCKING was set: every launch waited for the device, so "
                          "idle times are not representative.\n");
    lp_text_puts(out, "- Device work is charged to the region that was open on the launching "
                      "thread.\n- Percentiles are accurate to 2 %.\n");
    if (findings->ledger.verdict != LLMPERF_VERDICT_SAMPLED)
        lp_text_puts(out, "- All calls of a region count, including the first: a warm-up inside "
                          "the session is part of the numbers.\n");
    else
        lp_text_puts(out, "- Host times and counts are of all calls, including the first. Device "
                          "times are of the collected calls; estimates for all calls count the "
                          "first call only as itself.\n");
    lp_text_puts(out, "- Wall times are host times; device work may end after its region.\n");
}

int lp_assumptions_md(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    if ((status = lp_findings_of(profile, &findings)) == 0) {
        lp_text_puts(out, "# Assumptions: ");
        lp_md_text(out, findings->about.title);
        lp_text_puts(out, "\n\n");
        lp_table_warning(profile, out);
        add_batches(findings, out);
        add_conventions(findings, out);
        add_model(findings, out);
        add_limits(findings, out);
        add_conditions(findings, out);
    }
    return status;
}

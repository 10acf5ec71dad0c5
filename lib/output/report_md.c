/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/output/facts.h"
#include "lib/output/markdown.h"
#include "lib/output/output.h"
#include "lib/output/tables_md.h"
#include "llmperf/region.h"

/* Rows of the report's tables; the rest stands in operators.md and kernels.md. */
#define TOP_OPERATORS 15
#define TOP_KERNELS   20

/* An incomplete profile that accounts for less than this has no headline. */
#define HEADLINE_COVERAGE 0.95

static void add_percent(struct lp_text *out, double share)
{
    lp_md_number(out, 100 * share);
    lp_text_puts(out, " %");
}

static void add_problems(const llmperf_profile *profile, struct lp_text *out)
{
    const char *problem;

    for (size_t i = 0; (problem = llmperf_profile_problem(profile, i)); i++) {
        lp_text_puts(out, "- ");
        lp_md_text(out, problem);
        lp_text_puts(out, "\n");
    }
}

static void add_complete(const llmperf_ledger *ledger, struct lp_text *out)
{
    lp_text_printf(out, "**Complete**: %" PRIu64 " kernels seen", ledger->kernels_seen);
    if (ledger->graph_launches > 0)
        lp_text_printf(out, " from %" PRIu64 " launches and %" PRIu64 " graph launches",
                       ledger->launches_expected, ledger->graph_launches);
    else
        lp_text_printf(out, " from %" PRIu64 " launches", ledger->launches_expected);
    if (!isnan(ledger->attributed_gpu_time_share)) {
        lp_text_puts(out, ", ");
        add_percent(out, ledger->attributed_gpu_time_share);
        lp_text_puts(out, " of device time has a known launch");
    }
    lp_text_puts(out, ".\n");
}

static void add_no_device(const llmperf_profile *profile, struct lp_text *out)
{
    const char *reason = llmperf_profile_fact(profile, "source_reason");

    lp_text_puts(out, "**No device: host times only.**");
    if (reason) {
        lp_text_puts(out, " ");
        lp_md_text(out, reason);
    }
    lp_text_puts(out, "\n");
}

static void add_verdict(const llmperf_profile *profile, const llmperf_ledger *ledger,
                        struct lp_text *out)
{
    switch (ledger->verdict) {
    case LLMPERF_VERDICT_COMPLETE:
        add_complete(ledger, out);
        break;
    case LLMPERF_VERDICT_SAMPLED:
        lp_text_puts(out, "**Sampled**: ");
        add_percent(out, ledger->sampled_fraction);
        lp_text_puts(out,
                     " of the work was collected, on purpose; device totals are of that share.\n");
        break;
    case LLMPERF_VERDICT_NO_DEVICE:
        add_no_device(profile, out);
        break;
    case LLMPERF_VERDICT_DEAD:
        lp_text_puts(out,
                     "**Dead: kernels were launched and not one was reported.** Device times are "
                     "not known; host times below are good.\n\n");
        add_problems(profile, out);
        break;
    default:
        lp_text_puts(out, "**Incomplete: device times are lower bounds.**\n\n");
        add_problems(profile, out);
        break;
    }
}

/* A region whose device work ends after it has more busy time than wall time; a share would say
 * nothing then. */
static void add_busy(const llmperf_region_stats *region, struct lp_text *out)
{
    double share = region->gpu_busy_ms / region->wall_sum_ms;

    lp_text_printf(out, ", GPU %" PRId32 " busy ", region->device);
    if (share <= 1) {
        add_percent(out, share);
        return;
    }
    lp_md_number(out, region->gpu_busy_ms);
    lp_text_puts(out, " ms (on after the region)");
}

/* "LLM@prefill: 12.34 ms mean of 3, 41500 tokens/s, GPU busy 92.1 %." */
static void add_stage_sentence(const llmperf_region_stats *region, bool device, struct lp_text *out)
{
    lp_text_puts(out, "- ");
    lp_md_code(out, region->path);
    lp_text_puts(out, ": ");
    lp_md_number(out, region->wall_mean_ms);
    lp_text_printf(out, " ms mean of %" PRIu64, region->instances);
    if (region->tokens != LLMPERF_UNKNOWN && region->wall_sum_ms > 0) {
        lp_text_puts(out, ", ");
        lp_md_number(out, (double)region->tokens * 1e3 / region->wall_sum_ms);
        lp_text_puts(out, " tokens/s");
    }
    if (device && region->device >= 0)
        add_busy(region, out);
    lp_text_puts(out, "\n");
}

static void add_stage_sentences(const llmperf_profile *profile, bool device, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < llmperf_profile_region_count(profile); i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &region);
        if (region.kind != LLMPERF_REGION_STAGE || region.instances == 0)
            continue;
        lp_text_puts(out, any ? "" : "\n");
        add_stage_sentence(&region, device, out);
        any = true;
    }
}

static double device_total_ms(const llmperf_profile *profile)
{
    double total = 0;

    for (size_t i = 0; i < llmperf_profile_kernel_count(profile); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        total += kernel.total_ms;
    }
    return total;
}

static void add_totals(const llmperf_profile *profile, bool device, bool incomplete,
                       struct lp_text *out)
{
    double duration = lp_duration_ms(profile);

    if (device) {
        lp_text_puts(out, incomplete ? "At least " : "");
        lp_md_number(out, device_total_ms(profile));
        lp_text_puts(out, " ms of device time");
    }
    if (!isnan(duration)) {
        lp_text_puts(out, device ? " in " : "Profiled for ");
        lp_md_number(out, duration);
        lp_text_puts(out, " ms");
    }
    lp_text_puts(out, device || !isnan(duration) ? ".\n" : "");
}

static void add_headline(const llmperf_profile *profile, const llmperf_ledger *ledger,
                         struct lp_text *out)
{
    bool device = lp_device_known(ledger);
    bool incomplete = ledger->verdict == LLMPERF_VERDICT_INCOMPLETE;
    double coverage = lp_coverage(ledger);

    lp_text_puts(out, "\n");
    if (incomplete && !(coverage >= HEADLINE_COVERAGE)) {
        lp_text_puts(out, "Headline withheld: ");
        add_percent(out, coverage);
        lp_text_puts(out, " of launches and device time is accounted for, 95 % is needed.\n");
        return;
    }
    add_totals(profile, device, incomplete, out);
    add_stage_sentences(profile, device, out);
}

static void add_row(struct lp_text *out, const char *name, const char *value)
{
    if (!value)
        return;
    lp_text_puts(out, "|");
    lp_md_cell_text(out, name);
    lp_md_cell_text(out, value);
    lp_text_puts(out, "\n");
}

static void add_gpus(const struct lp_machine *machine, struct lp_text *out)
{
    for (size_t i = 0; i < lp_machine_gpu_count(machine); i++) {
        const char *name = lp_machine_gpu_text(machine, i, "name");
        const char *capability = lp_machine_gpu_text(machine, i, "compute_capability");

        lp_text_puts(out, "| GPU ");
        lp_md_number(out, lp_machine_gpu_number(machine, i, "device"));
        lp_text_puts(out, " | ");
        lp_md_text(out, name ? name : LP_MD_UNKNOWN);
        lp_text_printf(out, ", compute capability %s, ", capability ? capability : LP_MD_UNKNOWN);
        lp_md_number(out, lp_machine_gpu_number(machine, i, "sm_count"));
        lp_text_puts(out, " SMs, ");
        lp_md_number(out, lp_machine_gpu_number(machine, i, "memory_bytes") / 1073741824.0);
        lp_text_puts(out, " GiB |\n");
    }
    if (lp_machine_gpu_count(machine) == 0)
        add_row(out, "GPU", lp_machine_text(machine, "gpus_reason"));
}

static void add_host(const struct lp_machine *machine, struct lp_text *out)
{
    add_row(out, "Host", lp_machine_text(machine, "host.hostname"));
    add_row(out, "CPU", lp_machine_text(machine, "host.cpu_model"));
    add_row(out, "Kernel", lp_machine_text(machine, "host.kernel"));
    add_row(out, "Container", lp_machine_text(machine, "host.container"));
}

static void add_environment(const llmperf_profile *profile, struct lp_text *out)
{
    struct lp_machine *machine = lp_machine_open(profile);

    lp_text_puts(out, "\n## Environment\n\n| | |\n| --- | --- |\n");
    add_row(out, "Run", llmperf_profile_fact(profile, "run_id"));
    add_row(out, "Created", llmperf_profile_fact(profile, "created_at"));
    add_row(out, "llmperf", llmperf_profile_fact(profile, "llmperf_version"));
    add_row(out, "Tier", llmperf_profile_fact(profile, "tier"));
    add_row(out, "Device source", llmperf_profile_fact(profile, "source"));
    add_row(out, "Why this source", llmperf_profile_fact(profile, "source_reason"));
    add_row(out, "Recording", llmperf_profile_fact(profile, "recorded_from"));
    add_row(out, "Process", llmperf_profile_fact(profile, "process_id"));
    add_row(out, "Model", llmperf_profile_fact(profile, "model"));
    add_gpus(machine, out);
    add_row(out, "Driver", lp_machine_text(machine, "driver.kernel_version"));
    add_row(out, "CUDA of the driver", lp_machine_text(machine, "driver.cuda_version"));
    add_row(out, "CUPTI", lp_machine_text(machine, "cupti.path"));
    add_host(machine, out);
    lp_machine_free(machine);
}

static void add_count(struct lp_text *out, const char *name, uint64_t value)
{
    lp_text_printf(out, "| %s |", name);
    lp_md_cell_count(out, value);
    lp_text_puts(out, "\n");
}

static void add_value(struct lp_text *out, const char *name, double value)
{
    lp_text_printf(out, "| %s |", name);
    lp_md_cell_number(out, value);
    lp_text_puts(out, "\n");
}

static void add_ledger_counts(const llmperf_ledger *ledger, struct lp_text *out)
{
    bool counted = ledger->verdict != LLMPERF_VERDICT_NO_DEVICE;

    lp_text_puts(out, "| | |\n| --- | ---: |\n");
    add_count(out, "Kernel launches expected",
              counted ? ledger->launches_expected : LLMPERF_UNKNOWN);
    add_count(out, "Graph launches", counted ? ledger->graph_launches : LLMPERF_UNKNOWN);
    add_count(out, "Kernels seen", ledger->kernels_seen);
    add_count(out, "… of graphs", ledger->graph_kernels_seen);
    add_count(out, "Kernels attributed", ledger->kernels_attributed);
    add_count(out, "… launched outside of regions", ledger->kernels_outside);
    add_count(out, "Kernels without a known launch", ledger->kernels_unattributed);
    add_count(out, "Launches without a kernel",
              counted ? ledger->launches_missing : LLMPERF_UNKNOWN);
    add_count(out, "Copy and set calls", counted ? ledger->memory_calls : LLMPERF_UNKNOWN);
    add_count(out, "Copies and sets seen", ledger->memory_seen);
    add_count(out, "Records dropped", ledger->records_dropped);
    add_count(out, "Records with an impossible time", ledger->records_invalid_time);
    add_count(out, "Records without a start or an end", ledger->records_incomplete);
    add_count(out, "Records twice", ledger->records_duplicate);
    add_count(out, "Records late", ledger->records_late);
    add_count(out, "Graph nodes without a capture region", ledger->graph_nodes_unmapped);
    add_count(out, "Region records dropped", ledger->regions_dropped);
    add_count(out, "Regions cut by the start or the end", ledger->regions_truncated);
    add_count(out, "Region ends without a begin", ledger->regions_unbalanced);
    add_value(out, "CUPTI overhead ms", ledger->cupti_overhead_ms);
    add_value(out, "Collected %", counted ? 100 * ledger->sampled_fraction : NAN);
    add_value(out, "Device time with a known launch %", 100 * ledger->attributed_gpu_time_share);
}

static void add_ledger(const llmperf_profile *profile, const llmperf_ledger *ledger,
                       struct lp_text *out)
{
    lp_text_printf(out, "\n## Ledger\n\nVerdict: **%s**.\n\n",
                   llmperf_verdict_name(ledger->verdict));
    if (llmperf_profile_problem(profile, 0)) {
        add_problems(profile, out);
        lp_text_puts(out, "\n");
    }
    add_ledger_counts(ledger, out);
}

static void add_notes(const llmperf_profile *profile, struct lp_text *out)
{
    const char *note;

    lp_text_puts(out, "\n## Notes\n\n");
    for (size_t i = 0; (note = llmperf_profile_note(profile, i)); i++) {
        lp_text_puts(out, "- ");
        lp_md_text(out, note);
        lp_text_puts(out, "\n");
    }
    lp_text_puts(out, "- " LP_MD_UNKNOWN
                      " stands where a value is not known. Percentiles are within 2 %.\n"
                      "- This version computes no FLOPs, bytes or utilisation (MFU, MBU).\n");
}

int lp_report_md(const llmperf_profile *profile, struct lp_text *out)
{
    const char *run_id = llmperf_profile_fact(profile, "run_id");
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    int status;

    llmperf_profile_ledger(profile, &ledger);
    lp_text_puts(out, "# llmperf report: ");
    lp_md_text(out, run_id ? run_id : "run without a name");
    lp_text_puts(out, "\n\n");
    add_verdict(profile, &ledger, out);
    add_headline(profile, &ledger, out);
    lp_text_puts(out, "\n## Stages\n\n");
    if ((status = lp_table_stages(profile, out)) < 0)
        return status;
    lp_text_puts(out, "\n## Top operators\n\n");
    if ((status = lp_table_operators(profile, TOP_OPERATORS, out)) < 0)
        return status;
    lp_text_puts(out, "\n## Top kernels\n\n");
    if ((status = lp_table_kernels(profile, TOP_KERNELS, false, out)) < 0)
        return status;
    add_ledger(profile, &ledger, out);
    add_environment(profile, out);
    add_notes(profile, out);
    return 0;
}

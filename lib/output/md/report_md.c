/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/findings/limits/facts.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/md/ncu_md.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/tables_md.h"
#include "lib/base/text.h"
#include "lib/profile/fields.h"

/* Rows in the report's tables; operators.md and kernels.md have all. */
#define TOP_REGIONS   20 /* without stages */
#define TOP_OPERATORS 15
#define TOP_NAMES     10
#define TOP_KERNELS   20
#define TOP_SHAPES    20
#define TOP_CAPTURES  150 /* 24 layers of five parts */
/* Advice shown at the top. */
#define FIRST_ADVICE 3

static void add_row(struct lp_text *out, const char *name, const char *value)
{
    if (!value)
        return;
    lp_text_puts(out, "|");
    lp_md_cell_text(out, name);
    lp_md_cell_text(out, value);
    lp_text_puts(out, "\n");
}

static void add_whole(struct lp_text *out, double value)
{
    lp_md_count(out, isnan(value) ? LLMPERF_UNKNOWN : (uint64_t)value);
}

static void add_gpus(const struct lp_machine *machine, struct lp_text *out)
{
    for (size_t i = 0; i < lp_machine_gpu_count(machine); i++) {
        const char *name = lp_machine_gpu_text(machine, i, "name");
        const char *capability = lp_machine_gpu_text(machine, i, "compute_capability");

        lp_text_puts(out, "| GPU ");
        add_whole(out, lp_machine_gpu_number(machine, i, "device"));
        lp_text_puts(out, " | ");
        lp_md_text(out, name ? name : LP_MD_UNKNOWN);
        lp_text_puts(out, ", compute capability ");
        lp_md_text(out, capability ? capability : LP_MD_UNKNOWN);
        lp_text_puts(out, ", ");
        add_whole(out, lp_machine_gpu_number(machine, i, "sm_count"));
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

static void add_software(const struct lp_machine *machine, struct lp_text *out)
{
    const char *name, *version;

    for (size_t i = 0; (name = lp_machine_member(machine, "software", i, &version)); i++)
        add_row(out, name, version);
}

static void add_environment(const struct lp_findings *findings, struct lp_text *out)
{
    const llmperf_profile *profile = findings->profile;
    const struct lp_machine *machine = findings->machine;

    lp_text_puts(out, "\n## Environment\n\n| | |\n| --- | --- |\n");
    add_row(out, "Run", llmperf_profile_fact(profile, "run_id"));
    add_row(out, "Created", llmperf_profile_fact(profile, "created_at"));
    add_row(out, "llmperf", llmperf_profile_fact(profile, "llmperf_version"));
    add_row(out, "Tier", llmperf_profile_fact(profile, "tier"));
    add_row(out, "Device source", llmperf_profile_fact(profile, "source"));
    add_row(out, "Reason for this source", llmperf_profile_fact(profile, "source_reason"));
    add_row(out, "nsys", llmperf_profile_fact(profile, "nsys_version"));
    add_row(out, "ncu", llmperf_profile_fact(profile, "ncu_version"));
    add_row(out, "Recording", llmperf_profile_fact(profile, "recorded_from"));
    add_row(out, "Process", llmperf_profile_fact(profile, "process_id"));
    add_row(out, "Model", lp_model_fact(profile));
    add_row(out, "SHA-256 of config.yaml", llmperf_profile_fact(profile, "config_fingerprint"));
    add_gpus(machine, out);
    add_row(out, "Driver", lp_machine_text(machine, "driver.kernel_version"));
    add_row(out, "CUDA of the driver", lp_machine_text(machine, "driver.cuda_version"));
    add_row(out, "CUPTI", lp_machine_text(machine, "cupti.path"));
    add_software(machine, out);
    add_host(machine, out);
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
    add_count(out, "Kernels recorded next to sampled calls, in no total",
              ledger->kernels_outside_window);
    add_count(out, "Kernels of triggered windows", ledger->kernels_in_windows);
    add_count(out, "Launches without a kernel",
              counted ? ledger->launches_missing : LLMPERF_UNKNOWN);
    add_count(out, "Memcpy and memset calls", counted ? ledger->memory_calls : LLMPERF_UNKNOWN);
    add_count(out, "Memcpys and memsets seen", ledger->memory_seen);
    add_count(out, "Records dropped", ledger->records_dropped);
    add_count(out, "Records with an invalid time", ledger->records_invalid_time);
    add_count(out, "Records without a start or an end", ledger->records_incomplete);
    add_count(out, "Duplicate records", ledger->records_duplicate);
    add_count(out, "Late records", ledger->records_late);
    add_count(out, "Graph nodes without a capture region", ledger->graph_nodes_unmapped);
    add_count(out, "Graphs that can be launched from the device",
              counted ? ledger->graphs_device_launchable : LLMPERF_UNKNOWN);
    add_count(out, "Region records dropped", ledger->regions_dropped);
    add_count(out, "Launches with a correlation id already in use", ledger->launches_duplicate);
    add_count(out, "Graph records missing", ledger->graph_records_missing);
    add_count(out, "Memcpy and memset calls without a record", ledger->memory_missing);
    add_count(out, "Records that begin before their launch", ledger->records_before_launch);
    add_count(out, "Records of another tool", ledger->records_foreign);
    add_count(out, "Records with names beyond the limit", ledger->names_over_limit);
    add_count(out, "Errors of the device source", ledger->source_errors);
    add_count(out, "Regions cut by the start or the end", ledger->regions_truncated);
    add_count(out, "Region ends without a begin", ledger->regions_unbalanced);
    add_count(out, "Regions still open when an enclosing one ended", ledger->regions_abandoned);
    add_count(out, "Regions beyond the path limit", ledger->regions_over_limit);
    add_count(out, "Allocations beyond the limit", ledger->allocations_over_limit);
    add_value(out, "CUPTI overhead ms", ledger->tracing_overhead_ms);
    add_value(out, "Collected %", counted ? 100 * ledger->sampled_fraction : NAN);
    add_value(out, "Device time with a known launch %", 100 * ledger->attributed_gpu_time_share);
}

static void add_ledger(const llmperf_profile *profile, const llmperf_ledger *ledger,
                       struct lp_text *out)
{
    lp_text_printf(out, "\n## Ledger\n\nVerdict: **%s**.\n\n",
                   llmperf_name(LLMPERF_NAME_VERDICT, ledger->verdict));
    if (llmperf_profile_problem(profile, 0)) {
        lp_problems_md(profile, out);
        lp_text_puts(out, "\n");
    }
    add_ledger_counts(ledger, out);
}

static void add_aggregates(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_aggregates *sums = &findings->sums;
    bool device = findings->device_known;

    lp_text_puts(out, "\n## Aggregates\n\n| | |\n| --- | ---: |\n");
    add_value(out, "Profiled ms", lp_duration_ms(findings->profile));
    add_value(out, "Device ms, all kernels, memcpys and memsets", device ? sums->device_ms : NAN);
    add_value(out, "Kernels ms", device ? sums->kernel_ms : NAN);
    add_count(out, "Kernels", device ? sums->kernel_count : LLMPERF_UNKNOWN);
    add_value(out, "Memcpys ms", device ? sums->memcpy_ms : NAN);
    add_count(out, "Copies", device ? sums->memcpy_count : LLMPERF_UNKNOWN);
    add_value(out, "Memsets ms", device ? sums->memset_ms : NAN);
    add_value(out, "Launched outside of regions ms", device ? sums->outside_ms : NAN);
    add_value(out, "Launch not seen ms", device ? sums->unknown_launch_ms : NAN);
}

/* Shares of the time from the first to the last activity of each device. */
static void add_devices(const struct lp_findings *findings, struct lp_text *out)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_DEVICE);

    if (count > 0)
        lp_text_puts(out,
                     "\n| GPU | First to last activity ms | Busy % | Waiting for launches % | "
                     "Gaps % | Host did not launch for 1 ms or longer % | Launched ahead by ms "
                     "|\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count; i++) {
        const struct lp_device_time *row = lp_row_at(findings->profile, LP_ROW_DEVICE, i);

        lp_text_puts(out, "|");
        lp_md_cell_device(out, row->device);
        lp_md_cell_number(out, row->span_ms);
        lp_md_cell_number(out, 100 * row->busy_ms / row->span_ms);
        lp_md_cell_number(out, 100 * row->idle_launch_ms / row->span_ms);
        lp_md_cell_number(out, 100 * row->idle_wait_ms / row->span_ms);
        lp_md_cell_number(out, 100 * row->idle_host_ms / row->span_ms);
        lp_md_cell_number(out, row->queued_ms);
        lp_text_puts(out, "\n");
    }
}

static void add_notes(const struct lp_findings *findings, struct lp_text *out)
{
    const char *note;

    lp_text_puts(out, "\n## Notes\n\n");
    for (size_t i = 0; (note = llmperf_profile_note(findings->profile, i)); i++) {
        lp_text_puts(out, "- ");
        lp_md_text(out, note);
        lp_text_puts(out, "\n");
    }
    lp_variation_md(findings, out);
    lp_text_puts(out,
                 "- " LP_MD_UNKNOWN " marks an unknown value. Percentiles are accurate to 2 %.\n");
}

static void add_title(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "# ");
    lp_md_text(out, findings->about.title);
    lp_text_puts(out, "\n\n");
    lp_verdict_md(findings, out);
    lp_headline_md(findings, out);
    if (findings->advice.rows.count == 0)
        return;
    lp_text_puts(out, "\nWhat to look at first:\n\n");
    lp_advice_md(findings, FIRST_ADVICE, out);
}

static void add_advice(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "\n## Recommendations\n\n");
    if (findings->advice.rows.count == 0)
        lp_text_puts(out, "None: no rule applies to this run.\n");
    lp_advice_md(findings, SIZE_MAX, out);
}

/* Tables of measurements, then of findings. */
static int add_sections(const struct lp_findings *findings, struct lp_text *out)
{
    int status;

    lp_ncu_md(findings, lp_findings_top(findings, TOP_KERNELS), out);
    lp_text_puts(out, "\n## Where the time goes\n\n");
    lp_waterfall_md(findings, out);
    lp_text_puts(out, "\n## Per-stage timings\n\n");
    if ((status = lp_table_stages(findings, lp_findings_top(findings, TOP_REGIONS), out)) < 0)
        return status;
    lp_vision_md(findings, out);
    lp_requests_md(findings, out);
    lp_text_puts(out, "\n## MFU and MBU\n\n");
    lp_utilisation_md(findings, out);
    lp_energy_md(findings, out);
    lp_text_puts(out, "\n## Roofline\n\n");
    lp_roofline_md(findings, out);
    lp_measured_md(findings, out);
    lp_text_puts(out, "\n## Top operators\n\n");
    if ((status = lp_table_operators(findings->profile, lp_findings_top(findings, TOP_OPERATORS),
                                     out)) < 0)
        return status;
    lp_text_puts(out, "\n## Top kernels\n\n");
    lp_table_kernel_names(findings, lp_findings_top(findings, TOP_NAMES), out);
    if ((status = lp_table_kernels(findings->profile, lp_findings_top(findings, TOP_KERNELS), false,
                                   out)) < 0)
        return status;
    lp_text_puts(out, "\n## Kernel shapes\n\n");
    lp_shapes_md(findings, lp_findings_top(findings, TOP_SHAPES), out);
    if (findings->tables.captures.count > 0) {
        lp_text_puts(out, "\n## CUDA graphs by captured region\n\n");
        lp_captures_md(findings, TOP_CAPTURES, out);
    }
    lp_text_puts(out, "\n## Kernel classes per stage\n\n");
    lp_table_classes(findings, out);
    lp_host_calls_md(findings, out);
    lp_memory_md(findings, out);
    lp_ranks_md(findings, out);
    lp_collectives_md(findings, lp_findings_top(findings, TOP_KERNELS), out);
    lp_text_puts(out, "\n## Iterations\n\n");
    lp_iterations_md(findings, out);
    if (findings->tables.windows.count > 0) {
        lp_text_puts(out, "\n## Triggered windows\n\n");
        lp_windows_md(findings, out);
    }
    return 0;
}

int lp_report_md(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    if ((status = lp_findings_of(profile, &findings)) == 0) {
        add_title(findings, out);
        add_environment(findings, out);
        add_aggregates(findings, out);
        add_devices(findings, out);
        status = add_sections(findings, out);
        add_advice(findings, out);
        add_ledger(profile, &findings->ledger, out);
        add_notes(findings, out);
    }
    return status;
}

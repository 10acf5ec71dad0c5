/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/output/facts.h"
#include "lib/output/headline_md.h"
#include "lib/output/limits_md.h"
#include "lib/output/markdown.h"
#include "lib/output/output.h"
#include "lib/output/tables_md.h"

/* Rows of the report's tables; the rest stands in operators.md and kernels.md. */
#define TOP_OPERATORS 15
#define TOP_KERNELS   20

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
        lp_text_printf(out, ", compute capability %s, ", capability ? capability : LP_MD_UNKNOWN);
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
    add_count(out, "Graphs that the device may launch unseen",
              counted ? ledger->graphs_device_launchable : LLMPERF_UNKNOWN);
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
        lp_problems_md(profile, out);
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
                      " stands where a value is not known. Percentiles are within 2 %.\n");
}

static int add_limits(const llmperf_profile *profile, struct lp_text *out)
{
    struct lp_view view;
    int status = lp_view_init(&view, profile);

    lp_text_puts(out, "\n## MFU and MBU\n\n");
    if (status == 0)
        lp_limits_md(&view, out);
    lp_view_clear(&view);
    return status;
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
    lp_verdict_md(profile, &ledger, out);
    lp_headline_md(profile, &ledger, out);
    lp_text_puts(out, "\n## Stages\n\n");
    if ((status = lp_table_stages(profile, out)) < 0)
        return status;
    if ((status = add_limits(profile, out)) < 0)
        return status;
    lp_text_puts(out, "\n## Top operators\n\n");
    if ((status = lp_table_operators(profile, TOP_OPERATORS, out)) < 0)
        return status;
    lp_text_puts(out, "\n## Kernel classes\n\n");
    if ((status = lp_table_classes(profile, out)) < 0)
        return status;
    lp_text_puts(out, "\n## Top kernels\n\n");
    if ((status = lp_table_kernels(profile, TOP_KERNELS, false, out)) < 0)
        return status;
    add_ledger(profile, &ledger, out);
    add_environment(profile, out);
    add_notes(profile, out);
    return 0;
}

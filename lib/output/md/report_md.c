/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/findings/limits/facts.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/md/ncu_md.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "lib/output/format/row_fields.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/output/md/tables_md.h"
#include "lib/base/text.h"
#include "lib/profile/fields.h"

/* Advice shown at the top. */
#define FIRST_ADVICE    3
#define TOP_NCU_KERNELS 20

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
        lp_pair_text(out, "GPU", lp_machine_text(machine, "gpus_reason"));
}

static void add_host(const struct lp_machine *machine, struct lp_text *out)
{
    lp_pair_text(out, "Host", lp_machine_text(machine, "host.hostname"));
    lp_pair_text(out, "CPU", lp_machine_text(machine, "host.cpu_model"));
    lp_pair_text(out, "Kernel", lp_machine_text(machine, "host.kernel"));
    lp_pair_text(out, "Container", lp_machine_text(machine, "host.container"));
}

static void add_software(const struct lp_machine *machine, struct lp_text *out)
{
    const char *name, *version;

    for (size_t i = 0; (name = lp_machine_member(machine, "software", i, &version)); i++)
        lp_pair_text(out, name, version);
}

static void add_environment(const struct lp_findings *findings, struct lp_text *out)
{
    static const char *const facts[][2] = {
        { "Run", "run_id" },
        { "Created", "created_at" },
        { "llmperf", "llmperf_version" },
        { "Tier", "tier" },
        { "Device source", "source" },
        { "Reason for this source", "source_reason" },
        { "nsys", "nsys_version" },
        { "ncu", "ncu_version" },
        { "Recording", "recorded_from" },
        { "Process", "process_id" },
    };
    const llmperf_profile *profile = findings->profile;
    const struct lp_machine *machine = findings->machine;

    lp_pair_head(out);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        lp_pair_text(out, facts[i][0], llmperf_profile_fact(profile, facts[i][1]));
    lp_pair_text(out, "Model", lp_model_fact(profile));
    lp_pair_text(out, "SHA-256 of config.yaml",
                 llmperf_profile_fact(profile, "config_fingerprint"));
    add_gpus(machine, out);
    lp_pair_text(out, "Driver", lp_machine_text(machine, "driver.kernel_version"));
    lp_pair_text(out, "CUDA of the driver", lp_machine_text(machine, "driver.cuda_version"));
    lp_pair_text(out, "CUPTI", lp_machine_text(machine, "cupti.path"));
    add_software(machine, out);
    add_host(machine, out);
}

static void add_field(const struct lp_row_field *field, double value, struct lp_text *out)
{
    lp_text_puts(out, "| ");
    for (const char *at = field->json; *at; at++)
        lp_text_add(out, *at == '_' ? " " : at, 1);
    lp_text_puts(out, " | ");
    if (field->type == LP_FIELD_COUNT)
        lp_md_count(out, (uint64_t)value);
    else
        lp_md_number(out, value);
    lp_text_puts(out, " |\n");
}

/* Names as in metrics.json. Counts that are 0 are left out, except for the first ones: of launches
 * and of what was seen. */
static void add_ledger(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_row_kind *kind = &lp_row_kinds[LP_ROW_LEDGER];
    llmperf_ledger room;
    const llmperf_ledger *row = lp_shown_row(findings->profile, LP_ROW_LEDGER, 0, &room);
    size_t zeros = 0;

    lp_text_printf(out, "Verdict: **%s**.\n\n",
                   llmperf_name(LLMPERF_NAME_VERDICT, findings->ledger.verdict));
    lp_problems_md(findings->profile, out);
    lp_text_puts(out, llmperf_profile_problem(findings->profile, 0) ? "\n| | |\n| --- | ---: |\n"
                                                                    : "| | |\n| --- | ---: |\n");
    for (size_t i = 0; i < kind->count; i++) {
        double value = lp_field_value(&kind->fields[i], row);

        if (!kind->fields[i].json || isnan(value))
            continue;
        if (value > 0 || kind->fields[i].offset < offsetof(llmperf_ledger, records_dropped))
            add_field(&kind->fields[i], value, out);
        else
            zeros++;
    }
    lp_text_printf(out, "\nThe other %zu counts of metrics.json are 0.\n", zeros);
}

static void add_aggregates(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_aggregates *sums = &findings->sums;
    bool device = findings->device_known;

    lp_pair_head(out);
    lp_pair_number(out, "Profiled ms", lp_duration_ms(findings->profile));
    lp_pair_number(out, "Device ms, all kernels, memcpys and memsets",
                   device ? sums->device_ms : NAN);
    lp_pair_number(out, "Kernels ms", device ? sums->kernel_ms : NAN);
    lp_pair_count(out, "Kernels", device ? sums->kernel_count : LLMPERF_UNKNOWN);
    lp_pair_number(out, "Memcpys ms", device ? sums->memcpy_ms : NAN);
    lp_pair_count(out, "Copies", device ? sums->memcpy_count : LLMPERF_UNKNOWN);
    lp_pair_number(out, "Memsets ms", device ? sums->memset_ms : NAN);
    lp_pair_number(out, "Launched outside of regions ms", device ? sums->outside_ms : NAN);
    lp_pair_number(out, "Launch not seen ms", device ? sums->unknown_launch_ms : NAN);
}

/* Shares of the time from the first to the last activity of each device. */
static void add_devices(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN("GPU", struct lp_device_time, device),
        LP_COLUMN("First to last activity ms", struct lp_device_time, span_ms),
        LP_COLUMN_PER("Busy %", struct lp_device_time, busy_ms, 100, span_ms),
        LP_COLUMN_PER("Waiting for launches %", struct lp_device_time, idle_launch_ms, 100,
                      span_ms),
        LP_COLUMN_PER("Gaps %", struct lp_device_time, idle_wait_ms, 100, span_ms),
        LP_COLUMN_PER("Host did not launch for 0.2 ms or longer %", struct lp_device_time,
                      idle_host_ms, 100, span_ms),
        LP_COLUMN("Launched ahead by ms", struct lp_device_time, queued_ms),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_ROWS(findings->profile, LP_ROW_DEVICE) };

    lp_text_puts(out, table.row_count > 0 ? "\n" : "");
    lp_table_add(findings, &table, out);
}

static void add_aggregates_and_devices(const struct lp_findings *findings, struct lp_text *out)
{
    add_aggregates(findings, out);
    add_devices(findings, out);
}

static void add_notes(const struct lp_findings *findings, struct lp_text *out)
{
    const char *note;

    for (size_t i = 0; (note = llmperf_profile_note(findings->profile, i)); i++) {
        lp_text_puts(out, "- ");
        lp_md_text(out, note);
        lp_text_puts(out, "\n");
    }
    lp_variation_md(findings, out);
    lp_text_puts(out,
                 "- " LP_MD_UNKNOWN " marks an unknown value. Percentiles are accurate to 2 %.\n");
}

static void add_first_advice(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->advice.rows.count == 0)
        lp_text_puts(out, "Nothing to recommend from the numbers of this run.\n");
    lp_advice_md(findings, 0, FIRST_ADVICE, out);
    if (!lp_verdict_is_usual(findings))
        return;
    lp_text_puts(out, "\n");
    lp_verdict_md(findings, out);
}

static void add_further_advice(const struct lp_findings *findings, struct lp_text *out)
{
    lp_advice_md(findings, FIRST_ADVICE, SIZE_MAX, out);
}

static void add_ncu(const struct lp_findings *findings, struct lp_text *out)
{
    lp_ncu_md(findings, lp_findings_top(findings, TOP_NCU_KERNELS), out);
}

const struct lp_section lp_sections[] = {
    { "waterfall", "Where the time goes", lp_waterfall_md },
    { "advice", "What to look at first", add_first_advice },
    { "further-advice", "Further advice", add_further_advice },
    { "further-waterfalls", "Where the time of the other stages goes", lp_other_waterfalls_md },
    { "ncu-section", "Kernels measured by ncu", add_ncu },
    { "timeline-section", "Timeline", NULL },
    { "stages-section", "Stages", lp_stages_section_md },
    { "requests-section", "Requests", lp_requests_md },
    { "roofline", "Roofline, MFU and MBU", lp_use_md },
    { "iterations", "Calls of stages", lp_iterations_md },
    { "classes-section", "Kernel classes", lp_classes_md },
    { "operators-section", "Operators", lp_operators_section_md },
    { "kernels-section", "Kernels", lp_kernels_section_md },
    { "shapes", "Kernel shapes", lp_shapes_md },
    { "stalls-section", "Stall reasons", lp_stalls_md },
    { "captures-section", "CUDA graphs by captured region", lp_captures_md },
    { "counters-section", "Hardware counters", lp_measured_md },
    { "ranks-section", "GPUs that work together", lp_ranks_md },
    { "collectives-section", "Collectives", lp_collectives_md },
    { "host_calls-section", "Host calls that block", lp_host_calls_md },
    { "memory-section", "Device memory", lp_memory_md },
    { "energy-section", "Energy and clocks", lp_energy_md },
    { "windows-section", "Triggered windows", lp_windows_md },
    { "aggregates-section", "Aggregates", add_aggregates_and_devices },
    { "ledger-section", "Completeness", add_ledger },
    { "environment-section", "Environment", add_environment },
    { "notes", "Notes", add_notes },
};
const size_t lp_section_count = sizeof(lp_sections) / sizeof(lp_sections[0]);

/* Nothing if the section is empty. */
static void add_section(const struct lp_findings *findings, const struct lp_section *section,
                        struct lp_text *out)
{
    size_t before = out->length, begin;

    lp_text_printf(out, "\n## %s\n\n", section->title);
    begin = out->length;
    section->add(findings, out);
    if (out->failed)
        return;
    while (out->length > begin && out->bytes[out->length - 2] == '\n')
        out->length--;
    if (out->length == begin)
        out->length = before;
    out->bytes[out->length] = '\0';
}

int lp_report_md(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status = lp_findings_of(profile, &findings);

    if (status < 0)
        return status;
    lp_text_puts(out, "# ");
    lp_md_text(out, findings->about.title);
    lp_text_puts(out, "\n\n");
    if (!lp_verdict_is_usual(findings)) {
        lp_verdict_md(findings, out);
        lp_text_puts(out, "\n");
    }
    lp_headline_md(findings, out);
    for (size_t i = 0; i < lp_section_count; i++)
        if (lp_sections[i].add)
            add_section(findings, &lp_sections[i], out);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ledger, environment and notes of report.html. */
#include <math.h>

#include "lib/output/format/html.h"
#include "lib/output/html/html_tables.h"
#include "lib/profile/profile.h"

static void count_row(struct lp_text *out, const char *name, const char *key, uint64_t value)
{
    lp_text_puts(out, "<tr>");
    lp_html_cell_text(out, name);
    lp_html_cell_count(out, LP_POINTER("/ledger/%s", key), value);
    lp_text_puts(out, "</tr>\n");
}

static void share_row(struct lp_text *out, const char *name, const char *key, double value)
{
    lp_text_puts(out, "<tr>");
    lp_html_cell_text(out, name);
    lp_html_cell_percent(out, LP_POINTER("/ledger/%s", key), value);
    lp_text_puts(out, "</tr>\n");
}

void lp_html_ledger(const struct lp_findings *findings, struct lp_text *out)
{
    static const char *const headings[] = { "What", "#Number", NULL };
    const llmperf_ledger *ledger = &findings->ledger;
    bool counted = ledger->verdict != LLMPERF_VERDICT_NO_DEVICE;
    uint64_t none = LLMPERF_UNKNOWN;

    lp_html_table_open(out, "Expected and seen records.", headings);
    count_row(out, "Kernel launches expected", "launches_expected",
              counted ? ledger->launches_expected : none);
    count_row(out, "Graph launches", "graph_launches", counted ? ledger->graph_launches : none);
    count_row(out, "Kernels seen", "kernels_seen", ledger->kernels_seen);
    count_row(out, "Kernels of graphs", "graph_kernels_seen", ledger->graph_kernels_seen);
    count_row(out, "Kernels attributed", "kernels_attributed", ledger->kernels_attributed);
    count_row(out, "Kernels launched outside of regions", "kernels_outside",
              ledger->kernels_outside);
    count_row(out, "Kernels without a known launch", "kernels_unattributed",
              ledger->kernels_unattributed);
    count_row(out, "Launches without a kernel", "launches_missing",
              counted ? ledger->launches_missing : none);
    count_row(out, "Records dropped", "records_dropped", ledger->records_dropped);
    count_row(out, "Records with an invalid time", "records_invalid_time",
              ledger->records_invalid_time);
    count_row(out, "Records without a start or an end", "records_incomplete",
              ledger->records_incomplete);
    count_row(out, "Duplicate records", "records_duplicate", ledger->records_duplicate);
    count_row(out, "Late records", "records_late", ledger->records_late);
    count_row(out, "Region records dropped", "regions_dropped", ledger->regions_dropped);
    share_row(out, "Collected", "sampled_fraction", counted ? ledger->sampled_fraction : NAN);
    share_row(out, "Device time with a known launch", "attributed_gpu_time_share",
              ledger->attributed_gpu_time_share);
    lp_html_table_close(out);
}

static void text_row(struct lp_text *out, const char *name, const char *value)
{
    if (!value)
        return;
    lp_text_puts(out, "<tr>");
    lp_html_cell_text(out, name);
    lp_html_cell_code(out, value);
    lp_text_puts(out, "</tr>\n");
}

static void fact_row(const struct lp_findings *findings, struct lp_text *out, const char *name,
                     const char *key)
{
    text_row(out, name, llmperf_profile_fact(findings->profile, key));
}

void lp_html_environment(const struct lp_findings *findings, struct lp_text *out)
{
    static const char *const headings[] = { "What", "Value", NULL };

    lp_html_table_open(out, "Run and machine; more in env.json.", headings);
    fact_row(findings, out, "Created", "created_at");
    fact_row(findings, out, "llmperf", "llmperf_version");
    fact_row(findings, out, "Tier", "tier");
    fact_row(findings, out, "Device source", "source");
    fact_row(findings, out, "Reason for this source", "source_reason");
    fact_row(findings, out, "Recording", "recorded_from");
    fact_row(findings, out, "Model", "model");
    fact_row(findings, out, "Counting convention", "model_convention");
    fact_row(findings, out, "GPUs that share each layer (tensor_parallel)", LP_TENSOR_FACT);
    text_row(out, "GPU", findings->limits.gpu_name);
    text_row(out, "Driver", lp_machine_text(findings->machine, "driver.kernel_version"));
    text_row(out, "CUPTI", lp_machine_text(findings->machine, "cupti.path"));
    text_row(out, "Host", lp_machine_text(findings->machine, "host.hostname"));
    text_row(out, "CPU", lp_machine_text(findings->machine, "host.cpu_model"));
    lp_html_table_close(out);
}

void lp_html_notes(const struct lp_findings *findings, struct lp_text *out)
{
    const char *note;

    lp_text_puts(out, "<ul>\n");
    for (size_t i = 0; (note = llmperf_profile_note(findings->profile, i)); i++) {
        lp_text_printf(out, "<li data-text=\"/notes/%zu\">", i);
        lp_html_text(out, note);
        lp_text_puts(out, "</li>\n");
    }
    if (findings->limits.hardware_reason[0]) {
        lp_text_puts(out, "<li>");
        lp_html_text(out, findings->limits.hardware_reason);
        lp_text_puts(out, "</li>\n");
    }
    if (findings->limits.dtype_reason[0]) {
        lp_text_puts(out, "<li>");
        lp_html_text(out, findings->limits.dtype_reason);
        lp_text_puts(out, "</li>\n");
    }
    lp_text_puts(out, "<li>A dash marks an unknown value. Percentiles are accurate to 2 %. The "
                      "page is self-contained.</li>\n</ul>\n");
}

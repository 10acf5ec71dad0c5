/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/findings/limits/facts.h"
#include "lib/output/md/kernel_names.h"
#include "lib/output/md/ncu_md.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/fields.h"
#include "llmperf/region.h"
#include "lib/base/text.h"

void lp_table_warning(const llmperf_profile *profile, struct lp_text *out)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    const char *meaning = NULL;

    llmperf_profile_ledger(profile, &ledger);
    switch (ledger.verdict) {
    case LLMPERF_VERDICT_SAMPLED:
        meaning = "sampled: only a share of the work was collected.";
        break;
    case LLMPERF_VERDICT_INCOMPLETE:
        meaning = "records are missing, device times are lower bounds; see report.md.";
        break;
    case LLMPERF_VERDICT_NO_DEVICE:
        meaning = "no device was observed: host times only.";
        break;
    case LLMPERF_VERDICT_DEAD:
        meaning = "kernels were launched, but no records were received: device times are unknown.";
        break;
    default:
        return;
    }
    lp_text_printf(out, "**Verdict: %s** – %s\n\n",
                   llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict), meaning);
}

static bool device_known(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    return lp_device_known(&ledger);
}

int lp_table_operators(const llmperf_profile *profile, size_t limit, struct lp_text *out)
{
    size_t count = lp_row_count(profile, LP_ROW_OPERATOR);
    bool known = device_known(profile);

    if (count == 0) {
        lp_text_puts(out, "No operator was marked (regions below a stage).\n");
        return 0;
    }
    lp_text_puts(out, "| Operator | Stage | Calls | Wall ms | Mean ms | GPU busy ms |\n"
                      "| --- | --- | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count && i < limit; i++) {
        llmperf_operator_stats op = LLMPERF_OPERATOR_STATS_INIT;

        llmperf_profile_operator(profile, i, &op);
        lp_text_puts(out, "|");
        lp_md_cell_code(out, op.name);
        lp_md_cell_code(out, op.stage);
        lp_md_cell_count(out, op.calls);
        lp_md_cell_number(out, op.total_time_ms);
        lp_md_cell_number(out, op.mean_ms);
        lp_md_cell_number(out, known ? op.cuda_time_ms : NAN);
        lp_text_puts(out, "\n");
    }
    if (count > limit)
        lp_text_printf(out, "\n%zu more in operators.md.\n", count - limit);
    return 0;
}

void lp_table_classes(const struct lp_findings *findings, struct lp_text *out)
{
    if (lp_row_count(findings->profile, LP_ROW_KERNEL) == 0) {
        lp_text_puts(out, "No kernels: no device activity was observed.\n");
        return;
    }
    if (!findings->classes) {
        lp_text_puts(out, "Unknown: kernel_classes.yaml could not be read (set LLMPERF_CONFIG_DIR "
                          "to its folder).\n");
        return;
    }
    lp_text_puts(out, "| Stage | Kernel class | Total ms | Calls | Share of stage % |\n"
                      "| --- | --- | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < findings->class_totals.rows.count; i++) {
        const struct lp_class_total *row = &findings->class_totals.rows.items[i];

        lp_text_puts(out, "|");
        if (row->stage)
            lp_md_cell_code(out, row->stage);
        else
            lp_text_puts(out, " (no stage) |");
        lp_md_cell_text(out, row->kernel_class);
        lp_md_cell_number(out, row->total_ms);
        lp_md_cell_count(out, row->calls);
        lp_md_cell_number(out, 100 * row->share);
        lp_text_puts(out, "\n");
    }
}

/* The column of capture regions is shown only if there are kernels of CUDA graphs. */
static bool has_captures(const llmperf_profile *profile)
{
    return lp_row_count(profile, LP_ROW_CAPTURE) > 0;
}

static void captured_cell(const llmperf_kernel_stats *kernel, struct lp_text *out)
{
    if (kernel->captured_in)
        lp_md_cell_region(out, kernel->captured_in);
    else
        lp_text_puts(out, " |");
}

static void kernel_row(const struct lp_kernel_names *names, size_t index,
                       const llmperf_kernel_stats *kernel, bool wide, bool captures,
                       struct lp_text *out)
{
    lp_text_puts(out, "|");
    lp_kernel_names_cell(names, index, kernel, out);
    lp_md_cell_region(out, kernel->region);
    if (captures)
        captured_cell(kernel, out);
    lp_md_cell_device(out, kernel->device);
    lp_md_cell_number(out, kernel->total_ms);
    lp_md_cell_count(out, kernel->calls);
    lp_md_cell_number(out, kernel->mean_ms);
    if (wide)
        lp_md_percentiles(out, LP_ROW_KERNEL, kernel);
    lp_md_cell_number(out, 100 * kernel->share);
    lp_text_puts(out, "\n");
}

static void kernel_header(bool wide, bool captures, struct lp_text *out)
{
    lp_text_printf(out, "| Kernel | Region |%s Device | Total ms | Calls | Mean ms |",
                   captures ? " Captured in |" : "");
    if (wide)
        lp_md_percentile_heads(out);
    lp_text_printf(out, " Share %% |\n| --- | --- |%s ---: | ---: | ---: | ---: |",
                   captures ? " --- |" : "");
    if (wide)
        lp_md_percentile_rules(out);
    lp_text_puts(out, " ---: |\n");
}

int lp_table_kernels(const llmperf_profile *profile, size_t limit, bool wide, struct lp_text *out)
{
    size_t count = lp_row_count(profile, LP_ROW_KERNEL);
    struct lp_kernel_names names;
    double rest = 0;
    int status;

    if (count == 0) {
        lp_text_puts(out, device_known(profile) ? "No device activity was seen.\n"
                                                : "No kernels: no device activity was observed.\n");
        return 0;
    }
    if ((status = lp_kernel_names_init(&names, profile)) < 0)
        goto out;
    kernel_header(wide, has_captures(profile), out);
    for (size_t i = 0; i < count; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (i < limit)
            kernel_row(&names, i, &kernel, wide, has_captures(profile), out);
        else
            rest += kernel.share;
    }
    if (count > limit) {
        lp_text_printf(out, "\n%zu more rows in kernels.md, in total ", count - limit);
        lp_md_number(out, 100 * rest);
        lp_text_puts(out, " % of device time.\n");
    }
    lp_kernel_names_legend(&names, profile, limit, out);
out:
    lp_kernel_names_clear(&names);
    return status;
}

/* Title and warning, for documents with one table. */
static void begin_document(const llmperf_profile *profile, const char *title, struct lp_text *out)
{
    const char *run_id = llmperf_profile_fact(profile, "run_id");

    lp_text_printf(out, "# %s", title);
    if (run_id) {
        lp_text_puts(out, ": ");
        lp_md_text(out, run_id);
    }
    lp_text_puts(out, "\n\n");
    lp_table_warning(profile, out);
}

int lp_stages_md(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    begin_document(profile, "Stages", out);
    status = lp_findings_of(profile, &findings);
    return status < 0 ? status : lp_table_stages(findings, SIZE_MAX, out);
}

int lp_kernels_md(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    begin_document(profile, "Kernels", out);
    if ((status = lp_findings_of(profile, &findings)) < 0)
        return status;
    lp_table_kernel_names(findings, SIZE_MAX, out);
    status = lp_table_kernels(profile, SIZE_MAX, true, out);
    lp_ncu_md(findings, SIZE_MAX, out);
    return status;
}

int lp_operators_md(const llmperf_profile *profile, struct lp_text *out)
{
    begin_document(profile, "Operators", out);
    return lp_table_operators(profile, SIZE_MAX, out);
}

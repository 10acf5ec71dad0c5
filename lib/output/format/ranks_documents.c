/* SPDX-License-Identifier: Apache-2.0 */
/** GPUs that work on one stage together, in the documents. */
#include "lib/output/format/html.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/metrics_put.h"
#include "lib/findings/ranks.h"
#include "lib/findings/findings.h"

void lp_ranks_md(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->ranks.rows.count == 0)
        return;
    lp_text_puts(out, "\n## GPUs that work together\n\n"
                      "Of one instance; kernel times are sums. A collective ends when the last GPU "
                      "has come to it: what the others wait is at least what they are in "
                      "collectives longer than the one with the least.\n\n"
                      "| Stage | GPU | Instances | Wall ms | Computing ms | In collectives ms | "
                      "Collectives | Waiting ms, at least |\n"
                      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &findings->ranks.rows.items[i];

        lp_text_puts(out, "|");
        lp_md_cell_region_of(out, rank->region,
                             lp_shown_process(findings->profile, rank->process_id));
        lp_md_cell_device(out, rank->device);
        lp_md_cell_count(out, rank->instances);
        lp_md_cell_number(out, rank->wall_ms);
        lp_md_cell_number(out, rank->compute_ms);
        lp_md_cell_number(out, rank->collective_ms);
        lp_md_cell_number(out, rank->collective_count);
        lp_md_cell_number(out, rank->waiting_ms);
        lp_text_puts(out, "\n");
    }
}

void lp_ranks_html(const struct lp_findings *findings, struct lp_text *out)
{
    static const char *const headings[] = { "Stage",
                                            "#Process",
                                            "#GPU",
                                            "#Wall ms",
                                            "#Computing ms",
                                            "#In collectives ms",
                                            "#Collectives",
                                            "#Waiting ms, at least",
                                            NULL };

    if (findings->ranks.rows.count == 0)
        return;
    lp_html_table_open(out,
                       "GPUs that work together, of one instance. A collective ends when the last "
                       "GPU has come to it: the others wait.",
                       headings);
    for (size_t i = 0; i < findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &findings->ranks.rows.items[i];

        lp_text_puts(out, "<tr>");
        lp_html_cell_code(out, rank->region);
        lp_html_cell_count(out, LP_POINTER("/ranks/%zu/process_id", i), rank->process_id);
        lp_html_cell_count(out, LP_POINTER("/ranks/%zu/device", i), (uint64_t)rank->device);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/wall_ms", i), rank->wall_ms);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/compute_ms", i), rank->compute_ms);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/collective_ms", i), rank->collective_ms);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/collective_count", i),
                            rank->collective_count);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/waiting_ms", i), rank->waiting_ms);
        lp_text_puts(out, "</tr>\n");
    }
    lp_html_table_close(out);
}

void lp_put_ranks(struct lp_metrics *metrics)
{
    struct lp_json *json = &metrics->json;

    lp_json_open(json, "ranks", '[');
    for (size_t i = 0; i < metrics->findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &metrics->findings->ranks.rows.items[i];

        lp_json_open(json, NULL, '{');
        lp_json_string(json, "region", rank->region);
        lp_json_count(json, "process_id", rank->process_id);
        lp_json_count(json, "device", (uint64_t)rank->device);
        lp_json_count(json, "instances", rank->instances);
        lp_put_number(metrics, "wall_ms", rank->wall_ms, LP_REASON_NO_INSTANCE);
        lp_json_number(json, "compute_ms", rank->compute_ms);
        lp_json_number(json, "collective_ms", rank->collective_ms);
        lp_json_number(json, "collective_count", rank->collective_count);
        lp_put_number(metrics, "waiting_ms", rank->waiting_ms, LP_REASON_UNLIKE_RANKS);
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

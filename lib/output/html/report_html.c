/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/output/format/html.h"
#include "lib/output/html/html_tables.h"
#include "lib/output/format/documents.h"
#include "lib/output/html/svg.h"
#include "lib/base/text.h"

static const struct section {
    const char *id, *title;
    void (*add)(const struct lp_findings *findings, struct lp_text *out);
    bool withheld; /* left out if the profile's coverage is too low */
} sections[] = {
    { "recommendations", "Recommendations", lp_html_advice, false },
    { "timeline-of-stages", "Timeline", lp_svg_timeline, true },
    { "stages", "Stages", lp_html_stages, false },
    { "requests", "Requests", lp_html_requests, false },
    { "utilisation", "Distance from the bound, MBU and MFU", lp_html_utilisation, true },
    { "roofline-of-regions", "Roofline", lp_svg_roofline, false },
    { "iterations", "Iterations", lp_html_iterations, true },
    { "kernel-classes", "Kernel classes", lp_html_classes, false },
    { "operators", "Operators", lp_html_operators, false },
    { "kernels", "Kernels", lp_html_kernels, false },
    { "ledger", "Ledger", lp_html_ledger, false },
    { "environment", "Environment", lp_html_environment, false },
    { "notes", "Notes", lp_html_notes, false },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static void add_head(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                      "<title>llmperf report: ");
    lp_html_text(out, llmperf_profile_fact(findings->profile, "run_id"));
    lp_text_puts(out, "</title>\n<style>\n");
    lp_text_puts(out, lp_html_style);
    lp_text_puts(out, lp_html_print_style);
    lp_text_puts(out, "</style>\n</head>\n<body>\n<header>\n<h1>llmperf report: <code>");
    lp_html_text(out, llmperf_profile_fact(findings->profile, "run_id"));
    lp_text_puts(out, "</code></h1>\n");
}

static const char *meaning(uint32_t verdict)
{
    switch (verdict) {
    case LLMPERF_VERDICT_COMPLETE:
        return "every launch has its records, and every record its launch.";
    case LLMPERF_VERDICT_SAMPLED:
        return "sampled on purpose: a known share of the work was collected; device times cover "
               "that share.";
    case LLMPERF_VERDICT_NO_DEVICE:
        return "no device was observed: host times only.";
    case LLMPERF_VERDICT_DEAD:
        return "kernels were launched, but no records were received: device times are unknown.";
    default:
        return "records are missing: device times are lower bounds.";
    }
}

static void add_verdict(const struct lp_findings *findings, struct lp_text *out)
{
    uint32_t verdict = findings->ledger.verdict;
    bool good = verdict == LLMPERF_VERDICT_COMPLETE || verdict == LLMPERF_VERDICT_SAMPLED;
    const char *problem;

    lp_text_printf(out, "<div class=\"verdict%s\"><strong>Verdict: %s</strong> – %s",
                   good ? "" : " bad", llmperf_name(LLMPERF_NAME_VERDICT, verdict),
                   meaning(verdict));
    if (llmperf_profile_problem(findings->profile, 0))
        lp_text_puts(out, "<ul>");
    for (size_t i = 0; (problem = llmperf_profile_problem(findings->profile, i)); i++) {
        lp_text_printf(out, "<li data-text=\"/ledger/problems/%zu\">", i);
        lp_html_text(out, problem);
        lp_text_puts(out, "</li>");
    }
    if (llmperf_profile_problem(findings->profile, 0))
        lp_text_puts(out, "</ul>");
    lp_text_puts(out, "</div>\n");
}

static bool is_shown(const struct lp_findings *findings, const struct section *section)
{
    return section->add != lp_html_requests || findings->serving.totals;
}

static void add_contents(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "<nav aria-label=\"Sections\">");
    for (size_t i = 0; i < SECTIONS; i++)
        if (is_shown(findings, &sections[i]))
            lp_text_printf(out, "<a href=\"#%s\">%s</a> ", sections[i].id, sections[i].title);
    lp_text_puts(out, "</nav>\n</header>\n<main>\n");
}

static void add_section(const struct lp_findings *findings, const struct section *section,
                        struct lp_text *out)
{
    lp_text_printf(out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", section->id,
                   section->id, section->title);
    if (findings->withheld && section->withheld)
        lp_text_puts(out, "<p>Withheld: too much of the work is missing from the ledger.</p>\n");
    else
        section->add(findings, out);
    lp_text_puts(out, "</section>\n");
}

int lp_report_html(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    if ((status = lp_findings_of(profile, &findings)) == 0) {
        add_head(findings, out);
        add_verdict(findings, out);
        add_contents(findings, out);
        for (size_t i = 0; i < SECTIONS; i++)
            if (is_shown(findings, &sections[i]))
                add_section(findings, &sections[i], out);
        lp_text_puts(out, "</main>\n<script>\n");
        lp_text_puts(out, lp_html_script);
        lp_text_puts(out, "</script>\n</body>\n</html>\n");
    }
    return out->failed ? LLMPERF_ENOMEM : status;
}

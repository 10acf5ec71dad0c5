/* SPDX-License-Identifier: Apache-2.0 */
/** Tables and lists of report.html.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_HTML_HTML_TABLES_H
#define LP_OUTPUT_HTML_HTML_TABLES_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

void lp_html_advice(const struct lp_findings *findings, struct lp_text *out);
void lp_html_stages(const struct lp_findings *findings, struct lp_text *out);
/** Only where there were requests. */
void lp_html_requests(const struct lp_findings *findings, struct lp_text *out);
void lp_html_utilisation(const struct lp_findings *findings, struct lp_text *out);
void lp_html_iterations(const struct lp_findings *findings, struct lp_text *out);
void lp_html_classes(const struct lp_findings *findings, struct lp_text *out);
void lp_html_operators(const struct lp_findings *findings, struct lp_text *out);
void lp_html_kernels(const struct lp_findings *findings, struct lp_text *out);
void lp_html_ledger(const struct lp_findings *findings, struct lp_text *out);
void lp_html_environment(const struct lp_findings *findings, struct lp_text *out);
void lp_html_notes(const struct lp_findings *findings, struct lp_text *out);

#endif

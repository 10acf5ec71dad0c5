/* SPDX-License-Identifier: Apache-2.0 */
/** Public header of output: the documents of a profile, and JSON text for other writers.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_DOCUMENTS_H
#define LP_OUTPUT_FORMAT_DOCUMENTS_H

#include "lib/base/text.h"
#include "llmperf/output.h"

/** One function per document; each adds to `out`. 0 or LLMPERF_ENOMEM. */
int lp_report_md(const llmperf_profile *profile, struct lp_text *out);
int lp_stages_md(const llmperf_profile *profile, struct lp_text *out);
int lp_kernels_md(const llmperf_profile *profile, struct lp_text *out);
int lp_operators_md(const llmperf_profile *profile, struct lp_text *out);
int lp_summary_md(const llmperf_profile *profile, struct lp_text *out);
int lp_assumptions_md(const llmperf_profile *profile, struct lp_text *out);
int lp_report_html(const llmperf_profile *profile, struct lp_text *out);
int lp_inputs_yaml(const llmperf_profile *profile, struct lp_text *out);
int lp_metrics_json(const llmperf_profile *profile, struct lp_text *out);
int lp_prometheus(const llmperf_profile *profile, struct lp_text *out);
int lp_rows_csv(const llmperf_profile *profile, struct lp_text *out);
int lp_rows_jsonl(const llmperf_profile *profile, struct lp_text *out);

/** Check that calls to jansson reach jansson. 0; LLMPERF_ESTATE: the program has functions with the
 * same names; LLMPERF_ENOMEM.
 * @threads any thread */
int lp_jansson_check(void);

#endif

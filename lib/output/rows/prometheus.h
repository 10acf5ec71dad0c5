/* SPDX-License-Identifier: Apache-2.0 */
/** Samples of the text format of Prometheus, and the families that are counts over the single
 * instances of stages.
 * @threads any thread */
#ifndef LP_OUTPUT_ROWS_PROMETHEUS_H
#define LP_OUTPUT_ROWS_PROMETHEUS_H

#include "lib/base/text.h"
#include "llmperf/profile.h"

/** A label of the sample that `out` ends with: `{name="value"`, or with a comma behind others. */
void lp_prometheus_label(struct lp_text *out, const char *name, const char *value);

/** The end of a sample: its value, and the line. */
void lp_prometheus_value(struct lp_text *out, double value);

/** Histograms of the host time of stages: percentiles of any stretch of time come from these, the
 * gauges of regions are of the whole session. */
void lp_prometheus_stages(const llmperf_profile *profile, struct lp_text *out);

/** Triggered windows: a sample for each rule of a process that held. */
void lp_prometheus_windows(const llmperf_profile *profile, struct lp_text *out);

#endif

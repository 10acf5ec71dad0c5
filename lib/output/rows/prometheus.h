/* SPDX-License-Identifier: Apache-2.0 */
/** Samples in the text format of Prometheus, and families that count single calls of stages.
 * @threads any thread */
#ifndef LP_OUTPUT_ROWS_PROMETHEUS_H
#define LP_OUTPUT_ROWS_PROMETHEUS_H

#include "lib/base/text.h"
#include "llmperf/profile.h"

/** Add a label to the sample at the end of `out`, with "{" or "," before it. */
void lp_prometheus_label(struct lp_text *out, const char *name, const char *value);

/** End a sample with its value. */
void lp_prometheus_value(struct lp_text *out, double value);

/** Histograms of the wall time of stages, from which percentiles of any interval can be computed.
 * The gauges of regions are over the whole session. */
void lp_prometheus_stages(const llmperf_profile *profile, struct lp_text *out);

/** Histograms of the latencies of requests. */
void lp_prometheus_requests(const llmperf_profile *profile, struct lp_text *out);

/** Triggered windows: a sample for each process and each rule that triggered. */
void lp_prometheus_windows(const llmperf_profile *profile, struct lp_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Sections of report.md about what the numbers mean. Each adds its text without a heading (unless
 * noted), or the reason why it has none.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_SECTIONS_MD_H
#define LP_OUTPUT_MD_SECTIONS_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** Ratio to the lower bound, MBU and MFU of regions whose work is known. */
void lp_utilisation_md(const struct lp_findings *findings, struct lp_text *out);

/** Is the work of all regions unknown? Then it says why. */
bool lp_work_is_missing(const struct lp_findings *findings, struct lp_text *out);

/** The same regions on the roofline, and the longest kernels. */
void lp_roofline_md(const struct lp_findings *findings, struct lp_text *out);

/** Work counted by hardware counters, compared with that of the model; with a heading. Nothing
 * without counters. */
void lp_measured_md(const struct lp_findings *findings, struct lp_text *out);

/** Where the time of an iteration is spent, by stage. */
void lp_iterations_md(const struct lp_findings *findings, struct lp_text *out);

/** From the lower bound of each stage to its elapsed time. */
void lp_waterfall_md(const struct lp_findings *findings, struct lp_text *out);

/** Device memory that was allocated, with its heading; nothing where none was recorded. */
void lp_memory_md(const struct lp_findings *findings, struct lp_text *out);

/** Driver calls that block, with its heading; nothing where none were recorded. */
void lp_host_calls_md(const struct lp_findings *findings, struct lp_text *out);

/** The shapes of kernels with most time, at most `limit`. */
void lp_shapes_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** Latencies of requests, with its heading; nothing where none were reported. */
void lp_requests_md(const struct lp_findings *findings, struct lp_text *out);

/** Energy, clocks and memory of GPUs, and the energy of stages, with its heading; nothing where
 * NVML was not read. */
void lp_energy_md(const struct lp_findings *findings, struct lp_text *out);

/** At most `limit` recommendations, as a numbered list. */
void lp_advice_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** A line for each stage with a nested vision stage: its share. */
void lp_vision_md(const struct lp_findings *findings, struct lp_text *out);

/** A line for each stage whose calls vary. */
void lp_variation_md(const struct lp_findings *findings, struct lp_text *out);

#endif

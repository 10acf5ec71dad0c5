/* SPDX-License-Identifier: Apache-2.0 */
/** Sections of report.md. Each adds its text without the heading, or the reason why it has none;
 * nothing where it does not apply.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_SECTIONS_MD_H
#define LP_OUTPUT_MD_SECTIONS_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** A section of report.md and of report.html, which have the same titles in the same order. */
struct lp_section {
    const char *id, *title;
    void (*add)(const struct lp_findings *findings, struct lp_text *out); /* NULL: not here */
};
extern const struct lp_section lp_sections[];
extern const size_t lp_section_count;

/** From its lower bound to its elapsed time: the stage with most time; all others. */
void lp_waterfall_md(const struct lp_findings *findings, struct lp_text *out);
void lp_other_waterfalls_md(const struct lp_findings *findings, struct lp_text *out);

/** Times of stages, and a line for each stage with a nested vision stage: its share. */
void lp_stages_section_md(const struct lp_findings *findings, struct lp_text *out);

/** Stall reasons and hot instructions of kernels. */
void lp_stalls_md(const struct lp_findings *findings, struct lp_text *out);

/** Latencies of requests. */
void lp_requests_md(const struct lp_findings *findings, struct lp_text *out);

/** Ratio to the lower bound, MFU and MBU of regions whose work is known, and the longest kernels on
 * the roofline. */
void lp_use_md(const struct lp_findings *findings, struct lp_text *out);

/** "- bandwidth: 4800 GB/s (table, confidence high: SOURCE)" */
void lp_limit_md(struct lp_text *out, const char *name, const char *unit,
                 const llmperf_hardware_value *value);

/** Where the time of a call is spent, by stage with several calls. */
void lp_iterations_md(const struct lp_findings *findings, struct lp_text *out);

/** Device time by stage and kernel class. */
void lp_classes_md(const struct lp_findings *findings, struct lp_text *out);

/** The longest operators and kernels. */
void lp_operators_section_md(const struct lp_findings *findings, struct lp_text *out);
void lp_kernels_section_md(const struct lp_findings *findings, struct lp_text *out);
void lp_shapes_md(const struct lp_findings *findings, struct lp_text *out);

/** Device work of CUDA graphs by the region in which it was captured. */
void lp_captures_md(const struct lp_findings *findings, struct lp_text *out);

/** Work counted by hardware counters, compared with that of the model. */
void lp_measured_md(const struct lp_findings *findings, struct lp_text *out);

/** GPUs that share a stage, and their collectives. */
void lp_ranks_md(const struct lp_findings *findings, struct lp_text *out);
void lp_collectives_md(const struct lp_findings *findings, struct lp_text *out);

/** Driver calls that block. */
void lp_host_calls_md(const struct lp_findings *findings, struct lp_text *out);

/** Device memory that was allocated. */
void lp_memory_md(const struct lp_findings *findings, struct lp_text *out);

/** Energy, clocks and memory of GPUs, and the energy of stages. */
void lp_energy_md(const struct lp_findings *findings, struct lp_text *out);

/** All triggered windows, and the longest kernels of the newest ones. */
void lp_windows_md(const struct lp_findings *findings, struct lp_text *out);

/** Recommendations as a numbered list, from the one after `first` to `last`. */
void lp_advice_md(const struct lp_findings *findings, size_t first, size_t last,
                  struct lp_text *out);

/** A line for each stage whose calls vary. */
void lp_variation_md(const struct lp_findings *findings, struct lp_text *out);

#endif

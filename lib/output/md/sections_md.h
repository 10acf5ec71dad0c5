/* SPDX-License-Identifier: Apache-2.0 */
/** Sections of report.md that say what the numbers mean. Each adds its text, without a heading;
 * where nothing is known it says why, unless it says otherwise.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_SECTIONS_MD_H
#define LP_OUTPUT_MD_SECTIONS_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** Distance from the floor, MBU and MFU of regions whose work is known. */
void lp_utilisation_md(const struct lp_findings *findings, struct lp_text *out);

/** Is there nothing to say of the work of regions? Says why. */
bool lp_work_is_missing(const struct lp_findings *findings, struct lp_text *out);

/** The same regions on the roofline, and the kernels with the most time. */
void lp_roofline_md(const struct lp_findings *findings, struct lp_text *out);

/** Work that hardware counters saw beside that of the model, with its heading; nothing where none
 * was counted. */
void lp_measured_md(const struct lp_findings *findings, struct lp_text *out);

/** Where the time of an iteration goes, by stage. */
void lp_iterations_md(const struct lp_findings *findings, struct lp_text *out);

/** Recommendations as a numbered list, at most `limit`. */
void lp_advice_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** One line for each stage that holds a vision stage: how much of it that is. */
void lp_vision_md(const struct lp_findings *findings, struct lp_text *out);

/** One line for each stage whose instances differ. */
void lp_variation_md(const struct lp_findings *findings, struct lp_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Reports of a profile, and comparisons of profiles.
 *
 * Every document is made from the profile alone: from a session that just ended, a snapshot of one
 * that is running, or a run that was opened from disk. */
#ifndef LLMPERF_OUTPUT_H
#define LLMPERF_OUTPUT_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Documents that a profile can be written as. */
enum {
    LLMPERF_DOCUMENT_REPORT_MD = 1,              /**< report.md: the full report, Markdown */
    LLMPERF_DOCUMENT_STAGES_MD = 2,              /**< stages.md: prefill, decode, vision */
    LLMPERF_DOCUMENT_KERNELS_MD = 3,             /**< kernels.md: sorted by total time */
    LLMPERF_DOCUMENT_OPERATORS_MD = 4,           /**< operators.md */
    LLMPERF_DOCUMENT_METRICS_JSON = 5,           /**< metrics.json (metrics.schema.json) */
    LLMPERF_DOCUMENT_ENV_JSON = 6,               /**< env.json: machine and versions */
    LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD = 7, /**< stakeholder_summary.md: one page */
    LLMPERF_DOCUMENT_ASSUMPTIONS_MD = 8,         /**< assumptions.md: what the numbers assume */
    LLMPERF_DOCUMENT_INPUTS_YAML = 9,            /**< inputs.yaml: llmperf_session_add_input() */
    LLMPERF_DOCUMENT_PROMETHEUS = 10,            /**< Prometheus text format; seconds and bytes */
    LLMPERF_DOCUMENT_ROWS_CSV = 11,              /**< CSV: one line for each number of each row */
    LLMPERF_DOCUMENT_ROWS_JSONL = 12,            /**< JSON lines: one object for each row */
    LLMPERF_DOCUMENT_REPORT_HTML = 13            /**< report.html: one self-contained page */
};

/** Make a document in memory.
 *
 * @param profile   Borrowed.
 * @param document  LLMPERF_DOCUMENT_…
 * @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such document), LLMPERF_ENOMEM.
 * @threads any thread; one at a time per profile */
LLMPERF_API int llmperf_document_text(const llmperf_profile *profile, uint32_t document,
                                      char **text_out);

/** Write a document to a file. It is written to a temporary file in the same folder and renamed, so
 * readers never see an incomplete document.
 *
 * @param profile   Borrowed.
 * @param document  LLMPERF_DOCUMENT_…
 * @param path      File to create or replace. A run file or another database is refused.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads any thread; one at a time per profile */
LLMPERF_API int llmperf_document_write(const llmperf_profile *profile, uint32_t document,
                                       const char *path);

/** Write the report files of a run into its folder: all documents before
 * LLMPERF_DOCUMENT_PROMETHEUS, and report.html.
 *
 * @param profile  Borrowed.
 * @param run_dir  Folder of the run; it must exist.
 * @return as llmperf_document_write()
 * @threads any thread; one at a time per profile */
LLMPERF_API int llmperf_artifacts_write(const llmperf_profile *profile, const char *run_dir);

/** Formats of results that are not documents of a profile, such as a comparison. */
enum {
    LLMPERF_TEXT_PLAIN = 0, /**< Markdown */
    LLMPERF_TEXT_JSON = 1,  /**< JSON, with a schema in conf/schema */
    LLMPERF_TEXT_HTML = 2   /**< a self-contained page; of comparisons only */
};

/** Compare two runs, or two groups of repeated runs. Reported are the host time of each region per
 * call, and its device time per call by kernel class (nested regions included).
 *
 * A quantity is slower if its mean grew by more than the threshold and the difference is
 * significant at 1 % (Welch's t-test; Welch 1947). With several runs on a side, mean and standard
 * error are those of the runs' means; with one run, those of its iterations or calls; with one
 * call, only the threshold counts. Quantities below 1 % of both runs are not judged, nor are
 * differences that other work per call (tokens, FLOPs, context, sequences) can explain: these are
 * reported as "other work". In tier light, device times are those of the sampled calls.
 *
 * A run of several processes or GPUs is compared as one job: host time is that of the slowest
 * process, device time the sum over GPUs. Stages that several GPUs execute together are split into
 * computing, communicating and waiting. If both runs have the same ranks, each rank is also
 * compared with itself; these rows do not count in `slower_out`.
 *
 * Runs are comparable if each spends at least half of its device time (host time, if neither run
 * has device time) in regions that the other run has too, and at least one quantity could be
 * judged. A run with verdict `dead`, and a run without kernels next to one with kernels, are not
 * comparable. docs/reference/metrics.md has the complete rules.
 *
 * @param base               Borrowed: `base_count` profiles, at least one.
 * @param base_count         Number of profiles in `base`.
 * @param fresh              Borrowed: `fresh_count` profiles, at least one.
 * @param fresh_count        Number of profiles in `fresh`.
 * @param threshold_percent  0 or more; 5 is usual.
 * @param format             LLMPERF_TEXT_…; the JSON has the schema compare.schema.json.
 * @param text_out           Yours: llmperf_text_free().
 * @param slower_out         Number of quantities that became slower; may be NULL.
 * @return LLMPERF_OK; LLMPERF_ENOTCOMPARABLE (llmperf_last_error() has the reason; both results are
 * set), LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread; one at a time per profile */
LLMPERF_API int llmperf_runs_compare(const llmperf_profile *const *base, size_t base_count,
                                     const llmperf_profile *const *fresh, size_t fresh_count,
                                     double threshold_percent, uint32_t format, char **text_out,
                                     uint64_t *slower_out);

#ifdef __cplusplus
}
#endif
#endif

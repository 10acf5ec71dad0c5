/* SPDX-License-Identifier: Apache-2.0 */
/** Reports and checks.
 *
 * @threads one at a time per object */
#ifndef LLMPERF_OUTPUT_H
#define LLMPERF_OUTPUT_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Documents that a profile can be written as. */
enum {
    LLMPERF_DOCUMENT_REPORT_MD = 1,    /**< report.md: everything, for people */
    LLMPERF_DOCUMENT_STAGES_MD = 2,    /**< stages.md */
    LLMPERF_DOCUMENT_KERNELS_MD = 3,   /**< kernels.md, sorted by total time */
    LLMPERF_DOCUMENT_OPERATORS_MD = 4, /**< operators.md */
    LLMPERF_DOCUMENT_METRICS_JSON = 5, /**< metrics.json, see conf/schema/metrics.schema.json */
    LLMPERF_DOCUMENT_ENV_JSON = 6,     /**< env.json: machine and versions */
    LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD =
        7,                               /**< stakeholder_summary.md: in plain words, one page */
    LLMPERF_DOCUMENT_ASSUMPTIONS_MD = 8, /**< assumptions.md: what the numbers rest on */
    LLMPERF_DOCUMENT_INPUTS_YAML = 9,    /**< inputs.yaml: manifest, llmperf_session_add_input() */
    LLMPERF_DOCUMENT_PROMETHEUS = 10, /**< totals in Prometheus' text format; seconds and bytes */
    LLMPERF_DOCUMENT_ROWS_CSV = 11,   /**< every number of every row, one a line */
    LLMPERF_DOCUMENT_ROWS_JSONL = 12, /**< every row, one JSON object a line, "type" first */
    LLMPERF_DOCUMENT_REPORT_HTML = 13 /**< report.html: one page with charts that loads nothing */
};

/** A document as text. @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_document_text(const llmperf_profile *profile, uint32_t document,
                                      char **text_out);

/** A document as a file; a temporary file beside it is renamed, so readers never see half of it.
 * @return LLMPERF_OK, LLMPERF_EINVAL (also for a path that is a run file or another database),
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_document_write(const llmperf_profile *profile, uint32_t document,
                                       const char *path);

/** All documents of a run into its directory, without those from LLMPERF_DOCUMENT_PROMETHEUS on:
 * they are made on request. It must exist. @return as llmperf_document_write(). */
LLMPERF_API int llmperf_artifacts_write(const llmperf_profile *profile, const char *run_dir);

/** Formats of llmperf_compare(). */
enum { LLMPERF_COMPARE_MD = 0, LLMPERF_COMPARE_JSON = 1 };

/** Compare two runs: host time of an instance of each region, and device time by
 * kernel class of what an instance launched, nested regions included. A quantity is slower if its
 * mean grew by more than the threshold and by more than chance makes in 1 of 100 cases (Welch's
 * test, Welch 1947; spreads of iterations where both runs have them, else of instances and calls);
 * where a run has one instance only, the threshold decides alone. Quantities below 1 % of both runs
 * are not judged. Where an instance has other work (tokens, FLOPs, context, sequences) a difference
 * that this can explain is reported as "other work" and is neither slower nor faster;
 * docs/metrics.md has the rule. Device times of a run that samples are of the instances that were
 * collected.
 *
 * A run of several processes or GPUs is one job. Wall time of a job is that of the process that is
 * slowest in the region on average, device time the sum over its GPUs, which is not judged where
 * the runs have other numbers of GPUs. Of stages that GPUs work on together (ranks[] of
 * metrics.json) there are "computing" (most of any GPU, collectives left out), "communicating"
 * (least time in collectives of any GPU) and "waiting" (most time in collectives beyond that).
 * Ranks are no repeats of one another: noise is that within each, and errors of GPUs are added up.
 * Where both runs have the same ranks, each rank is also compared with itself; these rows do not
 * count in slower_out.
 *
 * Runs can be compared if each spends at least half of its device time in regions (or, outside of
 * regions, in kernels) that the other side has too, and if some quantity could be judged. If no run
 * has device time, host time is used. A run with verdict dead, and one without kernels beside one
 * with kernels, cannot be compared. The status is LLMPERF_ENOTCOMPARABLE then, llmperf_last_error()
 * says why, and `text_out` and `slower_out` are set all the same.
 *
 * @param threshold_percent  From 0 on.
 * @param format      LLMPERF_COMPARE_…; conf/schema/compare.schema.json is the schema of the JSON.
 * @param text_out    Yours: llmperf_text_free().
 * @param slower_out  Number of quantities that became slower; NULL: not wanted.
 * @return LLMPERF_OK, LLMPERF_ENOTCOMPARABLE, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_compare(const llmperf_profile *base, const llmperf_profile *fresh,
                                double threshold_percent, uint32_t format, char **text_out,
                                uint64_t *slower_out);

/** The same with repeats of runs on either side: a quantity of a side is the mean of the means of
 * its runs, and its noise comes from how far the runs are apart, which holds what instances of one
 * run cannot show (clocks, other hosts, other memory). A side of one run is as in
 * llmperf_compare().
 *
 * @param base, fresh  Borrowed, `base_count` and `fresh_count` of them, at least one each.
 * @return as llmperf_compare(). */
LLMPERF_API int llmperf_compare_runs(const llmperf_profile *const *base, size_t base_count,
                                     const llmperf_profile *const *fresh, size_t fresh_count,
                                     double threshold_percent, uint32_t format, char **text_out,
                                     uint64_t *slower_out);

#ifdef __cplusplus
}
#endif
#endif

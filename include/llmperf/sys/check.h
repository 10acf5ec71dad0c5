/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Checks of JSON documents, of repeated runs and of this machine. */
#ifndef LLMPERF_SYS_CHECK_H
#define LLMPERF_SYS_CHECK_H

#include "llmperf/output.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Write a text to a file, the way llmperf_document_write() writes a document.
 *
 * @param text  Borrowed, for example from llmperf_runs_compare().
 * @param path  File to create or replace. A run file or another database is refused.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_EIO.
 * @threads any thread */
LLMPERF_API int llmperf_text_write(const char *text, const char *path);

/** Find a character that must not reach a terminal: control characters (C0, DEL, C1), line and
 * paragraph separators, and characters that change the direction of text.
 *
 * @param at  Borrowed: a place in a text.
 * @return Length in bytes of such a character at this place; 0: there is none.
 * @threads any thread */
LLMPERF_API size_t llmperf_text_control(const char *at);

/** Check a JSON file against a JSON Schema. Supported is the part of JSON Schema 2020-12 that
 * llmperf's own schemas use.
 *
 * @param path         JSON file.
 * @param schema_path  JSON Schema. NULL: the schema of metrics.json, region reports, comparisons or
 * repeats, whichever the content asks for.
 * @return LLMPERF_OK; LLMPERF_EFORMAT (the error names the first violation), LLMPERF_ENOENT,
 * LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_validate(const char *path, const char *schema_path);

/** Compare repeated runs of one program. For the quantities of the run, its regions and iterations:
 * mean, standard deviation (n - 1), minimum, maximum, coefficient of variation, and spread
 * ((max - min) / mean).
 *
 * Findings are: a spread above the threshold in the run's duration or GPU busy time, or in the mean
 * host time or GPU busy time of a region with at least 1 % of the run; and any difference in
 * program, GPU, driver, tier, configuration, model, dtype, version or calls of a region. A run is
 * an outlier if it is further from the median than the threshold and its modified z-score is above
 * 3.5 (Iglewicz and Hoaglin 1993); this takes three runs.
 *
 * @param profiles           Borrowed: `count` profiles, at least two.
 * @param count              Number of profiles.
 * @param threshold_percent  0 or more; 10 is usual.
 * @param format             LLMPERF_TEXT_…; the JSON has the schema repeats.schema.json.
 * @param text_out           Yours: llmperf_text_free().
 * @param findings_out       Number of findings; may be NULL.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread; one at a time per profile */
LLMPERF_API int llmperf_repeats_compare(const llmperf_profile *const *profiles, size_t count,
                                        double threshold_percent, uint32_t format, char **text_out,
                                        uint64_t *findings_out);

/** Check whether profiling works on this machine, and say how to mend what does not: driver, GPUs,
 * CUPTI, NVIDIA's tools, permissions, environment variables.
 *
 * @param format    LLMPERF_TEXT_…
 * @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK (kernels can be profiled); LLMPERF_ENODEVICE (only host times can be measured;
 * the text is set and has the reason), LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_machine_check(uint32_t format, char **text_out);

#ifdef __cplusplus
}
#endif
#endif

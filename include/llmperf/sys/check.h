/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Checks: documents against schemas, rules, repeated runs against one another, this machine. */
#ifndef LLMPERF_SYS_CHECK_H
#define LLMPERF_SYS_CHECK_H

#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A text as a file, such as one of llmperf_compare(), in the way of llmperf_document_write().
 * @return LLMPERF_OK, LLMPERF_EINVAL (also for a path that is a run file or another database),
 * LLMPERF_EIO. @threads any thread */
LLMPERF_API int llmperf_text_write(const char *text, const char *path);

/** Check a metrics.json, or any JSON file against a schema of your own (the part of JSON Schema
 * 2020-12 that ours uses).
 *
 * @param schema_path  NULL: that of conf/schema in llmperf_config_dir() for metrics.json, region
 * reports, comparisons or repeats, by content.
 * @return LLMPERF_OK; LLMPERF_EFORMAT (the error names the place that fails), LLMPERF_ENOENT,
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_validate(const char *path, const char *schema_path);

/** Are these rules of llmperf_session_options such that a session takes them? "" is none, which is
 * fine.
 * @return LLMPERF_OK; LLMPERF_EINVAL with what is wrong. @threads any thread */
LLMPERF_API int llmperf_rules_check(const char *rules);

/** Formats of llmperf_repeats(). */
enum { LLMPERF_REPEATS_MD = 0, LLMPERF_REPEATS_JSON = 1 };

/** Compare repeated runs of one program: mean, standard deviation (n - 1), min, max, cv and
 * spread, (max - min) / mean, of the numbers of the run, of regions and of iterations, and which
 * runs are outliers (further from the median than the threshold and by the modified
 * z-score of Iglewicz and Hoaglin 1993 above 3.5; this needs three runs). Duration and GPU
 * busy time of the run, and mean wall time and GPU busy time of regions from 1 % of the run on are
 * judged by their spread. Runs that differ in program, GPU, driver, tier,
 * configuration, model, dtype, version or instances of a region are reported: they are no repeats.
 *
 * @param profiles   Borrowed, `count` of them, two at least.
 * @param threshold_percent  From 0 on; 10 is usual.
 * @param format     LLMPERF_REPEATS_…; the JSON is that of conf/schema/repeats.schema.json.
 * @param text_out   Yours: llmperf_text_free().
 * @param findings_out  Times that are further apart than the threshold, and ways in which the runs
 * are no repeats; NULL: not wanted.
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_repeats(const llmperf_profile *const *profiles, size_t count,
                                double threshold_percent, uint32_t format, char **text_out,
                                uint64_t *findings_out);

/** Formats of llmperf_doctor(). */
enum { LLMPERF_DOCTOR_TEXT = 0, LLMPERF_DOCTOR_JSON = 1 };

/** What works on this machine and what to do about the rest: driver, GPUs, CUPTI, tools,
 * permissions, variables.
 *
 * @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK (profiling kernels works), LLMPERF_ENODEVICE (host times only; the text says
 * why), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_doctor(uint32_t format, char **text_out);

#ifdef __cplusplus
}
#endif
#endif

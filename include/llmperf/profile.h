/* SPDX-License-Identifier: Apache-2.0 */
/** A profile: totals by region and by kernel at one moment, and a ledger that shows how complete
 * they are.
 *
 * Rows of a kind (rows.h) are read by number, from 0 to llmperf_profile_count() - 1:
 *
 *     llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
 *
 *     for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++)
 *         if (llmperf_profile_region(profile, i, &region) == LLMPERF_OK)
 *             printf("%s %f ms\n", region.path, region.gpu_busy_ms); */
#ifndef LLMPERF_PROFILE_H
#define LLMPERF_PROFILE_H

#include "llmperf/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Totals of one run. */
typedef struct llmperf_profile llmperf_profile;

/** Number of rows of a kind.
 *
 * @param profile  Borrowed; NULL has none.
 * @param rows     LLMPERF_ROWS_…
 * @return 0 for other numbers; for stages, advice, GPUs and kernel shapes also when out of memory.
 * @threads any thread */
LLMPERF_API size_t llmperf_profile_count(const llmperf_profile *profile, uint32_t rows);

/** A region.
 *
 * @param index  Row, from 0.
 * @param stats_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_region(const llmperf_profile *profile, size_t index,
                                       llmperf_region_stats *stats_out);

/** A kernel, memcpy or memset.
 *
 * @param index  Row, from 0.
 * @param stats_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_kernel(const llmperf_profile *profile, size_t index,
                                       llmperf_kernel_stats *stats_out);

/** A shape of a kernel, copy or memset.
 *
 * @param index  Row, from 0.
 * @param shape_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_kernel_shape(const llmperf_profile *profile, size_t index,
                                             llmperf_kernel_shape *shape_out);

/** An operator.
 *
 * @param index  Row, from 0.
 * @param stats_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_operator(const llmperf_profile *profile, size_t index,
                                         llmperf_operator_stats *stats_out);

/** Work of CUDA graphs by launch region and capture region.
 *
 * @param index  Row, from 0.
 * @param stats_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_capture(const llmperf_profile *profile, size_t index,
                                        llmperf_capture_stats *stats_out);

/** A metric.
 *
 * @param index  Row, from 0.
 * @param stats_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_metric(const llmperf_profile *profile, size_t index,
                                       llmperf_metric_stats *stats_out);

/** A triggered window.
 *
 * @param index  Row, from 0.
 * @param stats_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_window(const llmperf_profile *profile, size_t index,
                                       llmperf_window_stats *stats_out);

/** A kernel of a triggered window.
 *
 * @param index  Row, from 0.
 * @param kernel_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_window_kernel(const llmperf_profile *profile, size_t index,
                                              llmperf_window_kernel *kernel_out);

/** Device memory of a GPU or region.
 *
 * @param index  Row, from 0.
 * @param memory_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_memory(const llmperf_profile *profile, size_t index,
                                       llmperf_memory *memory_out);

/** Energy, clocks and memory of a GPU.
 *
 * @param index  Row, from 0.
 * @param energy_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_energy(const llmperf_profile *profile, size_t index,
                                       llmperf_energy *energy_out);

/** The requests of the run.
 *
 * @param requests_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL (none began while the session ran).
 * @threads any thread */
LLMPERF_API int llmperf_profile_requests(const llmperf_profile *profile,
                                         llmperf_requests *requests_out);

/** Distribution of a latency of requests. A quantity without values has no row.
 *
 * @param index  Row, from 0.
 * @param latency_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_latency(const llmperf_profile *profile, size_t index,
                                        llmperf_latency *latency_out);

/** One of the ten slowest finished requests of each of three quantities.
 *
 * @param index  Row, from 0.
 * @param request_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_slow_request(const llmperf_profile *profile, size_t index,
                                             llmperf_slow_request *request_out);

/** The load in an interval.
 *
 * @param index  Row, from 0.
 * @param load_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_load(const llmperf_profile *profile, size_t index,
                                     llmperf_load *load_out);

/** Calls of a function of the CUDA driver in a region.
 *
 * @param index  Row, from 0.
 * @param call_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_host_call(const llmperf_profile *profile, size_t index,
                                          llmperf_host_call *call_out);

/** An iteration.
 *
 * @param index  Row, from 0.
 * @param iteration_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_iteration(const llmperf_profile *profile, size_t index,
                                          llmperf_iteration *iteration_out);

/** Distribution of a quantity over the iterations of a stage.
 *
 * @param index  Row, from 0.
 * @param stats_out  struct_size set by the caller. Texts belong to the profile.
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such row).
 * @threads any thread */
LLMPERF_API int llmperf_profile_iteration_stats(const llmperf_profile *profile, size_t index,
                                                llmperf_iteration_stats *stats_out);

/** Name of a kernel class in llmperf_iteration.class_ms.
 *
 * @param index  Element of class_ms, from 0.
 * @return Text of the profile; NULL: the profile has no such class.
 * @threads any thread */
LLMPERF_API const char *llmperf_profile_class(const llmperf_profile *profile, size_t index);

/** The ledger.
 *
 * @param ledger_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_profile_ledger(const llmperf_profile *profile, llmperf_ledger *ledger_out);

/** Problems: what is missing from the profile, or wrong with it.
 *
 * @param index  From 0.
 * @return One line, text of the profile; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_profile_problem(const llmperf_profile *profile, size_t index);

/** Notes: why values are unknown, and what else a reader should know.
 *
 * @param index  From 0.
 * @return One line, text of the profile; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_profile_note(const llmperf_profile *profile, size_t index);

/** Facts about the run.
 *
 * @param key  "run_id", "created_at", "tier", "source", "duration_ms", "gpu_busy_ms" (union of all
 * activities of a device, summed over devices) …
 * @return Text of the profile; NULL: not known.
 * @threads any thread */
LLMPERF_API const char *llmperf_profile_fact(const llmperf_profile *profile, const char *key);

/** Apply a model and a dtype, for example to a run that was recorded without them. FLOPs and bytes
 * are computed from the tokens, sequences and context that the program counted, and from them MFU,
 * MBU and floors. FLOPs and bytes that the program counted itself stay; those of an earlier model
 * are replaced. If the run does not keep every call of a stage, calls of equal size are assumed and
 * a note says so. If nothing can be computed, fact "model_reason" says why.
 *
 * @param model  As for llmperf_model_open(). NULL: `model` of the configuration in the profile.
 * @param dtype  Dtype of the arithmetic, as for llmperf_hardware_peak(). NULL: as configured, else
 * that of the model.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOTSUP,
 * LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads one at a time per object */
LLMPERF_API int llmperf_profile_apply_model(llmperf_profile *profile, const char *model,
                                            const char *dtype);

/** Save a profile as a run file (SQLite). An existing file is replaced once the new one is
 * complete.
 *
 * @param path  File to create or replace.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_save(const llmperf_profile *profile, const char *path);

/** Open a run. Files are only read. A run whose process was killed opens as well, with what was
 * committed until then. A finished run has checksums; if they do not match its content, it is
 * refused. With LLMPERF_OPEN_CHANGED=1 in the environment it opens with a problem and a verdict no
 * better than `incomplete`.
 *
 * @param run          Folder of a run, or its run.llmperf. A folder of `llmperf run` with several
 * processes opens as all of them together.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT (no such run, or nothing was committed), LLMPERF_EFORMAT
 * (damaged, changed, or not a run), LLMPERF_EIO, LLMPERF_ENOMEM, LLMPERF_ESTATE (in a child forked
 * while a session wrote a run).
 * @threads any thread */
LLMPERF_API int llmperf_profile_open(const char *run, llmperf_profile **profile_out);

/** Merge runs into one: ranks or processes of a job, or parts of a long run.
 *
 * - Regions stay separate by process; runs of one process, such as two sessions of it, are added
 *   up. If two processes have the same id, 4194304 (the number of process ids in Linux) is added to
 *   the second as often as needed.
 * - Kernels, memcpys and memsets of the same region and GPU are added up; percentiles come from
 * their histograms.
 * - GPUs are matched by UUID. A GPU whose ordinal is taken gets the first free one.
 * - The verdict is that of the worst run.
 * - Single iterations are kept only if one run alone has some.
 * - A run that would count twice is refused: given twice, copied, or also part of a merged run.
 *
 * Facts of the result: "merged_from" has the names of the runs, "merged_runs" a line for each with
 * its key of 16 hexadecimal digits and its name.
 *
 * @param profiles     Borrowed: `count` profiles, at least one.
 * @param count        Number of profiles.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL (also if a run would count twice), LLMPERF_EFORMAT (a damaged
 * histogram), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_merge(const llmperf_profile *const *profiles, size_t count,
                                      llmperf_profile **profile_out);

/** Free a profile.
 *
 * @param profile  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_profile_free(llmperf_profile *profile);

#ifdef __cplusplus
}
#endif
#endif

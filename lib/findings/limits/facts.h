/* SPDX-License-Identifier: Apache-2.0 */
/** What a profile says about its run besides its rows: values of env.json, and facts that are
 * numbers.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_FACTS_H
#define LP_FINDINGS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "llmperf/profile.h"

/** Contents of env.json. */
struct lp_machine;

/** Never fails. NULL if env.json is missing or damaged: then nothing is known. */
struct lp_machine *lp_machine_open(const llmperf_profile *profile);
void lp_machine_free(struct lp_machine *machine);

/** Value at a dotted key ("host.cpu_model"), or of GPU `gpu` ("name"). NULL and NaN: not known.
 * Texts live as long as `machine`. */
const char *lp_machine_text(const struct lp_machine *machine, const char *key);
/** Member `index` of the object at a dotted key: its name, and its text (NULL: not known). NULL:
 * there are no more. */
const char *lp_machine_member(const struct lp_machine *machine, const char *key, size_t index,
                              const char **text_out);
const char *lp_machine_gpu_text(const struct lp_machine *machine, size_t gpu, const char *key);
double lp_machine_gpu_number(const struct lp_machine *machine, size_t gpu, const char *key);
size_t lp_machine_gpu_count(const struct lp_machine *machine);

/** Sums over all rows of kernels, memcpy and memset. */
struct lp_aggregates {
    double device_ms, kernel_ms, memcpy_ms, memset_ms, outside_ms, unknown_launch_ms;
    uint64_t kernel_count, memcpy_count, memset_count;
};
void lp_aggregates_read(struct lp_aggregates *sums, const llmperf_profile *profile);

/** Name of the run's model; NULL: none. */
const char *lp_model_fact(const llmperf_profile *profile);

/** Value of a fact that is a number, in any locale; NaN: not known. */
double lp_fact_number(const llmperf_profile *profile, const char *key);

/** Id of a row's process if the profile has several (rows of one path then differ in it), else 0.
 */
uint32_t lp_shown_process(const llmperf_profile *profile, uint32_t process_id);

/** Batch size at which the roofline bound of a decode step is `growth` times that of the run's
 * batch, from the model's work by batch size; at most the largest that was worked out. NaN: not
 * known. */
double lp_batch_at(const llmperf_profile *profile, double peak_tflops, double bandwidth_gbs,
                   double growth, double *batch_out, double *context_out);

/** How long the program was profiled, ms; NaN: not known. */
double lp_duration_ms(const llmperf_profile *profile);

/** Is the region with this path `region` or nested in it? */
bool lp_region_is_in(const char *path, const char *region);

/** Was only a share of the work collected on purpose? Device numbers are then of that share. */
bool lp_is_sampled(const llmperf_profile *profile);

/** Did hardware counters stop the program at each region or kernel? Its idle times are then those
 * of collecting. Sampled counters (pm) do not. */
bool lp_counters_delay(const llmperf_profile *profile);

/** Are device times valid? false without a device, and if no launch has a record. */
bool lp_device_known(const llmperf_ledger *ledger);

/** Share of launches, or of device time if smaller, that has records. NaN: no launches. */
double lp_coverage(const llmperf_ledger *ledger);

#endif

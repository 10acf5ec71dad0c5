/* SPDX-License-Identifier: Apache-2.0 */
/** What a profile says about its run beyond the tables: values of env.json and numbers among the
 * facts.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_FACTS_H
#define LP_FINDINGS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "llmperf/profile.h"

/** An env.json that was read. */
struct lp_machine;

/** Never fails: a missing or damaged env.json is a machine of which nothing is known, NULL. */
struct lp_machine *lp_machine_open(const llmperf_profile *profile);
void lp_machine_free(struct lp_machine *machine);

/** Value at a dotted key ("host.cpu_model"), or of GPU `gpu` ("name"). NULL and NaN: not known.
 * Text lives as long as the machine. */
const char *lp_machine_text(const struct lp_machine *machine, const char *key);
double lp_machine_number(const struct lp_machine *machine, const char *key);
const char *lp_machine_gpu_text(const struct lp_machine *machine, size_t gpu, const char *key);
double lp_machine_gpu_number(const struct lp_machine *machine, size_t gpu, const char *key);
size_t lp_machine_gpu_count(const struct lp_machine *machine);

/** Sums over all rows of kernels, copies and sets. */
struct lp_aggregates {
    double device_ms, kernel_ms, memcpy_ms, memset_ms, outside_ms, unknown_launch_ms;
    uint64_t kernel_count, memcpy_count, memset_count;
};
void lp_aggregates_read(struct lp_aggregates *sums, const llmperf_profile *profile);

/** What the run's model is called; NULL: it has none. */
const char *lp_model_fact(const llmperf_profile *profile);

/** A fact that is a number, whatever the locale says; NaN: not known. */
double lp_fact_number(const llmperf_profile *profile, const char *key);

/** Id of a row's process if the profile is of several, by which rows of one path are told apart;
 * else 0. */
uint32_t lp_shown_process(const llmperf_profile *profile, uint32_t process_id);

/** How long the profiled program was watched, ms; NaN: not known. */
double lp_duration_ms(const llmperf_profile *profile);

/** Only a share of the work was collected, on purpose: device numbers are of that share. */
bool lp_is_sampled(const llmperf_profile *profile);

/** Device times of this profile mean something: false without a device, and when launches left no
 * record at all. */
bool lp_device_known(const llmperf_ledger *ledger);

/** Share of launches and of device time that is accounted for, the smaller of the two; NaN: nothing
 * to account for. */
double lp_coverage(const llmperf_ledger *ledger);

#endif

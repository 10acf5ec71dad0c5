/* SPDX-License-Identifier: Apache-2.0 */
/** Values of metrics.json, and why they are null where they are. For the files that write
 * metrics.json.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_METRICS_PUT_H
#define LP_OUTPUT_FORMAT_METRICS_PUT_H

#include <stdbool.h>

#include "lib/output/format/counters.h"
#include "lib/output/format/json_writer.h"
#include "lib/findings/findings.h"

/** Why a value is null. Each reason that was used becomes one line of notes[]. */
enum lp_reason {
    LP_REASON_NO_MODEL,
    LP_REASON_NO_DEVICE,
    LP_REASON_NO_ACTIVITY,
    LP_REASON_NO_INSTANCE,
    LP_REASON_NOT_COUNTED,
    LP_REASON_NOT_COLLECTED,
    LP_REASON_NO_ITERATIONS,
    LP_REASON_NO_SPAN,
    LP_REASON_NO_CLASSES,
    LP_REASON_NO_GPU,
    LP_REASON_NO_LIMITS,
    LP_REASON_NO_CEILINGS,
    LP_REASON_NO_FACT,
    LP_REASON_NO_DTYPE,
    LP_REASON_NO_ROOFLINE,
    LP_REASON_UNLIKE_RANKS,
    LP_REASON_PART_OF_CALLS,
    LP_REASON_COUNT
};

/** Most pairs of a value and a reason that notes[] tells of. */
#define LP_WHY_MOST 48

struct lp_metrics {
    const struct lp_findings *findings;
    struct lp_json json;
    struct lp_counter_index counters;
    bool used[LP_REASON_COUNT];
    struct {
        const char *key, *reason;
    } why[LP_WHY_MOST]; /* reasons of utilisation: static texts, or those of the limits */
    size_t why_count;
};

/** A member, or null and a reason for it. NULL, LLMPERF_UNKNOWN and NaN are null. */
void lp_put_null(struct lp_metrics *metrics, const char *key, enum lp_reason reason);
void lp_put_number(struct lp_metrics *metrics, const char *key, double value,
                   enum lp_reason reason);
void lp_put_count(struct lp_metrics *metrics, const char *key, uint64_t value,
                  enum lp_reason reason);
void lp_put_string(struct lp_metrics *metrics, const char *key, const char *value,
                   enum lp_reason reason);
void lp_put_fact(struct lp_metrics *metrics, const char *key, const char *fact);

/** A number of the utilisation, or null with the reason that came with it. */
void lp_put_utilisation(struct lp_metrics *metrics, const char *key, double value,
                        const char *reason);

/** Values that only a device gives: what the profile holds, or null if none was observed. */
void lp_put_device_number(struct lp_metrics *metrics, const char *key, double value);
void lp_put_device_count(struct lp_metrics *metrics, const char *key, uint64_t value);
void lp_put_device(struct lp_metrics *metrics, int32_t device);

/** The elements of notes[]: reasons that were used. */
void lp_put_reasons(struct lp_metrics *metrics);

/** The member kernel_roofline. */
void lp_put_kernel_roofline(struct lp_metrics *metrics);

/** The members captures and windows. */
void lp_put_captures(struct lp_metrics *metrics);
void lp_put_windows(struct lp_metrics *metrics);

/** The member ranks: empty where no two GPUs work together. */
void lp_put_ranks(struct lp_metrics *metrics);

/** The member iterations. */
void lp_put_iterations(struct lp_metrics *metrics);

#endif

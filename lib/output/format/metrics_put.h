/* SPDX-License-Identifier: Apache-2.0 */
/** Values in metrics.json, and the reasons of null values. For the writers of metrics.json.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_METRICS_PUT_H
#define LP_OUTPUT_FORMAT_METRICS_PUT_H

#include <stdbool.h>

#include "lib/output/format/counters.h"
#include "lib/output/format/json_writer.h"
#include "lib/findings/findings.h"

/** Reason of a null value. Each reason in use becomes one line of notes[]. */
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
    LP_REASON_NO_MEASURED_PEAKS,
    LP_REASON_NO_FACT,
    LP_REASON_NO_DTYPE,
    LP_REASON_NO_ROOFLINE,
    LP_REASON_UNLIKE_RANKS,
    LP_REASON_PART_OF_CALLS,
    LP_REASON_NO_REQUESTS,
    LP_REASON_NO_LATENCY,
    LP_REASON_NO_SLO,
    LP_REASON_NO_COST,
    LP_REASON_FEW,
    LP_REASON_NOT_STAGE,
    LP_REASON_NO_WARM_UP,
    LP_REASON_NO_ENERGY,
    LP_REASON_COUNT
};

/** Pairs of value and reason in notes[], at most. */
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

/** A member; unknown values (NULL, LLMPERF_UNKNOWN, NaN) are null and need a reason. */
void lp_put_null(struct lp_metrics *metrics, const char *key, enum lp_reason reason);
void lp_put_number(struct lp_metrics *metrics, const char *key, double value,
                   enum lp_reason reason);
void lp_put_count(struct lp_metrics *metrics, const char *key, uint64_t value,
                  enum lp_reason reason);
void lp_put_string(struct lp_metrics *metrics, const char *key, const char *value,
                   enum lp_reason reason);
void lp_put_fact(struct lp_metrics *metrics, const char *key, const char *fact);

/** A number of llmperf_utilisation; null has the given reason. */
void lp_put_utilisation(struct lp_metrics *metrics, const char *key, double value,
                        const char *reason);

/** Values that need a device: null if none was observed. */
void lp_put_device_number(struct lp_metrics *metrics, const char *key, double value);
void lp_put_device_count(struct lp_metrics *metrics, const char *key, uint64_t value);
void lp_put_device(struct lp_metrics *metrics, int32_t device);

/** Add the reasons in use to notes[]. */
void lp_put_reasons(struct lp_metrics *metrics);

/** The members kernel_shapes, captures and windows. */
void lp_put_kernel_shapes(struct lp_metrics *metrics);
void lp_put_captures(struct lp_metrics *metrics);
void lp_put_windows(struct lp_metrics *metrics);

/** The member waterfall. */
void lp_put_waterfall(struct lp_metrics *metrics);

/** A member that is an array of rows of findings, such as ranks. */
void lp_put_rows(struct lp_metrics *metrics, const char *key, enum lp_row_id id, const void *rows,
                 size_t count);

/** The member requests. */
void lp_put_requests(struct lp_metrics *metrics);

/** The member iterations. */
void lp_put_iterations(struct lp_metrics *metrics);

#endif

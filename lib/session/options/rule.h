/* SPDX-License-Identifier: Apache-2.0 */
/** Rules that open triggered windows, as text. The grammar is in docs/explanation/sampling.md. For
 * lib/session only. @threads any thread */
#ifndef LP_SESSION_OPTIONS_RULE_H
#define LP_SESSION_OPTIONS_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "llmperf/region.h"

#define LP_RULES      8u
#define LP_RULE_BYTES 256u
#define LP_RULE_SYNTAX                                                                             \
    "REGION p50|p95|p99|mean|max|tokens/s|idle above|below VALUE [UNIT] [for TIME] [collect N] "   \
    "[cooldown TIME] [limit N], as in: decode_step p99 above 30 ms for 2 s"

enum lp_quantity {
    LP_QUANTITY_P50,
    LP_QUANTITY_P95,
    LP_QUANTITY_P99,
    LP_QUANTITY_MEAN,
    LP_QUANTITY_MAX,
    LP_QUANTITY_TOKENS_PER_S,
    LP_QUANTITY_IDLE
};

struct lp_rule {
    char text[LP_RULE_BYTES];
    char label[LLMPERF_LABEL_BYTES + 8];
    enum lp_quantity quantity;
    bool above;
    double threshold; /* ms, 1/s or % */
    uint64_t span_ns; /* over calls that ended within this time */
    uint32_t units;   /* calls to collect */
    uint32_t limit;   /* windows per session */
    uint64_t cooldown_ns;
};

/** Name ("p99") and unit ("ms", "1/s", "%") of a quantity. Static text. */
const char *lp_quantity_name(enum lp_quantity quantity);
const char *lp_quantity_unit(enum lp_quantity quantity);

/** Parse rules separated by semicolons; NULL or "": none.
 * @param rules_out  Array of LP_RULES.
 * @return 0 or LLMPERF_EINVAL. */
int lp_rules_read(const char *text, struct lp_rule *rules_out, size_t *count_out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** What NVTX ranges of engines mean, by their names: the rules of conf/engines (its README has the
 * format). */
#ifndef LP_RECORD_RANGE_RULES_H
#define LP_RECORD_RANGE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "llmperf/region.h"

#define LP_RANGE_AMOUNTS 3  /* tokens, sequences, context: LLMPERF_QUANTITY_TOKENS and the next */
#define LP_RANGE_FIELDS  8u /* of a pattern, at most */

struct lp_range_rule {
    const char *domain; /* NULL: any */
    const char *label;  /* with "{field}"; NULL: ignore the range */
    uint32_t kind;      /* LLMPERF_REGION_… */
    bool once;
    const char *sums[LP_RANGE_AMOUNTS]; /* "field + field"; NULL: not given */
};

struct lp_range_pattern {
    const char *text;
    size_t start; /* length of the literal text at its begin */
    size_t rule;
};

/** Zero-initialised: none. */
struct lp_range_rules {
    LP_VECTOR(struct lp_range_pattern) patterns; /* in the order in which they are tried */
    LP_VECTOR(struct lp_range_rule) rules;
    struct lp_strings pool;
};

/** Append the rules of a file. On an error (file, line, what to do) none of them. 0,
 * LLMPERF_EFORMAT, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_range_rules_read(struct lp_range_rules *rules, const char *path);

void lp_range_rules_clear(struct lp_range_rules *rules);

/** The rules of the data folder, read at the first call. @threads any thread */
const struct lp_range_rules *lp_range_rules(void);

/** Why rules of the data folder are missing; NULL: none are. @threads any thread */
const char *lp_range_rules_problem(void);

struct lp_range_slice {
    const char *text;
    size_t length;
};

struct lp_range_fields {
    struct lp_range_slice names[LP_RANGE_FIELDS], values[LP_RANGE_FIELDS];
    size_t count;
};

/** Does a pattern of a rule match the whole name? */
bool lp_range_match(const char *pattern, const char *text, struct lp_range_fields *fields_out);

/** NULL: the pattern has no such field. */
const struct lp_range_slice *lp_range_field(const struct lp_range_fields *fields, const char *name,
                                            size_t length);

/** What its name says of its work. */
struct lp_range_work {
    uint32_t count;
    uint32_t quantities[LP_RANGE_AMOUNTS]; /* LLMPERF_QUANTITY_… */
    uint64_t amounts[LP_RANGE_AMOUNTS];
};

/** A range to which a rule applies. */
struct lp_range {
    const struct lp_range_rule *rule;
    struct lp_range_work work;
    char label[LLMPERF_LABEL_BYTES + 1]; /* cut if longer */
};

/** Does a rule apply to the range? Allocates nothing. @threads any thread */
bool lp_range_find(const struct lp_range_rules *rules, const char *domain, const char *text,
                   struct lp_range *range_out);

/** The same by label, "DOMAIN@text", and the rules of the data folder. */
bool lp_range_find_label(const char *label, struct lp_range *range_out);

/** Is it no region of its own below `parent`? */
bool lp_range_is_part(const struct lp_range *range, uint32_t parent);

/** Its path node below `parent`. */
uint32_t lp_range_intern(const struct lp_range *range, uint32_t parent);

#endif

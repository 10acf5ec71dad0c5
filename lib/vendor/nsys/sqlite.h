/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the reader of nsys exports. */
#ifndef LP_VENDOR_NSYS_SQLITE_H
#define LP_VENDOR_NSYS_SQLITE_H

#include "lib/base/strings.h"
#include "lib/vendor/database.h"
#include "lib/vendor/timeline.h"
#include "lib/vendor/vendor.h"

/** A text in the file, and values derived from it. */
struct lp_nsys_string {
    const char *text;
    uint32_t name; /* of timeline.names; LP_HASHMAP_NONE: not interned yet */
    uint8_t call;  /* enum lp_call_kind; UINT8_MAX: not derived yet */
};

/** A range in the file; its label needs the names of all domains. */
struct lp_nsys_label {
    const char *text; /* NULL: the range has none */
    uint64_t process;
    uint32_t domain;
    uint32_t label; /* of timeline.labels; LP_HASHMAP_NONE: not made yet */
};

struct lp_nsys {
    struct lp_database *database;
    const char *path;
    uint32_t flags;
    struct lp_timeline timeline;
    struct lp_strings pool;
    LP_VECTOR(struct lp_nsys_string) strings;
    struct lp_hashmap string_rows; /* id of the file -> row */
    struct lp_names inline_texts;  /* of ranges whose text is not in StringIds */
    LP_VECTOR(struct lp_nsys_label) labels;
    struct lp_hashmap label_rows; /* (text, process and domain) -> row */
    struct lp_hashmap domains;    /* (process, domain) -> row of domain_names */
    LP_VECTOR(const char *) domain_names;
    struct lp_hashmap contexts; /* (process, context) -> device */
    uint64_t last_context[2];
    int64_t last_time; /* end of the last event */
    uint64_t nameless, graph_rows;
    uint64_t warnings, losses; /* counted by nsys itself */
    uint64_t overhead_ns;
    bool has_overhead;
    uint8_t kind; /* of the current table */
};

/** Read the texts; other tables refer to them. 0 or an error. */
int lp_nsys_read_strings(struct lp_nsys *nsys);

/** Text with an id in StringIds; NULL: none. */
struct lp_nsys_string *lp_nsys_string(struct lp_nsys *nsys, int64_t id);

/** Read kernels, memcpy, memset and whole graphs; calls; graph nodes. 0 or an error. */
int lp_nsys_read_ops(struct lp_nsys *nsys);
int lp_nsys_read_calls(struct lp_nsys *nsys);

/** Read the ranges. 0 or an error. */
int lp_nsys_read_ranges(struct lp_nsys *nsys);

/** Add facts of the run, notes and problems. 0 or an error. */
int lp_nsys_describe(struct lp_nsys *nsys, llmperf_profile *profile);

#endif

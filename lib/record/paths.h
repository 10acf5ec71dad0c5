/* SPDX-License-Identifier: Apache-2.0 */
/** The tree of region paths of this process. A node is one label below one parent; nodes are never
 * removed, so an id found once stays valid for ever. Memory is bounded by LP_PATH_LIMIT names.
 * @threads any thread; reading takes no lock */
#ifndef LP_RECORD_PATHS_H
#define LP_RECORD_PATHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/text.h"

#define LP_PATH_ROOT    0u         /* no region open */
#define LP_PATH_OTHER   1u         /* "LLM@(too many paths)": stands for all above the limit */
#define LP_PATH_UNKNOWN UINT32_MAX /* the launch was not seen */
#define LP_PATH_LIMIT   65536u

struct lp_path {
    const char *label;      /* "DOMAIN@name", clean UTF-8 */
    const char *name;       /* part of label behind the '@' */
    uint32_t parent, depth; /* depth of a top region is 1 */
    uint32_t label_kind;    /* LLMPERF_REGION_…, by its label */
    _Atomic uint32_t kind;  /* LLMPERF_REGION_…; AUTO until somebody says */
    _Atomic bool is_range;  /* it had instances on no stack: which launches it held is not known */
    _Atomic(void *) nvtx_domain, nvtx_name; /* handles that nvtx_out.c keeps here */
};

/** Node of `label` (any text a user passes) below `parent`; LP_PATH_OTHER above the limit or
 * without memory. Takes a lock if the node is new to the caller: keep what you found. */
uint32_t lp_path_intern(uint32_t parent, const char *label);

/** Our copy of a text that a caller passed as a label, for comparing with later calls; NULL without
 * memory or above the limit. */
const char *lp_path_raw_label(const char *label);

/** A node; `node` must be one that lp_path_intern() returned, or LP_PATH_ROOT. */
struct lp_path *lp_path_get(uint32_t node);

/** Nodes so far, ids are below it. */
uint32_t lp_path_count(void);

/** LLMPERF_REGION_STAGE or _OPERATOR: as given, else by label. */
uint32_t lp_path_kind(uint32_t node);

/** Nearest stage at or above a node; LP_PATH_ROOT if there is none. */
uint32_t lp_path_stage(uint32_t node);

/** Append the labels joined by '/'; nothing for the root. */
void lp_path_print(struct lp_text *text, uint32_t node);

#endif

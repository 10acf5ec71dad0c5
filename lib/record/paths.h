/* SPDX-License-Identifier: Apache-2.0 */
/** The tree of region paths of this process. A node is one label below one parent. Its id stays
 * valid while paths are in use (lp_path_use()), and while a thread has it on its stack or in its
 * cache. Other nodes are freed when a session starts. The number of nodes is limited, with
 * LP_PATH_STAGES more for stages. Further paths are counted in the node "LLM@(too many paths)" of
 * the stage around them.
 * @threads any thread; reading takes no lock */
#ifndef LP_RECORD_PATHS_H
#define LP_RECORD_PATHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/text.h"

#define LP_PATH_ROOT    0u         /* no region open */
#define LP_PATH_OTHER   1u         /* "LLM@(too many paths)", outside of all stages */
#define LP_PATH_UNKNOWN UINT32_MAX /* the launch was not seen */
#define LP_PATH_LIMIT   65536u     /* unless a session sets another */
#define LP_PATH_MOST    (1u << 20)
#define LP_PATH_STAGES  1024u /* above the limit: stages, and what finds no place in them */
#define LP_PATH_IDS     (LP_PATH_MOST + 2 * LP_PATH_STAGES) /* ids are below it */

struct lp_path {
    const char *label;      /* "DOMAIN@name", clean UTF-8 */
    const char *name;       /* part of label behind the '@' */
    uint32_t parent, depth; /* depth of a top region is 1 */
    uint32_t order;         /* place among lp_path_nth(): above that of the parent */
    bool over;              /* above the limit, or below such a node */
    bool kept;              /* of lp_path_give_back() */
    uint32_t label_kind;    /* LLMPERF_REGION_…, by its label */
    _Atomic uint32_t kind;  /* LLMPERF_REGION_…; AUTO until it is set */
    _Atomic bool is_range;  /* it had calls on no stack: which launches were in them is not known */
    _Atomic(void *) nvtx_domain, nvtx_name; /* handles that nvtx_out.c keeps here */
};

/** Node of `label` (any text a user passes) below `parent`; one that is `over` above the limit or
 * without memory. Takes a lock if the node is new to the caller: keep what you found. */
uint32_t lp_path_intern(uint32_t parent, const char *label);

/** The same. @param kind  LLMPERF_REGION_STAGE: it is kept above the limit too, as those are that
 * are stages by their label. */
uint32_t lp_path_intern_as(uint32_t parent, const char *label, uint32_t kind);

/** Our copy of a text that a caller passed as a label; NULL without memory or above a limit. */
const char *lp_path_raw_label(const char *label);

/** The same, for comparing with later calls, of a node that was found for it: the node's own text
 * where that is equal. NULL if `node` is not `label` below `parent`, too. */
const char *lp_path_label_of(uint32_t node, uint32_t parent, const char *label);

/** From use to end no node is freed. */
void lp_path_use(void);
void lp_path_end_use(void);

/** Between the two, on this thread, no node is freed: so that a node that was found gets to where
 * it is looked for. */
void lp_path_hold(void);
void lp_path_release(void);

/** Free all nodes but those that `mark` passes to lp_path_keep(). No effect while paths are in use.
 */
void lp_path_give_back(void (*mark)(void));
void lp_path_keep(uint32_t node);

/** Limit the number of nodes from now on. */
void lp_path_set_limit(uint32_t limit);

/** A node; `node` must be one that lp_path_intern() returned, or LP_PATH_ROOT. */
struct lp_path *lp_path_get(uint32_t node);

/** Number of nodes. */
uint32_t lp_path_count(void);

/** The node at a place below lp_path_count(); parents come before their children. */
uint32_t lp_path_nth(uint32_t order);

/** An upper bound of all ids, not reached by them. */
uint32_t lp_path_bound(void);

/** Is it a node "LLM@(too many paths)"? */
bool lp_path_is_rest(uint32_t node);

/** LLMPERF_REGION_STAGE or _OPERATOR: as given, else by label. */
uint32_t lp_path_kind(uint32_t node);

/** Nearest stage at or above a node; LP_PATH_ROOT if there is none. */
uint32_t lp_path_stage(uint32_t node);

/** Append the labels joined by '/'; nothing for the root. */
void lp_path_print(struct lp_text *text, uint32_t node);

#endif

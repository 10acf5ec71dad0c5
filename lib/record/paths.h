/* SPDX-License-Identifier: Apache-2.0 */
/** Tree of the region paths of this process. A node is a label below a parent. Its id is valid
 * while paths are in use (lp_path_use()), and while it is on a thread's stack or in its cache.
 * Other nodes are freed when a session starts. The number of nodes is limited, with LP_PATH_STAGES
 * more for stages. Further regions are counted in the node "LLM@(too many paths)" of the enclosing
 * stage.
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
#define LP_PATH_LIMIT   65536u     /* default of a session */
#define LP_PATH_MOST    (1u << 20)
#define LP_PATH_STAGES                                                                             \
    1024u /* further nodes for stages above the limit, and as many for "(too many paths)" */
#define LP_PATH_IDS (LP_PATH_MOST + 2 * LP_PATH_STAGES) /* above all ids */

struct lp_path {
    const char *label;      /* "DOMAIN@name", clean UTF-8 */
    const char *name;       /* the part of label after '@' */
    uint32_t parent, depth; /* depth of a top-level region is 1 */
    uint32_t order;         /* position for lp_path_nth(); parents have lower ones */
    bool over;              /* above the limit, or below such a node */
    bool kept;              /* used while paths are freed */
    uint32_t label_kind;    /* LLMPERF_REGION_…, from its label */
    _Atomic uint32_t kind;  /* LLMPERF_REGION_…; AUTO if not set */
    _Atomic bool is_range;  /* some calls were NVTX start/end ranges, to which launches cannot be
                               attributed */
    _Atomic(void *) nvtx_domain, nvtx_name; /* handles of nvtx_out.c */
};

/** Node of `label` (any text) below `parent`. Above the limit, or out of memory, a node with
 * `over`. May take a lock, so callers keep the result. */
uint32_t lp_path_intern(uint32_t parent, const char *label);

/** @param kind  LLMPERF_REGION_STAGE: exempt from the limit, like stages by label. */
uint32_t lp_path_intern_as(uint32_t parent, const char *label, uint32_t kind);

/** Copy of a text that a caller passed as a label. NULL: out of memory, or above a limit. */
const char *lp_path_raw_label(const char *label);

/** A copy of the label for which `node` was found, to compare with later labels; the node's own
 * text if equal. NULL also if `node` is not `label` below `parent`. */
const char *lp_path_label_of(uint32_t node, uint32_t parent, const char *label);

/** No node is freed between use and end. */
void lp_path_use(void);
void lp_path_end_use(void);

/** Between hold and release, on this thread, no node is freed. So a node that was found can be
 * stored where lp_path_give_back() looks for it. */
void lp_path_hold(void);
void lp_path_release(void);

/** Free all nodes except those that `mark` passes to lp_path_keep(). No effect while paths are in
 * use. */
void lp_path_give_back(void (*mark)(void));
void lp_path_keep(uint32_t node);

/** Set the limit of nodes. */
void lp_path_set_limit(uint32_t limit);

/** `node` must come from lp_path_intern() or be LP_PATH_ROOT. */
struct lp_path *lp_path_get(uint32_t node);

/** Is it the label of steps of decoding: decode_step of any domain, or found@decode? NULL: no. */
bool lp_label_is_decode(const char *label);

/** Is it the label of a prefill, in any domain? NULL: no. */
bool lp_label_is_prefill(const char *label);

/** Is it the label, or the path, of what lib/structure found? NULL: no. */
bool lp_label_is_found(const char *label);

/** Is it a stage that lib/structure found, or in one? */
bool lp_path_is_found(uint32_t node);

/** Number of nodes. */
uint32_t lp_path_count(void);

/** Node at a position below lp_path_count(); parents come first. */
uint32_t lp_path_nth(uint32_t order);

/** Larger than all ids. */
uint32_t lp_path_bound(void);

/** Is it a node "LLM@(too many paths)"? */
bool lp_path_is_rest(uint32_t node);

/** LLMPERF_REGION_STAGE or _OPERATOR: as set, else from the label. */
uint32_t lp_path_kind(uint32_t node);

/** Has it this label? One of domain LLM also stands for stages of that name in other domains:
 * LLM@prefill for vllm@prefill. */
bool lp_path_has_label(uint32_t node, const char *label);

/** The first kind that is set is kept; AUTO sets none. */
void lp_path_set_kind(uint32_t node, uint32_t kind);

/** Innermost stage of a path; LP_PATH_ROOT: none. */
uint32_t lp_path_stage(uint32_t node);

/** Append the labels joined by '/'; nothing for the root. */
void lp_path_print(struct lp_text *text, uint32_t node);

#endif

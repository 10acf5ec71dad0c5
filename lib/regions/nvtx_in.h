/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX ranges of the program as regions. Internal to lib/regions; capture.h has the API. */
#ifndef LP_REGIONS_NVTX_IN_H
#define LP_REGIONS_NVTX_IN_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "lib/record/range_rules.h"
#include "lib/regions/threads.h"

/** Created once for each name and never freed: programs keep its address as a handle. */
struct lp_nvtx_domain {
    struct lp_nvtx_domain *next;
    uint32_t owner; /* of levels in region stacks, from 1 */
    size_t name_length;
    char name[];
};

struct lp_nvtx_string {
    struct lp_nvtx_string *next;
    const struct lp_nvtx_domain *domain;
    _Atomic uint64_t found; /* of the last lookup: parent << 32 | node; 0: none. Only if a rule
                               applies: XLA names its ranges so, and there are many. */
    size_t length;
    char text[];
};

/** The domain with this name (NULL or "": the default domain). NULL: out of memory. */
const struct lp_nvtx_domain *lp_nvtx_domain_of(const char *name);

/** The domain of a handle; NULL is the default domain. */
const struct lp_nvtx_domain *lp_nvtx_domain_of_handle(const void *handle);

/** Equal texts in one domain have the same handle. NULL: out of memory. */
struct lp_nvtx_string *lp_nvtx_string_of(const struct lp_nvtx_domain *domain, const char *text);

/** Pass the paths of strings to lp_path_keep(). Under lp_path_give_back(). */
void lp_nvtx_strings_keep_paths(void);

/** Convert a wide text to UTF-8, cut to `size`.
 * @return `out` */
const char *lp_nvtx_narrow(char *out, size_t size, const wchar_t *wide);

/** Path node of a range below `parent`; LP_PATH_UNKNOWN: it is no region. Its domain becomes LLM if
 * its name says so.
 * @param string  With this text; NULL: not registered.
 * @param range  Its rule, if one applies, and its work are set.
 * @threads the thread's own */
uint32_t lp_nvtx_node(struct lp_thread *thread, uint32_t parent,
                      const struct lp_nvtx_domain **domain, const char *text,
                      struct lp_nvtx_string *string, struct lp_range *range);

/** Start a range that may end on any thread.
 * @return its id; 0: too many are open */
uint64_t lp_nvtx_range_start(uint32_t node);

/** No range starts or ends between hold and release. */
void lp_nvtx_ranges_hold(void);
void lp_nvtx_ranges_release(void);

/** Pass the paths of open ranges to lp_path_keep(). Only between hold and release. */
void lp_nvtx_ranges_keep_paths(void);

/** End a range. An unknown id is counted as unbalanced on this thread. */
void lp_nvtx_range_end(struct lp_thread *thread, uint64_t id);

#endif

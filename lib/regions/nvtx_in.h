/* SPDX-License-Identifier: Apache-2.0 */
/** NVTX ranges of other people's code as regions. Internal to capture; the API is capture.h. */
#ifndef LP_REGIONS_NVTX_IN_H
#define LP_REGIONS_NVTX_IN_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "lib/regions/threads.h"

/** Made once for a name and never freed: programs keep their address as a handle. */
struct lp_nvtx_domain {
    struct lp_nvtx_domain *next;
    uint32_t owner; /* of levels on region stacks, from 1 */
    size_t name_length;
    char name[];
};

struct lp_nvtx_string {
    struct lp_nvtx_string *next;
    const struct lp_nvtx_domain *domain;
    size_t length;
    char text[];
};

/** The domain of that name; NULL or "": the default domain. NULL without memory. */
const struct lp_nvtx_domain *lp_nvtx_domain_of(const char *name);

/** The domain of a handle that a program passes; NULL is the default domain. */
const struct lp_nvtx_domain *lp_nvtx_domain_of_handle(const void *handle);

/** The same text of one domain has one handle. NULL without memory. */
const struct lp_nvtx_string *lp_nvtx_string_of(const struct lp_nvtx_domain *domain,
                                               const char *text);

/** UTF-8 of a wide text, cut to `size`. @return `out` */
const char *lp_nvtx_narrow(char *out, size_t size, const wchar_t *wide);

/** Path node of a range below `parent`; its domain is replaced by LLM's where the name says so.
 * @threads the thread's own */
uint32_t lp_nvtx_node(struct lp_thread *thread, uint32_t parent,
                      const struct lp_nvtx_domain **domain, const char *text);

/** A range that starts here and may end on any thread. @return its id, 0 if too many are open. */
uint64_t lp_nvtx_range_start(uint32_t node);

/** Between these two no range starts or ends. */
void lp_nvtx_ranges_hold(void);
void lp_nvtx_ranges_release(void);

/** Pass the paths of open ranges to lp_path_keep(). Only while they are held. */
void lp_nvtx_ranges_keep_paths(void);

/** End it. An id that is not open is counted as unbalanced on this thread. */
void lp_nvtx_range_end(struct lp_thread *thread, uint64_t id);

#endif

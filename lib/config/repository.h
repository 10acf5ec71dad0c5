/* SPDX-License-Identifier: Apache-2.0 */
/** Folders that are searched for configurations, and the files read so far. For lib/config only.
 * @threads one at a time per object */
#ifndef LP_CONFIG_REPOSITORY_H
#define LP_CONFIG_REPOSITORY_H

#include "lib/config/value.h"

#define LP_ROOTS_MOST 2

/* One file, read once. */
struct lp_source {
    const char *path;          /* "group/name" */
    struct lp_value *content;  /* map without the defaults list */
    struct lp_value *defaults; /* a list; NULL: none */
    const char *package;       /* from its "# @package" line; NULL: none */
};

struct lp_repository {
    struct lp_values *values;
    const char *roots[LP_ROOTS_MOST]; /* searched in this order */
    size_t root_count;
    LP_VECTOR(struct lp_source *) sources;
};

void lp_repository_clear(struct lp_repository *repository);

/** Does a root have a folder with this name? */
bool lp_repository_has_group(const struct lp_repository *repository, const char *group);

/** Read "group/name" (with or without ".yaml"); *source_out is NULL if there is no such file. 0,
 * LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_repository_load(struct lp_repository *repository, const char *path,
                       const struct lp_source **source_out);

/** "; there are a, b" with the options of a group, nearest to `name` first; "": none. */
const char *lp_repository_options(const struct lp_repository *repository, const char *group,
                                  const char *name);

#endif

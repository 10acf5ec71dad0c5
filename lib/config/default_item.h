/* SPDX-License-Identifier: Apache-2.0 */
/** One element of a defaults list: which file it means and where its values go. For lib/config
 * only. All texts are of the pool. */
#ifndef LP_CONFIG_DEFAULT_ITEM_H
#define LP_CONFIG_DEFAULT_ITEM_H

#include "lib/config/value.h"

struct lp_default {
    const struct lp_value *origin; /* where it was written; NULL: an override, or the first file */
    const char *group;             /* NULL: a file by its path */
    const char *path;              /* of a file without a group; "_self_" */
    const char *package;           /* after '@'; NULL: none; "": that of the parent */
    const char *name;              /* option of the group; NULL: none, or several */
    const struct lp_value *names;  /* list of options; NULL: one or none */
    bool optional, override, external, deleted, primary, package_is_whole;
    const char *parent_folder, *parent_package; /* "" for the first file */
    const char *header;                         /* of the file itself; NULL: none */
    struct lp_default **children;               /* last one first; NULL: the file alone */
    size_t child_count, child_capacity;
};

/** Read an element of a list. 0; LLMPERF_EFORMAT (file and line), LLMPERF_ENOMEM. */
int lp_default_read(struct lp_values *values, const struct lp_value *element,
                    struct lp_default *out);

bool lp_default_is_self(const struct lp_default *item);

/** The option is an interpolation, known only when the rest is. */
bool lp_default_is_open(const struct lp_default *item);

/** Option, or file name without folders; NULL: none. */
const char *lp_default_name(const struct lp_default *item);

/** Set the folder and the package of the file that contains an element; a second call must give the
 * same. 0 or LLMPERF_ENOMEM. */
int lp_default_place(struct lp_values *values, struct lp_default *item, const char *folder,
                     const char *package);

/** "group" as seen from the root; NULL without memory. */
const char *lp_default_group(struct lp_values *values, const struct lp_default *item);

/** "group/name" as seen from the root; NULL without memory. */
const char *lp_default_path(struct lp_values *values, const struct lp_default *item);

/** Dotted key that the file's values go to, "" for the root; NULL without memory. */
const char *lp_default_package(struct lp_values *values, const struct lp_default *item,
                               bool with_header);

/** "group" or "group@package": what an override calls it; NULL without memory. */
const char *lp_default_key(struct lp_values *values, const struct lp_default *item);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** An element of a defaults list: its file, and the key for the file's values. For lib/config only.
 * Texts are in the pool. */
#ifndef LP_CONFIG_DEFAULT_ITEM_H
#define LP_CONFIG_DEFAULT_ITEM_H

#include "lib/config/value.h"

struct lp_default {
    const struct lp_value *origin; /* position in a file; NULL: an override, or the first file */
    const char *group;             /* NULL: a file by its path */
    const char *path;              /* path without a group; "_self_" */
    const char *package;           /* after '@'; NULL: none; "": the parent's */
    const char *name;              /* option of the group; NULL: none, or several */
    const struct lp_value *names;  /* list of options; NULL: one or none */
    bool optional, override, external, deleted, primary, package_is_whole;
    const char *parent_folder, *parent_package; /* "" for the first file */
    const char *header;                         /* of the file itself; NULL: none */
    struct lp_default **children;               /* in reverse order; NULL: only the file itself */
    size_t child_count, child_capacity;
};

/** Read an element of a list. 0; LLMPERF_EFORMAT (file and line), LLMPERF_ENOMEM. */
int lp_default_read(struct lp_values *values, const struct lp_value *element,
                    struct lp_default *out);

bool lp_default_is_self(const struct lp_default *item);

/** Is the option an interpolation, which is resolved after the other values? */
bool lp_default_is_open(const struct lp_default *item);

/** Option, or file name without folders; NULL: none. */
const char *lp_default_name(const struct lp_default *item);

/** Set folder and package of the file with the element; a second call must give the same. 0 or
 * LLMPERF_ENOMEM. */
int lp_default_place(struct lp_values *values, struct lp_default *item, const char *folder,
                     const char *package);

/** Group, absolute; NULL: out of memory. */
const char *lp_default_group(struct lp_values *values, const struct lp_default *item);

/** "group/name", absolute; NULL: out of memory. */
const char *lp_default_path(struct lp_values *values, const struct lp_default *item);

/** Dotted key for the file's values, "" for the root; NULL: out of memory. */
const char *lp_default_package(struct lp_values *values, const struct lp_default *item,
                               bool with_header);

/** "group" or "group@package", as in overrides; NULL: out of memory. */
const char *lp_default_key(struct lp_values *values, const struct lp_default *item);

#endif

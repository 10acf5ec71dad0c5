/* SPDX-License-Identifier: Apache-2.0 */
/** Names of kernels and copies: text to id and back. Ids are dense from 0. Their shapes are kept
 * beside them. @threads one at a time per object */
#ifndef LP_RECORD_NAMES_H
#define LP_RECORD_NAMES_H

#include "lib/base/hashmap.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/record/shapes.h"

/** Number of names; further ones get the id LP_NAMES_OTHER, "[other names]". */
#define LP_NAMES_LIMIT 65536u
#define LP_NAMES_OTHER (LP_NAMES_LIMIT - 1)

struct lp_names {
    LP_VECTOR(const char *) texts;
    struct lp_strings pool;
    struct lp_hashmap ids;
    struct lp_shapes shapes; /* of the activities that bear the names */
};

/** Id of a name, added if new. LP_HASHMAP_NONE: out of memory. */
uint32_t lp_names_intern(struct lp_names *names, const char *text);

/** NULL: no such id. Lives as long as `names`. */
const char *lp_names_text(const struct lp_names *names, uint32_t id);

void lp_names_clear(struct lp_names *names);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** What a trace says of its machine, in the format of env.json.
 * @threads one at a time per object */
#ifndef LP_SOURCES_KINETO_ORIGIN_H
#define LP_SOURCES_KINETO_ORIGIN_H

#include "lib/sources/kineto/input.h"

struct json_t;

/** Zero-initialised: nothing known. */
struct lp_kineto_origin {
    struct json_t *env;
    uint64_t base_ns; /* to be added to times, since 1970; 0: none */
};

/** Take a member of the document; others than known ones, and damaged ones, are left out. */
void lp_kineto_origin_add(struct lp_kineto_origin *origin, const struct lp_kineto_piece *piece);

/** @param program  Name of the process; "": not known.
 * @return JSON: free(); NULL: out of memory. */
char *lp_kineto_origin_json(struct lp_kineto_origin *origin, const char *program);

void lp_kineto_origin_clear(struct lp_kineto_origin *origin);

#endif

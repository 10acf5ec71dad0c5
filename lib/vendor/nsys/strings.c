/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of an nsys export, which its other tables name by number. */
#include "lib/base/status.h"
#include "lib/vendor/nsys/sqlite.h"

struct lp_nsys_string *lp_nsys_string(struct lp_nsys *nsys, int64_t id)
{
    uint32_t row = lp_hashmap_get(&nsys->string_rows, (uint64_t)id, 0);

    return row == LP_HASHMAP_NONE ? NULL : &nsys->strings.items[row];
}

static int visit_string(void *user, const struct lp_cell *cells)
{
    struct lp_nsys *nsys = user;
    struct lp_nsys_string string = { NULL, LP_HASHMAP_NONE, UINT8_MAX };

    if (cells[0].null || !cells[1].text)
        return 0;
    if (!(string.text = lp_strings_add(&nsys->pool, cells[1].text)))
        return lp_error(LLMPERF_ENOMEM, "out of memory (texts of %s)", nsys->path);
    if (lp_hashmap_put(&nsys->string_rows, (uint64_t)cells[0].number, 0,
                       (uint32_t)nsys->strings.count) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&nsys->strings, string);
}

int lp_nsys_read_strings(struct lp_nsys *nsys)
{
    static const struct lp_want wants[] = { { "id", false }, { "value", true } };

    return lp_database_rows(nsys->database, "StringIds", wants, 2, visit_string, nsys);
}

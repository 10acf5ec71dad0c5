/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/record/names.h"

uint32_t lp_names_intern(struct lp_names *names, const char *text)
{
    size_t length = strlen(text);
    uint64_t hash = lp_hash_text(text, length);
    uint32_t id, probe = 0;
    const char *copy;

    /* Texts with equal hashes get consecutive second words. */
    while ((id = lp_hashmap_get(&names->ids, hash, probe)) != LP_HASHMAP_NONE &&
           strcmp(names->texts.items[id], text))
        probe++;
    if (id != LP_HASHMAP_NONE)
        return id;
    id = (uint32_t)names->texts.count;
    if (id > LP_NAMES_OTHER)
        return LP_NAMES_OTHER;
    if (id == LP_NAMES_OTHER)
        text = "[other names]", length = strlen(text);
    copy = lp_strings_add_bytes(&names->pool, text, length);
    if (!copy || lp_vector_push(&names->texts, copy) < 0)
        return LP_HASHMAP_NONE;
    if (lp_hashmap_put(&names->ids, hash, probe, id) < 0) {
        names->texts.count--;
        return LP_HASHMAP_NONE;
    }
    return id;
}

const char *lp_names_text(const struct lp_names *names, uint32_t id)
{
    return id < names->texts.count ? names->texts.items[id] : NULL;
}

void lp_names_clear(struct lp_names *names)
{
    lp_vector_clear(&names->texts);
    lp_strings_clear(&names->pool);
    lp_hashmap_clear(&names->ids);
    lp_shapes_clear(&names->shapes);
}

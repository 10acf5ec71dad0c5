/* SPDX-License-Identifier: Apache-2.0 */
/* Table of quantities, by region, quantity and process or GPU. */
#include <math.h>
#include <string.h>

#include "lib/compare/reader.h"

const struct lp_compare_mean lp_compare_unknown = { NAN, NAN, 0, 0, 0 };

uint64_t lp_compare_hash(const char *text)
{
    return lp_hash_text(text, strlen(text));
}

static bool same_key(const struct lp_compare_key *a, const struct lp_compare_key *b)
{
    return a->scope == b->scope && a->number == b->number && strcmp(a->region, b->region) == 0 &&
           strcmp(a->quantity, b->quantity) == 0;
}

static int add_key(struct lp_compare_table *table, const struct lp_compare_key *key)
{
    const struct lp_compare_value none = { .of = lp_compare_unknown,
                                           .iterations = lp_compare_unknown,
                                           .work = { { NAN, NAN, NAN, NAN, NAN, NAN } },
                                           .number = LP_COMPARE_NOBODY };

    if (lp_vector_push(&table->keys, *key) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < table->runs; i++)
        if (lp_vector_push(&table->values, none) < 0)
            return LLMPERF_ENOMEM;
    return 0;
}

/* On return `second` is the first free hash: the place for a new key. */
static uint32_t probe(const struct lp_compare_table *table, const struct lp_compare_key *key,
                      uint64_t first, uint64_t *second)
{
    uint32_t index;

    *second = lp_compare_hash(key->quantity) ^ ((uint64_t)key->number << 2 | key->scope);
    while ((index = lp_hashmap_get(&table->index, first, *second)) != LP_HASHMAP_NONE &&
           !same_key(&table->keys.items[index], key))
        ++*second;
    return index;
}

size_t lp_compare_find_key(const struct lp_compare_table *table, const struct lp_compare_key *key)
{
    uint64_t second;
    uint32_t index = probe(table, key, lp_compare_hash(key->region), &second);

    return index == LP_HASHMAP_NONE ? SIZE_MAX : index;
}

struct lp_compare_value *lp_compare_value_of(struct lp_compare_reader *reader,
                                             const struct lp_compare_key *key)
{
    struct lp_compare_table *table = reader->table;
    uint64_t first = lp_compare_hash(key->region), second;
    uint32_t index = probe(table, key, first, &second);

    if (index != LP_HASHMAP_NONE)
        return &table->values.items[index * table->runs + reader->run];
    index = (uint32_t)table->keys.count;
    if (add_key(table, key) < 0 || lp_hashmap_put(&table->index, first, second, index) < 0)
        return NULL;
    return &table->values.items[index * table->runs + reader->run];
}

void lp_compare_table_clear(struct lp_compare_table *table)
{
    lp_vector_clear(&table->keys);
    lp_vector_clear(&table->values);
    lp_hashmap_clear(&table->index);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/config/choices.h"
#include "lib/config/defaults.h"
#include "lib/config/nearest.h"
#include "lib/config/scalar.h"

void lp_choices_init(struct lp_choices *choices, struct lp_repository *repository)
{
    *choices = (struct lp_choices){ .repository = repository };
}

void lp_choices_clear(struct lp_choices *choices)
{
    lp_vector_clear(&choices->chosen);
    lp_vector_clear(&choices->removed);
    lp_vector_clear(&choices->appended);
    lp_vector_clear(&choices->known);
}

bool lp_override_is_group(const struct lp_repository *repository,
                          const struct lp_override *override)
{
    return (!override->value || override->value->kind != LP_VALUE_MAP) &&
           lp_repository_has_group(repository, override->key);
}

static bool is_option(const struct lp_value *value)
{
    return value->kind == LP_VALUE_TEXT && lp_scalar_type(value) == LP_SCALAR_STRING;
}

static bool is_options(const struct lp_value *value)
{
    if (value->kind != LP_VALUE_LIST)
        return false;
    for (size_t i = 0; i < value->count; i++)
        if (!is_option(value->entries[i].value))
            return false;
    return true;
}

static const char *key_of(struct lp_values *values, const struct lp_override *override)
{
    return override->package ? lp_values_printf(values, "%s@%s", override->key,
                                                *override->package ? override->package : "_global_")
                             : override->key;
}

static int append(struct lp_choices *choices, const struct lp_override *override)
{
    struct lp_default item = { .group = override->key,
                               .package = override->package,
                               .external = true };

    if (is_option(override->value))
        item.name = override->value->text;
    else
        item.names = override->value;
    if (item.package && strcmp(item.package, "_here_") == 0)
        item.package = "";
    return lp_vector_push(&choices->appended, item) < 0 ? lp_out_of_memory() : 0;
}

static int replace(struct lp_choices *choices, struct lp_choice choice)
{
    for (size_t i = 0; i < choices->chosen.count; i++) {
        if (strcmp(choices->chosen.items[i].key, choice.key) != 0)
            continue;
        choices->chosen.items[i] = choice;
        return 0;
    }
    return lp_vector_push(&choices->chosen, choice) < 0 ? lp_out_of_memory() : 0;
}

int lp_choices_add(struct lp_choices *choices, const struct lp_override *override)
{
    const struct lp_value *value = override->value;
    struct lp_choice choice = { .key = key_of(choices->repository->values, override),
                                .text = override->text };

    if (!choice.key)
        return LLMPERF_ENOMEM;
    if (override->kind == LP_OVERRIDE_FORCE)
        return lp_error(LLMPERF_EINVAL, "%s: ++ sets values only; add a group with +%s",
                        override->text, override->text + 2);
    if (value && !is_option(value) && (override->kind == LP_OVERRIDE_REMOVE || !is_options(value)))
        return lp_error(LLMPERF_EINVAL, "%s: the option of a group must be a string%s",
                        override->text,
                        lp_repository_options(choices->repository, override->key, ""));
    if (override->kind == LP_OVERRIDE_ADD)
        return append(choices, override);
    if (value && value->kind == LP_VALUE_TEXT)
        choice.name = value->text;
    else
        choice.names = value;
    if (override->kind == LP_OVERRIDE_CHANGE)
        return replace(choices, choice);
    return lp_vector_push(&choices->removed, choice) < 0 ? lp_out_of_memory() : 0;
}

static struct lp_choice *find(struct lp_choice *list, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].key, key) == 0)
            return &list[i];
    return NULL;
}

int lp_choices_override(struct lp_choices *choices, const struct lp_default *item)
{
    struct lp_choice choice = { .key = lp_default_key(choices->repository->values, item),
                                .name = item->name,
                                .names = item->names,
                                .origin = item->origin };

    if (!choice.key)
        return LLMPERF_ENOMEM;
    if (find(choices->chosen.items, choices->chosen.count, choice.key))
        return 0;
    return lp_vector_push(&choices->chosen, choice) < 0 ? lp_out_of_memory() : 0;
}

int lp_choices_apply(struct lp_choices *choices, struct lp_default *item)
{
    const char *key = item->group ? lp_default_key(choices->repository->values, item) : "";
    struct lp_choice *choice;

    if (!key)
        return LLMPERF_ENOMEM;
    choice = find(choices->chosen.items, choices->chosen.count, key);
    if (!choice)
        return 0;
    item->name = choice->name;
    item->names = choice->names;
    choice->used = true;
    return 0;
}

int lp_choices_remove(struct lp_choices *choices, struct lp_default *item)
{
    const char *key = item->group ? lp_default_key(choices->repository->values, item) : "";
    struct lp_choice *choice;

    if (!key)
        return LLMPERF_ENOMEM;
    choice = find(choices->removed.items, choices->removed.count, key);
    if (!choice || (choice->name && (!item->name || strcmp(choice->name, item->name) != 0)))
        return 0;
    choice->used = item->deleted = true;
    return 0;
}

int lp_choices_learn(struct lp_choices *choices, const struct lp_default *item)
{
    struct lp_values *values = choices->repository->values;
    struct lp_known_choice known = { NULL, NULL, item->name };
    char place[512];

    if (!item->group)
        return 0;
    known.key = lp_default_key(values, item);
    known.group = lp_default_group(values, item);
    if (!known.key || !known.group)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < choices->known.count; i++)
        if (strcmp(choices->known.items[i].key, known.key) == 0 &&
            !lp_text_same(choices->known.items[i].name, known.name))
            return lp_error(LLMPERF_EFORMAT,
                            "%s%sthere are two options for %s; write \"override %s\" before the "
                            "one to use, or %s=… instead of +%s=…",
                            item->origin ? lp_value_place(item->origin, place, sizeof(place)) : "",
                            item->origin ? ": " : "", known.key, known.key, known.key, known.key);
    return lp_vector_push(&choices->known, known) < 0 ? lp_out_of_memory() : 0;
}

int lp_choices_map(const struct lp_choices *choices, struct lp_value **map_out)
{
    struct lp_values *values = choices->repository->values;
    struct lp_value *map = lp_value_new(values, LP_VALUE_MAP, "defaults", 0);

    for (size_t i = 0; map && i < choices->known.count; i++) {
        const struct lp_known_choice *known = &choices->known.items[i];
        struct lp_value *name = lp_value_text(values, known->name ? known->name : "null",
                                              known->name != NULL, "defaults", 0);

        if (!name || lp_value_put(values, map, known->key, name) < 0)
            return LLMPERF_ENOMEM;
    }
    *map_out = map;
    return map ? 0 : LLMPERF_ENOMEM;
}

/* Suggestion for an unknown key: the same group elsewhere, or the nearest key. */
static const char *suggest(const struct lp_choices *choices, const char *key)
{
    size_t length = strcspn(key, "@"), distance = (size_t)-1;
    const char *best = NULL;

    for (size_t i = 0; i < choices->known.count; i++) {
        const struct lp_known_choice *known = &choices->known.items[i];
        bool same = strncmp(known->group, key, length) == 0 && !known->group[length];
        size_t far = same ? 0 : lp_distance(known->key, key);

        if (far < distance && (same || lp_distance_is_near(key, far))) {
            distance = far;
            best = known->key;
        }
    }
    return best;
}

static int unused(const struct lp_choices *choices, const struct lp_choice *choice, bool removed)
{
    const char *meant = suggest(choices, choice->key);
    char place[512];

    if (!choice->text)
        return lp_error(LLMPERF_EFORMAT, "%s: there is no %s to override%s%s",
                        lp_value_place(choice->origin, place, sizeof(place)), choice->key,
                        meant ? "; nearest: " : "", meant ? meant : "");
    return lp_error(LLMPERF_EINVAL, "%s: the defaults list has no %s%s%s%s%s", choice->text,
                    choice->key, meant ? "; nearest: " : "", meant ? meant : "",
                    removed ? "" : "; add it with +", removed ? "" : choice->text);
}

int lp_choices_check(const struct lp_choices *choices)
{
    for (size_t i = 0; i < choices->chosen.count; i++)
        if (!choices->chosen.items[i].used)
            return unused(choices, &choices->chosen.items[i], false);
    for (size_t i = 0; i < choices->removed.count; i++)
        if (!choices->removed.items[i].used)
            return unused(choices, &choices->removed.items[i], true);
    return 0;
}

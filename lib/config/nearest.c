/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/config/nearest.h"

#define LETTERS_MOST 127
#define KEYS_MOST    20000 /* keys compared; enough for a message */

struct search {
    const char *wanted;
    char path[LETTERS_MOST + 1], best[LETTERS_MOST + 1];
    size_t distance, left;
};

size_t lp_distance(const char *left, const char *right)
{
    size_t row[LETTERS_MOST + 1], width = strnlen(right, LETTERS_MOST);
    size_t height = strnlen(left, LETTERS_MOST);

    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t replaced = diagonal + (left[i - 1] != right[j - 1]);
            size_t moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = replaced < moved ? replaced : moved;
        }
    }
    return row[width];
}

bool lp_distance_is_near(const char *word, size_t distance)
{
    return distance <= 1 + strlen(word) / 4;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot ? dot + 1 : path;
}

/* Compare the whole path, or the last part under another parent, which counts as one more
 * letter. */
static void consider(struct search *search)
{
    size_t distance = lp_distance(search->wanted, search->path);
    const char *wanted = last_part(search->wanted), *found = last_part(search->path);
    size_t part = lp_distance(wanted, found);

    if (lp_distance_is_near(wanted, part) && part + 1 < distance)
        distance = part + 1;
    else if (!lp_distance_is_near(search->wanted, distance))
        return;
    if (distance < search->distance) {
        search->distance = distance;
        memcpy(search->best, search->path, sizeof(search->best));
    }
}

static void look(struct search *search, const struct lp_value *value, size_t length)
{
    for (size_t i = 0; value->kind == LP_VALUE_MAP && i < value->count && search->left; i++) {
        int added = snprintf(search->path + length, sizeof(search->path) - length, "%s%s",
                             length ? "." : "", value->entries[i].key);

        if (added < 0 || length + (size_t)added >= sizeof(search->path))
            continue;
        search->left--;
        consider(search);
        look(search, value->entries[i].value, length + (size_t)added);
    }
}

const char *lp_nearest_key(struct lp_values *values, const struct lp_value *root, const char *key)
{
    struct search search = { .wanted = key, .distance = LETTERS_MOST, .left = KEYS_MOST };
    const char *text;

    look(&search, root, 0);
    if (!search.best[0])
        return "";
    text = lp_values_printf(values, "; nearest: %s", search.best);
    return text ? text : "";
}

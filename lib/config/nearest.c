/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/config/nearest.h"
#include "llmperf/sys/option.h"

#define LETTERS_MOST 127
#define KEYS_MOST    20000 /* keys compared; enough for a message */

struct search {
    const char *wanted;
    char path[LETTERS_MOST + 1], best[LETTERS_MOST + 1];
    size_t distance, left;
};

static size_t smaller(size_t left, size_t right)
{
    return left < right ? left : right;
}

size_t lp_distance(const char *left, const char *right)
{
    size_t rows[3][LETTERS_MOST + 1], width = strnlen(right, LETTERS_MOST);
    size_t height = strnlen(left, LETTERS_MOST);

    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            bool swapped =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];

            row[j] = smaller(last[j - 1] + (left[i - 1] != right[j - 1]),
                             smaller(last[j], row[j - 1]) + 1);
            if (swapped)
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return rows[height % 3][width];
}

bool lp_distance_is_near(const char *word, size_t distance)
{
    return distance <= 1 + strlen(word) / 4;
}

const char *llmperf_nearest_word(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t distance = LETTERS_MOST;

    for (; word && words && *words; words++) {
        size_t far = lp_distance(word, *words);

        if (far < distance && lp_distance_is_near(word, far)) {
            distance = far;
            best = *words;
        }
    }
    return best;
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

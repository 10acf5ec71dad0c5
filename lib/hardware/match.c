/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hardware/match.h"

/* Vendor and brand, which do not identify a part. */
static const char *const decoration[] = { "nvidia",   "corporation", "geforce", "tesla",
                                          "graphics", "card",        "gpu" };

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Lower-case words with one blank before and after each. */
static void split(char *words, size_t size, const char *text)
{
    size_t length = 0;

    words[length++] = ' ';
    for (; *text && length + 2 < size; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;

        if (is_letter_or_digit(c))
            words[length++] = c;
        else if (words[length - 1] != ' ')
            words[length++] = ' ';
    }
    if (words[length - 1] != ' ')
        words[length++] = ' ';
    words[length] = '\0';
}

/* "80gb" is 80; 0: the word is no memory size. */
static double size_of_word(const char *word, size_t length)
{
    size_t digits = strspn(word, "0123456789");

    return digits > 0 && digits + 2 == length && strncmp(word + digits, "gb", 2) == 0 ? atof(word)
                                                                                      : 0;
}

/* "… mig 1g 5gb ": a slice with 5 GB of memory. The device's SM count and memory are those of the
 * slice. */
static void cut_slice(struct lp_gpu_name *name)
{
    char *slice = strstr(name->words, " mig ");

    name->mig = slice != NULL;
    name->mig_memory_gb = NAN;
    if (!slice)
        return;
    for (const char *word = slice + 1; *word; word += strcspn(word, " ") + 1)
        if (size_of_word(word, strcspn(word, " ")) > 0)
            name->mig_memory_gb = size_of_word(word, strcspn(word, " "));
    slice[1] = '\0';
}

void lp_gpu_name_parse(struct lp_gpu_name *name, const char *text)
{
    split(name->words, sizeof(name->words), text ? text : "");
    cut_slice(name);
}

static bool is_decoration(const char *word, size_t length, const double *memory_gb,
                          size_t memory_count)
{
    double size = size_of_word(word, length);

    for (size_t i = 0; i < sizeof(decoration) / sizeof(decoration[0]); i++)
        if (strlen(decoration[i]) == length && strncmp(word, decoration[i], length) == 0)
            return true;
    for (size_t i = 0; i < memory_count; i++)
        if (size > 0 && size == memory_gb[i])
            return true;
    return false;
}

/* Words of `name` that are neither in `pattern` (words that it contains; or NULL) nor uninformative
 * ("NVIDIA", "GeForce", the memory size `memory_gb`). "": none. */
static void name_rest(const struct lp_gpu_name *name, const char *pattern, const double *memory_gb,
                      size_t memory_count, char *rest, size_t size)
{
    const char *covered = pattern ? strstr(name->words, pattern) : NULL;
    size_t used = 0;

    rest[0] = '\0';
    for (const char *word = name->words + 1; *word;) {
        size_t length = strcspn(word, " ");
        bool inside = covered && word > covered && word < covered + strlen(pattern);

        if (!inside && !is_decoration(word, length, memory_gb, memory_count) && used < size)
            used += (size_t)snprintf(rest + used, size - used, "%s%.*s", used ? " " : "",
                                     (int)length, word);
        word += length + (word[length] == ' ');
    }
}

/* The driver reserves a part (ECC, firmware), and counts in units of 2^30. */
static bool is_size(double memory_gb, uint64_t memory_bytes)
{
    double ratio = (double)memory_bytes / (double)(1 << 30) / memory_gb;

    return ratio > 0.9 && ratio < 1.03;
}

double lp_gpu_row_memory(const struct lp_gpu_row *row, const struct lp_gpu_name *name,
                         uint64_t memory_bytes)
{
    char word[32];

    if (row->memory_count == 1)
        return row->memory_gb[0];
    for (size_t i = 0; i < row->memory_count; i++) {
        snprintf(word, sizeof(word), " %ggb ", row->memory_gb[i]);
        if (strstr(name->words, word))
            return row->memory_gb[i];
    }
    for (size_t i = 0; i < row->memory_count; i++)
        if (!name->mig && memory_bytes > 0 && is_size(row->memory_gb[i], memory_bytes))
            return row->memory_gb[i];
    return NAN;
}

/* A device whose attributes differ from the table is another part. `why` is "" if they agree. */
static void check_device(const struct lp_gpu_row *row, const llmperf_hardware_query *query,
                         const struct lp_gpu_name *name, char *why, size_t size)
{
    int32_t capability = 10 * query->cc_major + query->cc_minor;
    bool fits = query->memory_bytes == 0;

    for (size_t i = 0; i < row->memory_count; i++)
        fits |= is_size(row->memory_gb[i], query->memory_bytes);
    why[0] = '\0';
    if (query->cc_major > 0 && capability != row->capability)
        snprintf(why, size,
                 "the device has compute capability %d.%d, the %s in the table has %d.%d",
                 query->cc_major, query->cc_minor, row->name, row->capability / 10,
                 row->capability % 10);
    else if (name->mig)
        return; /* the other attributes are those of a slice */
    else if (query->sm_count > 0 && query->sm_count != row->sm_count)
        snprintf(why, size, "the device has %d SMs, the %s in the table has %d", query->sm_count,
                 row->name, row->sm_count);
    else if (!fits)
        snprintf(why, size, "the device has %.1f GB of memory, the %s in the table has %g",
                 (double)query->memory_bytes / 1e9, row->name, row->memory_gb[0]);
}

struct search {
    const llmperf_hardware_query *query;
    const struct lp_gpu_name *name;
    size_t length; /* of the longest pattern so far */
    struct lp_gpu_match match;
};

/* A row with a pattern that the name contains. The longest pattern wins: "h200" is not h20, and
 * "h100 nvl" is more specific than "h100". */
static void consider(struct search *search, const struct lp_gpu_row *row, const char *text)
{
    struct lp_gpu_match *match = &search->match;
    struct lp_gpu_name pattern;
    char rest[128], why[256];
    size_t length;

    lp_gpu_name_parse(&pattern, text);
    length = strlen(pattern.words);
    if (length < search->length || length < 3 || !strstr(search->name->words, pattern.words))
        return;
    if (length > search->length)
        *match = (struct lp_gpu_match){ .near = row };
    search->length = length;
    name_rest(search->name, pattern.words, row->memory_gb, row->memory_count, rest, sizeof(rest));
    check_device(row, search->query, search->name, why, sizeof(why));
    if (rest[0])
        snprintf(match->why, sizeof(match->why),
                 "\"%s\" in the name means another part than the %s", rest, row->name);
    else if (why[0])
        snprintf(match->why, sizeof(match->why), "%s", why);
    else if (match->row && match->row != row)
        match->several = true;
    else
        match->row = row;
}

static void consider_list(struct search *search, const struct lp_gpu_row *row, const char *list)
{
    char part[64];
    const char *text;

    for (size_t i = 0;; i++) {
        snprintf(part, sizeof(part), "%s.%zu", list, i);
        if (!(text = lp_gpu_row_text(row, part)))
            return;
        consider(search, row, text);
    }
}

/* Is the name a part of the row's name or of one of its aliases, as "H100" of "H100 NVL"? */
static bool is_like(const struct lp_gpu_row *row, const struct lp_gpu_name *name)
{
    struct lp_gpu_name other;
    char bare[LP_GPU_NAME_BYTES], words[LP_GPU_NAME_BYTES + 2];

    lp_gpu_name_parse(&other, row->name);
    name_rest(name, NULL, NULL, 0, bare, sizeof(bare));
    snprintf(words, sizeof(words), " %s ", bare);
    return bare[0] && strstr(other.words, words);
}

static void suggest(const struct lp_gpu_table *table, const struct lp_gpu_name *name,
                    struct lp_gpu_match *match)
{
    size_t used = 0;

    for (size_t i = 0; i < table->rows.count; i++)
        if (is_like(&table->rows.items[i], name) && used < sizeof(match->why))
            used += (size_t)snprintf(match->why + used, sizeof(match->why) - used, "%s%s",
                                     used ? ", " : "possible matches: ", table->rows.items[i].name);
}

void lp_gpu_table_find(const struct lp_gpu_table *table, const llmperf_hardware_query *query,
                       const struct lp_gpu_name *name, struct lp_gpu_match *match_out)
{
    struct search search = { .query = query, .name = name };

    for (size_t i = 0; i < table->rows.count; i++) {
        const struct lp_gpu_row *row = &table->rows.items[i];

        consider(&search, row, row->name);
        consider_list(&search, row, "match");
        if (query->sm_count == row->sm_count)
            consider_list(&search, row, "match_with_sm_count");
    }
    *match_out = search.match;
    if (match_out->several) {
        match_out->row = NULL;
        match_out->why[0] = '\0';
    }
    if (!match_out->row && !match_out->why[0])
        suggest(table, name, match_out);
}

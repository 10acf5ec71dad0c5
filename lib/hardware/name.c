/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hardware/name.h"

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

void lp_gpu_name_rest(const struct lp_gpu_name *name, const char *pattern, const double *memory_gb,
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

/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/analysis/kernel_class.h"
#include "lib/base/status.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "llmperf/activity.h"
#include "llmperf/config.h"
#include "llmperf/profile.h"

#define REGEX_PREFIX "regex:"
#define MEMORY_CLASS "memory op"
#define OTHER_CLASS  "other"

/* A name holds a text only if it holds each pair of neighbouring characters of it. Most patterns
 * are ruled out by a look at a set of the name's pairs, without a search. */
#define PAIR_SETS   1024
#define PAIRS_MOST  8
#define LOWER_BYTES 2048

struct pair_set {
    uint64_t bits[PAIR_SETS / 64];
};

struct pattern {
    const char *class_name;
    const char *text; /* to find in the name, in small letters; NULL: regex */
    uint16_t pairs[PAIRS_MOST];
    uint32_t pair_count;
    regex_t regex;
};

struct lp_kernel_classes {
    LP_VECTOR(struct pattern) patterns; /* in the order of the table */
    const char *names[LLMPERF_ITERATION_CLASSES];
    size_t name_count;
    struct lp_strings pool;
};

static char to_small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static uint16_t pair_of(const char *at)
{
    return (uint16_t)(((unsigned char)at[0] * 31u + (unsigned char)at[1]) % PAIR_SETS);
}

/* False without memory. */
static bool keep_text(struct lp_kernel_classes *classes, struct pattern *pattern, const char *text)
{
    char *small = strdup(text);

    for (char *at = small; at && *at; at++)
        *at = to_small(*at);
    pattern->text = small ? lp_strings_add(&classes->pool, small) : NULL;
    free(small);
    for (const char *at = pattern->text; at && at[0] && at[1] && pattern->pair_count < PAIRS_MOST;
         at++)
        pattern->pairs[pattern->pair_count++] = pair_of(at);
    return pattern->text != NULL;
}

static int add_regex(struct pattern *pattern, const char *expression)
{
    char reason[256];
    int failed = regcomp(&pattern->regex, expression, REG_EXTENDED | REG_NOSUB | REG_ICASE);

    if (!failed)
        return 0;
    regerror(failed, &pattern->regex, reason, sizeof(reason));
    return lp_error(LLMPERF_EFORMAT, "kernel classes: \"%s\" is no regular expression: %s",
                    expression, reason);
}

static int add_pattern(struct lp_kernel_classes *classes, const char *class_name, const char *text)
{
    struct pattern pattern = { .class_name = class_name };
    int status = 0;

    if (!*text)
        return lp_error(LLMPERF_EFORMAT,
                        "kernel classes: an empty pattern of class %s would match everything",
                        class_name);
    if (!strncmp(text, REGEX_PREFIX, strlen(REGEX_PREFIX)))
        status = add_regex(&pattern, text + strlen(REGEX_PREFIX));
    else if (!keep_text(classes, &pattern, text))
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    if (status == 0 && (status = lp_vector_push(&classes->patterns, pattern)) < 0 && !pattern.text)
        regfree(&pattern.regex);
    return status;
}

static int add_rule(struct lp_kernel_classes *classes, const llmperf_config *config, size_t index)
{
    char key[64];
    const char *text, *class_name;
    size_t count;
    int status;

    snprintf(key, sizeof(key), "rules.%zu.class", index);
    if ((status = llmperf_config_text(config, key, &text)) < 0)
        return status;
    if (!(class_name = lp_strings_add(&classes->pool, text)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    snprintf(key, sizeof(key), "rules.%zu.patterns", index);
    if ((count = llmperf_config_length(config, key)) == 0)
        return lp_error(LLMPERF_EFORMAT,
                        "kernel classes: rule %zu (class %s) has no list \"patterns\"", index,
                        class_name);
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "rules.%zu.patterns.%zu", index, i);
        if ((status = llmperf_config_text(config, key, &text)) < 0 ||
            (status = add_pattern(classes, class_name, text)) < 0)
            return status;
    }
    return 0;
}

void lp_kernel_classes_free(struct lp_kernel_classes *classes)
{
    if (!classes)
        return;
    for (size_t i = 0; i < classes->patterns.count; i++)
        if (!classes->patterns.items[i].text)
            regfree(&classes->patterns.items[i].regex);
    lp_vector_clear(&classes->patterns);
    lp_strings_clear(&classes->pool);
    free(classes);
}

/* A name in small letters, and its pairs. */
struct small_name {
    char text[LOWER_BYTES];
    struct pair_set pairs;
};

/* False: the name is too long. */
static bool make_small(struct small_name *small, const char *name)
{
    size_t length = strlen(name);

    if (length >= sizeof(small->text))
        return false;
    memset(&small->pairs, 0, sizeof(small->pairs));
    for (size_t i = 0; i <= length; i++)
        small->text[i] = to_small(name[i]);
    for (size_t i = 0; i + 1 < length; i++) {
        uint16_t pair = pair_of(small->text + i);

        small->pairs.bits[pair / 64] |= UINT64_C(1) << pair % 64;
    }
    return true;
}

static bool may_hold(const struct pair_set *set, const struct pattern *pattern)
{
    for (uint32_t i = 0; i < pattern->pair_count; i++)
        if (!(set->bits[pattern->pairs[i] / 64] >> pattern->pairs[i] % 64 & 1))
            return false;
    return true;
}

/* `small` is NULL for a name that is too long for it. */
static bool matches(const struct pattern *pattern, const char *name, const struct small_name *small)
{
    if (!pattern->text)
        return regexec(&pattern->regex, name, 0, NULL, 0) == 0;
    if (!small)
        return strcasestr(name, pattern->text) != NULL;
    return may_hold(&small->pairs, pattern) && strstr(small->text, pattern->text);
}

const char *lp_kernel_class(const struct lp_kernel_classes *classes, const char *name,
                            uint32_t kind)
{
    struct small_name buffer;
    const struct small_name *small;

    if (kind == LLMPERF_ACTIVITY_GRAPH)
        return OTHER_CLASS;
    if (kind != LLMPERF_ACTIVITY_KERNEL)
        return MEMORY_CLASS;
    small = make_small(&buffer, name) ? &buffer : NULL;
    for (size_t i = 0; i < classes->patterns.count; i++)
        if (matches(&classes->patterns.items[i], name, small))
            return classes->patterns.items[i].class_name;
    return OTHER_CLASS;
}

const char *lp_kernel_class_name(const struct lp_kernel_classes *classes, size_t index)
{
    return index < classes->name_count ? classes->names[index] : NULL;
}

static size_t find_name(const struct lp_kernel_classes *classes, const char *name)
{
    size_t i = 0;

    while (i < classes->name_count && strcmp(classes->names[i], name) != 0)
        i++;
    return i;
}

uint8_t lp_kernel_class_index(const struct lp_kernel_classes *classes, const char *name,
                              uint32_t kind)
{
    size_t index = find_name(classes, lp_kernel_class(classes, name, kind));

    return (uint8_t)(index < classes->name_count ? index : find_name(classes, OTHER_CLASS));
}

static void number_classes(struct lp_kernel_classes *classes)
{
    classes->names[classes->name_count++] = MEMORY_CLASS;
    classes->names[classes->name_count++] = OTHER_CLASS;
    for (size_t i = 0; i < classes->patterns.count; i++) {
        const char *name = classes->patterns.items[i].class_name;

        if (classes->name_count < LLMPERF_ITERATION_CLASSES &&
            find_name(classes, name) == classes->name_count)
            classes->names[classes->name_count++] = name;
    }
}

int lp_kernel_classes_open(const char *path, struct lp_kernel_classes **classes_out)
{
    struct lp_kernel_classes *classes = calloc(1, sizeof(*classes));
    llmperf_config *config = NULL;
    int status;

    if (!classes)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    status = llmperf_config_open(path ? path : "kernel_classes.yaml", &config);
    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, "rules"); i++)
        status = add_rule(classes, config, i);
    if (status == 0 && classes->patterns.count == 0)
        status = lp_error(LLMPERF_EFORMAT, "kernel classes: the table has no list \"rules\"");
    llmperf_config_free(config);
    if (status < 0) {
        lp_kernel_classes_free(classes);
        return status;
    }
    number_classes(classes);
    *classes_out = classes;
    return 0;
}

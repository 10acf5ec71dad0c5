/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/findings/kernels/kernel_class.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/strings.h"
#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"
#include "llmperf/sys/config.h"

#define REGEX_PREFIX "regex:"
#define MEMORY_CLASS "memory op"
#define OTHER_CLASS  "other"

/* Fast rejection: a name can contain a pattern only if it contains all pairs of adjacent characters
 * of it. Most patterns are rejected by a bit set of the name's pairs. */
#define PAIR_SETS  1024
#define PAIRS_MOST 8

/* Part of a name that a pattern is searched in. */
enum part {
    FUNCTION, /* the function's name */
    WHOLE,    /* with namespaces, template arguments and parameters */
    PARTS,
    EITHER = PARTS, /* no "in" in the rule: first the function's name, then all of it */
};

struct pair_set {
    uint64_t bits[PAIR_SETS / 64];
};

struct pattern {
    const char *class_name;
    enum part part;
    const char *text;     /* in lower case, '*' replaced by 0; NULL: regex */
    uint32_t piece_count; /* parts of `text` between '*' */
    bool at_begin;
    uint16_t pairs[PAIRS_MOST];
    uint32_t pair_count;
    regex_t regex;
};

typedef LP_VECTOR(struct pattern) pattern_list;

struct lp_kernel_classes {
    pattern_list patterns;          /* in the order of the table */
    pattern_list unfused;           /* kernels of attention that is not fused */
    pattern_list traits[LP_TRAITS]; /* of collectives; class_name: the value */
    pattern_list tokens;            /* class_name: elements of a block, or "all" */
    /* (hash, length of a kernel's name) -> index of its pattern, or the number of patterns if none
     * matches. Reports look up a name once per region. */
    struct lp_hashmap known;
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

static void make_small(char *text)
{
    for (char *at = text; at && *at; at++)
        *at = to_small(*at);
}

/* False: out of memory. */
static bool keep_text(struct lp_kernel_classes *classes, struct pattern *pattern, const char *text)
{
    char *small;

    pattern->at_begin = *text == '^';
    text += pattern->at_begin;
    if (!(small = strdup(text)))
        return false;
    make_small(small);
    pattern->piece_count = 1;
    for (char *at = small; (at = strchr(at, '*')); pattern->piece_count++)
        *at++ = '\0';
    pattern->text = lp_strings_add_bytes(&classes->pool, small, strlen(text));
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
    if (failed == REG_ESPACE)
        return lp_out_of_memory();
    regerror(failed, &pattern->regex, reason, sizeof(reason));
    return lp_error(LLMPERF_EFORMAT, "kernel classes: \"%s\" is not a valid regular expression: %s",
                    expression, reason);
}

static int add_pattern(struct lp_kernel_classes *classes, pattern_list *list,
                       const char *class_name, enum part part, const char *text)
{
    struct pattern pattern = { .class_name = class_name, .part = part };
    int status = 0;

    if (!text[strspn(text, "^*")])
        return lp_error(LLMPERF_EFORMAT,
                        "kernel classes: the pattern \"%s\" of class %s would match everything",
                        text, class_name);
    if (!strncmp(text, REGEX_PREFIX, strlen(REGEX_PREFIX)))
        status = add_regex(&pattern, text + strlen(REGEX_PREFIX));
    else if (!keep_text(classes, &pattern, text))
        status = lp_out_of_memory();
    if (status == 0 && (status = lp_vector_push(list, pattern)) < 0 && !pattern.text)
        regfree(&pattern.regex);
    return status;
}

/* Value of the rule's "in". */
static int part_of(const llmperf_config *config, size_t index, enum part *part)
{
    const char *text;
    char key[64];
    int status;

    *part = EITHER;
    snprintf(key, sizeof(key), "rules.%zu.in", index);
    if (!llmperf_config_has(config, key))
        return 0;
    if ((status = llmperf_config_text(config, key, &text)) < 0)
        return status;
    if (strcmp(text, "function") != 0 && strcmp(text, "name") != 0)
        return lp_error(LLMPERF_EFORMAT,
                        "kernel classes: rule %zu: unknown value of in: %s; write function or "
                        "name, or omit it to search both",
                        index, text);
    *part = *text == 'f' ? FUNCTION : WHOLE;
    return 0;
}

struct rule {
    const char *list; /* "rules" */
    size_t index;
    const char *value; /* class, or trait of a collective */
    enum part part;
};

static int add_patterns(struct lp_kernel_classes *classes, pattern_list *list,
                        const llmperf_config *config, const struct rule *rule)
{
    const char *text, *value = lp_strings_add(&classes->pool, rule->value);
    char key[64];
    size_t count;
    int status;

    if (!value)
        return lp_out_of_memory();
    snprintf(key, sizeof(key), "%s.%zu.patterns", rule->list, rule->index);
    if ((count = llmperf_config_length(config, key)) == 0)
        return lp_error(LLMPERF_EFORMAT,
                        "kernel classes: rule %zu (class %s) needs a list \"patterns\"",
                        rule->index, value);
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "%s.%zu.patterns.%zu", rule->list, rule->index, i);
        if ((status = llmperf_config_text(config, key, &text)) < 0 ||
            (status = add_pattern(classes, list, value, rule->part, text)) < 0)
            return status;
    }
    return 0;
}

static int add_rule(struct lp_kernel_classes *classes, const llmperf_config *config, size_t index)
{
    char key[64];
    const char *text;
    enum part part;
    int status;

    snprintf(key, sizeof(key), "rules.%zu.class", index);
    if ((status = llmperf_config_text(config, key, &text)) < 0 ||
        (status = part_of(config, index, &part)) < 0)
        return status;
    return add_patterns(classes, &classes->patterns, config,
                        &(struct rule){ "rules", index, text, part });
}

static int add_trait(struct lp_kernel_classes *classes, const llmperf_config *config, size_t index)
{
    static const char *const names[LP_TRAITS] = { "kind", "algorithm", "protocol", "dtype" };
    char key[64];
    const char *text;
    int status;

    for (size_t i = 0; i < LP_TRAITS; i++) {
        snprintf(key, sizeof(key), "collectives.%zu.%s", index, names[i]);
        if (!llmperf_config_has(config, key))
            continue;
        if ((status = llmperf_config_text(config, key, &text)) < 0)
            return status;
        return add_patterns(classes, &classes->traits[i], config,
                            &(struct rule){ "collectives", index, text, WHOLE });
    }
    return lp_error(LLMPERF_EFORMAT,
                    "kernel classes: collectives %zu needs a kind, algorithm, protocol or dtype",
                    index);
}

static int add_elements(struct lp_kernel_classes *classes, const llmperf_config *config,
                        size_t index)
{
    char key[64];
    const char *text;
    int status;

    snprintf(key, sizeof(key), "tokens.%zu.elements", index);
    if ((status = llmperf_config_text(config, key, &text)) < 0)
        return status;
    if (strcmp(text, "all") != 0 && strtoul(text, NULL, 10) == 0)
        return lp_error(LLMPERF_EFORMAT, "kernel classes: %s is a number or \"all\", not %s", key,
                        text);
    return add_patterns(classes, &classes->tokens, config,
                        &(struct rule){ "tokens", index, text, WHOLE });
}

static void free_patterns(pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].text)
            regfree(&list->items[i].regex);
    lp_vector_clear(list);
}

void lp_kernel_classes_free(struct lp_kernel_classes *classes)
{
    if (!classes)
        return;
    free_patterns(&classes->patterns);
    for (size_t i = 0; i < LP_TRAITS; i++)
        free_patterns(&classes->traits[i]);
    free_patterns(&classes->unfused);
    free_patterns(&classes->tokens);
    lp_hashmap_clear(&classes->known);
    lp_strings_clear(&classes->pool);
    free(classes);
}

/* A part of a name in lower case, and its pairs. */
struct small_text {
    struct lp_text text;
    struct pair_set pairs;
};

static void prepare(struct small_text *small)
{
    const char *text = small->text.bytes;

    make_small(small->text.bytes);
    for (size_t i = 0; i + 1 < small->text.length; i++) {
        uint16_t pair = pair_of(text + i);

        small->pairs.bits[pair / 64] |= UINT64_C(1) << pair % 64;
    }
}

/* Splits "void a::b<c>(int)" into "b" and the whole. False: out of memory. */
static bool split_name(struct small_text parts[PARTS], const char *name)
{
    struct lp_text path = { .bytes = NULL };
    const char *own;

    lp_text_puts(&parts[WHOLE].text, name);
    lp_kernel_shorten(&path, name);
    own = path.bytes;
    for (const char *at = own; at && (at = strstr(at, "::"));)
        own = at += 2;
    if (own)
        lp_text_puts(&parts[FUNCTION].text, own);
    lp_text_clear(&path);
    prepare(&parts[WHOLE]);
    prepare(&parts[FUNCTION]);
    return parts[WHOLE].text.bytes && parts[FUNCTION].text.bytes;
}

static bool may_hold(const struct pair_set *set, const struct pattern *pattern)
{
    for (uint32_t i = 0; i < pattern->pair_count; i++)
        if (!(set->bits[pattern->pairs[i] / 64] >> pattern->pairs[i] % 64 & 1))
            return false;
    return true;
}

/* Does the name contain all pieces, in this order? */
static bool holds_pieces(const struct pattern *pattern, const char *text)
{
    const char *piece = pattern->text;

    if (pattern->at_begin && strncmp(text, piece, strlen(piece)) != 0)
        return false;
    for (uint32_t i = 0; i < pattern->piece_count; i++, piece += strlen(piece) + 1) {
        if (!(text = strstr(text, piece)))
            return false;
        text += strlen(piece);
    }
    return true;
}

static bool matches(const struct pattern *pattern, const struct small_text *small)
{
    if (!pattern->text)
        return regexec(&pattern->regex, small->text.bytes, 0, NULL, 0) == 0;
    return may_hold(&small->pairs, pattern) && holds_pieces(pattern, small->text.bytes);
}

/* Index of the first matching pattern among the rules with "in" (or with EITHER, those without,
 * searched in `in`); if none, the number of patterns. */
static size_t first_match(const struct lp_kernel_classes *classes,
                          const struct small_text parts[PARTS], enum part in)
{
    size_t i = 0;

    for (; i < classes->patterns.count; i++) {
        const struct pattern *pattern = &classes->patterns.items[i];

        if ((pattern->part == EITHER) == (in != EITHER) &&
            matches(pattern, &parts[in == EITHER ? pattern->part : in]))
            break;
    }
    return i;
}

/* The function's own name says what a kernel does. Namespaces, template arguments and parameters
 * decide only if no rule matches that name. */
static size_t decide(const struct lp_kernel_classes *classes, const char *name)
{
    static const enum part order[] = { EITHER, FUNCTION, WHOLE };
    struct small_text parts[PARTS] = { { .text = { .bytes = NULL } } };
    size_t found = classes->patterns.count;

    if (split_name(parts, name))
        for (size_t i = 0; i < 3 && found == classes->patterns.count; i++)
            found = first_match(classes, parts, order[i]);
    for (size_t i = 0; i < PARTS; i++)
        lp_text_clear(&parts[i].text);
    return found;
}

const char *lp_kernel_class(struct lp_kernel_classes *classes, const char *name, uint32_t kind)
{
    size_t length;
    uint64_t hash;
    uint32_t found;

    if (kind == LLMPERF_ACTIVITY_GRAPH)
        return OTHER_CLASS;
    if (kind != LLMPERF_ACTIVITY_KERNEL)
        return MEMORY_CLASS;
    length = strlen(name);
    hash = lp_hash_text(name, length);
    found = lp_hashmap_get(&classes->known, hash, length);
    if (found == LP_HASHMAP_NONE) {
        found = (uint32_t)decide(classes, name);
        lp_hashmap_put(&classes->known, hash, length,
                       found); /* if the map is full, the name is classified again next time */
    }
    return found < classes->patterns.count ? classes->patterns.items[found].class_name
                                           : OTHER_CLASS;
}

static const char *value_of(const pattern_list *list, const char *name)
{
    struct small_text whole = { .text = { .bytes = NULL } };
    const char *value = NULL;

    lp_text_puts(&whole.text, name);
    if (whole.text.bytes)
        prepare(&whole);
    for (size_t i = 0; whole.text.bytes && i < list->count && !value; i++)
        if (matches(&list->items[i], &whole))
            value = list->items[i].class_name;
    lp_text_clear(&whole.text);
    return value;
}

const char *lp_collective_trait(const struct lp_kernel_classes *classes,
                                enum lp_collective_trait trait, const char *name)
{
    return value_of(&classes->traits[trait], name);
}

bool lp_is_unfused_attention(const struct lp_kernel_classes *classes, const char *name)
{
    return value_of(&classes->unfused, name) != NULL;
}

uint32_t lp_kernel_elements(const struct lp_kernel_classes *classes, const char *name)
{
    const char *value = value_of(&classes->tokens, name);

    return !value                      ? 0
           : strcmp(value, "all") == 0 ? LP_ELEMENTS_ALL
                                       : (uint32_t)strtoul(value, NULL, 10);
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

uint8_t lp_kernel_class_index(struct lp_kernel_classes *classes, const char *name, uint32_t kind)
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
        return lp_out_of_memory();
    status = llmperf_config_open(path ? path : "kernel_classes.yaml", &config);
    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, "rules"); i++)
        status = add_rule(classes, config, i);
    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, "collectives"); i++)
        status = add_trait(classes, config, i);
    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, "unfused_attention"); i++)
        status = add_patterns(classes, &classes->unfused, config,
                              &(struct rule){ "unfused_attention", i, "softmax", WHOLE });
    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, "tokens"); i++)
        status = add_elements(classes, config, i);
    if (status == 0 && classes->patterns.count == 0)
        status = lp_error(LLMPERF_EFORMAT, "kernel classes: the table needs a list \"rules\"");
    llmperf_config_free(config);
    if (status < 0) {
        lp_kernel_classes_free(classes);
        return status;
    }
    number_classes(classes);
    *classes_out = classes;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rules of engines from YAML. */
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/yaml_tree.h"
#include "lib/record/range_rules.h"

#define PATTERN_BYTES 512

struct reader {
    struct lp_range_rules *rules;
    const char *file;
    const char *domain;                  /* of all rules of the file; NULL: none */
    const struct lp_yaml_node *patterns; /* of the rule */
    uint32_t line;                       /* of what is being read */
};

#define refuse(reader, format, ...)                                                                \
    lp_error(LLMPERF_EFORMAT, "%s:%u: " format, (reader)->file, (reader)->line, __VA_ARGS__)

/* A copy of a text; it must not be empty. */
static int keep_text(struct reader *reader, const struct lp_yaml_entry *entry, const char **kept)
{
    reader->line = entry->line;
    if (entry->value->kind != LP_YAML_TEXT || !entry->value->text[0])
        return refuse(reader, "%s must be a text", entry->key ? entry->key : "an element");
    *kept = lp_strings_add(&reader->rules->pool, entry->value->text);
    return *kept ? 0 : lp_out_of_memory();
}

/* A name of a range with "1" and "x" for the fields, which the pattern must match. */
static bool make_sample(const char *pattern, char sample[PATTERN_BYTES])
{
    size_t length = 0, fields = 0, size;

    if (strlen(pattern) >= PATTERN_BYTES)
        return false;
    for (const char *at = pattern; *at; at += size) {
        size_t name = *at == '{' ? strcspn(at + 1, ":}") : 0;
        bool is_text = strncmp(at + 1 + name, ":text}", 6) == 0;

        size = *at == '{' && at[1] == '{' ? 2 : 1;
        if (*at != '*')
            sample[length++] = *at;
        if (*at != '{' || size == 2)
            continue;
        if (name == 0 || (!is_text && at[1 + name] != '}') || ++fields > LP_RANGE_FIELDS)
            return false;
        sample[length - 1] = is_text ? 'x' : '1';
        size = name + (is_text ? strlen("{:text}") : strlen("{}"));
    }
    sample[length] = '\0';
    return length > fields;
}

static int check_pattern(const struct reader *reader, const char *pattern)
{
    char sample[PATTERN_BYTES];
    struct lp_range_fields fields;

    if (make_sample(pattern, sample) && lp_range_match(pattern, sample, &fields))
        return 0;
    return refuse(reader,
                  "\"%.60s\" is not a pattern; write text and, with text between them, at most %u "
                  "fields {name} (a number) or {name:text}, * for any text, {{ for {",
                  pattern, LP_RANGE_FIELDS);
}

/* Number of the rule's patterns with this field: "1" for a number, "x" for a text. */
static size_t count_field(const struct reader *reader, const char *name, size_t length, char value)
{
    char sample[PATTERN_BYTES];
    struct lp_range_fields fields;
    size_t count = 0;

    for (size_t i = 0; i < reader->patterns->count; i++) {
        const char *pattern = reader->patterns->entries[i].value->text;
        const struct lp_range_slice *found;

        make_sample(pattern, sample);
        lp_range_match(pattern, sample, &fields);
        found = lp_range_field(&fields, name, length);
        count += found && *found->text == value;
    }
    return count;
}

/* A number in a label would give each call its own row. */
static int check_label(const struct reader *reader, const char *label)
{
    if (!strchr(label, '@') || *label == '@' || strncmp(label, "LLM@", 4) == 0)
        return refuse(reader,
                      "\"%s\" is not a label; write DOMAIN@name, with another domain than "
                      "LLM",
                      label);
    for (const char *at = strchr(label, '{'); at; at = strchr(at + 1, '{')) {
        size_t length = strcspn(at + 1, ":}");

        if (count_field(reader, at + 1, length, 'x') < reader->patterns->count ||
            (strncmp(at + 1 + length, "}", 1) != 0 && strncmp(at + 1 + length, ":fold}", 6) != 0))
            return refuse(reader,
                          "\"%.20s\": write {name} or {name:fold} with a field {name:text} that "
                          "each pattern of the rule has",
                          at);
    }
    return 0;
}

static int check_sum(const struct reader *reader, const char *sum)
{
    for (const char *at = sum; *at; at += strspn(at, " +")) {
        size_t length = strcspn(at, " +");

        if (count_field(reader, at, length, '1') == 0)
            return refuse(reader, "\"%s\": write number fields of the patterns, joined by +", sum);
        at += length;
    }
    return 0;
}

static int read_patterns(struct reader *reader)
{
    struct lp_range_pattern pattern = { .rule = reader->rules->rules.count };
    int status = 0;

    if (reader->patterns->kind != LP_YAML_LIST || reader->patterns->count == 0)
        return refuse(reader, "%s must be a list of texts", "patterns");
    for (size_t i = 0; i < reader->patterns->count && status == 0; i++) {
        if ((status = keep_text(reader, &reader->patterns->entries[i], &pattern.text)) < 0 ||
            (status = check_pattern(reader, pattern.text)) < 0)
            break;
        pattern.start = strcspn(pattern.text, "{*");
        status = lp_vector_push(&reader->rules->patterns, pattern);
    }
    return status;
}

static int read_key(struct reader *reader, struct lp_range_rule *rule,
                    const struct lp_yaml_entry *entry)
{
    static const char *const sums[LP_RANGE_AMOUNTS] = { "tokens", "sequences", "context" };
    const char *key = entry->key, *text;
    int status;

    if (strcmp(key, "patterns") == 0)
        return 0; /* read before */
    if ((status = keep_text(reader, entry, &text)) < 0)
        return status;
    if (strcmp(key, "domain") == 0) {
        rule->domain = text;
        return 0;
    }
    if (strcmp(key, "stage") == 0 || strcmp(key, "operator") == 0) {
        rule->kind = *key == 's' ? LLMPERF_REGION_STAGE : LLMPERF_REGION_OPERATOR;
        rule->label = text;
        return check_label(reader, text);
    }
    if ((strcmp(key, "once") == 0 || strcmp(key, "ignore") == 0) && strcmp(text, "true") == 0) {
        rule->once |= *key == 'o';
        return 0;
    }
    for (size_t i = 0; i < LP_RANGE_AMOUNTS; i++)
        if (strcmp(key, sums[i]) == 0) {
            rule->sums[i] = text;
            return check_sum(reader, text);
        }
    return refuse(reader,
                  "unknown key or value \"%s: %s\"; write patterns, domain, stage, operator, "
                  "ignore, once, tokens, sequences or context",
                  key, text);
}

static int read_rule(struct reader *reader, const struct lp_yaml_entry *element)
{
    static const char *const results[] = { "stage", "operator", "ignore" };
    struct lp_range_rule rule = { .domain = reader->domain };
    const struct lp_yaml_node *map = element->value;
    const struct lp_yaml_entry *patterns = lp_yaml_get(map, "patterns", strlen("patterns"));
    size_t found = 0;
    int status;

    reader->line = element->line;
    for (size_t i = 0; i < 3; i++)
        found += lp_yaml_get(map, results[i], strlen(results[i])) != NULL;
    if (!patterns || found != 1)
        return refuse(reader, "a rule needs %s", "patterns and one of stage, operator and ignore");
    reader->line = patterns->line;
    reader->patterns = patterns->value;
    status = read_patterns(reader);
    for (size_t i = 0; i < map->count && status == 0; i++)
        status = read_key(reader, &rule, &map->entries[i]);
    return status < 0 ? status : lp_vector_push(&reader->rules->rules, rule);
}

static int read_tree(struct reader *reader, const struct lp_yaml_node *root)
{
    const struct lp_yaml_entry *list = lp_yaml_get(root, "rules", strlen("rules"));
    const struct lp_yaml_entry *domain = lp_yaml_get(root, "domain", strlen("domain"));
    int status = 0;

    reader->line = list ? list->line : 1;
    if (!list || list->value->kind != LP_YAML_LIST || root->count != 1 + (size_t)(domain != NULL))
        return refuse(reader, "the file needs %s",
                      "a list \"rules\", maybe a domain, no other key");
    if (domain)
        status = keep_text(reader, domain, &reader->domain);
    for (size_t i = 0; i < list->value->count && status == 0; i++)
        status = read_rule(reader, &list->value->entries[i]);
    return status;
}

int lp_range_rules_read(struct lp_range_rules *rules, const char *path)
{
    struct reader reader = { .rules = rules, .file = path };
    size_t patterns = rules->patterns.count, count = rules->rules.count;
    struct lp_yaml_tree *tree;
    int status = lp_yaml_read(path, &tree);

    if (status < 0)
        return status;
    status = read_tree(&reader, lp_yaml_root(tree));
    lp_yaml_free(tree);
    if (status < 0) {
        rules->patterns.count = patterns;
        rules->rules.count = count;
    }
    return status;
}

void lp_range_rules_clear(struct lp_range_rules *rules)
{
    lp_vector_clear(&rules->patterns);
    lp_vector_clear(&rules->rules);
    lp_strings_clear(&rules->pool);
}

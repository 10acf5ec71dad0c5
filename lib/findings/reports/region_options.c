/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/yaml_tree.h"
#include "lib/findings/reports/region_options.h"

#define PATTERNS_MOST 256u

const char *const lp_section_names[LP_SECTIONS] = { "time", "work", "counters", "kernels" };

static int fault(const struct lp_yaml_tree *tree, uint32_t line, const char *what)
{
    return lp_error(LLMPERF_EFORMAT, "%s:%u: regions: %s", lp_yaml_name(tree), line, what);
}

static const struct lp_yaml_entry *find(const struct lp_yaml_node *map, const char *key)
{
    const struct lp_yaml_entry *entry = lp_yaml_get(map, key, strlen(key));

    return entry && !lp_yaml_is_null(entry->value) ? entry : NULL;
}

/* Read a text or a list of texts; *count_out is 0 if the key is missing. */
static int read_texts(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                      const char *key, const char **texts, size_t *count_out)
{
    const struct lp_yaml_entry *entry = find(map, key);

    *count_out = 0;
    if (!entry)
        return 0;
    if (entry->value->kind == LP_YAML_TEXT) {
        texts[(*count_out)++] = entry->value->text;
        return 0;
    }
    if (entry->value->kind != LP_YAML_LIST || entry->value->count > PATTERNS_MOST)
        return fault(tree, entry->line,
                     "patterns must be a string or a list of strings, at most 256");
    for (size_t i = 0; i < entry->value->count; i++) {
        if (entry->value->entries[i].value->kind != LP_YAML_TEXT)
            return fault(tree, entry->value->entries[i].line, "a pattern must be a string");
        texts[(*count_out)++] = entry->value->entries[i].value->text;
    }
    return 0;
}

static int read_patterns(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                         const char *key, struct lp_patterns **patterns_out)
{
    const char *texts[PATTERNS_MOST];
    size_t count;
    int status = read_texts(tree, map, key, texts, &count);

    *patterns_out = NULL;
    return status < 0 || count == 0 ? status : lp_patterns_open(texts, count, patterns_out);
}

static int read_bool(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                     const char *key, bool *value)
{
    const struct lp_yaml_entry *entry = find(map, key);
    const char *text = entry && entry->value->kind == LP_YAML_TEXT ? entry->value->text : "";

    if (!entry)
        return 0;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return fault(tree, entry->line, "aggregate must be true or false");
    *value = strcmp(text, "true") == 0;
    return 0;
}

static int read_count(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                      const char *key, size_t *value)
{
    const struct lp_yaml_entry *entry = find(map, key);
    unsigned long number;
    char *end = NULL;

    if (!entry)
        return 0;
    number = entry->value->kind == LP_YAML_TEXT ? strtoul(entry->value->text, &end, 10) : 0;
    if (number < 1 || number > 100000 || !end || *end)
        return fault(tree, entry->line, "top and top_kernels must be numbers from 1 to 100000");
    *value = number;
    return 0;
}

static int read_sections(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                         struct lp_region_options *options)
{
    const char *texts[PATTERNS_MOST];
    size_t count;
    int status = read_texts(tree, map, "sections", texts, &count);

    if (status < 0 || count == 0)
        return status;
    memset(options->sections, 0, sizeof(options->sections));
    for (size_t i = 0; i < count; i++) {
        size_t section = 0;

        while (section < LP_SECTIONS && strcmp(texts[i], lp_section_names[section]) != 0)
            section++;
        if (section == LP_SECTIONS)
            return fault(tree, find(map, "sections")->line,
                         "sections must be time, work, counters or kernels");
        options->sections[section] = true;
    }
    return 0;
}

static int add_rule(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                    struct lp_region_options *options)
{
    struct lp_kernel_rule rule = { NULL, NULL, NULL };
    int status = read_patterns(tree, map, "region", &rule.regions);

    if (status == 0)
        status = read_patterns(tree, map, "include", &rule.include);
    if (status == 0)
        status = read_patterns(tree, map, "exclude", &rule.exclude);
    if (status == 0)
        status = lp_vector_push(&options->rules, rule);
    if (status < 0) {
        lp_patterns_free(rule.regions);
        lp_patterns_free(rule.include);
        lp_patterns_free(rule.exclude);
    }
    return status;
}

static int read_rules(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                      struct lp_region_options *options)
{
    const struct lp_yaml_entry *entry = find(map, "kernels");
    int status = 0;

    if (!entry)
        return 0;
    if (entry->value->kind == LP_YAML_MAP)
        return add_rule(tree, entry->value, options);
    if (entry->value->kind != LP_YAML_LIST)
        return fault(
            tree, entry->line,
            "kernels must be a map with include and exclude, or a list of such maps with region");
    for (size_t i = 0; i < entry->value->count && status == 0; i++)
        status =
            entry->value->entries[i].value->kind == LP_YAML_MAP
                ? add_rule(tree, entry->value->entries[i].value, options)
                : fault(tree, entry->value->entries[i].line,
                        "an element of kernels must be a map with region, include and exclude");
    return status;
}

static int read_regions(const struct lp_yaml_tree *tree, const struct lp_yaml_node *map,
                        struct lp_region_options *options)
{
    int status;

    if (map->kind != LP_YAML_MAP)
        return fault(tree, map->line, "this key must be a map");
    if ((status = read_patterns(tree, map, "include", &options->include)) < 0 ||
        (status = read_bool(tree, map, "aggregate", &options->aggregate)) < 0 ||
        (status = read_count(tree, map, "top", &options->most_regions)) < 0 ||
        (status = read_count(tree, map, "top_kernels", &options->most_kernels)) < 0 ||
        (status = read_sections(tree, map, options)) < 0)
        return status;
    return read_rules(tree, map, options);
}

int lp_region_options_init(struct lp_region_options *options, const llmperf_profile *profile)
{
    const char *config = llmperf_profile_fact(profile, "config");
    const struct lp_yaml_entry *regions;
    struct lp_yaml_tree *tree;
    int status = 0;

    *options = (struct lp_region_options){ .aggregate = true,
                                           .sections = { true, true, true, true },
                                           .most_regions = 100,
                                           .most_kernels = 50 };
    if (!config)
        return 0;
    if ((status = lp_yaml_parse("config.yaml", config, strlen(config), &tree)) < 0)
        return status;
    if ((regions = find(lp_yaml_root(tree), "regions")))
        status = read_regions(tree, regions->value, options);
    lp_yaml_free(tree);
    return status;
}

void lp_region_options_clear(struct lp_region_options *options)
{
    for (size_t i = 0; i < options->rules.count; i++) {
        lp_patterns_free(options->rules.items[i].regions);
        lp_patterns_free(options->rules.items[i].include);
        lp_patterns_free(options->rules.items[i].exclude);
    }
    lp_vector_clear(&options->rules);
    lp_patterns_free(options->include);
    options->include = NULL;
}

static bool matches(const struct lp_patterns *patterns, const llmperf_region_stats *region)
{
    return !patterns || lp_patterns_match(patterns, region->label) ||
           lp_patterns_match(patterns, region->path);
}

bool lp_region_options_shows(const struct lp_region_options *options,
                             const llmperf_region_stats *region)
{
    return *region->path && matches(options->include, region);
}

const struct lp_kernel_rule *lp_region_options_rule(const struct lp_region_options *options,
                                                    const llmperf_region_stats *region)
{
    for (size_t i = options->rules.count; i-- > 0;)
        if (matches(options->rules.items[i].regions, region))
            return &options->rules.items[i];
    return NULL;
}

static bool names(const struct lp_patterns *patterns, const llmperf_kernel_stats *kernel)
{
    return lp_patterns_match(patterns, kernel->demangled ? kernel->demangled : kernel->name) ||
           lp_patterns_match(patterns, kernel->short_name ? kernel->short_name : kernel->name) ||
           lp_patterns_match(patterns, kernel->name);
}

bool lp_kernel_rule_shows(const struct lp_kernel_rule *rule, const llmperf_kernel_stats *kernel)
{
    if (!rule)
        return true;
    return (!rule->include || names(rule->include, kernel)) &&
           !(rule->exclude && names(rule->exclude, kernel));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/yaml_tree.h"
#include "lib/counters/preset.h"

static int fault(const struct lp_yaml_tree *tree, uint32_t line, const char *what)
{
    return lp_error(LLMPERF_EFORMAT, "%s:%u: %s", lp_yaml_name(tree), line, what);
}

static const char *text_of(const struct lp_yaml_node *map, const char *key)
{
    const struct lp_yaml_entry *entry = lp_yaml_get(map, key, strlen(key));

    return entry && entry->value->kind == LP_YAML_TEXT && !lp_yaml_is_null(entry->value)
               ? entry->value->text
               : NULL;
}

static int read_candidates(struct lp_counter_preset *preset, struct lp_counter_quantity *wanted,
                           const struct lp_yaml_tree *tree, const struct lp_yaml_entry *entry)
{
    const struct lp_yaml_entry *from = lp_yaml_get(entry->value, "from", 4);

    if (!from || from->value->kind != LP_YAML_LIST || from->value->count == 0)
        return fault(tree, entry->line,
                     "a quantity needs \"from\", a list of metrics in order of preference");
    for (size_t i = 0; i < from->value->count; i++) {
        const struct lp_yaml_entry *element = &from->value->entries[i];
        const char *text;

        if (element->value->kind != LP_YAML_TEXT || lp_yaml_is_null(element->value))
            return fault(tree, element->line,
                         "a candidate must be a string: metrics joined by \" + \"");
        if (!(text = lp_strings_add(&preset->pool, element->value->text)) ||
            lp_vector_push(&wanted->candidates, text) < 0)
            return lp_out_of_memory();
    }
    return 0;
}

static int read_quantity(struct lp_counter_preset *preset, const struct lp_yaml_tree *tree,
                         const struct lp_yaml_entry *entry)
{
    struct lp_counter_quantity fresh = { 0 }, *wanted;

    if (entry->value->kind != LP_YAML_MAP)
        return fault(tree, entry->line, "a quantity must be a map with unit, about and from");
    if (lp_vector_push(&preset->quantities, fresh) < 0)
        return lp_out_of_memory();
    wanted = &preset->quantities.items[preset->quantities.count - 1];
    wanted->quantity = lp_strings_add(&preset->pool, entry->key);
    wanted->unit = lp_strings_add(&preset->pool, text_of(entry->value, "unit"));
    wanted->about = lp_strings_add(&preset->pool, text_of(entry->value, "about"));
    return wanted->quantity ? read_candidates(preset, wanted, tree, entry) : lp_out_of_memory();
}

static int read_method(struct lp_counter_preset *preset, const struct lp_yaml_tree *tree,
                       const struct lp_yaml_node *root)
{
    static const char *const names[] = { "range", "pm", "pc" };
    const char *method = text_of(root, "method");

    for (unsigned i = 0; method && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(method, names[i]) == 0) {
            preset->method = (enum lp_counter_method)i;
            return 0;
        }
    return fault(tree, root->line, "\"method\" must be range, pm or pc");
}

static int read_most_passes(struct lp_counter_preset *preset, const struct lp_yaml_tree *tree,
                            const struct lp_yaml_node *root)
{
    const char *text = text_of(root, "passes");
    char *end = NULL;
    unsigned long number = text ? strtoul(text, &end, 10) : 0;

    if (text && (number < 1 || number > 1000 || *end))
        return fault(tree, root->line, "\"passes\" is the maximum number of passes, 1 to 1000");
    preset->most_passes = (uint32_t)number;
    return 0;
}

static int read_preset(struct lp_counter_preset *preset, const struct lp_yaml_tree *tree)
{
    const struct lp_yaml_node *root = lp_yaml_root(tree);
    const struct lp_yaml_entry *quantities = lp_yaml_get(root, "quantities", 10);
    int status = read_method(preset, tree, root);

    if (status < 0 || (status = read_most_passes(preset, tree, root)) < 0)
        return status;
    preset->about = lp_strings_add(&preset->pool, text_of(root, "about"));
    if (preset->method == LP_COUNTER_PC) /* CUPTI says which stall reasons there are */
        return 0;
    if (!quantities || quantities->value->kind != LP_YAML_MAP || quantities->value->count == 0)
        return fault(tree, root->line, "\"quantities\" must be a map");
    for (size_t i = 0; status == 0 && i < quantities->value->count; i++)
        status = read_quantity(preset, tree, &quantities->value->entries[i]);
    return status;
}

static int read_tree(struct lp_yaml_tree *tree, const char *name,
                     struct lp_counter_preset **preset_out)
{
    struct lp_counter_preset *preset = calloc(1, sizeof(*preset));
    int status;

    if (!preset || !(preset->name = lp_strings_add(&preset->pool, name)))
        status = lp_out_of_memory();
    else
        status = read_preset(preset, tree);
    lp_yaml_free(tree);
    if (status < 0)
        lp_counter_preset_free(preset);
    else
        *preset_out = preset;
    return status;
}

int lp_counter_preset_read(const char *path, const char *name,
                           struct lp_counter_preset **preset_out)
{
    struct lp_yaml_tree *tree;
    int status = lp_yaml_read(path, &tree);

    return status < 0 ? status : read_tree(tree, name, preset_out);
}

int lp_counter_preset_parse(const char *text, const char *name,
                            struct lp_counter_preset **preset_out)
{
    struct lp_yaml_tree *tree;
    int status = lp_yaml_parse(name, text, strlen(text), &tree);

    return status < 0 ? status : read_tree(tree, name, preset_out);
}

static int add_raw(struct lp_counter_preset *preset, const char *metric)
{
    struct lp_counter_quantity wanted = { 0 };

    wanted.quantity = lp_strings_add(&preset->pool, metric);
    if (!wanted.quantity || lp_vector_push(&wanted.candidates, wanted.quantity) < 0)
        return lp_out_of_memory();
    if (lp_vector_push(&preset->quantities, wanted) == 0)
        return 0;
    lp_vector_clear(&wanted.candidates);
    return lp_out_of_memory();
}

int lp_counter_preset_raw(const char *const *metrics, size_t count, enum lp_counter_method method,
                          struct lp_counter_preset **preset_out)
{
    struct lp_counter_preset *preset = calloc(1, sizeof(*preset));
    int status = preset ? 0 : lp_out_of_memory();

    for (size_t i = 0; status == 0 && i < count; i++)
        status = add_raw(preset, metrics[i]);
    if (status < 0) {
        lp_counter_preset_free(preset);
        return status;
    }
    preset->name = "metrics";
    preset->method = method;
    *preset_out = preset;
    return 0;
}

void lp_counter_preset_free(struct lp_counter_preset *preset)
{
    if (!preset)
        return;
    for (size_t i = 0; i < preset->quantities.count; i++)
        lp_vector_clear(&preset->quantities.items[i].candidates);
    lp_vector_clear(&preset->quantities);
    lp_strings_clear(&preset->pool);
    free(preset);
}

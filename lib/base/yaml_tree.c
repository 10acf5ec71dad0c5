/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/base/yaml_tree.h"

struct lp_yaml_tree {
    const char *name;
    struct lp_strings texts;
    LP_VECTOR(struct lp_yaml_node *)
    nodes; /* owns all nodes; several entries may point to one (aliases) */
    const struct lp_yaml_node *root;
};

struct anchor {
    const char *name;
    const struct lp_yaml_node *node; /* NULL while its list or map is still open */
};

/* A list or map under construction. */
struct level {
    struct lp_yaml_node *node;
    const char *key; /* key of the next value; NULL: a key is next, or this is a list */
    uint32_t line;   /* of that key */
    size_t anchor;   /* index + 1; 0: no anchor */
};

struct builder {
    struct lp_yaml_tree *tree;
    yaml_parser_t parser;
    struct level levels[LP_YAML_DEPTH];
    size_t depth;
    LP_VECTOR(struct anchor) anchors;
    bool seen_document, done;
};

static uint32_t line_of(const yaml_event_t *event)
{
    return (uint32_t)event->start_mark.line + 1;
}

static int fail(const struct builder *builder, uint32_t line, const char *problem)
{
    return lp_error(LLMPERF_EFORMAT, "%s:%u: %s", builder->tree->name, line, problem);
}

static int no_memory(const struct builder *builder)
{
    return lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", builder->tree->name);
}

static struct lp_yaml_node *add_node(struct lp_yaml_tree *tree, enum lp_yaml_kind kind,
                                     uint32_t line)
{
    struct lp_yaml_node *node = calloc(1, sizeof(*node));

    if (!node || lp_vector_push(&tree->nodes, node) < 0) {
        free(node);
        return NULL;
    }
    node->kind = kind;
    node->line = line;
    node->weight = 1;
    return node;
}

/* A later anchor with the same name hides the earlier one (YAML). */
static int add_anchor(struct builder *builder, const yaml_char_t *name,
                      const struct lp_yaml_node *node)
{
    struct anchor anchor = { NULL, node };

    if (!name)
        return 0;
    anchor.name = lp_strings_add(&builder->tree->texts, (const char *)name);
    if (!anchor.name || lp_vector_push(&builder->anchors, anchor) < 0)
        return no_memory(builder);
    return 0;
}

/* Add a finished node or an alias's target to the open list or map, or make it the root. */
static int attach(struct builder *builder, const struct lp_yaml_node *value, uint32_t line)
{
    struct level *level = builder->depth ? &builder->levels[builder->depth - 1] : NULL;
    struct lp_yaml_node *parent;

    if (!level) {
        builder->tree->root = value;
        return 0;
    }
    parent = level->node;
    if (lp_vector_grow((void **)&parent->entries, parent->count, &parent->capacity, 1,
                       sizeof(*parent->entries)) < 0)
        return no_memory(builder);
    parent->entries[parent->count++] =
        (struct lp_yaml_entry){ level->key, value, level->key ? level->line : line, 0 };
    level->key = NULL;
    parent->weight += value->weight;
    if (parent->weight > LP_YAML_NODES)
        return fail(builder, line,
                    "too many values, or aliases that expand to too many; split the file");
    return 0;
}

static int check_tag(const struct builder *builder, const yaml_char_t *tag, uint32_t line)
{
    if (!tag || strcmp((const char *)tag, YAML_STR_TAG) == 0)
        return 0;
    return lp_error(LLMPERF_EFORMAT, "%s:%u: tag %s is not supported; write the plain value",
                    builder->tree->name, line, (const char *)tag);
}

static int on_key(struct builder *builder, const yaml_event_t *event)
{
    struct level *level = &builder->levels[builder->depth - 1];
    const char *key = (const char *)event->data.scalar.value;

    if (event->data.scalar.anchor)
        return fail(builder, line_of(event),
                    "an anchor on a key is not supported; put it on the value");
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(key, "<<") == 0)
        return fail(builder, line_of(event),
                    "merge keys (<<) are not supported; write the keys out");
    level->key = lp_strings_add_bytes(&builder->tree->texts, key, event->data.scalar.length);
    level->line = line_of(event);
    return level->key ? 0 : no_memory(builder);
}

static bool key_comes_next(const struct builder *builder)
{
    const struct level *level = builder->depth ? &builder->levels[builder->depth - 1] : NULL;

    return level && level->node->kind == LP_YAML_MAP && !level->key;
}

static int on_scalar(struct builder *builder, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    struct lp_yaml_node *node;
    int status;

    if ((status = check_tag(builder, event->data.scalar.tag, line_of(event))) < 0)
        return status;
    if (strlen(value) != event->data.scalar.length)
        return fail(builder, line_of(event), "a string contains a NUL byte; remove it");
    if (key_comes_next(builder))
        return on_key(builder, event);
    node = add_node(builder->tree, LP_YAML_TEXT, line_of(event));
    if (!node || !(node->text = lp_strings_add(&builder->tree->texts, value)))
        return no_memory(builder);
    node->is_string = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || event->data.scalar.tag;
    if ((status = add_anchor(builder, event->data.scalar.anchor, node)) < 0)
        return status;
    return attach(builder, node, line_of(event));
}

static int on_alias(struct builder *builder, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;

    if (key_comes_next(builder))
        return fail(builder, line_of(event),
                    "an alias as a key is not supported; write the key out");
    for (size_t i = builder->anchors.count; i-- > 0;) {
        const struct anchor *anchor = &builder->anchors.items[i];

        if (strcmp(anchor->name, name) != 0)
            continue;
        if (!anchor->node)
            return lp_error(LLMPERF_EFORMAT,
                            "%s:%u: alias *%s is used inside the value it refers to",
                            builder->tree->name, line_of(event), name);
        return attach(builder, anchor->node, line_of(event));
    }
    return lp_error(LLMPERF_EFORMAT, "%s:%u: alias *%s has no matching anchor &%s before it",
                    builder->tree->name, line_of(event), name, name);
}

static int open_level(struct builder *builder, const yaml_event_t *event, enum lp_yaml_kind kind)
{
    bool is_map = kind == LP_YAML_MAP;
    const yaml_char_t *tag =
        is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    const yaml_char_t *anchor =
        is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    struct lp_yaml_node *node;

    if (tag)
        return fail(builder, line_of(event), "a tag on a list or map is not supported; remove it");
    if (key_comes_next(builder))
        return fail(builder, line_of(event),
                    "a list or map as a key is not supported; keys must be strings");
    if (builder->depth == LP_YAML_DEPTH)
        return lp_error(LLMPERF_EFORMAT, "%s:%u: nested more than %d levels deep",
                        builder->tree->name, line_of(event), LP_YAML_DEPTH);
    node = add_node(builder->tree, kind, line_of(event));
    if (!node || add_anchor(builder, anchor, NULL) < 0)
        return no_memory(builder);
    builder->levels[builder->depth++] =
        (struct level){ node, NULL, 0, anchor ? builder->anchors.count : 0 };
    return 0;
}

/* Equal keys are in file order, so that the later one is reported. */
static int compare_entries(const void *left, const void *right)
{
    const struct lp_yaml_entry *a = *(const struct lp_yaml_entry *const *)left;
    const struct lp_yaml_entry *b = *(const struct lp_yaml_entry *const *)right;
    int order = strcmp(a->key, b->key);

    return order ? order : a < b ? -1 : a > b;
}

/* Sorted, because a hostile file could have a million keys. */
static int check_keys(const struct builder *builder, const struct lp_yaml_node *map)
{
    const struct lp_yaml_entry **sorted = malloc((map->count + 1) * sizeof(*sorted));
    int status = 0;

    if (!sorted)
        return no_memory(builder);
    for (size_t i = 0; i < map->count; i++)
        sorted[i] = &map->entries[i];
    qsort(sorted, map->count, sizeof(*sorted), compare_entries);
    for (size_t i = 1; status == 0 && i < map->count; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            status =
                lp_error(LLMPERF_EFORMAT,
                         "%s:%u: key \"%s\" appears twice in one map; the first is on line %u",
                         builder->tree->name, sorted[i]->line, sorted[i]->key, sorted[i - 1]->line);
    free(sorted);
    return status;
}

static int close_level(struct builder *builder)
{
    struct level level = builder->levels[--builder->depth];
    int status;

    if (level.node->kind == LP_YAML_MAP && (status = check_keys(builder, level.node)) < 0)
        return status;
    if (level.anchor)
        builder->anchors.items[level.anchor - 1].node = level.node;
    return attach(builder, level.node, level.node->line);
}

static int on_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->seen_document)
            return fail(builder, line_of(event),
                        "a second YAML document starts here; a file must contain one");
        builder->seen_document = true;
        return 0;
    case YAML_SCALAR_EVENT:
        return on_scalar(builder, event);
    case YAML_ALIAS_EVENT:
        return on_alias(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(builder, event, LP_YAML_LIST);
    case YAML_MAPPING_START_EVENT:
        return open_level(builder, event, LP_YAML_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_level(builder);
    case YAML_STREAM_END_EVENT:
        builder->done = true;
        return 0;
    default:
        return 0;
    }
}

static int parser_error(const struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    /* Errors of the reader (bad UTF-8, control characters) have no line, so the scanner's is
     * used. */
    size_t line =
        parser->error == YAML_READER_ERROR ? parser->mark.line : parser->problem_mark.line;
    const char *problem = parser->problem ? parser->problem : "invalid YAML";

    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(builder);
    return lp_error(LLMPERF_EFORMAT, "%s:%zu: %s%s%s", builder->tree->name, line + 1, problem,
                    parser->context ? ", " : "", parser->context ? parser->context : "");
}

static int build(struct builder *builder)
{
    int status = 0;

    while (status == 0 && !builder->done) {
        yaml_event_t event;

        if (!yaml_parser_parse(&builder->parser, &event))
            return parser_error(builder);
        status = on_event(builder, &event);
        yaml_event_delete(&event);
    }
    if (status == 0 && !builder->tree->root) {
        struct lp_yaml_node *null = add_node(builder->tree, LP_YAML_TEXT, 1);

        if (!null)
            return no_memory(builder);
        null->text = "";
        builder->tree->root = null;
    }
    return status;
}

int lp_yaml_parse(const char *name, const char *bytes, size_t size, struct lp_yaml_tree **tree_out)
{
    struct builder builder = { 0 };
    int status;

    builder.tree = calloc(1, sizeof(*builder.tree));
    if (!builder.tree || !(builder.tree->name = lp_strings_add(&builder.tree->texts, name)) ||
        !yaml_parser_initialize(&builder.parser)) {
        lp_yaml_free(builder.tree);
        return lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", name);
    }
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)bytes, size);
    status = build(&builder);
    yaml_parser_delete(&builder.parser);
    lp_vector_clear(&builder.anchors);
    if (status < 0)
        lp_yaml_free(builder.tree);
    else
        *tree_out = builder.tree;
    return status;
}

int lp_yaml_read(const char *path, struct lp_yaml_tree **tree_out)
{
    char *bytes;
    size_t size;
    int status = lp_file_read_most(path, LP_YAML_BYTES, &bytes, &size);

    if (status < 0)
        return status;
    status = lp_yaml_parse(path, bytes, size, tree_out);
    free(bytes);
    return status;
}

const struct lp_yaml_node *lp_yaml_root(const struct lp_yaml_tree *tree)
{
    return tree->root;
}

const char *lp_yaml_name(const struct lp_yaml_tree *tree)
{
    return tree->name;
}

const struct lp_yaml_entry *lp_yaml_get(const struct lp_yaml_node *node, const char *key,
                                        size_t length)
{
    if (node->kind != LP_YAML_MAP)
        return NULL;
    for (size_t i = 0; i < node->count; i++)
        if (strncmp(node->entries[i].key, key, length) == 0 && node->entries[i].key[length] == '\0')
            return &node->entries[i];
    return NULL;
}

bool lp_yaml_is_null(const struct lp_yaml_node *node)
{
    static const char *const spellings[] = { "", "~", "null", "Null", "NULL" };

    if (node->kind != LP_YAML_TEXT || node->is_string)
        return false;
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
        if (strcmp(node->text, spellings[i]) == 0)
            return true;
    return false;
}

void lp_yaml_free(struct lp_yaml_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->nodes.count; i++) {
        free(tree->nodes.items[i]->entries);
        free(tree->nodes.items[i]);
    }
    lp_vector_clear(&tree->nodes);
    lp_strings_clear(&tree->texts);
    free(tree);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** YAML document as a tree whose nodes have line numbers. One document per file. Aliases share
 * their target's node. Keys are texts and unique in a map. Merge keys ("<<") and tags other than
 * !!str are refused, not ignored.
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LP_BASE_YAML_TREE_H
#define LP_BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LP_YAML_DEPTH 64         /* nesting of lists and maps */
#define LP_YAML_BYTES (16 << 20) /* largest file */
#define LP_YAML_NODES 1000000    /* nodes, counted at each alias */

enum lp_yaml_kind { LP_YAML_TEXT, LP_YAML_LIST, LP_YAML_MAP };

struct lp_yaml_entry {
    const char *key; /* NULL in a list */
    const struct lp_yaml_node *value;
    uint32_t line; /* of the key or list element; the value's own line may be that of an anchor */
    uint32_t reserved;
};

struct lp_yaml_node {
    enum lp_yaml_kind kind;
    uint32_t line; /* from 1 */
    /* LP_YAML_TEXT */
    const char *text;
    bool is_string; /* quoted, block or !!str: never a number or null */
    /* LP_YAML_LIST, LP_YAML_MAP: in file order */
    struct lp_yaml_entry *entries;
    size_t count, capacity;
    uint64_t weight; /* number of nodes below, aliases followed */
};

struct lp_yaml_tree;

/** Read a document. `name` is used in error texts. An empty document is a null text.
 * @return 0 and *tree_out (lp_yaml_free()), LLMPERF_EFORMAT ("name:line: …"), LLMPERF_ENOMEM. */
int lp_yaml_parse(const char *name, const char *bytes, size_t size, struct lp_yaml_tree **tree_out);

/** As lp_yaml_parse() of a file; also LLMPERF_ENOENT, LLMPERF_EIO. */
int lp_yaml_read(const char *path, struct lp_yaml_tree **tree_out);

const struct lp_yaml_node *lp_yaml_root(const struct lp_yaml_tree *tree);

/** Name as passed to the reader. */
const char *lp_yaml_name(const struct lp_yaml_tree *tree);

/** Entry of a map; NULL: no such key, or `node` is not a map. `key` need not be NUL-terminated. */
const struct lp_yaml_entry *lp_yaml_get(const struct lp_yaml_node *node, const char *key,
                                        size_t length);

/** Is it empty, "~" or a spelling of "null", and not a string? */
bool lp_yaml_is_null(const struct lp_yaml_node *node);

/** NULL is allowed. */
void lp_yaml_free(struct lp_yaml_tree *tree);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/strings.h"
#include "lib/base/utf8.h"
#include "lib/record/names.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"

#define CHUNK 1024u

static _Atomic(struct lp_path *) chunks[LP_PATH_LIMIT / CHUNK];
static _Atomic uint32_t node_count;

/* Guards growth: everything below and the filling of new nodes. Readers see a node because
 * node_count is released after it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lp_strings pool;
static struct lp_names raw_labels;
static struct lp_hashmap children; /* (label hash, parent << 32 | probe) -> node */

/* "prefill" -> "LLM@prefill", "" -> "LLM@(empty)", clean UTF-8, at most LLMPERF_LABEL_BYTES. */
static void clean_label(char out[LLMPERF_LABEL_BYTES + 32], const char *raw)
{
    char text[LLMPERF_LABEL_BYTES + 1];
    const char *at;

    lp_text_sanitise(text, sizeof(text), raw ? raw : "");
    at = strchr(text, '@');
    out[0] = '\0';
    if (!at || at == text)
        strcpy(out, "LLM@");
    strcat(out, at == text ? text + 1 : text);
    if (out[strlen(out) - 1] == '@' && strchr(out, '@') == out + strlen(out) - 1)
        strcat(out, "(empty)");
}

static uint32_t kind_by_label(const char *label)
{
    static const char *const stages[] = { "LLM@prefill", "LLM@decode_all", "LLM@decode_step",
                                          "LLM@vision" };

    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
        if (!strcmp(label, stages[i]))
            return LLMPERF_REGION_STAGE;
    return LLMPERF_REGION_OPERATOR;
}

struct lp_path *lp_path_get(uint32_t node)
{
    assert(node < LP_PATH_LIMIT);
    return &atomic_load_explicit(&chunks[node / CHUNK], memory_order_acquire)[node % CHUNK];
}

uint32_t lp_path_count(void)
{
    return atomic_load_explicit(&node_count, memory_order_acquire);
}

/* Under the lock. LP_PATH_OTHER if there is no room. */
static uint32_t add_node(uint32_t parent, const char *label)
{
    uint32_t node = atomic_load_explicit(
        &node_count, memory_order_relaxed); /* Only the lock's holder changes it. */
    struct lp_path *chunk, *path;
    const char *copy, *at;

    if (node >= LP_PATH_LIMIT || !(copy = lp_strings_add(&pool, label)))
        return LP_PATH_OTHER;
    chunk = atomic_load_explicit(&chunks[node / CHUNK], memory_order_relaxed);
    if (!chunk) {
        chunk = calloc(CHUNK, sizeof(*chunk));
        if (!chunk)
            return LP_PATH_OTHER;
        atomic_store_explicit(&chunks[node / CHUNK], chunk, memory_order_release);
    }
    path = &chunk[node % CHUNK];
    at = strchr(copy, '@');
    path->label = copy;
    path->name = at ? at + 1 : copy;
    path->parent = parent;
    path->label_kind = kind_by_label(copy);
    path->depth = node == LP_PATH_ROOT ? 0 : lp_path_get(parent)->depth + 1;
    atomic_store_explicit(&node_count, node + 1, memory_order_release);
    return node;
}

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Before main, so that the root exists for whoever asks first. A forked child goes on opening
 * regions: it must not find the lock held by a thread that it does not have. */
__attribute__((constructor)) static void make_fixed_nodes(void)
{
    pthread_mutex_lock(&lock);
    add_node(LP_PATH_ROOT, "");
    add_node(LP_PATH_ROOT, "LLM@(too many paths)");
    pthread_mutex_unlock(&lock);
    pthread_atfork(take_lock, give_lock, give_lock);
}

static uint32_t find_or_add(uint32_t parent, const char *label)
{
    uint64_t hash = lp_hash_text(label, strlen(label));
    uint64_t key = (uint64_t)parent << 32;
    uint32_t node;

    while ((node = lp_hashmap_get(&children, hash, key)) != LP_HASHMAP_NONE &&
           strcmp(lp_path_get(node)->label, label))
        key++;
    if (node != LP_HASHMAP_NONE)
        return node;
    node = add_node(parent, label);
    if (node != LP_PATH_OTHER)
        lp_hashmap_put(&children, hash, key, node);
    return node;
}

uint32_t lp_path_intern(uint32_t parent, const char *label)
{
    char clean[LLMPERF_LABEL_BYTES + 32];
    uint32_t node;

    clean_label(clean, label);
    pthread_mutex_lock(&lock);
    node = find_or_add(parent, clean);
    pthread_mutex_unlock(&lock);
    return node;
}

const char *lp_path_raw_label(const char *label)
{
    const char *copy = NULL;

    pthread_mutex_lock(&lock);
    if (raw_labels.texts.count < 2 * LP_PATH_LIMIT)
        copy = lp_names_text(&raw_labels, lp_names_intern(&raw_labels, label));
    pthread_mutex_unlock(&lock);
    return copy;
}

uint32_t lp_path_kind(uint32_t node)
{
    const struct lp_path *path = lp_path_get(node);
    uint32_t kind =
        atomic_load_explicit(&path->kind, memory_order_relaxed); /* Any value once set is right. */

    return kind != LLMPERF_REGION_AUTO ? kind : path->label_kind;
}

uint32_t lp_path_stage(uint32_t node)
{
    while (node != LP_PATH_ROOT && lp_path_kind(node) != LLMPERF_REGION_STAGE)
        node = lp_path_get(node)->parent;
    return node;
}

void lp_path_print(struct lp_text *text, uint32_t node)
{
    if (node == LP_PATH_ROOT)
        return;
    lp_path_print(text, lp_path_get(node)->parent);
    if (lp_path_get(node)->parent != LP_PATH_ROOT)
        lp_text_puts(text, "/");
    lp_text_puts(text, lp_path_get(node)->label);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/utf8.h"
#include "lib/base/vector.h"
#include "lib/record/names.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"

#define CHUNK 1024u
#define OVER  "LLM@(too many paths)"

static _Atomic(struct lp_path *) chunks[LP_PATH_IDS / CHUNK];
static _Atomic(_Atomic uint32_t *) orders[LP_PATH_IDS / CHUNK]; /* ids, in order of creation */
static _Atomic uint32_t node_count, id_bound;

/* Locked before the other one. Guards the number of users and the caches in which threads keep
 * nodes: held while these change. */
static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;
static uint32_t users;

/* Guards growth: everything below, and new nodes before they are published by the release of
 * node_count. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lp_names raw_labels;
static struct lp_hashmap children; /* (label hash, parent << 32 | probe) -> node */
static LP_VECTOR(uint32_t) free_ids;
static uint32_t limit = LP_PATH_LIMIT;

/* "prefill" -> "LLM@prefill", "" -> "LLM@(empty)"; valid UTF-8, at most LLMPERF_LABEL_BYTES. */
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
                                          "LLM@vision",  "found@step",     "found@prefill",
                                          "found@decode" };

    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
        if (!strcmp(label, stages[i]))
            return LLMPERF_REGION_STAGE;
    return LLMPERF_REGION_OPERATOR;
}

struct lp_path *lp_path_get(uint32_t node)
{
    assert(node < LP_PATH_IDS);
    return &atomic_load_explicit(&chunks[node / CHUNK], memory_order_acquire)[node % CHUNK];
}

bool lp_label_is_decode(const char *label)
{
    const char *name = label ? strchr(label, '@') : NULL;

    return name && (!strcmp(name, "@decode_step") || !strcmp(label, "found@decode"));
}

bool lp_label_is_prefill(const char *label)
{
    const char *name = label ? strchr(label, '@') : NULL;

    return name && !strcmp(name, "@prefill");
}

bool lp_label_is_found(const char *label)
{
    return label && !strncmp(label, "found@", 6);
}

bool lp_path_is_found(uint32_t node)
{
    while (lp_path_get(node)->depth > 1)
        node = lp_path_get(node)->parent;
    return lp_label_is_found(lp_path_get(node)->label);
}

uint32_t lp_path_count(void)
{
    return atomic_load_explicit(&node_count, memory_order_acquire);
}

uint32_t lp_path_bound(void)
{
    return atomic_load_explicit(&id_bound, memory_order_acquire);
}

uint32_t lp_path_nth(uint32_t order)
{
    _Atomic uint32_t *chunk = atomic_load_explicit(&orders[order / CHUNK], memory_order_acquire);

    return atomic_load_explicit(&chunk[order % CHUNK], memory_order_relaxed);
}

/* Under the lock: allocate an id. */
static bool has_memory(uint32_t id, uint32_t order)
{
    struct lp_path *paths = atomic_load_explicit(&chunks[id / CHUNK], memory_order_relaxed);
    _Atomic uint32_t *ids = atomic_load_explicit(&orders[order / CHUNK], memory_order_relaxed);

    if (!paths && (paths = calloc(CHUNK, sizeof(*paths))))
        atomic_store_explicit(&chunks[id / CHUNK], paths, memory_order_release);
    if (!ids && (ids = calloc(CHUNK, sizeof(*ids))))
        atomic_store_explicit(&orders[order / CHUNK], ids, memory_order_release);
    return paths && ids;
}

/* Under the lock. LP_PATH_UNKNOWN: out of memory. */
static uint32_t add_node(uint32_t parent, const char *label)
{
    /* Changed only by the lock's holder. */
    uint32_t order = atomic_load_explicit(&node_count, memory_order_relaxed);
    uint32_t bound = atomic_load_explicit(&id_bound, memory_order_relaxed);
    uint32_t node = free_ids.count > 0 ? free_ids.items[free_ids.count - 1] : bound;
    char *copy = strdup(label);
    struct lp_path *path;

    if (!copy || node >= LP_PATH_IDS || !has_memory(node, order)) {
        free(copy);
        return LP_PATH_UNKNOWN;
    }
    free_ids.count -= free_ids.count > 0;
    path = lp_path_get(node);
    *path = (struct lp_path){ .label = copy, .parent = parent, .order = order };
    path->name = strchr(copy, '@') ? strchr(copy, '@') + 1 : copy;
    path->label_kind = kind_by_label(copy);
    path->depth = node == LP_PATH_ROOT ? 0 : lp_path_get(parent)->depth + 1;
    path->over = lp_path_get(parent)->over || strcmp(copy, OVER) == 0;
    atomic_store_explicit(&atomic_load(&orders[order / CHUNK])[order % CHUNK], node,
                          memory_order_relaxed);
    if (node == bound)
        atomic_store_explicit(&id_bound, bound + 1, memory_order_release);
    atomic_store_explicit(&node_count, order + 1, memory_order_release);
    return node;
}

static void take_locks(void)
{
    pthread_mutex_lock(&hold);
    pthread_mutex_lock(&lock);
}

static void give_locks(void)
{
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&hold);
}

/* Before main(), so that the root exists at first use. A forked child continues to open regions, so
 * it must not inherit a lock held by a thread that it does not have. */
__attribute__((constructor)) static void make_fixed_nodes(void)
{
    pthread_mutex_lock(&lock);
    add_node(LP_PATH_ROOT, "");
    add_node(LP_PATH_ROOT, OVER);
    pthread_mutex_unlock(&lock);
    pthread_atfork(take_locks, give_locks, give_locks);
}

/* Under the lock. LP_PATH_UNKNOWN: there are `most` nodes, or memory ran out. */
static uint32_t find_or_add(uint32_t parent, const char *label, uint32_t most)
{
    uint64_t hash = lp_hash_text(label, strlen(label));
    uint64_t key = (uint64_t)parent << 32;
    uint32_t node;

    while ((node = lp_hashmap_get(&children, hash, key)) != LP_HASHMAP_NONE &&
           strcmp(lp_path_get(node)->label, label))
        key++;
    if (node != LP_HASHMAP_NONE)
        return node;
    if (lp_path_count() >= most || (node = add_node(parent, label)) == LP_PATH_UNKNOWN)
        return LP_PATH_UNKNOWN;
    lp_hashmap_put(&children, hash, key, node);
    return node;
}

/* Above the limit a stage still gets its own path, if necessary at the top level. Other regions are
 * counted in one node of the enclosing stage. */
static uint32_t find_above_limit(uint32_t parent, const char *label, bool stage)
{
    uint32_t around = lp_path_stage(parent), most = limit + LP_PATH_STAGES;
    uint32_t node = LP_PATH_UNKNOWN;

    if (stage && (node = find_or_add(parent, label, most)) == LP_PATH_UNKNOWN)
        node = find_or_add(LP_PATH_OTHER, label, most + LP_PATH_STAGES / 2);
    else if (!stage && around != LP_PATH_ROOT)
        node = find_or_add(around, OVER, most);
    return node == LP_PATH_UNKNOWN ? LP_PATH_OTHER : node;
}

uint32_t lp_path_intern_as(uint32_t parent, const char *label, uint32_t kind)
{
    char clean[LLMPERF_LABEL_BYTES + 32];
    uint32_t node;

    clean_label(clean, label);
    pthread_mutex_lock(&lock);
    node = find_or_add(parent, clean, limit);
    if (node == LP_PATH_UNKNOWN)
        node = find_above_limit(parent, clean,
                                kind == LLMPERF_REGION_STAGE ||
                                    kind_by_label(clean) == LLMPERF_REGION_STAGE);
    pthread_mutex_unlock(&lock);
    return node;
}

uint32_t lp_path_intern(uint32_t parent, const char *label)
{
    return lp_path_intern_as(parent, label, LLMPERF_REGION_AUTO);
}

const char *lp_path_raw_label(const char *label)
{
    const char *copy = NULL;

    pthread_mutex_lock(&lock);
    if (raw_labels.texts.count < LP_PATH_LIMIT)
        copy = lp_names_text(&raw_labels, lp_names_intern(&raw_labels, label));
    pthread_mutex_unlock(&lock);
    return copy;
}

const char *lp_path_label_of(uint32_t node, uint32_t parent, const char *label)
{
    const struct lp_path *path = lp_path_get(node);
    char clean[LLMPERF_LABEL_BYTES + 32];

    clean_label(clean, label);
    if (path->parent != parent || strcmp(path->label, clean) != 0)
        return NULL;
    if (strcmp(path->label, label) == 0)
        return path->label;
    return strcmp(path->name, label) == 0 ? path->name : lp_path_raw_label(label);
}

/* Freeing */

void lp_path_hold(void)
{
    pthread_mutex_lock(&hold);
}

void lp_path_release(void)
{
    pthread_mutex_unlock(&hold);
}

void lp_path_use(void)
{
    pthread_mutex_lock(&hold);
    users++;
    pthread_mutex_unlock(&hold);
}

void lp_path_end_use(void)
{
    pthread_mutex_lock(&hold);
    users--;
    pthread_mutex_unlock(&hold);
}

void lp_path_keep(uint32_t node)
{
    for (; node < lp_path_bound() && !lp_path_get(node)->kept; node = lp_path_get(node)->parent)
        lp_path_get(node)->kept = true;
}

static void index_node(uint32_t node)
{
    const char *label = lp_path_get(node)->label;
    uint64_t hash = lp_hash_text(label, strlen(label));
    uint64_t key = (uint64_t)lp_path_get(node)->parent << 32;

    while (lp_hashmap_get(&children, hash, key) != LP_HASHMAP_NONE)
        key++;
    lp_hashmap_put(&children, hash, key, node);
}

/* Under both locks. Kept nodes move to the front, in the same order. */
static void sweep(void)
{
    uint32_t count = lp_path_count(), kept = 0;

    lp_hashmap_reset(&children);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = lp_path_nth(i);
        struct lp_path *path = lp_path_get(node);

        /* A node also stays if its id cannot be put on the free list. */
        if (!path->kept && lp_vector_push(&free_ids, node) == 0) {
            free((char *)path->label);
            *path = (struct lp_path){ .label = "", .name = "" };
            continue;
        }
        path->kept = false;
        path->order = kept;
        atomic_store_explicit(&atomic_load(&orders[kept / CHUNK])[kept % CHUNK], node,
                              memory_order_relaxed);
        kept++;
        if (node > LP_PATH_OTHER)
            index_node(node);
    }
    atomic_store_explicit(&node_count, kept, memory_order_release);
}

void lp_path_give_back(void (*mark)(void))
{
    pthread_mutex_lock(&hold);
    pthread_mutex_lock(&lock);
    if (users == 0) {
        lp_path_keep(LP_PATH_ROOT);
        lp_path_keep(LP_PATH_OTHER);
        mark();
        sweep();
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&hold);
}

void lp_path_set_limit(uint32_t nodes)
{
    pthread_mutex_lock(&lock);
    limit = nodes;
    pthread_mutex_unlock(&lock);
}

bool lp_path_is_rest(uint32_t node)
{
    return lp_path_get(node)->over && strcmp(lp_path_get(node)->label, OVER) == 0;
}

uint32_t lp_path_kind(uint32_t node)
{
    const struct lp_path *path = lp_path_get(node);
    uint32_t kind = atomic_load_explicit(
        &path->kind, memory_order_relaxed); /* Any value that was set is valid. */

    return kind != LLMPERF_REGION_AUTO ? kind : path->label_kind;
}

bool lp_path_has_label(uint32_t node, const char *label)
{
    const struct lp_path *path = lp_path_get(node);

    return strcmp(path->label, label) == 0 ||
           (strncmp(label, "LLM@", 4) == 0 && strcmp(path->name, label + 4) == 0 &&
            lp_path_kind(node) == LLMPERF_REGION_STAGE);
}

void lp_path_set_kind(uint32_t node, uint32_t kind)
{
    uint32_t unset = LLMPERF_REGION_AUTO;

    if (!lp_path_is_rest(node) && (kind == LLMPERF_REGION_STAGE || kind == LLMPERF_REGION_OPERATOR))
        atomic_compare_exchange_strong(&lp_path_get(node)->kind, &unset, kind);
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

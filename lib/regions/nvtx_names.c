/* SPDX-License-Identifier: Apache-2.0 */
/** Domains, registered strings and names of NVTX ranges. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/utf8.h"
#include "lib/regions/nvtx_in.h"
#include "lib/record/paths.h"

#define BUCKETS      1024u
#define DEFAULT_NAME "default" /* nsys gives the unnamed domain this name */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards growth of the lists below */
static _Atomic(struct lp_nvtx_domain *) domains;
static _Atomic(struct lp_nvtx_string *) strings[BUCKETS];
static _Atomic(const struct lp_nvtx_domain *) default_domain, llm_domain;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A forked child continues to name ranges, so it must not inherit a lock held by a thread that it
 * does not have. */
__attribute__((constructor)) static void make_fork_hooks(void)
{
    pthread_atfork(take_lock, give_lock, give_lock);
}

static struct lp_nvtx_domain *find_domain(const char *name)
{
    struct lp_nvtx_domain *domain = atomic_load(&domains);

    while (domain && strcmp(domain->name, name) != 0)
        domain = domain->next;
    return domain;
}

/* Under the lock. */
static struct lp_nvtx_domain *add_domain(const char *name)
{
    struct lp_nvtx_domain *first = atomic_load(&domains), *domain;
    size_t length = strlen(name);

    domain = malloc(sizeof(*domain) + length + 1);
    if (!domain)
        return NULL;
    domain->next = first;
    domain->owner = first ? first->owner + 1 : 1;
    domain->name_length = length;
    memcpy(domain->name, name, length + 1);
    atomic_store(&domains, domain);
    return domain;
}

const struct lp_nvtx_domain *lp_nvtx_domain_of(const char *name)
{
    char clean[LLMPERF_LABEL_BYTES / 4];
    struct lp_nvtx_domain *domain;

    lp_text_sanitise(clean, sizeof(clean), name && *name ? name : DEFAULT_NAME);
    for (char *at = strchr(clean, '@'); at; at = strchr(at, '@'))
        *at = '_'; /* the first '@' of a label ends its domain */
    pthread_mutex_lock(&lock);
    domain = find_domain(clean);
    if (!domain)
        domain = add_domain(clean);
    pthread_mutex_unlock(&lock);
    return domain;
}

static const struct lp_nvtx_domain *fixed_domain(_Atomic(const struct lp_nvtx_domain *) *slot,
                                                 const char *name)
{
    const struct lp_nvtx_domain *domain = atomic_load_explicit(slot, memory_order_acquire);

    if (__builtin_expect(domain != NULL, 1))
        return domain;
    domain = lp_nvtx_domain_of(name);
    atomic_store_explicit(slot, domain, memory_order_release);
    return domain;
}

const struct lp_nvtx_domain *lp_nvtx_domain_of_handle(const void *handle)
{
    return handle ? handle : fixed_domain(&default_domain, NULL);
}

static struct lp_nvtx_string *find_string(const struct lp_nvtx_domain *domain, const char *text,
                                          size_t bucket)
{
    struct lp_nvtx_string *string = atomic_load(&strings[bucket]);

    while (string && (string->domain != domain || strcmp(string->text, text) != 0))
        string = string->next;
    return string;
}

/* Under the lock. */
static struct lp_nvtx_string *add_string(const struct lp_nvtx_domain *domain, const char *text,
                                         size_t bucket)
{
    size_t length = strlen(text);
    struct lp_nvtx_string *string = malloc(sizeof(*string) + length + 1);

    if (!string)
        return NULL;
    string->next = atomic_load(&strings[bucket]);
    string->domain = domain;
    string->found = 0;
    string->length = length;
    memcpy(string->text, text, length + 1);
    atomic_store(&strings[bucket], string);
    return string;
}

struct lp_nvtx_string *lp_nvtx_string_of(const struct lp_nvtx_domain *domain, const char *text)
{
    size_t bucket = lp_hash_text(text, strlen(text)) % BUCKETS;
    struct lp_nvtx_string *string;

    pthread_mutex_lock(&lock);
    string = find_string(domain, text, bucket);
    if (!string)
        string = add_string(domain, text, bucket);
    pthread_mutex_unlock(&lock);
    return string;
}

const char *lp_nvtx_narrow(char *out, size_t size, const wchar_t *wide)
{
    size_t length = 0;

    for (; wide && *wide && length + 4 < size; wide++)
        length += lp_utf8_put(out + length, (uint32_t)*wide);
    out[length] = '\0';
    return out;
}

static bool has_prefix(const char *text, const struct lp_nvtx_domain *domain)
{
    return strncmp(text, domain->name, domain->name_length) == 0 &&
           text[domain->name_length] == '@';
}

/* "LLM@prefill" in domain LLM or in the default domain is LLM's "prefill". */
static const char *drop_domain(const struct lp_nvtx_domain **domain, const char *text)
{
    const struct lp_nvtx_domain *llm = fixed_domain(&llm_domain, "LLM");

    if (*domain == lp_nvtx_domain_of_handle(NULL) && llm && has_prefix(text, llm))
        *domain = llm;
    return has_prefix(text, *domain) ? text + (*domain)->name_length + 1 : text;
}

static uint32_t intern(uint32_t parent, const struct lp_nvtx_domain *domain, const char *text)
{
    char label[2 * LLMPERF_LABEL_BYTES];

    snprintf(label, sizeof(label), "%s@%s", domain->name, text);
    return lp_path_intern(parent, label);
}

void lp_nvtx_strings_keep_paths(void)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct lp_nvtx_string *string = atomic_load(&strings[i]); string;
             string = string->next) {
            lp_path_keep((uint32_t)(atomic_load(&string->found) >> 32));
            lp_path_keep((uint32_t)atomic_load(&string->found));
        }
}

static struct lp_range_cache_entry *entry_of(struct lp_thread *thread, uint32_t parent,
                                             const char *text, uint32_t owner, uint64_t *hash)
{
    *hash =
        (lp_hash_text(text, strlen(text)) ^ owner ^ (uint64_t)parent << 32) * 0x9e3779b97f4a7c15u |
        1;
    return &thread->ranges[*hash >> 56];
}

/* A range to which no rule applies. */
static uint32_t find_plain(struct lp_thread *thread, uint32_t parent,
                           const struct lp_nvtx_domain *domain, const char *text, bool learn)
{
    struct lp_range_cache_entry *entry;
    const struct lp_path *path;
    uint64_t hash;
    uint32_t node;

    entry = entry_of(thread, parent, text, domain->owner, &hash);
    if (entry->hash == hash && entry->parent == parent &&
        strcmp(lp_path_get(entry->node)->name, text) == 0)
        return entry->node;
    if (!learn)
        return LP_PATH_UNKNOWN;
    lp_path_hold();
    thread->learned = node = intern(parent, domain, text);
    path = lp_path_get(node);
    /* Names above the limit are not cached. */
    if (path->parent == parent && strcmp(path->name, text) == 0)
        *entry = (struct lp_range_cache_entry){ hash, parent, node };
    lp_path_release();
    return node;
}

/* A range with a rule. */
static uint32_t find_ruled(struct lp_thread *thread, uint32_t parent, struct lp_nvtx_string *string,
                           const struct lp_range *range)
{
    bool part = lp_range_is_part(range, parent);
    struct lp_range_cache_entry *entry;
    uint32_t node = LP_PATH_UNKNOWN;
    uint64_t hash;

    entry = entry_of(thread, parent, range->rule->label ? range->label : "", 0, &hash);
    if (!part && !string && entry->hash == hash && entry->parent == parent &&
        strcmp(lp_path_get(entry->node)->label, range->label) == 0)
        return entry->node;
    lp_path_hold();
    if (!part)
        thread->learned = node = lp_range_intern(range, parent);
    if (part || lp_path_get(node)->parent == parent) {
        if (string && range->work.count == 0)
            atomic_store(&string->found, (uint64_t)parent << 32 | node);
        if (!part)
            *entry = (struct lp_range_cache_entry){ hash, parent, node };
    }
    lp_path_release();
    return node;
}

uint32_t lp_nvtx_node(struct lp_thread *thread, uint32_t parent,
                      const struct lp_nvtx_domain **domain, const char *text,
                      struct lp_nvtx_string *string, struct lp_range *range)
{
    uint64_t found = string ? atomic_load_explicit(&string->found, memory_order_acquire) : 0;
    uint32_t node;

    range->rule = NULL;
    if (found != 0 && found >> 32 == parent)
        return (uint32_t)found;
    text = drop_domain(domain, text ? text : "");
    node = find_plain(thread, parent, *domain, text, false);
    if (node != LP_PATH_UNKNOWN)
        return node;
    if (lp_range_find(lp_range_rules(), (*domain)->name, text, range))
        return find_ruled(thread, parent, string, range);
    range->rule = NULL;
    return find_plain(thread, parent, *domain, text, true);
}

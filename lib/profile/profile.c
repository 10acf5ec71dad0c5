/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, texts, lines and facts of a profile, and the order of its rows. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"

llmperf_profile *lp_profile_create(void)
{
    llmperf_profile *profile = calloc(1, sizeof(*profile));

    if (profile)
        profile->ledger.struct_size = sizeof(profile->ledger);
    return profile;
}

struct lp_kept *lp_profile_kept(const llmperf_profile *profile)
{
    return atomic_load(&profile->kept);
}

struct lp_kept *lp_profile_keep(const llmperf_profile *profile, struct lp_kept *kept)
{
    llmperf_profile *own = (llmperf_profile *)profile; /* profiles are never created const */
    struct lp_kept *first = NULL;

    if (atomic_compare_exchange_strong(&own->kept, &first, kept))
        return kept;
    kept->free(kept);
    return first;
}

void lp_profile_forget(llmperf_profile *profile)
{
    struct lp_kept *kept = atomic_exchange(&profile->kept, NULL);

    if (kept)
        kept->free(kept);
}

void llmperf_profile_free(llmperf_profile *profile)
{
    if (!profile)
        return;
    lp_profile_forget(profile);
    lp_vector_clear(&profile->regions);
    lp_vector_clear(&profile->kernels);
    lp_vector_clear(&profile->kernel_shapes);
    lp_vector_clear(&profile->operators);
    lp_vector_clear(&profile->captures);
    lp_vector_clear(&profile->metrics);
    lp_hashmap_clear(&profile->metric_rows);
    lp_vector_clear(&profile->iterations);
    lp_vector_clear(&profile->iteration_stats);
    lp_vector_clear(&profile->windows);
    lp_vector_clear(&profile->window_kernels);
    lp_vector_clear(&profile->stage_operators);
    lp_vector_clear(&profile->devices);
    lp_vector_clear(&profile->collectives);
    lp_vector_clear(&profile->requests);
    lp_vector_clear(&profile->latencies);
    lp_vector_clear(&profile->slow_requests);
    lp_vector_clear(&profile->load);
    lp_vector_clear(&profile->host_calls);
    lp_vector_clear(&profile->memory);
    lp_vector_clear(&profile->memory_points);
    lp_vector_clear(&profile->stalls);
    lp_vector_clear(&profile->hot_instructions);
    lp_vector_clear(&profile->energy);
    lp_vector_clear(&profile->problems);
    lp_vector_clear(&profile->notes);
    lp_vector_clear(&profile->facts);
    lp_strings_clear(&profile->pool);
    free(profile->folder);
    free(profile);
}

static bool is_plain(const char *text)
{
    while (*text >= 0x20 && *text < 0x7f)
        text++;
    return !*text;
}

/* Names come from other programs and files, and are shown in terminals, browsers and tables. */
const char *lp_profile_text(llmperf_profile *profile, const char *text)
{
    struct lp_text clean = { NULL, 0, 0, false };
    const char *copy;

    if (!text || is_plain(text))
        return lp_strings_add(&profile->pool, text);
    lp_text_clean(&clean, text);
    copy = clean.failed ? NULL : lp_strings_add(&profile->pool, clean.bytes);
    lp_text_clear(&clean);
    return copy;
}

int lp_profile_histogram(llmperf_profile *profile, const struct lp_histogram *histogram,
                         struct lp_blob *blob_out)
{
    struct lp_text text = { NULL, 0, 0, false };

    *blob_out = (struct lp_blob){ NULL, 0 };
    lp_histogram_encode(histogram, &text);
    if (!text.failed && text.length > 0)
        *blob_out = (struct lp_blob){ lp_strings_add_bytes(&profile->pool, text.bytes, text.length),
                                      text.length };
    lp_text_clear(&text);
    return text.failed || (blob_out->size > 0 && !blob_out->bytes) ? lp_out_of_memory() : 0;
}

static const char *format_line(llmperf_profile *profile, const char *format, va_list args)
{
    char line[1024];

    vsnprintf(line, sizeof(line), format, args);
    return lp_profile_text(profile, line);
}

static int add_problem(llmperf_profile *profile, const char *format, va_list args)
{
    const char *line = format_line(profile, format, args);

    lp_profile_forget(profile);
    return line ? lp_vector_push(&profile->problems, line) : lp_out_of_memory();
}

int lp_profile_add_problem(llmperf_profile *profile, const char *format, ...)
{
    va_list args;
    int status;

    va_start(args, format);
    status = add_problem(profile, format, args);
    va_end(args);
    return status;
}

int lp_profile_problem(llmperf_profile *profile, const char *format, ...)
{
    va_list args;
    int status;

    if (profile->ledger.verdict == LLMPERF_VERDICT_COMPLETE ||
        profile->ledger.verdict == LLMPERF_VERDICT_SAMPLED)
        profile->ledger.verdict = LLMPERF_VERDICT_INCOMPLETE;
    va_start(args, format);
    status = add_problem(profile, format, args);
    va_end(args);
    return status;
}

int lp_profile_note(llmperf_profile *profile, const char *format, ...)
{
    const char *line;
    va_list args;

    va_start(args, format);
    line = format_line(profile, format, args);
    va_end(args);
    lp_profile_forget(profile);
    if (!line)
        return lp_out_of_memory();
    for (size_t i = 0; i < profile->notes.count; i++)
        if (strcmp(profile->notes.items[i], line) == 0)
            return 0;
    return lp_vector_push(&profile->notes, line);
}

int lp_profile_set_fact(llmperf_profile *profile, const char *key, const char *value)
{
    /* Not cleaned: values may be documents or paths. */
    struct lp_fact fact = { lp_profile_text(profile, key), lp_strings_add(&profile->pool, value) };

    if (!value)
        return 0;
    lp_profile_forget(profile);
    if (!fact.key || !fact.value)
        return lp_out_of_memory();
    for (size_t i = 0; i < profile->facts.count; i++)
        if (!strcmp(profile->facts.items[i].key, key)) {
            profile->facts.items[i] = fact;
            return 0;
        }
    return lp_vector_push(&profile->facts, fact);
}

void lp_profile_drop_facts(llmperf_profile *profile, const char *prefix)
{
    size_t kept = 0;

    for (size_t i = 0; i < profile->facts.count; i++)
        if (strncmp(profile->facts.items[i].key, prefix, strlen(prefix)) != 0)
            profile->facts.items[kept++] = profile->facts.items[i];
    profile->facts.count = kept;
    lp_profile_forget(profile);
}

const char *llmperf_profile_fact(const llmperf_profile *profile, const char *key)
{
    for (size_t i = 0; profile && key && i < profile->facts.count; i++)
        if (!strcmp(profile->facts.items[i].key, key))
            return profile->facts.items[i].value;
    return NULL;
}

int lp_compare_text(const char *a, const char *b)
{
    return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* '/' sorts before all other characters, so nested regions directly follow their parent. */
int lp_compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

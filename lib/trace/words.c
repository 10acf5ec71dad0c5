/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/words.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/record/paths.h"
#include "lib/profile/profile.h"

typedef LP_VECTOR(const char *) text_vector;

/* Entry of a table; it points to NULL until the text is made. NULL: out of memory. */
static const char **find_place(void *table, uint32_t index)
{
    text_vector *texts = table;

    return lp_vector_at(texts, index);
}

/* Names come from other programs; viewers need valid UTF-8. */
static char *clean_copy(const struct lp_text *text)
{
    size_t size = 3 * text->length + 1; /* U+FFFD is three bytes */
    char *clean = malloc(size);

    if (clean)
        lp_text_sanitise(clean, size, text->bytes);
    return clean;
}

static const char *keep(struct lp_trace_words *words, const char **place, struct lp_text *text)
{
    char *clean;

    lp_text_puts(text, "");
    clean = place && !text->failed ? clean_copy(text) : NULL;
    if (clean)
        *place = lp_strings_add(&words->pool, clean);
    free(clean);
    lp_text_clear(text);
    return place && *place ? *place : "";
}

const char *lp_trace_full_name(struct lp_trace_words *words, uint32_t name)
{
    const char **place = find_place(&words->full, name);
    struct lp_text text = { NULL, 0, 0, false };

    if (place && *place)
        return *place;
    lp_kernel_demangle(&text, lp_names_text(words->names, name));
    return keep(words, place, &text);
}

const char *lp_trace_brief_name(struct lp_trace_words *words, uint32_t name)
{
    const char **place = find_place(&words->brief, name);
    struct lp_text text = { NULL, 0, 0, false };

    if (place && *place)
        return *place;
    lp_kernel_shorten(&text, lp_trace_full_name(words, name));
    return keep(words, place, &text);
}

const char *lp_trace_path(struct lp_trace_words *words, uint32_t node)
{
    struct lp_text text = { NULL, 0, 0, false };
    const char **place;

    if (node == LP_PATH_UNKNOWN)
        return "(launch not seen)";
    place = find_place(&words->paths, node);
    if (place && *place)
        return *place;
    lp_path_print(&text, node);
    return keep(words, place, &text);
}

void lp_trace_words_clear(struct lp_trace_words *words)
{
    lp_vector_clear(&words->full);
    lp_vector_clear(&words->brief);
    lp_vector_clear(&words->paths);
    lp_strings_clear(&words->pool);
}

const char *lp_trace_quantity(uint32_t quantity)
{
    static const char *const words[] = { "",      "tokens", "sequences",    "context",
                                         "flops", "bytes",  "message_bytes" };

    return quantity < sizeof(words) / sizeof(words[0]) ? words[quantity] : "";
}

void lp_trace_stream_name(char *text, size_t size, const struct lp_activity *activity,
                          uint32_t lane)
{
    if (lane > 0)
        snprintf(text, size, "stream %u (%u)", activity->stream, lane + 1);
    else
        snprintf(text, size, "stream %u", activity->stream);
}

const char *lp_trace_launch_word(uint32_t kind)
{
    static const char *const words[] = { "call", "launch", "launch on several devices",
                                         "graph launch", "memcpy or memset" };

    return words[kind < sizeof(words) / sizeof(words[0]) ? kind : 0];
}

const char *lp_trace_launch_function(uint32_t kind)
{
    static const char *const words[] = { "cudaLaunchKernel", "cudaLaunchKernel",
                                         "cudaLaunchCooperativeKernelMultiDevice",
                                         "cudaGraphLaunch", "cudaMemcpyAsync" };

    return words[kind < sizeof(words) / sizeof(words[0]) ? kind : 0];
}

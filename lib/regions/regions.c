/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/regions/region_stack.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"

/* First use of this text below this parent on this thread. Labels above the limit or too long are
 * not cached. */
static uint32_t learn_path(struct lp_thread *thread, struct lp_path_cache_entry *entry,
                           const char *label, uint32_t kind)
{
    uint32_t parent = thread->node, node;
    const char *text;

    lp_path_hold();
    thread->learned = node = lp_path_intern_as(parent, label, kind);
    if (label && strlen(label) <= LLMPERF_LABEL_BYTES &&
        (text = lp_path_label_of(node, parent, label)))
        *entry = (struct lp_path_cache_entry){ label, text, parent, node };
    lp_path_release();
    return node;
}

/* The text is compared as well: the caller may reuse the address for another label. */
static inline uint32_t find_path(struct lp_thread *thread, const char *label, uint32_t kind)
{
    uint32_t parent = thread->node;
    uint64_t mix = ((uint64_t)(uintptr_t)label ^ ((uint64_t)parent << 17)) * 0x9e3779b97f4a7c15u;
    struct lp_path_cache_entry *entry = &thread->cache[mix >> 56];

    if (__builtin_expect(entry->pointer == label && label && entry->parent == parent &&
                             !strcmp(entry->label, label),
                         1))
        return entry->node;
    return learn_path(thread, entry, label, kind);
}

static inline void begin_region(const char *label, uint32_t kind)
{
    struct lp_thread *thread = lp_thread_get();

    if (!thread)
        return;
    if (thread->depth < LLMPERF_REGION_DEPTH)
        lp_stack_open(thread, find_path(thread, label, kind), LP_OWNER_SELF);
    else
        thread->depth++;
}

void llmperf_region_begin(const char *label)
{
    begin_region(label, LLMPERF_REGION_AUTO);
}

void llmperf_region_end(void)
{
    struct lp_thread *thread = lp_thread_get();

    if (thread)
        lp_stack_close(thread, LP_OWNER_SELF);
}

void llmperf_region_count(uint32_t quantity, uint64_t amount)
{
    struct lp_thread *thread = lp_thread_recording() ? lp_thread_get() : NULL;

    if (thread && thread->node != LP_PATH_ROOT && amount > 0 &&
        quantity >= LLMPERF_QUANTITY_TOKENS && quantity <= LLMPERF_QUANTITY_MESSAGE_BYTES)
        lp_thread_record(thread, LP_RECORD_COUNT, (uint16_t)quantity, thread->node, amount);
}

/* Callers with an older header have a shorter struct. */
static llmperf_region_attr read_attr(const llmperf_region_attr *attr)
{
    llmperf_region_attr whole = LLMPERF_REGION_ATTR_INIT;
    size_t size = !attr ? 0 : attr->struct_size < sizeof(whole) ? attr->struct_size : sizeof(whole);

    memcpy(&whole, attr ? attr : &whole, size);
    return whole;
}

void llmperf_region_begin_attr(const llmperf_region_attr *attr)
{
    const llmperf_region_attr whole = read_attr(attr);

    begin_region(whole.label, whole.kind);
    /* A region above the limit has no path, so the innermost path is another region's. */
    if (lp_thread_self && whole.kind && lp_thread_self->depth <= LLMPERF_REGION_DEPTH)
        lp_path_set_kind(lp_thread_self->node, whole.kind);
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, whole.tokens);
    llmperf_region_count(LLMPERF_QUANTITY_SEQUENCES, whole.sequences);
    llmperf_region_count(LLMPERF_QUANTITY_CONTEXT, whole.context);
    llmperf_region_count(LLMPERF_QUANTITY_FLOPS, whole.flops);
    llmperf_region_count(LLMPERF_QUANTITY_BYTES, whole.bytes);
}

void llmperf_prefill_begin(uint64_t tokens)
{
    llmperf_region_begin("LLM@prefill");
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, tokens);
}

void llmperf_prefill_end(void)
{
    llmperf_region_end();
}

void llmperf_decode_all_begin(void)
{
    llmperf_region_begin("LLM@decode_all");
}

void llmperf_decode_all_end(uint64_t tokens)
{
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, tokens);
    llmperf_region_end();
}

void llmperf_decode_step_begin(uint64_t sequences, uint64_t context)
{
    llmperf_region_begin("LLM@decode_step");
    llmperf_region_count(LLMPERF_QUANTITY_TOKENS, sequences);
    llmperf_region_count(LLMPERF_QUANTITY_SEQUENCES, sequences);
    llmperf_region_count(LLMPERF_QUANTITY_CONTEXT, context);
}

void llmperf_decode_step_end(void)
{
    llmperf_region_end();
}

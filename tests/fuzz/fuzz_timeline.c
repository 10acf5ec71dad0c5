/* SPDX-License-Identifier: Apache-2.0 */
/* The projection, on operations, calls, ranges and graph nodes with any numbers. */
#include <string.h>

#include "lib/vendor/timeline.h"
#include "llmperf/profile.h"
#include "tests/fuzz/fuzz.h"

#define ROW_BYTES 12

/* Small numbers are near each other, so that things meet; a few are extreme. */
static int64_t time_of(const uint8_t *at)
{
    static const int64_t odd[] = { INT64_MIN, INT64_MAX, -1, 0 };

    return at[0] < 250 ? (int64_t)at[0] * 16 + at[1] : odd[at[1] % 4];
}

static uint64_t thread_of(uint8_t byte)
{
    return (uint64_t)(byte % 3) << 24 | byte % 2;
}

static void add_row(struct lp_timeline *timeline, const uint8_t *at, uint32_t name)
{
    struct lp_op op = { .start = time_of(at + 1), .end = time_of(at + 3) };
    struct lp_span span = { .start = time_of(at + 1), .end = time_of(at + 3) };
    struct lp_node_event event = { .start = time_of(at + 1), .end = time_of(at + 3) };

    op.process = thread_of(at[5]) & LP_THREAD_PROCESS;
    op.correlation = at[6] % 16;
    op.device = at[7] % 2;
    op.kind = LLMPERF_ACTIVITY_KERNEL + at[8] % 3;
    op.graph = at[9] % 3;
    op.graph_node = op.graph == LP_OP_NODE ? at[10] % 8 : 0;
    op.name = name;
    span.thread = event.thread = thread_of(at[5]);
    span.label = lp_names_intern(&timeline->labels, at[6] % 2 ? "A@a" : "B@b");
    span.open = at[8] == 1;
    span.end = span.open ? INT64_MAX : span.end;
    span.foreign = at[8] == 2;
    event.graph_node = at[10] % 8;
    event.original = at[11] % 8;
    if (at[0] % 4 == 0)
        (void)lp_vector_push(&timeline->ops, op);
    else if (at[0] % 4 == 1)
        (void)lp_vector_push(&timeline->spans, span);
    else if (at[0] % 4 == 2)
        (void)lp_vector_push(&timeline->node_events, event);
}

static void add_call(struct lp_timeline *timeline, const uint8_t *at)
{
    struct lp_host_call call = { .start = time_of(at + 1), .end = time_of(at + 3) };

    call.thread = thread_of(at[5]);
    call.process = call.thread & LP_THREAD_PROCESS;
    call.correlation = at[6] % 16;
    call.kind = at[7] % 4;
    call.rank = at[8] % 2;
    call.failed = at[9] == 1;
    (void)lp_timeline_call(timeline, &call);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct lp_timeline timeline = { .process_mask = LP_THREAD_PROCESS, .calls_known = true };
    llmperf_profile **profiles = NULL;
    size_t count = 0;
    uint32_t name = lp_names_intern(&timeline.names, "kernel");

    for (size_t at = 0; at + ROW_BYTES <= size; at += ROW_BYTES)
        add_row(&timeline, bytes + at, name);
    if (lp_timeline_index(&timeline) == 0)
        for (size_t at = 0; at + ROW_BYTES <= size; at += ROW_BYTES)
            if (bytes[at] % 4 == 3)
                add_call(&timeline, bytes + at);
    if (lp_timeline_profiles(&timeline, &profiles, &count) == 0)
        for (size_t i = 0; i < count; i++)
            fuzz_documents(profiles[i]);
    free(profiles);
    lp_timeline_clear(&timeline);
    return 0;
}

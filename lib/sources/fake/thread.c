/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/sources/fake/thread.h"
#include "lib/record/paths.h"

uint32_t lp_fake_thread_path(const struct lp_fake_thread *thread)
{
    uint32_t depth = thread->depth < LLMPERF_REGION_DEPTH ? thread->depth : LLMPERF_REGION_DEPTH;

    return depth > 0 ? thread->stack[depth - 1] : LP_PATH_ROOT;
}

int lp_fake_thread_report(struct lp_fake_thread *thread, uint64_t now_ns, uint16_t kind,
                          uint16_t detail, uint64_t value)
{
    uint32_t node = kind == LP_RECORD_UNBALANCED || kind == LP_RECORD_THREAD_EXIT
                        ? LP_PATH_ROOT
                        : lp_fake_thread_path(thread);
    struct lp_record record = { now_ns, value, node, kind, detail };

    return lp_vector_push(&thread->records, record);
}

int lp_fake_thread_count(struct lp_fake_thread *thread, uint64_t now_ns, uint32_t quantity,
                         uint64_t amount)
{
    if (thread->depth == 0 || amount == 0)
        return 0;
    return lp_fake_thread_report(thread, now_ns, LP_RECORD_COUNT, (uint16_t)quantity, amount);
}

int lp_fake_thread_begin(struct lp_fake_thread *thread, uint64_t now_ns, const char *label,
                         const struct lp_fake_op *op)
{
    uint32_t unset = LLMPERF_REGION_AUTO, kind = (uint32_t)op->values[LP_FAKE_KIND];
    int status = 0;

    if (thread->depth++ < LLMPERF_REGION_DEPTH) {
        uint32_t parent = thread->depth > 1 ? thread->stack[thread->depth - 2] : LP_PATH_ROOT;

        thread->stack[thread->depth - 1] = lp_path_intern(parent, label);
        status = lp_fake_thread_report(thread, now_ns, LP_RECORD_REGION_BEGIN, 0, 0);
    }
    if (kind != LLMPERF_REGION_AUTO && thread->depth <= LLMPERF_REGION_DEPTH)
        atomic_compare_exchange_strong(&lp_path_get(lp_fake_thread_path(thread))->kind, &unset,
                                       kind);
    for (uint32_t key = LP_FAKE_TOKENS; status == 0 && key <= LP_FAKE_BYTES; key++)
        status = lp_fake_thread_count(thread, now_ns, key, op->values[key]);
    return status;
}

int lp_fake_thread_end(struct lp_fake_thread *thread, uint64_t now_ns)
{
    int status = 0;

    if (thread->depth == 0)
        return lp_fake_thread_report(thread, now_ns, LP_RECORD_UNBALANCED, 0, 0);
    if (thread->depth <= LLMPERF_REGION_DEPTH)
        status = lp_fake_thread_report(thread, now_ns, LP_RECORD_REGION_END, 0, 0);
    thread->depth--;
    return status;
}

static int tell_request(struct lp_fake_thread *thread, uint64_t now_ns, uint16_t event,
                        uint64_t value, uint64_t amount)
{
    struct lp_record record = { now_ns, value, (uint32_t)amount, LP_RECORD_REQUEST, event };

    return lp_vector_push(&thread->records, record);
}

int lp_fake_thread_request(struct lp_fake_thread *thread, uint64_t now_ns,
                           const struct lp_fake_op *op)
{
    bool counts = op->choice == LP_SERVED_FIRST || op->choice == LP_SERVED_TOKENS;
    uint64_t tokens = counts && !op->values[LP_FAKE_TOKENS] ? 1 : op->values[LP_FAKE_TOKENS];
    int status = 0;

    if (op->values[LP_FAKE_ARRIVAL])
        status = tell_request(thread, now_ns, LP_SERVED_ARRIVAL, op->values[LP_FAKE_ARRIVAL],
                              op->number);
    if (status == 0 && op->values[LP_FAKE_ID])
        status = tell_request(thread, now_ns, LP_SERVED_ID, op->values[LP_FAKE_ID], op->number);
    return status < 0 ? status : tell_request(thread, now_ns, op->choice, op->number, tokens);
}

int lp_fake_thread_exit(struct lp_fake_thread *thread, uint64_t now_ns)
{
    thread->depth = 0;
    return lp_fake_thread_report(thread, now_ns, LP_RECORD_THREAD_EXIT, 0, 0);
}

void lp_fake_thread_postpone(struct lp_fake_thread *thread)
{
    thread->cut = true;
    thread->late = thread->records.count - 1;
}

void lp_fake_thread_send(struct lp_fake_thread *thread, uint32_t index,
                         const struct lp_device_sink *sink)
{
    size_t ready = thread->cut ? thread->late : thread->records.count;

    if (ready > 0)
        sink->host(sink->context, index, thread->records.items, ready);
    thread->records.count -= ready;
    if (thread->records.count > 0)
        memmove(thread->records.items, thread->records.items + ready,
                thread->records.count * sizeof(*thread->records.items));
    thread->cut = false;
}

void lp_fake_thread_clear(struct lp_fake_thread *thread)
{
    lp_vector_clear(&thread->records);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a serving engine: records in the ring of the thread that reports them. */
#include <stdatomic.h>
#include <string.h>

#include "lib/regions/threads.h"
#include "llmperf/request.h"

static _Atomic uint64_t newest;

static uint32_t amount_of(uint64_t amount)
{
    return amount < UINT32_MAX ? (uint32_t)amount : UINT32_MAX;
}

static void tell(uint64_t request, unsigned served, uint64_t amount)
{
    struct lp_thread *thread = request && lp_thread_recording() ? lp_thread_get() : NULL;

    if (thread)
        lp_thread_record(thread, LP_RECORD_REQUEST, (uint16_t)served, amount_of(amount), request);
}

uint64_t llmperf_request_begin(const llmperf_request_attr *attr)
{
    llmperf_request_attr given = LLMPERF_REQUEST_ATTR_INIT;
    struct lp_thread *thread = lp_thread_recording() ? lp_thread_get() : NULL;
    uint64_t request;

    if (!thread)
        return 0;
    if (attr && attr->struct_size > 0)
        memcpy(&given, attr, attr->struct_size < sizeof(given) ? attr->struct_size : sizeof(given));
    /* Relaxed: it need only be unique. */
    request = atomic_fetch_add_explicit(&newest, 1, memory_order_relaxed) + 1;
    if (given.arrival_ns)
        lp_thread_record(thread, LP_RECORD_REQUEST, LP_SERVED_ARRIVAL, (uint32_t)request,
                         given.arrival_ns);
    if (given.id)
        lp_thread_record(thread, LP_RECORD_REQUEST, LP_SERVED_ID, (uint32_t)request, given.id);
    tell(request, LP_SERVED_BEGIN, given.prompt_tokens);
    return request;
}

void llmperf_request_first_token(uint64_t request)
{
    tell(request, LP_SERVED_FIRST, 1);
}

void llmperf_request_tokens(uint64_t request, uint64_t tokens)
{
    tell(tokens ? request : 0, LP_SERVED_TOKENS, tokens);
}

void llmperf_requests_token(const uint64_t *requests, size_t count)
{
    for (size_t i = 0; requests && i < count; i++)
        tell(requests[i], LP_SERVED_TOKENS, 1);
}

void llmperf_request_end(uint64_t request, uint32_t reason, uint64_t output_tokens)
{
    tell(request, LP_SERVED_END + (reason <= LLMPERF_FINISH_FAILED ? reason : 0), output_tokens);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Requests: what the users of a serving engine wait for.
 *
 * The engine reports when each request begins, when its output tokens come, and when it ends. A
 * session makes TTFT, TPOT, ITL, end-to-end latency, goodput and tokens per second of it
 * (llmperf_profile_requests()). Calls return nothing that can fail, take no lock and allocate no
 * memory once a thread has made one. The calls of a request may come from different threads, each
 * after the one before it has returned.
 *
 * Requests that begin while no session runs, or while it is paused, are not recorded. At most
 * LLMPERF_REQUESTS_OPEN are followed at a time; others are counted (over_limit). */
#ifndef LLMPERF_REQUEST_H
#define LLMPERF_REQUEST_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most requests that a session follows at a time. */
#define LLMPERF_REQUESTS_OPEN 65536

/** Why a request ended. Other numbers are taken for LLMPERF_FINISH_OTHER. */
enum {
    LLMPERF_FINISH_OTHER = 0,   /**< finished, without a reason */
    LLMPERF_FINISH_STOP = 1,    /**< finished: an end token or a stop text */
    LLMPERF_FINISH_LENGTH = 2,  /**< finished: the limit of output tokens */
    LLMPERF_FINISH_ABORTED = 3, /**< aborted: the client cancelled it */
    LLMPERF_FINISH_FAILED = 4   /**< failed: the engine could not serve it */
};

/** A request that begins. Members of 0 are not given. */
typedef struct llmperf_request_attr {
    size_t struct_size;
    uint64_t arrival_ns; /**< CLOCK_MONOTONIC time at which it arrived, before the call. Without it
                            the queue time is not known, and latencies count from the call */
    uint64_t prompt_tokens; /**< tokens of its prompt */
    uint64_t id; /**< a number by which the program's own logs find it; for the table of slowest
                    requests only, never a label */
} llmperf_request_attr;
#define LLMPERF_REQUEST_ATTR_INIT LLMPERF_INIT(llmperf_request_attr)

/** A request leaves the queue: the engine starts to work on it.
 *
 * @param attr  Borrowed for the call. NULL: nothing is given.
 * @return The request, for the other calls; unique in this process. 0, which they ignore: no
 * session is recording.
 * @threads any thread */
LLMPERF_API uint64_t llmperf_request_begin(const llmperf_request_attr *attr);

/** Its first output token is there. Ignored after a token of it was reported.
 *
 * @threads any thread */
LLMPERF_API void llmperf_request_first_token(uint64_t request);

/** More of its output tokens are there: one per decode step, several with speculative decoding. The
 * first such call also stands for llmperf_request_first_token(). Each later call adds one ITL:
 * the time since the call before it.
 *
 * @param tokens  New tokens since the last call; 0 is ignored.
 * @threads any thread */
LLMPERF_API void llmperf_request_tokens(uint64_t request, uint64_t tokens);

/** One more output token for each request of a batch, as llmperf_request_tokens().
 *
 * @param requests  Borrowed for the call; elements of 0 are ignored.
 * @param count     Requests in the array.
 * @threads any thread */
LLMPERF_API void llmperf_requests_token(const uint64_t *requests, size_t count);

/** A request has ended.
 *
 * @param reason         LLMPERF_FINISH_…
 * @param output_tokens  All its output tokens; 0: those that were reported.
 * @threads any thread */
LLMPERF_API void llmperf_request_end(uint64_t request, uint32_t reason, uint64_t output_tokens);

#ifdef __cplusplus
}
#endif
#endif

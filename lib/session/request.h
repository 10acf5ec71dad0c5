/* SPDX-License-Identifier: Apache-2.0 */
/** How any thread wakes the collector, or sends it a request and waits for it: one at a time. For
 * lib/session only. */
#ifndef LP_SESSION_REQUEST_H
#define LP_SESSION_REQUEST_H

#include <pthread.h>
#include <stdint.h>

#include "llmperf/profile.h"

enum lp_request_kind {
    LP_REQUEST_NONE,
    LP_REQUEST_FLUSH,
    LP_REQUEST_PAUSE,
    LP_REQUEST_RESUME,
    LP_REQUEST_SNAPSHOT,
    LP_REQUEST_LEDGER,
    LP_REQUEST_STOP
};

struct lp_request {
    enum lp_request_kind kind;
    llmperf_profile *profile; /* out: snapshot, stop */
    llmperf_ledger ledger;    /* out: ledger */
    int status;               /* out */
    char error[512];          /* out: error text, because last_error is per thread */
};

struct lp_requests {
    pthread_mutex_t callers; /* one request at a time */
    pthread_mutex_t lock;    /* guards current and closed */
    pthread_cond_t done;
    struct lp_request *current;
    int closed; /* the collector accepts no more requests */
};

void lp_requests_init(struct lp_requests *requests);
void lp_requests_clear(struct lp_requests *requests);

/** Send a request and wait. Returns its status (and sets this thread's last error), or
 * LLMPERF_ESTATE if the collector has ended. */
int lp_request_send(struct lp_requests *requests, struct lp_request *request);

/** Collector: the current request; NULL if none. */
struct lp_request *lp_request_take(struct lp_requests *requests);

/** Collector: answer. After LP_REQUEST_STOP no request is accepted. */
void lp_request_answer(struct lp_requests *requests, struct lp_request *request, int status);

/** Wake the collector. @threads any thread, also on the hot path */
void lp_wake_post(void);

/** Sleep until somebody posts, at most `ns`. @threads collector only */
void lp_wake_wait(uint64_t ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "lib/base/status.h"
#include "lib/session/request.h"
#include "lib/base/clock.h"

/* Static and never destroyed: a producer may be about to post it when its session is freed. */
static sem_t wake;

__attribute__((constructor)) static void make_wake(void)
{
    sem_init(&wake, 0, 0);
}

void lp_wake_post(void)
{
    int saved = errno; /* Called on the user's threads. */

    sem_post(&wake);
    errno = saved;
}

void lp_wake_wait(uint64_t ns)
{
    uint64_t until = lp_clock_now() + ns;
    struct timespec deadline = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    while (sem_clockwait(&wake, CLOCK_MONOTONIC, &deadline) < 0 && errno == EINTR)
        ;
    while (sem_trywait(&wake) == 0)
        ;
}

void lp_requests_init(struct lp_requests *requests)
{
    pthread_mutex_init(&requests->callers, NULL);
    pthread_mutex_init(&requests->lock, NULL);
    pthread_cond_init(&requests->done, NULL);
    requests->current = NULL;
    requests->closed = 0;
}

void lp_requests_clear(struct lp_requests *requests)
{
    pthread_mutex_destroy(&requests->callers);
    pthread_mutex_destroy(&requests->lock);
    pthread_cond_destroy(&requests->done);
}

int lp_request_send(struct lp_requests *requests, struct lp_request *request)
{
    int closed;

    pthread_mutex_lock(&requests->callers);
    pthread_mutex_lock(&requests->lock);
    closed = requests->closed;
    if (!closed) {
        requests->current = request;
        lp_wake_post();
        while (requests->current)
            pthread_cond_wait(&requests->done, &requests->lock);
    }
    pthread_mutex_unlock(&requests->lock);
    pthread_mutex_unlock(&requests->callers);
    if (closed)
        return lp_error(LLMPERF_ESTATE, "the session is stopped");
    return request->status < 0 ? lp_error(request->status, "%s", request->error) : 0;
}

struct lp_request *lp_request_take(struct lp_requests *requests)
{
    struct lp_request *request;

    pthread_mutex_lock(&requests->lock);
    request = requests->current;
    pthread_mutex_unlock(&requests->lock);
    return request;
}

void lp_request_answer(struct lp_requests *requests, struct lp_request *request, int status)
{
    request->status = status;
    if (status < 0)
        snprintf(request->error, sizeof(request->error), "%s", llmperf_last_error());
    pthread_mutex_lock(&requests->lock);
    if (request->kind == LP_REQUEST_STOP)
        requests->closed = 1;
    requests->current = NULL;
    pthread_cond_broadcast(&requests->done);
    pthread_mutex_unlock(&requests->lock);
}

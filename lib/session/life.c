/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/status.h"
#include "lib/session/life.h"

/* The process's one session. Never destroyed: the exit handler may need it while other threads
 * run. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static pthread_cond_t life_changed = PTHREAD_COND_INITIALIZER;
static struct llmperf_session *active;  /* the running session, until its reports are written */
static struct llmperf_session *exiting; /* used by the exit handler: must not be freed */
static bool starting;
static pid_t owner; /* the process that started the last session */

int lp_life_reserve(void)
{
    bool taken;

    pthread_mutex_lock(&life);
    taken = active || starting;
    starting = starting || !taken;
    pthread_mutex_unlock(&life);
    return taken ? lp_error(LLMPERF_EBUSY,
                            "a session is already running in this process; stop it first")
                 : 0;
}

void lp_life_begin(struct llmperf_session *session)
{
    pthread_mutex_lock(&life);
    starting = false;
    active = session;
    owner = getpid();
    pthread_mutex_unlock(&life);
}

void lp_life_end(void)
{
    pthread_mutex_lock(&life);
    active = NULL;
    pthread_cond_broadcast(&life_changed);
    pthread_mutex_unlock(&life);
}

void lp_life_await_exit(const struct llmperf_session *session)
{
    pthread_mutex_lock(&life);
    while (exiting == session)
        pthread_cond_wait(&life_changed, &life);
    pthread_mutex_unlock(&life);
}

void lp_life_await_stop(void)
{
    struct timespec deadline;

    clock_gettime(CLOCK_MONOTONIC, &deadline); /* the time of day may be set back */
    deadline.tv_sec += 10;
    pthread_mutex_lock(&life);
    while (active == exiting &&
           pthread_cond_clockwait(&life_changed, &life, CLOCK_MONOTONIC, &deadline) == 0)
        ;
    pthread_mutex_unlock(&life);
}

struct llmperf_session *lp_life_enter_exit(void)
{
    struct llmperf_session *session;

    if (owner !=
        getpid()) /* in a forked child the lock may be held by a thread that does not exist there */
        return NULL;
    pthread_mutex_lock(&life);
    session = exiting = active;
    pthread_mutex_unlock(&life);
    return session;
}

void lp_life_leave_exit(void)
{
    pthread_mutex_lock(&life);
    exiting = NULL;
    pthread_cond_broadcast(&life_changed);
    pthread_mutex_unlock(&life);
}

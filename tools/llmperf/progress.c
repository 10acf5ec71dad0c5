/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "llmperf/sys.h"
#include "terminal.h"

#define FIRST_S     2.0
#define EACH_S      0.5
#define LEAST_SHARE 0.02 /* below it the rest is not estimated */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_t thread;
static bool runs, over; /* over: guarded by lock */

/* A step of the work: the share grows from its start on. */
struct step {
    const char *what;
    double started_s, share;
};

static struct timespec now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

static double seconds_of(struct timespec time)
{
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void print_time(double seconds)
{
    if (seconds < 90)
        fprintf(stderr, "%.0f s", seconds);
    else
        fprintf(stderr, "%.0f min", seconds / 60);
}

static void show(struct step *step, double started_s)
{
    double now_s = seconds_of(now()), share, left_s;
    const char *what = llmperf_progress(&share);

    if (what != step->what || share < step->share)
        *step = (struct step){ what, now_s - EACH_S, 0 };
    step->share = isnan(share) ? 0 : share;
    fprintf(stderr, "\r\033[Kllmperf: %s, ", what ? what : "working");
    if (!isnan(share))
        fprintf(stderr, "%.0f %%, ", 100 * share);
    print_time(now_s - started_s);
    left_s = (now_s - step->started_s) / share * (1 - share);
    if (share > LEAST_SHARE && left_s >= 1) {
        fprintf(stderr, ", about ");
        print_time(left_s);
        fprintf(stderr, " left");
    }
    fflush(stderr);
}

static void *run(void *unused)
{
    struct timespec next = now();
    struct step step = { NULL, seconds_of(next), 0 };
    double started_s = step.started_s, each_s = FIRST_S;

    (void)unused;
    pthread_mutex_lock(&lock);
    while (!over) {
        double at = seconds_of(next) + each_s;

        next = (struct timespec){ (time_t)at, (long)((at - floor(at)) * 1e9) };
        while (!over && pthread_cond_timedwait(&changed, &lock, &next) == 0)
            ;
        if (!over)
            show(&step, started_s);
        if (over && each_s < FIRST_S)
            fprintf(stderr, "\r\033[K");
        each_s = EACH_S;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

void progress_begin(void)
{
    pthread_condattr_t monotonic;

    if (runs || !terminal_takes_codes(STDERR_FILENO))
        return;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    over = false;
    runs = pthread_create(&thread, NULL, run, NULL) == 0;
}

void progress_end(void)
{
    if (!runs)
        return;
    pthread_mutex_lock(&lock);
    over = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&changed);
    runs = false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of a session. For lib/session only. Everything below `collector` belongs to the collector
 * thread while it runs. */
#ifndef LP_SESSION_SESSION_H
#define LP_SESSION_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/attribution/attribution.h"
#include "lib/capture/capture.h"
#include "lib/result/result.h"
#include "lib/session/options.h"
#include "lib/session/request.h"

struct llmperf_session {
    struct lp_options options;
    char source_name[16];
    char source_reason[512]; /* why not a better source; "" if there is none */
    char created_at[32];
    char *config_text; /* of config_path; NULL: none */
    char *run_file;    /* path of run.llmperf; NULL: nothing is written */
    pid_t pid;
    _Atomic bool stopped;        /* set by the thread that stops, read by all that ask */
    struct lp_requests requests; /* how other threads ask the collector */
    pthread_t collector;

    struct lp_names names;
    struct lp_device_source *source; /* NULL: none */
    struct lp_recorder *recorder;    /* NULL: none */
    struct lp_device_sink sink;
    struct lp_attribution *attribution;
    struct lp_totals *totals;
    struct lp_store *store; /* NULL: nothing is written */
    char *environment;      /* JSON */
    bool environment_has_driver;
    bool paused;
    bool playing;        /* a finite source that is not over */
    uint64_t activities; /* delivered so far: progress */
    uint64_t start_ns, flushed_ns, committed_ns;
    uint64_t commit_cost_ns; /* of the last commit */
    uint64_t stop_ns;        /* 0: it still runs */
    int failed;              /* first error of the source or the store */
    char failure[512];
};

/** Keep the first error of the pipeline for llmperf_session_stop(). */
void lp_session_fail(struct llmperf_session *session, int status);

/** A profile of now, with facts; `running`: as a commit while the session goes on. 0 or
 * LLMPERF_ENOMEM. */
int lp_session_profile(struct llmperf_session *session, bool running,
                       llmperf_profile **profile_out);

/** Write a profile into the store. */
void lp_session_commit(struct llmperf_session *session, bool running);

/** Make env.json's text, with the driver once it is in use. */
void lp_session_environment(struct llmperf_session *session);

/** The collector thread: from its start to the end of the session. */
void *lp_session_collect(void *session);

#endif

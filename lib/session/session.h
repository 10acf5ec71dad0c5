/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of a session. For lib/session only. Everything below `collector` belongs to the collector
 * thread while it runs. */
#ifndef LP_SESSION_SESSION_H
#define LP_SESSION_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/attribution/attribution.h"
#include "lib/regions/capture.h"
#include "lib/profile/profile.h"
#include "lib/session/counter_pace.h"
#include "lib/session/options/counter_request.h"
#include "lib/session/flush.h"
#include "lib/session/options/input_list.h"
#include "lib/session/health.h"
#include "lib/session/options/options.h"
#include "lib/session/detach.h"
#include "lib/session/request.h"
#include "lib/trace/export/graph_ends.h"
#include "lib/session/sampling.h"
#include "lib/session/options/stage_work.h"
#include "lib/session/watch.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"
#include "lib/findings/kernel_class.h"

struct llmperf_session {
    struct lp_options options;
    char source_name[16];
    char source_reason[512]; /* why not a better source; "" if there is none */
    char created_at[32];
    char run_key[17]; /* no other run has it */
    bool has_paths;   /* lp_path_use() is on */
    bool injected;    /* its source is attached later, if at all */
    char *run_file;   /* path of run.llmperf; NULL: no file */
    pid_t pid;
    _Atomic bool stopped;        /* set by the thread that stops, read by all that ask */
    struct lp_input_list inputs; /* what the program reported about its inputs */
    struct lp_requests requests; /* requests of other threads to the collector */
    pthread_t collector;
    pthread_t stopper;             /* of llmperf_session_stop_async(), if has_stopper */
    _Atomic int has_stopper;       /* 1: it runs or has ended; 2: it was waited for */
    llmperf_profile *stop_profile; /* the stopper's, until it is waited for */
    int stop_status;
    char stop_error[512];
    _Atomic(struct lp_device_source *) attached; /* on its way to the collector */
    char attach_failure[512]; /* why none comes; read once attach_failed is seen */
    _Atomic bool attach_failed;

    struct lp_names names;
    struct lp_device_source *source; /* NULL: none */
    struct lp_recorder *recorder;    /* NULL: none */
    struct lp_recorder *trace;       /* the recording of the run's folder; NULL: none */
    char trace_problem[512];         /* why it lacks something; "" if it does not */
    struct lp_device_sink sink;
    struct lp_attribution *attribution;
    struct lp_graph_ends graph_ends;
    struct lp_totals *totals;
    struct lp_counter_totals *counter_totals;
    struct lp_counter_request counter_request;
    struct lp_counter_pace counter_pace;
    struct lp_counters *counters;      /* NULL: none are collected here */
    char counters_reason[512];         /* the reason; "" if nothing is wrong */
    struct lp_stage_work *stage_work;  /* NULL: no model */
    struct lp_kernel_classes *classes; /* NULL: the table could not be read */
    struct lp_store *store;            /* NULL: nothing is written */
    char *environment;                 /* JSON */
    bool environment_has_driver;
    struct lp_sampling sampling;
    struct lp_detach detach;
    struct lp_watch watch;
    struct lp_health health;
    bool paused;
    _Atomic bool driver_gone; /* it may not be called any more */
    bool playing;             /* a finite source that is not over */
    bool ignores;             /* the program marks regions, and the source brings its own */
    uint64_t activities;      /* delivered so far: progress */
    struct lp_flush flush;
    uint64_t start_ns, committed_ns;
    uint64_t written_ns; /* of the last commit that succeeded */
    int unwritten;       /* why what came after it is not in run.llmperf; 0: all is */
    char unwritten_reason[512];
    uint64_t commit_cost_ns; /* of the last commit */
    uint64_t stop_ns;        /* 0: it still runs */
    int failed;              /* first error of the source */
    char failure[512];
};

/** Start a session. `injected`: for a program that does not call the library, and without a source
 * until one is attached. As llmperf_session_start(). */
int lp_session_start(const llmperf_session_options *options, bool injected,
                     llmperf_session **session_out);

/** 0; LLMPERF_EINVAL, LLMPERF_ESTATE: it is not ours, or does not run any more. */
int lp_session_check(const llmperf_session *session);

/** Check it, send it to the collector and wait for the answer. */
int lp_session_ask(llmperf_session *session, enum lp_request_kind kind, struct lp_request *request);

/** Open the device source that the options request, in the caller's thread, and hand it to the
 * collector without waiting: the caller may hold locks of the driver. */
void lp_session_attach(struct llmperf_session *session);

/** Choose and open the source of a session that starts. 0, or negative as opening it. */
int lp_session_choose_source(struct llmperf_session *session);

/** A source that came too late for the collector is closed. */
void lp_session_drop_attached(struct llmperf_session *session);

/** Collector: take over a source that was attached, or the reason why none comes. true: there was
 * one to take. */
bool lp_session_take_attached(struct llmperf_session *session);

/** End the injected session, because the program starts one of its own. */
void lp_inject_yield(void);

/** A session that the program started itself writes there: report it to the launcher. */
void lp_inject_report_run(const char *run_dir);

/** What `ignores` means, for readers of the log or the run. */
#define LP_IGNORES                                                                                 \
    "regions marked by the program are not in this run: its source, a recording or a script, has " \
    "its own regions; use source none for host times of the program's regions"

/** Keep the first error of the pipeline for llmperf_session_stop(). */
void lp_session_fail(struct llmperf_session *session, int status);

/** run.llmperf was written (0) or not, which a later time may mend. */
void lp_session_written(struct llmperf_session *session, int status);

/** The current ledger, and what the source reports about itself. */
void lp_session_fill_ledger(struct llmperf_session *session, llmperf_ledger *ledger,
                            struct lp_device_stats *stats);

/** The current profile, with facts; `running`: as a commit while the session goes on. 0 or
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

/* SPDX-License-Identifier: Apache-2.0 */
/** Contents of a session. For lib/session only. While the collector runs, everything below
 * `collector` belongs to its thread. */
#ifndef LP_SESSION_SESSION_H
#define LP_SESSION_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/attribution/attribution.h"
#include "lib/regions/capture.h"
#include "lib/profile/profile.h"
#include "lib/profile/serving/serving.h"
#include "lib/session/counter_pace.h"
#include "lib/session/options/counter_request.h"
#include "lib/session/flush.h"
#include "lib/session/options/input_list.h"
#include "lib/session/gpu_watch.h"
#include "lib/session/health.h"
#include "lib/session/options/options.h"
#include "lib/session/detach.h"
#include "lib/session/request.h"
#include "lib/trace/export/graph_ends.h"
#include "lib/session/sampling.h"
#include "lib/session/options/stage_work.h"
#include "lib/structure/structure.h"
#include "lib/session/watch.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"
#include "lib/findings/kernels/kernel_class.h"

struct llmperf_session {
    struct lp_options options;
    char source_name[16];
    char source_reason[512]; /* why there is no better source; "" */
    char created_at[32];
    char run_key[17]; /* unique key of the run */
    bool has_paths;   /* lp_path_use() is in effect */
    bool injected;    /* started by injection: its source is attached later, if at all */
    char *run_file;   /* path of run.llmperf; NULL: no file */
    pid_t pid;
    _Atomic bool stopped;        /* set by the thread that stops */
    struct lp_input_list inputs; /* inputs that the program reported */
    struct lp_requests requests; /* requests of other threads */
    pthread_t collector;
    pthread_t stopper;             /* of llmperf_session_stop_async(), if has_stopper */
    _Atomic int has_stopper;       /* 1: it runs or has ended; 2: it was joined */
    llmperf_profile *stop_profile; /* the stopper's, until it is joined */
    int stop_status;
    char stop_error[512];
    _Atomic(struct lp_device_source *) attached; /* on its way to the collector */
    char attach_failure[512]; /* why there is no source; valid if attach_failed */
    _Atomic bool attach_failed;

    struct lp_names names;
    struct lp_device_source *source; /* NULL: none */
    struct lp_recorder *recorder;    /* NULL: none */
    struct lp_recorder *trace;       /* trace in the run's folder; NULL: none */
    char trace_problem[512];         /* why it is incomplete; "": it is complete */
    struct lp_device_sink sink;
    struct lp_attribution *attribution;
    struct lp_graph_ends graph_ends;
    struct lp_structure *structure;
    struct lp_totals *totals;
    struct lp_counter_totals *counter_totals;
    struct lp_serving *serving;
    struct lp_counter_request counter_request;
    struct lp_counter_pace counter_pace;
    struct lp_counters *counters;      /* NULL: not collected in this process */
    char counters_reason[512];         /* why; "" without a problem */
    struct lp_stage_work *stage_work;  /* NULL: no model */
    char model_path[512];              /* of a found model; "": it was given, or there is none */
    char model_note[1024];             /* where it was found, or why it is not used; "" */
    uint32_t model_change;             /* the newest announcement that was looked at */
    struct lp_kernel_classes *classes; /* NULL: the table could not be read */
    struct lp_store *store;            /* NULL: nothing is written */
    char *environment;                 /* JSON */
    bool environment_has_driver;
    struct lp_sampling sampling;
    struct lp_detach detach;
    struct lp_watch watch;
    struct lp_health health;
    struct lp_gpu_watch gpu_watch;
    bool paused;
    _Atomic bool driver_gone; /* the driver must not be called any more */
    bool playing;             /* replaying a recording or script that has not ended */
    bool ignores;             /* the program marks regions, but the replay has its own */
    uint64_t activities;      /* delivered so far */
    struct lp_flush flush;
    uint64_t start_ns, committed_ns;
    uint64_t written_ns; /* last successful commit */
    int unwritten;       /* error of later commits; 0: none */
    char unwritten_reason[512];
    uint64_t commit_cost_ns; /* cost of the last commit */
    uint64_t stop_ns;        /* 0: running */
    int failed;              /* first error of the source */
    char failure[512];
};

/** Start a session; errors as llmperf_session_start().
 * @param injected  For a program that does not call the library; it has no source until one is
 * attached. */
int lp_session_start(const llmperf_session_options *options, bool injected,
                     llmperf_session **session_out);

/** Start a thread that handles no signals of the program. 0 or an errno. */
int lp_session_thread(pthread_t *thread, void *(*run)(void *context), void *context);

/** Check that the session runs and belongs to this process. 0; LLMPERF_EINVAL; LLMPERF_ESTATE. */
int lp_session_check(const llmperf_session *session);

/** Check the session, send a request to the collector and wait for the answer. */
int lp_session_ask(llmperf_session *session, enum lp_request_kind kind, struct lp_request *request);

/** Open the device source in the caller's thread and pass it to the collector without waiting,
 * since the caller may hold locks of the driver. */
void lp_session_attach(struct llmperf_session *session);

/** Choose and open the source of a starting session. 0 or the error of opening it. */
int lp_session_choose_source(struct llmperf_session *session);

/** Close a source that came too late for the collector. */
void lp_session_drop_attached(struct llmperf_session *session);

/** Collector: take over an attached source, or the reason why there is none.
 * @return true: there was one or the other. */
bool lp_session_take_attached(struct llmperf_session *session);

/** Stop the injected session, because the program starts its own. */
void lp_inject_yield(void);

/** What `llmperf attach` asks for: lp_inject_wake() and lp_inject_sleep(). */
struct lp_attach_actions {
    int (*start)(const llmperf_session_options *options);
    int (*stop)(char *text, size_t size);
};

/** Wait for `llmperf attach` in a thread of its own. Actions: borrowed for good. 0; LLMPERF_EBUSY,
 * LLMPERF_ENOMEM. */
int lp_attach_listen(const struct lp_attach_actions *actions);

/** Start a session for `llmperf attach`. 0 or an error of llmperf_session_start(). */
int lp_inject_wake(const llmperf_session_options *options);

/** Stop that session. `text`: the folder of its run. 0; LLMPERF_ESTATE: there is none; an error of
 * llmperf_session_stop(). */
int lp_inject_sleep(char *text, size_t size);

/** Report to the launcher where a session that the program started itself writes. */
void lp_inject_report_run(const char *run_dir);

/** Message about `ignores`, for log and run. */
#define LP_IGNORES                                                                                 \
    "regions marked by the program are not in this run: its source, a recording or a script, has " \
    "its own regions; use source none for host times of the program's regions"

/** Keep the first error of the pipeline for llmperf_session_stop(). */
void lp_session_fail(struct llmperf_session *session, int status);

/** Status of writing run.llmperf (0: written). A later write may succeed. */
void lp_session_written(struct llmperf_session *session, int status);

/** The current ledger, with what the source reports. */
void lp_session_fill_ledger(struct llmperf_session *session, llmperf_ledger *ledger,
                            struct lp_device_stats *stats);

/** The current profile, with facts.
 * @param running  It is a commit of a running session.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_session_profile(struct llmperf_session *session, bool running,
                       llmperf_profile **profile_out);

/** Write a profile into the store. */
void lp_session_commit(struct llmperf_session *session, bool running);

/** Make the text of env.json; includes the driver once it is in use. `last`: the program has loaded
 * its packages, and the driver may be called. */
void lp_session_environment(struct llmperf_session *session, bool last);

/** Main function of the collector thread. */
void *lp_session_collect(void *session);

#endif

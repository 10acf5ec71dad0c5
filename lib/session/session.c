/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/retention.h"
#include "lib/session/session.h"
#include "lib/session/session_counters.h"
#include "lib/session/session_trace.h"
#include "lib/session/wake.h"
#include "llmperf/output.h"

/* The life of the one session. Never destroyed: the exit handler may need it while other threads
 * run. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static pthread_cond_t life_changed = PTHREAD_COND_INITIALIZER;
static struct llmperf_session *active; /* the one that runs, until its reports are written */
static struct llmperf_session
    *exiting; /* the one that the exit handler looks at: not to be freed */
static bool starting;
static pid_t owner; /* process that started the last session */

static int reserve_life(void)
{
    bool taken;

    pthread_mutex_lock(&life);
    taken = active || starting;
    starting = starting || !taken;
    pthread_mutex_unlock(&life);
    return taken ? lp_error(LLMPERF_EBUSY, "a session runs already in this process; stop it first")
                 : 0;
}

/* A start has ended: with a session, or NULL. */
static void begin_life(struct llmperf_session *session)
{
    pthread_mutex_lock(&life);
    starting = false;
    active = session;
    owner = getpid();
    pthread_mutex_unlock(&life);
}

static void end_life(void)
{
    pthread_mutex_lock(&life);
    active = NULL;
    pthread_cond_broadcast(&life_changed);
    pthread_mutex_unlock(&life);
}

/* The exit handler is done with a session that is about to be freed. */
static void await_exit_handler(const struct llmperf_session *session)
{
    pthread_mutex_lock(&life);
    while (exiting == session)
        pthread_cond_wait(&life_changed, &life);
    pthread_mutex_unlock(&life);
}

/* Another thread may be stopping it: its reports are awaited, but not for ever. */
static void await_other_stop(void)
{
    struct timespec deadline;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 10;
    pthread_mutex_lock(&life);
    while (active == exiting && pthread_cond_timedwait(&life_changed, &life, &deadline) == 0)
        ;
    pthread_mutex_unlock(&life);
}

/* A program that ends without stopping its session still gets its report. Handlers run in the
 * reverse order of their registration, and behind the driver's own, CUPTI crashes. So this one is
 * registered again with the first context and with the first launch. If neither has happened, no
 * device work is outstanding. */
static void stop_at_exit(void)
{
    struct llmperf_session *session;

    if (owner != getpid()) /* A forked child: the lock may be held by a thread it does not have. */
        return;
    pthread_mutex_lock(&life);
    session = exiting = active;
    pthread_mutex_unlock(&life);
    if (session && !lp_capture_device_used())
        session->driver_gone = true;
    if (session && llmperf_session_stop(session, NULL) == LLMPERF_ESTATE)
        await_other_stop();
    pthread_mutex_lock(&life);
    exiting = NULL;
    pthread_cond_broadcast(&life_changed);
    pthread_mutex_unlock(&life);
}

static void register_exit(void)
{
    atexit(stop_at_exit);
}

/* The pipeline, from the device side to the result side */

static void pass_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    struct llmperf_session *session = context;

    lp_attribution_host(session->attribution, thread, records, count);
    lp_counter_totals_host(session->counter_totals, thread, records, count);
}

static void pass_activities(void *context, struct lp_activity *activities, size_t count)
{
    struct llmperf_session *session = context;

    session->activities += count;
    lp_attribution_activities(session->attribution, activities, count);
}

static uint8_t classify(void *classes, const char *demangled, uint32_t kind)
{
    return lp_kernel_class_index(classes, demangled, kind);
}

static const char *name_class(void *classes, size_t index)
{
    return lp_kernel_class_name(classes, index);
}

/* What iterations are made of besides times: the work of each, and the class of each kernel. */
static int open_knowledge(struct llmperf_session *session)
{
    struct lp_work_source source;
    int status;

    if (session->watch.count > 0) {
        struct lp_watcher watcher = lp_watch_watcher(session);

        lp_totals_set_watcher(session->totals, &watcher);
    }
    if (lp_kernel_classes_open(NULL, &session->classes) == 0)
        lp_totals_set_classes(session->totals,
                              &(struct lp_classifier){ session->classes, classify, name_class });
    else
        session->classes = NULL;
    if (!session->options.model_path)
        return 0;
    if ((status = lp_stage_work_open(session->options.model_path, &session->stage_work)) < 0)
        return status;
    source = lp_stage_work_source(session->stage_work);
    lp_totals_set_work(session->totals, &source);
    return 0;
}

static void pass_graphs(void *context, const struct lp_graph_event *events, size_t count)
{
    lp_attribution_graphs(((struct llmperf_session *)context)->attribution, events, count);
}

static void pass_plan(void *context, const struct lp_counter_plan *plan)
{
    lp_counter_totals_plan(((struct llmperf_session *)context)->counter_totals, plan);
}

static void pass_counter(void *context, const struct lp_counter_fact *fact, const double *values)
{
    lp_counter_totals_fact(((struct llmperf_session *)context)->counter_totals, fact, values);
}

static int make_pipeline(struct llmperf_session *session)
{
    struct lp_attribution_sink results;
    struct lp_device_sink facts = { session,     pass_host, pass_activities,
                                    pass_graphs, pass_plan, pass_counter };
    int status;

    if (!(session->totals = lp_totals_create(&session->names)) ||
        !(session->counter_totals = lp_counter_totals_create(&session->names)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    lp_totals_set_counters(session->totals, session->counter_totals);
    results = lp_totals_sink(session->totals);
    if (!(session->attribution = lp_attribution_create(&results)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if ((status = open_knowledge(session)) < 0)
        return status;
    session->sink = facts;
    if (session->options.record_path)
        return lp_session_record(session, session->options.record_path, 0, &session->recorder);
    return 0;
}

/* Start and stop */

/* Make the run file, new: whoever makes it first has the run. 0, LLMPERF_EBUSY if there is one. */
static int claim_file(const char *run_dir, char **path_out)
{
    char *path = lp_path_join(run_dir, "run.llmperf");
    int fd, status = 0;

    if (!path)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    else if (errno == EEXIST)
        status = lp_error(LLMPERF_EBUSY,
                          "%s holds a run already; choose another run_dir or run_id, or remove it",
                          run_dir);
    else
        status = lp_error(LLMPERF_EIO, "cannot write %s: %s", path, strerror(errno));
    if (status < 0)
        free(path);
    else
        *path_out = path;
    return status;
}

/* The next name for a run that was named by its second: "…-1", "…-2". */
static int rename_run(struct lp_options *options, const char *folder, const char *run_id,
                      unsigned number)
{
    char name[128];

    snprintf(name, sizeof(name), "%s-%u", run_id, number);
    free(options->run_id);
    free(options->run_dir);
    options->run_id = lp_text_copy(name);
    options->run_dir = lp_path_join(folder, name);
    return options->run_id && options->run_dir ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");
}

static int claim_run(struct lp_options *options, char **path_out)
{
    char *folder = lp_text_copy(options->run_dir), *run_id = lp_text_copy(options->run_id);
    int status = folder && run_id ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");

    if (status == 0 && strrchr(folder, '/'))
        *strrchr(folder, '/') = '\0';
    for (unsigned number = 1; status == 0; number++) {
        if ((status = lp_folder_make(options->run_dir)) < 0 ||
            (status = claim_file(options->run_dir, path_out)) != LLMPERF_EBUSY ||
            !options->run_id_is_ours || number > 999)
            break;
        status = rename_run(options, folder, run_id, number);
    }
    free(folder);
    free(run_id);
    return status;
}

static int prepare_run(struct llmperf_session *session)
{
    int status;

    if (!session->options.run_dir)
        return 0;
    if ((status = claim_run(&session->options, &session->run_file)) < 0)
        return status;
    /* A folder that the program named itself has no runs of ours beside it. */
    if (session->options.in_folder_of_runs)
        lp_runs_retain(session->options.run_dir, session->options.config.keep_runs);
    return lp_store_create(session->run_file, &session->store);
}

/* A session that did not start leaves no run behind. */
static void unclaim_run(struct llmperf_session *session)
{
    lp_store_close(session->store);
    session->store = NULL;
    if (!session->run_file)
        return;
    unlink(session->run_file);
    lp_session_trace_remove(session);
    rmdir(session->options.run_dir); /* stays if something else is in it */
}

/* The program's signals are the program's: none is handled on our thread. */
static int start_collector(struct llmperf_session *session)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&session->collector, NULL, lp_session_collect, session);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed
               ? lp_error(LLMPERF_ENOMEM, "cannot start the collector thread: %s", strerror(failed))
               : 0;
}

static void free_session(struct llmperf_session *session)
{
    struct lp_device_stats none = { 0 };

    lp_session_counters_close(session);
    lp_recorder_close(session->recorder, &none, "{}");
    lp_recorder_close(session->trace, &none, "{}");
    if (session->source)
        session->source->ops->close(session->source);
    lp_store_close(session->store);
    lp_attribution_free(session->attribution);
    lp_totals_free(session->totals);
    lp_counter_totals_free(session->counter_totals);
    lp_stage_work_free(session->stage_work);
    lp_kernel_classes_free(session->classes);
    lp_given_clear(&session->given);
    lp_names_clear(&session->names);
    lp_requests_clear(&session->requests);
    lp_sampling_clear(&session->sampling);
    lp_watch_clear(&session->watch);
    lp_options_clear(&session->options);
    free(session->environment);
    free(session->run_file);
    free(session);
}

static int start_session(struct llmperf_session *session)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status;

    if ((status = lp_sampling_init(&session->sampling, session->options.sample_regions,
                                   session->options.overhead_budget_permille)) < 0 ||
        (status = lp_watch_init(&session->watch, session->options.rules)) < 0 ||
        (status = make_pipeline(session)) < 0 || (status = lp_session_choose_source(session)) < 0 ||
        (status = lp_session_counters_open(session)) < 0 || (status = prepare_run(session)) < 0 ||
        (status = lp_session_trace_open(session)) < 0)
        return status;
    pthread_once(&once, register_exit);
    session->start_ns = session->flushed_ns = lp_clock_now();
    lp_session_commit(session, true);
    if (session->failed < 0)
        return lp_error(session->failed, "%s", session->failure);
    lp_capture_on_pressure(lp_wake_post);
    lp_capture_on_first_use(register_exit);
    lp_sampling_begin(session);
    lp_health_begin(session);
    if (!session->source || session->source->ops->live)
        lp_capture_begin(session->options.ring_bytes);
    if ((status = start_collector(session)) < 0)
        lp_capture_end();
    return status;
}

static int start_or_clean_up(struct llmperf_session *session)
{
    int status = start_session(session);

    if (status < 0) {
        snprintf(session->failure, sizeof(session->failure), "%s", llmperf_last_error());
        unclaim_run(session);
        lp_error(status, "%s", session->failure);
    }
    begin_life(status < 0 ? NULL : session);
    return status;
}

static int start_new(const llmperf_session_options *options, bool injected,
                     llmperf_session **session_out)
{
    struct llmperf_session *session;
    int status;

    if (lp_capture_forked())
        return lp_error(LLMPERF_ESTATE, "this is a forked child of a profiled process: it records "
                                        "nothing; start it with exec instead");
    session = calloc(1, sizeof(*session));
    if (!session)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    lp_requests_init(&session->requests);
    lp_given_init(&session->given);
    session->pid = getpid();
    session->injected = injected;
    lp_clock_utc(session->created_at, sizeof(session->created_at));
    if ((status = lp_options_init(&session->options, options)) == 0 &&
        (status = reserve_life()) == 0)
        status = start_or_clean_up(session);
    if (status < 0)
        free_session(session);
    else
        *session_out = session;
    return status;
}

int llmperf_session_start(const llmperf_session_options *options, llmperf_session **session_out)
{
    int status;

    if (!session_out)
        return lp_error(LLMPERF_EINVAL, "session_out is required");
    lp_inject_yield();
    status = start_new(options, false, session_out);
    if (status == 0)
        lp_inject_tell_run((*session_out)->options.run_dir);
    return status;
}

int lp_session_start_injected(const llmperf_session_options *options, llmperf_session **session_out)
{
    return start_new(options, true, session_out);
}

static int check_session(const llmperf_session *session)
{
    if (!session)
        return lp_error(LLMPERF_EINVAL, "session is required");
    if (session->pid != getpid())
        return lp_error(LLMPERF_ESTATE, "this session belongs to the parent process");
    return session->stopped ? lp_error(LLMPERF_ESTATE, "the session is stopped") : 0;
}

static int send_request(llmperf_session *session, enum lp_request_kind kind,
                        struct lp_request *request)
{
    int status = check_session(session);

    *request = (struct lp_request){ .kind = kind };
    return status < 0 ? status : lp_request_send(&session->requests, request);
}

int llmperf_session_pause(llmperf_session *session)
{
    struct lp_request request;

    return send_request(session, LP_REQUEST_PAUSE, &request);
}

int llmperf_session_resume(llmperf_session *session)
{
    struct lp_request request;

    return send_request(session, LP_REQUEST_RESUME, &request);
}

int llmperf_session_flush(llmperf_session *session)
{
    struct lp_request request;

    return send_request(session, LP_REQUEST_FLUSH, &request);
}

int llmperf_session_snapshot(llmperf_session *session, llmperf_profile **profile_out)
{
    struct lp_request request;
    int status = profile_out ? send_request(session, LP_REQUEST_SNAPSHOT, &request)
                             : lp_error(LLMPERF_EINVAL, "profile_out is required");

    if (status == 0)
        *profile_out = request.profile;
    return status;
}

int llmperf_session_ledger(llmperf_session *session, llmperf_ledger *ledger_out)
{
    struct lp_request request;
    size_t size;
    int status;

    if (!ledger_out || ledger_out->struct_size < sizeof(size_t))
        return lp_error(LLMPERF_EINVAL,
                        "ledger_out is required, initialised with LLMPERF_LEDGER_INIT");
    if ((status = send_request(session, LP_REQUEST_LEDGER, &request)) < 0)
        return status;
    size = ledger_out->struct_size;
    memcpy(ledger_out, &request.ledger,
           size < sizeof(request.ledger) ? size : sizeof(request.ledger));
    ledger_out->struct_size = size;
    return 0;
}

int llmperf_session_status(const llmperf_session *session, llmperf_session_state *state_out)
{
    llmperf_session_state state;
    size_t size;

    if (!session || !state_out || state_out->struct_size < sizeof(size_t))
        return lp_error(LLMPERF_EINVAL, "session and state_out are required, state_out initialised "
                                        "with LLMPERF_SESSION_STATE_INIT");
    size = state_out->struct_size;
    lp_health_read(&session->health, &state);
    memcpy(state_out, &state, size < sizeof(state) ? size : sizeof(state));
    state_out->struct_size = size;
    return 0;
}

int llmperf_session_add_input(llmperf_session *session, const llmperf_input *input)
{
    llmperf_input whole = LLMPERF_INPUT_INIT;
    int status = check_session(session);

    if (status < 0)
        return status;
    if (!input || input->struct_size < sizeof(size_t))
        return lp_error(LLMPERF_EINVAL, "input is required, initialised with LLMPERF_INPUT_INIT");
    memcpy(&whole, input, input->struct_size < sizeof(whole) ? input->struct_size : sizeof(whole));
    return lp_given_add(&session->given, &whole);
}

const char *llmperf_session_run_dir(const llmperf_session *session)
{
    return session ? session->options.run_dir : NULL;
}

static int write_reports(llmperf_session *session, const llmperf_profile *profile)
{
    if (!session->options.run_dir || (session->options.flags & LLMPERF_SESSION_NO_REPORTS))
        return 0;
    return llmperf_artifacts_write(profile, session->options.run_dir);
}

static int write_and_hand_over(llmperf_session *session, llmperf_profile *profile,
                               llmperf_profile **profile_out)
{
    int status = write_reports(session, profile);

    if (profile_out)
        *profile_out = profile;
    else
        llmperf_profile_free(profile);
    return session->failed < 0 ? lp_error(session->failed, "%s", session->failure) : status;
}

int llmperf_session_stop(llmperf_session *session, llmperf_profile **profile_out)
{
    struct lp_request request;
    int status = send_request(session, LP_REQUEST_STOP, &request);

    if (status == LLMPERF_ESTATE || status == LLMPERF_EINVAL)
        return status;
    session->stopped = true;
    pthread_join(session->collector, NULL);
    lp_session_drop_attached(session);
    if (status == 0)
        status = write_and_hand_over(session, request.profile, profile_out);
    end_life();
    return status;
}

static void *stop_aside(void *context)
{
    llmperf_session *session = context;

    session->stop_status = llmperf_session_stop(session, &session->stop_profile);
    if (session->stop_status < 0)
        snprintf(session->stop_error, sizeof(session->stop_error), "%s", llmperf_last_error());
    return NULL;
}

int llmperf_session_stop_async(llmperf_session *session)
{
    sigset_t all, before;
    int none = 0, failed;

    if (!session || session->pid != getpid() || session->stopped ||
        !atomic_compare_exchange_strong(&session->has_stopper, &none, 1))
        return lp_error(LLMPERF_ESTATE, "the session is not running");
    sigfillset(&all); /* The program's signals are the program's. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&session->stopper, NULL, stop_aside, session);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return 0;
    atomic_store(&session->has_stopper, 0);
    return lp_error(LLMPERF_ENOMEM, "cannot start a thread that stops the session: %s",
                    strerror(failed));
}

int llmperf_session_wait(llmperf_session *session, llmperf_profile **profile_out)
{
    int begun = 1;

    if (!session || session->pid != getpid() ||
        !atomic_compare_exchange_strong(&session->has_stopper, &begun, 2))
        return lp_error(LLMPERF_ESTATE,
                        "llmperf_session_stop_async() was not called, or the session "
                        "was waited for before");
    pthread_join(session->stopper, NULL);
    if (profile_out)
        *profile_out = session->stop_profile;
    else
        llmperf_profile_free(session->stop_profile);
    return session->stop_status < 0 ? lp_error(session->stop_status, "%s", session->stop_error) : 0;
}

int llmperf_session_iterations(const llmperf_session *session, uint64_t after,
                               llmperf_iteration *iterations_out, size_t capacity,
                               size_t *count_out)
{
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    size_t size;

    if (!session || !count_out || (!iterations_out && capacity > 0))
        return lp_error(LLMPERF_EINVAL, "session, iterations_out and count_out are required");
    *count_out = 0;
    if (capacity == 0)
        return 0;
    size = iterations_out->struct_size;
    if (size < sizeof(size))
        return lp_error(
            LLMPERF_EINVAL,
            "struct_size is not set; initialise the first row with LLMPERF_ITERATION_INIT");
    while (*count_out < capacity && lp_totals_iteration(session->totals, after, &row)) {
        char *place = (char *)iterations_out + *count_out * size;

        memcpy(place, &row, size < sizeof(row) ? size : sizeof(row));
        memcpy(place, &size, sizeof(size));
        after = row.sequence;
        ++*count_out;
    }
    return 0;
}

int llmperf_prewarm(void)
{
    int status;

    if (reserve_life() < 0)
        return 0; /* The session that runs has paid. */
    status = lp_cupti_prewarm();
    begin_life(NULL);
    return status;
}

void llmperf_session_free(llmperf_session *session)
{
    if (!session || session->pid != getpid()) /* A forked child has no collector to end. */
        return;
    if (atomic_load(&session->has_stopper) == 1)
        llmperf_session_wait(session, NULL);
    if (!session->stopped)
        llmperf_session_stop(session, NULL);
    await_exit_handler(session);
    free_session(session);
}

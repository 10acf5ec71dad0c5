/* SPDX-License-Identifier: Apache-2.0 */
/* Creating, starting, stopping and freeing a session. */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/base/variable.h"
#include "lib/output/format/documents.h"
#include "lib/session/life.h"
#include "lib/session/pipeline.h"
#include "lib/session/run_claim.h"
#include "lib/session/session.h"
#include "lib/session/session_counters.h"
#include "lib/session/session_trace.h"
#include "llmperf/output.h"
#include "lib/base/forked.h"
#include "lib/sources/cupti/cupti.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"
#include "lib/findings/kernels/kernel_class.h"

/* Exit handler: a program that ends without stopping its session still gets its report. Handlers
 * run in reverse order of registration, and CUPTI crashes after the driver's own. So this one is
 * registered again with the first context and with the first launch. Before these there is no
 * device work. */
static void stop_at_exit(void)
{
    struct llmperf_session *session = lp_life_enter_exit();

    if (session && !lp_capture_device_used())
        session->driver_gone = true;
    if (session && llmperf_session_stop(session, NULL) == LLMPERF_ESTATE)
        lp_life_await_stop();
    if (session)
        lp_life_leave_exit();
}

static void register_exit(void)
{
    atexit(stop_at_exit);
}

int lp_session_thread(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static int start_collector(struct llmperf_session *session)
{
    int failed = lp_session_thread(&session->collector, lp_session_collect, session);

    return failed
               ? lp_error(LLMPERF_ENOMEM, "cannot start the collector thread: %s", strerror(failed))
               : 0;
}

/* Free paths of earlier sessions that no thread uses. */
static void take_paths(struct llmperf_session *session)
{
    lp_capture_give_back_paths();
    lp_path_use();
    lp_path_set_limit((uint32_t)session->options.path_limit);
    session->has_paths = true;
}

static void leave_paths(struct llmperf_session *session)
{
    if (session->has_paths)
        lp_path_end_use();
    session->has_paths = false;
}

static void free_session(struct llmperf_session *session)
{
    struct lp_device_stats none = { 0 };

    leave_paths(session);

    lp_session_counters_close(session);
    lp_gpu_watch_close(&session->gpu_watch);
    lp_recorder_close(session->recorder, &none, "{}");
    lp_recorder_close(session->trace, &none, "{}");
    if (session->source)
        session->source->ops->close(session->source);
    lp_store_close(session->store);
    lp_attribution_free(session->attribution);
    lp_structure_free(session->structure);
    lp_totals_free(session->totals);
    lp_counter_totals_free(session->counter_totals);
    lp_serving_free(session->serving);
    lp_stage_work_free(session->stage_work);
    lp_kernel_classes_free(session->classes);
    lp_input_list_clear(&session->inputs);
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
        (status = lp_pipeline_make(session)) < 0 ||
        (status = lp_options_counters(&session->options, &session->counter_request)) < 0 ||
        (status = lp_session_choose_source(session)) < 0 ||
        (status = lp_session_counters_open(session)) < 0 || (status = lp_run_claim(session)) < 0 ||
        (status = lp_session_trace_open(session)) < 0)
        return status;
    pthread_once(&once, register_exit);
    session->start_ns = session->flush.made_ns = session->flush.came_ns = lp_clock_now();
    lp_session_commit(session, true);
    if (session->unwritten < 0)
        return lp_error(session->unwritten, "%s", session->unwritten_reason);
    lp_capture_on_pressure(lp_wake_post);
    lp_capture_on_first_use(register_exit);
    lp_detach_begin(session);
    lp_health_begin(session);
    if (!session->source || session->source->ops->live)
        lp_capture_begin(session->options.ring_bytes, true);
    else
        lp_capture_ignore_begin();
    if ((status = start_collector(session)) < 0) {
        lp_capture_end();
        lp_capture_ignore_end();
    }
    return status;
}

static int start_or_clean_up(struct llmperf_session *session)
{
    int status = start_session(session);

    if (status < 0) {
        snprintf(session->failure, sizeof(session->failure), "%s", llmperf_last_error());
        lp_run_unclaim(session);
        lp_error(status, "%s", session->failure);
    }
    lp_life_begin(status < 0 ? NULL : session);
    return status;
}

/* Name and time are not unique: ranks in containers start in the same second and have the same
 * process id. */
static void make_run_key(struct llmperf_session *session)
{
    uint64_t key = 0;

    if (getrandom(&key, sizeof(key), GRND_NONBLOCK) !=
        (ssize_t)sizeof(key)) /* fails early during boot */
        key = lp_clock_now() ^ (uint64_t)(uintptr_t)session ^ (uint64_t)session->pid << 40;
    snprintf(session->run_key, sizeof(session->run_key), "%016" PRIx64, key);
}

int lp_session_start(const llmperf_session_options *options, bool injected,
                     llmperf_session **session_out)
{
    struct llmperf_session *session;
    int status;

    if (lp_capture_forked())
        return lp_error(LLMPERF_ESTATE, "this is a forked child of a profiled process: it records "
                                        "nothing; start it with exec instead");
    if ((status = lp_jansson_check()) < 0)
        return status;
    session = calloc(1, sizeof(*session));
    if (!session)
        return lp_out_of_memory();
    lp_requests_init(&session->requests);
    lp_input_list_init(&session->inputs);
    session->pid = getpid();
    session->injected = injected;
    if (lp_variables_are_ignored())
        lp_log(LLMPERF_LOG_WARN, "the program runs with raised privileges (setuid, setgid or file "
                                 "capabilities): all environment variables are ignored");
    lp_clock_utc(session->created_at, sizeof(session->created_at));
    make_run_key(session);
    if ((status = lp_options_init(&session->options, options)) == 0 &&
        (status = lp_life_reserve()) == 0) {
        take_paths(session);
        status = start_or_clean_up(session);
    }
    lp_session_config_release(&session->options.config);
    if (status < 0)
        free_session(session);
    else
        *session_out = session;
    return status;
}

int lp_session_check(const llmperf_session *session)
{
    if (!session)
        return lp_error(LLMPERF_EINVAL, "session is required");
    if (session->pid != getpid())
        return lp_error(LLMPERF_ESTATE, "this session belongs to the parent process");
    return session->stopped ? lp_error(LLMPERF_ESTATE, "the session is stopped") : 0;
}

int lp_session_ask(llmperf_session *session, enum lp_request_kind kind, struct lp_request *request)
{
    int status = lp_session_check(session);

    *request = (struct lp_request){ .kind = kind };
    return status < 0 ? status : lp_request_send(&session->requests, request);
}

static int write_reports(llmperf_session *session, const llmperf_profile *profile)
{
    if (!session->options.run_dir || (session->options.flags & LLMPERF_SESSION_NO_REPORTS))
        return 0;
    return llmperf_artifacts_write(profile, session->options.run_dir);
}

/* Log what was written and what was not.
 * @param reports  Status of writing the reports. */
static int say_what_is_there(const struct llmperf_session *session, int reports)
{
    bool asked = !(session->options.flags & LLMPERF_SESSION_NO_REPORTS);
    char missing[512], rest[600] = "";

    snprintf(missing, sizeof(missing), "%s", reports < 0 ? llmperf_last_error() : "");
    if (session->failed < 0)
        return lp_error(session->failed, "%s", session->failure);
    if (reports < 0 && session->unwritten == 0)
        return lp_error(reports, "%s is complete; %s; fix the cause, then run llmperf report %s",
                        session->run_file, missing, session->options.run_dir);
    if (session->unwritten == 0)
        return reports;
    if (asked)
        snprintf(rest, sizeof(rest), reports < 0 ? "; %s" : "; all reports were written%s",
                 missing);
    if (session->written_ns < session->stop_ns)
        return lp_error(session->unwritten, "%s lacks the last %.1f s of the session (%s)%s",
                        session->run_file, (double)(session->stop_ns - session->written_ns) / 1e9,
                        session->unwritten_reason, rest);
    return lp_error(session->unwritten, "%s is complete, but could not be closed (%s)%s",
                    session->run_file, session->unwritten_reason, rest);
}

static int write_and_hand_over(llmperf_session *session, llmperf_profile *profile,
                               llmperf_profile **profile_out)
{
    int status = write_reports(session, profile);

    if (profile_out)
        *profile_out = profile;
    else
        llmperf_profile_free(profile);
    return say_what_is_there(session, status);
}

int llmperf_session_stop(llmperf_session *session, llmperf_profile **profile_out)
{
    struct lp_request request;
    int status = lp_session_ask(session, LP_REQUEST_STOP, &request);

    if (status == LLMPERF_ESTATE || status == LLMPERF_EINVAL)
        return status;
    session->stopped = true;
    pthread_join(session->collector, NULL);
    lp_session_drop_attached(session);
    if (status == 0)
        status = write_and_hand_over(session, request.profile, profile_out);
    leave_paths(session);
    lp_life_end();
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
    int none = 0, failed;

    if (!session || session->pid != getpid() || session->stopped ||
        !atomic_compare_exchange_strong(&session->has_stopper, &none, 1))
        return lp_error(LLMPERF_ESTATE, "the session is not running");
    if ((failed = lp_session_thread(&session->stopper, stop_aside, session)) == 0)
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

int llmperf_prewarm(void)
{
    int status;

    if (lp_life_reserve() < 0)
        return 0; /* A running session has already loaded CUPTI. */
    status = lp_cupti_prewarm();
    lp_life_begin(NULL);
    return status;
}

void llmperf_session_free(llmperf_session *session)
{
    if (!session || session->pid != getpid()) /* a forked child has no collector to end */
        return;
    if (atomic_load(&session->has_stopper) == 1)
        llmperf_session_wait(session, NULL);
    if (!session->stopped)
        llmperf_session_stop(session, NULL);
    lp_life_await_exit(session);
    free_session(session);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Session of a program that does not call the library (CUDA or NVTX injection). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "lib/session/session.h"
#include "llmperf/sys/inject.h"
#include "lib/base/forked.h"
#include "lib/device/driver.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static llmperf_session *session; /* the session started here; the exit handler stops it */
static bool tried, idle;         /* once per process each; idle: waiting for `llmperf attach` */
static bool driver;              /* the CUDA driver has started */
static bool attached;            /* the session was given a device source */

static const char *word_of(const char *variable)
{
    const char *word = lp_variable(variable);

    return word && *word ? word : NULL;
}

/* Message to the tool that started the job: a small or empty file in the job's folder. */
static void leave_word(const char *kind, const char *text)
{
    const char *job = word_of("LLMPERF_RUN_DIR");
    char *path = NULL;
    char name[64];

    snprintf(name, sizeof(name), "%s-%ld", kind, (long)getpid());
    if (job && (path = lp_path_join(job, name)))
        lp_file_write(path, text, strlen(text));
    free(path);
}

/* The job's folder itself is the run of the process that the tool started. */
static bool is_first_process(void)
{
    const char *word = word_of("LLMPERF_RUN_PID");

    return word && strtol(word, NULL, 10) == (long)getpid();
}

static int start_in_job(llmperf_session_options *options, const char *job)
{
    const char *slash = strrchr(job, '/');
    char *out_dir = lp_path_join(job, "processes");
    int status = LLMPERF_EBUSY;

    if (is_first_process()) {
        options->run_dir = job;
        options->run_id = slash ? slash + 1 : job;
        status = lp_session_start(options, true, &session);
        options->run_dir = options->run_id = NULL;
    }
    /* EBUSY: the run of a program that this process was before exec(). */
    if (status == LLMPERF_EBUSY) {
        options->out_dir = out_dir;
        status = out_dir ? lp_folder_make_own(out_dir) : lp_out_of_memory();
        if (status == 0)
            status = lp_session_start(options, true, &session);
    }
    free(out_dir);
    return status;
}

/* Under the lock. */
static void start(void)
{
    static const struct lp_attach_actions actions = { lp_inject_wake, lp_inject_sleep };
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    const char *job = word_of("LLMPERF_RUN_DIR");
    int status;

    tried = true;
    lp_capture_on_first_thread(NULL);
    if (job)
        status = start_in_job(&options, job);
    else if (word_of("LLMPERF_OUT"))
        status = lp_session_start(&options, true, &session);
    else if (word_of("LLMPERF_ATTACH"))
        idle = (status = lp_attach_listen(&actions)) == 0;
    else if (lp_variables_are_ignored())
        status = lp_error(LLMPERF_EINVAL, "injected into a program with raised privileges, where "
                                          "LLMPERF_OUT is ignored: nothing is collected");
    else
        status = lp_error(LLMPERF_EINVAL, "injected without LLMPERF_OUT: nothing is collected");
    if (status < 0) {
        lp_log(LLMPERF_LOG_WARN, "%s", llmperf_last_error());
        leave_word("failed", llmperf_last_error());
    }
}

/* false: this process is not profiled, or has its own session. */
static bool ensure_session(void)
{
    bool running;

    if (lp_capture_forked()) /* another thread may have held the lock at the fork */
        return false;
    pthread_mutex_lock(&lock);
    if (!tried)
        start();
    running = session != NULL;
    pthread_mutex_unlock(&lock);
    return running;
}

static void start_for_regions(void)
{
    ensure_session();
}

/* A program that is linked to the library and marks regions may use neither CUDA nor NVTX, which
 * would load the injection. */
__attribute__((constructor)) static void await_regions(void)
{
    const char *injected = word_of("NVTX_INJECTION64_PATH");

    if ((injected && strstr(injected, "libllmperf.so")) || word_of("LLMPERF_ATTACH"))
        lp_capture_on_first_thread(start_for_regions);
}

/* Under the lock. */
static void attach_device(void)
{
    if (session && !attached)
        lp_session_attach(session);
    attached = session != NULL;
}

static llmperf_session *take_session(void)
{
    llmperf_session *ours;

    pthread_mutex_lock(&lock);
    ours = session;
    session = NULL;
    tried = true;
    lp_capture_on_first_thread(NULL);
    pthread_mutex_unlock(&lock);
    return ours;
}

int lp_inject_wake(const llmperf_session_options *options)
{
    bool started = lp_driver_has_context(); /* without the lock: the driver may be starting */
    int status;

    pthread_mutex_lock(&lock);
    started = started || driver;
    /* If the driver runs, records are enabled before launches count, as in a program's own session.
     */
    status = session ? lp_error(LLMPERF_EBUSY, "a session is already running in this process")
                     : lp_session_start(options, !started, &session);
    if (status == 0)
        attached = started;
    pthread_mutex_unlock(&lock);
    return status;
}

int lp_inject_sleep(char *text, size_t size)
{
    llmperf_session *ours = take_session();
    const char *run_dir = ours ? ours->options.run_dir : NULL;
    int status;

    if (!ours)
        return lp_error(LLMPERF_ESTATE, "no session of llmperf attach is running");
    snprintf(text, size, "%s", run_dir ? run_dir : "");
    if ((status = llmperf_session_stop(ours, NULL)) < 0)
        snprintf(text, size, "%s", llmperf_last_error());
    llmperf_session_free(ours);
    return status < 0 ? lp_error(status, "%s", text) : 0;
}

void lp_inject_yield(void)
{
    llmperf_session *ours = lp_capture_forked() ? NULL : take_session();

    if (!ours)
        return;
    lp_log(LLMPERF_LOG_INFO, "the program starts its own session, so the injected one ends");
    llmperf_session_free(ours);
}

void lp_inject_report_run(const char *run_dir)
{
    const char *job = word_of("LLMPERF_RUN_DIR");
    char *whole = NULL;

    if (!job || !run_dir || strncmp(run_dir, job, strlen(job)) == 0)
        return;
    whole = realpath(run_dir, NULL);
    leave_word("run", whole ? whole : run_dir);
    free(whole);
}

int InitializeInjection(void)
{
    if (lp_capture_forked())
        leave_word("forked", ""); /* it records nothing, although there was something to record */
    if (!ensure_session() && !idle)
        return 0;
    pthread_mutex_lock(&lock);
    driver = true;
    attach_device();
    pthread_mutex_unlock(&lock);
    return 1;
}

/* A program to which no tool listens emits nothing: its domains are NULL. */
static bool wants_ranges(void)
{
    bool wanted;

    if (!ensure_session()) /* first: after the tables are set other threads mark ranges */
        return true;
    pthread_mutex_lock(&lock);
    wanted = !session || !lp_options_number(&session->options, "session.no_nvtx");
    pthread_mutex_unlock(&lock);
    return wanted;
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id))
{
    /* Otherwise our own regions, emitted as NVTX ranges, would be read back as regions. */
    if (lp_nvtx_out_starting() || !wants_ranges())
        return 0;
    return lp_nvtx_listen(get_export_table) == 0;
}

int InitializeInjectionNvtxExtension(void *module_info)
{
    return wants_ranges() && lp_nvtx_extend(module_info);
}

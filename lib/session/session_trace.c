/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/session_trace.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"

#define OPEN_FOLDERS 8

/* The times of a replay are not those of this process. */
static bool is_own_time(const struct lp_options *options)
{
    return options->source != LLMPERF_SOURCE_REPLAY &&
           !(options->source == LLMPERF_SOURCE_FAKE && options->device_path);
}

int lp_session_record(struct llmperf_session *session, const char *path, uint64_t limit_bytes,
                      bool own_file, struct lp_recorder **recorder_out)
{
    const struct lp_recorder_options options = { limit_bytes, is_own_time(&session->options),
                                                 own_file };
    int status = lp_recorder_open(path, &session->names, &options, recorder_out);

    if (status == 0)
        session->sink = lp_recorder_sink(*recorder_out, &session->sink);
    return status;
}

static char *trace_path(const struct llmperf_session *session)
{
    return lp_path_join(session->options.run_dir, LP_TRACE_FILE);
}

int lp_session_trace_open(struct llmperf_session *session)
{
    char *path;
    int status;

    if (!session->options.keep_trace)
        return 0;
    if (!(path = trace_path(session)))
        return lp_out_of_memory();
    status = lp_session_record(session, path, session->options.trace_bytes, true, &session->trace);
    free(path);
    return status;
}

void lp_session_trace_remove(struct llmperf_session *session)
{
    char *path = session->trace ? trace_path(session) : NULL;

    if (path)
        unlink(path);
    free(path);
}

/* Report it now: the run may be killed. */
static void look_at_limit(struct llmperf_session *session)
{
    uint64_t after_ns;

    if (!lp_recorder_full(session->trace, &after_ns) || *session->trace_problem)
        return;
    snprintf(session->trace_problem, sizeof(session->trace_problem),
             "The trace ends %.3f s after its first event: it reached trace_bytes = %" PRIu64
             ". Everything else in this report covers the whole session.",
             (double)after_ns / 1e9, session->options.trace_bytes);
    lp_log(LLMPERF_LOG_WARN, "%s", session->trace_problem);
}

void lp_session_trace_flush(struct llmperf_session *session)
{
    lp_recorder_flush(session->recorder);
    lp_recorder_flush(session->trace);
    if (session->trace)
        look_at_limit(session);
}

void lp_session_trace_close(struct llmperf_session *session, const struct lp_device_stats *stats)
{
    int status;

    if (!session->trace)
        return;
    look_at_limit(session);
    status = lp_recorder_close(session->trace, stats,
                               session->environment ? session->environment : "{}");
    session->trace = NULL;
    if (status < 0) {
        snprintf(session->trace_problem, sizeof(session->trace_problem),
                 "The trace is incomplete: %s", llmperf_last_error());
        lp_log(LLMPERF_LOG_WARN, "%s", session->trace_problem);
    }
}

static __thread uint64_t folder_bytes; /* nftw() has no argument for the callback */

static int add_file(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)path;
    (void)place;
    if (kind == FTW_F)
        folder_bytes += (uint64_t)info->st_size;
    return 0;
}

/* Size of the run's folder so far, without its reports, which are small. */
static int note_size(struct llmperf_session *session, llmperf_profile *profile)
{
    uint64_t most = (uint64_t)lp_options_number(&session->options, "artifacts.warn_bytes");
    char line[256];

    if (!session->options.run_dir || most == 0)
        return 0;
    folder_bytes = 0;
    nftw(session->options.run_dir, add_file, OPEN_FOLDERS, FTW_PHYS | FTW_MOUNT);
    if (folder_bytes <= most)
        return 0;
    snprintf(line, sizeof(line),
             "The folder of this run holds %.1f MB, more than artifacts.warn_bytes (%.1f MB): use "
             "a smaller artifacts.trace_bytes or tier light.",
             (double)folder_bytes / 1e6, (double)most / 1e6);
    lp_log(LLMPERF_LOG_WARN, "%s", line);
    return lp_profile_note(profile, "%s", line);
}

int lp_session_trace_note(struct llmperf_session *session, llmperf_profile *profile)
{
    int status = 0;

    if (*session->trace_problem)
        status = lp_profile_note(profile, "%s", session->trace_problem);
    if (status == 0 && session->stop_ns)
        status = note_size(session, profile);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/retention.h"
#include "lib/session/run_claim.h"
#include "lib/session/session.h"
#include "lib/session/session_trace.h"

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
        status = lp_error(
            LLMPERF_EBUSY,
            "%s already contains a run; choose another run_dir or run_id, or remove it", run_dir);
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

/* A folder that the program named itself may be a link. */
static int make_run_dir(const struct lp_options *options)
{
    return options->in_folder_of_runs ? lp_folder_make_own(options->run_dir)
                                      : lp_folder_make(options->run_dir);
}

static int claim_run(struct lp_options *options, char **path_out)
{
    char *folder = lp_text_copy(options->run_dir), *run_id = lp_text_copy(options->run_id);
    int status = folder && run_id ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");

    if (status == 0 && strrchr(folder, '/'))
        *strrchr(folder, '/') = '\0';
    for (unsigned number = 1; status == 0; number++) {
        if ((status = make_run_dir(options)) < 0 ||
            (status = claim_file(options->run_dir, path_out)) != LLMPERF_EBUSY ||
            !options->run_id_is_ours || number > 999)
            break;
        status = rename_run(options, folder, run_id, number);
    }
    free(folder);
    free(run_id);
    return status;
}

int lp_run_claim(struct llmperf_session *session)
{
    int status;

    if (!session->options.run_dir)
        return 0;
    if ((status = claim_run(&session->options, &session->run_file)) < 0)
        return status;
    /* A folder that the program named itself has no runs of ours beside it, and that of a job has
     * the runs of its other processes: llmperf run looks after jobs. */
    if (session->options.in_folder_of_runs && !session->options.config.of_job)
        lp_runs_retain(session->options.run_dir,
                       lp_options_number(&session->options, "artifacts.keep_runs"));
    return lp_store_create(session->run_file, &session->store);
}

void lp_run_unclaim(struct llmperf_session *session)
{
    lp_store_close(session->store);
    session->store = NULL;
    if (!session->run_file)
        return;
    unlink(session->run_file);
    lp_session_trace_remove(session);
    rmdir(session->options.run_dir); /* stays if something else is in it */
}

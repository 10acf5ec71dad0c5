/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/found_model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/forked.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/variable.h"
#include "lib/session/session.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the three that follow */
static char *model, *origin;
static uint32_t tensor;
static _Atomic uint32_t changes = 1;

int llmperf_model_announce(const char *name, const char *where, uint32_t tensor_parallel)
{
    char *name_copy = name ? lp_text_copy(name) : NULL, *where_copy = NULL;

    if (name && (!*name || !where || !*where)) {
        free(name_copy);
        return lp_error(LLMPERF_EINVAL, "the model is empty, or origin is missing");
    }
    if (name && (!name_copy || !(where_copy = lp_text_copy(where)))) {
        free(name_copy);
        return lp_out_of_memory();
    }
    if (lp_capture_forked()) { /* another thread may have held the lock at the fork */
        free(name_copy);
        free(where_copy);
        return 0;
    }
    pthread_mutex_lock(&lock);
    free(model);
    free(origin);
    model = name_copy;
    origin = where_copy;
    tensor = tensor_parallel;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&changes, 1);
    lp_wake_post();
    return 0;
}

static int open_model(struct llmperf_session *session, const char *name, uint32_t gpus)
{
    struct lp_parallel parallel = session->options.parallel;
    llmperf_model *opened = NULL;
    int status = llmperf_model_open(name, &opened);

    if (!parallel.is_set && gpus > 1)
        parallel = lp_parallel_of(gpus, 0);
    return status < 0 ? status : lp_stage_work_open(opened, &parallel, &session->stage_work);
}

static void use_model(struct llmperf_session *session, const char *name, const char *where,
                      uint32_t gpus)
{
    struct lp_work_source source;

    if (open_model(session, name, gpus) < 0) {
        snprintf(session->model_note, sizeof(session->model_note),
                 "Model: that of %s is not used, so FLOPs, MFU and MBU are unknown: %s", where,
                 llmperf_last_error());
        lp_log(LLMPERF_LOG_WARN, "%s", session->model_note);
        return;
    }
    snprintf(session->model_path, sizeof(session->model_path), "%s",
             *name == '{' ? LP_ANNOUNCED_MODEL : name);
    snprintf(session->model_note, sizeof(session->model_note),
             "Model: from %s%s%s; option --model replaces it.", where, *name == '{' ? "" : ": ",
             *name == '{' ? "" : session->model_path);
    source = lp_stage_work_source(session->stage_work);
    lp_totals_set_work(session->totals, &source);
    lp_structure_set_hidden(session->structure, lp_stage_work_hidden(session->stage_work));
}

void lp_found_model_take(struct llmperf_session *session)
{
    uint32_t now = atomic_load(&changes);
    const char *folder = lp_variable("LLMPERF_FOUND_MODEL");

    if (session->stage_work || session->model_change == now)
        return;
    session->model_change = now;
    pthread_mutex_lock(&lock);
    if (model)
        use_model(session, model, origin, tensor);
    else if (folder && *folder)
        use_model(session, folder, "the command line of the program", 0);
    pthread_mutex_unlock(&lock);
}

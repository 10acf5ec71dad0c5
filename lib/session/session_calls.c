/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions on a running session: requests that the collector answers. */
#include <string.h>

#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/session/session.h"
#include "lib/findings/kernels/kernel_class.h"

int llmperf_session_start(const llmperf_session_options *options, llmperf_session **session_out)
{
    int status;

    if (!session_out)
        return lp_error(LLMPERF_EINVAL, "session_out is required");
    lp_inject_yield();
    status = lp_session_start(options, false, session_out);
    if (status == 0)
        lp_inject_report_run((*session_out)->options.run_dir);
    return status;
}

int llmperf_session_pause(llmperf_session *session)
{
    struct lp_request request;

    return lp_session_ask(session, LP_REQUEST_PAUSE, &request);
}

int llmperf_session_resume(llmperf_session *session)
{
    struct lp_request request;

    return lp_session_ask(session, LP_REQUEST_RESUME, &request);
}

int llmperf_session_flush(llmperf_session *session)
{
    struct lp_request request;

    return lp_session_ask(session, LP_REQUEST_FLUSH, &request);
}

int llmperf_session_snapshot(llmperf_session *session, llmperf_profile **profile_out)
{
    struct lp_request request;
    int status = profile_out ? lp_session_ask(session, LP_REQUEST_SNAPSHOT, &request)
                             : lp_error(LLMPERF_EINVAL, "profile_out is required");

    if (status == 0)
        *profile_out = request.profile;
    return status;
}

int llmperf_session_ledger(llmperf_session *session, llmperf_ledger *ledger_out)
{
    struct lp_request request;
    int status = lp_session_ask(session, LP_REQUEST_LEDGER, &request);

    return status < 0 ? status : lp_sized_out(ledger_out, &request.ledger, sizeof(request.ledger));
}

int llmperf_session_status(const llmperf_session *session, llmperf_session_state *state_out)
{
    llmperf_session_state state;

    if (!session)
        return lp_error(LLMPERF_EINVAL, "session is required");
    lp_health_read(&session->health, &state);
    return lp_sized_out(state_out, &state, sizeof(state));
}

int llmperf_session_add_input(llmperf_session *session, const llmperf_input *input)
{
    llmperf_input whole = LLMPERF_INPUT_INIT;
    int status = lp_session_check(session);

    if (status < 0)
        return status;
    if ((status = lp_sized_check(input)) < 0 ||
        (status = lp_sized_in(&whole, input, sizeof(whole))) < 0)
        return status;
    return lp_input_list_add(&session->inputs, &whole);
}

const char *llmperf_session_run_dir(const llmperf_session *session)
{
    return session ? session->options.run_dir : NULL;
}

const char *llmperf_session_class(const llmperf_session *session, size_t index)
{
    if (!session || !session->classes || index >= LLMPERF_ITERATION_CLASSES)
        return NULL;
    return lp_kernel_class_name(session->classes, index);
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
    if (lp_sized_check(iterations_out) < 0)
        return LLMPERF_EINVAL;
    while (*count_out < capacity && lp_totals_iteration(session->totals, after, &row)) {
        char *place = (char *)iterations_out + *count_out * size;

        memcpy(place, &size, sizeof(size));
        lp_sized_out(place, &row, sizeof(row));
        after = row.sequence;
        ++*count_out;
    }
    return 0;
}

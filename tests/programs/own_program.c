/* SPDX-License-Identifier: Apache-2.0 */
/** A program that is linked to the library, for runs under `llmperf run`: own_program MODE [DIR].
 * regions: marks regions, and ranges of NVTX. library: regions only. session: starts a session of
 * its own, which writes to DIR if given.
 */
#include <stdio.h>
#include <string.h>

#include "llmperf/llmperf.h"

void mark(const char *text, int count);

static int run_session(const char *run_dir)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session;

    mark("before the session", 2); /* NVTX starts the injected one. */
    options.run_dir = run_dir;
    if (llmperf_session_start(&options, &session) < 0) {
        fprintf(stderr, "%s\n", llmperf_last_error());
        return 1;
    }
    llmperf_region_begin("own");
    mark("foreign", 2);
    llmperf_region_end();
    llmperf_session_stop(session, NULL);
    llmperf_session_free(session);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "session") == 0)
        return run_session(argc > 2 ? argv[2] : NULL);
    if (argc < 2 || strcmp(argv[1], "library") != 0)
        mark("foreign", 2);
    for (int i = 0; i < 3; i++) {
        llmperf_prefill_begin(10);
        llmperf_prefill_end();
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** A program that profiles itself on a scripted device, and starts more of its kind:
 * scripted_program MODE [ARGUMENT...].
 *   work SCRIPT      a session that plays the script, to its end
 *   die SCRIPT       the same, killed once it has committed
 *   early SCRIPT     the same, killed at once
 *   stay SCRIPT FILE the same, stopped once there is such a file, or after a minute
 *   children SCRIPT MODE...   plays the script; then, one after the other, a child with it in each
 * MODE, and one that is forked and executes nothing */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "llmperf/llmperf.h"

static llmperf_session *start(const char *script)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = script;
    if (llmperf_session_start(&options, &session) == LLMPERF_OK)
        return session;
    fprintf(stderr, "scripted_program: %s\n", llmperf_last_error());
    exit(1);
}

static void work(const char *script)
{
    llmperf_session *session = start(script);

    if (llmperf_session_stop(session, NULL) < 0)
        exit(1);
    llmperf_session_free(session);
}

static void stay(const char *script, const char *until)
{
    llmperf_session *session = start(script);

    for (int i = 0; i < 1200 && access(until, F_OK) < 0; i++)
        usleep(50000);
    llmperf_session_stop(session, NULL);
    llmperf_session_free(session);
}

/* The leak check at the end of a forked child waits for a lock that another thread held at the
 * fork. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define END_CHILD() _exit(0)
#endif
#endif
#ifndef END_CHILD
#define END_CHILD() exit(0)
#endif

static void fork_without_exec(void)
{
    pid_t child = fork();

    if (child == 0) {
        llmperf_region_begin("LLM@forked");
        llmperf_region_end();
        END_CHILD();
    }
    waitpid(child, NULL, 0);
}

static void start_child(const char *self, const char *mode, const char *script)
{
    pid_t child = fork();

    if (child == 0) {
        execl(self, self, mode, script, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static void start_children(const char *self, const char *script, char **modes)
{
    llmperf_session *session = start(script);

    fork_without_exec();
    for (; *modes; modes++)
        start_child(self, *modes, script);
    llmperf_session_stop(session, NULL);
    llmperf_session_free(session);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";

    if (strcmp(mode, "work") == 0) {
        work(argv[2]);
    } else if (strcmp(mode, "die") == 0 || strcmp(mode, "early") == 0) {
        start(argv[2]);
        sleep(strcmp(mode, "die") == 0 ? 3 : 0);
        raise(SIGKILL);
    } else if (strcmp(mode, "stay") == 0 && argc > 3) {
        stay(argv[2], argv[3]);
    } else if (strcmp(mode, "children") == 0) {
        start_children(argv[0], argv[2], argv + 3);
    } else {
        return 2;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** A program that is linked to the library and uses what the environment may choose: one line for
 * each choice; privileged_program CONFIGURATION. A copy of it gets rights that its user lacks. */
#include <stdio.h>
#include <sys/auxv.h>

#include "llmperf/sys.h"

static void print_line(void *user, int32_t level, const char *line)
{
    (void)user;
    (void)level;
    printf("log: %s\n", line);
}

int main(int argc, char **argv)
{
    llmperf_session *session = NULL;
    char *path = NULL, *version = NULL;
    llmperf_config *config = NULL;
    const char *folder, *text;

    setvbuf(stdout, NULL, _IONBF, 0);
    printf("privileged: %s\n", getauxval(AT_SECURE) ? "yes" : "no");
    llmperf_log_set(print_line, NULL, LLMPERF_LOG_WARN);
    if (llmperf_session_start(NULL, &session) < 0) {
        printf("no session: %s\n", llmperf_last_error());
        return 1;
    }
    llmperf_region_begin("own"); /* NVTX looks for a tool. */
    llmperf_region_end();
    folder = llmperf_session_run_dir(session);
    printf("run: %s\n", folder ? folder : "none");
    llmperf_session_stop(session, NULL);
    llmperf_session_free(session);
    llmperf_counters_chip(0); /* looks for CUPTI */
    folder = llmperf_config_dir();
    printf("data: %s\n", folder ? folder : "none");
    llmperf_tool_find(LLMPERF_TOOL_NSYS, &path, &version);
    printf("nsys: %s\n", path ? path : "none");
    llmperf_text_free(path);
    llmperf_text_free(version);
    if (argc > 1 && llmperf_config_compose(argv[1], NULL, 0, NULL, &config) == 0 &&
        llmperf_config_text(config, "run.id", &text) == 0)
        printf("variable: %s\n", text);
    llmperf_config_free(config);
    return 0;
}

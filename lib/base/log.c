/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#include "lib/base/log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards target */
static struct {
    llmperf_log_function function;
    void *user;
    int32_t level;
} target;

static int32_t level_of_environment(void)
{
    static const char *const words[] = { "none", "error", "warn", "info", "debug" };
    const char *word = getenv("LLMPERF_LOG");

    for (int32_t i = 0; word && i < (int32_t)(sizeof(words) / sizeof(words[0])); i++)
        if (!strcmp(word, words[i]))
            return i;
    return LLMPERF_LOG_NONE;
}

static void print_line(void *user, int32_t level, const char *line)
{
    (void)user;
    (void)level;
    fprintf(stderr, "llmperf: %s\n", line);
}

void llmperf_log_set(llmperf_log_function function, void *user, int32_t level)
{
    pthread_mutex_lock(&lock);
    target.function = function;
    target.user = user;
    target.level = level;
    pthread_mutex_unlock(&lock);
}

void lp_log(int32_t level, const char *format, ...)
{
    llmperf_log_function function;
    void *user;
    int32_t limit;
    char line[1024];
    va_list args;

    pthread_mutex_lock(&lock);
    function = target.function ? target.function : print_line;
    user = target.user;
    limit = target.function ? target.level : level_of_environment();
    pthread_mutex_unlock(&lock); /* No user code under a lock. */
    if (level > limit)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    function(user, level, line);
}

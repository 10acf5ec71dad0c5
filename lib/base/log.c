/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#include "lib/base/log.h"
#include "lib/base/variable.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards target */
static struct {
    llmperf_log_function function;
    void *user;
    int32_t level;
} target;

#define KEPT_LINES 4

/* Lines of the thread that keeps its lines. */
static __thread bool deferring;
static struct {
    int32_t level;
    char text[1024];
} kept[KEPT_LINES];
static size_t kept_count;

static void print_line(void *user, int32_t level, const char *line)
{
    (void)user;
    (void)level;
    fprintf(stderr, "llmperf: %s\n", line);
}

/* With any other word, log warnings and list the valid words. */
static int32_t level_of_environment(void)
{
    static const char *const words[] = { "none", "error", "warn", "info", "debug" };
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    const char *word = lp_variable("LLMPERF_LOG");
    char line[128];

    if (!word || !*word)
        return LLMPERF_LOG_NONE;
    for (int32_t i = 0; i < (int32_t)(sizeof(words) / sizeof(words[0])); i++)
        if (!strcmp(word, words[i]))
            return i;
    if (!atomic_flag_test_and_set(&reported)) {
        snprintf(line, sizeof(line),
                 "LLMPERF_LOG=%.40s is unknown; use none, error, warn, info or debug. Using warn",
                 word);
        print_line(NULL, LLMPERF_LOG_WARN, line);
    }
    return LLMPERF_LOG_WARN;
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
    function = target.function;
    user = target.user;
    limit = target.level;
    pthread_mutex_unlock(&lock); /* no user code under a lock */
    if (!function) {
        function = print_line;
        limit = level_of_environment();
    }
    if (level > limit)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (!deferring)
        function(user, level, line);
    else if (kept_count < KEPT_LINES) {
        kept[kept_count].level = level;
        memcpy(kept[kept_count++].text, line, sizeof(line));
    }
}

void lp_log_defer(void)
{
    deferring = true;
    kept_count = 0;
}

void lp_log_deliver(void)
{
    if (!deferring)
        return;
    deferring = false;
    for (size_t i = 0; i < kept_count; i++)
        lp_log(kept[i].level, "%s", kept[i].text);
}

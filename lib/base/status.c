/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/base/utf8.h"
#include "llmperf/api.h"

#define TEXT_BYTES 1024

/* Only a pointer: libraries loaded late get little of the static TLS block, where their
 * thread-local variables are. */
static __thread char *last_error;
static pthread_key_t free_key;

static void free_text(void *text)
{
    last_error = NULL;
    free(text);
}

static void make_key(void)
{
    pthread_key_create(&free_key, free_text);
}

static char *text_of_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_key);
    if (!last_error) {
        last_error = malloc(TEXT_BYTES);
        pthread_setspecific(free_key, last_error);
    }
    return last_error;
}

int lp_error_text(const char *format, ...)
{
    char raw[TEXT_BYTES], *text = text_of_thread();
    va_list args;

    if (!text)
        return 0;
    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    /* Names and paths may contain anything, but the text is one line. */
    lp_text_sanitise(text, TEXT_BYTES, raw);
    return 0;
}

const char *llmperf_last_error(void)
{
    return last_error ? last_error : "";
}

const char *llmperf_version(void)
{
    return LLMPERF_VERSION_STRING;
}

const char *llmperf_status_name(int status)
{
    static const char *const names[] = {
        "LLMPERF_OK",     "LLMPERF_EINVAL",    "LLMPERF_ENOMEM",         "LLMPERF_EIO",
        "LLMPERF_EBUSY",  "LLMPERF_ENOTSUP",   "LLMPERF_ENOENT",         "LLMPERF_EFORMAT",
        "LLMPERF_ESTATE", "LLMPERF_ENODEVICE", "LLMPERF_ENOTCOMPARABLE",
    };
    const int count = (int)(sizeof(names) / sizeof(names[0]));

    return status <= 0 && status > -count ? names[-status] : "unknown status";
}

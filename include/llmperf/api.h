/* SPDX-License-Identifier: Apache-2.0 */
/** What every header builds on: visibility, status codes, the error text, the log, the version.
 *
 * Conventions of the whole library:
 * - A function that can fail returns LLMPERF_OK (0) or a negative LLMPERF_E… code. The text of this
 * thread's last failure is llmperf_last_error(): one line that says what to do.
 * - An out-parameter comes last and is set only on success.
 * - Ownership words in comments: Borrowed (stays the caller's), Yours (free it with the named
 * function).
 * - Structs that grow start with struct_size; set it with the …_INIT macro. Fields are only ever
 * appended; zero means default.
 * - The library never prints (unless LLMPERF_LOG asks for it), exits, aborts, changes the locale or
 * installs signal handlers. */
#ifndef LLMPERF_API_H
#define LLMPERF_API_H

#include <stddef.h>
#include <stdint.h>

/** Version of these headers; llmperf_version() is that of the library that was loaded. */
#define LLMPERF_VERSION_MAJOR  0
#define LLMPERF_VERSION_MINOR  1
#define LLMPERF_VERSION_PATCH  0
#define LLMPERF_VERSION_STRING "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define LLMPERF_API __attribute__((visibility("default")))
#else
#define LLMPERF_API
#endif

/** Initialiser of a struct that begins with struct_size: struct_size is set, all else is zero. */
#ifdef __cplusplus
extern "C++" {
template <class T> T llmperf_sized()
{
    T value = T();

    value.struct_size = sizeof(T);
    return value;
}
}
#define LLMPERF_INIT(type) llmperf_sized<type>()
#else
#define LLMPERF_INIT(type)                                                                         \
    {                                                                                              \
        .struct_size = sizeof(type)                                                                \
    }
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LLMPERF_OK = 0,
    LLMPERF_EINVAL = -1, /**< an argument is missing or out of range */
    LLMPERF_ENOMEM = -2, /**< out of memory */
    LLMPERF_EIO = -3,    /**< a file could not be read or written */
    LLMPERF_EBUSY =
        -4, /**< somebody else holds it: another session here, or another profiler on this GPU */
    LLMPERF_ENOTSUP = -5, /**< this build, this machine or this version cannot do it */
    LLMPERF_ENOENT = -6,  /**< no such file, key or run */
    LLMPERF_EFORMAT =
        -7, /**< a file is damaged, is of another kind, or was written by a newer version */
    LLMPERF_ESTATE = -8, /**< not in this state: for example a session that is already stopped, or
                            in a forked child */
    LLMPERF_ENODEVICE = -9,      /**< no usable GPU or driver */
    LLMPERF_ENOTCOMPARABLE = -10 /**< runs have too little in common to be compared */
};

/** Version of the library that is loaded, for example "0.1.0". Static text. @threads any thread */
LLMPERF_API const char *llmperf_version(void);

/** Text of this thread's last failure, "" if there was none. Valid until this thread's next failing
 * call. @threads any thread */
LLMPERF_API const char *llmperf_last_error(void);

/** Name of a status code, for example "LLMPERF_EINVAL"; "unknown status" for others. Static text.
 * @threads any thread */
LLMPERF_API const char *llmperf_status_name(int status);

/** A composed configuration. Functions without a promise make one (llmperf/sys/config.h); wherever
 * the stable API takes one, NULL means none. */
typedef struct llmperf_config llmperf_config;

/** Log levels; also the values of the environment variable LLMPERF_LOG: error, warn, info, debug.
 */
enum {
    LLMPERF_LOG_NONE = 0,
    LLMPERF_LOG_ERROR = 1,
    LLMPERF_LOG_WARN = 2,
    LLMPERF_LOG_INFO = 3,
    LLMPERF_LOG_DEBUG = 4
};

/** Receives one line without a line end. Called from any thread of the library, never from the hot
 * path. */
typedef void (*llmperf_log_function)(void *user, int32_t level, const char *line);

/** Send log lines up to `level` to `function`; NULL restores the default (nothing, or standard
 * error if LLMPERF_LOG is set).
 *
 * @param function  Borrowed; must stay callable until replaced.
 * @threads any thread, but before the first session */
LLMPERF_API void llmperf_log_set(llmperf_log_function function, void *user, int32_t level);

/** Free a text that a function of this library handed out as Yours. NULL is fine. @threads any
 * thread */
LLMPERF_API void llmperf_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif

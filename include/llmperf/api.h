/* SPDX-License-Identifier: Apache-2.0 */
/** Basics of all headers: version, status codes, error text, names of enumeration values, log.
 *
 * Conventions of the whole library:
 * - A function that can fail returns LLMPERF_OK (0) or a negative LLMPERF_E… code.
 *   llmperf_last_error() returns the text of the calling thread's last failure: one line that says
 *   what to do.
 * - Out-parameters come last and are set only on success.
 * - Ownership in comments: "Borrowed" is still owned by the caller, "Yours" is freed by the caller
 * with the function named there, "Static text" is never freed.
 * - Structs that may grow begin with struct_size. Initialise them with their …_INIT macro. Zero
 *   means default, and new members are only appended.
 * - The library does not print (unless LLMPERF_LOG is set), exit, abort, change the locale or
 *   install signal handlers. */
#ifndef LLMPERF_API_H
#define LLMPERF_API_H

#include <stddef.h>
#include <stdint.h>

/** Version of these headers; llmperf_version() is that of the loaded library. The shared library's
 * soname is libllmperf.so.MAJOR. */
#define LLMPERF_VERSION_MAJOR  0
#define LLMPERF_VERSION_MINOR  1
#define LLMPERF_VERSION_PATCH  0
#define LLMPERF_VERSION_STRING "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define LLMPERF_API __attribute__((visibility("default")))
#else
#define LLMPERF_API
#endif

/** Initialiser of a struct that begins with struct_size: sets struct_size, all else is zero. */
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

/** Status codes. */
enum {
    LLMPERF_OK = 0,
    LLMPERF_EINVAL = -1,         /**< an argument is missing or out of range */
    LLMPERF_ENOMEM = -2,         /**< out of memory */
    LLMPERF_EIO = -3,            /**< a file could not be read or written */
    LLMPERF_EBUSY = -4,          /**< in use by another session or another profiler */
    LLMPERF_ENOTSUP = -5,        /**< not supported by this build, machine or version */
    LLMPERF_ENOENT = -6,         /**< no such file, key or run */
    LLMPERF_EFORMAT = -7,        /**< a file is damaged, of another kind, or of a newer version */
    LLMPERF_ESTATE = -8,         /**< not possible now: already stopped, or in a forked child */
    LLMPERF_ENODEVICE = -9,      /**< no usable GPU or driver */
    LLMPERF_ENOTCOMPARABLE = -10 /**< the runs have too little in common to be compared */
};

/** Version of the loaded library.
 *
 * @return "0.1.0", for example. Static text.
 * @threads any thread */
LLMPERF_API const char *llmperf_version(void);

/** Text of the calling thread's last failure.
 *
 * @return One line; "" if no call failed. Valid until the thread's next failing call.
 * @threads any thread */
LLMPERF_API const char *llmperf_last_error(void);

/** Name of a status code.
 *
 * @param status  A result of this library.
 * @return "LLMPERF_EINVAL", for example; "unknown status" for other numbers. Static text.
 * @threads any thread */
LLMPERF_API const char *llmperf_status_name(int status);

/** Enumerations whose values have a name, see llmperf_name(). */
enum {
    LLMPERF_NAME_VERDICT = 1,    /**< LLMPERF_VERDICT_… */
    LLMPERF_NAME_ACTIVITY = 2,   /**< LLMPERF_ACTIVITY_… */
    LLMPERF_NAME_REGION = 3,     /**< LLMPERF_REGION_…: "stage", "operator" */
    LLMPERF_NAME_TIER = 4,       /**< LLMPERF_TIER_… */
    LLMPERF_NAME_STATE = 5,      /**< LLMPERF_STATE_… of a session */
    LLMPERF_NAME_BOUND = 6,      /**< LLMPERF_BOUND_… */
    LLMPERF_NAME_DTYPE = 7,      /**< LLMPERF_DTYPE_… */
    LLMPERF_NAME_ORIGIN = 8,     /**< LLMPERF_ORIGIN_… */
    LLMPERF_NAME_CONFIDENCE = 9, /**< LLMPERF_CONFIDENCE_… */
    LLMPERF_NAME_FORMAT = 10     /**< LLMPERF_FORMAT_… of llmperf/sys/vendor.h */
};

/** Name of a value of an enumeration, as in reports and metrics.json: its C name without the
 * prefix, in lower case.
 *
 * @param enumeration  LLMPERF_NAME_…
 * @param value        A value of that enumeration.
 * @return "compute" for LLMPERF_NAME_BOUND and LLMPERF_BOUND_COMPUTE; "unknown" for other numbers.
 * Static text.
 * @threads any thread */
LLMPERF_API const char *llmperf_name(uint32_t enumeration, uint32_t value);

/** Log levels, and in brackets the values of the environment variable LLMPERF_LOG. */
enum {
    LLMPERF_LOG_NONE = 0,
    LLMPERF_LOG_ERROR = 1, /**< (error) */
    LLMPERF_LOG_WARN = 2,  /**< (warn) */
    LLMPERF_LOG_INFO = 3,  /**< (info) */
    LLMPERF_LOG_DEBUG = 4  /**< (debug) */
};

/** Receives a log line, without a line end. Called from any thread of the library, but never from
 * region calls and launch callbacks. */
typedef void (*llmperf_log_function)(void *user, int32_t level, const char *line);

/** Send log lines to a function of the program.
 *
 * @param function  Borrowed until replaced. NULL: the default, which is standard error if
 * LLMPERF_LOG is set, else nothing.
 * @param user      Passed to `function`.
 * @param level     LLMPERF_LOG_…; lines of higher levels are left out.
 * @threads any thread, before the first session */
LLMPERF_API void llmperf_log_set(llmperf_log_function function, void *user, int32_t level);

/** Free a text that a function of this library returned as Yours.
 *
 * @param text  NULL does nothing.
 * @threads any thread */
LLMPERF_API void llmperf_text_free(char *text);

/** A composed configuration, from llmperf/sys/config.h, which is not part of the stable API.
 * Functions of the stable API that take one accept NULL for none. */
typedef struct llmperf_config llmperf_config;

#ifdef __cplusplus
}
#endif
#endif

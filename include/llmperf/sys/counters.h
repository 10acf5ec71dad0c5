/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Hardware counters: which a chip has, and what a preset comes to on it. Works without a GPU where
 * libcupti (12.6 or newer) and libnvperf_host are installed. docs/how-to/counters.md explains
 * presets and replay.
 *
 * @threads one at a time per object, unless said otherwise */
#ifndef LLMPERF_SYS_COUNTERS_H
#define LLMPERF_SYS_COUNTERS_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How counters are read. */
enum {
    LLMPERF_COUNTERS_RANGE = 0, /**< exact, from the begin of a region (or kernel) to its end;
                                   several passes may be needed */
    LLMPERF_COUNTERS_PM =
        1 /**< sampled at fixed intervals while the program runs on; one pass, fewer metrics */
};

/** Metrics of one chip. */
typedef struct llmperf_counters llmperf_counters;

/** One quantity or metric. Text is Borrowed from the object. */
typedef struct llmperf_counter_info {
    size_t struct_size;
    const char *quantity; /**< what a report calls it ("dram_read_bytes"); a metric's own name if it
                             was asked for by that */
    const char *metric;   /**< what it resolved to on this chip ("dram__bytes_read.sum"); NULL: the
                             chip has none of its metrics */
    const char *unit;     /**< "byte", "ns", "%"; NULL with metric */
    const char *about;    /**< one sentence; "" if there is none */
    const char *reason;   /**< why metric is NULL; else NULL */
} llmperf_counter_info;
#define LLMPERF_COUNTER_INFO_INIT LLMPERF_INIT(llmperf_counter_info)

/** Names of the chips that the installed CUPTI knows ("GH100"). NULL past the end, or if none is
 * known: llmperf_last_error() says why. Text is static. @threads any thread */
LLMPERF_API const char *llmperf_counters_chip(size_t index);

/** Names of the presets in conf/profiling/counters ("light"), one a line.
 * @param text_out  Yours: llmperf_text_free(). @return LLMPERF_OK, LLMPERF_ENOENT, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_counters_presets(char **text_out);

/** Would a session take these words? Looks at no GPU: whether the chip has the metrics shows later.
 *
 * @param words  As llmperf_session_options.counters; NULL: the usual.
 * @param tier   LLMPERF_TIER_… of that session.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT (no such preset), LLMPERF_EFORMAT (a preset
 * file is wrong), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_counters_check(const char *words, uint32_t tier);

/** What a preset comes to on a chip.
 *
 * @param chip    As llmperf_counters_chip() names it.
 * @param preset  A preset's name, the path of a preset file (it holds a '/'), or metrics by their
 * own names joined by ','.
 * @param counters_out  Yours: llmperf_counters_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such chip or metric), LLMPERF_ENOENT (no such preset, or
 * no libcupti with counters), LLMPERF_ENOTSUP (the chip cannot do it), LLMPERF_EFORMAT (a preset
 * file is wrong), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_counters_open(const char *chip, const char *preset,
                                      llmperf_counters **counters_out);

/** Metrics of a chip by pattern: an exact name, `*` for any text, or `regex:` and a POSIX extended
 * expression.
 *
 * @param method  LLMPERF_COUNTERS_…: each has its own metrics.
 * @param counters_out  Yours: llmperf_counters_free(); none may match. @return as
 * llmperf_counters_open(). */
LLMPERF_API int llmperf_counters_list(const char *chip, const char *pattern, uint32_t method,
                                      llmperf_counters **counters_out);

/** Number of rows: first what the chip gives, then what it lacks. NULL has none. */
LLMPERF_API size_t llmperf_counters_count(const llmperf_counters *counters);

/** Row `index`. @param info_out  struct_size set by the caller. @return LLMPERF_OK, LLMPERF_EINVAL.
 */
LLMPERF_API int llmperf_counters_info(const llmperf_counters *counters, size_t index,
                                      llmperf_counter_info *info_out);

/** How often the work has to run to collect them all; 0 for llmperf_counters_list(). */
LLMPERF_API uint32_t llmperf_counters_passes(const llmperf_counters *counters);

/** LLMPERF_COUNTERS_… of a preset. */
LLMPERF_API uint32_t llmperf_counters_method(const llmperf_counters *counters);

/** NULL is fine. */
LLMPERF_API void llmperf_counters_free(llmperf_counters *counters);

#ifdef __cplusplus
}
#endif
#endif

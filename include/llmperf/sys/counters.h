/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Hardware counters: which metrics a chip has, and what a preset resolves to on it. Needs no GPU,
 * but libcupti (12.6 or newer) and libnvperf_host. docs/how-to/counters.md explains presets and
 * replay. */
#ifndef LLMPERF_SYS_COUNTERS_H
#define LLMPERF_SYS_COUNTERS_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Methods of reading counters. */
enum {
    LLMPERF_COUNTERS_RANGE = 0, /**< exact values from the begin to the end of a region or kernel;
                                   several passes may be needed */
    LLMPERF_COUNTERS_PM = 1     /**< PM sampling at fixed intervals; one pass, fewer metrics */
};

/** Metrics of one chip. */
typedef struct llmperf_counters llmperf_counters;

/** One metric. Texts belong to the object. */
typedef struct llmperf_counter_info {
    size_t struct_size;
    const char *quantity; /**< name in reports ("dram_read_bytes"), or the metric's own name */
    const char *metric;   /**< metric of this chip ("dram__bytes_read.sum"); NULL: it has none */
    const char *unit;     /**< "byte", "ns", "%"; NULL without a metric */
    const char *about;    /**< one sentence; "": none */
    const char *reason;   /**< why there is no metric; NULL: there is one */
} llmperf_counter_info;
#define LLMPERF_COUNTER_INFO_INIT LLMPERF_INIT(llmperf_counter_info)

/** Names of the chips that the installed CUPTI supports.
 *
 * @param index  From 0.
 * @return "GH100", for example. Static text; NULL past the last, or if there are none
 * (llmperf_last_error() says why).
 * @threads any thread */
LLMPERF_API const char *llmperf_counters_chip(size_t index);

/** Names of the presets in conf/profiling/counters, one per line.
 *
 * @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_counters_presets(char **text_out);

/** Resolve a preset on a chip.
 *
 * @param chip          As from llmperf_counters_chip().
 * @param preset        Name of a preset, path of a preset file (with a '/'), or names of metrics
 * separated by commas.
 * @param counters_out  Yours: llmperf_counters_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL (no such chip or metric), LLMPERF_ENOENT (no such preset, or
 * no libcupti with counters), LLMPERF_ENOTSUP (not possible on this chip), LLMPERF_EFORMAT (a
 * faulty preset file), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_counters_open(const char *chip, const char *preset,
                                      llmperf_counters **counters_out);

/** List the metrics of a chip that match a pattern.
 *
 * @param chip          As from llmperf_counters_chip().
 * @param pattern       A name, `*` for any text, or `regex:` and a POSIX extended expression.
 * @param method        LLMPERF_COUNTERS_…; each has metrics of its own.
 * @param counters_out  Yours: llmperf_counters_free(). May be empty.
 * @return as llmperf_counters_open()
 * @threads any thread */
LLMPERF_API int llmperf_counters_list(const char *chip, const char *pattern, uint32_t method,
                                      llmperf_counters **counters_out);

/** Number of rows: first the quantities with a metric, then those without.
 *
 * @param counters  NULL has none.
 * @threads any thread */
LLMPERF_API size_t llmperf_counters_count(const llmperf_counters *counters);

/** A row.
 *
 * @param index     From 0.
 * @param info_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_counters_info(const llmperf_counters *counters, size_t index,
                                      llmperf_counter_info *info_out);

/** Passes that are needed to collect all metrics.
 *
 * @return 0 for llmperf_counters_list().
 * @threads any thread */
LLMPERF_API uint32_t llmperf_counters_passes(const llmperf_counters *counters);

/** Method of a preset.
 *
 * @return LLMPERF_COUNTERS_…
 * @threads any thread */
LLMPERF_API uint32_t llmperf_counters_method(const llmperf_counters *counters);

/** Free a list of counters.
 *
 * @param counters  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_counters_free(llmperf_counters *counters);

#ifdef __cplusplus
}
#endif
#endif

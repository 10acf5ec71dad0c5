/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions: profiling runs inside this process, one at a time.
 *
 * A session collects regions and device activity from llmperf_session_start() to
 * llmperf_session_stop(), then writes a run folder with reports and returns the totals as a
 * profile. A child process that is forked while a session runs records nothing; calls in it return
 * LLMPERF_ESTATE. */
#ifndef LLMPERF_SESSION_H
#define LLMPERF_SESSION_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is collected. */
enum {
    LLMPERF_TIER_DEFAULT = 0, /**< LLMPERF_TIER, else the configuration's, else deep */
    LLMPERF_TIER_REGIONS = 1, /**< host times of regions only */
    LLMPERF_TIER_LIGHT = 2,   /**< for production: kernels of a random sample of prefills and decode
                                 steps, within overhead_budget_permille */
    LLMPERF_TIER_DEEP = 3,    /**< all kernels, memcpys and memsets */
    LLMPERF_TIER_COUNTERS = 4 /**< as deep, and hardware counters; if they are not available, as
                                 deep, with a note */
};

/** Sources of device activity. */
enum {
    LLMPERF_SOURCE_AUTO = 0,   /**< CUPTI if it works, else none; the notes have the reason */
    LLMPERF_SOURCE_CUPTI = 1,  /**< this process's GPUs; the session fails to start without them */
    LLMPERF_SOURCE_REPLAY = 2, /**< a recording (device_path) instead of this process: regions of
                                  this process are not in the run, and a note says so */
    LLMPERF_SOURCE_FAKE = 3,   /**< a script (device_path) instead of a GPU, for tests; see
                                  docs/reference/fake-script.md */
    LLMPERF_SOURCE_NONE = 4    /**< none: host times only */
};

/** Flags of llmperf_session_options. Other bits are refused with LLMPERF_EINVAL. */
enum {
    LLMPERF_SESSION_NO_REPORTS = 1, /**< write run.llmperf only, no report files */
    /** Release CUPTI when the session stops, so that another profiler (torch.profiler, for example)
     * can use it in this process. Without this flag CUPTI stays loaded until the process ends,
     * which makes later sessions start faster. */
    LLMPERF_SESSION_RELEASE = 2,
    /** Collect each launch of a CUDA graph as one activity instead of its kernels, which costs
     * less. With CUPTI, start such a session before the process has a CUDA context, and start no
     * other kind of session in that process: otherwise CUPTI would crash, and the start returns
     * LLMPERF_ESTATE.
     */
    LLMPERF_SESSION_GRAPH_LEVEL = 4,
    /** Tier light: detach CUPTI from the process between samples, so that launches cost as much as
     * without a profiler (docs/explanation/sampling.md). The program must launch all device
     * work from one thread in one context, open the sampled regions on that thread, and use CUPTI
     * for nothing else. Attaching and detaching block that thread for 3 to 15 ms at the begin of a
     * sampled region, which counts in overhead_budget_permille. If another thread launches, CUPTI
     * stays attached and the log says so; a graph launch by another thread during a detach makes
     * the device fail. Refused with counters or rules (LLMPERF_EINVAL); without effect
     * for sources other than CUPTI. */
    LLMPERF_SESSION_DETACH = 8
};

/** Options of a session. Strings are Borrowed for the call. Zero means: the environment variable,
 * else the configuration, else the default (docs/reference/configuration.md). */
typedef struct llmperf_session_options {
    size_t struct_size;
    uint32_t tier;           /**< LLMPERF_TIER_… */
    uint32_t device_source;  /**< LLMPERF_SOURCE_… */
    const char *run_dir;     /**< folder of this run; created, must not hold a run yet. NULL:
                                out_dir/run_id */
    const char *out_dir;     /**< folder of runs. NULL: LLMPERF_OUT, else nothing is written */
    const char *run_id;      /**< name of the run. NULL: UTC time and process id,
                                YYYYMMDD-HHMMSS-PID, with -1, -2 … if taken */
    const char *config_path; /**< configuration file, kept with the run as config.yaml. NULL:
                                LLMPERF_RUN_CONFIG, which `llmperf run` sets, else none */
    const char *model_path;  /**< model that FLOPs and bytes of prefill, decode_step and vision are
                                computed from, as for llmperf_model_open(). NULL: `model` of the
                                configuration, else none */
    const char
        *device_path; /**< recording (LLMPERF_SOURCE_REPLAY) or script (LLMPERF_SOURCE_FAKE) */
    const char *record_path; /**< write a recording of this session to this file. NULL: none */
    /** Hardware counters. Tier counters: a preset, then any of replay=none|user|kernel,
     * include=PATTERN (repeatable; LLM@*), passes=N, budget=PERCENT, interval_us=N, separated by
     * blanks. NULL: LLMPERF_COUNTERS, else "light". Tier light: preset "live".
     * NULL: LLMPERF_COUNTERS, else none. */
    const char *counters;
    uint64_t ring_bytes; /**< buffer for host records of each thread; default 4 MiB */
    uint64_t pool_bytes; /**< limit of the memory for device records; default 256 MiB */
    uint32_t overhead_budget_permille; /**< tier light: limit of the overhead, in thousandths of the
                                          run time; default 10; 1000: collect everything */
    uint32_t keep_trace; /**< 1: record all events into trace.llmrec in the run folder, for `llmperf
                            export`; 0: LLMPERF_TRACE (1 or 0), else do not */
    uint32_t flags;      /**< LLMPERF_SESSION_… */
    uint32_t reserved;   /**< 0 */
    /** Tier light: labels of the sampled regions, at most 8, separated by commas. NULL:
     * LLMPERF_SAMPLE_REGIONS, else "LLM@prefill,LLM@decode_step,LLM@mixed_step". LLM@NAME also
     * stands for stages NAME of other domains. In a program that opens none of them, intervals of
     * 20 ms are sampled. */
    const char *sample_regions;
    /** Tier light: rules for triggered windows, at most 8, separated by semicolons, such as
     * "decode_step p99 above 30 ms for 2 s". When a rule triggers, the next calls of the sampled
     * regions are all collected, with memcpys and memsets (docs/explanation/sampling.md). NULL:
     * LLMPERF_RULES, else none. */
    const char *rules;
    uint64_t trace_bytes; /**< with keep_trace: the recording ends at this size; default 1 GiB */
    /** With a model: GPUs that share each layer, 1 to 65536. FLOPs and bytes are those of one GPU's
     * share, see llmperf_step.tensor_parallel. 0: LLMPERF_TENSOR_PARALLEL, else 1; if the
     * environment then shows several ranks, a note says that they are assumed to be replicas.
     * Refused if the model cannot be divided in this way. For LLM@vision on several GPUs and for
     * pipeline stages the program counts FLOPs and bytes itself. */
    uint32_t tensor_parallel;
    /** With a model: GPUs that whole experts are spread over: 1, or a multiple of tensor_parallel
     * that divides the number of experts, see llmperf_step.expert_parallel. 0:
     * LLMPERF_EXPERT_PARALLEL, else 1. */
    uint32_t expert_parallel;
    const llmperf_config *config; /**< composed configuration, instead of config_path; Borrowed
                                     until the start returns. NULL: none */
    /** Limit of region paths, 16 to 1048576; default 65536. Regions above it are counted together
     * as "LLM@(too many paths)" in the enclosing stage. Stages keep their own paths, up to 1024
     * above the limit. Paths of earlier sessions that are no longer in use do not count. */
    uint64_t path_limit;
    /** Values for keys of the configuration, lines of "KEY=VALUE" such as "report.top=50" (`llmperf
     * config --help` lists the keys). They take precedence over the environment and the
     * configuration.
     * "${" has no special meaning in a value. NULL: none. */
    const char *settings;
} llmperf_session_options;
#define LLMPERF_SESSION_OPTIONS_INIT LLMPERF_INIT(llmperf_session_options)

/** A session. */
typedef struct llmperf_session llmperf_session;

/** States of a session. */
enum {
    LLMPERF_STATE_RUNNING = 1,
    LLMPERF_STATE_PAUSED = 2,
    LLMPERF_STATE_STOPPED = 3 /**< its totals are final */
};

/** State and health of a session. Times are CLOCK_MONOTONIC. */
typedef struct llmperf_session_state {
    size_t struct_size;
    uint32_t verdict;           /**< LLMPERF_VERDICT_… of what was received so far */
    uint32_t state;             /**< LLMPERF_STATE_… */
    uint64_t updated_ns;        /**< time of these values; they are updated five times a second */
    uint64_t verdict_ns;        /**< time of the last change of the verdict */
    uint64_t verdict_changes;   /**< number of changes so far */
    uint64_t deaths;            /**< times that the verdict became dead */
    uint64_t launches_expected; /**< as in llmperf_ledger */
    uint64_t graph_launches;    /**< as in llmperf_ledger */
    uint64_t kernels_seen;      /**< as in llmperf_ledger */
    uint64_t records_dropped;   /**< as in llmperf_ledger */
    uint64_t regions_dropped;   /**< as in llmperf_ledger */
    uint64_t launches_pending;  /**< launches of kernels and graphs without a record yet */
    uint64_t windows;           /**< triggered windows so far (tier light with rules) */
    uint32_t window_open;       /**< 1: a triggered window is open or about to open */
    uint32_t detached;          /**< 1: CUPTI is detached now (LLMPERF_SESSION_DETACH) */
    double silent_ms;           /**< time for which launches have been pending without any new
                                   record; CUPTI reports kernels when they end */
} llmperf_session_state;
#define LLMPERF_SESSION_STATE_INIT LLMPERF_INIT(llmperf_session_state)

/** An input of the program, such as an image or a prompt. 0 and NULL: unknown. Strings are
 * Borrowed for the call. */
typedef struct llmperf_input {
    size_t struct_size;
    const char *path;       /**< file, made absolute; it need not exist. NULL: none, then `name` is
                               required */
    const char *name;       /**< NULL: the last part of `path` */
    const char *kind;       /**< "image", "text", "audio" … */
    uint64_t size_bytes;    /**< 0: that of the file, if it can be read */
    uint64_t tokens;        /**< tokens after tokenisation */
    uint32_t width, height; /**< of an image, in pixels; 0: from the header of a PNG, JPEG or WebP
                               file, if both are 0 */
} llmperf_input;
#define LLMPERF_INPUT_INIT LLMPERF_INIT(llmperf_input)

/** Do the work that makes a process's first session slow to start: load CUPTI, subscribe,
 * instrument. Call it after the program's first CUDA call and before it serves requests, with or
 * without a running session.
 *
 * @return LLMPERF_OK; LLMPERF_ENODEVICE, LLMPERF_ENOENT (no libcupti), LLMPERF_EBUSY (another
 * profiler uses CUPTI).
 * @threads any thread */
LLMPERF_API int llmperf_prewarm(void);

/** Check whether a session can start with these options: the options themselves, the environment,
 * the configuration and the files that it names, rules and counters. No device is opened and no
 * folder is created, so the start can still fail for such reasons.
 *
 * @param options   Borrowed; NULL: all defaults.
 * @param tier_out  LLMPERF_TIER_… that the session would use; may be NULL.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOTSUP,
 * LLMPERF_EIO, LLMPERF_ENOMEM (the error says what is wrong and where).
 * @threads any thread */
LLMPERF_API int llmperf_session_check(const llmperf_session_options *options, uint32_t *tier_out);

/** Start a session.
 *
 * @param options      Borrowed; NULL: all defaults.
 * @param session_out  Yours: llmperf_session_stop(), then llmperf_session_free().
 * @return LLMPERF_OK; LLMPERF_EBUSY (a session is running, the folder holds a run, or another
 * profiler uses CUPTI and the source is LLMPERF_SOURCE_CUPTI), LLMPERF_ENOENT, LLMPERF_ENODEVICE,
 * LLMPERF_EINVAL, LLMPERF_ENOTSUP, LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM, LLMPERF_ESTATE
 * (see LLMPERF_SESSION_GRAPH_LEVEL).
 * @threads any thread */
LLMPERF_API int llmperf_session_start(const llmperf_session_options *options,
                                      llmperf_session **session_out);

/** Announce the model that this process runs, for FLOPs, bytes, MFU and MBU of its stages. The
 * running session uses it from now on, and so do later ones, unless a model was given (model_path,
 * the configuration) or announced to them before. A model that cannot be used, such as one of an
 * unknown family, leaves a note in the run and nothing else.
 *
 * @param model            As for llmperf_model_open(); copied. NULL: later sessions get none.
 * @param origin           Where it was found, such as "the configuration of the engine", for the
 * note in the run; copied.
 * @param tensor_parallel  GPUs that share each layer, unless the session was given a number; 0: 1.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_model_announce(const char *model, const char *origin,
                                       uint32_t tensor_parallel);

/** Pause: collect no device activity until llmperf_session_resume(). Open regions stay open; host
 * time of the pause is not counted.
 *
 * @return LLMPERF_OK; LLMPERF_ESTATE.
 * @threads any thread */
LLMPERF_API int llmperf_session_pause(llmperf_session *session);

/** Continue after llmperf_session_pause().
 *
 * @return LLMPERF_OK; LLMPERF_ESTATE.
 * @threads any thread */
LLMPERF_API int llmperf_session_resume(llmperf_session *session);

/** Process all records that are complete by now, and commit the totals to run.llmperf. Waits until
 * that is done.
 *
 * @return LLMPERF_OK; LLMPERF_ESTATE, LLMPERF_EIO.
 * @threads any thread */
LLMPERF_API int llmperf_session_flush(llmperf_session *session);

/** Totals so far, while the session continues. Includes llmperf_session_flush().
 *
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_ESTATE, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_session_snapshot(llmperf_session *session, llmperf_profile **profile_out);

/** Ledger so far, while the session continues.
 *
 * @param ledger_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ESTATE.
 * @threads any thread */
LLMPERF_API int llmperf_session_ledger(llmperf_session *session, llmperf_ledger *ledger_out);

/** State and health of a session. Takes no lock and never waits.
 *
 * The verdict is `dead` if kernels or graphs were launched, two flushes and two seconds have
 * passed, and no records were received at all: CUPTI does not work in this process.
 * A first kernel that runs longer than that looks the same, as does a device that was never idle
 * during a flush and has not filled a buffer. The verdict changes back when records arrive. Each
 * change is logged once, at level error (dead) or warn (incomplete, no longer dead).
 *
 * @param state_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL.
 * @threads any thread, until llmperf_session_free() */
LLMPERF_API int llmperf_session_status(const llmperf_session *session,
                                       llmperf_session_state *state_out);

/** Add an input to the run. inputs.yaml lists the first 1000 inputs and counts the rest.
 *
 * @param input  Borrowed.
 * @return LLMPERF_OK; LLMPERF_EINVAL (neither path nor name), LLMPERF_ESTATE, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_session_add_input(llmperf_session *session, const llmperf_input *input);

/** Folder of this run.
 *
 * @return Absolute path, valid until llmperf_session_free(); NULL: nothing is written.
 * @threads any thread */
LLMPERF_API const char *llmperf_session_run_dir(const llmperf_session *session);

/** Newest iterations (calls of stages), while the session continues. An iteration without device
 * work is available one second after its end, others one to two seconds after their last record.
 * Takes no lock and never waits.
 *
 * @param after           Sequence number that was read last; 0 at first. Only the newest
 * LLMPERF_ITERATIONS_KEPT iterations are kept, so numbers may be skipped.
 * @param iterations_out  Array of `capacity` rows, filled from the oldest; struct_size of the
 * first, set by the caller, applies to all. Texts are valid until llmperf_session_free().
 * @param capacity        Rows in `iterations_out`.
 * @param count_out       Rows written.
 * @return LLMPERF_OK; LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_session_iterations(const llmperf_session *session, uint64_t after,
                                           llmperf_iteration *iterations_out, size_t capacity,
                                           size_t *count_out);

/** Name of a kernel class in llmperf_iteration.class_ms of llmperf_session_iterations().
 *
 * @param index  Element of class_ms, from 0.
 * @return Valid until llmperf_session_free(); NULL: there is no such class yet.
 * @threads any thread */
LLMPERF_API const char *llmperf_session_class(const llmperf_session *session, size_t index);

/** Begin to stop and return at once. Regions and launches after this call are not counted.
 * llmperf_session_wait() returns the profile.
 *
 * @return LLMPERF_OK; LLMPERF_ESTATE (already stopped), LLMPERF_ENOMEM (no thread; the session
 * continues).
 * @threads any thread */
LLMPERF_API int llmperf_session_stop_async(llmperf_session *session);

/** Wait for the end of llmperf_session_stop_async().
 *
 * @param profile_out  As for llmperf_session_stop().
 * @return as llmperf_session_stop(); LLMPERF_ESTATE (without llmperf_session_stop_async(), or when
 * called again)
 * @threads any thread, once */
LLMPERF_API int llmperf_session_wait(llmperf_session *session, llmperf_profile **profile_out);

/** Stop a session and write its reports, unless LLMPERF_SESSION_NO_REPORTS is set. Waits until all
 * work that was launched so far has been reported, at most a few seconds after the last record.
 * Recordings and scripts are played to their end first.
 *
 * @param profile_out  Yours: llmperf_profile_free(). NULL: not wanted.
 * @return LLMPERF_OK; LLMPERF_ESTATE (already stopped), LLMPERF_EIO (files are missing, the error
 * says which; the profile is still returned), LLMPERF_EFORMAT (a damaged recording or script),
 * LLMPERF_ENOMEM.
 * @threads any thread, once */
LLMPERF_API int llmperf_session_stop(llmperf_session *session, llmperf_profile **profile_out);

/** Free a session. A running session is stopped first.
 *
 * @param session  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_session_free(llmperf_session *session);

#ifdef __cplusplus
}
#endif
#endif

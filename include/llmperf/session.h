/* SPDX-License-Identifier: Apache-2.0 */
/** A session: one profiling run inside this process. One session at a time. */
#ifndef LLMPERF_SESSION_H
#define LLMPERF_SESSION_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How much is collected. */
enum {
    LLMPERF_TIER_DEFAULT = 0, /**< LLMPERF_TIER from the environment, else deep */
    LLMPERF_TIER_REGIONS = 1, /**< host clock only; the device is not looked at */
    /** Always on: kernels only, and those only of some prefills and decode steps (sample_regions),
     * so many that collecting costs no more than overhead_budget_permille. Each region says the
     * share that was collected. */
    LLMPERF_TIER_LIGHT = 2,
    LLMPERF_TIER_DEEP = 3,    /**< kernels, copies and sets */
    LLMPERF_TIER_COUNTERS = 4 /**< deep and hardware counters (docs/how-to/counters.md); where there
                                 are none, deep with the reason */
};

/** Where device activity comes from. */
enum {
    LLMPERF_SOURCE_AUTO =
        0, /**< cupti if it works, else none; the reason is in the profile's notes */
    LLMPERF_SOURCE_CUPTI = 1,  /**< this process's GPU; fails if it cannot */
    LLMPERF_SOURCE_REPLAY = 2, /**< a recording (device_path), instead of this process: the regions
                                  that it opens are not in the run, and a note says so */
    LLMPERF_SOURCE_FAKE = 3,   /**< a script (device_path), for tests; it plays regions and kernels,
                                  those of this process are not in the run, as with replay */
    LLMPERF_SOURCE_NONE = 4    /**< host times only */
};

/** Flags of llmperf_session_options; others are refused with LLMPERF_EINVAL. */
enum {
    LLMPERF_SESSION_NO_REPORTS = 1, /**< at stop write run.llmperf only, no report files */
    /** At stop give CUPTI up, so that another profiler (torch.profiler, say) can start in this
     * process. Without it this library keeps CUPTI until the process ends, and its own next session
     * starts cheaper. */
    LLMPERF_SESSION_RELEASE = 2,
    /** Collect each launch of a CUDA graph as one span instead of its kernels: cheaper, and blind
     * to what is in it. With CUPTI, start such a session before CUDA is in use (before there is a
     * context), and use no other kind of session in the process; else the start answers
     * LLMPERF_ESTATE, because CUPTI would crash. */
    LLMPERF_SESSION_GRAPH_LEVEL = 4,
    /** Tier light: between samples CUPTI is taken out of the process, and launches cost what they
     * cost without a profiler (docs/explanation/sampling.md). The program promises that one thread
     * launches all of its device work, in one context, and opens the sampled regions, and that
     * nothing else uses CUPTI. At the begin of a sampled region that thread is held until the
     * device has no work left and CUPTI is out, or in again (3 to 15 ms, part of
     * overhead_budget_permille). If another thread is seen to launch, CUPTI stays, as without this
     * flag, and the log says so; one that launches a graph in the very moment in which CUPTI is
     * taken out makes the device fail. Not with counters or rules: LLMPERF_EINVAL. Sources other
     * than CUPTI have nothing to take out. */
    LLMPERF_SESSION_DETACH = 8
};

/** Zero = default. Strings are Borrowed for the call. */
typedef struct llmperf_session_options {
    size_t struct_size;
    uint32_t tier;          /**< LLMPERF_TIER_… */
    uint32_t device_source; /**< LLMPERF_SOURCE_… */
    const char *run_dir; /**< folder of this run, created; it may not hold a run yet; NULL: out_dir
                            decides */
    const char *out_dir; /**< folder of runs: the run goes to out_dir/run_id; NULL: LLMPERF_OUT,
                            else nothing is written */
    const char *run_id;  /**< NULL: UTC YYYYMMDD-HHMMSS-PID, with -1, -2 … if it is taken */
    const char *config_path; /**< configuration, as for llmperf_config_compose_model(): gives the
                                options that are 0 here, and is kept with the run as config.yaml
                                (docs/reference/configuration.md); NULL: LLMPERF_RUN_CONFIG, which
                                llmperf run sets, else none */
    const char *model_path;  /**< as for llmperf_model_open(): the model that gives the FLOPs and
                                bytes of each prefill, decode_step and vision, those of this GPU
                                (see tensor_parallel); NULL: `model` of the configuration, else
                                none */
    const char *device_path; /**< recording (replay) or script (fake) */
    const char *record_path; /**< write a recording of this session here; NULL: none */
    /** Tier counters: words with blanks between them, the preset first (llmperf_counters_open()),
     * then any of replay=none|user|kernel, include=PATTERN (once or more; LLM@*), passes=N,
     * budget=PERCENT, interval_us=N. NULL: LLMPERF_COUNTERS, else "light". Tier light: a preset
     * that is sampled ("live"); NULL: LLMPERF_COUNTERS, else no counters. */
    const char *counters;
    uint64_t ring_bytes; /**< host records kept per thread between two reads; default 4 MiB */
    uint64_t pool_bytes; /**< most memory for device records under way; default 256 MiB */
    uint32_t overhead_budget_permille; /**< for tier light: most that collecting may cost of the
                                          time; default 10; 1000: collect all */
    /** 1: keep a recording of all facts in the folder of the run, trace.llmrec, so that
     * llmperf_trace_export() can write them in the order of time. 0: as LLMPERF_TRACE says (1 or
     * 0), else not. */
    uint32_t keep_trace;
    uint32_t flags;    /**< LLMPERF_SESSION_… */
    uint32_t reserved; /**< 0 */
    /** For tier light: labels whose instances are sampled, with commas between them, at most 8;
     * NULL: LLMPERF_SAMPLE_REGIONS, else LLM@prefill,LLM@decode_step. A program that opens none of
     * them is sampled in windows of 20 ms. */
    const char *sample_regions;
    /** For tier light: rules with semicolons between them, at most 8, such as "decode_step p99
     * above 30 ms for 2 s": while one holds, the next instances of the sampled regions are
     * collected one and all, copies and sets too (docs/explanation/sampling.md). NULL:
     * LLMPERF_RULES, else none. */
    const char *rules;
    uint64_t trace_bytes; /**< with keep_trace: the recording ends at this size, and the run says
                             from when on; default 1 GiB */
    /** With a model: GPUs that share each layer of its decoder, 1 to 65536, so that FLOPs and bytes
     * are those of this GPU's share, as llmperf_model_work() has them for
     * llmperf_step.tensor_parallel. 0: LLMPERF_TENSOR_PARALLEL, else 1: the whole model, and where
     * the environment says that there are several ranks, a note says that they were taken for
     * replicas. A number that the model cannot be shared among is refused. Of LLM@vision with more
     * than one, and of pipeline stages, the program counts flops and bytes itself. */
    uint32_t tensor_parallel;
    /** With a model: GPUs that whole experts are spread over: 1, or a multiple of tensor_parallel
     * that divides the number of experts; as llmperf_step.expert_parallel, all replicas at steps of
     * the same size. 0: LLMPERF_EXPERT_PARALLEL, else 1. */
    uint32_t expert_parallel;
    /** A composed configuration, used instead of config_path. Borrowed until the start returns;
     * NULL: config_path is used. */
    const llmperf_config *config;
    /** Limit of region paths, 16 to 1048576; default 65536. Regions above it are counted together
     * in "LLM@(too many paths)" in the stage around them (ledger: regions_over_limit). Stages keep
     * their own paths, up to 1024 above the limit. Paths of earlier sessions that are no longer in
     * use do not count. */
    uint64_t path_limit;
    /** Lines "KEY=VALUE": any key of the configuration (`llmperf config --help`), as part of the
     * call, such as "report.top=50". They come before the environment and change `config` or
     * config_path; "${" in a value means nothing special. NULL: none. */
    const char *settings;
} llmperf_session_options;
#define LLMPERF_SESSION_OPTIONS_INIT LLMPERF_INIT(llmperf_session_options)

typedef struct llmperf_session llmperf_session;

/** Check what a session would be started with: the options, the environment, the configuration with
 * what it refers to (model, inputs.manifest, dtype, peaks), rules and counters. Opens no device and
 * creates no folder, so a start can still fail because of them.
 *
 * @param options   Borrowed; NULL: all defaults.
 * @param tier_out  LLMPERF_TIER_… that the session would have; may be NULL.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOTSUP,
 * LLMPERF_EIO, LLMPERF_ENOMEM; the error says what is wrong and where. @threads any thread */
LLMPERF_API int llmperf_session_check(const llmperf_session_options *options, uint32_t *tier_out);

/** Start collecting.
 *
 * @param options      Borrowed; NULL: all defaults.
 * @param session_out  Yours: llmperf_session_stop(), then llmperf_session_free().
 * @return LLMPERF_OK; LLMPERF_EBUSY (a session runs already, the folder holds a run, or another
 * profiler holds CUPTI and the source is cupti), LLMPERF_ENOENT, LLMPERF_ENODEVICE, LLMPERF_EINVAL,
 * LLMPERF_ENOTSUP, LLMPERF_EIO, LLMPERF_ENOMEM; LLMPERF_ESTATE with LLMPERF_SESSION_GRAPH_LEVEL,
 * see there.
 * @threads any thread */
LLMPERF_API int llmperf_session_start(const llmperf_session_options *options,
                                      llmperf_session **session_out);

/** Pay what the first session costs now: load CUPTI, subscribe, instrument. Best after the
 * program's first CUDA call and before it serves; a session may run or not.
 * @return LLMPERF_OK; LLMPERF_ENODEVICE, LLMPERF_ENOENT (no libcupti), LLMPERF_EBUSY (another
 * profiler). @threads any thread */
LLMPERF_API int llmperf_prewarm(void);

/** Stop collecting device activity until resume; regions keep their stacks, time in between is not
 * counted.
 * @return LLMPERF_OK, LLMPERF_ESTATE. @threads any thread */
LLMPERF_API int llmperf_session_pause(llmperf_session *session);
LLMPERF_API int llmperf_session_resume(llmperf_session *session);

/** Take in all that is complete by now, commit it to run.llmperf. Waits for the collector.
 * @return LLMPERF_OK, LLMPERF_ESTATE, LLMPERF_EIO. @threads any thread */
LLMPERF_API int llmperf_session_flush(llmperf_session *session);

/** Totals so far, while the session goes on; includes a flush.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK, LLMPERF_ESTATE, LLMPERF_ENOMEM. @threads any thread */
LLMPERF_API int llmperf_session_snapshot(llmperf_session *session, llmperf_profile **profile_out);

/** Proof of completeness so far. @param ledger_out  struct_size set by the caller.
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_ESTATE. @threads any thread */
LLMPERF_API int llmperf_session_ledger(llmperf_session *session, llmperf_ledger *ledger_out);

/** States of a session. */
enum {
    LLMPERF_STATE_RUNNING = 1,
    LLMPERF_STATE_PAUSED = 2,
    LLMPERF_STATE_STOPPED = 3 /**< its totals are final */
};

/** How a session does. Times are CLOCK_MONOTONIC. */
typedef struct llmperf_session_state {
    size_t struct_size;
    uint32_t
        verdict; /**< LLMPERF_VERDICT_… of what is in by now; dead: see llmperf_session_status() */
    uint32_t state;             /**< LLMPERF_STATE_… */
    uint64_t updated_ns;        /**< when this was so: five times a second while it runs */
    uint64_t verdict_ns;        /**< since when the verdict is this one */
    uint64_t verdict_changes;   /**< so far */
    uint64_t deaths;            /**< times that the driver's tracing was found dead */
    uint64_t launches_expected; /**< this and the next as in llmperf_ledger */
    uint64_t graph_launches;
    uint64_t kernels_seen;
    uint64_t records_dropped;
    uint64_t regions_dropped;
    uint64_t launches_pending; /**< of kernels and graphs, whose record has not come yet */
    uint64_t windows;          /**< triggered so far (tier light, rules) */
    uint32_t window_open;      /**< 1: one is on its way or open */
    uint32_t detached; /**< 1: CUPTI is not in the process right now (LLMPERF_SESSION_DETACH) */
    double silent_ms;  /**< so long launches have been pending and nothing was reported; a kernel
                          reports when it is over */
} llmperf_session_state;
#define LLMPERF_SESSION_STATE_INIT LLMPERF_INIT(llmperf_session_state)

/** How the session does, without asking it: takes no lock and waits for nobody.
 *
 * The verdict is `dead` where kernels or graphs were launched since collecting began or went on,
 * two flushes and two seconds have passed, and the driver has reported nothing at all: its tracing
 * does not work in this process. A first kernel that runs longer than that looks the same, and so
 * does a device that was never idle when it was asked and has not filled a buffer; the verdict
 * changes back when something is reported. Each change is told once in the log, at level error
 * (dead) or warn (incomplete, and no longer dead).
 *
 * @param state_out  struct_size set by the caller.
 * @return LLMPERF_OK, LLMPERF_EINVAL. @threads any thread, until llmperf_session_free() */
LLMPERF_API int llmperf_session_status(const llmperf_session *session,
                                       llmperf_session_state *state_out);

/** Something that the program works on: an image, a prompt. Zero and NULL are "not known". Strings
 * are Borrowed for the call. */
typedef struct llmperf_input {
    size_t struct_size;
    const char *
        path; /**< file; it is made absolute and need not exist. NULL: none, then there is a name */
    const char *name;       /**< NULL: the last part of the path */
    const char *kind;       /**< "image", "text", "audio" … */
    uint64_t size_bytes;    /**< 0: that of the file, if it can be looked at */
    uint64_t tokens;        /**< that it became */
    uint32_t width, height; /**< of an image, pixels */
} llmperf_input;
#define LLMPERF_INPUT_INIT LLMPERF_INIT(llmperf_input)

/** Keep an input with the run: inputs.yaml lists the first thousand and counts the rest.
 *
 * @param input  Borrowed.
 * @return LLMPERF_OK; LLMPERF_EINVAL (neither path nor name), LLMPERF_ESTATE (stopped, or a forked
 * child), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_session_add_input(llmperf_session *session, const llmperf_input *input);

/** Folder of this run, an absolute path; NULL if nothing is written. Valid until
 * llmperf_session_free(). @threads any thread */
LLMPERF_API const char *llmperf_session_run_dir(const llmperf_session *session);

/** The newest instances of stages, while the session goes on: an instance is there a second after
 * its end if it launched nothing, else one to two seconds after its last record came (within
 * another second). Takes no lock and waits for nobody.
 *
 * @param after           Sequence number that was read last; 0 at first. Numbers that are gone by
 * now are passed over: at most LLMPERF_ITERATIONS_KEPT are kept.
 * @param iterations_out  Room for `capacity` rows, oldest first; struct_size of the first set by
 * the caller holds for all. Their text lives until llmperf_session_free().
 * @param count_out       Rows written.
 * @return LLMPERF_OK, LLMPERF_EINVAL. @threads any thread */
LLMPERF_API int llmperf_session_iterations(const llmperf_session *session, uint64_t after,
                                           llmperf_iteration *iterations_out, size_t capacity,
                                           size_t *count_out);

/** Name of the kernel class at `index` of llmperf_iteration.class_ms, for rows that were read while
 * the session goes on.
 *
 * @return lives until llmperf_session_free(); NULL: there is no such class, and class_ms has
 * nothing there. @threads any thread */
LLMPERF_API const char *llmperf_session_class(const llmperf_session *session, size_t index);

/** Begin to stop and return at once; llmperf_session_wait() hands out the profile. Nothing that
 * happens from now on counts.
 * @return LLMPERF_OK; LLMPERF_ESTATE (stopped before), LLMPERF_ENOMEM (no thread; the session runs
 * on). @threads any thread */
LLMPERF_API int llmperf_session_stop_async(llmperf_session *session);

/** Wait for the end of llmperf_session_stop_async().
 * @param profile_out  As llmperf_session_stop().
 * @return what llmperf_session_stop() would have; LLMPERF_ESTATE without
 * llmperf_session_stop_async(), and the second time.
 * @threads any thread, once */
LLMPERF_API int llmperf_session_wait(llmperf_session *session, llmperf_profile **profile_out);

/** Stop: waits until work launched so far has been reported, at most a few seconds after the device
 * falls silent; replay and fake sources are played to their end first. Writes the run directory's
 * reports unless LLMPERF_SESSION_NO_REPORTS.
 *
 * @param profile_out  Yours: llmperf_profile_free(); NULL: not wanted.
 * @return LLMPERF_OK; LLMPERF_ESTATE (stopped before, or in a forked child), LLMPERF_EIO (the
 * profile is still returned; llmperf_last_error() says what of the run is on the disk and what is
 * missing; failed commits are no error if a later one succeeded), LLMPERF_EFORMAT (a damaged
 * recording or script), LLMPERF_ENOMEM.
 * @threads any thread, once */
LLMPERF_API int llmperf_session_stop(llmperf_session *session, llmperf_profile **profile_out);

/** Free a session; a running one is stopped first. NULL is fine. @threads one at a time per object
 */
LLMPERF_API void llmperf_session_free(llmperf_session *session);

#ifdef __cplusplus
}
#endif
#endif

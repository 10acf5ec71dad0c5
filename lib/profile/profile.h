/* SPDX-License-Identifier: Apache-2.0 */
/** Totals from attributed records, and profiles made from them. */
#ifndef LP_PROFILE_PROFILE_H
#define LP_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/attribution/attribution.h"
#include "lib/base/text.h"
#include "lib/record/counter.h"
#include "lib/record/gpu_sample.h"
#include "lib/record/names.h"
#include "lib/record/record.h"
#include "llmperf/profile.h"

struct lp_totals;

#define LP_QUANTITIES 7u /* indexed by LLMPERF_QUANTITY_…; 0 unused */

/** Gives the work of a call of a stage that the program did not count. */
struct lp_work_source {
    void *context;
    /** @param quantities  What the program counted in the call; 0: not given.
     * @param flops_out  LLMPERF_UNKNOWN: not known. */
    void (*work)(void *context, const char *label, const uint64_t *quantities, uint64_t *flops_out,
                 uint64_t *bytes_out);
};

/** Compute the work of the stages of a finished profile. It replaces the work from an earlier
 * source; what the program counted is kept. If not all calls of a stage are among the iterations,
 * the calls are assumed to be equal.
 * @param derived_out   Calls whose work the source gives.
 * @param averaged_out  Those of them that were assumed to be equal.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_profile_derive_work(llmperf_profile *profile, const struct lp_work_source *source,
                           uint64_t *derived_out, uint64_t *averaged_out);

/** The class of kernels that communicate with other GPUs. */
#define LP_CLASS_COLLECTIVE "collective"

/** Gives the class of a kernel, 0 to LLMPERF_ITERATION_CLASSES - 1. */
struct lp_classifier {
    void *context;
    uint8_t (*classify)(void *context, const char *demangled, uint32_t kind);
    const char *(*name)(void *context, size_t index); /* NULL: no such class */
};

/** Totals whose memory grows with the number of names, not with time. NULL: out of memory.
 * @param names  Names of kernels; must outlive the totals.
 * @threads one at a time per object, all functions */
struct lp_totals *lp_totals_create(const struct lp_names *names);
void lp_totals_free(struct lp_totals *totals);

/** A call of a region ended.
 * @param truncated  It was cut by the start or end of the session: only counted. */
void lp_totals_region(struct lp_totals *totals, uint32_t node, uint64_t wall_ns, bool truncated,
                      enum lp_in_window window);

/** All host records up to this time were passed: those of device memory are put in order. */
void lp_totals_settle_memory(struct lp_totals *totals, uint64_t until_ns);

/** A quantity (LLMPERF_QUANTITY_…) of a region. */
void lp_totals_count(struct lp_totals *totals, uint32_t node, uint32_t quantity, uint64_t amount,
                     enum lp_in_window window);

/** Attributed activities with valid times. */
void lp_totals_activities(struct lp_totals *totals, const struct lp_activity *activities,
                          size_t count);

/** Set the sources of the work and of the kernel classes of iterations, before the first record. */
void lp_totals_set_work(struct lp_totals *totals, const struct lp_work_source *source);
void lp_totals_set_classes(struct lp_totals *totals, const struct lp_classifier *classifier);

/** Takes the activities of programs that mark no region, see lib/structure. */
struct lp_totals_filter {
    void *context;
    /** false: the activities are not taken, the totals count them. */
    bool (*take)(void *context, const struct lp_activity *activities, size_t count);
    /** The program has opened a region. */
    void (*mark)(void *context, uint32_t node);
};

/** Set it; it must outlive the last activity. */
void lp_totals_set_filter(struct lp_totals *totals, const struct lp_totals_filter *filter);

/** Activities for the filter, else for the totals. */
void lp_totals_take(struct lp_totals *totals, const struct lp_activity *activities, size_t count);

/** Called for each followed call of a stage when it ends, and again when its device work is
 * complete. Both NULL: no callbacks. */
struct lp_watcher {
    void *context;
    void (*ended)(void *context, uint32_t node, uint64_t end_ns, uint64_t wall_ns,
                  const uint64_t *quantities);
    void (*done)(void *context, uint32_t node, const llmperf_iteration *iteration);
};

void lp_totals_set_watcher(struct lp_totals *totals, const struct lp_watcher *watcher);

struct lp_counter_totals;

/** The work comes from a file of another profiler: problems do not speak of sessions. */
void lp_totals_set_imported(struct lp_totals *totals);

/** Pass attributed activities on to `counters`, which must outlive the totals' last record. */
void lp_totals_set_counters(struct lp_totals *totals, struct lp_counter_totals *counters);

/** The totals as receiver of an attribution. */
struct lp_attribution_sink lp_totals_sink(struct lp_totals *totals);

/** The oldest kept iteration above a sequence number; false: none. Its texts live as long as the
 * totals.
 * @threads any thread, while the totals exist */
bool lp_totals_iteration(const struct lp_totals *totals, uint64_t after,
                         llmperf_iteration *iteration_out);

/** Sampling of the stages with one label, without triggered windows. The first call may be warm-up:
 * it is counted apart. */
struct lp_stage_sample {
    uint64_t first;                 /* 1, or more if several threads began at once */
    uint64_t collected, all;        /* calls */
    uint64_t collected_ns, all_ns;  /* their wall time */
    uint64_t measured, measured_ns; /* collected calls that measure the cost of collecting */
    uint64_t activities;            /* of the collected calls and the first */
};

void lp_totals_stage_sample(const struct lp_totals *totals, const char *label,
                            struct lp_stage_sample *sample_out);

/** State of a GPU, and the end of these. */
void lp_totals_gpu(struct lp_totals *totals, const struct lp_gpu_sample *sample);
void lp_totals_settle_energy(struct lp_totals *totals);

/** Set whether only a part of the device work is collected.
 * @param share  Of the time, for all work alike; NaN: calls of stages are sampled. */
void lp_totals_sample(struct lp_totals *totals, bool sampled, double share);

/** Share of the wall time of sampled stages whose device work was collected; 1: all of it. */
double lp_totals_sampled_fraction(const struct lp_totals *totals);

/** Records that arrived after their time was closed, and whether memory ran out (then totals are
 * too small). */
uint64_t lp_totals_late(const struct lp_totals *totals);
bool lp_totals_failed(const struct lp_totals *totals);

/** LLMPERF_VERDICT_… of a ledger. A verdict that is set already is kept and never made worse:
 * no_device, incomplete (a truncated recording) and dead (found while the session runs). */
uint32_t lp_ledger_verdict(const llmperf_ledger *ledger);

/** Sentence `index` about what makes a ledger incomplete; false: there are no more. */
bool lp_ledger_fault(const llmperf_ledger *ledger, size_t index, char *line, size_t size);

/** A profile of the totals so far: rows, ledger, verdict, and the problems and notes that follow
 * from the ledger.
 * @param process_id  Of the process that ran the work.
 * @param ledger  From attribution and source; time shares and records_late are filled in here.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return 0 or LLMPERF_ENOMEM. */
int lp_totals_freeze(struct lp_totals *totals, const llmperf_ledger *ledger, uint32_t process_id,
                     llmperf_profile **profile_out);

/** An empty profile; NULL: out of memory. */
llmperf_profile *lp_profile_create(void);

/** Sort the rows and compute what depends on other rows: short kernel names, shares, operators.
 * Call it again after adding rows. 0 or LLMPERF_ENOMEM. */
int lp_profile_finish(llmperf_profile *profile);

/** Does it have regions of several processes? Valid once it is finished. */
bool lp_profile_of_processes(const llmperf_profile *profile);

/** A result computed from a profile, kept with it until the profile changes. */
struct lp_kept {
    void (*free)(struct lp_kept *kept);
};

/** NULL: none yet. @threads any thread */
struct lp_kept *lp_profile_kept(const llmperf_profile *profile);

/** @param kept  Taken; freed at once if another thread was first.
 * @return the result that is kept. @threads any thread */
struct lp_kept *lp_profile_keep(const llmperf_profile *profile, struct lp_kept *kept);

/** Fill in what follows from other members of its rows of requests. 0 or LLMPERF_ENOMEM. */
int lp_profile_derive_requests(llmperf_profile *profile);

/** Set a fact (llmperf_profile_fact()); NULL values are skipped. 0 or LLMPERF_ENOMEM. */
int lp_profile_set_fact(llmperf_profile *profile, const char *key, const char *value);

/** Remove the facts whose keys start with a prefix. */
void lp_profile_drop_facts(llmperf_profile *profile, const char *prefix);

/** Rank that the launcher gave a process, from env.json (RANK, OMPI_COMM_WORLD_RANK and the like);
 * -1: not known. */
int64_t lp_profile_rank(const llmperf_profile *profile, uint32_t process_id);

/** Number of ranks that the launcher started, and the variable it comes from (static text). */
struct lp_rank_count {
    uint64_t count;
    const char *variable;
};

/** From WORLD_SIZE, OMPI_COMM_WORLD_SIZE and the like in env.json; runs of one process only. false:
 * not known. */
bool lp_profile_rank_count(const llmperf_profile *profile, struct lp_rank_count *ranks_out);

/** Facts of a run that was given the parallel layout of its model: numbers, as in llmperf_step. */
#define LP_TENSOR_FACT "model_tensor_parallel"
#define LP_EXPERT_FACT "model_expert_parallel"

/** Facts of a run whose model is split by tensor parallelism: numbers of the decoder. */
#define LP_LAYERS_FACT "model_layers"
#define LP_HIDDEN_FACT "model_hidden"

/** Fact: the steps that were found in a program without regions, in words, for the first lines of
 * documents; absent where a program marks regions. */
#define LP_FOUND_TEXT_FACT "found_text"

/** Facts of a run with a model, in bytes of one GPU: its weights, if the GPUs do not share them,
 * and the KV cache of a token, if the cache keeps all tokens. */
#define LP_WEIGHTS_FACT  "model_weight_bytes"
#define LP_KV_TOKEN_FACT "model_kv_token_bytes"

/** Fact of a run on several GPUs without a parallel layout: its work is that of the whole model. */
#define LP_SHARED_BY_FACT "model_shared_by"

/** The largest number of GPUs that ran a region whose work comes from a model; 1 without a device;
 * 0: no such region. */
uint64_t lp_profile_model_gpus(const llmperf_profile *profile);

/** Set LP_SHARED_BY_FACT to `who` ("8 ranks (WORLD_SIZE)") and add a note about it. 0 or
 * LLMPERF_ENOMEM. */
int lp_profile_note_shared_by(llmperf_profile *profile, const char *who);

/** Fact of a run for which NVML was not read: why. */
#define LP_ENERGY_FACT "energy_reason"

/** Fact of a profile whose dtype was given after the run; it has precedence over all other
 * dtypes. */
#define LP_DTYPE_FACT "dtype_given"

/** Fact of a run: unique key of 16 hexadecimal digits. Runs without it, such as imported files, are
 * identified by a hash of their contents. */
#define LP_RUN_KEY_FACT "run_key"

/** Problem of a run whose session was not stopped. */
#define LP_PROBLEM_OPEN                                                                            \
    "this run is incomplete: its program is still running, or ended without stopping the "         \
    "session; what happened after the last write (usually at most a second) is missing"

/** Fact "source_reason" of a run whose program never used CUDA. */
#define LP_REASON_NO_CUDA "no device activity: the program has not used CUDA"

/** Add a problem (which makes a complete verdict incomplete) or a note. Notes are not repeated. 0
 * or LLMPERF_ENOMEM. */
int lp_profile_problem(llmperf_profile *profile, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int lp_profile_note(llmperf_profile *profile, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Add a metric; results with the same name, group, source, region, kernel, device and process are
 * merged. Texts are copied. lp_profile_finish() sorts them. 0 or LLMPERF_ENOMEM. */
int lp_profile_add_metric(llmperf_profile *profile, const llmperf_metric_stats *stats);

/** Set in a window's row what triggered it (number, rule, region, quantity, unit, value, threshold,
 * value_units, triggered_ns, units_asked); the row is added if missing. Texts are copied. 0 or
 * LLMPERF_ENOMEM. */
int lp_profile_set_trigger(llmperf_profile *profile, const llmperf_window_stats *trigger);

/** Number of values between two limits. */
struct lp_bucket {
    double low_ms, high_ms;
    uint64_t count;
};

/** Histogram of row `index` of a kind whose rows have one, in ascending order.
 * @param row          enum lp_row_id
 * @param buckets_out  Yours: free(); NULL if the row has none.
 * @return 0, LLMPERF_EINVAL, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_profile_row_histogram(const llmperf_profile *profile, unsigned row, size_t index,
                             struct lp_bucket **buckets_out, size_t *count_out);

/** Hardware counters by region and kernel. NULL: out of memory.
 * @param names  Of kernels and reasons; must outlive it.
 * @threads one at a time per object, all functions */
struct lp_counter_totals *lp_counter_totals_create(const struct lp_names *names);
void lp_counter_totals_free(struct lp_counter_totals *totals);

/** Set what is collected. Of later plans only the interval is used. All texts are copied. */
void lp_counter_totals_plan(struct lp_counter_totals *totals, const struct lp_counter_plan *plan);
void lp_counter_totals_fact(struct lp_counter_totals *totals, const struct lp_counter_fact *fact,
                            const double *values);

/** Activities and host records that sampled counters are assigned to. */
void lp_counter_totals_activities(struct lp_counter_totals *totals,
                                  const struct lp_activity *activities, size_t count);
void lp_counter_totals_host(struct lp_counter_totals *totals, uint32_t thread,
                            const struct lp_record *records, size_t count);

/** Continuous device work of a region, as counter samples see it. */
struct lp_counter_active {
    uint32_t node;
    double length_ns; /* mean */
};

/** The region with the shortest continuous work among those that `wanted` selects and that have at
 * least `least_ns`. false: none, or counters are not sampled. */
bool lp_counter_totals_shortest(const struct lp_counter_totals *totals, double least_ns,
                                bool (*wanted)(void *context, uint32_t node), void *context,
                                struct lp_counter_active *shortest_out);

/** No more data will come: fold the samples of the last seconds into the metrics. */
void lp_counter_totals_settle(struct lp_counter_totals *totals);

/** The plan; NULL: none yet. Lives as long as the totals. */
const struct lp_counter_plan *lp_counter_totals_current_plan(
    const struct lp_counter_totals *totals);

/** Derive names and shares of samples of kernels, and order them. 0 or LLMPERF_ENOMEM. */
int lp_stalls_finish(llmperf_profile *profile);

/** Add metrics and notes to a profile; lp_profile_finish() sorts them. 0 or LLMPERF_ENOMEM. */
int lp_counter_totals_add(const struct lp_counter_totals *totals, uint32_t process_id,
                          llmperf_profile *profile);

/** Add a region row; texts are copied. `path`, `label`, `parent`, `stage`, `depth` and `kind` are
 * set from the path tree. 0 or LLMPERF_ENOMEM. */
int lp_profile_add_region(llmperf_profile *profile, uint32_t node,
                          const llmperf_region_stats *stats);

/** Why there is no estimate for all calls: of a region around sampled stages, and of others. */
#define LP_PART_COLLECTED "only part of each call was collected: see the stages inside it"
#define LP_CHANCE_UNKNOWN "the chance with which calls were collected is not known"

/** Wall time of the part of a row's work that has device numbers, ms; without sampling all of it.
 */
double lp_collected_ms(const llmperf_region_stats *row);

/** Busy time of the device in that part of the work; by the estimate for all calls, where there is
 * one. */
double lp_collected_busy_ms(const llmperf_region_stats *row);

/** A row of shapes with the keys of a kernel's row; all else is unknown. Its geometry and memory.
 */
llmperf_kernel_shape lp_kernel_shape_of(const llmperf_kernel_stats *kernel);
void lp_kernel_shape_fill(llmperf_kernel_shape *row, const struct lp_shape *shape);

/** All calls of the kernel that was added last have this shape; without times no row is added. 0 or
 * LLMPERF_ENOMEM. */
int lp_profile_shape_kernel(llmperf_profile *profile, const struct lp_shape *shape);

/** Add a row of a kernel, memcpy or memset; texts are copied. 0 or LLMPERF_ENOMEM.
 * @param durations_ns  Of its calls: total, mean, limits and percentiles are computed from it.
 * NULL: those of `stats` are used. */
int lp_profile_add_kernel(llmperf_profile *profile, const llmperf_kernel_stats *stats,
                          const uint64_t *durations_ns, size_t count);

/** Append the demangled C++ name of a kernel, or the name itself if it is not mangled or there is
 * no C++ runtime. */
void lp_kernel_demangle(struct lp_text *text, const char *name);

/** Append a demangled name without return type, template arguments and parameters: "void
 * a::f<int>(int*)" gives "a::f". */
void lp_kernel_shorten(struct lp_text *text, const char *demangled);

/** Append the shortened name of a symbol. */
void lp_kernel_short_name(struct lp_text *text, const char *name);

/** Both names of a symbol, kept in the pool. 0 or LLMPERF_ENOMEM. */
struct lp_strings;
int lp_kernel_names(struct lp_strings *pool, const char *name, const char **demangled_out,
                    const char **short_out);

/** The ledger, for writing. */
llmperf_ledger *lp_profile_ledger_edit(llmperf_profile *profile);

/** Join the processes of one run. Rows of different processes stay separate; kernels and ledgers
 * are added up; the first part's facts have precedence.
 * @param profile_out  Yours.
 * @return 0; LLMPERF_EFORMAT: damaged histogram; LLMPERF_ENOMEM. */
int lp_profile_join(const llmperf_profile *const *parts, size_t count,
                    llmperf_profile **profile_out);

/** Folder of the run file; "": the profile was not read from a file. */
const char *lp_profile_folder(const llmperf_profile *profile);

/** Fact of a run: when its process began, in clock ticks since boot. Two runs of one process have
 * the same; another process with its id has another. */
#define LP_STARTED_FACT "process_started"

/** Name of the trace in a run's folder. */
#define LP_TRACE_FILE "trace.llmrec"

/** Fact of a merged profile: how many of its runs have a trace, as "2 of 3". */
#define LP_MERGED_TRACES_FACT "merged_traces"

/** Facts with the device work of one call of a stage, see lp_kept_call_freeze(): this and the path
 * of the stage. Of a merged profile: a list of calls, see lp_merge_kept(). */
#define LP_KEPT_CALL_FACT "kept_call."

/** While the GPU waits this long for a launch, the host does something else than launching:
 * launches in a row follow each other within 3 to 100 us, in eager Python too. */
#define LP_HOST_GAP_NS    200000u
#define LP_HOST_GAP_WORDS "0.2 ms"

/** Facts with the longest gap between kernels of that call, if it is LP_HOST_GAP_NS or more: "2.98
 * ms before sample_kernel in LLM@head". */
#define LP_KEPT_GAP_FACT "kept_gap."

/** A run in a merged profile. */
struct lp_part {
    char *name;
    char *folder;        /* its folder now; NULL: not found */
    char *kept_in;       /* its folder at the time of the merge; NULL: not known */
    size_t processes;    /* number of its processes */
    uint32_t process_id; /* of its only process, in the merged run; 0: not known, or several */
};

/** Zero-initialised: none. */
struct lp_parts {
    LP_VECTOR(struct lp_part) items;
};

/** Find the original runs of a merged profile by their keys: in their old folder, or at the same
 * place relative to the merged run, if both were moved. None if the profile is not merged. Clear
 * `parts` in any case.
 * @param folder  Of the merged run.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_parts_find(struct lp_parts *parts, const llmperf_profile *merged, const char *folder);
void lp_parts_clear(struct lp_parts *parts);

/** Index of the first region with this path; the number of regions if there is none. Regions of one
 * path are adjacent, those of one process too, and nested regions follow them. */
size_t lp_profile_find_region(const llmperf_profile *profile, const char *path);

struct lp_store;

/** Create or replace a run file and keep it open. 0, LLMPERF_EIO or LLMPERF_ENOMEM. */
int lp_store_create(const char *path, struct lp_store **store_out);

/** Commit a profile. Readers see the old or the new one. 0 or LLMPERF_EIO. */
int lp_store_write(struct lp_store *store, const llmperf_profile *profile);

/** Close; removes the write-ahead log. NULL is allowed. 0 or LLMPERF_EIO. */
int lp_store_close(struct lp_store *store);

#endif

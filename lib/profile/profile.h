/* SPDX-License-Identifier: Apache-2.0 */
/** The door of result: attributed facts in, totals and profiles out. */
#ifndef LP_PROFILE_PROFILE_H
#define LP_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/attribution/attribution.h"
#include "lib/base/text.h"
#include "lib/record/counter.h"
#include "lib/record/names.h"
#include "lib/record/record.h"
#include "llmperf/profile.h"

struct lp_totals;

#define LP_QUANTITIES 6u /* by LLMPERF_QUANTITY_…, 0 unused */

/** Tells the work of an instance of a stage that the program did not count itself. */
struct lp_work_source {
    void *context;
    /** @param quantities  What the program counted in the instance; 0: not given. @param flops_out
     * LLMPERF_UNKNOWN: cannot be told. */
    void (*work)(void *context, const char *label, const uint64_t *quantities, uint64_t *flops_out,
                 uint64_t *bytes_out);
};

/** Compute the work of the stages of a finished profile. It replaces what an earlier source gave;
 * what the program counted is kept. If not all instances of a stage are among the iterations, they
 * are assumed to be equal.
 * @param derived_out   Instances whose work the source gives.
 * @param averaged_out  Those of them that were assumed to be equal. 0 or LLMPERF_ENOMEM. */
int lp_profile_derive_work(llmperf_profile *profile, const struct lp_work_source *source,
                           uint64_t *derived_out, uint64_t *averaged_out);

/** Tells the class of a kernel, 0 to LLMPERF_ITERATION_CLASSES - 1. */
struct lp_classifier {
    void *context;
    uint8_t (*classify)(void *context, const char *demangled, uint32_t kind);
    const char *(*name)(void *context, size_t index); /* NULL: no such class */
};

/** Totals that grow with names, not with time. @param names  Of kernels; outlives the totals. NULL
 * without memory.
 * @threads one at a time per object, all functions */
struct lp_totals *lp_totals_create(const struct lp_names *names);
void lp_totals_free(struct lp_totals *totals);

/** A region instance ended; `truncated`: it was cut by the start or the end of the session, only
 * its number counts. */
void lp_totals_region(struct lp_totals *totals, uint32_t node, uint64_t wall_ns, bool truncated,
                      enum lp_in_window window);

/** A quantity (LLMPERF_QUANTITY_…) of a region. */
void lp_totals_count(struct lp_totals *totals, uint32_t node, uint32_t quantity, uint64_t amount,
                     enum lp_in_window window);

/** Attributed activities with valid times. */
void lp_totals_activities(struct lp_totals *totals, const struct lp_activity *activities,
                          size_t count);

/** Where the work and the classes of iterations come from; before the first fact. */
void lp_totals_set_work(struct lp_totals *totals, const struct lp_work_source *source);
void lp_totals_set_classes(struct lp_totals *totals, const struct lp_classifier *classifier);

/** Told of each instance of a stage that was followed: that it ended, and what it came to once its
 * device work is in. Both NULL: nobody is. */
struct lp_watcher {
    void *context;
    void (*ended)(void *context, uint32_t node, uint64_t end_ns, uint64_t wall_ns,
                  const uint64_t *quantities);
    void (*done)(void *context, uint32_t node, const llmperf_iteration *iteration);
};

void lp_totals_set_watcher(struct lp_totals *totals, const struct lp_watcher *watcher);

struct lp_counter_totals;

/** Attributed activities go there too. It outlives the totals' last fact. */
void lp_totals_set_counters(struct lp_totals *totals, struct lp_counter_totals *counters);

/** Totals as the receiver of an attribution. */
struct lp_attribution_sink lp_totals_sink(struct lp_totals *totals);

/** The oldest iteration above a sequence number that is still kept; false: none. Its text lives as
 * long as the totals. @threads any thread, while the totals exist */
bool lp_totals_iteration(const struct lp_totals *totals, uint64_t after,
                         llmperf_iteration *iteration_out);

/** What sampling saw of the stages with one label, without those of triggered windows. */
struct lp_stage_sample {
    uint64_t collected, all;       /* instances */
    uint64_t collected_ns, all_ns; /* their host time */
    uint64_t activities;           /* of the collected ones */
};

void lp_totals_stage_sample(const struct lp_totals *totals, const char *label,
                            struct lp_stage_sample *sample_out);

/** Is device work collected in part only? @param share  Of the time, for everything alike; NaN: by
 * instances of stages. */
void lp_totals_sample(struct lp_totals *totals, bool sampled, double share);

/** Share of the host time of sampled stages whose device work was collected; 1: all of it. */
double lp_totals_sampled_fraction(const struct lp_totals *totals);

/** Records so far that came after their time was closed, and whether memory ran out (then totals
 * are short). */
uint64_t lp_totals_late(const struct lp_totals *totals);
bool lp_totals_failed(const struct lp_totals *totals);

/** LLMPERF_VERDICT_… of a ledger. One that is set already stays and is not made worse: no_device,
 * incomplete (a recording that was cut) and dead (found while the session runs). */
uint32_t lp_ledger_verdict(const llmperf_ledger *ledger);

/** What makes a ledger incomplete, the `index`th sentence of it; false: there are no more. */
bool lp_ledger_fault(const llmperf_ledger *ledger, size_t index, char *line, size_t size);

/** A profile of what is there now: rows, ledger as given, verdict, problems and notes that follow
 * from the ledger.
 * @param process_id  Of the process that ran the work.
 * @param ledger  As attribution and the source know it; times share and records_late are filled in
 * here.
 * @param profile_out  Yours: llmperf_profile_free(). 0 or LLMPERF_ENOMEM. */
int lp_totals_freeze(struct lp_totals *totals, const llmperf_ledger *ledger, uint32_t process_id,
                     llmperf_profile **profile_out);

/** An empty profile; NULL without memory. */
llmperf_profile *lp_profile_create(void);

/** Order the rows, fill in what follows from others: kernel names for people, shares, operators.
 * Again after rows were added. 0 or LLMPERF_ENOMEM. */
int lp_profile_finish(llmperf_profile *profile);

/** Does it hold regions of more than one process? Known once it is finished. */
bool lp_profile_of_processes(const llmperf_profile *profile);

/** What was worked out from a profile and is kept with it until it changes. */
struct lp_kept {
    void (*free)(struct lp_kept *kept);
};

/** NULL: nothing yet. @threads any thread */
struct lp_kept *lp_profile_kept(const llmperf_profile *profile);

/** @param kept  Taken; freed at once if another thread was first. Returns what is kept.
 * @threads any thread */
struct lp_kept *lp_profile_keep(const llmperf_profile *profile, struct lp_kept *kept);

/** Set a fact (llmperf_profile_fact()); a NULL value is left out. 0 or LLMPERF_ENOMEM. */
int lp_profile_set_fact(llmperf_profile *profile, const char *key, const char *value);

/** Remove the facts whose keys begin so. */
void lp_profile_drop_facts(llmperf_profile *profile, const char *prefix);

/** The rank that the launcher gave a process (RANK, OMPI_COMM_WORLD_RANK and the like in env.json).
 * -1: not known. */
int64_t lp_profile_rank(const llmperf_profile *profile, uint32_t process_id);

/** How many ranks the launcher started, and the variable that says so (static text). */
struct lp_rank_count {
    uint64_t count;
    const char *variable;
};

/** From WORLD_SIZE, OMPI_COMM_WORLD_SIZE and the like in env.json, of a run of one process. false:
 * not known. */
bool lp_profile_rank_count(const llmperf_profile *profile, struct lp_rank_count *ranks_out);

/** Facts of a run whose session was told how GPUs share its model: numbers, as in llmperf_step. */
#define LP_TENSOR_FACT "model_tensor_parallel"
#define LP_EXPERT_FACT "model_expert_parallel"

/** Fact of a run whose work is of the whole model because how these share it was not given. */
#define LP_SHARED_BY_FACT "model_shared_by"

/** The most GPUs on which a region was whose work comes from a model; without a device 1. 0: no
 * region has such work. */
uint64_t lp_profile_model_gpus(const llmperf_profile *profile);

/** Set LP_SHARED_BY_FACT to `who` ("8 ranks (WORLD_SIZE)"), with a note that says what it means. 0
 * or LLMPERF_ENOMEM. */
int lp_profile_note_shared_by(llmperf_profile *profile, const char *who);

/** Fact of a profile whose dtype was given after the run: it comes before all others. */
#define LP_DTYPE_FACT "dtype_given"

/** Fact of a run: 16 hexadecimal digits that no other run has. A run without it, one of imported
 * files say, is known by what it holds. */
#define LP_RUN_KEY_FACT "run_key"

/** Problem of a run whose session has not been stopped. */
#define LP_PROBLEM_OPEN                                                                            \
    "this run is incomplete: its program is still running, or ended without stopping the "         \
    "session; what happened after the last write (usually at most a second) is missing"

/** Fact "source_reason" of a run whose program did not use CUDA before it ended. */
#define LP_REASON_NO_CUDA "no device activity: the program had not used CUDA yet"

/** Add a problem (and make a complete verdict incomplete) or a note, which is left out if it is
 * there already. 0 or LLMPERF_ENOMEM. */
int lp_profile_problem(llmperf_profile *profile, const char *line);
int lp_profile_note(llmperf_profile *profile, const char *line);

/** Add a metric; if the profile has one with this name, group, source, region, kernel, device and
 * process, the results of both become one. Texts are copied. lp_profile_finish()
 * orders them. 0 or LLMPERF_ENOMEM. */
int lp_profile_add_metric(llmperf_profile *profile, const llmperf_metric_stats *stats);

/** What triggered a window (its number, rule, region, quantity, unit, value, threshold,
 * value_units, triggered_ns, units_asked), into its row; a row is made if it has none. Texts are
 * copied. 0 or LLMPERF_ENOMEM. */
int lp_profile_set_trigger(llmperf_profile *profile, const llmperf_window_stats *trigger);

/** Values that fell between two limits. */
struct lp_bucket {
    double low_ms, high_ms;
    uint64_t count;
};

/** Histogram of row `index` of the iteration statistics, shortest first.
 * @param buckets_out  Yours: free(); NULL if the row has none. 0, LLMPERF_EINVAL, LLMPERF_EFORMAT,
 * LLMPERF_ENOMEM. */
int lp_profile_iteration_histogram(const llmperf_profile *profile, size_t index,
                                   struct lp_bucket **buckets_out, size_t *count_out);

/** Hardware counters by region and kernel. @param names  Of kernels and reasons; outlives it. NULL
 * without memory.
 * @threads one at a time per object, all functions */
struct lp_counter_totals *lp_counter_totals_create(const struct lp_names *names);
void lp_counter_totals_free(struct lp_counter_totals *totals);

/** What is collected; the first one counts, and of later ones the interval. All texts are copied.
 */
void lp_counter_totals_plan(struct lp_counter_totals *totals, const struct lp_counter_plan *plan);
void lp_counter_totals_fact(struct lp_counter_totals *totals, const struct lp_counter_fact *fact,
                            const double *values);

/** What sampled counters are held against: attributed activities, and host records of a thread. */
void lp_counter_totals_activities(struct lp_counter_totals *totals,
                                  const struct lp_activity *activities, size_t count);
void lp_counter_totals_host(struct lp_counter_totals *totals, uint32_t thread,
                            const struct lp_record *records, size_t count);

/** How long a region's device work goes on at a time (samples only). */
struct lp_counter_stretch {
    uint32_t node;
    double length_ns; /* mean */
};

/** The region with the shortest stretches among those that are `wanted` and have stretches of
 * `least_ns` or more. false: there is none, or nothing is sampled. */
bool lp_counter_totals_shortest(const struct lp_counter_totals *totals, double least_ns,
                                bool (*wanted)(void *context, uint32_t node), void *context,
                                struct lp_counter_stretch *shortest_out);

/** Nothing more comes. Before it, samples of the last seconds are not in the metrics. */
void lp_counter_totals_settle(struct lp_counter_totals *totals);

/** The plan that came; NULL: none. Lives as long as the totals. */
const struct lp_counter_plan *lp_counter_totals_told(const struct lp_counter_totals *totals);

/** Add metrics and notes to a profile; lp_profile_finish() puts them in order. 0 or LLMPERF_ENOMEM.
 */
int lp_counter_totals_add(const struct lp_counter_totals *totals, uint32_t process_id,
                          llmperf_profile *profile);

/** Add a region row; texts are copied. `stats->path`, `label`, `parent`, `stage`, `depth` and
 * `kind` are filled in from the tree of paths. 0 or LLMPERF_ENOMEM. */
int lp_profile_add_region(llmperf_profile *profile, uint32_t node,
                          const llmperf_region_stats *stats);

/** Host time of as much work of a row as its device numbers are of, ms: all of it without sampling.
 */
double lp_collected_ms(const llmperf_region_stats *row);

/** Add a row of a kernel, copy or set; texts are copied. @param durations_ns  of its calls, from
 * which total, mean, bounds and percentiles come; NULL: they are as given. 0 or LLMPERF_ENOMEM. */
int lp_profile_add_kernel(llmperf_profile *profile, const llmperf_kernel_stats *stats,
                          const uint64_t *durations_ns, size_t count);

/** Append the C++ name of a kernel; the name itself if it is not mangled or the C++ runtime is not
 * there. */
void lp_kernel_demangle(struct lp_text *text, const char *name);

/** Append a demangled name without return type, template arguments and parameters: "void
 * a::f<int>(int*)" gives "a::f". */
void lp_kernel_shorten(struct lp_text *text, const char *demangled);

/** The ledger, for those that make profiles. */
llmperf_ledger *lp_profile_ledger_edit(llmperf_profile *profile);

/** Parts of one run become one profile: rows of different processes stay apart, kernels are added
 * up, ledgers too; facts of the first part win. @param profile_out  Yours. 0, LLMPERF_EFORMAT (a
 * damaged histogram) or LLMPERF_ENOMEM. */
int lp_profile_join(const llmperf_profile *const *parts, size_t count,
                    llmperf_profile **profile_out);

/** The folder of the run file that a profile was read from; "": of none. */
const char *lp_profile_folder(const llmperf_profile *profile);

/** A trace in the folder of its run. */
#define LP_TRACE_FILE "trace.llmrec"

/** Fact of a merged profile whose runs, or some of them, keep a trace: "2 of 3". */
#define LP_MERGED_TRACES_FACT "merged_traces"

/** A run that a merged one is made of. */
struct lp_part {
    char *name;
    char *folder;        /* where it is now; NULL: not found */
    char *kept_in;       /* where it was when the runs were merged; NULL: not known */
    size_t processes;    /* that it has */
    uint32_t process_id; /* as the merged run calls the only one; 0: not known, or several */
};

/** Zero-initialised: none. */
struct lp_parts {
    LP_VECTOR(struct lp_part) items;
};

/** The runs of a merged profile, down to those that were never merged, each found by its key: where
 * it was, or at the same place beside the merged run, if both were moved. None of a profile that is
 * not merged. @param folder  Of the merged run. 0 or LLMPERF_ENOMEM. Clear them in both cases. */
int lp_parts_find(struct lp_parts *parts, const llmperf_profile *merged, const char *folder);
void lp_parts_clear(struct lp_parts *parts);

/** The first region of this path, by its index; the number of regions if there is none. Regions of
 * one path stand together, those of one process too, and the regions within it follow. */
size_t lp_profile_find_region(const llmperf_profile *profile, const char *path);

struct lp_store;

/** Create or replace a run file and keep it open. 0, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_store_create(const char *path, struct lp_store **store_out);

/** Commit a profile; readers see the old or the new one. 0 or LLMPERF_EIO. */
int lp_store_write(struct lp_store *store, const llmperf_profile *profile);

/** Close; a single file without a write-ahead log remains. NULL is fine. 0 or LLMPERF_EIO. */
int lp_store_close(struct lp_store *store);

#endif

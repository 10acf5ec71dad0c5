/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of `llmperf run`. */
#ifndef LLMPERF_TOOL_RUN_H
#define LLMPERF_TOOL_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "configured.h"

#define RUN_PATH_BYTES 4096
#define RUN_LEFT_MOST  64

/** Path of the library that is injected. false after a message: there is none. */
bool run_find_library(char *path);

/** Find a program as execvp() does, and report on standard error what prevents profiling it, one
 * line each. @param path Out: its file. false: not found. */
bool run_check_program(const char *name, char *path);

/** The folder of the model that the command line of the program names. false: none is there.
 * @param path  Out: RUN_PATH_BYTES. */
bool run_find_model(char **program, char *path);

/** GPUs that share each layer, by the command line of the program; NULL: not named. */
const char *run_find_parallel(char **program);

/** Values from the configuration; "": not set. */
struct run_config {
    const char *text; /* as composed, of `struct configured`; NULL: there is none */
    char run_id[128];
    char counters[RUN_PATH_BYTES]; /* words of llmperf_session_options.counters */
    int64_t keep_runs;             /* 0: all */
    bool counted, sampled;         /* 1: the configuration selects counters; by a sampled preset */
};

/** Compose the configuration, check it, and read what llmperf run itself needs. @return exit code
 */
int run_compose(struct configured *configured, struct run_config *config_out);

/** Write the configuration to a file, if there is one. @return exit code */
int run_keep_config(const struct run_config *config, const char *path);

/** Progress of a profiled program, read from its runs. */
struct run_state {
    const char *job;     /* folder of the job */
    const char *library; /* path that the program should load */
    pid_t pid;
    bool saw_driver, saw_library; /* in the memory map of the program */
    unsigned runs, unreadable, forked;
    uint64_t kernels, dropped;
    double busy_ms, best_busy_ms;
    uint32_t left[RUN_LEFT_MOST]; /* processes that outlive the program; 0: reported */
    size_t left_count;
    char best[RUN_PATH_BYTES]; /* run of the process with the most GPU time */
};

/** Read the memory map of the program: has it loaded the driver and this library? */
void run_look_at_maps(struct run_state *state);

/** Does the folder of a job contain files of the processes of an earlier job? */
bool run_was_used(const char *folder);

/** A line on standard error for each process whose session could not start. @return how many */
int run_report_failed(const char *folder);

/** After the end of the program: wait a second for its other processes, and note which are still
 * running. */
void run_wait_for_processes(struct run_state *state);

/** One line on standard error for each process that still runs and has no run. */
void run_report_left(const struct run_state *state);

/** Add up the runs of the job. `report`: print a line for each run on standard error. */
void run_look_at_runs(struct run_state *state, bool report);

/** On a terminal: overwrite the last line. */
void run_show_progress(const struct run_state *state, double elapsed_s);
void run_end_progress(void);

/** Maximum number of runs of one program. */
#define RUN_REPEATS_MOST 1000u

/** A program that is run several times. */
struct run_repeats {
    const char *tier, *counters; /* as passed to the session; NULL: not given */
    const char *folder;          /* of all runs */
    unsigned most;               /* runs */
    bool sampled;                /* the counters are: one run has them all */
    bool automatic;              /* as many as the counters need */
};

/** Read the value of --repeat. false: invalid, or not for this tier. */
bool run_repeats_read(struct run_repeats *options, const char *word);

/** Run the program as often as requested, or once for each group of its counters, and compare the
 * runs: repeats.md and repeats.json in the folder; counters of groups become one run there. The
 * folder is printed last.
 *
 * @param once  Runs it once, in a folder `name` below that of all, with these words for the
 * counters (NULL: as they are); returns an exit code, and the run in `best` (RUN_PATH_BYTES).
 * @return exit code: the first that is not 0, after which no further run is started. */
int run_repeats(const struct run_repeats *options,
                int (*once)(void *context, const char *name, const char *counters, char *best),
                void *context);

#endif

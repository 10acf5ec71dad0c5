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

/** The library that programs are made to load: its file. false with a message if there is none. */
bool run_find_library(char *path);

/** Find a program as execvp() would and report on standard error what prevents profiling it, one
 * line each. @param path  Out: its file. false: it is not there. */
bool run_check_program(const char *name, char *path);

/** What the configuration sets; "" where it is unset. */
struct run_config {
    const char *text; /* as composed, of `struct configured`; NULL: there is none */
    char run_id[128];
    char counters[RUN_PATH_BYTES]; /* words of llmperf_session_options.counters */
    int64_t keep_runs;             /* 0: all */
    bool counted, sampled;         /* it chooses counters; by a preset in it that samples */
};

/** Compose the configuration, check it, and read what llmperf run itself needs. @return exit code
 */
int run_compose(struct configured *configured, struct run_config *config_out);

/** Write it to a file, if there is one. @return exit code */
int run_keep_config(const struct run_config *config, const char *path);

/** What a process under profile has done so far, by its runs. */
struct run_state {
    const char *job;     /* folder of the job */
    const char *library; /* path that the program should load */
    pid_t pid;
    bool saw_driver, saw_library; /* in the memory map of the program */
    unsigned runs, unreadable, forked;
    uint64_t kernels, dropped;
    double busy_ms, best_busy_ms;
    uint32_t left[RUN_LEFT_MOST]; /* processes that outlive the program; 0: its run was reported */
    size_t left_count;
    char best[RUN_PATH_BYTES]; /* run of the process with the most GPU time */
};

/** Look at the program's memory map: did it load the driver, did it load us? */
void run_look_at_maps(struct run_state *state);

/** Does the folder of a job have anything that the processes of an earlier one left? */
bool run_was_used(const char *folder);

/** A line on standard error for each process whose session could not start. @return how many */
int run_tell_failed(const char *folder);

/** The program has ended: give its other processes a second to end too, and note which do not. */
void run_wait_for_processes(struct run_state *state);

/** One line on standard error for each process that still runs and has no run. */
void run_tell_left(const struct run_state *state);

/** Add up the runs of the job. `tell`: print a line for each on standard error. */
void run_look_at_runs(struct run_state *state, bool tell);

/** One line over the last one, on a terminal. */
void run_show_progress(const struct run_state *state, double elapsed_s);
void run_end_progress(void);

/** Most runs of one program. */
#define RUN_REPEATS_MOST 1000u

/** A program that runs several times. */
struct run_repeats {
    const char *tier, *counters; /* as passed to the session; NULL: not given */
    const char *folder;          /* of all runs */
    unsigned most;               /* runs */
    bool sampled;                /* the counters are: one run has them all */
    bool automatic;              /* as many as the counters need */
};

/** Read what --repeat says. false: that is nothing, or not for this tier. */
bool run_repeats_read(struct run_repeats *wish, const char *word);

/** Run the program as often as requested, or once for each group of its counters, and compare the
 * runs: repeats.md and repeats.json in the folder; counters of groups become one run there. The
 * folder is printed last.
 *
 * @param once  Runs it once, in a folder `name` below that of all, with these words for the
 * counters (NULL: as they are); returns an exit code, and the run in `best` (RUN_PATH_BYTES).
 * @return exit code: the first that is not 0, after which no further run is started. */
int run_repeats(const struct run_repeats *wish,
                int (*once)(void *context, const char *name, const char *counters, char *best),
                void *context);

#endif

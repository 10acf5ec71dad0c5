/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "group.h"
#include "ops.h"

struct launch {
    size_t world;
    int descriptor;
    pid_t processes[GROUP_RANKS_MAX]; /* 0: ended */
};

/* The same program with the same arguments, and who it is. Only the first rank talks on stdout. */
static void become_rank(const struct launch *launch, size_t rank, int count, char **arguments)
{
    char **all = calloc((size_t)count + 3, sizeof(*all));
    char mine[32], group[32];
    int nowhere = rank > 0 ? open("/dev/null", O_WRONLY) : -1;

    /* A rank that waits for others must not outlive whoever would end it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!all || (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) < 0))
        _exit(EXIT_ENVIRONMENT);
    memcpy(all, arguments, (size_t)count * sizeof(*all));
    snprintf(mine, sizeof(mine), "rank=%zu", rank);
    snprintf(group, sizeof(group), "group=%d", launch->descriptor);
    all[count] = mine;
    all[count + 1] = group;
    execv("/proc/self/exe", all);
    _exit(EXIT_ENVIRONMENT);
}

static void end_others(struct launch *launch)
{
    for (size_t r = 0; r < launch->world; r++)
        if (launch->processes[r] > 0)
            kill(launch->processes[r], SIGKILL);
}

static int start_all(struct launch *launch, int count, char **arguments)
{
    fflush(stdout);
    for (size_t r = 0; r < launch->world; r++) {
        launch->processes[r] = fork();
        if (launch->processes[r] == 0)
            become_rank(launch, r, count, arguments);
        if (launch->processes[r] < 0) {
            launch->processes[r] = 0;
            end_others(launch);
            return complain("cannot start a process for each rank", EXIT_ENVIRONMENT);
        }
    }
    return 0;
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_ENVIRONMENT;
}

/* Ranks wait for each other: without one of them the others would do so for ever. */
static int wait_for_all(struct launch *launch)
{
    int code = 0, status;

    for (size_t left = launch->world; left > 0; left--) {
        pid_t ended = wait(&status);
        size_t rank = 0;

        while (rank < launch->world && launch->processes[rank] != ended)
            rank++;
        if (rank == launch->world)
            continue;
        launch->processes[rank] = 0;
        if (code_of(status) == 0 || code != 0)
            continue;
        code = code_of(status);
        fprintf(stderr, "dsocr_profile: rank %zu ended with %s %d, so the others were ended\n",
                rank, WIFEXITED(status) ? "exit code" : "signal",
                WIFEXITED(status) ? code : WTERMSIG(status));
        end_others(launch);
    }
    return code;
}

/* Beside the run of the first rank. */
static int write_merged(llmperf_profile *merged, const char *first)
{
    char folder[GROUP_NOTE_BYTES + 16], file[GROUP_NOTE_BYTES + 32];
    int code;

    snprintf(folder, sizeof(folder), "%s-ranks", first);
    snprintf(file, sizeof(file), "%s/run.llmperf", folder);
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return complain("cannot make a folder for the ranks' runs together", EXIT_ENVIRONMENT);
    if (llmperf_profile_save(merged, file) < 0 || llmperf_artifacts_write(merged, folder) < 0)
        return complain(llmperf_last_error(), EXIT_ENVIRONMENT);
    if ((code = report_ledger(merged)) == 0)
        puts(folder);
    return code;
}

static int merge(struct group *group, size_t world)
{
    llmperf_profile *profiles[GROUP_RANKS_MAX] = { NULL }, *merged = NULL;
    int code = 0;

    for (size_t r = 0; r < world && code == 0; r++) {
        printf("rank %zu: %s\n", r, group_note(group, r));
        if (llmperf_profile_open(group_note(group, r), &profiles[r]) < 0)
            code = complain(llmperf_last_error(), EXIT_ENVIRONMENT);
    }
    if (code == 0 &&
        llmperf_profile_merge((const llmperf_profile *const *)profiles, world, &merged) < 0)
        code = complain(llmperf_last_error(), EXIT_ENVIRONMENT);
    if (code == 0)
        code = write_merged(merged, group_note(group, 0));
    llmperf_profile_free(merged);
    for (size_t r = 0; r < world; r++)
        llmperf_profile_free(profiles[r]);
    return code;
}

int ranks_launch(const struct options *options, int count, char **arguments)
{
    struct launch launch = { options->ranks, group_create(options->ranks), { 0 } };
    struct group *group = launch.descriptor < 0 ? NULL : group_join(launch.descriptor, 0);
    int code;

    if (!group)
        return complain("no shared memory for the ranks", EXIT_ENVIRONMENT);
    code = start_all(&launch, count, arguments);
    if (code == 0)
        code = wait_for_all(&launch);
    if (code == 0 && !options->no_session)
        code = merge(group, options->ranks);
    group_leave(group);
    close(launch.descriptor);
    return code;
}

int ranks_join(struct run *run, struct ops *ops)
{
    const struct options *options = run->options;

    if (options->ranks == 1)
        return 0;
    run->group = group_join(options->group, options->rank);
    if (!run->group)
        return complain("group= is what --ranks gives to the processes that it starts", EXIT_USAGE);
    if (options->replicas || ops->join(ops, run->group) < 0) {
        printf("ranks: %zu copies of the model that share nothing%s%s\n", options->ranks,
               options->replicas ? "" : ": ", ops->error);
        ops->error[0] = '\0';
        run->engine_options.rank = run->engine_options.world = 0;
    } else {
        printf("ranks: %zu, each with a share of every layer\n", options->ranks);
    }
    return 0;
}

void ranks_meet(const struct run *run)
{
    if (run->group)
        group_meet(run->group);
}

void ranks_report(const struct run *run, const char *folder)
{
    if (run->group)
        snprintf(group_note(run->group, run->options->rank), GROUP_NOTE_BYTES, "%s", folder);
}

void ranks_leave(struct run *run)
{
    group_leave(run->group);
    run->group = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "configured.h"
#include "folder.h"
#include "json.h"
#include "llmperf/sys.h"
#include "new_run.h"
#include "terminal.h"

#define RUN_FILE "run.llmperf"
/* Artifacts are at most this deep: regions/<label>/report.md. */
#define DEPTH_MAX 4

struct run_list {
    int runs, damaged;
    size_t prefix; /* length of the folder that is listed */
    json_t *rows;  /* of --format json; NULL: text */
};

#define HEAD_COLUMNS "%-26s %-18s %-18s %-14s %-15s %s"
#define RUN_COLUMNS  "%-26s %-18.18s %-18.18s %-14.14s %-15s "

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

/* "H200 x2" */
static void gpu_text(char *out, size_t size, const llmperf_about *about)
{
    const char *name = or_dash(about->gpu);

    if (strncmp(name, "NVIDIA ", 7) == 0)
        name += 7;
    if (about->gpus > 1)
        snprintf(out, size, "%.9s x%" PRIu64, name, about->gpus);
    else
        snprintf(out, size, "%s", name);
}

struct speed {
    double tokens_per_s; /* of decode steps, else of the first stage that counts tokens */
    double time_ms;      /* of a call of the first stage */
};

static struct speed speed_of(const llmperf_profile *profile)
{
    size_t count = llmperf_profile_count(profile, LLMPERF_ROWS_STAGES);
    llmperf_stage stage = LLMPERF_STAGE_INIT;
    double time_ms = NAN, decode = NAN, other = NAN;

    for (size_t i = 0; i < count && llmperf_profile_stage(profile, i, &stage) == LLMPERF_OK; i++) {
        if (strstr(stage.label, "@decode_step") && isnan(decode))
            decode = stage.tokens_per_s;
        other = isnan(other) ? stage.tokens_per_s : other;
        time_ms = isnan(time_ms) ? stage.time_ms : time_ms;
    }
    return (struct speed){ isnan(decode) ? other : decode, time_ms };
}

static void speed_text(char *out, size_t size, struct speed speed)
{
    snprintf(out, size, "-");
    if (!isnan(speed.tokens_per_s))
        snprintf(out, size, "%.4g tokens/s", speed.tokens_per_s);
    else if (!isnan(speed.time_ms))
        snprintf(out, size, "%.4g ms", speed.time_ms);
}

static json_t *row_of(const llmperf_profile *profile, const llmperf_about *about, const char *path,
                      const char *verdict)
{
    struct speed speed = speed_of(profile);

    return json_object_of(
        "path:t run_id:t created_at:t tier:t program:t model:t dtype:t gpu:t "
        "gpus:u batch:d tokens_per_s:d time_ms:d verdict:t error:t",
        path, llmperf_profile_fact(profile, "run_id"), llmperf_profile_fact(profile, "created_at"),
        llmperf_profile_fact(profile, "tier"), about->program, about->model, about->dtype,
        about->gpu, about->gpus, about->batch, speed.tokens_per_s, speed.time_ms, verdict, NULL);
}

static void print_profile(const char *path, const char *name, const llmperf_profile *profile,
                          const struct run_list *list)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_about about = LLMPERF_ABOUT_INIT;
    const char *verdict;
    char gpu[40], speed[40];

    llmperf_profile_ledger(profile, &ledger);
    llmperf_profile_about(profile, &about);
    verdict = llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict);
    if (list->rows) {
        json_array_append_new(list->rows, row_of(profile, &about, path, verdict));
        return;
    }
    gpu_text(gpu, sizeof(gpu), &about);
    speed_text(speed, sizeof(speed), speed_of(profile));
    print_part(RUN_COLUMNS, name, or_dash(about.program), or_dash(about.model), gpu, speed);
    terminal_print_word(verdict);
    print("\n");
}

static void print_unreadable(const char *path, const char *name, const struct run_list *list)
{
    if (list->rows)
        json_array_append_new(list->rows, json_object_of("path:t verdict:t error:t", path, NULL,
                                                         llmperf_last_error()));
    else
        print_line("%-26s unreadable: %s", name, llmperf_last_error());
}

static void print_one_run(const char *path, const char *name, struct run_list *list)
{
    llmperf_profile *profile;

    if (list->runs++ == 0 && !list->rows)
        print_line(HEAD_COLUMNS, "RUN", "PROGRAM", "MODEL", "GPU", "SPEED", "VERDICT");
    if (llmperf_profile_open(path, &profile) < 0) {
        print_unreadable(path, name, list);
        list->damaged++;
        return;
    }
    print_profile(path, name, profile, list);
    llmperf_profile_free(profile);
}

/* A run below the folder of its job is named relative to the listed folder, any other by its path.
 */
static void print_below(const char *path, const char *job, struct run_list *list)
{
    bool below = strncmp(path, job, strlen(job)) == 0 && path[strlen(job)] == '/';

    print_one_run(path, below ? path + list->prefix : path, list);
}

static void print_processes(const char *path, struct run_list *list)
{
    llmperf_job *job;
    const char *run;

    if (llmperf_job_find(path, &job) < 0)
        return;
    for (size_t i = 0; (run = llmperf_job_run(job, i)); i++)
        if (strcmp(run, path) != 0)
            print_below(run, path, list);
    llmperf_job_free(job);
}

static void print_job(const char *path, struct run_list *list);

static void print_repeat(const char *path, const char *name, void *user)
{
    if (strncmp(name, "repeat-", strlen("repeat-")) == 0 && folder_is_kind(path, S_IFDIR))
        print_job(path, user);
}

/* A run, the merged run of its job and the runs of the processes, wherever they are; the same for
 * each repeat of a job. */
static void print_job(const char *path, struct run_list *list)
{
    char merged[FOLDER_PATH_BYTES];

    if (holds_run(path))
        print_one_run(path, path + list->prefix, list);
    if (folder_join(merged, path, "merged") && holds_run(merged))
        print_below(merged, path, list);
    print_processes(path, list);
    folder_each(path, print_repeat, list);
}

static void print_run(const char *path, const char *name, void *user)
{
    struct run_list *list = user;

    list->prefix = strlen(path) - strlen(name);
    if (folder_is_kind(path, S_IFDIR))
        print_job(path, list);
}

struct file_list {
    const char *root;
    int depth;
    uint64_t bytes;
    json_t *rows; /* as in run_list */
};

static void print_file(const char *path, const char *name, void *user)
{
    struct file_list *list = user;
    const char *below = path + strlen(list->root) + 1;
    struct stat info;

    (void)name;
    if (stat(path, &info) < 0)
        return;
    if (S_ISDIR(info.st_mode) && list->depth < DEPTH_MAX) {
        list->depth++;
        folder_each(path, print_file, list);
        list->depth--;
    } else if (S_ISREG(info.st_mode)) {
        if (list->rows)
            json_array_append_new(list->rows,
                                  json_object_of("path:t bytes:u", below, (uint64_t)info.st_size));
        else
            print_line("%12" PRIu64 "  %s", (uint64_t)info.st_size, below);
        list->bytes += (uint64_t)info.st_size;
    }
}

static int list_files(const char *run, bool json)
{
    struct file_list list = { run, 0, 0, json ? json_array() : NULL };

    if (json) {
        folder_each(run, print_file, &list);
        return json_output(json_object_of("schema_version:i run:t bytes:u files:o", 1, run,
                                          list.bytes, list.rows));
    }
    print("%12s  %s\n", "BYTES", "FILE");
    folder_each(run, print_file, &list);
    print("%12" PRIu64 "  in total\n", list.bytes);
    return EXIT_FINE;
}

/* Folder of a run that was given as its run.llmperf. */
static void cut_run_file(char *path)
{
    char *slash = strrchr(path, '/');

    if (!folder_is_kind(path, S_IFREG) || strcmp(slash ? slash + 1 : path, RUN_FILE) != 0)
        return;
    if (slash)
        *slash = '\0';
    else
        snprintf(path, FOLDER_PATH_BYTES, ".");
}

static int list_folder(const struct command *command, char *folder, bool json)
{
    struct run_list list = { 0, 0, 0, NULL };
    int code = EXIT_FINE;

    cut_run_file(folder);
    folder_cut_slashes(folder);
    if (holds_run(folder))
        return list_files(folder, json);
    list.prefix = strlen(folder) + 1;
    list.rows = json ? json_array() : NULL;
    print_job(folder, &list);
    if (list.runs == 0 && folder_each(folder, print_run, &list) < 0) {
        json_decref(list.rows);
        return fail_usage(command, "cannot read folder %s: %s", folder, strerror(errno));
    }
    if (json)
        code =
            json_output(json_object_of("schema_version:i folder:t runs:o", 1, folder, list.rows));
    else if (list.runs == 0)
        print("no runs found in %s\n", folder);
    return code == EXIT_FINE && list.damaged > 0 ? EXIT_CHECK_FAILED : code;
}

static int run(const struct command *command, int argc, char **argv)
{
    char folder[FOLDER_PATH_BYTES];
    struct words words;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count > 1)
        return fail_usage(command, "expected one folder or run");
    if ((status = configured_folder(&words, argv[1], folder)) != EXIT_FINE)
        return status;
    return list_folder(command, folder, choice_of(command, &words, 0));
}

static const struct option options[] = {
    OPTION("--format", NULL, "text|json", "text", "text or JSON"), OPTIONS_END
};

const struct command command_list = {
    .name = "list",
    .summary = "list the runs in a folder, or the files of a run",
    .operands = "[DIR|RUN] [options]",
    .about =
        "Lists the runs in a folder (default: $LLMPERF_OUT, artifacts.dir, runs) with their "
        "program, model, GPU, tokens/s of decode (or the time of the first stage) and verdict, "
        "including those of processes and repeats of a job; or the files of one run with "
        "their sizes.",
    .options = options,
    .after = "The JSON has schema conf/schema/list.schema.json.",
    .run = run,
};

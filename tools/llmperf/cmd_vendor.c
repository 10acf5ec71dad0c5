/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf nsys`, `llmperf ncu`, `llmperf deep`: run NVIDIA's profilers with options from the
 * configuration, and import their results as one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "command.h"
#include "folder.h"
#include "new_run.h"
#include "run.h"
#include "vendor.h"

#define RESULTS_MOST 32

/* The request, and the results so far. */
struct vendor_job {
    const struct command *command;
    struct configured configured;
    const char **program;
    size_t program_count;
    bool dry_run;
    char program_path[RUN_PATH_BYTES];
    char created_at[32];
    char *versions[3]; /* by LLMPERF_TOOL_…, as far as they ran */
    char run_id[128], run_dir[VENDOR_PATH_BYTES - 64];
    char results[RESULTS_MOST][VENDOR_PATH_BYTES];
    size_t result_count;
    bool both;
    size_t printed; /* tools in a dry run */
};

static const char *const names[] = { NULL, "nsys", "ncu" };

/* Options */

static bool is_replay(const char *word)
{
    return strcmp(word, "kernel") == 0 || strcmp(word, "application") == 0 ||
           strcmp(word, "range") == 0 || strcmp(word, "app-range") == 0;
}

/* "range replay" before the overrides selects the mode of ncu. */
static int take_words(struct vendor_job *job, int count, char **words)
{
    static char mode[64];
    int i = 0;

    if (count >= 2 && strcmp(job->command->name, "nsys") != 0 && is_replay(words[0]) &&
        strcmp(words[1], "replay") == 0) {
        snprintf(mode, sizeof(mode), "++pipeline.ncu.ncu_cli.replay_mode=%s", words[0]);
        if (!configured_add(&job->configured, mode))
            return EXIT_USAGE;
        i = 2;
    }
    for (; i < count; i++) {
        if (!strchr(words[i], '=') && words[i][0] != '~')
            return fail_usage(job->command, "\"%s\": expected KEY=VALUE; put -- before the program",
                              words[i]);
        if (!configured_add(&job->configured, words[i]))
            return EXIT_USAGE;
    }
    return EXIT_FINE;
}

static int name_run(struct vendor_job *job)
{
    const char *out = configured_text(&job->configured, "artifacts.dir", "runs");
    time_t now = time(NULL);
    int code = new_run_name(job->command, &job->configured, job->run_id, sizeof(job->run_id));
    struct tm utc;

    strftime(job->created_at, sizeof(job->created_at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (code == EXIT_FINE && snprintf(job->run_dir, sizeof(job->run_dir), "%s/%s", out,
                                      job->run_id) >= (int)sizeof(job->run_dir))
        return fail_usage(job->command, "%s is too long", out);
    return code;
}

static int compose(struct vendor_job *job)
{
    int status = configured_compose(&job->configured);
    const char *mode = configured_text(&job->configured, "run.mode", "deep");

    if (status == EXIT_FINE && (strcmp(mode, "light") == 0 || strcmp(mode, "regions") == 0))
        return fail_usage(job->command,
                          "run.mode=%s: nsys and ncu measure each kernel that they see; remove it, "
                          "or use llmperf run --tier %s",
                          mode, mode);
    return status == EXIT_FINE ? name_run(job) : status;
}

static int check_job(struct vendor_job *job)
{
    char path[VENDOR_PATH_BYTES];

    if (job->dry_run)
        return EXIT_FINE;
    if (!run_check_program(job->program[0], job->program_path))
        return EXIT_USAGE;
    job->program[0] = job->program_path;
    snprintf(path, sizeof(path), "%s/run.llmperf", job->run_dir);
    if (vendor_has_file(path))
        return fail_usage(job->command, "%s already contains a run", job->run_dir);
    return EXIT_FINE;
}

/* One tool */

static void keep_result(struct vendor_job *job, const char *path)
{
    if (vendor_has_file(path) && job->result_count < RESULTS_MOST)
        snprintf(job->results[job->result_count++], VENDOR_PATH_BYTES, "%s", path);
}

/* The report of ncu has all digits, its table two decimals. The table is used if the report cannot
 * be read. */
static void keep_report(struct vendor_job *job, const char *folder)
{
    char path[VENDOR_PATH_BYTES];
    uint32_t format;

    if (snprintf(path, sizeof(path), "%s/run.ncu-rep", folder) < (int)sizeof(path) &&
        vendor_has_file(path) && llmperf_format_detect(path, &format) == 0 &&
        format == LLMPERF_FORMAT_NCU_REPORT)
        keep_result(job, path);
}

/* The export of nsys contains more than its tables: if there is one, the tables are kept but not
 * read. */
static void keep_results(struct vendor_job *job, uint32_t tool, const llmperf_commands *commands)
{
    bool exported = false;

    for (size_t i = 0; i < llmperf_commands_count(commands); i++) {
        const char *step = llmperf_commands_step(commands, i);
        const char *output = llmperf_commands_output(commands, i);
        bool profile = strcmp(step, "profile") == 0;

        if ((profile && tool == LLMPERF_TOOL_NSYS) || (exported && strcmp(step, "stats") == 0))
            continue;
        keep_result(job, output);
        exported |= strcmp(step, "export") == 0 && vendor_has_file(output);
    }
}

static int print_commands(struct vendor_job *job, const llmperf_commands *commands)
{
    char *text;
    int status = llmperf_commands_json(commands, &text);

    if (status < 0)
        return fail_status(status);
    print("%s%.*s", job->printed++ ? ",\n" : job->both ? "[\n" : "", (int)strlen(text) - 1, text);
    llmperf_text_free(text);
    return EXIT_FINE;
}

static int run_commands(struct vendor_job *job, uint32_t tool, const llmperf_commands *commands,
                        const char *version, const char *folder)
{
    const char *note;
    bool made;

    for (size_t i = 0; (note = llmperf_commands_note(commands, i)); i++)
        fprintf(stderr, "llmperf: %s\n", note);
    if (!folder_make_own(folder))
        return EXIT_ENVIRONMENT;
    chmod(folder, 0700); /* files of the tools hold the command line and the environment */
    made = vendor_run(commands, names[tool], version, folder);
    if (tool == LLMPERF_TOOL_NCU && !vendor_check_ncu(llmperf_commands_output(commands, 0)))
        return EXIT_ENVIRONMENT;
    if (tool == LLMPERF_TOOL_NCU)
        keep_report(job, folder);
    keep_results(job, tool, commands);
    return made ? EXIT_FINE : EXIT_ENVIRONMENT;
}

/* @return exit code; EXIT_ENVIRONMENT: the tool gave no result */
static int use_tool(struct vendor_job *job, uint32_t tool, const llmperf_profile *profile)
{
    llmperf_tool_request request = LLMPERF_TOOL_REQUEST_INIT;
    char folder[VENDOR_PATH_BYTES], *path = NULL, *version = NULL;
    llmperf_commands *commands = NULL;
    int code = EXIT_FINE, status;

    status = llmperf_tool_find(tool, &path, &version);
    if (status < 0 && !job->dry_run) {
        fprintf(stderr, "llmperf: %s\n", llmperf_last_error());
        return EXIT_ENVIRONMENT;
    }
    snprintf(folder, sizeof(folder), "%s/%s", job->run_dir, names[tool]);
    request.tool = tool;
    request.path = path;
    request.version = version;
    request.folder = folder;
    request.program = job->program[0];
    request.arguments = job->program + 1;
    request.argument_count = job->program_count - 1;
    if ((status = llmperf_commands_build(job->configured.config, &request, profile, &commands)) < 0)
        code = fail_status(status);
    else if (job->dry_run)
        code = print_commands(job, commands);
    else
        code = run_commands(job, tool, commands, version, folder);
    llmperf_commands_free(commands);
    llmperf_text_free(path);
    llmperf_text_free(job->versions[tool]);
    job->versions[tool] = version;
    return code;
}

/* The run */

/* Of the results so far; the last one describes the machine, too. */
static llmperf_profile *import(const struct vendor_job *job, bool last, int *status_out)
{
    llmperf_import_options options = LLMPERF_IMPORT_OPTIONS_INIT;
    const char *paths[RESULTS_MOST];
    llmperf_profile *profile = NULL;

    for (size_t i = 0; i < job->result_count; i++)
        paths[i] = job->results[i];
    options.run_id = job->run_id;
    options.config = job->configured.text;
    options.flags = last ? LLMPERF_IMPORT_THIS_MACHINE : 0;
    options.created_at = job->created_at;
    options.nsys_version = job->versions[LLMPERF_TOOL_NSYS];
    options.ncu_version = job->versions[LLMPERF_TOOL_NCU];
    options.program = job->program;
    *status_out = llmperf_import(paths, job->result_count, &options, &profile);
    return profile;
}

/* Import the files of the tools. Files that cannot be read are kept. */
static int conclude(const struct vendor_job *job)
{
    char path[VENDOR_PATH_BYTES];
    llmperf_profile *profile;
    int status;

    profile = import(job, true, &status);
    snprintf(path, sizeof(path), "%s/run.llmperf", job->run_dir);
    if (status == 0 && configured_apply(profile, NULL) != EXIT_FINE)
        fprintf(stderr, "llmperf: the run has no FLOPs and bytes from the model\n");
    if (status == 0 && (status = llmperf_profile_save(profile, path)) == 0)
        status = llmperf_artifacts_write(profile, job->run_dir);
    llmperf_profile_free(profile);
    if (status < 0)
        fprintf(stderr, "llmperf: %s; the tools' files are in %s\n", llmperf_last_error(),
                job->run_dir);
    print("%s\n", job->run_dir);
    return status < 0 ? EXIT_CHECK_FAILED : EXIT_FINE;
}

static int use_one(struct vendor_job *job)
{
    uint32_t tool = strcmp(job->command->name, "nsys") == 0 ? LLMPERF_TOOL_NSYS : LLMPERF_TOOL_NCU;
    int code = use_tool(job, tool, NULL);

    if (job->dry_run && code == EXIT_FINE)
        print("\n");
    return job->dry_run || code != EXIT_FINE ? code : conclude(job);
}

/* nsys finds the longest kernels, ncu measures them; the result of one tool alone is useful too. */
static int use_both(struct vendor_job *job)
{
    llmperf_profile *profile = NULL;
    int first, second, status;

    job->both = true;
    first = use_tool(job, LLMPERF_TOOL_NSYS, NULL);
    if (first == EXIT_USAGE)
        return first;
    if (!job->dry_run && job->result_count > 0)
        profile = import(job, false, &status);
    if (!job->dry_run && !profile)
        fprintf(stderr,
                "llmperf: without a result of nsys, ncu measures every launch in run.stage; "
                "pipeline.ncu.ncu_cli.launch_count=N limits them\n");
    second = use_tool(job, LLMPERF_TOOL_NCU, profile);
    llmperf_profile_free(profile);
    if (job->dry_run) {
        print("\n]\n");
        return second;
    }
    if (job->result_count == 0) {
        fprintf(
            stderr,
            "llmperf: neither nsys nor ncu produced a result; llmperf run works without them\n");
        return second == EXIT_USAGE ? second : EXIT_ENVIRONMENT;
    }
    return conclude(job);
}

static int find_program(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return argc;
}

static const struct option options[] = { OPTION("--dry-run", NULL, NULL, NULL,
                                                "print the commands as JSON without running them"),
                                         OPTIONS_END };

static int use_tools(struct vendor_job *job, int argc, char **argv)
{
    int split = find_program(argc, argv), code;
    struct words words;

    if ((code = parse_words(job->command, split, argv, &words)) >= 0)
        return code;
    job->dry_run = words.values[0];
    job->program = (const char **)(argv + split + 1);
    job->program_count = split + 1 < argc ? (size_t)(argc - split - 1) : 0;
    if (job->program_count == 0)
        return fail_usage(job->command, "expected a program after --");
    if ((code = take_words(job, words.count, argv + 1)) != EXIT_FINE)
        return code;
    if (!configured_take(&job->configured, &words))
        return EXIT_ENVIRONMENT;
    if ((code = compose(job)) != EXIT_FINE || (code = check_job(job)) != EXIT_FINE)
        return code;
    return strcmp(job->command->name, "deep") == 0 ? use_both(job) : use_one(job);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct vendor_job *job = calloc(1, sizeof(*job));
    int code;

    if (!job)
        return EXIT_ENVIRONMENT;
    job->command = command;
    code = use_tools(job, argc, argv);
    configured_clear(&job->configured);
    for (size_t i = 0; i < sizeof(job->versions) / sizeof(job->versions[0]); i++)
        llmperf_text_free(job->versions[i]);
    free(job);
    return code;
}

#define EXAMPLES                                                                                   \
    "KEY=VALUE changes the configuration: run.stage=LLM@decode_all, "                              \
    "profiling/ncu@pipeline.ncu=ncu.hopper ..."

const struct command command_nsys = {
    .name = "nsys",
    .summary = "profile with NVIDIA Nsight Systems",
    .operands = "[options] [KEY=VALUE...] -- PROGRAM ARG...",
    .about = "Profiles a program with nsys, exports the result and imports it as a run.",
    .options = options,
    .after = EXAMPLES,
    .run = run,
};

const struct command command_ncu = {
    .name = "ncu",
    .summary = "profile with NVIDIA Nsight Compute",
    .operands = "[MODE replay] [options] [KEY=VALUE...] -- PROGRAM ARG...",
    .about = "Profiles a program with ncu and imports the result as a run. MODE is kernel, "
             "application, range or app-range; the range modes need run.stage or "
             "pipeline.ncu.ncu_cli.nvtx.include.",
    .options = options,
    .after = EXAMPLES,
    .run = run,
};

const struct command command_deep = {
    .name = "deep",
    .summary = "profile with nsys, then ncu for the longest kernels",
    .operands = "[options] [KEY=VALUE...] -- PROGRAM ARG...",
    .about = "Profiles a program with nsys, then the run.top_n_kernels kernels with the largest "
             "total time in run.stage with ncu, and imports both as one run. If one of the tools "
             "is missing, the other is used alone.",
    .options = options,
    .after = EXAMPLES,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf validate`: check one JSON file, or all JSON files of a run, against their schemas. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "folder.h"
#include "llmperf/sys.h"

/* Runs of processes keep theirs at processes/ID/regions/NAME.json. */
#define DEPTH_MAX 6

/* One line, on standard error for a file that fails. @return exit code */
static int check_file(const char *path, const char *schema)
{
    int status = llmperf_validate(path, schema), code = EXIT_FINE;

    if (status == LLMPERF_OK)
        print("%s: ok\n", path);
    else
        code = fail_status(status);
    return status == LLMPERF_EFORMAT ? EXIT_CHECK_FAILED : code;
}

/* The path to the value being checked, and the errors found so far. */
struct walk {
    int depth, files, code;
    bool regions; /* all of the JSON files are region reports */
};

static bool has_schema(const char *name, bool regions)
{
    const char *dot = strrchr(name, '.');

    return strcmp(name, "metrics.json") == 0 || strcmp(name, "repeats.json") == 0 ||
           (regions && dot && strcmp(dot, ".json") == 0);
}

static void visit(const char *path, const char *name, void *user)
{
    struct walk *walk = user;
    bool regions = walk->regions;

    if (folder_is_kind(path, S_IFDIR) && walk->depth < DEPTH_MAX) {
        walk->depth++;
        walk->regions = regions || strcmp(name, "regions") == 0;
        folder_each(path, visit, walk);
        walk->regions = regions;
        walk->depth--;
    } else if (folder_is_kind(path, S_IFREG) && has_schema(name, regions)) {
        int code = check_file(path, NULL);

        walk->files++;
        walk->code = code > walk->code ? code : walk->code;
    }
}

static int check_folder(const struct command *command, const char *folder)
{
    const char *slash = strrchr(folder, '/');
    bool regions = strcmp(slash ? slash + 1 : folder, "regions") == 0;
    struct walk walk = { 0, 0, EXIT_FINE, regions };

    if (folder_each(folder, visit, &walk) < 0)
        return fail_usage(command, "cannot read folder %s: %s", folder, strerror(errno));
    if (walk.files == 0)
        return fail_usage(command, "%s contains no metrics.json, repeats.json or regions/", folder);
    return walk.code;
}

static const struct option options[] = {
    OPTION("--schema", NULL, "FILE", NULL,
           "default: the schema of metrics.json, region reports, or the JSON of compare, repeats, "
           "list, top or doctor, chosen by content"),
    OPTIONS_END
};

static int run(const struct command *command, int argc, char **argv)
{
    const char *schema;
    struct words words;
    int status;
    bool folder;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count != 1)
        return fail_usage(command, "expected one file, or a run directory");
    schema = words.values[0];
    folder_cut_slashes(argv[1]);
    folder = folder_is_kind(argv[1], S_IFDIR);
    if (folder && schema)
        return fail_usage(command, "--schema needs a file, but %s is a folder", argv[1]);
    if (!schema && !llmperf_config_dir()) {
        fprintf(stderr, "llmperf: %s\n", llmperf_last_error());
        return EXIT_ENVIRONMENT;
    }
    return folder ? check_folder(command, argv[1]) : check_file(argv[1], schema);
}

const struct command command_validate = {
    .name = "validate",
    .summary = "check JSON files against their schemas",
    .operands = "FILE|FOLDER [--schema FILE]",
    .about = "Checks a JSON file against its JSON Schema (2020-12), or every JSON file of a run: "
             "metrics.json, region reports and repeats.json, including those of its processes. "
             "Prints one line per file. Exit code 1: a file is invalid; its line says where.",
    .options = options,
    .run = run,
};

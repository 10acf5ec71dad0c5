/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/merged_folders.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/store/merged_runs.h"
#include "lib/profile/profile.h"

#define LEVELS      3   /* parent folders tried when a run and its merged run were moved together */
#define NAMES_BYTES 600 /* names in a note, of runs without a trace */

static size_t count_words(const char *text)
{
    size_t count = 0;

    for (; text && *(text += strspn(text, " ")); text += strcspn(text, " "))
        count++;
    return count;
}

/* Finding */

static bool is_run(const char *folder, const char *key)
{
    struct lp_text line = { NULL, 0, 0, false };
    llmperf_profile *profile = NULL;
    char *path = lp_path_join(folder, "run.llmperf");
    bool is = false;

    if (path && lp_path_exists(path) && llmperf_profile_open(path, &profile) == 0) {
        lp_merged_runs_lines(profile, &line);
        is = !line.failed && strncmp(line.bytes, key, LP_RUN_KEY_DIGITS) == 0;
    }
    llmperf_profile_free(profile);
    lp_text_clear(&line);
    free(path);
    return is;
}

/* The last `names` components of a path. */
static const char *last_names(const char *path, int names)
{
    const char *at = path + strlen(path);

    while (at > path && names > 0)
        names -= *--at == '/';
    return *at == '/' ? at + 1 : at;
}

/* The runs may have been moved together with the merged run: look for the end of the old path
 * beside `folder` and its parents. */
static char *find_beside(const char *folder, const char *kept_in, const char *key)
{
    char *base = lp_text_copy(folder), *slash;

    for (int up = 0; base && up < LEVELS; up++) {
        for (int names = 1; names <= LEVELS; names++) {
            char *path = lp_path_join(base, last_names(kept_in, names));

            if (path && is_run(path, key)) {
                free(base);
                return path;
            }
            free(path);
        }
        if ((slash = strrchr(base, '/')))
            *slash = '\0';
        if (!*base)
            break;
    }
    free(base);
    return NULL;
}

static char *find_folder(const char *folder, const char *kept_in, const char *key)
{
    if (!*kept_in)
        return NULL;
    return is_run(kept_in, key) ? lp_text_copy(kept_in) : find_beside(folder, kept_in, key);
}

/* Reading the facts of a merged profile */

/* Copy a line without its end and advance. */
static char *take_line(const char **text)
{
    size_t length = strcspn(*text, "\n");
    char *line = strndup(*text, length);

    *text += length + ((*text)[length] == '\n');
    return line;
}

/* The process id, if `count` is 1; else 0. Skips `count` words. */
static uint32_t take_process(const char **words, size_t count)
{
    uint32_t process_id = 0;

    for (size_t i = 0; i < count; i++) {
        *words += strspn(*words, " ");
        process_id = (uint32_t)strtoul(*words, NULL, 10);
        *words += strcspn(*words, " ");
    }
    return count == 1 ? process_id : 0;
}

/* Takes ownership of both lines. */
static int add_part(struct lp_parts *parts, char *run, char *kept, const char **words,
                    const char *folder)
{
    struct lp_part part = { .process_id = 0 };
    char *name = kept ? strchr(kept, ' ') : NULL;
    bool fine = run && strlen(run) > LP_RUN_KEY_DIGITS;
    int status = 0;

    if (fine) {
        part.processes = kept ? strtoul(kept, NULL, 10) : 1;
        part.process_id = take_process(words, part.processes);
        part.name = lp_text_copy(run + LP_RUN_KEY_DIGITS + 1);
        part.kept_in = name && name[1] ? lp_text_copy(name + 1) : NULL;
        part.folder = part.kept_in ? find_folder(folder, part.kept_in, run) : NULL;
        status = part.name ? lp_vector_push(&parts->items, part) : lp_out_of_memory();
    }
    free(run);
    free(kept);
    return status;
}

int lp_parts_find(struct lp_parts *parts, const llmperf_profile *merged, const char *folder)
{
    const char *runs = llmperf_profile_fact(merged, LP_MERGED_RUNS_FACT);
    const char *folders = llmperf_profile_fact(merged, LP_MERGED_FOLDERS_FACT);
    const char *words = llmperf_profile_fact(merged, "process_id");
    int status = 0;

    words = words ? words : "";
    while (runs && *runs && status == 0) {
        char *run = take_line(&runs);

        status =
            add_part(parts, run, folders && *folders ? take_line(&folders) : NULL, &words, folder);
    }
    return status;
}

void lp_parts_clear(struct lp_parts *parts)
{
    for (size_t i = 0; i < parts->items.count; i++) {
        free(parts->items.items[i].name);
        free(parts->items.items[i].folder);
        free(parts->items.items[i].kept_in);
    }
    lp_vector_clear(&parts->items);
}

/* Telling */

struct traces {
    struct lp_text lines, without; /* without: names */
    size_t with, runs;
};

static bool keeps_trace(const char *folder)
{
    char *path = lp_path_join(folder, LP_TRACE_FILE);
    bool keeps = path && lp_path_exists(path);

    free(path);
    return keeps;
}

static void add_run(struct traces *traces, const char *name, size_t words, const char *folder)
{
    bool known = folder && !strchr(folder, '\n'), keeps = known && keeps_trace(folder);

    lp_text_printf(&traces->lines, "%zu %s\n", words, known ? folder : "");
    traces->runs++;
    traces->with += keeps;
    if (!keeps)
        lp_text_printf(&traces->without, "%s%s", traces->without.length ? ", " : "",
                       name ? name : "?");
}

static int add_merged(struct traces *traces, const llmperf_profile *profile)
{
    struct lp_parts parts = { { NULL, 0, 0 } };
    int status = lp_parts_find(&parts, profile, lp_profile_folder(profile));

    for (size_t i = 0; i < parts.items.count && status == 0; i++) {
        const struct lp_part *part = &parts.items.items[i];

        add_run(traces, part->name, part->processes, part->folder ? part->folder : part->kept_in);
    }
    lp_parts_clear(&parts);
    return status;
}

static int add_facts(const struct traces *traces, llmperf_profile *out)
{
    struct lp_text count = { NULL, 0, 0, false };
    int status;

    lp_text_printf(&count, "%zu of %zu", traces->with, traces->runs);
    if (traces->lines.failed || traces->without.failed || count.failed)
        status = lp_out_of_memory();
    else if ((status = lp_profile_set_fact(out, LP_MERGED_FOLDERS_FACT, traces->lines.bytes)) ==
                 0 &&
             traces->with > 0)
        status = lp_profile_set_fact(out, LP_MERGED_TRACES_FACT, count.bytes);
    if (status == 0 && traces->with > 0 && traces->with < traces->runs)
        status = lp_profile_note(out, "merged: %s runs have a trace; these have none: %.*s%s",
                                 count.bytes, NAMES_BYTES, traces->without.bytes,
                                 traces->without.length > NAMES_BYTES ? " …" : "");
    lp_text_clear(&count);
    return status;
}

int lp_merged_folders_set(const llmperf_profile *const *profiles, size_t count,
                          llmperf_profile *out)
{
    struct traces traces = { .with = 0 };
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++) {
        size_t words = count_words(llmperf_profile_fact(profiles[i], "process_id"));

        if (llmperf_profile_fact(profiles[i], LP_MERGED_RUNS_FACT))
            status = add_merged(&traces, profiles[i]);
        else
            add_run(&traces, llmperf_profile_fact(profiles[i], "run_id"), words ? words : 1,
                    profiles[i]->folder);
    }
    if (status == 0)
        status = add_facts(&traces, out);
    lp_text_clear(&traces.lines);
    lp_text_clear(&traces.without);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/export/sources.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "llmperf/sys/run.h"
#include "llmperf/sys/vendor.h"
#include "lib/store/merge_gpus.h"

/* Takes ownership of `path`. */
static int add_recording(struct lp_trace_sources *sources, char *path, uint32_t process_id)
{
    const struct lp_trace_source source = { path, process_id };

    if (path && lp_vector_push(&sources->items, source) == 0)
        return 0;
    free(path);
    return lp_out_of_memory();
}

/* 1: the run has a trace; 0: it has none. */
static int add_run(struct lp_trace_sources *sources, const char *run, uint32_t process_id)
{
    char *path = lp_path_join(run, LP_TRACE_FILE);
    int status;

    if (path && !lp_path_exists(path)) {
        free(path);
        return 0;
    }
    status = add_recording(sources, path, process_id);
    return status < 0 ? status : 1;
}

static void name_run(struct lp_text *names, const char *name, const char *kept_in)
{
    lp_text_printf(names, "%s%s", names->length ? ", " : "", name);
    if (kept_in)
        lp_text_printf(names, " (%s)", kept_in);
}

static int add_part(struct lp_trace_sources *sources, const struct lp_part *part)
{
    int status = part->folder ? add_run(sources, part->folder, part->process_id) : 0;

    if (status != 0)
        return status < 0 ? status : 0;
    sources->missing++;
    if (part->kept_in && !part->folder)
        name_run(&sources->lost, part->name, part->kept_in);
    else
        name_run(&sources->without, part->name, NULL);
    return 0;
}

/* The merged run of a job is in the job's folder. The traces are those of its processes. */
static int add_job_of(struct lp_trace_sources *sources, const char *merged)
{
    char *folder = lp_text_copy(merged), *name = folder ? strrchr(folder, '/') : NULL;
    llmperf_job *job = NULL;
    int status = 0;

    if (name && name > folder && strcmp(name, "/merged") == 0) {
        *name = '\0';
        status = llmperf_job_find(folder, &job);
    }
    for (size_t i = 0; job && status >= 0 && i < llmperf_job_run_count(job); i++)
        status = add_run(sources, llmperf_job_run(job, i), 0);
    llmperf_job_free(job);
    free(folder);
    return status < 0 ? status : 0;
}

/* The merged runs have the traces. */
static int add_parts(struct lp_trace_sources *sources, const llmperf_profile *merged)
{
    struct lp_parts parts = { { NULL, 0, 0 } };
    const char *folder = lp_profile_folder(merged);
    bool known = false;
    int status = lp_parts_find(&parts, merged, folder);

    for (size_t i = 0; i < parts.items.count && status == 0; i++) {
        known |= parts.items.items[i].kept_in != NULL;
        status = add_part(sources, &parts.items.items[i]);
    }
    if (status == 0 && !known) {
        sources->missing = 0;
        status = add_job_of(sources, folder);
    } else if (status == 0) {
        status = lp_merged_gpus_add(&sources->gpus, llmperf_profile_fact(merged, "env"));
    }
    lp_parts_clear(&parts);
    return status;
}

static int no_trace(const struct lp_trace_sources *sources, const char *run)
{
    if (sources->lost.length > 0)
        return lp_error(
            LLMPERF_ENOENT,
            "%s has no trace of its own, and the runs it was merged from that have one were moved "
            "or deleted: %.600s; put them back, or next to it under the same names",
            run, sources->lost.bytes);
    return lp_error(LLMPERF_ENOENT,
                    "%s has totals but no trace: profile with llmperf run --trace (keep_trace), or "
                    "export the recording (.llmrec) that the run was made from",
                    run);
}

static int find_in_run(struct lp_trace_sources *sources, const char *run)
{
    int status = add_run(sources, run, 0);
    llmperf_profile *profile = NULL;

    if (status == 0 && (status = llmperf_profile_open(run, &profile)) == 0)
        status = add_parts(sources, profile);
    llmperf_profile_free(profile);
    if (status >= 0 && (sources->lost.failed || sources->without.failed))
        status = lp_out_of_memory();
    if (status < 0 || sources->items.count > 0)
        return status < 0 ? status : 0;
    return no_trace(sources, run);
}

static int find_beside(struct lp_trace_sources *sources, const char *run_file)
{
    const char *slash = strrchr(run_file, '/');
    char *folder = slash ? strndup(run_file, (size_t)(slash - run_file) + 1) : lp_text_copy(".");
    int status = folder ? find_in_run(sources, folder) : lp_out_of_memory();

    free(folder);
    return status;
}

int lp_trace_sources_find(struct lp_trace_sources *sources, const char *source)
{
    uint32_t format;
    int status;

    if (lp_path_is_folder(source))
        return find_in_run(sources, source);
    if ((status = llmperf_format_detect(source, &format)) < 0)
        return status;
    if (format == LLMPERF_FORMAT_RUN)
        return find_beside(sources, source);
    if (format != LLMPERF_FORMAT_RECORDING)
        return lp_error(LLMPERF_EFORMAT,
                        "%s is neither a run nor a recording; give a run directory, run.llmperf or "
                        "a .llmrec file",
                        source);
    return add_recording(sources, lp_text_copy(source), 0);
}

void lp_trace_sources_clear(struct lp_trace_sources *sources)
{
    for (size_t i = 0; i < sources->items.count; i++)
        free(sources->items.items[i].recording);
    lp_vector_clear(&sources->items);
    lp_merged_gpus_clear(&sources->gpus);
    lp_text_clear(&sources->without);
    lp_text_clear(&sources->lost);
}

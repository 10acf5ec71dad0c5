/* SPDX-License-Identifier: Apache-2.0 */
/* Imports files of several tools as one run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/sha256.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/record/paths.h"
#include "lib/vendor/import/provenance.h"
#include "lib/vendor/ncu/ncu.h"
#include "lib/vendor/nsys/csv.h"
#include "llmperf/api.h"

#define FLAGS (uint32_t)(LLMPERF_IMPORT_EXACT_NAMES | LLMPERF_IMPORT_THIS_MACHINE)

struct import {
    const char *const *paths;
    size_t count;
    uint32_t *formats;
    uint32_t flags;
    llmperf_import_options options;
    char report_fault[512]; /* why reports of ncu were replaced by its tables; "": they were not */
    LP_VECTOR(llmperf_profile *) parts; /* of nsys */
    struct lp_nsys_csv tables;
    struct lp_ncu ncu;
    bool has_sqlite, has_tables, has_ncu, has_report, has_pages; /* ncu: one of the last two */
};

static void clear(struct import *import)
{
    for (size_t i = 0; i < import->parts.count; i++)
        llmperf_profile_free(import->parts.items[i]);
    lp_vector_clear(&import->parts);
    lp_nsys_csv_clear(&import->tables);
    lp_ncu_clear(&import->ncu);
    free(import->formats);
}

/* Why a file cannot be imported, and what to do. */
static int refuse(const char *path, uint32_t format)
{
    if (lp_path_is_folder(path))
        return lp_error(LLMPERF_EINVAL,
                        "%s is a folder; give nsys or ncu files. To combine runs use llmperf merge",
                        path);
    switch (format) {
    case LLMPERF_FORMAT_RUN:
        return lp_error(LLMPERF_EINVAL, "%s is already a run; to combine runs use llmperf merge",
                        path);
    case LLMPERF_FORMAT_RECORDING:
    case LLMPERF_FORMAT_TRACE:
        return lp_error(LLMPERF_EINVAL,
                        "%s is a recording or a trace; replay it with llmperf import or as a "
                        "session's device source",
                        path);
    case LLMPERF_FORMAT_NSYS_REPORT:
        return lp_error(LLMPERF_EFORMAT,
                        "%s is an Nsight Systems report, which only nsys can read; convert it: "
                        "nsys export --type=sqlite --force-overwrite=true FILE",
                        path);
    default:
        return lp_error(LLMPERF_EFORMAT,
                        "%s has no known format; give an nsys SQLite export, CSV of nsys stats, an "
                        "ncu report (.ncu-rep), ncu CSV output, a recording (.llmrec), or a trace "
                        "of torch.profiler (JSON)",
                        path);
    }
}

static int detect_all(struct import *import)
{
    int status = 0;

    import->formats = calloc(import->count, sizeof(*import->formats));
    if (!import->formats)
        return lp_out_of_memory();
    for (size_t i = 0; i < import->count && status == 0; i++) {
        uint32_t *format = &import->formats[i];

        if ((status = llmperf_format_detect(import->paths[i], format)) < 0)
            break;
        import->has_sqlite |= *format == LLMPERF_FORMAT_NSYS_SQLITE;
        import->has_tables |= *format == LLMPERF_FORMAT_NSYS_CSV;
        import->has_report |= *format == LLMPERF_FORMAT_NCU_REPORT;
        import->has_pages |= *format == LLMPERF_FORMAT_NCU_CSV;
        import->has_ncu = import->has_report || import->has_pages;
        if (*format != LLMPERF_FORMAT_NSYS_SQLITE && *format != LLMPERF_FORMAT_NSYS_CSV &&
            *format != LLMPERF_FORMAT_NCU_REPORT && *format != LLMPERF_FORMAT_NCU_CSV)
            status = refuse(import->paths[i], *format);
    }
    return status;
}

static int add_part(struct import *import, llmperf_profile *part, const char *path)
{
    const char *slash = strrchr(path, '/');
    int status = lp_profile_set_fact(part, "imported_from", slash ? slash + 1 : path);

    if (status == 0)
        status = lp_vector_push(&import->parts, part);
    if (status < 0)
        llmperf_profile_free(part);
    return status;
}

static int read_sqlite(struct import *import, const char *path)
{
    llmperf_profile *part;
    int status = lp_nsys_sqlite_read(path, import->flags, &part);

    return status < 0 ? status : add_part(import, part, path);
}

/* A damaged report is skipped if its tables can be read. */
static int read_reports(struct import *import)
{
    int status = 0;

    for (size_t i = 0; i < import->count && status == 0; i++)
        if (import->formats[i] == LLMPERF_FORMAT_NCU_REPORT)
            status = lp_ncu_report_read(&import->ncu, import->paths[i]);
    if (status == LLMPERF_EFORMAT && import->has_pages && import->ncu.results == 0) {
        snprintf(import->report_fault, sizeof(import->report_fault), "%s", llmperf_last_error());
        import->has_report = false;
        status = 0;
    }
    return status;
}

/* Tables of ncu's page raw come first: values on other pages are rounded. With a report tables are
 * skipped, since it has all digits and full names. */
static int read_ncu(struct import *import)
{
    int status = read_reports(import);

    if (status < 0 || import->has_report)
        return status;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < import->count && status == 0; i++) {
            bool raw;

            if (import->formats[i] != LLMPERF_FORMAT_NCU_CSV)
                continue;
            if ((status = lp_ncu_is_raw(import->paths[i], &raw)) == 0 && raw == (round == 0))
                status = lp_ncu_read(&import->ncu, import->paths[i]);
        }
    if (status == 0 && import->has_ncu && import->ncu.results == 0)
        status = lp_error(LLMPERF_EFORMAT, "the ncu files hold no results: no kernel matched ncu's "
                                           "filters, or ncu was stopped early");
    return status;
}

static int read_files(struct import *import)
{
    llmperf_profile *part;
    int status = 0;

    for (size_t i = 0; i < import->count && status == 0; i++) {
        if (import->formats[i] == LLMPERF_FORMAT_NSYS_SQLITE)
            status = read_sqlite(import, import->paths[i]);
        else if (import->formats[i] == LLMPERF_FORMAT_NSYS_CSV)
            status = lp_nsys_csv_read(&import->tables, import->paths[i]);
    }
    if (status == 0 && import->has_tables && !import->has_sqlite &&
        (status = lp_nsys_csv_profile(&import->tables, &part)) == 0)
        status = add_part(import, part, "tables of nsys stats");
    return status < 0 ? status : read_ncu(import);
}

static int make_base(struct import *import, llmperf_profile **profile_out)
{
    if (import->parts.count > 1)
        return llmperf_profile_merge((const llmperf_profile *const *)import->parts.items,
                                     import->parts.count, profile_out);
    if (import->parts.count == 1)
        *profile_out = import->parts.items[0];
    else
        *profile_out = lp_profile_create();
    import->parts.count = 0;
    return *profile_out ? 0 : lp_out_of_memory();
}

static int set_facts(const struct import *import, llmperf_profile *profile)
{
    bool nsys = import->has_sqlite || import->has_tables;
    struct lp_text names = { NULL, 0, 0, false };
    int status;

    for (size_t i = 0; i < import->count; i++) {
        const char *slash = strrchr(import->paths[i], '/');

        lp_text_printf(&names, "%s%s", i ? " " : "", slash ? slash + 1 : import->paths[i]);
    }
    status = names.failed ? lp_out_of_memory()
                          : lp_profile_set_fact(profile, "imported_from", names.bytes);
    lp_text_clear(&names);
    if (status < 0 ||
        (status = lp_profile_set_fact(profile, "run_id", import->options.run_id)) < 0 ||
        (status = lp_profile_set_fact(profile, "llmperf_version", LLMPERF_VERSION_STRING)) < 0)
        return status;
    if (import->has_sqlite && import->has_tables &&
        (status = lp_profile_note(
             profile, "nsys stats tables were skipped: the SQLite export contains the same data")) <
            0)
        return status;
    if (*import->report_fault &&
        (status = lp_profile_note(profile, "%s", import->report_fault)) < 0)
        return status;
    if (import->has_report && import->has_pages &&
        (status = lp_profile_note(
             profile, "ncu tables were skipped: the ncu report contains the same data")) < 0)
        return status;
    return nsys && import->has_ncu ? lp_profile_set_fact(profile, "source", "nsys, ncu") : 0;
}

/* A manifest that cannot be read is skipped. */
static int set_inputs(const llmperf_config *config, llmperf_profile *profile)
{
    const char *manifest = NULL;
    char *inputs = NULL;
    int status = lp_config_take_text(config, "inputs.manifest", &manifest);

    if (status < 0 || !manifest)
        return status;
    status = lp_inputs_read(manifest, &inputs);
    if (status == 0)
        status = lp_profile_set_fact(profile, "inputs", inputs);
    else if (status != LLMPERF_ENOMEM)
        status = lp_profile_note(profile, "%s", llmperf_last_error());
    free(inputs);
    return status;
}

/* In the format that a session writes. */
static int set_config(const char *text, llmperf_profile *profile)
{
    llmperf_config *config = NULL;
    const char *dtype = NULL;
    char hex[65];
    int status = text ? llmperf_config_parse(text, &config) : 0;

    if (!text || status < 0)
        return status;
    lp_sha256(text, strlen(text), hex);
    if ((status = lp_config_take_text(config, "infer.dtype", &dtype)) == 0 &&
        (status = lp_config_take_text(config, "run.dtype", &dtype)) == 0 &&
        (status = set_inputs(config, profile)) == 0 &&
        (status = lp_profile_set_fact(profile, "config", text)) == 0 &&
        (status = lp_profile_set_fact(profile, "config_fingerprint", hex)) == 0)
        status = lp_profile_set_fact(profile, "dtype", dtype);
    llmperf_config_free(config);
    return status;
}

static int make_profile(struct import *import, llmperf_profile **profile_out)
{
    bool nsys = import->parts.count > 0;
    llmperf_profile *profile;
    int status = make_base(import, &profile);

    if (status < 0)
        return status;
    if ((import->has_ncu && (status = lp_ncu_emit(&import->ncu, profile, nsys)) < 0) ||
        (status = set_facts(import, profile)) < 0 ||
        (status = set_config(import->options.config, profile)) < 0 ||
        (status = lp_import_provenance(&import->options, profile)) < 0 ||
        (status = lp_profile_finish(profile)) < 0) {
        llmperf_profile_free(profile);
        return status;
    }
    *profile_out = profile;
    return 0;
}

/* Callers with an older header have fewer options. */
static int take_options(struct import *import, const llmperf_import_options *options)
{
    llmperf_import_options full = LLMPERF_IMPORT_OPTIONS_INIT;

    if (lp_sized_in(&full, options, sizeof(full)) < 0)
        return LLMPERF_EINVAL;
    if (full.flags & ~FLAGS)
        return lp_error(LLMPERF_EINVAL,
                        "unknown flags 0x%" PRIx32 "; use LLMPERF_IMPORT_EXACT_NAMES or "
                        "LLMPERF_IMPORT_THIS_MACHINE",
                        full.flags & ~FLAGS);
    import->flags = import->ncu.flags = full.flags;
    import->tables.flags = import->tables.timeline.flags = full.flags;
    import->options = full;
    return 0;
}

int llmperf_import(const char *const *paths, size_t count, const llmperf_import_options *options,
                   llmperf_profile **profile_out)
{
    struct import import = { .paths = paths, .count = count };
    int status;

    if (!paths || count == 0 || !profile_out)
        return lp_error(LLMPERF_EINVAL, "paths and profile_out are required");
    lp_path_use();
    if ((status = take_options(&import, options)) == 0 && (status = detect_all(&import)) == 0 &&
        (status = read_files(&import)) == 0)
        status = make_profile(&import, profile_out);
    clear(&import);
    lp_path_end_use();
    return status;
}

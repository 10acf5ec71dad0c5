/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/output/format/documents.h"
#include "lib/output/run_dir/region_report.h"
#include "lib/base/text.h"
#include "llmperf/sys/check.h"

static int env_json(const llmperf_profile *profile, struct lp_text *out)
{
    const char *env = llmperf_profile_fact(profile, "env");

    lp_text_puts(out, env ? env : "{}\n");
    return 0;
}

static const struct document {
    uint32_t id;
    const char *file;
    int (*write)(const llmperf_profile *profile, struct lp_text *out);
} documents[] = {
    { LLMPERF_DOCUMENT_REPORT_MD, "report.md", lp_report_md },
    { LLMPERF_DOCUMENT_STAGES_MD, "stages.md", lp_stages_md },
    { LLMPERF_DOCUMENT_KERNELS_MD, "kernels.md", lp_kernels_md },
    { LLMPERF_DOCUMENT_OPERATORS_MD, "operators.md", lp_operators_md },
    { LLMPERF_DOCUMENT_METRICS_JSON, "metrics.json", lp_metrics_json },
    { LLMPERF_DOCUMENT_ENV_JSON, "env.json", env_json },
    { LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD, "stakeholder_summary.md", lp_summary_md },
    { LLMPERF_DOCUMENT_ASSUMPTIONS_MD, "assumptions.md", lp_assumptions_md },
    { LLMPERF_DOCUMENT_REPORT_HTML, "report.html", lp_report_html },
    { LLMPERF_DOCUMENT_INPUTS_YAML, "inputs.yaml", lp_inputs_yaml },
    { LLMPERF_DOCUMENT_PROMETHEUS, NULL, lp_prometheus }, /* NULL: only on request */
    { LLMPERF_DOCUMENT_ROWS_CSV, NULL, lp_rows_csv },
    { LLMPERF_DOCUMENT_ROWS_JSONL, NULL, lp_rows_jsonl },
};
#define DOCUMENTS (sizeof(documents) / sizeof(documents[0]))

int llmperf_document_text(const llmperf_profile *profile, uint32_t document, char **text_out)
{
    struct lp_text text = { NULL, 0, 0, false };
    int status;

    if (!profile || !text_out)
        return lp_error(LLMPERF_EINVAL, "profile and text_out are required");
    for (size_t i = 0; i < DOCUMENTS; i++) {
        if (documents[i].id != document)
            continue;
        if ((status = documents[i].write(profile, &text)) == 0)
            return lp_text_take(&text, text_out);
        lp_text_clear(&text);
        return status;
    }
    return lp_error(LLMPERF_EINVAL,
                    "unknown document %u; see LLMPERF_DOCUMENT_ in llmperf/output.h", document);
}

/* Devices, pipes and links are written to: a rename would replace them. */
static bool is_special(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* The run's database is never replaced by a document. */
static bool is_database(const char *path)
{
    char head[6] = "";
    FILE *file = fopen(path, "re");
    bool read = file && fread(head, sizeof(head), 1, file) == 1;

    if (file)
        fclose(file);
    return read && memcmp(head, "SQLite", sizeof(head)) == 0;
}

static int write_in_place(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    bool written = file && fputs(text, file) >= 0;

    if (file && fclose(file) != 0)
        written = false;
    return written ? 0 : lp_error(LLMPERF_EIO, "cannot write %s: %s", path, strerror(errno));
}

int llmperf_text_write(const char *text, const char *path)
{
    if (!text || !path)
        return lp_error(LLMPERF_EINVAL, "text and path are required");
    if (is_special(path))
        return write_in_place(path, text);
    if (is_database(path))
        return lp_error(LLMPERF_EINVAL, "%s is a run or another database; choose another file name",
                        path);
    return lp_file_write(path, text, strlen(text));
}

int llmperf_document_write(const llmperf_profile *profile, uint32_t document, const char *path)
{
    char *text = NULL;
    int status;

    if (!path)
        return lp_error(LLMPERF_EINVAL, "path is required");
    if ((status = llmperf_document_text(profile, document, &text)) < 0)
        return status;
    status = llmperf_text_write(text, path);
    free(text);
    return status;
}

/* Replaces whatever has that name in the run's folder, even a link. */
static int write_text(const char *text, const char *run_dir, const char *file)
{
    char *path = lp_path_join(run_dir, file);
    int status =
        path ? lp_file_write(path, text, strlen(text)) : lp_error(LLMPERF_ENOMEM, "out of memory");

    free(path);
    return status;
}

/* Files that could not be written, and the error of the first. */
struct lacking {
    struct lp_text files;
    char reason[512];
    int status;
};

static void note(struct lacking *lacking, const char *file, int status)
{
    if (status == 0)
        return;
    if (lacking->status == 0)
        snprintf(lacking->reason, sizeof(lacking->reason), "%s", llmperf_last_error());
    lp_text_printf(&lacking->files, "%s%s", lacking->status == 0 ? "" : ", ", file);
    lacking->status = lacking->status == 0 ? status : lacking->status;
}

static int write_document(const llmperf_profile *profile, const char *run_dir,
                          const struct document *document)
{
    char *text = NULL;
    int status = llmperf_document_text(profile, document->id, &text);

    if (status < 0)
        return status;
    status = write_text(text, run_dir, document->file);
    free(text);
    return status;
}

/* Continue after a failure: there may be space for smaller files. */
int llmperf_artifacts_write(const llmperf_profile *profile, const char *run_dir)
{
    struct lacking lacking = { { NULL, 0, 0, false }, "", 0 };
    const char *config = profile ? llmperf_profile_fact(profile, "config") : NULL;
    int status;

    if (!profile || !run_dir)
        return lp_error(LLMPERF_EINVAL, "profile and run_dir are required");
    for (size_t i = 0; i < DOCUMENTS; i++) {
        lp_progress("writing reports", i, DOCUMENTS);
        if (documents[i].file)
            note(&lacking, documents[i].file, write_document(profile, run_dir, &documents[i]));
    }
    note(&lacking, "config.yaml", config ? write_text(config, run_dir, "config.yaml") : 0);
    note(&lacking, "regions", lp_region_reports_write(profile, run_dir));
    status = lacking.status;
    if (status < 0 && !lacking.files.failed)
        lp_error(status, "files not written to %s: %s (%s)", run_dir, lacking.files.bytes,
                 lacking.reason);
    lp_text_clear(&lacking.files);
    return status;
}

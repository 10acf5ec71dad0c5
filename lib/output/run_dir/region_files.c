/* SPDX-License-Identifier: Apache-2.0 */
/* The folder regions/ of a run: a report for each label, process and device, and one over all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/file.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/output/format/documents.h"
#include "lib/output/run_dir/region_ncu.h"
#include "lib/output/run_dir/region_report.h"
#include "lib/base/text.h"

#define NAME_MOST 96u /* bytes; file systems allow at least 143, and paths include the run's */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("@._-", c) != NULL;
}

/* Names that some systems reserve, or that would be hidden files. */
static bool is_reserved(const char *label)
{
    size_t length = strlen(label);

    return length == 0 || label[0] == '.' || label[0] == '-' || label[length - 1] == '.';
}

void lp_region_folder_name(const char *label, bool twin, struct lp_text *out)
{
    bool changed = twin || is_reserved(label);
    size_t length = 0;

    for (const char *at = label; *at; at++, length++) {
        bool plain = is_plain(*at) && !(at == label && (*at == '.' || *at == '-'));

        changed = changed || !plain || length >= NAME_MOST;
        if (length < NAME_MOST)
            lp_text_add(out, plain ? at : "_", 1);
    }
    /* The hash distinguishes names that became equal. */
    if (changed)
        lp_text_printf(out, "-%08" PRIx64, lp_hash_text(label, strlen(label)) & UINT32_MAX);
}

static int write_text(const char *folder, const char *name, const char *suffix,
                      const struct lp_text *text)
{
    struct lp_text path = { NULL, 0, 0, false };
    int status;

    lp_text_printf(&path, "%s/%s%s", folder, name, suffix);
    status = path.failed || text->failed ? lp_error(LLMPERF_ENOMEM, "out of memory")
                                         : lp_file_write(path.bytes, text->bytes, text->length);
    lp_text_clear(&path);
    return status;
}

/* Write folder/name.md and folder/name.json. */
static int write_report(const struct lp_region_set *set, const struct lp_region_filter *filter,
                        const char *folder, const char *name)
{
    struct lp_text text = { NULL, 0, 0, false };
    int status;

    lp_region_report_json(set, filter, &text);
    if ((status = write_text(folder, name, ".json", &text)) == 0) {
        text.length = 0;
        lp_region_report_md(set, filter, &text);
        status = write_text(folder, name, ".md", &text);
    }
    lp_text_clear(&text);
    return status;
}

/* Does an earlier part have the same label (or process, or device)? */
static bool is_repeated(const struct lp_region_set *set, size_t index, enum lp_region_scope scope,
                        bool by_label)
{
    const llmperf_region_stats *region = &set->parts.items[index].row->stats;

    for (size_t i = 0; i < index; i++) {
        const llmperf_region_stats *other = &set->parts.items[i].row->stats;

        if (by_label                    ? strcmp(other->label, region->label) == 0
            : scope == LP_SCOPE_PROCESS ? other->process_id == region->process_id
                                        : other->device == region->device)
            return true;
    }
    return false;
}

static bool has_twin(const struct lp_region_set *set, const char *label)
{
    for (size_t i = 0; i < set->parts.count; i++) {
        const char *other = set->parts.items[i].row->stats.label;

        if (strcasecmp(other, label) == 0 && strcmp(other, label) != 0)
            return true;
    }
    return false;
}

/* pipeline.ncu.ncu_cli.export.sections of the run's configuration. */
static bool wants_sections(const llmperf_profile *profile)
{
    const char *text = llmperf_profile_fact(profile, "config");
    llmperf_config *config = NULL;
    bool wanted = false;

    if (text && llmperf_config_parse(text, &config) == 0 &&
        lp_config_take_truth(config, "pipeline.ncu.ncu_cli.export.sections", &wanted) < 0)
        wanted = false;
    llmperf_config_free(config);
    return wanted;
}

static int write_sections(const struct lp_region_set *set, const char *label, const char *folder)
{
    struct lp_text text = { NULL, 0, 0, false };
    int status = 0;

    for (size_t i = 0; i < set->parts.count; i++)
        if (strcmp(set->parts.items[i].row->stats.label, label) == 0)
            lp_region_ncu_text(set, &set->parts.items[i].row->stats, &text);
    if (text.length > 0 || text.failed)
        status = write_text(folder, "sections", ".txt", &text);
    lp_text_clear(&text);
    return status;
}

static int write_label(const struct lp_region_set *set, const char *label, const char *folder)
{
    const struct lp_region_filter filter = { LP_SCOPE_AGGREGATE, 0, label };
    struct lp_text path = { NULL, 0, 0, false };
    int status;

    lp_text_printf(&path, "%s/", folder);
    lp_region_folder_name(label, has_twin(set, label), &path);
    status =
        path.failed ? lp_error(LLMPERF_ENOMEM, "out of memory") : lp_folder_make_own(path.bytes);
    if (status == 0)
        status = write_report(set, &filter, path.bytes, "report");
    if (status == 0 && wants_sections(set->findings->profile))
        status = write_sections(set, label, path.bytes);
    lp_text_clear(&path);
    return status;
}

static int write_scope(const struct lp_region_set *set, enum lp_region_scope scope, int64_t id,
                       const char *folder)
{
    const struct lp_region_filter filter = { scope, id, NULL };
    char name[64];

    snprintf(name, sizeof(name), "%s-%" PRId64, scope == LP_SCOPE_PROCESS ? "process" : "device",
             id);
    return write_report(set, &filter, folder, name);
}

static int write_part(const struct lp_region_set *set, size_t index, const char *folder)
{
    const llmperf_region_stats *region = &set->parts.items[index].row->stats;
    int status = 0;

    if (!is_repeated(set, index, LP_SCOPE_AGGREGATE, true))
        status = write_label(set, region->label, folder);
    if (status == 0 && !is_repeated(set, index, LP_SCOPE_PROCESS, false))
        status = write_scope(set, LP_SCOPE_PROCESS, region->process_id, folder);
    if (status == 0 && region->device >= 0 && !is_repeated(set, index, LP_SCOPE_DEVICE, false))
        status = write_scope(set, LP_SCOPE_DEVICE, region->device, folder);
    return status;
}

static int write_all(const struct lp_region_set *set, const char *folder)
{
    const struct lp_region_filter aggregate = { LP_SCOPE_AGGREGATE, 0, NULL };
    int status = lp_folder_make_own(folder);

    for (size_t i = 0; status == 0 && i < set->parts.count; i++)
        status = write_part(set, i, folder);
    /* Without regions the aggregate report says so, even if it was not requested. */
    if (status == 0 && (set->options.aggregate || set->parts.count == 0))
        status = write_report(set, &aggregate, folder, "report");
    return status;
}

int lp_region_reports_write(const llmperf_profile *profile, const char *run_dir)
{
    char *folder = lp_path_join(run_dir, "regions");
    struct lp_region_set set;
    int status;

    if (!folder)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if ((status = lp_region_set_init(&set, profile)) == 0)
        status = write_all(&set, folder);
    lp_region_set_clear(&set);
    free(folder);
    return status;
}

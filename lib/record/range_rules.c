/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/record/paths.h"
#include "lib/record/range_rules.h"
#include "llmperf/sys/config.h"

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static struct lp_range_rules of_data_folder; /* written once */
static struct lp_text problem;

/* A file with an error does not stop the others. */
static int read_file(void *context, const char *path)
{
    if (lp_range_rules_read(context, path) < 0) {
        lp_text_printf(
            &problem, "%s%s",
            problem.length ? "; " : "Rules for NVTX ranges were left out: ", llmperf_last_error());
        lp_log(LLMPERF_LOG_WARN, "%s", llmperf_last_error());
    }
    return 0;
}

static void read_data_folder(void)
{
    const char *data = llmperf_config_dir();
    char *folder = data ? lp_path_join(data, "engines") : NULL;

    if (folder)
        lp_folder_visit_yaml(folder, read_file, &of_data_folder);
    free(folder);
}

const struct lp_range_rules *lp_range_rules(void)
{
    pthread_once(&read_once, read_data_folder);
    return &of_data_folder;
}

const char *lp_range_rules_problem(void)
{
    lp_range_rules();
    return problem.bytes;
}

/* "fusion.12" -> "fusion", "copy_1.2" -> "copy"; "12" remains. */
static struct lp_range_slice fold(struct lp_range_slice value)
{
    for (size_t end = value.length; end > 0; value.length = end) {
        while (end > 0 && value.text[end - 1] >= '0' && value.text[end - 1] <= '9')
            end--;
        if (end == value.length || end < 2 || !strchr("._-", value.text[end - 1]))
            break;
        end--;
    }
    return value;
}

static void write_label(const char *label, const struct lp_range_fields *fields, char *out)
{
    size_t length = 0;

    while (*label && length < LLMPERF_LABEL_BYTES) {
        struct lp_range_slice part = { label, strcspn(label, "{") };

        if (*label == '{') {
            size_t name = strcspn(label + 1, ":}");

            part = *lp_range_field(fields, label + 1, name);
            part = label[1 + name] == ':' ? fold(part) : part;
            label += strcspn(label, "}") + 1;
        } else {
            label += part.length;
        }
        if (part.length > LLMPERF_LABEL_BYTES - length)
            part.length = LLMPERF_LABEL_BYTES - length;
        memcpy(out + length, part.text, part.length);
        length += part.length;
    }
    out[length] = '\0';
}

/* 0: the name does not say. */
static uint64_t sum_of(const char *sum, const struct lp_range_fields *fields)
{
    uint64_t all = 0;

    for (const char *at = sum; at && *at; at += strspn(at, " +")) {
        size_t length = strcspn(at, " +");
        const struct lp_range_slice *value = lp_range_field(fields, at, length);
        uint64_t number = 0;

        for (size_t i = 0; value && i < value->length; i++)
            number = number * 10 + (uint64_t)(value->text[i] - '0');
        if (!value)
            return 0;
        all += number;
        at += length;
    }
    return all;
}

static void read_work(const struct lp_range_rule *rule, const struct lp_range_fields *fields,
                      struct lp_range_work *work)
{
    work->count = 0;
    for (uint32_t i = 0; i < LP_RANGE_AMOUNTS; i++) {
        uint64_t amount = sum_of(rule->sums[i], fields);

        if (amount == 0)
            continue;
        work->quantities[work->count] = LLMPERF_QUANTITY_TOKENS + i;
        work->amounts[work->count++] = amount;
    }
}

bool lp_range_find(const struct lp_range_rules *rules, const char *domain, const char *text,
                   struct lp_range *range_out)
{
    struct lp_range_fields fields;

    if (strcmp(domain, "LLM") == 0)
        return false;
    for (size_t i = 0; i < rules->patterns.count; i++) {
        const struct lp_range_pattern *pattern = &rules->patterns.items[i];
        const struct lp_range_rule *rule = &rules->rules.items[pattern->rule];

        if (strncmp(text, pattern->text, pattern->start) != 0 ||
            (rule->domain && strcmp(rule->domain, domain) != 0) ||
            !lp_range_match(pattern->text, text, &fields))
            continue;
        range_out->rule = rule;
        read_work(rule, &fields, &range_out->work);
        if (rule->label)
            write_label(rule->label, &fields, range_out->label);
        return true;
    }
    return false;
}

bool lp_range_find_label(const char *label, struct lp_range *range_out)
{
    const char *at = strchr(label, '@');
    char domain[LLMPERF_LABEL_BYTES];

    if (!at || (size_t)(at - label) >= sizeof(domain))
        return false;
    memcpy(domain, label, (size_t)(at - label));
    domain[at - label] = '\0';
    return lp_range_find(lp_range_rules(), domain, at + 1, range_out);
}

bool lp_range_is_part(const struct lp_range *range, uint32_t parent)
{
    return !range->rule->label ||
           (range->rule->once && strcmp(lp_path_get(parent)->label, range->label) == 0);
}

/* Regions that the program marks are the stages, and ranges of its engine are inside them, except
 * in decode_all, whose steps they are. */
uint32_t lp_range_intern(const struct lp_range *range, uint32_t parent)
{
    uint32_t stage = lp_path_stage(parent), kind = range->rule->kind, node;

    if (stage != LP_PATH_ROOT && strcmp(lp_path_get(stage)->label, "LLM@decode_all") != 0)
        kind = LLMPERF_REGION_OPERATOR;
    node = lp_path_intern_as(parent, range->label, kind);
    if (range->rule->kind == LLMPERF_REGION_STAGE)
        lp_path_set_kind(node, kind);
    return node;
}

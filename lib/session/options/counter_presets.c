/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/options/counter_presets.h"
#include "llmperf/sys/config.h"
#include "llmperf/sys/counters.h"

#define FOLDER "profiling/counters"

struct llmperf_counters {
    struct lp_counter_set *set;
    size_t count;
};

/* "a.sum,b.sum"; "pm:a.avg,b.avg" samples them. */
static int split_metrics(const char *text, struct lp_counter_preset **preset_out)
{
    bool pm = strncmp(text, "pm:", 3) == 0;
    char *copy = lp_text_copy(text + (pm ? 3 : 0)), *rest = NULL;
    const char *metrics[64];
    size_t count = 0;
    int status;

    if (!copy)
        return lp_out_of_memory();
    for (char *metric = strtok_r(copy, ",", &rest); metric; metric = strtok_r(NULL, ",", &rest))
        if (count < LP_LENGTH(metrics))
            metrics[count++] = metric;
    status =
        lp_counter_preset_raw(metrics, count, pm ? LP_COUNTER_PM : LP_COUNTER_RANGE, preset_out);
    free(copy);
    return status;
}

static int read_by_name(const char *name, struct lp_counter_preset **preset_out)
{
    struct lp_text path = { NULL, 0, 0, false };
    const char *folder = llmperf_config_dir();
    int status;

    if (!folder)
        return LLMPERF_ENOENT; /* it said why */
    lp_text_printf(&path, "%s/" FOLDER "/%s.yaml", folder, name);
    if (path.failed)
        status = lp_out_of_memory();
    else if (!lp_path_exists(path.bytes))
        status =
            lp_error(LLMPERF_ENOENT,
                     "unknown counter preset: %s is not in %s/" FOLDER "; see llmperf counters",
                     name, folder);
    else
        status = lp_counter_preset_read(path.bytes, name, preset_out);
    lp_text_clear(&path);
    return status;
}

int lp_counter_preset_find(const char *name, struct lp_counter_preset **preset_out)
{
    if (strstr(name, "__"))
        return split_metrics(name, preset_out);
    if (strchr(name, '/'))
        return lp_counter_preset_read(name, name, preset_out);
    return read_by_name(name, preset_out);
}

static int add_preset(void *context, const char *path)
{
    const char *name = strrchr(path, '/') + 1;

    lp_text_printf(context, "%.*s\n", (int)(strlen(name) - strlen(".yaml")), name);
    return 0;
}

int llmperf_counters_presets(char **text_out)
{
    struct lp_text text = { NULL, 0, 0, false };
    const char *data = llmperf_config_dir();
    char *folder;
    int status;

    if (!text_out)
        return lp_error(LLMPERF_EINVAL, "text_out is required");
    if (!data)
        return LLMPERF_ENOENT; /* it said why */
    if (!(folder = lp_path_join(data, FOLDER)))
        return lp_out_of_memory();
    status = lp_folder_visit_yaml(folder, add_preset, &text);
    free(folder);
    if (status < 0)
        return status;
    lp_text_puts(&text, "");
    return lp_text_take(&text, text_out);
}

const char *llmperf_counters_chip(size_t index)
{
    const char *const *names;
    size_t count;

    if (lp_counter_chips(&names, &count) < 0)
        return NULL;
    return index < count ? names[index] : NULL;
}

static int wrap(struct lp_counter_set *set, llmperf_counters **counters_out)
{
    llmperf_counters *counters = malloc(sizeof(*counters));

    if (!counters) {
        lp_counter_set_free(set);
        return lp_out_of_memory();
    }
    counters->set = set;
    counters->count = set->columns.count + set->missing.count;
    *counters_out = counters;
    return 0;
}

int llmperf_counters_open(const char *chip, const char *preset, llmperf_counters **counters_out)
{
    struct lp_counter_preset *quantities;
    struct lp_counter_set *set;
    int status;

    if (!chip || !preset || !counters_out)
        return lp_error(LLMPERF_EINVAL, "chip, preset and counters_out are required");
    if ((status = lp_counter_preset_find(preset, &quantities)) < 0)
        return status;
    status = lp_counter_set_open(chip, NULL, quantities, &set);
    lp_counter_preset_free(quantities);
    return status < 0 ? status : wrap(set, counters_out);
}

int llmperf_counters_list(const char *chip, const char *pattern, uint32_t method,
                          llmperf_counters **counters_out)
{
    struct lp_counter_set *set;
    int status;

    if (!chip || !pattern || !counters_out)
        return lp_error(LLMPERF_EINVAL, "chip, pattern and counters_out are required");
    if (method > LLMPERF_COUNTERS_PM)
        return lp_error(LLMPERF_EINVAL, "unknown method %u; see LLMPERF_COUNTERS_", method);
    status = lp_counter_set_list(
        chip, pattern, method == LLMPERF_COUNTERS_PM ? LP_COUNTER_PM : LP_COUNTER_RANGE, &set);
    return status < 0 ? status : wrap(set, counters_out);
}

size_t llmperf_counters_count(const llmperf_counters *counters)
{
    return counters ? counters->count : 0;
}

static llmperf_counter_info row_of(const struct lp_counter_set *set, size_t index)
{
    llmperf_counter_info row = LLMPERF_COUNTER_INFO_INIT;

    if (index < set->columns.count) {
        const struct lp_counter_column *column = &set->columns.items[index];

        row.quantity = column->quantity;
        row.metric = column->metric;
        row.unit = column->unit;
        row.about = column->about;
    } else {
        row.quantity = set->missing.items[index - set->columns.count].quantity;
        row.reason = set->missing.items[index - set->columns.count].reason;
        row.about = "";
    }
    return row;
}

int llmperf_counters_info(const llmperf_counters *counters, size_t index,
                          llmperf_counter_info *info_out)
{
    llmperf_counter_info row;

    if (!counters)
        return lp_error(LLMPERF_EINVAL, "counters are required");
    if (index >= counters->count)
        return lp_error(LLMPERF_EINVAL, "row %zu of %zu does not exist", index, counters->count);
    row = row_of(counters->set, index);
    return lp_sized_out(info_out, &row, sizeof(row));
}

uint32_t llmperf_counters_passes(const llmperf_counters *counters)
{
    return counters ? (uint32_t)counters->set->passes : 0;
}

uint32_t llmperf_counters_method(const llmperf_counters *counters)
{
    return counters && counters->set->method == LP_COUNTER_PM ? LLMPERF_COUNTERS_PM
                                                              : LLMPERF_COUNTERS_RANGE;
}

void llmperf_counters_free(llmperf_counters *counters)
{
    if (counters)
        lp_counter_set_free(counters->set);
    free(counters);
}

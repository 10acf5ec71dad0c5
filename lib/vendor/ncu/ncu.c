/* SPDX-License-Identifier: Apache-2.0 */
/* Values by target and metric. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/vendor/ncu/ncu.h"
#include "lib/vendor/numbers.h"

#define GPUS_MOST 64
#define TEXT_MOST 256 /* bytes kept of a text value */

void lp_ncu_clear(struct lp_ncu *ncu)
{
    for (size_t i = 0; i < ncu->targets.count; i++)
        lp_vector_clear(&ncu->targets.items[i].durations);
    lp_names_clear(&ncu->texts);
    lp_strings_clear(&ncu->pool);
    lp_vector_clear(&ncu->metrics);
    lp_vector_clear(&ncu->targets);
    lp_vector_clear(&ncu->values);
    lp_vector_clear(&ncu->gpus);
    lp_hashmap_clear(&ncu->metric_rows);
    lp_hashmap_clear(&ncu->target_rows);
    lp_hashmap_clear(&ncu->value_rows);
    lp_hashmap_clear(&ncu->result_rows);
}

uint32_t lp_ncu_target(struct lp_ncu *ncu, uint32_t node, const char *kernel, int32_t device,
                       uint32_t process_id)
{
    struct lp_ncu_target target = {
        .node = node, .name = LP_HASHMAP_NONE, .device = device, .process_id = process_id
    };
    uint64_t place, owner = (uint64_t)(uint32_t)device << 32 | process_id;
    uint32_t row;

    if (kernel && (target.name = lp_names_intern(&ncu->texts, kernel)) == LP_HASHMAP_NONE)
        return LP_HASHMAP_NONE;
    place = (uint64_t)node << 32 | target.name;
    if ((row = lp_hashmap_get(&ncu->target_rows, place, owner)) != LP_HASHMAP_NONE)
        return row;
    row = (uint32_t)ncu->targets.count;
    return lp_vector_push(&ncu->targets, target) == 0 &&
                   lp_hashmap_put(&ncu->target_rows, place, owner, row) == 0
               ? row
               : LP_HASHMAP_NONE;
}

static bool is_metric(const struct lp_ncu_metric *metric, const char *name, const char *base,
                      double factor, const char *group)
{
    return metric->factor == factor && strcmp(metric->name, name) == 0 &&
           strcmp(metric->unit, base) == 0 && lp_text_same(metric->group, group);
}

/* A metric with several units of one base has several rows here; lp_profile_add_metric() merges
 * them. */
uint32_t lp_ncu_metric(struct lp_ncu *ncu, const char *name, const char *unit, const char *group)
{
    struct lp_ncu_metric metric = { .group = NULL };
    const char *base = lp_unit_base(unit, &metric.factor);
    uint64_t hash = lp_hash_text(name, strlen(name)) ^ lp_hash_text(unit, strlen(unit)) * 3 ^
                    (group ? lp_hash_text(group, strlen(group)) * 5 : 0);
    uint64_t twin = 0;
    uint32_t row;

    while ((row = lp_hashmap_get(&ncu->metric_rows, hash, twin)) != LP_HASHMAP_NONE &&
           !is_metric(&ncu->metrics.items[row], name, base, metric.factor, group))
        twin++;
    if (row != LP_HASHMAP_NONE)
        return row;
    metric.name = lp_strings_add(&ncu->pool, name);
    metric.unit = lp_strings_add(&ncu->pool, base);
    metric.group = lp_strings_add(&ncu->pool, group);
    row = (uint32_t)ncu->metrics.count;
    if (!metric.name || !metric.unit || (group && !metric.group) ||
        lp_vector_push(&ncu->metrics, metric) < 0 ||
        lp_hashmap_put(&ncu->metric_rows, hash, twin, row) < 0)
        return LP_HASHMAP_NONE;
    return row;
}

/* A result is identified by process, id, kernel and range. Ids start again in each run, so a second
 * one in the same file is another result, but the first one of the next file is the same result. */
int lp_ncu_result(struct lp_ncu *ncu, uint32_t target, uint64_t id, uint64_t count, bool *again_out)
{
    uint64_t in_file = (uint64_t)ncu->file << 32 | target, seen_key = UINT64_C(1) << 63 | target;
    uint32_t before = lp_hashmap_get(&ncu->result_rows, id, in_file);
    uint64_t occurrence;

    before = before == LP_HASHMAP_NONE ? 0 : before;
    occurrence = id * UINT64_C(0x9e3779b97f4a7c15) + before + 1;
    *again_out = lp_hashmap_get(&ncu->result_rows, occurrence, seen_key) != LP_HASHMAP_NONE;
    if (lp_hashmap_put(&ncu->result_rows, id, in_file, before + 1) < 0 ||
        lp_hashmap_put(&ncu->result_rows, occurrence, seen_key, 1) < 0)
        return LLMPERF_ENOMEM;
    if (*again_out)
        return 0;
    ncu->targets.items[target].results += count;
    ncu->results += count;
    ncu->ranges += ncu->targets.items[target].name == LP_HASHMAP_NONE ? count : 0;
    return 0;
}

int lp_ncu_note_gpu(struct lp_ncu *ncu, int32_t device, int major, int minor)
{
    struct lp_gpu_fact gpu = { .ordinal = device };

    if (device < 0 || ncu->gpus.count >= GPUS_MOST)
        return 0;
    for (size_t i = 0; i < ncu->gpus.count; i++)
        if (ncu->gpus.items[i].ordinal == device)
            return 0;
    if (major > 0) {
        gpu.major = major;
        gpu.minor = minor;
    }
    return lp_vector_push(&ncu->gpus, gpu);
}

struct lp_ncu_value *lp_ncu_value(struct lp_ncu *ncu, uint32_t target, uint32_t metric)
{
    const struct lp_ncu_value fresh = { .target = target,
                                        .metric = metric,
                                        .file = ncu->file,
                                        .text = LP_HASHMAP_NONE,
                                        .min = INFINITY,
                                        .max = -INFINITY };
    uint32_t row = lp_hashmap_get(&ncu->value_rows, target, metric);

    if (row != LP_HASHMAP_NONE)
        return &ncu->values.items[row];
    if (ncu->values.count >= LP_NCU_VALUES_MOST) {
        ncu->left_out++;
        return NULL;
    }
    row = (uint32_t)ncu->values.count;
    return lp_vector_push(&ncu->values, fresh) == 0 &&
                   lp_hashmap_put(&ncu->value_rows, target, metric, row) == 0
               ? &ncu->values.items[row]
               : NULL;
}

static bool is_duration(const char *name, bool *raw_out)
{
    *raw_out = strcmp(name, "gpu__time_duration.sum") == 0;
    return *raw_out || strcmp(name, "Duration") == 0;
}

/* Once for each result: a table may have it under both names. */
static int put_duration(struct lp_ncu *ncu, uint32_t target, const char *name, double ns)
{
    struct lp_ncu_target *at = &ncu->targets.items[target];
    bool raw;

    if (!is_duration(name, &raw) || !(ns >= 0) || ns >= 9e18)
        return 0;
    if (at->duration_file == 0) {
        at->duration_file = ncu->file;
        at->duration_raw = raw;
    }
    return at->duration_file == ncu->file && at->duration_raw == raw
               ? lp_vector_push(&at->durations, (uint64_t)(ns + 0.5))
               : 0;
}

static void put_number(struct lp_ncu_value *value, double number)
{
    double apart;

    if (value->count++ == 0)
        value->first = number;
    apart = number - value->first;
    value->sum += apart;
    value->squares += apart * apart;
    value->min = number < value->min ? number : value->min;
    value->max = number > value->max ? number : value->max;
}

/* "" and "n/a" are no values; other texts are. */
static int put_text(struct lp_ncu *ncu, struct lp_ncu_value *value, const char *word)
{
    char clean[TEXT_MOST];
    uint32_t text;

    if (!*word || strcmp(word, "n/a") == 0 || strcmp(word, "no data") == 0 ||
        strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0 || strcmp(word, "-nan") == 0 ||
        strcmp(word, "-inf") == 0 || value->text == LP_NCU_TEXTS_DIFFER)
        return 0;
    lp_text_sanitise(clean, sizeof(clean), word);
    if ((text = lp_names_intern(&ncu->texts, clean)) == LP_HASHMAP_NONE)
        return lp_out_of_memory();
    if (value->text == LP_HASHMAP_NONE)
        value->text = text;
    else if (value->text != text)
        value->text = LP_NCU_TEXTS_DIFFER;
    return 0;
}

/* Does the result count for this value? A result from an earlier file counted there already. */
static bool takes(const struct lp_ncu *ncu, const struct lp_ncu_value *value, bool again)
{
    return !again || value->file == ncu->file;
}

int lp_ncu_put_text(struct lp_ncu *ncu, struct lp_ncu_value *value, const char *text, bool again)
{
    return takes(ncu, value, again) ? put_text(ncu, value, text) : 0;
}

int lp_ncu_put_number(struct lp_ncu *ncu, struct lp_ncu_value *value, double number, bool again)
{
    const struct lp_ncu_metric *of = &ncu->metrics.items[value->metric];

    if (!takes(ncu, value, again) || !isfinite(number))
        return 0;
    put_number(value, number * of->factor);
    return strcmp(of->unit, "ns") == 0
               ? put_duration(ncu, value->target, of->name, number * of->factor)
               : 0;
}

int lp_ncu_put(struct lp_ncu *ncu, struct lp_ncu_value *value, const struct lp_field *cell,
               bool again)
{
    double number;
    enum lp_number kind = lp_number_parse(cell->text, cell->length, &number);

    if (kind == LP_NUMBER_FINE)
        return lp_ncu_put_number(ncu, value, number, again);
    ncu->commas += kind == LP_NUMBER_COMMA && takes(ncu, value, again);
    return lp_ncu_put_text(ncu, value, cell->text, again);
}

void lp_ncu_put_summary(struct lp_ncu *ncu, struct lp_ncu_value *value, uint64_t count,
                        const double numbers[3])
{
    const struct lp_ncu_metric *metric = &ncu->metrics.items[value->metric];
    double factor = metric->factor, mean = numbers[0] * factor;
    bool raw;

    if (count == 0 || count > UINT32_MAX - value->count)
        return;
    if (value->count == 0)
        value->first = mean;
    value->count += (uint32_t)count;
    value->sum += (mean - value->first) * (double)count;
    value->squares = NAN; /* the variance of single results is not known */
    value->min = fmin(value->min, numbers[1] * factor);
    value->max = fmax(value->max, numbers[2] * factor);
    if (is_duration(metric->name, &raw))
        ncu->targets.items[value->target].summary = (uint32_t)(value - ncu->values.items);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as text, Markdown, CSV and JSON: one table of columns for all of them. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "model/gpu.h"
#include "model/sweep.h"

#define COLUMN(constant, ...) { __VA_ARGS__ },
static const struct column {
    const char *key, *heading;
    enum sweep_need need;
} columns[SWEEP_COLUMNS] = { SWEEP_COLUMNS_OF(COLUMN) };

static bool is_scaled(const struct sweep *sweep)
{
    return !isnan(sweep->decode_efficiency) || !isnan(sweep->prefill_efficiency);
}

static bool is_shown(const struct sweep *sweep, size_t column)
{
    bool shown = columns[column].need == ALWAYS;

    for (size_t i = 0; i < sweep->point_count && columns[column].need == IF_KNOWN; i++)
        shown = shown || !isnan(sweep->points[i].values[column]);
    return shown;
}

static const char *fits_word(const struct sweep_point *point)
{
    return point->fits < 0 ? "unknown" : point->fits ? "yes" : "no";
}

static const char *gpu_of(const struct sweep *sweep, const struct sweep_point *point)
{
    return llmperf_hardware_name(sweep->gpus[point->gpu].hardware);
}

static bool is_known(const struct sweep_point *point)
{
    return !isnan(point->values[SWEEP_TPOT]) && point->bound != LLMPERF_BOUND_UNKNOWN;
}

static const char *bound_word(const struct sweep_point *point)
{
    return is_known(point) ? llmperf_name(LLMPERF_NAME_BOUND, point->bound) : "unknown";
}

/* What the numbers are */

static void print_efficiency(const struct sweep *sweep, const char *before)
{
    const struct sweep_run *run = &sweep->run;
    const struct sweep_measured *decode = &run->decode, *prefill = &run->prefill;

    if (!is_scaled(sweep))
        return;
    if (!run->profile) {
        print("%sscaled: at %.3g %% of the bound, as given\n", before,
              100 * sweep->decode_efficiency);
        return;
    }
    print("%sscaled: at the share of the bound that run %s reached on %s;", before,
          run->id ? run->id : "(unnamed)", run->gpu_name);
    if (!isnan(decode->efficiency))
        print(" decode %.3g %% (%.4g ms at batch %" PRIu64 ", context %" PRIu64 "; bound %.4g ms)",
              100 * decode->efficiency, decode->ms, decode->batch, decode->context,
              decode->bound_ms);
    if (!isnan(prefill->efficiency))
        print("%s prefill %.3g %% (%.4g ms for %" PRIu64 " x %" PRIu64 " tokens; bound %.4g ms)",
              isnan(decode->efficiency) ? "" : ",", 100 * prefill->efficiency, prefill->ms,
              prefill->batch, prefill->prompt, prefill->bound_ms);
    print("; other batches may reach another share\n");
}

static bool has_link(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->tp.count; i++)
        if (sweep->tp.values[i] > 1)
            return true;
    return false;
}

static void print_meaning(const struct sweep *sweep, const char *before)
{
    const struct model_answer *answer = sweep->answer;

    print("%sroofline bounds: no implementation of this work has shorter times or more tokens/s\n",
          before);
    print("%sTTFT: prefill of one prompt of the context length%s, without queueing; TPOT: decode "
          "step of the batch\n",
          before, answer->prefix ? " after the cached prefix" : "");
    if (has_link(sweep))
        print("%stp: all-reduces overlap with the rest and take bytes / link bandwidth, without "
              "latency\n",
              before);
    if (answer->info.experts > 0)
        print("%sexperts: expected number in use per layer, if tokens choose independently and "
              "uniformly\n",
              before);
    if (!isnan(sweep->gpus[0].price))
        print("%sMtokens/price: million output tokens of one GPU for 1 unit of the currency of "
              "--price\n",
              before);
    print("%smemory: weights and KV cache only, compared with the nominal size\n", before);
    print_efficiency(sweep, before);
}

static void print_reasons(const struct sweep *sweep, const char *before)
{
    const char *last = NULL;

    for (size_t i = 0; i < sweep->point_count; i++) {
        const struct sweep_point *point = &sweep->points[i];

        if (point->reason && (!last || strcmp(last, point->reason) != 0))
            print("%s%s: %s\n", before, gpu_of(sweep, point), last = point->reason);
    }
}

/* SLO */

static void print_limits(const struct sweep *sweep)
{
    print("largest batch");
    if (!isnan(sweep->slo_tpot_ms))
        print(" with TPOT up to %.4g ms", sweep->slo_tpot_ms);
    if (!isnan(sweep->slo_ttft_ms))
        print("%s TTFT up to %.4g ms", isnan(sweep->slo_tpot_ms) ? " with" : " and",
              sweep->slo_ttft_ms);
    print(" that fits the memory%s", is_scaled(sweep) ? ", scaled" : ", at the bound");
}

static void print_slo(const struct sweep *sweep, const struct sweep_slo *slo, const char *before,
                      const char *after)
{
    const struct sweep_point *point = &slo->point;

    print("%s%s, tp %" PRIu64 ", context %" PRIu64 ": ", before, gpu_of(sweep, point), point->tp,
          point->context);
    if (point->batch == 0)
        print("none, because of %s%s\n", slo->limit, after);
    else
        print("%" PRIu64 " (TPOT %.4g ms, %.5g tokens/s/GPU), limited by %s%s\n", point->batch,
              point->values[is_scaled(sweep) ? SWEEP_SCALED_TPOT : SWEEP_TPOT],
              point->values[is_scaled(sweep) ? SWEEP_SCALED_RATE : SWEEP_RATE],
              slo->limit ? slo->limit : "nothing up to 2^17", after);
}

/* Text and Markdown */

static bool is_first_of_gpu(const struct sweep *sweep, size_t i)
{
    const struct sweep_point *point = &sweep->points[i];

    return i == 0 || point[-1].gpu != point->gpu || point[-1].tp != point->tp;
}

static void print_gpu(const struct sweep *sweep, const struct sweep_point *point)
{
    const struct sweep_gpu *gpu = &sweep->gpus[point->gpu];

    print("%s", gpu_of(sweep, point));
    if (point->tp > 1)
        print(" x %" PRIu64, point->tp);
    if (!isnan(gpu->memory_gb))
        print(", %.4g GB", gpu->memory_gb);
    if (!isnan(gpu->price))
        print(", %.4g an hour", gpu->price);
    print("; weights %.4g GB%s\n", point->values[SWEEP_WEIGHTS], point->tp > 1 ? " each" : "");
}

static int width_of(const struct column *column)
{
    int length = (int)strlen(column->heading);

    return length < 9 ? 9 : length;
}

static void print_cell(const struct column *column, double value, bool md)
{
    int width = md ? 0 : width_of(column);

    print(" ");
    if (isnan(value))
        print("%*s", width, md ? "–" : "-");
    else
        print("%*.*f", width, fmod(value, 1) > 0 ? model_decimals(value, 4) : 0, value);
    print("%s", md ? " |" : "");
}

static void print_row(const struct sweep *sweep, const struct sweep_point *point, bool md)
{
    print("%s", md ? "|" : " ");
    for (size_t k = 0; k < SWEEP_COLUMNS; k++)
        if (is_shown(sweep, k))
            print_cell(&columns[k], point->values[k], md);
    print(md ? " %s | %s |\n" : "  %-7s %s\n", fits_word(point), bound_word(point));
}

static void print_heading(const struct sweep *sweep, bool md)
{
    print("%s", md ? "|" : " ");
    for (size_t k = 0; k < SWEEP_COLUMNS; k++)
        if (is_shown(sweep, k))
            print(md ? " %*s |" : " %*s", md ? 0 : width_of(&columns[k]), columns[k].heading);
    print(md ? " fits | bound |\n|" : "  %-7s %s\n", "fits", "bound");
    for (size_t k = 0; md && k < SWEEP_COLUMNS; k++)
        if (is_shown(sweep, k))
            print(" ---: |");
    if (md)
        print(" --- | --- |\n");
}

static void print_text(const struct sweep *sweep, bool md)
{
    const struct model_answer *answer = sweep->answer;

    print("%s%s, weights %s, KV cache %s%s\n\n", md ? "# " : "", answer->info.name,
          llmperf_name(LLMPERF_NAME_DTYPE, answer->weight_dtype),
          llmperf_name(LLMPERF_NAME_DTYPE, answer->kv_dtype),
          answer->decode_step.draft_tokens ? ", speculative decoding" : "");
    print_meaning(sweep, md ? "- " : "  ");
    for (size_t i = 0; i < sweep->point_count; i++) {
        if (is_first_of_gpu(sweep, i)) {
            print("\n%s", md ? "## " : "");
            print_gpu(sweep, &sweep->points[i]);
            print("%s", md ? "\n" : "");
            print_heading(sweep, md);
        }
        print_row(sweep, &sweep->points[i], md);
    }
    if (sweep->slo_count > 0) {
        print("\n%s", md ? "## " : "");
        print_limits(sweep);
        print("%s", md ? "\n\n" : "\n");
    }
    for (size_t i = 0; i < sweep->slo_count; i++)
        print_slo(sweep, &sweep->slos[i], md ? "- " : "  ", "");
    print("%s", sweep->points[0].reason ? "\n" : "");
    print_reasons(sweep, md ? "- " : "  ");
}

/* CSV and JSON have all columns */

static void print_csv(const struct sweep *sweep)
{
    print("gpu,tp");
    for (size_t k = 0; k < SWEEP_COLUMNS; k++)
        print(",%s", columns[k].key);
    print(",fits,bound\n");
    for (size_t i = 0; i < sweep->point_count; i++) {
        const struct sweep_point *point = &sweep->points[i];

        print("\"%s\",%" PRIu64, gpu_of(sweep, point), point->tp);
        for (size_t k = 0; k < SWEEP_COLUMNS; k++) {
            if (isnan(point->values[k]))
                print(",");
            else
                print(",%.10g", point->values[k]);
        }
        print(",%s,%s\n", fits_word(point), bound_word(point));
    }
}

static json_t *place_of(const struct sweep *sweep, const struct sweep_point *point, const char *key,
                        const char *why)
{
    json_t *place = json_object_of("gpu:t tp:u", gpu_of(sweep, point), point->tp);

    for (size_t k = 0; k < SWEEP_COLUMNS; k++)
        json_object_set_new(place, columns[k].key, json_double(point->values[k]));
    json_add(place, "fits:o bound:t", point->fits < 0 ? json_null() : json_boolean(point->fits),
             is_known(point) ? bound_word(point) : NULL);
    json_object_set_new(place, key, json_text(why));
    return place;
}

static json_t *measured_of(const struct sweep_measured *measured)
{
    if (isnan(measured->ms))
        return json_null();
    return json_object_of("batch:u context:u new_tokens:u ms:d bound_ms:d efficiency:d",
                          measured->batch, measured->context, measured->prompt, measured->ms,
                          measured->bound_ms, measured->efficiency);
}

static json_t *run_of(const struct sweep_run *run)
{
    if (!run->profile)
        return json_null();
    return json_object_of("run_id:t gpu:t decode:o prefill:o", run->id, run->gpu_name,
                          measured_of(&run->decode), measured_of(&run->prefill));
}

static int print_json(const struct sweep *sweep)
{
    const struct model_answer *answer = sweep->answer;
    json_t *points = json_array(), *slos = json_array();

    for (size_t i = 0; i < sweep->point_count; i++)
        json_array_append_new(
            points, place_of(sweep, &sweep->points[i], "reason", sweep->points[i].reason));
    for (size_t i = 0; i < sweep->slo_count; i++)
        json_array_append_new(
            slos, place_of(sweep, &sweep->slos[i].point, "limit", sweep->slos[i].limit));
    return json_output(
        json_object_of("schema_version:i model:t weight_dtype:t kv_dtype:t decode_efficiency:d "
                       "prefill_efficiency:d run:o points:o slo:o",
                       1, answer->info.name, llmperf_name(LLMPERF_NAME_DTYPE, answer->weight_dtype),
                       llmperf_name(LLMPERF_NAME_DTYPE, answer->kv_dtype), sweep->decode_efficiency,
                       sweep->prefill_efficiency, run_of(&sweep->run), points, slos));
}

int print_sweep(const struct sweep *sweep, enum sweep_format format)
{
    switch (format) {
    case SWEEP_JSON:
        return print_json(sweep);
    case SWEEP_CSV:
        print_csv(sweep);
        break;
    case SWEEP_SVG:
        print_sweep_svg(sweep);
        break;
    default:
        print_text(sweep, format == SWEEP_MD);
    }
    return EXIT_FINE;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/gpu.h"

#define BATCH_MOST   (UINT64_C(1) << 17)
#define CONTEXT_MOST (UINT64_C(1) << 36)
#define TP_MOST      65536

/* Terms: "batch=1..256", "context=1k,4k,16k" */

/* "16", "4k": a number with its end. */
static const char *take_number(const char *text, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return NULL;
    *value = strtoull(text, &end, 10);
    if (*end == 'k') {
        *value = *value > UINT64_MAX / 1024 ? UINT64_MAX : *value * 1024;
        end++;
    }
    return end;
}

/* In order, each value once. */
static bool add_value(struct sweep_axis *axis, uint64_t value, uint64_t most)
{
    size_t at = 0;

    if (value == 0 || value > most || axis->count == SWEEP_VALUES_MOST)
        return false;
    while (at < axis->count && axis->values[at] < value)
        at++;
    if (at < axis->count && axis->values[at] == value)
        return true;
    memmove(&axis->values[at + 1], &axis->values[at], (axis->count++ - at) * sizeof(value));
    axis->values[at] = value;
    return true;
}

/* A range doubles, and has its end. */
static bool add_range(struct sweep_axis *axis, uint64_t first, uint64_t last, uint64_t most)
{
    if (first == 0 || last < first || last > most)
        return false;
    for (uint64_t value = first; value < last; value *= 2)
        if (!add_value(axis, value, most))
            return false;
    return add_value(axis, last, most);
}

static bool take_axis(struct sweep_axis *axis, const char *text, size_t length, uint64_t most)
{
    const char *stop = text + length;
    uint64_t first, last;

    axis->count = 0;
    for (;;) {
        if (!(text = take_number(text, &first)))
            return false;
        last = first;
        if (text + 2 < stop && strncmp(text, "..", 2) == 0 &&
            !(text = take_number(text + 2, &last)))
            return false;
        if (!add_range(axis, first, last, most))
            return false;
        if (text == stop)
            return true;
        if (*text++ != ',')
            return false;
    }
}

static int take_terms(struct sweep *sweep, const char *terms)
{
    const struct {
        const char *name;
        struct sweep_axis *axis;
        uint64_t most;
    } axes[] = { { "batch=", &sweep->batch, BATCH_MOST },
                 { "context=", &sweep->context, CONTEXT_MOST },
                 { "tp=", &sweep->tp, TP_MOST } };

    for (terms += strspn(terms, " "); *terms; terms += strspn(terms, " ")) {
        size_t length = strcspn(terms, " "), i = 0;

        while (i < 3 && strncmp(terms, axes[i].name, strlen(axes[i].name)) != 0)
            i++;
        if (i == 3 || !take_axis(axes[i].axis, terms + strlen(axes[i].name),
                                 length - strlen(axes[i].name), axes[i].most))
            return fail_usage(sweep->command,
                              "--sweep has %.*s; expected batch=, context= or tp= with numbers and "
                              "ranges, such as batch=1..256 context=1k,4k,16k",
                              (int)length, terms);
        terms += length;
    }
    return EXIT_FINE;
}

/* Limits */

static bool take_real(const char *text, double least, double most, double *value, char **end)
{
    *value = strtod(text, end);
    return *end != text && *value > least && *value <= most;
}

static int take_efficiency(struct sweep *sweep, const char *text)
{
    char *end;
    double value;

    if (!text)
        return EXIT_FINE;
    if (sweep->run.profile)
        return fail_usage(sweep->command, "--efficiency and --run cannot be combined");
    if (!take_real(text, 0, 1, &value, &end) || *end)
        return fail_usage(sweep->command,
                          "--efficiency is %s; it must be above 0 and at most 1, such as 0.7",
                          text);
    sweep->decode_efficiency = sweep->prefill_efficiency = value;
    return EXIT_FINE;
}

/* "50ms", "0.5s"; a number alone is ms. */
static bool take_time(const char *text, double *ms, char **end)
{
    if (!take_real(text, 0, 1e9, ms, end))
        return false;
    if (strncmp(*end, "ms", 2) == 0)
        *end += 2;
    else if (**end == 's') {
        *ms *= 1e3;
        ++*end;
    }
    return **end == '\0' || **end == ',';
}

static int take_slo(struct sweep *sweep, const char *text)
{
    const char *all = text;

    while (text && *text) {
        double *limit = strncmp(text, "tpot=", 5) == 0   ? &sweep->slo_tpot_ms
                        : strncmp(text, "ttft=", 5) == 0 ? &sweep->slo_ttft_ms
                                                         : NULL;
        char *end = NULL;

        if (!limit || !take_time(text + 5, limit, &end))
            return fail_usage(sweep->command,
                              "--slo is %s; expected limits such as tpot=50ms,ttft=500ms", all);
        text = *end == ',' ? end + 1 : end;
    }
    return EXIT_FINE;
}

/* GPUs */

static int add_gpu(struct sweep *sweep, const char *name)
{
    llmperf_hardware_value memory = LLMPERF_HARDWARE_VALUE_INIT;
    struct sweep_gpu *gpu = &sweep->gpus[sweep->gpu_count];
    llmperf_hardware *hardware;
    int status;

    if (!*name)
        return fail_usage(sweep->command,
                          "--gpu needs a name from llmperf hardware --list, or local");
    if ((status = find_gpu(name, &hardware)) < 0)
        return fail_status(status);
    sweep->gpu_count++;
    llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_MEMORY_GB, &memory);
    *gpu = (struct sweep_gpu){ hardware, memory.value, NAN };
    return EXIT_FINE;
}

static int take_gpus(struct sweep *sweep, const struct sweep_words *words)
{
    int status = EXIT_FINE;

    if (words->gpu_count == 0 && !sweep->run.profile)
        return fail_usage(sweep->command, "--sweep needs --gpu or --run");
    for (size_t i = 0; i < words->gpu_count && status == EXIT_FINE; i++)
        status = add_gpu(sweep, words->gpus[i]);
    if (words->gpu_count == 0)
        status = add_gpu(sweep, sweep->run.gpu_name);
    if (status != EXIT_FINE || words->price_count == 0)
        return status;
    if (words->price_count != sweep->gpu_count)
        return fail_usage(sweep->command, "%zu --price for %zu GPUs; give one after each --gpu",
                          words->price_count, sweep->gpu_count);
    for (size_t i = 0; i < sweep->gpu_count; i++) {
        char *end;

        if (!take_real(words->prices[i], 0, 1e6, &sweep->gpus[i].price, &end) || *end)
            return fail_usage(sweep->command,
                              "--price is %s; expected the price of a GPU hour, such as 2.50",
                              words->prices[i]);
    }
    return EXIT_FINE;
}

/* Points */

/* The run has a place of its own in the curves of its GPU. */
static bool is_run_at(const struct sweep *sweep, const struct sweep_point *point)
{
    const struct sweep_measured *decode = &sweep->run.decode;
    uint64_t tp = sweep->answer->decode_step.tensor_parallel;

    return sweep->run.profile && !isnan(decode->ms) && point->context == decode->context &&
           point->batch == decode->batch && point->tp == (tp ? tp : 1) && sweep->run.hardware &&
           strcmp(llmperf_hardware_name(sweep->run.hardware),
                  llmperf_hardware_name(sweep->gpus[point->gpu].hardware)) == 0;
}

static bool meets(const struct sweep *sweep, const struct sweep_point *point, const char **limit)
{
    bool decode_scaled = !isnan(sweep->decode_efficiency);
    bool prefill_scaled = !isnan(sweep->prefill_efficiency);
    double tpot_ms = point->values[decode_scaled ? SWEEP_SCALED_TPOT : SWEEP_TPOT];
    double ttft_ms = point->values[prefill_scaled ? SWEEP_SCALED_TTFT : SWEEP_TTFT];

    if (point->fits == 0)
        *limit = "memory";
    else if (!(isnan(sweep->slo_ttft_ms) || ttft_ms <= sweep->slo_ttft_ms))
        *limit = "ttft";
    else if (!(isnan(sweep->slo_tpot_ms) || tpot_ms <= sweep->slo_tpot_ms))
        *limit = "tpot";
    else
        return true;
    return false;
}

/* TPOT and memory grow with the batch: search the last that meets the limits, in steps that double
 * until one does not, and then halve. */
static int find_largest(const struct sweep *sweep, struct sweep_slo *slo)
{
    bool grows = true;
    uint64_t low = 0;

    for (uint64_t step = 1; step > 0; step = grows ? 2 * step : step / 2) {
        struct sweep_point point = slo->point;
        int status;

        point.batch = low + step;
        if (point.batch > BATCH_MOST) {
            grows = false;
            continue;
        }
        if ((status = sweep_work_out(sweep, &point)) < 0)
            return status;
        if (meets(sweep, &point, &slo->limit))
            low = (slo->point = point).batch;
        else
            grows = false;
    }
    return 0;
}

/* The points of a GPU, tp and context, and the largest batch there. */
static int work_out_place(struct sweep *sweep, struct sweep_point place)
{
    int status = 0;

    for (size_t i = 0; i < sweep->batch.count && status == 0; i++) {
        struct sweep_point *point = &sweep->points[sweep->point_count++];

        *point = place;
        point->batch = sweep->batch.values[i];
        status = sweep_work_out(sweep, point);
        if (is_run_at(sweep, point))
            point->values[SWEEP_MEASURED_TPOT] = sweep->run.decode.ms;
    }
    if (status == 0 && !(isnan(sweep->slo_tpot_ms) && isnan(sweep->slo_ttft_ms))) {
        sweep->slos[sweep->slo_count].point = place;
        status = find_largest(sweep, &sweep->slos[sweep->slo_count++]);
    }
    return status;
}

static int work_out(struct sweep *sweep)
{
    size_t places = sweep->gpu_count * sweep->tp.count * sweep->context.count;
    int status = 0;

    sweep->points = calloc(places * sweep->batch.count, sizeof(*sweep->points));
    sweep->slos = calloc(places, sizeof(*sweep->slos));
    if (!sweep->points || !sweep->slos)
        return fail_usage(sweep->command, "out of memory for this sweep");
    for (size_t i = 0; i < places && status == 0; i++) {
        size_t tp = i / sweep->context.count;
        struct sweep_point place = { .gpu = tp / sweep->tp.count,
                                     .tp = sweep->tp.values[tp % sweep->tp.count],
                                     .context = sweep->context.values[i % sweep->context.count] };

        status = work_out_place(sweep, place);
    }
    return status < 0 ? fail_status(status) : EXIT_FINE;
}

static int take_all(struct sweep *sweep, const struct sweep_words *words)
{
    const struct model_answer *answer = sweep->answer;
    uint64_t tp = answer->decode_step.tensor_parallel;
    int code;

    if (answer->decode_step.pipeline_parallel > 1)
        return fail_usage(sweep->command, "--sweep and --pp cannot be combined; use --tp or tp=");
    sweep->batch = (struct sweep_axis){ { answer->batch }, 1 };
    sweep->context = (struct sweep_axis){ { answer->context }, 1 };
    sweep->tp = (struct sweep_axis){ { tp ? tp : 1 }, 1 };
    if ((code = take_terms(sweep, words->terms)) != EXIT_FINE ||
        (words->run && (code = sweep_open_run(sweep, words->run)) != EXIT_FINE) ||
        (code = take_efficiency(sweep, words->efficiency)) != EXIT_FINE ||
        (code = take_slo(sweep, words->slo)) != EXIT_FINE ||
        (code = take_gpus(sweep, words)) != EXIT_FINE)
        return code;
    /* The run's own place. */
    if (!isnan(sweep->run.decode.ms) &&
        (!add_value(&sweep->batch, sweep->run.decode.batch, BATCH_MOST) ||
         !add_value(&sweep->context, sweep->run.decode.context, CONTEXT_MOST)))
        return fail_usage(sweep->command, "more than %d values in --sweep", SWEEP_VALUES_MOST);
    return EXIT_FINE;
}

int run_sweep(const struct command *command, const struct sweep_words *words,
              const struct model_answer *answer)
{
    struct sweep sweep = { .command = command,
                           .answer = answer,
                           .decode_efficiency = NAN,
                           .prefill_efficiency = NAN,
                           .slo_tpot_ms = NAN,
                           .slo_ttft_ms = NAN,
                           .run = { .decode = { .ms = NAN }, .prefill = { .ms = NAN } } };
    int code = take_all(&sweep, words);

    if (code == EXIT_FINE && (code = work_out(&sweep)) == EXIT_FINE)
        code = print_sweep(&sweep, words->format);
    for (size_t i = 0; i < sweep.gpu_count; i++)
        llmperf_hardware_free(sweep.gpus[i].hardware);
    sweep_close_run(&sweep.run);
    free(sweep.points);
    free(sweep.slos);
    return code;
}

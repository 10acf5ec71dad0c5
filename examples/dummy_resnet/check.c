/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "forward.h"

#define CHECKED_IMAGES 4

/* NaN in either makes the error NaN, which is below no tolerance. */
static double relative_error(const double *values, const double *reference, size_t count)
{
    double difference = 0, size = 0;

    for (size_t i = 0; i < count; i++) {
        difference += (values[i] - reference[i]) * (values[i] - reference[i]);
        size += reference[i] * reference[i];
    }
    return sqrt(difference) / sqrt(size);
}

static void print_output(size_t image, const double *values, size_t count)
{
    printf("output[%zu]:", image);
    for (size_t i = 0; i < count && i < 10; i++)
        printf(" %.9g", values[i]);
    puts(count > 10 ? " ..." : "");
}

/* Outputs of one image on the device and in the reference: `values` holds both. 0 or -1. */
static int both_outputs(struct device *device, const struct model *model, size_t image,
                        double *values)
{
    struct device *reference = cpu_open(model, image, 1, PRECISION_DOUBLE);
    int failed;

    if (!reference) {
        fputs("dummy_resnet: out of memory for the reference\n", stderr);
        return -1;
    }
    forward(reference, model, 0);
    failed = device->read_output(device, image, values) < 0 ||
             reference->read_output(reference, 0, values + model->shape.classes) < 0;
    if (failed)
        fprintf(stderr, "dummy_resnet: %s\n", device->error);
    reference->destroy(reference);
    return failed ? -1 : 0;
}

int check_result(struct device *device, const struct model *model, double tolerance)
{
    size_t batch = model->shape.batch, classes = model->shape.classes;
    size_t checked = batch < CHECKED_IMAGES ? batch : CHECKED_IMAGES;
    double *values = malloc(2 * classes * sizeof(*values));
    double largest = 0;
    int good = values ? 1 : -1;

    for (size_t i = 0; good >= 0 && i < checked; i++) {
        size_t image = checked > 1 ? i * (batch - 1) / (checked - 1) : 0;
        double error;

        if (both_outputs(device, model, image, values) < 0) {
            good = -1;
            break;
        }
        print_output(image, values, classes);
        error = relative_error(values, values + classes, classes);
        good = good && error < tolerance;
        if (!(error <= largest)) /* NaN too, and it stays */
            largest = isnan(largest) ? largest : error;
    }
    free(values);
    if (good >= 0)
        printf("check: max relative error %.3g of %zu images, limit %g: %s\n", largest, checked,
               tolerance, good ? "ok" : "FAILED");
    return good;
}

/* Device time of a region path in all rows; NaN if the profiler has none. */
static double profiler_ms(const llmperf_profile *profile, const char *path)
{
    size_t count = llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS);
    double sum = NAN;

    for (size_t i = 0; i < count; i++) {
        llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

        if (llmperf_profile_region(profile, i, &stats) == 0 && strcmp(stats.path, path) == 0 &&
            stats.device >= 0)
            sum = isnan(sum) ? stats.gpu_busy_ms : sum + stats.gpu_busy_ms;
    }
    return sum;
}

int check_times(struct device *device, const llmperf_profile *profile, double limit)
{
    static const struct {
        const char *name, *path;
        enum moment from, to;
    } parts[] = {
        { "forward", "LLM@forward", MOMENT_START, MOMENT_END },
        { "stem", "LLM@forward/LLM@stem", MOMENT_START, MOMENT_AFTER_STEM },
        { "residual", "LLM@forward/LLM@residual", MOMENT_AFTER_STEM, MOMENT_AFTER_RESIDUAL },
        { "head", "LLM@forward/LLM@head", MOMENT_AFTER_RESIDUAL, MOMENT_END },
    };
    int good = 1;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        double events = device->elapsed_ms(device, parts[i].from, parts[i].to);
        double profiled = profiler_ms(profile, parts[i].path);
        double percent = 100 * (profiled - events) / events;
        int within = events > 0 && (limit < 0 ? isfinite(percent) : fabs(percent) <= limit);

        printf("times: %s: events %.4f ms, profiler %.4f ms, difference %+.2f %%%s\n",
               parts[i].name, events, profiled, percent, within ? "" : ": FAILED");
        good = good && within;
    }
    return good;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Device time by kernel class and GPU for each call of a region, nested regions included. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/compare/reader.h"
#include "lib/profile/fields.h"
#include "llmperf/profile.h"

size_t lp_compare_find_row(struct lp_compare_reader *reader, size_t place, const char *quantity,
                           bool make)
{
    const struct lp_compare_device_row fresh = { place, quantity };
    uint64_t second = lp_compare_hash(quantity);
    uint32_t index;

    while ((index = lp_hashmap_get(&reader->row_keys, place, second)) != LP_HASHMAP_NONE) {
        if (strcmp(reader->rows.items[index].quantity, quantity) == 0)
            return index;
        second++;
    }
    index = (uint32_t)reader->rows.count;
    if (!make || lp_vector_push(&reader->rows, fresh) < 0 ||
        lp_compare_push_zeros(&reader->sums, reader->members.gpus.count) < 0 ||
        lp_hashmap_put(&reader->row_keys, place, second, index) < 0)
        return SIZE_MAX;
    return index;
}

/* Calls of the launching region for each call that was collected. */
static double weight_of(struct lp_compare_reader *reader, const char *region, size_t gpu)
{
    size_t place = lp_compare_find_place(reader, region, false);
    const struct lp_compare_share *share =
        place == SIZE_MAX ? NULL : &reader->shares.items[place * reader->members.gpus.count + gpu];

    return share && share->collected > 0 ? share->instances / share->collected : 1;
}

static int add_calls(struct lp_compare_reader *reader, size_t place, const char *quantity,
                     size_t gpu, const llmperf_kernel_stats *kernel, double weight)
{
    size_t row = lp_compare_find_row(reader, place, quantity, true);
    const struct lp_interval interval = { kernel->estimate_low_ms, kernel->estimate_high_ms };
    double spread = lp_kernel_spread(kernel), error_ms;
    struct lp_compare_sum *sum;

    if (row == SIZE_MAX)
        return LLMPERF_ENOMEM;
    sum = &reader->sums.items[row * reader->members.gpus.count + gpu];
    sum->calls += kernel->calls;
    if (interval.high > 0) { /* sampled; the errors of kernels may be the same */
        error_ms = hypot(lp_standard_error(interval, (double)kernel->estimate_collected),
                         fmax(spread, 0) * sqrt((double)kernel->calls * weight));
        sum->total_ms += kernel->estimate_ms;
        sum->variance = (sqrt(sum->variance) + error_ms) * (sqrt(sum->variance) + error_ms);
        sum->known = true;
        return 0;
    }
    sum->total_ms += kernel->total_ms * weight;
    /* A kernel that ran once has no variance; the sum is then of the others. */
    if (!isnan(spread)) {
        sum->variance += spread * spread * (double)kernel->calls * weight * weight;
        sum->known = true;
    }
    return 0;
}

/* Add to the region of the launch and to all enclosing ones (the prefixes of its path). */
static int add_kernel(struct lp_compare_reader *reader, const llmperf_kernel_stats *kernel,
                      const char *kernel_class)
{
    size_t gpu = lp_member_gpu_at(&reader->members, kernel->device);
    char *path = lp_text_copy(kernel->region);
    double weight = weight_of(reader, kernel->region, gpu);
    int status = path ? 0 : LLMPERF_ENOMEM;

    reader->gpu_ms.items[gpu] += kernel->total_ms * weight;
    while (status == 0) {
        size_t place = lp_compare_find_place(reader, path, false);
        char *slash;

        if (place != SIZE_MAX &&
            ((status = add_calls(reader, place, kernel_class, gpu, kernel, weight)) < 0 ||
             (status = add_calls(reader, place, LP_COMPARE_ALL, gpu, kernel, weight)) < 0))
            break;
        if (!(slash = strrchr(path, '/')))
            break;
        *slash = '\0';
    }
    free(path);
    return status;
}

int lp_compare_read_kernels(struct lp_compare_reader *reader)
{
    const struct lp_findings *findings = reader->findings;
    int status = 0;

    for (size_t i = 0; i < lp_row_count(reader->profile, LP_ROW_KERNEL) && status == 0; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(reader->profile, LP_ROW_KERNEL, i);

        if (kernel->region && !isnan(kernel->total_ms) && kernel->calls > 0)
            status =
                add_kernel(reader, kernel,
                           findings->classes ? findings->kernel_classes.items[i] : "all kernels");
    }
    return status;
}

struct lp_compare_mean lp_compare_mean_on(const struct lp_compare_reader *reader, size_t row,
                                          size_t gpu)
{
    size_t gpus = reader->members.gpus.count, at = reader->rows.items[row].place;
    const struct lp_compare_sum *sum = &reader->sums.items[row * gpus + gpu];
    const struct lp_compare_place *place = &reader->places.items[at];
    struct lp_compare_mean mean = lp_compare_unknown;
    double n = reader->shares.items[at * gpus + gpu].instances;

    n = n > 0 ? n : fmax((double)place->instances, 1);
    mean.instances =
        place->collected > 0 ? (uint64_t)llround(fmax(place->collected, 1)) : place->instances;
    if (sum->calls == 0)
        return mean;
    mean.mean_ms = sum->total_ms / n;
    mean.error_ms = sum->known ? sqrt(sum->variance) / n : (double)NAN;
    mean.freedom = fmax((double)sum->calls - 1, 1);
    mean.total_ms = sum->total_ms;
    return mean;
}

/* GPUs need not be independent: the error of a sum is at most the sum of the errors. */
struct lp_compare_mean lp_compare_add_means(struct lp_compare_mean a, struct lp_compare_mean b)
{
    if (isnan(a.mean_ms) || isnan(b.mean_ms))
        return isnan(a.mean_ms) ? b : a;
    a.mean_ms += b.mean_ms;
    a.total_ms += b.total_ms;
    if (isnan(a.error_ms) || isnan(b.error_ms)) {
        a.freedom = isnan(a.error_ms) ? b.freedom : a.freedom;
        a.error_ms = isnan(a.error_ms) ? b.error_ms : a.error_ms;
    } else {
        a.freedom = fmin(a.freedom, b.freedom);
        a.error_ms += b.error_ms;
    }
    return a;
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

int lp_compare_put_kernels(struct lp_compare_reader *reader, bool several)
{
    size_t gpus = reader->members.gpus.count;
    double whole = sum_of(reader->gpu_ms.items, gpus);
    int status = 0;

    for (size_t row = 0; row < reader->rows.count && status == 0; row++) {
        const struct lp_compare_device_row *of = &reader->rows.items[row];
        struct lp_compare_key key = { reader->places.items[of->place].path, of->quantity,
                                      LP_COMPARE_GPU, 0 };
        struct lp_compare_mean job = lp_compare_unknown;

        for (size_t gpu = 0; gpu < gpus && status == 0; gpu++) {
            struct lp_compare_mean mean = lp_compare_mean_on(reader, row, gpu);

            job = lp_compare_add_means(job, mean);
            key.number = reader->members.gpus.items[gpu].number;
            if (several && !isnan(mean.mean_ms))
                status = lp_compare_put(reader, key, mean, reader->gpu_ms.items[gpu], key.number);
        }
        key.scope = LP_COMPARE_JOB;
        key.number = 0;
        if (status == 0)
            status = lp_compare_put(reader, key, job, whole, LP_COMPARE_NOBODY);
    }
    return status;
}

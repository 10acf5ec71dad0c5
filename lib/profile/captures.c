/* SPDX-License-Identifier: Apache-2.0 */
/** Makes the rows of launch region x capture region from the kernel rows. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/profile/captures.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

/* Regions nest less deep than this; deeper paths, from other tools, are cut. */
#define DEPTH_MOST LLMPERF_REGION_DEPTH
#define PATH_MOST  (LLMPERF_REGION_DEPTH * LLMPERF_LABEL_BYTES / 8)

/* Kernels in graphs may have a path that states a reason: it is kept as one node. */
#define REASON "LLM@("

struct maker {
    llmperf_profile *profile;
    struct lp_hashmap rows; /* (region and device, capture path) -> row */
};

static bool is_row_of(const llmperf_capture_stats *row, const llmperf_kernel_stats *kernel,
                      size_t length)
{
    return row->device == kernel->device && lp_text_same(row->region, kernel->region) &&
           strncmp(row->captured_in, kernel->captured_in, length) == 0 &&
           row->captured_in[length] == '\0';
}

static int add_row(struct maker *maker, const llmperf_kernel_stats *kernel, size_t length,
                   uint32_t depth)
{
    llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

    row.region = kernel->region;
    row.captured_in = lp_strings_add_bytes(&maker->profile->pool, kernel->captured_in, length);
    row.device = kernel->device;
    row.depth = depth;
    return row.captured_in ? lp_vector_push(&maker->profile->captures, row) : lp_out_of_memory();
}

/* The row for the first `length` bytes of the capture path; NULL: out of memory. Keys with equal
 * hashes get consecutive second words. */
static llmperf_capture_stats *find_row(struct maker *maker, const llmperf_kernel_stats *kernel,
                                       size_t length, uint32_t depth)
{
    const char *region = kernel->region ? kernel->region : "(not seen)";
    uint64_t key = lp_hash_text(region, strlen(region)) + (uint32_t)kernel->device;
    uint64_t twin = lp_hash_text(kernel->captured_in, length);
    uint32_t row;

    while ((row = lp_hashmap_get(&maker->rows, key, twin)) != LP_HASHMAP_NONE &&
           !is_row_of(&maker->profile->captures.items[row], kernel, length))
        twin++;
    if (row == LP_HASHMAP_NONE) {
        row = (uint32_t)maker->profile->captures.count;
        if (add_row(maker, kernel, length, depth) < 0 ||
            lp_hashmap_put(&maker->rows, key, twin, row) < 0)
            return NULL;
    }
    return &maker->profile->captures.items[row];
}

static int add_level(struct maker *maker, const llmperf_kernel_stats *kernel, size_t length,
                     uint32_t depth, bool own)
{
    llmperf_capture_stats *row = find_row(maker, kernel, length, depth);

    if (!row)
        return LLMPERF_ENOMEM;
    if (own)
        row->exclusive_ms += kernel->total_ms;
    if (kernel->kind == LLMPERF_ACTIVITY_KERNEL) {
        row->kernel_ms += kernel->total_ms;
        row->kernel_count += kernel->calls;
    } else {
        row->memory_ms += kernel->total_ms;
        row->memory_count += kernel->calls;
    }
    return 0;
}

/* One row for each level of the path: a region includes its nested regions. */
static int add_kernel(struct maker *maker, const llmperf_kernel_stats *kernel)
{
    const char *path = kernel->captured_in, *end = path;
    bool own = strncmp(path, REASON, strlen(REASON)) == 0;
    int status = 0;

    for (uint32_t depth = 0; status == 0; depth++) {
        end += strcspn(end, "/");
        own |= !*end || depth + 1 == DEPTH_MOST || end - path > PATH_MOST;
        status = add_level(maker, kernel, (size_t)(end - path), depth, own);
        if (own)
            break;
        end++;
    }
    return status;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Like lp_compare_paths(), but layer2 sorts before layer10. */
static int compare_numbered(const char *a, const char *b)
{
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            char *end_a, *end_b;
            unsigned long long left = strtoull(a, &end_a, 10), right = strtoull(b, &end_b, 10);

            if (left != right)
                return left < right ? -1 : 1;
            a = end_a;
            b = end_b;
        } else if (*a == *b) {
            a++;
            b++;
        } else {
            break;
        }
    }
    return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

static int compare_rows(const void *left, const void *right)
{
    const llmperf_capture_stats *a = left, *b = right;
    int order = a->region && b->region ? lp_compare_paths(a->region, b->region)
                                       : lp_compare_text(a->region, b->region);

    order = order ? order : a->device - b->device;
    order = order ? order : compare_numbered(a->captured_in, b->captured_in);
    return order ? order : strcmp(a->captured_in, b->captured_in);
}

static bool is_same_launch(const llmperf_capture_stats *a, const llmperf_capture_stats *b)
{
    return a->device == b->device && lp_text_same(a->region, b->region);
}

/* Share of each row in the device time of all graphs that its region launched: rows in a row. */
static void share_rows(llmperf_capture_stats *rows, size_t count)
{
    for (size_t first = 0, end = 0; first < count; first = end) {
        double total_ms = 0;

        for (; end < count && is_same_launch(&rows[first], &rows[end]); end++)
            total_ms += rows[end].exclusive_ms;
        for (size_t i = first; i < end; i++)
            rows[i].share = total_ms > 0 ? (rows[i].kernel_ms + rows[i].memory_ms) / total_ms : 0;
    }
}

int lp_profile_make_captures(llmperf_profile *profile)
{
    struct maker maker = { profile, { NULL, 0, 0 } };
    int status = 0;

    profile->captures.count = 0;
    for (size_t i = 0; status == 0 && i < profile->kernels.count; i++)
        if (profile->kernels.items[i].stats.captured_in &&
            profile->kernels.items[i].stats.kind != LLMPERF_ACTIVITY_GRAPH)
            status = add_kernel(&maker, &profile->kernels.items[i].stats);
    lp_hashmap_clear(&maker.rows);
    lp_vector_sort(&profile->captures, compare_rows);
    share_rows(profile->captures.items, profile->captures.count);
    return status;
}

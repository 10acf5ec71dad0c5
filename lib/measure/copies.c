/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/measure/copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/vector.h"

static const size_t sizes[] = { 1u << 12, 1u << 16, 1u << 20, 1u << 24, 1u << 28 };
#define SIZES LP_LENGTH(sizes)

struct copy {
    enum { HTOD, DTOH, DTOD } direction;
    char *host;
    size_t bytes;
};

/* Device memory moves on from copy to copy: a cache holds none of it. */
static int start(struct lp_bench *bench, void *context, uint64_t turn)
{
    const struct copy *copy = context;
    uint64_t offset = turn % (bench->buffer_bytes / copy->bytes) * copy->bytes;
    lp_device_address device = bench->buffers[0] + offset;

    if (copy->direction == HTOD)
        return bench->cuda.copy_in(device, copy->host, copy->bytes, bench->stream);
    if (copy->direction == DTOH)
        return bench->cuda.copy_out(copy->host, device, copy->bytes, bench->stream);
    return bench->cuda.copy(bench->buffers[1] + offset, device, copy->bytes, bench->stream);
}

static void measure(struct lp_bench *bench, const char *what, struct copy copy,
                    struct lp_sweep *sweep)
{
    for (size_t i = 0; i < SIZES && sizes[i] <= bench->buffer_bytes; i++) {
        struct lp_times times;

        copy.bytes = sizes[i];
        if (lp_bench_repeat(bench, start, &copy, bench->seconds / 10, &times) < 0)
            return;
        lp_sweep_add(sweep, what, sizes[i], 1, 1, (uint64_t)llround(times.median_ms * 1e6));
    }
}

void lp_measure_copies(struct lp_bench *bench, struct lp_sweep *sweep)
{
    size_t bytes = sizes[SIZES - 1];
    char *pageable = malloc(bytes);
    void *pinned = NULL;

    measure(bench, "dtod", (struct copy){ DTOD, NULL, 0 }, sweep);
    if (bench->cuda.host_alloc(&pinned, bytes) == 0) {
        measure(bench, "htod_pinned", (struct copy){ HTOD, pinned, 0 }, sweep);
        measure(bench, "dtoh_pinned", (struct copy){ DTOH, pinned, 0 }, sweep);
        bench->cuda.host_free(pinned);
    }
    if (pageable) {
        memset(pageable, 1, bytes); /* its pages exist */
        measure(bench, "htod_pageable", (struct copy){ HTOD, pageable, 0 }, sweep);
        measure(bench, "dtoh_pageable", (struct copy){ DTOH, pageable, 0 }, sweep);
    }
    bench->cuda.stream_synchronize(bench->stream);
    free(pageable);
}

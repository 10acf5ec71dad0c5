/* SPDX-License-Identifier: Apache-2.0 */
#include "llmperf/sys/inject.h"
#include "tests/bench/bare_cupti.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUFFERS                      8
#define BUFFER_BYTES                 (UINT32_C(4) << 20)
#define CUPTI_KIND_CONCURRENT_KERNEL 10
#define CUPTI_FLUSH_FORCED           1

static uint8_t *buffers[BUFFERS];
static _Atomic uint32_t free_buffers; /* a bit for each */
static _Atomic uint64_t bytes_seen, buffers_refused;
static int (*flush_all)(uint32_t flag);

static void give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
    uint32_t available = atomic_load(&free_buffers), bit;

    *buffer = NULL;
    *size = 0;
    *max_records = 0;
    do {
        if (!available) {
            atomic_fetch_add(&buffers_refused, 1);
            return;
        }
        bit = available & (~available + 1);
    } while (!atomic_compare_exchange_weak(&free_buffers, &available, available & ~bit));
    *buffer = buffers[__builtin_ctz(bit)];
    *size = BUFFER_BYTES;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    atomic_fetch_add(&bytes_seen, valid);
    for (uint32_t i = 0; i < BUFFERS; i++)
        if (buffers[i] == buffer)
            atomic_fetch_or(&free_buffers, UINT32_C(1) << i);
}

static void *open_cupti(void)
{
    const char *given = getenv("LLMPERF_CUPTI_PATH");
    const char *places[] = { given ? given : "",
                             "libcupti.so.13",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
                             "/usr/local/cuda/lib64/libcupti.so.13",
                             "libcupti.so.12",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
                             "/usr/local/cuda/lib64/libcupti.so.12" };
    char path[1024];
    void *library = NULL;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !library; i++)
        if (*places[i])
            library = dlopen(places[i], RTLD_NOW);
    for (int major = 13; given && !library && major > 11; major--) {
        snprintf(path, sizeof(path), "%s/libcupti.so.%d", given, major);
        library = dlopen(path, RTLD_NOW);
    }
    return library;
}

int bare_start(void)
{
    int (*register_callbacks)(void (*requested)(uint8_t **, size_t *, size_t *),
                              void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*enable)(uint32_t kind);
    void *library = open_cupti();

    if (!library) {
        fprintf(stderr, "libcupti not found; set LLMPERF_CUPTI_PATH\n");
        return -1;
    }
    *(void **)&register_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
    *(void **)&enable = dlsym(library, "cuptiActivityEnable");
    *(void **)&flush_all = dlsym(library, "cuptiActivityFlushAll");
    for (int i = 0; i < BUFFERS; i++)
        if (!(buffers[i] = calloc(1, BUFFER_BYTES))) {
            fprintf(stderr, "out of memory\n");
            return -1;
        }
    atomic_store(&free_buffers, (UINT32_C(1) << BUFFERS) - 1);
    if (!register_callbacks || !enable || !flush_all ||
        register_callbacks(give_buffer, take_buffer) != 0 ||
        enable(CUPTI_KIND_CONCURRENT_KERNEL) != 0) {
        fprintf(stderr, "CUPTI refused to start\n");
        return -1;
    }
    return 0;
}

void bare_flush(void)
{
    flush_all(CUPTI_FLUSH_FORCED);
}

const char *bare_state(void)
{
    if (atomic_load(&bytes_seen) == 0)
        return "no_records";
    return atomic_load(&buffers_refused) > 0 ? "refused_buffers" : "ok";
}

static void say_state(void)
{
    fprintf(stderr, "bare: %s\n", bare_state());
}

/** CUDA calls it. @return 1: stay loaded. */
int InitializeInjection(void);

int InitializeInjection(void)
{
    if (bare_start() < 0)
        return 0;
    atexit(say_state);
    return 1;
}

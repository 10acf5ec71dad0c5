/* SPDX-License-Identifier: Apache-2.0 */
/** How the programs of engine.h launch. For tests/support only. */
#ifndef TESTS_SUPPORT_ENGINE_TAPE_H
#define TESTS_SUPPORT_ENGINE_TAPE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/record/paths.h"
#include "llmperf/profile.h"
#include "tests/support/engine.h"

#define US UINT64_C(1000)

static inline uint32_t next(struct engine *engine, uint32_t below)
{
    engine->random = engine->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(engine->random >> 33) % below;
}

static inline bool chance(struct engine *engine, uint32_t percent)
{
    return next(engine, 100) < percent;
}

static inline uint32_t between(struct engine *engine, uint32_t low, uint32_t high)
{
    return low + next(engine, high - low + 1);
}

/* A launch of the host, or the node of a graph. */
static inline void launch(struct engine *engine, uint32_t kind, const char *name,
                          uint64_t length_ns)
{
    struct engine_launch made = { .step = engine->step };
    struct lp_activity *activity = &made.activity;
    uint64_t spread = length_ns / 50 + 1;

    length_ns += next(engine, (uint32_t)spread);
    if (engine->graph == 0) {
        engine->host_ns += 3 * US + next(engine, 2000);
        engine->correlation++;
    }
    activity->start_ns = engine->host_ns + 5 * US > engine->device_ns + US
                             ? engine->host_ns + 5 * US
                             : engine->device_ns + US;
    activity->end_ns = activity->start_ns + length_ns;
    engine->device_ns = activity->end_ns;
    activity->kind = (uint8_t)kind;
    activity->name = lp_names_intern(&engine->names, name);
    activity->correlation = engine->correlation;
    activity->graph = engine->graph;
    activity->graph_node = engine->graph ? engine->launches.count + 1 : 0;
    activity->context = 1;
    activity->stream = engine->stream;
    activity->node = LP_PATH_ROOT;
    activity->captured = LP_PATH_UNKNOWN;
    activity->queued = lp_queued(engine->host_ns);
    made.host_ns = engine->host_ns;
    made.number = engine->launches.count;
    if (lp_vector_push(&engine->launches, made) < 0)
        abort();
}

__attribute__((format(printf, 3, 4))) static inline void run(struct engine *engine,
                                                             uint64_t length_us, const char *format,
                                                             ...)
{
    char name[160];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    launch(engine, LLMPERF_ACTIVITY_KERNEL, name, length_us * US);
}

static inline void copy(struct engine *engine, const char *name, uint64_t length_us)
{
    launch(engine, LLMPERF_ACTIVITY_MEMCPY, name, length_us * US);
}

/* The host waits for the device, and then works for a while. */
static inline void wait_for_device(struct engine *engine, uint64_t host_us)
{
    if (engine->device_ns > engine->host_ns)
        engine->host_ns = engine->device_ns;
    engine->host_ns += host_us * US;
}

#endif

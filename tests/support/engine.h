/* SPDX-License-Identifier: Apache-2.0 */
/** Programs that mark no region, as the launches that a profiler sees of them: inference engines of
 * random models, and others. Each launch knows the step that it belongs to. */
#ifndef TESTS_SUPPORT_ENGINE_H
#define TESTS_SUPPORT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/record/names.h"
#include "lib/record/record.h"

/** No step. */
#define ENGINE_NO_STEP UINT32_MAX

#define ENGINE_STEPS 1024 /* at most */

struct engine_launch {
    struct lp_activity activity;
    uint32_t step; /* ENGINE_NO_STEP: none */
    uint64_t host_ns, number;
};

struct engine {
    struct lp_names names;
    LP_VECTOR(struct engine_launch) launches;
    LP_VECTOR(bool) prefills; /* by step */
    bool whole[ENGINE_STEPS]; /* by step: for tests that drop launches */
    uint64_t random;
    uint64_t host_ns, device_ns;
    uint32_t correlation, graph, stream, step;
    uint32_t layers;
    bool draft; /* speculative decoding: passes of a small model before each step */
};

/** An engine with 2 to 80 layers that serves some requests; what it is depends on the seed. */
void engine_serve(struct engine *engine, uint64_t seed);

/** An engine of a special kind: 0 to 7; false: there is no such kind. */
bool engine_special(struct engine *engine, size_t number, uint64_t seed, const char **name_out);

/** A program that is no engine: 0 to 30; false: there is no such program. Its name is static. */
bool engine_other(struct engine *engine, size_t number, const char **name_out);

void engine_clear(struct engine *engine);

#endif

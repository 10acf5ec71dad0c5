/* SPDX-License-Identifier: Apache-2.0 */
/** Reads energy, clocks and memory of the GPUs that the program uses from NVML, ten times a second.
 * @threads collector only, all functions */
#ifndef LP_SESSION_GPU_WATCH_H
#define LP_SESSION_GPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/nvml.h"

#define LP_GPU_WATCH_MOST 64u /* GPUs */

struct llmperf_session;

/** Zero-initialised: not begun. */
struct lp_gpu_watch {
    struct lp_nvml *nvml; /* NULL: not open */
    bool failed;          /* NVML cannot be used */
    char reason[256];     /* why, or why a GPU is missing; "" */
    uint64_t seen;        /* GPUs in use, a bit for each ordinal */
    uint64_t tried;       /* the part that NVML was asked for */
    struct lp_nvml_gpu gpus[LP_GPU_WATCH_MOST];
    size_t count;
    uint64_t looked_ns; /* last time */
    uint64_t period_ns;
    uint32_t quick; /* samples read at short distances so far */
};

/** An activity ran on this GPU. */
static inline void lp_gpu_watch_saw(struct lp_gpu_watch *watch, uint16_t device)
{
    watch->seen |= device < LP_GPU_WATCH_MOST ? UINT64_C(1) << device : 0;
}

/** Read the GPUs if it is time. */
void lp_gpu_watch_look(struct llmperf_session *session, uint64_t now_ns);

/** Read them once more, for what ended since, and stop. */
void lp_gpu_watch_end(struct llmperf_session *session);

/** Why no GPU was read; NULL: one was, or the session has no live GPU. */
const char *lp_gpu_watch_reason(const struct llmperf_session *session);

void lp_gpu_watch_close(struct lp_gpu_watch *watch);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Energy, clocks and memory of the GPUs of a session, and the energy of its stages. Samples and
 * calls of stages arrive in any order; a call waits until the energy at its end is known.
 *
 * The energy of a call is that of the whole GPU from its begin to its end: from begin to end on the
 * device's clock (as llmperf_iteration.elapsed_ms), or, once calls were left out by sampling, on
 * the host's. What no outermost call covers is outside of stages, so stages and outside add up to
 * the total. Memory is bounded by the number of GPUs and stages.
 * @threads one at a time per object, all functions */
#ifndef LP_PROFILE_ENERGY_H
#define LP_PROFILE_ENERGY_H

#include <stdbool.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/profile/energy/curve.h"
#include "lib/record/gpu_sample.h"

/** Calls that wait for a sample, at most. */
#define LP_ENERGY_CALLS 65536u

enum lp_energy_source {
    LP_ENERGY_NONE,
    LP_ENERGY_COUNTER, /* the GPU's energy counter */
    LP_ENERGY_POWER    /* power readings, integrated */
};

/** A GPU since its first sample. Times of states are weighted by the distance of samples. */
struct lp_energy_gpu {
    enum lp_energy_source source;
    struct lp_energy_curve curve;
    struct lp_energy_knot now;               /* sums at the newest sample */
    struct lp_gpu_sample last;               /* the newest */
    uint64_t samples, resets;                /* resets: the counter went back, or leapt */
    uint64_t first_ns, first_mj, counted_mj; /* counter: first value, last one that was used */
    uint64_t sampled_ns;                     /* between samples */
    uint64_t state_ns;                       /* the part with known reasons of clocks */
    uint64_t active_ns; /* the part of state_ns in which the GPU was not idle */
    uint64_t throttled_ns, power_cap_ns, thermal_ns, slowdown_ns; /* parts of active_ns */
    uint64_t memory_clock_ns;
    double memory_clock_sum;                                         /* MHz x ns */
    uint64_t sm_least, memory_clock_least, power_most, celsius_most; /* LLMPERF_UNKNOWN: none */
    uint64_t used_first, used_most, used_last;
    uint64_t read_ns; /* host time that reading took */
    double most_w;    /* highest power between two knots */
    double stages_j;  /* of outermost calls */
    uint64_t covered_until_ns;
};

/** A stage on a GPU. */
struct lp_energy_stage {
    uint32_t node;
    uint16_t gpu; /* index in `gpus` */
    uint64_t calls;
    uint64_t time_ns, metered_ns; /* of its calls; the part for which energy is known */
    uint64_t shared_ns;           /* the part in which another outermost call ran */
    double joules, error_j;       /* without that of `part` */
    double clock_s, clock_cycles; /* as in a knot */
    struct lp_energy_part part;   /* piece of the newest end */
    uint64_t last_ns;             /* the newest end; 0: none */
    double last_contrast_w;       /* lp_energy_curve_contrast() there */
};

/** A call of a stage that is over. */
struct lp_energy_call {
    uint32_t node;
    bool outermost;                  /* it is in no other call */
    bool collected;                  /* false: sampling left it out */
    uint64_t begin_ns, end_ns;       /* on the host */
    uint64_t started_ns, elapsed_ns; /* with its device work; elapsed 0: it had none */
};

struct lp_energy {
    LP_VECTOR(struct lp_energy_gpu) gpus;
    LP_VECTOR(struct lp_energy_stage) stages;
    struct lp_hashmap stage_rows; /* (node, gpu) -> stage */
    LP_VECTOR(struct lp_energy_call) waiting;
    bool sampled; /* a call was left out: from then on host times are used */
    bool failed;  /* out of memory */
};

void lp_energy_clear(struct lp_energy *energy);

void lp_energy_sample(struct lp_energy *energy, const struct lp_gpu_sample *sample);
void lp_energy_call(struct lp_energy *energy, const struct lp_energy_call *call);

/** No samples will follow: charge the calls that wait. */
void lp_energy_settle(struct lp_energy *energy);

/** Error bound of a stage's energy, J: the sum of lp_energy_part_error() over its pieces, and of
 * min(lag, gap) x contrast over the ends of its runs, where gap is the time between two calls. */
double lp_energy_stage_error(const struct lp_energy *energy, const struct lp_energy_stage *stage);

/** Error bound of a GPU's total, J: the lag of the counter at both ends, at the power there. */
double lp_energy_total_error(const struct lp_energy_gpu *gpu);

#endif

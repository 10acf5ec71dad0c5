/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/energy/energy.h"

#include <math.h>

#include "llmperf/profile.h"

#define IMPOSSIBLE_W 1e5 /* no GPU draws this much: the counter leapt */
#define PATIENCE_NS                                                                                \
    UINT64_C(2000000000) /* a counter that stands still this long is not awaited                   \
                          */

#define THERMAL (LP_GPU_REASON_THERMAL | LP_GPU_REASON_HW_THERMAL)
#define CAPPED  (LP_GPU_REASON_POWER_CAP | LP_GPU_REASON_BRAKE)

void lp_energy_clear(struct lp_energy *energy)
{
    for (size_t i = 0; i < energy->gpus.count; i++)
        lp_energy_curve_clear(&energy->gpus.items[i].curve);
    lp_vector_clear(&energy->gpus);
    lp_vector_clear(&energy->stages);
    lp_vector_clear(&energy->waiting);
    lp_hashmap_clear(&energy->stage_rows);
}

/* Samples */

static bool is_known(uint64_t value)
{
    return value != LLMPERF_UNKNOWN;
}

static void lower_to(uint64_t *least, uint64_t value)
{
    *least = value < *least ? value : *least; /* unknown is the largest */
}

static void raise_to(uint64_t *most, uint64_t value)
{
    if (is_known(value) && (!is_known(*most) || value > *most))
        *most = value;
}

/* NULL: out of memory. */
static struct lp_energy_gpu *find_gpu(struct lp_energy *energy, const struct lp_gpu_sample *sample)
{
    const uint64_t *values = sample->values;
    struct lp_energy_gpu gpu = {
        .source = is_known(values[LP_GPU_ENERGY_MJ])  ? LP_ENERGY_COUNTER
                  : is_known(values[LP_GPU_POWER_MW]) ? LP_ENERGY_POWER
                                                      : LP_ENERGY_NONE,
        .last = *sample,
        .first_ns = sample->time_ns,
        .now = { .time_ns = sample->time_ns },
        .first_mj = values[LP_GPU_ENERGY_MJ],
        .counted_mj = values[LP_GPU_ENERGY_MJ],
        .used_first = values[LP_GPU_USED_BYTES],
        .sm_least = LLMPERF_UNKNOWN,
        .memory_clock_least = LLMPERF_UNKNOWN,
        .power_most = LLMPERF_UNKNOWN,
        .celsius_most = LLMPERF_UNKNOWN,
        .used_most = LLMPERF_UNKNOWN,
    };

    for (size_t i = 0; i < energy->gpus.count; i++)
        if (energy->gpus.items[i].last.device == sample->device)
            return &energy->gpus.items[i];
    if (lp_vector_push(&energy->gpus, gpu) < 0)
        return NULL;
    return &energy->gpus.items[energy->gpus.count - 1];
}

/* What the GPU did for `ns` around a sample; an idle GPU may lower its clocks. */
static void add_state(struct lp_energy_gpu *gpu, const struct lp_gpu_sample *sample, uint64_t ns)
{
    uint64_t reasons = sample->values[LP_GPU_REASONS], sm = sample->values[LP_GPU_SM_MHZ];
    uint64_t memory = sample->values[LP_GPU_MEMORY_MHZ];
    bool state = is_known(reasons), idle = state && (reasons & LP_GPU_REASON_IDLE);

    gpu->sampled_ns += ns;
    gpu->state_ns += state ? ns : 0;
    if (idle)
        return;
    if (state) {
        gpu->active_ns += ns;
        gpu->throttled_ns += reasons & (CAPPED | THERMAL | LP_GPU_REASON_SLOWDOWN) ? ns : 0;
        gpu->power_cap_ns += reasons & CAPPED ? ns : 0;
        gpu->thermal_ns += reasons & THERMAL ? ns : 0;
        gpu->slowdown_ns += reasons & LP_GPU_REASON_SLOWDOWN ? ns : 0;
    }
    if (is_known(sm)) {
        gpu->now.clock_s += (double)ns / 1e9;
        gpu->now.clock_cycles += (double)ns / 1e9 * (double)sm;
        lower_to(&gpu->sm_least, sm);
    }
    if (is_known(memory)) {
        gpu->memory_clock_ns += ns;
        gpu->memory_clock_sum += (double)memory * (double)ns;
        lower_to(&gpu->memory_clock_least, memory);
    }
}

static void add_extremes(struct lp_energy_gpu *gpu, const struct lp_gpu_sample *sample)
{
    const uint64_t *values = sample->values;

    gpu->samples++;
    raise_to(&gpu->power_most, values[LP_GPU_POWER_MW]);
    raise_to(&gpu->celsius_most, values[LP_GPU_CELSIUS]);
    raise_to(&gpu->used_most, values[LP_GPU_USED_BYTES]);
    if (is_known(values[LP_GPU_USED_BYTES]))
        gpu->used_last = values[LP_GPU_USED_BYTES];
    gpu->read_ns += is_known(values[LP_GPU_READ_NS]) ? values[LP_GPU_READ_NS] : 0;
}

/* Mean power of two samples, W; NaN: not known. */
static double mean_power(const struct lp_gpu_sample *a, const struct lp_gpu_sample *b)
{
    uint64_t first = a->values[LP_GPU_POWER_MW], second = b->values[LP_GPU_POWER_MW];

    return is_known(first) && is_known(second) ? ((double)first + (double)second) / 2e3
                                               : (double)NAN;
}

/* Between the knot before and this one. */
static double power_before(const struct lp_energy_knot *knot)
{
    return (knot->joules - knot[-1].joules) * 1e9 / (double)(knot->time_ns - knot[-1].time_ns);
}

static double last_power(const struct lp_energy_gpu *gpu)
{
    size_t count = gpu->curve.knots.count;

    return count < 2 ? (double)NAN : power_before(&gpu->curve.knots.items[count - 1]);
}

/* Energy since the last knot; NaN: not known yet. After a reset it is that of the power. */
static double energy_since(struct lp_energy_gpu *gpu, const struct lp_gpu_sample *sample)
{
    double seconds = (double)(sample->time_ns - lp_energy_curve_end(&gpu->curve)) / 1e9;
    uint64_t counter = sample->values[LP_GPU_ENERGY_MJ], before = gpu->counted_mj;
    double power = mean_power(&gpu->last, sample);

    if (gpu->source == LP_ENERGY_POWER)
        return power * seconds;
    if (!is_known(counter) || counter == before)
        return NAN;
    gpu->counted_mj = counter;
    if (counter > before && (double)(counter - before) / 1e3 <= IMPOSSIBLE_W * seconds)
        return (double)(counter - before) / 1e3;
    gpu->resets++;
    power = isnan(power) ? last_power(gpu) : power;
    if (power >= 0 && power <= IMPOSSIBLE_W)
        return power * seconds;
    gpu->source = LP_ENERGY_NONE; /* what was used in between is lost */
    return 0;
}

static int add_knot(struct lp_energy_gpu *gpu, double joules, uint64_t unread_ns)
{
    double seconds = (double)(gpu->now.time_ns - lp_energy_curve_end(&gpu->curve)) / 1e9;

    gpu->now.joules += joules;
    gpu->most_w = fmax(gpu->most_w, joules / seconds);
    return lp_energy_curve_add(&gpu->curve, &gpu->now, unread_ns);
}

static int add_sample(struct lp_energy_gpu *gpu, const struct lp_gpu_sample *sample)
{
    uint64_t ns = sample->time_ns - gpu->last.time_ns;
    double joules;
    int status = 0;

    add_extremes(gpu, sample);
    if (gpu->curve.knots.count == 0)
        return lp_energy_curve_add(&gpu->curve, &gpu->now, 0);
    if (sample->time_ns <= gpu->last.time_ns)
        return 0;
    add_state(gpu, &gpu->last, ns / 2);
    add_state(gpu, sample, ns - ns / 2);
    gpu->now.time_ns = sample->time_ns;
    joules = gpu->source == LP_ENERGY_NONE ? 0 : energy_since(gpu, sample);
    if (!isnan(joules))
        status = add_knot(gpu, joules, ns);
    gpu->last = *sample;
    return status;
}

/* Calls */

static struct lp_energy_stage *find_stage(struct lp_energy *energy, uint32_t node, size_t gpu)
{
    struct lp_energy_stage fresh = { .node = node, .gpu = (uint16_t)gpu };
    uint32_t row = lp_hashmap_get(&energy->stage_rows, node, gpu);

    if (row != LP_HASHMAP_NONE)
        return &energy->stages.items[row];
    row = (uint32_t)energy->stages.count;
    if (lp_vector_push(&energy->stages, fresh) < 0 ||
        lp_hashmap_put(&energy->stage_rows, node, gpu, row) < 0) {
        energy->failed = true;
        return NULL;
    }
    return &energy->stages.items[row];
}

static double most_power(const struct lp_energy_gpu *gpu)
{
    uint64_t limit = gpu->last.values[LP_GPU_POWER_LIMIT];

    return fmax(gpu->most_w, is_known(limit) ? (double)limit / 1e3 : 0);
}

/* The piece that the stage was in before is complete once it is in another. */
static void cover(const struct lp_energy_gpu *gpu, struct lp_energy_stage *stage,
                  const struct lp_energy_knot *piece, uint64_t ns)
{
    if (stage->part.begin_ns != piece[0].time_ns || stage->part.end_ns != piece[1].time_ns) {
        stage->error_j += lp_energy_part_error(&stage->part, most_power(gpu));
        stage->part = (struct lp_energy_part){ piece[0].time_ns, piece[1].time_ns, 0,
                                               piece[1].joules - piece[0].joules };
    }
    stage->part.covered_ns += ns;
}

/* The lag of the counter matters where something else ran between two calls. */
static void add_lag(const struct lp_energy_gpu *gpu, struct lp_energy_stage *stage,
                    uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t lag_ns = lp_energy_curve_lag(&gpu->curve);
    uint64_t gap_ns = begin_ns > stage->last_ns ? begin_ns - stage->last_ns : 0;

    lag_ns = gap_ns < lag_ns ? gap_ns : lag_ns;
    stage->error_j += (double)lag_ns / 1e9 *
                      (stage->last_contrast_w + lp_energy_curve_contrast(&gpu->curve, begin_ns));
    stage->last_contrast_w = lp_energy_curve_contrast(&gpu->curve, end_ns);
    stage->last_ns = end_ns;
}

static void cover_ends(const struct lp_energy_gpu *gpu, struct lp_energy_stage *stage,
                       uint64_t begin_ns, uint64_t end_ns)
{
    const struct lp_energy_knot *first = lp_energy_curve_piece(&gpu->curve, begin_ns, false);
    const struct lp_energy_knot *last = lp_energy_curve_piece(&gpu->curve, end_ns, true);

    if (first >= last) {
        cover(gpu, stage, first, end_ns - begin_ns);
        return;
    }
    cover(gpu, stage, first, first[1].time_ns - begin_ns);
    cover(gpu, stage, last, end_ns - last->time_ns);
}

/* Outermost calls of several threads may overlap: their common time counts once. */
static void add_outermost(struct lp_energy_gpu *gpu, struct lp_energy_stage *stage,
                          uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t until_ns = gpu->covered_until_ns;

    if (begin_ns < until_ns)
        stage->shared_ns += (end_ns < until_ns ? end_ns : until_ns) - begin_ns;
    begin_ns = begin_ns > until_ns ? begin_ns : until_ns;
    if (begin_ns >= end_ns)
        return;
    gpu->stages_j += lp_energy_curve_at(&gpu->curve, end_ns).joules -
                     lp_energy_curve_at(&gpu->curve, begin_ns).joules;
    gpu->covered_until_ns = end_ns;
}

static void charge(struct lp_energy *energy, const struct lp_energy_call *call, size_t index)
{
    struct lp_energy_gpu *gpu = &energy->gpus.items[index];
    struct lp_energy_stage *stage = find_stage(energy, call->node, index);
    uint64_t first_ns = lp_energy_curve_begin(&gpu->curve), last_ns;
    uint64_t begin_ns = call->begin_ns > first_ns ? call->begin_ns : first_ns;
    uint64_t end_ns = call->end_ns;
    struct lp_energy_knot a, b;

    if (!stage)
        return;
    last_ns = lp_energy_curve_end(&gpu->curve);
    end_ns = end_ns < last_ns ? end_ns : last_ns;
    stage->calls++;
    stage->time_ns += call->end_ns - call->begin_ns;
    if (begin_ns >= end_ns || gpu->curve.knots.count < 2)
        return;
    a = lp_energy_curve_at(&gpu->curve, begin_ns);
    b = lp_energy_curve_at(&gpu->curve, end_ns);
    stage->metered_ns += end_ns - begin_ns;
    stage->joules += b.joules - a.joules;
    stage->clock_s += b.clock_s - a.clock_s;
    stage->clock_cycles += b.clock_cycles - a.clock_cycles;
    add_lag(gpu, stage, begin_ns, end_ns);
    cover_ends(gpu, stage, begin_ns, end_ns);
    if (call->outermost)
        add_outermost(gpu, stage, begin_ns, end_ns);
}

static bool is_due(const struct lp_energy *energy, const struct lp_energy_call *call)
{
    for (size_t i = 0; i < energy->gpus.count; i++) {
        const struct lp_energy_gpu *gpu = &energy->gpus.items[i];

        if (lp_energy_curve_end(&gpu->curve) < call->end_ns &&
            gpu->last.time_ns < call->end_ns + PATIENCE_NS)
            return false;
    }
    return energy->gpus.count > 0;
}

/* In the order in which they came. */
static void charge_waiting(struct lp_energy *energy, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < energy->waiting.count; i++) {
        struct lp_energy_call call = energy->waiting.items[i];

        if (!all && !is_due(energy, &call)) {
            energy->waiting.items[kept++] = call;
            continue;
        }
        for (size_t gpu = 0; gpu < energy->gpus.count; gpu++)
            charge(energy, &call, gpu);
    }
    energy->waiting.count = kept;
}

void lp_energy_sample(struct lp_energy *energy, const struct lp_gpu_sample *sample)
{
    struct lp_energy_gpu *gpu = find_gpu(energy, sample);

    if (!gpu || add_sample(gpu, sample) < 0)
        energy->failed = true;
    charge_waiting(energy, false);
}

/* Calls that were left out have host times only, and the two kinds must not mix. */
void lp_energy_call(struct lp_energy *energy, const struct lp_energy_call *call)
{
    struct lp_energy_call own = *call;

    energy->sampled |= !call->collected;
    if (!energy->sampled && call->elapsed_ns > 0) {
        own.begin_ns = call->started_ns;
        own.end_ns = call->started_ns + call->elapsed_ns;
    }
    if (own.end_ns < own.begin_ns)
        return;
    if (energy->waiting.count >= LP_ENERGY_CALLS)
        charge_waiting(energy, true);
    if (lp_vector_push(&energy->waiting, own) < 0)
        energy->failed = true;
}

/* The newest sample may be later than the newest change of the counter. */
static void close_curve(struct lp_energy *energy, struct lp_energy_gpu *gpu)
{
    uint64_t ns = gpu->last.time_ns - lp_energy_curve_end(&gpu->curve);
    double power = last_power(gpu);

    if (ns > 0 && ns < PATIENCE_NS && power >= 0 && add_knot(gpu, power * (double)ns / 1e9, 0) < 0)
        energy->failed = true;
}

void lp_energy_settle(struct lp_energy *energy)
{
    for (size_t i = 0; i < energy->gpus.count; i++)
        close_curve(energy, &energy->gpus.items[i]);
    charge_waiting(energy, true);
}

double lp_energy_stage_error(const struct lp_energy *energy, const struct lp_energy_stage *stage)
{
    const struct lp_energy_gpu *gpu = &energy->gpus.items[stage->gpu];

    return stage->error_j + lp_energy_part_error(&stage->part, most_power(gpu)) +
           (double)lp_energy_curve_lag(&gpu->curve) / 1e9 * stage->last_contrast_w;
}

double lp_energy_total_error(const struct lp_energy_gpu *gpu)
{
    double first =
        gpu->curve.knots.count < 2 ? (double)NAN : power_before(&gpu->curve.knots.items[1]);

    return (double)lp_energy_curve_lag(&gpu->curve) / 1e9 * (first + last_power(gpu));
}

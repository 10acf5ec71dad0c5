/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf model --sweep`: bounds of prefill and decode over batch size, context length, GPUs. */
#ifndef LLMPERF_TOOL_MODEL_SWEEP_H
#define LLMPERF_TOOL_MODEL_SWEEP_H

#include "command.h"
#include "model/answer.h"

#define SWEEP_GPUS_MOST   8
#define SWEEP_VALUES_MOST 128
#define SWEEP_GB          1e9

enum sweep_format { SWEEP_TEXT, SWEEP_JSON, SWEEP_CSV, SWEEP_MD, SWEEP_SVG };

/* Options of the sweep; NULL: not given. */
struct sweep_words {
    const char *terms, *efficiency, *run, *slo;
    const char *gpus[SWEEP_GPUS_MOST], *prices[SWEEP_GPUS_MOST];
    size_t gpu_count, price_count;
    enum sweep_format format;
};

struct sweep_axis {
    uint64_t values[SWEEP_VALUES_MOST];
    size_t count;
};

struct sweep_gpu {
    llmperf_hardware *hardware;
    double memory_gb; /* as sold; NaN: not known */
    double price;     /* of an hour; NaN: not given */
};

/* A stage of a run compared with its bound. NaN: not known. */
struct sweep_measured {
    uint64_t batch, context; /* of a request: length of the KV cache at the end of the step */
    uint64_t prompt;         /* prefill: new tokens of a request */
    double ms, bound_ms;     /* median elapsed time of a call; bound on the run's GPU */
    double efficiency;       /* bound_ms / ms */
};

struct sweep_run {
    llmperf_profile *profile; /* NULL: none was given */
    const char *id, *gpu_name;
    llmperf_hardware *hardware;
    struct sweep_measured decode, prefill;
};

/* When a column is in tables for people: always, never, or if one of its values is known. Files
 * have all columns. */
enum sweep_need { ALWAYS, NEVER, IF_KNOWN };

/* Numbers of a point, NaN if not known: C(CONSTANT, key, heading, need). Times are of one request,
 * rates and bytes per GPU. */
#define SWEEP_COLUMNS_OF(C)                                                                        \
    C(CONTEXT, "context", "context", ALWAYS)                                                       \
    C(BATCH, "batch", "batch", ALWAYS)                                                             \
    C(TTFT, "ttft_ms", "TTFT ms", ALWAYS)                                                          \
    C(TPOT, "tpot_ms", "TPOT ms", ALWAYS)                                                          \
    C(TPOT_SERIAL, "tpot_serial_ms", "TPOT serial ms", NEVER)                                      \
    C(RATE, "tokens_per_s_per_gpu", "tokens/s/GPU", ALWAYS)                                        \
    C(SCALED_TTFT, "scaled_ttft_ms", "scaled TTFT", IF_KNOWN)                                      \
    C(SCALED_TPOT, "scaled_tpot_ms", "scaled TPOT", IF_KNOWN)                                      \
    C(MEASURED_TPOT, "measured_tpot_ms", "measured TPOT", IF_KNOWN)                                \
    C(SCALED_RATE, "scaled_tokens_per_s_per_gpu", "scaled tokens/s", IF_KNOWN)                     \
    C(VALUE, "mtokens_per_price", "Mtokens/price", IF_KNOWN)                                       \
    C(SCALED_VALUE, "scaled_mtokens_per_price", "scaled Mtok/price", IF_KNOWN)                     \
    C(TOUCHED, "experts_touched", "experts", IF_KNOWN)                                             \
    C(WEIGHTS, "weights_gb", "weights GB", NEVER)                                                  \
    C(CACHE, "kv_gb", "KV GB", ALWAYS)

#define SWEEP_CONSTANT(constant, ...) SWEEP_##constant,
enum sweep_column { SWEEP_COLUMNS_OF(SWEEP_CONSTANT) SWEEP_COLUMNS };

/* Bounds at one place of the sweep. */
struct sweep_point {
    size_t gpu;
    uint64_t tp, context, batch;
    double values[SWEEP_COLUMNS];
    int fits;           /* weights and KV cache; -1: the GPU's memory is not known */
    uint32_t bound;     /* of the decode step */
    const char *reason; /* why times are not known; NULL */
};

/* The largest batch that meets the SLO. */
struct sweep_slo {
    struct sweep_point point; /* batch 0: none does */
    const char *limit;        /* "tpot", "ttft", "memory"; NULL: none up to 2^17 */
};

struct sweep {
    const struct command *command;
    const struct model_answer *answer;
    struct sweep_axis batch, context, tp;
    struct sweep_gpu gpus[SWEEP_GPUS_MOST];
    size_t gpu_count;
    double decode_efficiency, prefill_efficiency; /* share of the bound that is reached; NaN */
    double slo_tpot_ms, slo_ttft_ms;              /* NaN: not given */
    struct sweep_run run;
    struct sweep_point *points; /* by GPU, tp, context, batch */
    size_t point_count;
    struct sweep_slo *slos; /* by GPU, tp, context */
    size_t slo_count;
};

/** Compute and print. @return exit code, after a message if it is not EXIT_FINE */
int run_sweep(const struct command *command, const struct sweep_words *words,
              const struct model_answer *answer);

/** Open the run and compare its stages with their bounds. @return EXIT_FINE, or after a message */
int sweep_open_run(struct sweep *sweep, const char *path);
void sweep_close_run(struct sweep_run *run);

/** The decode and the prefill step of a point; their requests are alike. */
llmperf_step sweep_decode_step(const struct model_answer *answer, uint64_t tp, uint64_t context,
                               uint64_t batch);
llmperf_step sweep_prefill_step(const struct model_answer *answer, uint64_t tp, uint64_t context);

/** Compute a point with GPU, tp, context and batch. @return a status of the library */
int sweep_work_out(const struct sweep *sweep, struct sweep_point *point);

/** @return exit code */
int print_sweep(const struct sweep *sweep, enum sweep_format format);
void print_sweep_svg(const struct sweep *sweep);

#endif

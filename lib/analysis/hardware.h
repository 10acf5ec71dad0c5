/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of llmperf_hardware, for the hardware files of lib/analysis only.
 * @threads one at a time per object */
#ifndef LP_ANALYSIS_HARDWARE_H
#define LP_ANALYSIS_HARDWARE_H

#include <stdbool.h>

#include "lib/analysis/ceilings.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "llmperf/hardware.h"

/** Dtypes that peaks exist for, at the index of llmperf_hardware_dtype(). */
enum { LP_PEAK_FP64, LP_PEAK_FP64_TC, LP_PEAK_FP32, LP_PEAK_TF32, LP_PEAK_FP16, LP_PEAK_BF16 };
#define LP_QUANTITIES 7

/** Longest name of a GPU that is looked at, with its NUL. */
#define LP_GPU_NAME_BYTES 256

struct llmperf_hardware {
    const char *name;
    int32_t capability;
    bool failed; /* out of memory */
    llmperf_hardware_value peaks[LP_PEAKS];
    llmperf_hardware_value quantities[LP_QUANTITIES]; /* LLMPERF_HARDWARE_… - 1 */
    struct lp_ceilings ceilings;
    const char *measured; /* when and with what; NULL: the ceilings are not known */
    LP_VECTOR(const char *) warnings;
    struct lp_strings pool;
};

/** Copy of a text that lives as long as the hardware; NULL for NULL, and without memory, which
 * `failed` remembers. */
const char *lp_hardware_text(llmperf_hardware *hardware, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lp_hardware_warn(llmperf_hardware *hardware, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Set a value; text is lp_hardware_text() or static. */
void lp_hardware_set(llmperf_hardware_value *value, double number, uint32_t origin,
                     uint32_t confidence, const char *source);
void lp_hardware_unset(llmperf_hardware_value *value, const char *reason);

/** Index of a dtype that is computed in, -1: none. */
int lp_hardware_dtype_index(const char *name);

/** Peaks of tensor dtypes are quoted at the tensor clock; fp64 ones at the higher clock, tensor
 * units or not. */
bool lp_hardware_is_tensor(int dtype);

/** A GPU's name taken apart. */
struct lp_gpu_name {
    char words[LP_GPU_NAME_BYTES + 2]; /* " nvidia a100 sxm4 80gb ": lower case, one blank around */
    bool mig;                          /* a slice of the GPU in `words` */
    double mig_memory_gb;
};

void lp_gpu_name_parse(struct lp_gpu_name *name, const char *text);

/** Words of `name` that stand neither in `pattern` (words, which it contains; or NULL) nor are mere
 * decoration ("NVIDIA", "GeForce", the memory size `memory_gb` says). "": none. */
void lp_gpu_name_rest(const struct lp_gpu_name *name, const char *pattern, const double *memory_gb,
                      size_t memory_count, char *rest, size_t size);

/** conf/hardware, read. */
struct lp_gpu_table;
struct lp_gpu_row;

int lp_gpu_table_open(struct lp_gpu_table **table_out);
void lp_gpu_table_free(struct lp_gpu_table *table);

/** What the table has for a query. */
struct lp_gpu_match {
    const struct lp_gpu_row *row;  /* the GPU; NULL: none fits */
    const struct lp_gpu_row *near; /* named alike, but another part */
    bool several;                  /* more than one fits */
    char why[512];                 /* why none fits; "" if nothing is near */
};

void lp_gpu_table_find(const struct lp_gpu_table *table, const llmperf_hardware_query *query,
                       const struct lp_gpu_name *name, struct lp_gpu_match *match_out);

const char *lp_gpu_row_name(const struct lp_gpu_row *row);
bool lp_gpu_row_formula_holds(const struct lp_gpu_row *row);

/** Fill in what the row says. 0, LLMPERF_EFORMAT. */
int lp_gpu_row_fill(const struct lp_gpu_row *row, llmperf_hardware *hardware);

/** One memory size among those of the row: the one named or nearest to the device's; NaN: open. */
double lp_gpu_row_memory(const struct lp_gpu_row *row, const struct lp_gpu_name *name,
                         uint64_t memory_bytes);
int32_t lp_gpu_row_sm_count(const struct lp_gpu_row *row);

/** Rates of a compute capability (x 10), FLOPs per clock and SM. */
struct lp_gpu_rates {
    bool known;
    double rate[LP_PEAKS]; /* 0: no such unit */
    bool geforce_half[LP_PEAKS];
    double tensor_clock; /* of the clock that CUDA reports */
    char geforce_word[32];
};

/** 0, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_gpu_rates_read(int32_t capability, struct lp_gpu_rates *rates_out);

/** Values of the user over those that are there. 0, LLMPERF_EINVAL. */
int lp_hardware_user(llmperf_hardware *hardware, const llmperf_config *config, bool *any_out);

#endif

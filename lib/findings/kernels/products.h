/* SPDX-License-Identifier: Apache-2.0 */
/** Which matrix product of a model a kernel computes: from launches, order, and tiles in its grid.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_KERNELS_PRODUCTS_H
#define LP_FINDINGS_KERNELS_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

/** A matrix product of a model's operator: m x n numbers, each a sum of k products. */
struct lp_gemm {
    const char *name, *dtype; /* of the operator */
    uint32_t kinds;           /* of layers that have it, one bit each */
    size_t place;             /* of the operator in the order of computation */
    uint64_t m, n, k;
    uint32_t batch;  /* products of this shape in one kernel */
    uint32_t form;   /* 0: always there; else the engine computes one form of the operator */
    bool differs;    /* from call to call of the stage: its kernel has no shape */
    uint64_t calls;  /* kernels in a call of the stage */
    double least_ms; /* no kernel is faster; 0: unknown */
};

struct lp_gemms {
    LP_VECTOR(struct lp_gemm) items;
};

/** Launches of one kernel with one grid. */
struct lp_gemm_kernel {
    const char *name;
    uint64_t blocks, grid_z; /* blocks of the grid */
    uint64_t calls;          /* in a call of the stage */
    double mean_ms;
    uint64_t first_ns;             /* start of the first; UINT64_MAX: unknown */
    const struct lp_gemm *product; /* out: what it computes; NULL: unknown */
    const char *reason;            /* out: why its shape is unknown; NULL: it is known */
};

/** Add the products of an operator from the text of its row in a profile: like gives all but the
 * numbers. A product of another kind of layer with the same shape, operator and form is the same.
 * @param peak_tflops  For least_ms; NaN: unknown.
 * @return 0 or LLMPERF_ENOMEM. Malformed text adds nothing. */
int lp_gemms_read(struct lp_gemms *gemms, const struct lp_gemm *like, uint64_t layers,
                  double peak_tflops, const char *text);

/** Does the kernel only add up what the parts of a split product left? */
bool lp_gemm_is_sum(const char *name);

/** Set product or reason of each kernel. A kernel gets a product only if each way in which all
 * products can be assigned gives it the same shape. */
void lp_gemms_match(const struct lp_gemms *gemms, struct lp_gemm_kernel *kernels, size_t count,
                    uint64_t sms);

#endif

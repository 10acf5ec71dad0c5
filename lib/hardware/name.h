/* SPDX-License-Identifier: Apache-2.0 */
/** Names of GPUs, as drivers and people write them.
 * @threads any thread */
#ifndef LP_HARDWARE_NAME_H
#define LP_HARDWARE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/** Size of the longest GPU name that is parsed, with its NUL. */
#define LP_GPU_NAME_BYTES 256

/** A parsed GPU name. */
struct lp_gpu_name {
    char words[LP_GPU_NAME_BYTES + 2]; /* " nvidia a100 sxm4 80gb ": lower case, one blank around */
    bool mig;                          /* a slice of the GPU in `words` */
    double mig_memory_gb;
};

void lp_gpu_name_parse(struct lp_gpu_name *name, const char *text);

/** Words of `name` that are neither in `pattern` (words that it contains; or NULL) nor
 * uninformative ("NVIDIA", "GeForce", the memory size `memory_gb`). "": none. */
void lp_gpu_name_rest(const struct lp_gpu_name *name, const char *pattern, const double *memory_gb,
                      size_t memory_count, char *rest, size_t size);

#endif

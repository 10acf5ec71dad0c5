/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the engine: mini_engine_check [--device cpu|cuda]. */
#ifndef MINI_ENGINE_CHECK_H
#define MINI_ENGINE_CHECK_H

#include "ops.h"

/** Devices of the tests. `ops_open` opens the one under test, on a machine of several the one of
 * that number. */
extern struct ops *(*ops_open)(size_t device);
extern int on_gpu;

/** Numbers are stored with 8 bits: each block rounds at 2^-9, a few dozen of them add up. */
#define CHECK_TOLERANCE 0.03

/** Models of a few kilobytes. */
extern const char check_llama[], check_qwen2[], check_tied[], check_qwen3_moe[], check_mixtral[],
    check_latent[], check_ocr[], check_resnet[];
/** Written to a file that the caller removes. The path is valid until the next call. */
const char *check_model_file(const char *text);

/** Count and print; the name is the claim. */
void claim(int holds, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** ||a - b|| / ||b||; NaN counts as different. */
double distance(const float *a, const double *b, size_t count);

void check_ops(void);    /* each operation of the GPU against the CPU's */
void check_engine(void); /* models against the reference */
void check_ranks(
    void); /* shares of a model, and engines that share weights, against the whole one */

#endif

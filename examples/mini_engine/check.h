/* SPDX-License-Identifier: Apache-2.0 */
/** The engine's tests: mini_engine_check [--device cpu|cuda]. */
#ifndef MINI_ENGINE_CHECK_H
#define MINI_ENGINE_CHECK_H

#include "ops.h"

/** Devices of the tests. `ops_open` opens the one under test. */
extern struct ops *(*ops_open)(void);
extern int on_gpu;

/** Count and print; the name is the claim. */
void claim(int holds, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** ||a - b|| / ||b||; NaN counts as different. */
double distance(const float *a, const double *b, size_t count);

void check_ops(void);    /* each operation of the GPU against the CPU's */
void check_engine(void); /* models against the reference */

#endif

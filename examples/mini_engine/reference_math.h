/* SPDX-License-Identifier: Apache-2.0 */
/** Arithmetic of the reference. */
#ifndef MINI_ENGINE_REFERENCE_MATH_H
#define MINI_ENGINE_REFERENCE_MATH_H

#include <math.h>
#include <stdlib.h>

#include "number.h"

/** Zeros. Yours: free(). Ends the test program without memory. */
static inline double *reference_array(size_t count)
{
    double *out = calloc(count + 1, sizeof(*out));

    if (!out)
        abort();
    return out;
}

static inline void reference_linear(double *y, const double *x, const bf16 *w, const bf16 *bias,
                                    size_t out, size_t in)
{
    for (size_t o = 0; o < out; o++) {
        y[o] = bias ? (double)bf16_to_float(bias[o]) : 0;
        for (size_t i = 0; i < in; i++)
            y[o] += x[i] * (double)bf16_to_float(w[o * in + i]);
    }
}

static inline void reference_norm(double *y, const double *x, const bf16 *weight, const bf16 *bias,
                                  size_t width, double epsilon, int rms)
{
    double mean = 0, variance = 0;

    for (size_t i = 0; i < width; i++)
        mean += rms ? 0 : x[i] / (double)width;
    for (size_t i = 0; i < width; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)width;
    for (size_t i = 0; i < width; i++)
        y[i] = (x[i] - mean) / sqrt(variance + epsilon) * (double)bf16_to_float(weight[i]) +
               (bias ? (double)bf16_to_float(bias[i]) : 0);
}

static inline void reference_rotate(double *x, size_t dim, size_t position, double theta)
{
    for (size_t i = 0; i < dim / 2; i++) {
        double angle = (double)position * pow(theta, -2.0 * (double)i / (double)dim);
        double a = x[i], b = x[i + dim / 2];

        x[i] = a * cos(angle) - b * sin(angle);
        x[i + dim / 2] = b * cos(angle) + a * sin(angle);
    }
}

static inline void reference_softmax(double *x, size_t count)
{
    double most = x[0], sum = 0;

    for (size_t i = 1; i < count; i++)
        most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < count; i++)
        sum += x[i] = exp(x[i] - most);
    for (size_t i = 0; i < count; i++)
        x[i] /= sum;
}

#endif

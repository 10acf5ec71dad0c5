/* SPDX-License-Identifier: Apache-2.0 */
/** What runs the layers: the CPU or one GPU. forward.c calls them in the same order on both. */
#ifndef DUMMY_RESNET_DEVICE_H
#define DUMMY_RESNET_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tensors that a device keeps. A to C: batch x channels x height x width. */
enum buffer {
    BUFFER_INPUT,
    BUFFER_A,
    BUFFER_B,
    BUFFER_C,
    BUFFER_POOLED,
    BUFFER_OUTPUT,
    BUFFER_END
};

/** Moments of an iteration between which device time is measured. */
enum moment { MOMENT_START, MOMENT_AFTER_STEM, MOMENT_AFTER_RESIDUAL, MOMENT_END, MOMENTS };

/** Layer functions queue work and return; a fault shows at synchronise(). */
struct device {
    void (*conv3x3)(struct device *device, size_t layer, enum buffer from, enum buffer to);
    void (*batch_norm)(struct device *device, size_t layer, enum buffer data,
                       int relu); /* in place */
    void (*add_relu)(struct device *device, enum buffer from,
                     enum buffer to);                              /* to = ReLU(to + from) */
    void (*average_pool)(struct device *device, enum buffer from); /* to BUFFER_POOLED */
    void (*linear)(struct device *device); /* BUFFER_POOLED to BUFFER_OUTPUT */

    /** Note the time on the device; nothing unless time_iterations() prepared for it. */
    void (*mark)(struct device *device, enum moment moment);
    /** Prepare to time the next `count` iterations. 0, or -1 with `error` set. */
    int (*time_iterations)(struct device *device, size_t count);
    /** Device time between two moments, summed over the timed iterations; negative: not measured.
     */
    double (*elapsed_ms)(struct device *device, enum moment from, enum moment to);

    /** Wait for all work. 0, or -1 with `error` set. */
    int (*synchronise)(struct device *device);
    /** Copy one image's outputs (one a class). 0, or -1 with `error` set. */
    int (*read_output)(struct device *device, size_t image, double *values_out);
    void (*destroy)(struct device *device);

    uint64_t launches; /* kernels launched so far */
    char name[256];
    char error[256];
};

/** Which numbers the CPU works with. All sums are in double. */
enum precision {
    PRECISION_FLOAT, /* tensors are rounded to float after each layer, as on the GPU */
    PRECISION_DOUBLE /* nothing is rounded: the reference */
};

/** Images first_image to first_image + images - 1 of the batch. NULL without memory. */
struct device *cpu_open(const struct model *model, size_t first_image, size_t images,
                        enum precision precision);

/** The first GPU; NULL with one line in `reason` if there is none, or if it cannot run this. */
struct device *cuda_open(const struct model *model, char *reason, size_t reason_size);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** ShallowResNet: shapes, weights made from a seed, and the work of each part.
 *
 *   stem       conv 3x3 (input channels -> C), batch norm, ReLU
 *   residual   N blocks: y = BN(conv2(ReLU(BN(conv1(x))))), x = ReLU(x + y); all convs 3x3, C -> C
 *   head       mean over the pixels, linear C -> classes with bias
 *
 * Convolutions pad by one and have no bias. Tensors are dense: image, channel, row, column. */
#ifndef DUMMY_RESNET_MODEL_H
#define DUMMY_RESNET_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPS 9 /* of a 3x3 kernel */

struct shape {
    size_t batch, in_channels, height, width, channels, blocks, classes;
    double epsilon; /* of the batch norms */
};

/** Batch norm in its inference form is y = x * scale + shift with scale = gamma / sqrt(variance +
 * epsilon) and shift = beta - mean * scale; the running statistics come from the seed too. */
struct layer {
    size_t in_channels;
    float *weights; /* [channels][in_channels][3][3] */
    float *scale, *shift;
};

struct model {
    struct shape shape;
    uint64_t seed;
    size_t layer_count;
    struct layer *layers;            /* 0: stem; 1 + 2 * block: conv1; 2 + 2 * block: conv2 */
    float *head_weights, *head_bias; /* [classes][channels]; [classes] */
};

/** What a part of one forward pass does. By the usual convention FLOPs are those of convolutions
 * (padding counted, as the kernels compute it) and of the linear layer, a multiply-add is 2. Bytes:
 * what each kernel of the GPU path must read and write once, weights included. */
struct work {
    uint64_t flops, bytes;
};

/** NULL: all is within bounds; else what is not. */
const char *shape_problem(const struct shape *shape);

/** NULL without memory. */
struct model *model_create(const struct shape *shape, uint64_t seed);
void model_free(struct model *model);

/** Fill one image: in_channels x height x width numbers in [-1, 1). */
void model_input(const struct model *model, size_t image, float *values_out);

struct work work_of_layer(const struct model *model, size_t layer);
struct work work_of_residual(const struct model *model);
struct work work_of_head(const struct model *model);
struct work work_of_forward(const struct model *model);

#ifdef __cplusplus
}
#endif
#endif

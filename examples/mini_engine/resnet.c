/* SPDX-License-Identifier: Apache-2.0 */
/* The network of examples/dummy_resnet, from the same operations: a stem, residual blocks of two
 * convolutions, mean, linear. */
#include "parts.h"

static void convolve(struct engine *engine, size_t index, bf16 *y, const bf16 *x,
                     const bf16 *residual)
{
    const struct resnet_shape *shape = &engine->shape.resnet;
    struct resnet *net = &engine->resnet;
    size_t in = index == 0 ? shape->in_channels : shape->channels;
    size_t rows = engine->options.batch * shape->height * shape->width;
    size_t stride = scores_stride(9 * in);

    engine->ops->unfold(engine->ops, (struct unfold){ .y = net->unfolded,
                                                      .x = x,
                                                      .images = engine->options.batch,
                                                      .height = shape->height,
                                                      .width = shape->width,
                                                      .channels = in,
                                                      .kernel = 3,
                                                      .stride = 1,
                                                      .padding = 1,
                                                      .y_stride = stride });
    engine->ops->linear(engine->ops, (struct linear){ .y = y,
                                                      .x = net->unfolded,
                                                      .w = net->convolutions[index],
                                                      .rows = rows,
                                                      .in = stride,
                                                      .out = shape->channels });
    engine->ops->affine(engine->ops, (struct affine){ .x = y,
                                                      .scale = net->scales[index],
                                                      .shift = net->shifts[index],
                                                      .add = residual,
                                                      .rows = rows,
                                                      .width = shape->channels,
                                                      .relu = 1 });
}

static void head(struct engine *engine, const bf16 *x)
{
    const struct resnet_shape *shape = &engine->shape.resnet;
    struct resnet *net = &engine->resnet;

    engine->ops->mean(engine->ops, (struct mean){ .y = net->pooled,
                                                  .x = x,
                                                  .images = engine->options.batch,
                                                  .count = shape->height * shape->width,
                                                  .width = shape->channels });
    engine->ops->linear(engine->ops, (struct linear){ .y_float = net->logits,
                                                      .x = net->pooled,
                                                      .w = net->linear,
                                                      .bias = net->linear_bias,
                                                      .rows = engine->options.batch,
                                                      .in = shape->channels,
                                                      .out = shape->classes });
}

void resnet_forward(struct engine *engine)
{
    struct resnet *net = &engine->resnet;

    begin_part(&engine->work, "stem");
    convolve(engine, 0, net->a, net->input, NULL);
    end_region(&engine->work);
    begin_part(&engine->work, "residual");
    for (size_t block = 0; block < engine->shape.resnet.blocks; block++) {
        convolve(engine, 1 + 2 * block, net->b, net->a, NULL);
        convolve(engine, 2 + 2 * block, net->c, net->b, net->a);
        /* The sum is the next block's input. */
        bf16 *sum = net->c;

        net->c = net->a;
        net->a = sum;
    }
    end_region(&engine->work);
    begin_part(&engine->work, "head");
    head(engine, net->a);
    end_region(&engine->work);
}

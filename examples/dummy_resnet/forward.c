/* SPDX-License-Identifier: Apache-2.0 */
#include "forward.h"
#include "llmperf/region.h"

struct pass {
    struct device *device;
    const struct model *model;
    int with_regions;
};

static void enter(const struct pass *pass, const char *label, struct work work)
{
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;

    if (!pass->with_regions)
        return;
    attr.label = label;
    attr.kind = LLMPERF_REGION_OPERATOR;
    attr.flops = work.flops;
    attr.bytes = work.bytes;
    llmperf_region_begin_attr(&attr);
}

static void enter_stage(const struct pass *pass, const char *label, struct work work)
{
    llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;

    if (!pass->with_regions)
        return;
    attr.label = label;
    attr.kind = LLMPERF_REGION_STAGE;
    attr.sequences = pass->model->shape.batch;
    attr.flops = work.flops;
    attr.bytes = work.bytes;
    llmperf_region_begin_attr(&attr);
}

static void leave(const struct pass *pass)
{
    if (pass->with_regions)
        llmperf_region_end();
}

static void layer(const struct pass *pass, const char *label, size_t index, enum buffer from,
                  enum buffer to, int relu)
{
    enter(pass, label, work_of_layer(pass->model, index));
    pass->device->conv3x3(pass->device, index, from, to);
    pass->device->batch_norm(pass->device, index, to, relu);
    leave(pass);
}

static void residual(const struct pass *pass)
{
    enter(pass, "residual", work_of_residual(pass->model));
    for (size_t block = 0; block < pass->model->shape.blocks; block++) {
        layer(pass, "block.conv1", 1 + 2 * block, BUFFER_A, BUFFER_B, 1);
        layer(pass, "block.conv2", 2 + 2 * block, BUFFER_B, BUFFER_C, 0);
        pass->device->add_relu(pass->device, BUFFER_C, BUFFER_A);
    }
    leave(pass);
}

static void head(const struct pass *pass)
{
    enter(pass, "head", work_of_head(pass->model));
    pass->device->average_pool(pass->device, BUFFER_A);
    pass->device->linear(pass->device);
    leave(pass);
}

void forward(struct device *device, const struct model *model, int with_regions)
{
    struct pass pass = { device, model, with_regions };

    enter_stage(&pass, "forward", work_of_forward(model));
    device->mark(device, MOMENT_START);
    layer(&pass, "stem", 0, BUFFER_INPUT, BUFFER_A, 1);
    device->mark(device, MOMENT_AFTER_STEM);
    residual(&pass);
    device->mark(device, MOMENT_AFTER_RESIDUAL);
    head(&pass);
    device->mark(device, MOMENT_END);
    leave(&pass);
}

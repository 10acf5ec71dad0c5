/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory.h"

#include <math.h>
#include <string.h>

#include "command.h"

#define GB 1e9

/* A step reads rows of the embedding table; a GPU stores its share of the whole table. A tied table
 * is the LM head. */
static double table_bytes(const struct model_answer *answer, const llmperf_step *step)
{
    double element = answer->weight_dtype == LLMPERF_DTYPE_FP32 ? 4 : 2;
    bool tied = answer->info.parameters_lm_head == 0;

    if (step->pipeline_rank > 0 || (tied && step->pipeline_parallel <= 1))
        return 0;
    return element * (double)answer->info.parameters_embedding /
           (step->tensor_parallel ? step->tensor_parallel : 1);
}

/* A step that uses every expert reads all weights of its GPU except the embedding table. */
double weights_held(const struct model_answer *answer, const llmperf_step *of)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_step step = *of;
    double bytes = table_bytes(answer, of);

    step.experts_touched = (double)answer->info.experts;
    for (size_t i = 0; llmperf_model_operator(answer->model, &step, i, &op) == 0; i++)
        if (strcmp(op.name, "embedding") != 0)
            bytes += (double)op.weight_bytes;
    return bytes + (answer->info.has_vision ? (double)answer->vision.weight_bytes : 0);
}

void work_out_memory(struct model_answer *answer)
{
    struct memory_answer *memory = &answer->memory;
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    *memory = (struct memory_answer){ NAN, NAN, NAN, NAN };
    if (!answer->gpu.hardware || !answer->info.has_decoder)
        return;
    llmperf_hardware_quantity(answer->gpu.hardware, LLMPERF_HARDWARE_MEMORY_GB, &value);
    memory->gpu_bytes = value.value * GB;
    memory->weights_bytes = weights_held(answer, &answer->prefill_step);
    memory->kv_bytes = (double)(answer->decode.kv_read_bytes);
    memory->requests = floor((memory->gpu_bytes - memory->weights_bytes) /
                             (memory->kv_bytes / (double)answer->batch));
    if (memory->requests < 0) /* but not if it is not known */
        memory->requests = 0;
}

void print_memory_text(const struct model_answer *answer)
{
    const struct memory_answer *memory = &answer->memory;
    double needed = memory->weights_bytes + memory->kv_bytes;

    if (isnan(memory->weights_bytes))
        return;
    if (isnan(memory->gpu_bytes)) {
        print("  memory       of this GPU is not known; weights %.4g GB, KV cache %.4g GB\n",
              memory->weights_bytes / GB, memory->kv_bytes / GB);
        return;
    }
    print("  memory       %.4g GB nominal; weights %.4g GB, KV cache %.4g GB: ",
          memory->gpu_bytes / GB, memory->weights_bytes / GB, memory->kv_bytes / GB);
    if (memory->requests == 0)
        print("does not fit; use more GPUs or a narrower dtype for the weights\n");
    else if (needed > memory->gpu_bytes)
        print("does not fit; at most %.0f requests of this context length fit\n", memory->requests);
    else
        print("up to %.0f requests of this context length fit\n", memory->requests);
}

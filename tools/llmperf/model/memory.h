/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf model --gpu`: do weights and KV cache fit the memory of a GPU? */
#ifndef LLMPERF_TOOL_MODEL_MEMORY_H
#define LLMPERF_TOOL_MODEL_MEMORY_H

#include "model/answer.h"

/** Fill answer->memory; after the work is known. */
void work_out_memory(struct model_answer *answer);

/** Bytes of weights that a GPU with this prefill step holds; the vision step must be known. */
double weights_held(const struct model_answer *answer, const llmperf_step *step);

void print_memory_text(const struct model_answer *answer);

#endif

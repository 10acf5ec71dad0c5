/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf model --gpu`: the steps of a model compared with the limits of a GPU. */
#ifndef LLMPERF_TOOL_MODEL_GPU_H
#define LLMPERF_TOOL_MODEL_GPU_H

#include "command.h"
#include "model/answer.h"

/** "prefill", "decode", "vision". */
extern const char *const phase_names[PHASES];

const llmperf_step *model_step(const struct model_answer *answer, enum model_phase phase);

/** A GPU of the table, or "local": the first one here. @return a status of the library */
int find_gpu(const char *name, llmperf_hardware **hardware);

/** Fill answer->gpu. @return EXIT_FINE; else a message was printed */
int take_gpu(const struct command *command, const char *name, struct model_answer *answer);

/** After the work is known. @return a status of the library */
int work_out_gpu(struct model_answer *answer);

void free_gpu(struct model_answer *answer);

/** Decimal places of a number with so many significant digits; all before the point are shown. */
int model_decimals(double value, int digits);

void print_gpu_text(const struct model_answer *answer);

#endif

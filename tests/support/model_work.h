/* SPDX-License-Identifier: Apache-2.0 */
/** What tests of a model's work share. A call that fails ends the test. */
#ifndef TESTS_SUPPORT_MODEL_WORK_H
#define TESTS_SUPPORT_MODEL_WORK_H

#include "llmperf/model.h"

/** A description of tests/data/model. Yours: llmperf_model_free(). */
llmperf_model *open_test_model(const char *name);
llmperf_model_info info_of(const llmperf_model *model);

/** A step of one request; the arrays are borrowed. */
llmperf_step step_of(uint32_t phase, const uint64_t *tokens, const uint64_t *cached);

llmperf_work work_of(const llmperf_model *model, const llmperf_step *step);
llmperf_work prefill_work(const llmperf_model *model, uint64_t tokens, uint64_t cached,
                          uint32_t logits);
llmperf_work decode_work(const llmperf_model *model, uint64_t context);

/** The row of an operator; `kind` NULL: of any kind of layer. */
llmperf_operator_work find_operator_work(const llmperf_model *model, const llmperf_step *step,
                                         const char *name, const char *kind);

#endif

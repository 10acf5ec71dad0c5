/* SPDX-License-Identifier: Apache-2.0 */
/** What tests tell the stand-in for libcuda, by dlsym(). */
#ifndef TESTS_MOCK_CUDA_H
#define TESTS_MOCK_CUDA_H

struct mock_cuda {
    int gpus;
    unsigned active; /* bits of GPUs with an active primary context */
    int init_result, count_result, synchronize_result;
};

/** The context of this thread. */
void mock_context(void *context);

void mock_cuda_set(const struct mock_cuda *wanted);

#endif

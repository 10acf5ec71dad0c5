/* SPDX-License-Identifier: Apache-2.0 */
/** What tests tell the stand-in for libcuda about memory, streams and events, by dlsym(), and what
 * of them is still held. */
#ifndef TESTS_MOCK_CUDA_BENCH_H
#define TESTS_MOCK_CUDA_BENCH_H

#include <stddef.h>
#include <stdint.h>

#define MOCK_EVENTS 256

struct mock_cuda_bench {
    size_t free_bytes;                              /* that the GPU has */
    int push_result, stream_result, event_result;   /* of these calls */
    int retained, pushed, buffers, streams, events; /* held now */
    size_t largest;                                 /* buffer that was asked for */
    int runs_copies;                                /* else they fail */
    uint64_t now_ns, recorded_ns[MOCK_EVENTS];      /* of the device; of events */
    void *pinned;                                   /* host memory; NULL: none */
};

struct mock_cuda_bench *mock_cuda_bench(void);

#endif

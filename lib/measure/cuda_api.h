/* SPDX-License-Identifier: Apache-2.0 */
/** The driver functions that run and time work on a GPU, found at run time.
 * @threads one at a time per object */
#ifndef LP_MEASURE_CUDA_API_H
#define LP_MEASURE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

/** Address on the device. */
typedef uint64_t lp_device_address;

/** CUresult and CUdevice are ints; contexts, streams, events, modules and functions are pointers. 0
 * is success. */
struct lp_cuda {
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_push)(void *context);
    int (*context_pop)(void **context);
    int (*memory_info)(size_t *free_bytes, size_t *total_bytes);
    int (*memory_alloc)(lp_device_address *address, size_t bytes);
    int (*memory_free)(lp_device_address address);
    int (*copy)(lp_device_address to, lp_device_address from, size_t bytes, void *stream);
    int (*copy_in)(lp_device_address to, const void *from, size_t bytes, void *stream);
    int (*copy_out)(void *to, lp_device_address from, size_t bytes, void *stream);
    int (*host_alloc)(void **address, size_t bytes); /* pinned */
    int (*host_free)(void *address);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
    int (*stream_destroy)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_elapsed)(float *ms, void *start, void *end);
    int (*event_destroy)(void *event);
    int (*module_load)(void **module, const void *image);
    int (*module_function)(void **function, void *module, const char *name);
    int (*module_unload)(void *module);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void *stream, void **parameters, void **extra);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **executable, void *graph, unsigned long long flags);
    int (*graph_launch)(void *executable, void *stream);
    int (*graph_destroy)(void *graph);
    int (*graph_exec_destroy)(void *executable);
    int (*error_string)(int result, const char **text);
};

/** Fill the table. 0; LLMPERF_ENODEVICE: no driver, or one without a function that is needed. */
int lp_cuda_open(struct lp_cuda *cuda);

/** Error text for a failed call: LLMPERF_ENOMEM when the device has too little memory, else
 * LLMPERF_ENODEVICE. */
int lp_cuda_error(const struct lp_cuda *cuda, const char *what, int result);

#endif

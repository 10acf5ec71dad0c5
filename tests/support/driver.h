/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions over stand-ins for libcupti and libcuda: what the driver calls back and records is what
 * the test says. */
#ifndef TESTS_SUPPORT_DRIVER_H
#define TESTS_SUPPORT_DRIVER_H

#include "tests/mock/cuda.h"
#include "tests/mock/cupti.h"
#include "tests/support/play.h"

/* Callback ids of the driver. */
enum {
    LAUNCH_KERNEL = 307,
    MEMCPY_HTOD = 277,
    MEMSET_D8 = 249,
    MEMCPY_PEER = 319,
    LAUNCH_GRAPH = 514,
    INSTANTIATE = 643,
    UPDATE = 696,
    CAPTURE_BEGIN = 495,
    CAPTURE_END = 497
};

extern const struct mock_cupti *cupti;
extern const struct mock_activity *driver;
extern void (*set_context)(void *context);
extern void (*set_cuda)(const struct mock_cuda *wanted);
extern const struct mock_call kernel; /* a launch of one kernel, "kernel" */

/** Open the stand-ins; from then on the library finds a GPU. Ends the program where it cannot. */
void load_driver(void);

/** cmocka setup: the stand-ins as they were at first, with one GPU and no context. */
int reset_driver(void **state);

/** Tier deep; CUPTI is given up at the session's end. */
llmperf_session_options deep_options(void);
llmperf_session *start_with(const llmperf_session_options *options);
llmperf_session *start_deep(void);

void launch(int count);

/** Stop a session that launched so many kernels, all of which were recorded. */
void check_complete(llmperf_session *session, uint64_t kernels);

/** A session of tier deep is refused with this error. */
void refuse(int status, const char *part);

#endif

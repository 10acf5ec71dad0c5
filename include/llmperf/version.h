/* SPDX-License-Identifier: Apache-2.0 */
/** Version of the headers. The shared library's soname is libllmperf.so.MAJOR. */
#ifndef LLMPERF_VERSION_H
#define LLMPERF_VERSION_H

#define LLMPERF_VERSION_MAJOR  0
#define LLMPERF_VERSION_MINOR  1
#define LLMPERF_VERSION_PATCH  0
#define LLMPERF_VERSION_STRING "0.1.0"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Injection: profile a program that does not know this library. `llmperf run -- PROGRAM` does all
 * of it.
 *
 * CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH name libllmperf.so; the CUDA driver and NVTX load
 * it then and call the functions below. The first of these calls, or the first region of a program
 * that is linked to the library, starts a session for the process. The call from CUDA adds the
 * device to it. The environment configures the session: LLMPERF_TIER; LLMPERF_RUN_DIR (folder of
 * the whole job) with LLMPERF_RUN_PID (the process whose run is in that folder; others are in
 * processes/ below it), or else LLMPERF_OUT; LLMPERF_RUN_CONFIG (a composed configuration). With
 * neither LLMPERF_RUN_DIR nor LLMPERF_OUT nothing is collected.
 *
 * The session ends with the program, or when the program starts a session of its own: nothing is
 * measured twice. */
#ifndef LLMPERF_SYS_INJECT_H
#define LLMPERF_SYS_INJECT_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** For the CUDA driver, at the program's first use of CUDA. @return 1; 0: nothing is collected.
 * @threads any thread */
LLMPERF_API int InitializeInjection(void);

/** For NVTX, at the first call of each shared object that uses it: its ranges become regions.
 *
 * @param get_export_table  NVTX's function, `const void *(*)(uint32_t id)`; Borrowed, used during
 * the call.
 * @return 1; 0: the ranges of this object go nowhere. @threads any thread */
LLMPERF_API int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

/** For NVTX, which calls it when a shared object first uses an extension. Ranges that are opened or
 * closed with a payload (NCCL does so) become regions like others.
 *
 * @param module_info  NVTX's description of the extension, nvtxExtModuleInfo_t; Borrowed, its
 * function slots are filled during the call.
 * @return 1; 0: the extension has no ranges. @threads any thread */
LLMPERF_API int InitializeInjectionNvtxExtension(void *module_info);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Injection: profile a program that does not use this library. `llmperf run -- PROGRAM` sets
 * everything up.
 *
 * The environment variables CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH name libllmperf.so. The
 * CUDA driver and NVTX then load it and call the functions below. The first such call, or the first
 * region of a program that is linked to the library, starts a session for the process; the call
 * from the CUDA driver adds the device. These environment variables configure the session:
 * - LLMPERF_TIER: the tier.
 * - LLMPERF_RUN_DIR: folder of the whole job. LLMPERF_RUN_PID is the process whose run is in that
 *   folder; others are in processes/ below it.
 * - LLMPERF_OUT: folder of runs, without LLMPERF_RUN_DIR. Without both nothing is collected.
 * - LLMPERF_ATTACH: without both, 1 makes the process wait for llmperf_attach_start().
 * - LLMPERF_RUN_CONFIG: a composed configuration.
 * - LLMPERF_FOUND_MODEL: the model that `llmperf run` found in the command line of the program.
 *
 * The session ends with the program, or when the program starts a session of its own. */
#ifndef LLMPERF_SYS_INJECT_H
#define LLMPERF_SYS_INJECT_H

#include <stddef.h>
#include <stdint.h>

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Called by the CUDA driver when the program first uses CUDA.
 *
 * @return 1; 0: nothing is collected
 * @threads any thread */
LLMPERF_API int InitializeInjection(void);

/** Called by NVTX in each shared object that uses it, at its first call. Its ranges become regions.
 *
 * @param get_export_table  Function of NVTX, `const void *(*)(uint32_t id)`, used during the call.
 * @return 1; 0: ranges of this object are ignored
 * @threads any thread */
LLMPERF_API int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

/** Start a session in another process of this user that was started with LLMPERF_ATTACH=1 and has
 * loaded this library: by CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH, or because it is linked to
 * it. The process collects nothing and runs none of our code before.
 *
 * @param process_id  Process.
 * @param run_dir     Absolute path of the folder of the run. If it has a config.yaml, that is the
 * configuration of the session.
 * @param tier        LLMPERF_TIER_…; 0: as in the configuration.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT (no such process), LLMPERF_EBUSY (it is being
 * profiled), LLMPERF_ENOTSUP (it cannot be attached to; the error says what to do), LLMPERF_EIO, or
 * what llmperf_session_start() returned there.
 * @threads any thread */
LLMPERF_API int llmperf_attach_start(uint32_t process_id, const char *run_dir, uint32_t tier);

/** Stop that session. Its run.llmperf is complete then; reports are not written. CUPTI is released.
 *
 * @param run_dir_out  The folder of its run; may be NULL.
 * @param size         Of `run_dir_out`.
 * @return as llmperf_attach_start(); LLMPERF_ESTATE: there is no such session.
 * @threads any thread */
LLMPERF_API int llmperf_attach_stop(uint32_t process_id, char *run_dir_out, size_t size);

/** Called by NVTX when a shared object first uses an extension. Ranges that are opened or closed
 * with a payload, as NCCL does, become regions.
 *
 * @param module_info  nvtxExtModuleInfo_t of NVTX, Borrowed; its function slots are filled.
 * @return 1; 0: the extension has no ranges
 * @threads any thread */
LLMPERF_API int InitializeInjectionNvtxExtension(void *module_info);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Configuration and model files: read a YAML file, look values up by dotted key ("input.shape.0").
 *
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LLMPERF_CONFIG_H
#define LLMPERF_CONFIG_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct llmperf_config llmperf_config;

/** Folder with the data files of the library (models, hardware, schemas): LLMPERF_CONFIG_DIR, else beside the installed library,
 * else the source tree it was built from. NULL if none of them exists (then llmperf_last_error() says so). @threads any thread */
LLMPERF_API const char *llmperf_config_dir(void);

/** Read one YAML document.
 *
 * @param path        Borrowed. A relative path that does not exist is tried below llmperf_config_dir() too.
 * @param config_out  Yours: llmperf_config_free().
 * @return LLMPERF_OK, LLMPERF_ENOENT, LLMPERF_EFORMAT (the error names file and line), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_config_open(const char *path, llmperf_config **config_out);

/** Values by key; list elements by index ("blocks.0.width"). The error names file, line and key.
 * @return LLMPERF_OK; LLMPERF_ENOENT (no such key), LLMPERF_EFORMAT (not a value of this type). */
LLMPERF_API int llmperf_config_integer(const llmperf_config *config, const char *key, int64_t *value_out);
LLMPERF_API int llmperf_config_number(const llmperf_config *config, const char *key, double *value_out);
LLMPERF_API int llmperf_config_text(const llmperf_config *config, const char *key, const char **value_out);

/** Number of elements of a list or keys of a map; 0 for values and missing keys. */
LLMPERF_API size_t llmperf_config_length(const llmperf_config *config, const char *key);

/** NULL is fine. */
LLMPERF_API void llmperf_config_free(llmperf_config *config);

#ifdef __cplusplus
}
#endif
#endif

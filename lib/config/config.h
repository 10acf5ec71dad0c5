/* SPDX-License-Identifier: Apache-2.0 */
/** Functions on configurations for other folders, besides llmperf/sys/config.h.
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LP_CONFIG_CONFIG_H
#define LP_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "llmperf/sys/config.h"

#define LP_MODEL_PATH_BYTES 4096

/** Find the description of a model: a file, the config.json of a folder, or a name in the data
 * files. 0; LLMPERF_ENOENT, LLMPERF_EFORMAT (not a regular file, or too large), LLMPERF_EIO. */
int lp_model_find(const char *model, char path[LP_MODEL_PATH_BYTES]);

/** Name of a model, as a part of `path`: "llama_3_8b" in llama_3_8b.default.yaml, or the folder of
 * a config.json. */
const char *lp_model_name(const char *path, size_t *length_out);

/** Read a manifest of inputs: a list of paths or of maps with a path, or a map with such a list at
 * "inputs". Paths become absolute (relative to the manifest's folder), and file sizes are added.
 * @param text_out  inputs.yaml of a run: free().
 * @return 0; LLMPERF_ENOENT, LLMPERF_EFORMAT (file and line), LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_inputs_read(const char *file, char **text_out);

/** Read a value if it exists and is not null; otherwise *value_out is unchanged. Limits of the
 * option table apply even if the configuration was not composed.
 * @return 0; LLMPERF_EFORMAT with file and line. */
int lp_config_take_text(const llmperf_config *config, const char *key, const char **value_out);
int lp_config_take_integer(const llmperf_config *config, const char *key, int64_t *value_out);
int lp_config_take_truth(const llmperf_config *config, const char *key, bool *value_out);

/** Apply KEY=VALUE; the key may be new. 0; LLMPERF_EINVAL, LLMPERF_ENOMEM. */
int lp_config_set(llmperf_config *config, const char *text);

/** Set an error text that starts with a value's file and line.
 * @return LLMPERF_EFORMAT */
int lp_config_refuse(const llmperf_config *config, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

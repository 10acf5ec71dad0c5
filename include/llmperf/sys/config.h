/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Configuration files: read one YAML file or compose several, and look values up by dotted key
 * ("input.shape.0"). */
#ifndef LLMPERF_SYS_CONFIG_H
#define LLMPERF_SYS_CONFIG_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Formats of llmperf_config_document(). */
enum {
    LLMPERF_CONFIG_YAML = 0, /**< reads back as the same values */
    LLMPERF_CONFIG_JSON = 1  /**< numbers are JSON numbers */
};

/** Folder with the library's data files (models, hardware, schemas): LLMPERF_CONFIG_DIR, else next
 * to the installed library, else the source tree that the library was built from.
 *
 * @return Static text; NULL: none of them exists (llmperf_last_error() says so).
 * @threads any thread */
LLMPERF_API const char *llmperf_config_dir(void);

/** Read a YAML file.
 *
 * @param path        A relative path that does not exist is also tried in llmperf_config_dir().
 * @param config_out  Yours: llmperf_config_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT, LLMPERF_EFORMAT (the error names file and line),
 * LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_config_open(const char *path, llmperf_config **config_out);

/** Read YAML from a text, such as config.yaml of a run.
 *
 * @param text        Borrowed.
 * @param config_out  Yours: llmperf_config_free().
 * @return as llmperf_config_open()
 * @threads any thread */
LLMPERF_API int llmperf_config_parse(const char *text, llmperf_config **config_out);

/** Compose a configuration the way Hydra 1.3 does: a first file, the files of its defaults lists,
 * overrides, then interpolation. docs/reference/configuration.md has the grammar and the parts of
 * Hydra that are not supported. A text at key `model` (or in an override "model=NAME") is replaced
 * with the description of that model; its name is then at `model.name`. Overrides such as
 * "model.num_hidden_layers=4" are applied after that.
 *
 * @param name            A name in llmperf_config_dir() ("config"), or the path of a YAML file; its
 * folder is then searched first. If the data files have no "config", it is an empty configuration.
 * @param overrides       Borrowed: "key=value", "+key=value", "++key=value", "~key",
 * "group=option", "group@package=option". NULL: none.
 * @param override_count  Number of overrides.
 * @param model           As for llmperf_model_open(); replaces `model` of the files. NULL: none.
 * @param config_out      Yours: llmperf_config_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT (a file, an option or a model), LLMPERF_EINVAL (an override),
 * LLMPERF_EFORMAT (also a value that a key of conf/config.yaml does not take), LLMPERF_EIO,
 * LLMPERF_ENOMEM. The error names file and line or the override, and the nearest name or the
 * possible values.
 * @threads any thread */
LLMPERF_API int llmperf_config_compose(const char *name, const char *const *overrides,
                                       size_t override_count, const char *model,
                                       llmperf_config **config_out);

/** Value of a key as an integer.
 *
 * @param key        Dotted key; elements of lists by number ("blocks.0.width").
 * @param value_out  The value.
 * @return LLMPERF_OK; LLMPERF_ENOENT (no such key), LLMPERF_EFORMAT (not such a value; the error
 * names file, line and key).
 * @threads any thread */
LLMPERF_API int llmperf_config_integer(const llmperf_config *config, const char *key,
                                       int64_t *value_out);

/** Value of a key as a number.
 *
 * @param value_out  The value.
 * @return as llmperf_config_integer()
 * @threads any thread */
LLMPERF_API int llmperf_config_number(const llmperf_config *config, const char *key,
                                      double *value_out);

/** Value of a key as a text.
 *
 * @param value_out  Belongs to the configuration.
 * @return as llmperf_config_integer()
 * @threads any thread */
LLMPERF_API int llmperf_config_text(const llmperf_config *config, const char *key,
                                    const char **value_out);

/** Value of a key as 1 or 0: true, yes, on or false, no, off, as in YAML 1.1.
 *
 * @param value_out  1 or 0.
 * @return as llmperf_config_integer()
 * @threads any thread */
LLMPERF_API int llmperf_config_boolean(const llmperf_config *config, const char *key,
                                       int32_t *value_out);

/** Is there a value, list or map at a key that is not null? Sets no error.
 *
 * @return 1 or 0
 * @threads any thread */
LLMPERF_API int32_t llmperf_config_has(const llmperf_config *config, const char *key);

/** Number of elements of a list, or of keys of a map.
 *
 * @return 0 for other values and for missing keys.
 * @threads any thread */
LLMPERF_API size_t llmperf_config_length(const llmperf_config *config, const char *key);

/** A key of a map, in the order of the file.
 *
 * @param index  From 0.
 * @return Belongs to the configuration; NULL past the last, or if it is not a map.
 * @threads any thread */
LLMPERF_API const char *llmperf_config_key(const llmperf_config *config, const char *key,
                                           size_t index);

/** Where a value comes from.
 *
 * @param file_out  A path, or the override. Belongs to the configuration.
 * @param line_out  From 1; 0 for an override.
 * @return LLMPERF_OK; LLMPERF_ENOENT, LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_config_origin(const llmperf_config *config, const char *key,
                                      const char **file_out, uint32_t *line_out);

/** A value, list or map as a document.
 *
 * @param key       "": the whole configuration.
 * @param format    LLMPERF_CONFIG_…
 * @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT, LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_config_document(const llmperf_config *config, const char *key,
                                        uint32_t format, char **text_out);

/** SHA-256 of the YAML document, as sha256sum prints it for config.yaml of a run.
 *
 * @param hex_out  64 hexadecimal digits. Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_config_fingerprint(const llmperf_config *config, char **hex_out);

/** Free a configuration.
 *
 * @param config  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_config_free(llmperf_config *config);

#ifdef __cplusplus
}
#endif
#endif

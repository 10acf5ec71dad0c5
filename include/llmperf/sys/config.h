/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Configuration and model files: read a YAML file or compose one of several, look values up by
 * dotted key ("input.shape.0").
 *
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LLMPERF_SYS_CONFIG_H
#define LLMPERF_SYS_CONFIG_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Folder with the data files of the library (models, hardware, schemas): LLMPERF_CONFIG_DIR, else
 * beside the installed library, else the source tree it was built from. NULL if none of them exists
 * (then llmperf_last_error() says so). @threads any thread */
LLMPERF_API const char *llmperf_config_dir(void);

/** Read one YAML document.
 *
 * @param path        Borrowed. A relative path that does not exist is tried below
 * llmperf_config_dir() too.
 * @param config_out  Yours: llmperf_config_free().
 * @return LLMPERF_OK, LLMPERF_ENOENT, LLMPERF_EFORMAT (the error names file and line),
 * LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_config_open(const char *path, llmperf_config **config_out);

/** Read one YAML document from a text, such as config.yaml of a run. As llmperf_config_open(). */
LLMPERF_API int llmperf_config_parse(const char *text, llmperf_config **config_out);

/** Compose a configuration, as Hydra 1.3 does: a first file, the files of its defaults lists,
 * overrides; then interpolation. docs/reference/configuration.md has the grammar, and what of Hydra
 * there is not.
 *
 * @param name            A name in llmperf_config_dir() ("config"), or the path of a YAML file,
 * whose folder is searched first.
 * @param overrides       Borrowed: "key=value", "+key=value", "++key=value", "~key",
 * "group=option", "group@package=option".
 * @param override_count  0: none, then overrides may be NULL.
 * @param config_out      Yours: llmperf_config_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT (a file or an option), LLMPERF_EINVAL (an override),
 * LLMPERF_EFORMAT (also a key of conf/config.yaml, such as run.mode, with a value that it does not
 * take), LLMPERF_EIO, LLMPERF_ENOMEM. The error names file and line, or the override, and the
 * nearest key or option, or the values that there are. */
LLMPERF_API int llmperf_config_compose(const char *name, const char *const *overrides,
                                       size_t override_count, llmperf_config **config_out);

/** Compose a configuration as llmperf_config_compose(), for a run of a model: a text at key `model`
 * (`model: llama_3_8b` or the path of a config.json) or in an override "model=NAME" is replaced by
 * the description that it names, with the name at `model.name`. Overrides such as
 * "model.num_hidden_layers=4" are applied after that. A session and the command line compose this
 * way. If the data files have no "config", name "config" is an empty configuration.
 *
 * @param model  As for llmperf_model_open(); replaces what the files have at `model`. NULL: none.
 * @return as llmperf_config_compose(); also LLMPERF_ENOENT if there is no such model. */
LLMPERF_API int llmperf_config_compose_model(const char *name, const char *const *overrides,
                                             size_t override_count, const char *model,
                                             llmperf_config **config_out);

/** Values by key; list elements by index ("blocks.0.width"). The error names file, line and key.
 * @return LLMPERF_OK; LLMPERF_ENOENT (no such key), LLMPERF_EFORMAT (not a value of this type). */
LLMPERF_API int llmperf_config_integer(const llmperf_config *config, const char *key,
                                       int64_t *value_out);
LLMPERF_API int llmperf_config_number(const llmperf_config *config, const char *key,
                                      double *value_out);
LLMPERF_API int llmperf_config_text(const llmperf_config *config, const char *key,
                                    const char **value_out);
/** 1 or 0; true, yes, on and false, no, off count, as in YAML 1.1. @return as
 * llmperf_config_integer(). */
LLMPERF_API int llmperf_config_boolean(const llmperf_config *config, const char *key,
                                       int32_t *value_out);

/** 1: there is a value, list or map of this key, and it is not null; else 0. Sets no error. */
LLMPERF_API int32_t llmperf_config_has(const llmperf_config *config, const char *key);

/** Number of elements of a list or keys of a map; 0 for values and missing keys. */
LLMPERF_API size_t llmperf_config_length(const llmperf_config *config, const char *key);

/** Key number `index` of a map, in the order of the file; NULL beyond its end or for what is no
 * map. Valid until llmperf_config_free(). */
LLMPERF_API const char *llmperf_config_key(const llmperf_config *config, const char *key,
                                           size_t index);

/** Where a value comes from.
 * @param file_out  Valid until llmperf_config_free(): a path, or the override.
 * @param line_out  From 1; 0 for an override.
 * @return LLMPERF_OK, LLMPERF_ENOENT, LLMPERF_EINVAL. */
LLMPERF_API int llmperf_config_origin(const llmperf_config *config, const char *key,
                                      const char **file_out, uint32_t *line_out);

/** Formats of llmperf_config_document(). YAML reads back as the same values; in JSON numbers are
 * numbers. */
enum { LLMPERF_CONFIG_YAML = 0, LLMPERF_CONFIG_JSON = 1 };

/** A value, list or map as text; "" is all of it.
 * @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK, LLMPERF_ENOENT, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_config_document(const llmperf_config *config, const char *key,
                                        uint32_t format, char **text_out);

/** SHA-256 of the YAML document: 64 hexadecimal digits, what sha256sum prints for the config.yaml
 * of a run.
 * @param hex_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_config_fingerprint(const llmperf_config *config, char **hex_out);

/** NULL is fine. */
LLMPERF_API void llmperf_config_free(llmperf_config *config);

#ifdef __cplusplus
}
#endif
#endif

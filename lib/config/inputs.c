/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/config/image_size.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/config/config.h"

/* State of reading one manifest. */
struct manifest {
    llmperf_config *config;
    char folder[PATH_MAX];
    struct lp_text out;
};

/* The path of a missing file is kept; its size is null. `sized`: the entry has a width or height.
 */
static void put_path(struct manifest *manifest, const char *path, bool sized)
{
    char joined[2 * PATH_MAX], real[PATH_MAX];
    uint32_t width, height;
    struct stat info;

    snprintf(joined, sizeof(joined), "%s%s%s", *path == '/' ? "" : manifest->folder,
             *path == '/' ? "" : "/", path);
    lp_text_puts(&manifest->out, "  - path: ");
    lp_text_json(&manifest->out, realpath(joined, real) ? real : joined);
    if (stat(joined, &info) == 0)
        lp_text_printf(&manifest->out, "\n    size_bytes: %" PRIdMAX "\n", (intmax_t)info.st_size);
    else
        lp_text_puts(&manifest->out, "\n    size_bytes: null\n");
    if (!sized && lp_image_size(joined, &width, &height))
        lp_text_printf(&manifest->out, "    width: %" PRIu32 "\n    height: %" PRIu32 "\n", width,
                       height);
}

static bool has_key(const struct manifest *manifest, const char *key, const char *name)
{
    const char *found;

    for (size_t i = 0; (found = llmperf_config_key(manifest->config, key, i)); i++)
        if (strcmp(found, name) == 0)
            return true;
    return false;
}

/* Other members of an entry, such as a category, are kept if they are scalars. */
static int put_rest(struct manifest *manifest, const char *key)
{
    const char *name;
    char path[512], *value;
    int status = 0;

    for (size_t i = 0; status == 0 && (name = llmperf_config_key(manifest->config, key, i)); i++) {
        if (strcmp(name, "path") == 0 || strcmp(name, "size_bytes") == 0)
            continue;
        snprintf(path, sizeof(path), "%s.%s", key, name);
        if (llmperf_config_length(manifest->config, path) > 0)
            return lp_config_refuse(manifest->config, path,
                                    "an input must not contain lists or maps");
        if ((status =
                 llmperf_config_document(manifest->config, path, LLMPERF_CONFIG_YAML, &value)) < 0)
            break;
        lp_text_puts(&manifest->out, "    ");
        lp_text_json(&manifest->out, name);
        lp_text_printf(&manifest->out, ": %s", value);
        llmperf_text_free(value);
    }
    return status;
}

static int put_entry(struct manifest *manifest, const char *key)
{
    bool is_map = llmperf_config_key(manifest->config, key, 0) != NULL;
    char path_key[128];
    const char *path;
    int status;

    snprintf(path_key, sizeof(path_key), "%s%s", key, is_map ? ".path" : "");
    if ((status = llmperf_config_text(manifest->config, path_key, &path)) < 0)
        return status;
    put_path(manifest, path, has_key(manifest, key, "width") || has_key(manifest, key, "height"));
    return is_map ? put_rest(manifest, key) : 0;
}

static int put_entries(struct manifest *manifest, const char *file)
{
    bool is_map = llmperf_config_key(manifest->config, "", 0) != NULL;
    const char *list = is_map ? "inputs" : "";
    size_t count = llmperf_config_length(manifest->config, list);
    char key[64];
    int status = 0;

    if (count == 0 || llmperf_config_key(manifest->config, list, 0))
        return lp_error(LLMPERF_EFORMAT,
                        "%s: a manifest must be a list of paths, or of maps with a path", file);
    lp_text_puts(&manifest->out, "inputs:\n");
    for (size_t i = 0; status == 0 && i < count; i++) {
        snprintf(key, sizeof(key), "%s%s%zu", list, *list ? "." : "", i);
        status = put_entry(manifest, key);
    }
    return status;
}

int lp_inputs_read(const char *file, char **text_out)
{
    struct manifest manifest = { 0 };
    int status = llmperf_config_open(file, &manifest.config);

    if (status < 0)
        return status;
    if (!realpath(file, manifest.folder))
        status = lp_error(LLMPERF_ENOENT, "inputs.manifest: file %s not found", file);
    else
        *strrchr(manifest.folder, '/') = '\0';
    if (status == 0)
        status = put_entries(&manifest, file);
    if (status == 0)
        status = lp_text_take(&manifest.out, text_out);
    else
        lp_text_clear(&manifest.out);
    llmperf_config_free(manifest.config);
    return status;
}

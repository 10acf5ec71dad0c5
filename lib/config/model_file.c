/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the description and the name of a model. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/config/config.h"

/* A config.json has some kilobytes, or a few hundred with label maps of classifiers. */
#define FILE_BYTES_MAX (16 << 20)

/* Path in the data files: model/NAME/arch/NAME.default.yaml. */
static bool find_by_name(const char *name, char *path)
{
    const char *folder = strchr(name, '/') ? NULL : llmperf_config_dir();
    char plain[256];

    if (!folder || strlen(name) >= sizeof(plain))
        return false;
    snprintf(plain, sizeof(plain), "%s", name);
    for (char *at = plain; *at; at++)
        if (*at == '-' || *at == '.')
            *at = '_';
    return snprintf(path, LP_MODEL_PATH_BYTES, "%s/model/%s/arch/%s.default.yaml", folder, plain,
                    plain) < LP_MODEL_PATH_BYTES &&
           lp_path_exists(path);
}

static int check_file(const char *path)
{
    struct stat info;

    if (stat(path, &info) < 0)
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return lp_error(LLMPERF_EFORMAT, "%s is not a regular file; give a config.json", path);
    if (info.st_size > FILE_BYTES_MAX)
        return lp_error(LLMPERF_EFORMAT,
                        "%s is too large for a model description: %" PRIu64 " bytes; at most %d",
                        path, (uint64_t)info.st_size, FILE_BYTES_MAX);
    return 0;
}

int lp_model_find(const char *model, char path[LP_MODEL_PATH_BYTES])
{
    if (!*model)
        return lp_error(LLMPERF_ENOENT, "the name of the model is empty; give a config.json, a "
                                        "folder with one, or a name from llmperf model --list");
    if (strlen(model) + sizeof("/config.json") > LP_MODEL_PATH_BYTES)
        return lp_error(LLMPERF_ENOENT, "the path of the model is too long");
    if (lp_path_is_folder(model))
        snprintf(path, LP_MODEL_PATH_BYTES, "%s/config.json", model);
    else if (lp_path_exists(model) || !find_by_name(model, path))
        snprintf(path, LP_MODEL_PATH_BYTES, "%s", model);
    if (lp_path_exists(path))
        return check_file(path);
    return lp_error(LLMPERF_ENOENT,
                    "%.200s is neither a file nor a known model; give a config.json, a folder with "
                    "one, or a name from llmperf model --list",
                    path);
}

const char *lp_model_name(const char *path, size_t *length_out)
{
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;

    *length_out = strcspn(start, ".");
    if (strcmp(start, "config.json") != 0 || !slash)
        return start;
    for (start = slash; start > path && start[-1] != '/';)
        start--;
    *length_out = (size_t)(slash - start);
    return start;
}

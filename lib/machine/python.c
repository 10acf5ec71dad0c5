/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/machine/python.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDERS_MOST  8
#define VERSION_BYTES 64

/* A package is loaded if one of its libraries is mapped. NULL: it has none, so only the version
 * that is installed beside loaded packages is known. */
static const struct package {
    const char *name;    /* in env.json */
    const char *files;   /* start of the names of its libraries in site-packages */
    const char *project; /* name in front of the version, in lower case */
} packages[] = {
    { "torch", "torch/", "torch" },
    { "triton", "triton/", "triton" },
    { "vllm", "vllm/", "vllm" },
    { "sglang", "sgl_kernel/", "sglang" },
    { "jax", "jaxlib/", "jax" },
    { "flash-attn", "flash_attn", "flash_attn" },
    { "transformers", NULL, "transformers" },
};
#define PACKAGES (sizeof(packages) / sizeof(packages[0]))

struct found {
    char python[16];              /* "3.11", from the name of a file; "": none was mapped */
    char *folders[FOLDERS_MOST];  /* site-packages of mapped files */
    const char *loaded[PACKAGES]; /* one of these folders */
};

/* The interpreter is a program, python3.11, or a library, libpython3.11.so.1.0. */
static void find_interpreter(struct found *found, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    int minor;

    name += strncmp(name, "lib", 3) == 0 ? 3 : 0;
    if (sscanf(name, "python3.%3d", &minor) == 1)
        snprintf(found->python, sizeof(found->python), "3.%d", minor);
}

static const char *remember_folder(struct found *found, const char *path, size_t length)
{
    for (size_t i = 0; i < FOLDERS_MOST; i++) {
        if (!found->folders[i])
            return found->folders[i] = strndup(path, length);
        if (strlen(found->folders[i]) == length && memcmp(found->folders[i], path, length) == 0)
            return found->folders[i];
    }
    return NULL;
}

static void look_at_file(struct found *found, const char *path)
{
    static const char *const names[] = { "/site-packages/", "/dist-packages/" };

    find_interpreter(found, path);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *at = strstr(path, names[i]), *file = at ? at + strlen(names[i]) : NULL;
        const char *folder = at ? remember_folder(found, path, (size_t)(file - path)) : NULL;

        for (size_t p = 0; p < PACKAGES && folder; p++)
            if (packages[p].files &&
                strncmp(file, packages[p].files, strlen(packages[p].files)) == 0)
                found->loaded[p] = folder;
    }
}

static void read_maps(struct found *found)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];

    while (file && fgets(line, sizeof(line), file)) {
        char *path = strchr(line, '/');

        if (path)
            look_at_file(found, path);
    }
    if (file)
        fclose(file);
}

/* PROJECT-VERSION.dist-info, PROJECT-VERSION.egg-info or PROJECT-VERSION-pyX.Y.egg-info. */
static bool read_version(const char *name, const char *project, char *version)
{
    static const char *const ends[] = { "-py", ".dist-info", ".egg-info" };
    size_t length = strlen(project), size;
    const char *at = name + length + 1, *end = NULL;

    for (size_t i = 0; i < length; i++)
        if ((name[i] == '-' ? '_' : tolower((unsigned char)name[i])) != project[i])
            return false;
    if (name[length] != '-' || !isdigit((unsigned char)*at))
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && !end; i++)
        end = strstr(at, ends[i]);
    size = strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz.+!_");
    if (!end || (size_t)(end - at) > size || (size_t)(end - at) >= VERSION_BYTES)
        return false;
    snprintf(version, VERSION_BYTES, "%.*s", (int)(end - at), at);
    return true;
}

static bool installed_version(const char *folder, const char *project, char *version)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    while (directory && !found && (entry = readdir(directory)))
        found = read_version(entry->d_name, project, version);
    if (directory)
        closedir(directory);
    return found;
}

static bool version_of(const struct found *found, size_t index, char *version)
{
    const struct package *package = &packages[index];

    if (package->files)
        return found->loaded[index] &&
               installed_version(found->loaded[index], package->project, version);
    for (size_t i = 0; i < FOLDERS_MOST && found->folders[i]; i++)
        if (installed_version(found->folders[i], package->project, version))
            return true;
    return false;
}

static void put_packages(struct lp_json *json, const char *key, const struct found *found,
                         bool have_files)
{
    char version[VERSION_BYTES];

    lp_json_open(json, key, '{');
    for (size_t i = 0; i < PACKAGES; i++)
        if ((packages[i].files != NULL) == have_files)
            lp_json_string(json, packages[i].name, version_of(found, i, version) ? version : NULL);
    lp_json_close(json, '}');
}

void lp_python_json(struct lp_json *json)
{
    /* The number that Python 3.11 and newer keep in a variable: 0x030b07f0. */
    const unsigned long *number = dlsym(RTLD_DEFAULT, "Py_Version");
    struct found found = { .python = "" };

    read_maps(&found);
    if (number)
        snprintf(found.python, sizeof(found.python), "%lu.%lu.%lu", *number >> 24 & 0xff,
                 *number >> 16 & 0xff, *number >> 8 & 0xff);
    if (!found.python[0] && !found.folders[0]) {
        lp_json_null(json, "python");
        return;
    }
    lp_json_open(json, "python", '{');
    lp_json_string(json, "version", found.python[0] ? found.python : NULL);
    put_packages(json, "loaded", &found, true);
    put_packages(json, "installed", &found, false);
    lp_json_close(json, '}');
    for (size_t i = 0; i < FOLDERS_MOST; i++)
        free(found.folders[i]);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/machine/software.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define VERSION_BYTES 64

/* A package is loaded if one of its libraries is mapped. */
static const struct package {
    const char *name;    /* in env.json */
    const char *project; /* in the name of the folder with its version, in lower case */
    const char *files;   /* start of the paths of its libraries in site-packages. NULL: it has none;
                            the version that is installed beside a loaded package is taken */
} packages[] = {
    { "torch", "torch", "torch/" },
    { "triton", "triton", "triton/" },
    { "vllm", "vllm", "vllm/" },
    { "sglang", "sglang", "sgl_kernel/" },
    { "jax", "jax", "jaxlib/" },
    { "flash-attn", "flash_attn", "flash_attn" },
    { "transformers_installed", "transformers", NULL },
};
#define PACKAGES (sizeof(packages) / sizeof(packages[0]))

struct software {
    char python[VERSION_BYTES];
    char versions[PACKAGES][VERSION_BYTES]; /* "": not known */
    bool seen[PACKAGES];                    /* a library of it */
};

/* PROJECT-VERSION.dist-info, PROJECT-VERSION.egg-info or PROJECT-VERSION-pyX.Y.egg-info. */
static bool read_version(const char *name, const char *project, char *version)
{
    static const char *const ends[] = { "-py", ".dist-info", ".egg-info" };
    size_t length = strlen(project), allowed;
    const char *at = name + length + 1, *end = NULL;

    for (size_t i = 0; i < length; i++)
        if ((name[i] == '-' ? '_' : tolower((unsigned char)name[i])) != project[i])
            return false;
    if (name[length] != '-' || !isdigit((unsigned char)*at))
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && !end; i++)
        end = strstr(at, ends[i]);
    allowed = strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz.+!_");
    if (!end || (size_t)(end - at) > allowed || (size_t)(end - at) >= VERSION_BYTES)
        return false;
    snprintf(version, VERSION_BYTES, "%.*s", (int)(end - at), at);
    return true;
}

static void find_version(const char *folder, const char *project, char *version)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    while (directory && (entry = readdir(directory)) &&
           !read_version(entry->d_name, project, version))
        ;
    if (directory)
        closedir(directory);
}

/* `file`: after "site-packages/" in `path`. */
static void look_at_package(struct software *software, const char *path, const char *file)
{
    char folder[PATH_MAX];
    bool any = false;

    snprintf(folder, sizeof(folder), "%.*s", (int)(file - path), path);
    for (size_t i = 0; i < PACKAGES; i++) {
        const char *files = packages[i].files;
        bool found = files ? !software->seen[i] && strncmp(file, files, strlen(files)) == 0
                           : any && !software->versions[i][0];

        if (found)
            find_version(folder, packages[i].project, software->versions[i]);
        any |= found;
        software->seen[i] |= found;
    }
}

static void look_at_file(struct software *software, const char *path)
{
    static const char *const names[] = { "/site-packages/", "/dist-packages/" };
    const char *name = strrchr(path, '/') + 1;
    int minor;

    /* The interpreter is a program, python3.11, or a library, libpython3.11.so.1.0. */
    if (sscanf(name + (strncmp(name, "lib", 3) == 0 ? 3 : 0), "python3.%3d", &minor) == 1)
        snprintf(software->python, sizeof(software->python), "3.%d", minor);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *at = strstr(path, names[i]);

        if (at)
            look_at_package(software, path, at + strlen(names[i]));
    }
}

static void read_maps(struct software *software)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];

    while (file && fgets(line, sizeof(line), file)) {
        char *path = strchr(line, '/');

        if (path)
            look_at_file(software, path);
    }
    if (file)
        fclose(file);
}

static void put_version(struct lp_json *json, const char *name, const char *version)
{
    lp_json_string(json, name, version[0] ? version : NULL);
}

void lp_software_json(struct lp_json *json)
{
    /* The number that Python 3.11 and newer keep in a variable: 0x030b07f0. */
    const unsigned long *number = dlsym(RTLD_DEFAULT, "Py_Version");
    struct software software = { .python = "" };

    read_maps(&software);
    if (number)
        snprintf(software.python, sizeof(software.python), "%lu.%lu.%lu", *number >> 24 & 0xff,
                 *number >> 16 & 0xff, *number >> 8 & 0xff);
    lp_json_open(json, "software", '{');
    put_version(json, "python", software.python);
    for (size_t i = 0; i < PACKAGES; i++)
        put_version(json, packages[i].name, software.versions[i]);
    lp_json_close(json, '}');
}

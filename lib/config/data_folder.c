/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the data files of the library. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "lib/config/data_paths.h"
#include "llmperf/sys/config.h"

static pthread_once_t folder_once = PTHREAD_ONCE_INIT;
static char folder[PATH_MAX]; /* written once; "": none */

static bool take_folder(const char *path)
{
    char real[PATH_MAX];

    if (!lp_path_is_folder(path) || !realpath(path, real))
        return false;
    memcpy(folder, real, strlen(real) + 1);
    return true;
}

/* The file with this code. If statically linked, that is the program. dladdr() then returns a path
 * chosen by the program's caller, which must not be trusted if the program has more rights. */
static bool find_library(char *path)
{
    static const char self;
    struct link_map *map = NULL;
    Dl_info info;

    if (!dladdr1(&self, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    if (map->l_name[0])
        return realpath(map->l_name, path) != NULL;
    return !lp_variables_are_ignored() && realpath("/proc/self/exe", path);
}

/* PREFIX/share/llmperf of PREFIX/lib/libllmperf.so, or of
 * PREFIX/lib/x86_64-linux-gnu/libllmperf.so. */
static bool find_beside_library(void)
{
    static const char *const places[] = { "../share/llmperf", "../../share/llmperf" };
    char library[PATH_MAX], path[PATH_MAX + 32];
    char *slash;

    if (!find_library(library))
        return false;
    slash = strrchr(library, '/');
    *slash = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", library, places[i]);
        if (take_folder(path))
            return true;
    }
    return false;
}

static void find_folder(void)
{
    if (!find_beside_library() && !take_folder(LP_DATA_DIR) && !lp_variables_are_ignored())
        take_folder(LP_SOURCE_CONF_DIR);
}

const char *llmperf_config_dir(void)
{
    const char *chosen = lp_variable("LLMPERF_CONFIG_DIR");

    if (chosen && *chosen) {
        if (lp_path_is_folder(chosen))
            return chosen;
        lp_error(LLMPERF_ENOENT, "LLMPERF_CONFIG_DIR=%s is not a folder; correct or unset it",
                 chosen);
        return NULL;
    }
    pthread_once(&folder_once, find_folder);
    if (folder[0])
        return folder;
    lp_error(LLMPERF_ENOENT,
             "data files not found: neither next to the library nor in %s; set LLMPERF_CONFIG_DIR",
             LP_DATA_DIR);
    return NULL;
}

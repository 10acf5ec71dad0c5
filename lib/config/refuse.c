/* SPDX-License-Identifier: Apache-2.0 */
/* Telling what is wrong with a key or its value. */
#include <stdarg.h>
#include <stdio.h>

#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/config/inside.h"
#include "lib/config/nearest.h"

int lp_config_refuse(const llmperf_config *config, const char *key, const char *format, ...)
{
    const struct lp_value *value = lp_value_at(config->root, key);
    char place[512] = "", problem[512];
    va_list args;

    va_start(args, format);
    vsnprintf(problem, sizeof(problem), format, args);
    va_end(args);
    if (value)
        lp_value_place(value, place, sizeof(place));
    return lp_error(LLMPERF_EFORMAT, "%s%s%s: %s", place, *place ? ": " : "", key, problem);
}

static int check_key(const llmperf_config *config, const char *map, const char *key,
                     const char *const *names)
{
    const char *best = NULL;
    size_t distance = (size_t)-1;
    char path[256];

    /* Ours at the root are maps; a plain value there is the program's own. */
    if (!*map && llmperf_config_length(config, key) == 0)
        return 0;
    for (size_t i = 0; names[i]; i++) {
        size_t far = lp_distance(key, names[i]);

        if (far == 0)
            return 0;
        if (far < distance) {
            distance = far;
            best = names[i];
        }
    }
    if (!best || !lp_distance_is_near(key, distance))
        return 0;
    snprintf(path, sizeof(path), "%s%s%s", map, *map ? "." : "", key);
    return lp_config_refuse(config, path, "unknown key; nearest: %s%s%s", map, *map ? "." : "",
                            best);
}

int lp_config_check_keys(const llmperf_config *config, const char *key, const char *const *names)
{
    const char *found;
    int status = 0;

    for (size_t i = 0; status == 0 && (found = llmperf_config_key(config, key, i)); i++)
        status = check_key(config, key, found, names);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/yaml_tree.h"
#include "llmperf/config.h"

struct llmperf_config {
    struct lp_yaml_tree *tree;
};

/* What a key leads to. */
struct found {
    const struct lp_yaml_node *node;
    uint32_t line;
};

static pthread_once_t folder_once = PTHREAD_ONCE_INIT;
static char folder[PATH_MAX]; /* written once, under folder_once; "" if there is none */

static bool take_folder(const char *path)
{
    char real[PATH_MAX];

    if (!lp_path_is_folder(path) || !realpath(path, real))
        return false;
    memcpy(folder, real, strlen(real) + 1);
    return true;
}

/* PREFIX/share/llmperf of PREFIX/lib/libllmperf.so, or of
 * PREFIX/lib/x86_64-linux-gnu/libllmperf.so. */
static bool find_beside_library(void)
{
    static const char *const places[] = { "../share/llmperf", "../../share/llmperf" };
    static const char self;
    char library[PATH_MAX], path[PATH_MAX + 32];
    Dl_info info;
    char *slash;

    if (!dladdr(&self, &info) || !info.dli_fname || !realpath(info.dli_fname, library))
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
    if (!find_beside_library() && !take_folder(LP_DATA_DIR))
        take_folder(LP_SOURCE_CONF_DIR);
}

const char *llmperf_config_dir(void)
{
    const char *chosen = getenv("LLMPERF_CONFIG_DIR");

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
             "no data files: neither beside the library nor in %s; set LLMPERF_CONFIG_DIR",
             LP_DATA_DIR);
    return NULL;
}

/* The file itself, or for a relative path that does not exist the one below the data folder. NULL
 * without memory. */
static char *resolve(const char *path)
{
    const char *data = path[0] == '/' || lp_path_exists(path) ? NULL : llmperf_config_dir();
    char *joined = data ? lp_path_join(data, path) : NULL;

    if (data && (!joined || lp_path_exists(joined)))
        return joined;
    free(joined);
    return strdup(path);
}

int llmperf_config_open(const char *path, llmperf_config **config_out)
{
    llmperf_config *config;
    char *file;
    int status;

    if (!path || !config_out)
        return lp_error(LLMPERF_EINVAL, "path and config_out are required");
    config = calloc(1, sizeof(*config));
    file = resolve(path);
    if (!config || !file)
        status = lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", path);
    else
        status = lp_yaml_read(file, &config->tree);
    free(file);
    if (status < 0)
        free(config);
    else
        *config_out = config;
    return status;
}

/* Element of a list by a decimal index without sign or leading zeros. */
static const struct lp_yaml_entry *element(const struct lp_yaml_node *list, const char *index,
                                           size_t length)
{
    size_t number = 0;

    if (length == 0 || length > 9 || (length > 1 && index[0] == '0'))
        return NULL;
    for (size_t i = 0; i < length; i++) {
        if (index[i] < '0' || index[i] > '9')
            return NULL;
        number = number * 10 + (size_t)(index[i] - '0');
    }
    return number < list->count ? &list->entries[number] : NULL;
}

/* Follow the dots; the error names the line of the map or list that lacks the next part. */
static int find(const llmperf_config *config, const char *key, struct found *found_out)
{
    struct found at = { lp_yaml_root(config->tree), lp_yaml_root(config->tree)->line };

    for (const char *part = key; *key && part;) {
        size_t length = strcspn(part, ".");
        const struct lp_yaml_entry *entry = at.node->kind == LP_YAML_LIST
                                                ? element(at.node, part, length)
                                                : lp_yaml_get(at.node, part, length);

        if (!entry)
            return lp_error(LLMPERF_ENOENT, "%s:%u: no key \"%s\" (\"%.*s\" is missing)",
                            lp_yaml_name(config->tree), at.line, key, (int)length, part);
        at = (struct found){ entry->value, entry->line };
        part = part[length] ? part + length + 1 : NULL;
    }
    *found_out = at;
    return 0;
}

static int wrong_type(const llmperf_config *config, const char *key, struct found at,
                      const char *wanted)
{
    static const char *const kinds[] = { "a text", "a list", "a map" };
    const char *name = lp_yaml_name(config->tree);

    if (lp_yaml_is_null(at.node))
        return lp_error(LLMPERF_EFORMAT, "%s:%u: %s is empty; it must be %s", name, at.line, key,
                        wanted);
    if (at.node->kind != LP_YAML_TEXT)
        return lp_error(LLMPERF_EFORMAT, "%s:%u: %s is %s; it must be %s", name, at.line, key,
                        kinds[at.node->kind], wanted);
    return lp_error(LLMPERF_EFORMAT, "%s:%u: %s is %s%.100s%s; it must be %s", name, at.line, key,
                    at.node->is_string ? "the text \"" : "", at.node->text,
                    at.node->is_string ? "\"" : "", wanted);
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* [+-]digits without a leading zero, which YAML 1.1 would read as octal. */
static bool is_integer(const char *text)
{
    size_t digits;

    text += *text == '+' || *text == '-';
    digits = count_digits(text);
    return digits > 0 && text[digits] == '\0' && (digits == 1 || text[0] != '0');
}

/* [+-]digits[.digits][e[+-]digits], a digit before or behind the point. */
static bool is_number(const char *text)
{
    size_t whole, fraction = 0;

    text += *text == '+' || *text == '-';
    whole = count_digits(text);
    if (whole > 1 && text[0] == '0')
        return false;
    text += whole;
    if (*text == '.') {
        fraction = count_digits(text + 1);
        text += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        text += 1 + (text[1] == '+' || text[1] == '-');
        if (count_digits(text) == 0)
            return false;
        text += count_digits(text);
    }
    return *text == '\0';
}

int llmperf_config_integer(const llmperf_config *config, const char *key, int64_t *value_out)
{
    struct found at;
    long long value;
    int status;

    if (!config || !key || !value_out)
        return lp_error(LLMPERF_EINVAL, "config, key and value_out are required");
    if ((status = find(config, key, &at)) < 0)
        return status;
    if (at.node->kind != LP_YAML_TEXT || at.node->is_string || !is_integer(at.node->text))
        return wrong_type(config, key, at, "a decimal integer");
    errno = 0;
    value = strtoll(at.node->text, NULL, 10);
    if (errno == ERANGE)
        return wrong_type(config, key, at, "an integer of 64 bits");
    *value_out = value;
    return 0;
}

int llmperf_config_number(const llmperf_config *config, const char *key, double *value_out)
{
    struct found at;
    locale_t plain;
    double value;
    int status;

    if (!config || !key || !value_out)
        return lp_error(LLMPERF_EINVAL, "config, key and value_out are required");
    if ((status = find(config, key, &at)) < 0)
        return status;
    if (at.node->kind != LP_YAML_TEXT || at.node->is_string || !is_number(at.node->text))
        return wrong_type(config, key, at, "a decimal number");
    /* The process may have chosen a locale with a decimal comma. */
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", key);
    value = strtod_l(at.node->text, NULL, plain);
    freelocale(plain);
    if (!isfinite(value))
        return wrong_type(config, key, at, "within the range of a double");
    *value_out = value;
    return 0;
}

int llmperf_config_text(const llmperf_config *config, const char *key, const char **value_out)
{
    struct found at;
    int status;

    if (!config || !key || !value_out)
        return lp_error(LLMPERF_EINVAL, "config, key and value_out are required");
    if ((status = find(config, key, &at)) < 0)
        return status;
    if (at.node->kind != LP_YAML_TEXT || lp_yaml_is_null(at.node))
        return wrong_type(config, key, at, "a text");
    *value_out = at.node->text;
    return 0;
}

size_t llmperf_config_length(const llmperf_config *config, const char *key)
{
    struct found at;

    if (!config || !key || find(config, key, &at) < 0)
        return 0;
    return at.node->count;
}

void llmperf_config_free(llmperf_config *config)
{
    if (config)
        lp_yaml_free(config->tree);
    free(config);
}

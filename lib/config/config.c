/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/number.h"
#include "lib/base/sha256.h"
#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/config/inside.h"
#include "lib/config/scalar.h"
#include "llmperf/sys/config.h"

/* The file itself, or for a relative path that does not exist, the file in the data folder. NULL:
 * out of memory. */
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
        status = lp_value_read(&config->values, file, &config->root);
    free(file);
    if (status < 0)
        llmperf_config_free(config);
    else
        *config_out = config;
    return status;
}

int llmperf_config_parse(const char *text, llmperf_config **config_out)
{
    llmperf_config *config;
    int status;

    if (!text || !config_out)
        return lp_error(LLMPERF_EINVAL, "text and config_out are required");
    config = calloc(1, sizeof(*config));
    if (!config)
        return lp_out_of_memory();
    status = lp_value_parse(&config->values, "configuration", text, strlen(text), &config->root);
    if (status < 0)
        llmperf_config_free(config);
    else
        *config_out = config;
    return status;
}

/* Follow the dots; an error names the line of the map or list without the next part. */
static int find(const llmperf_config *config, const char *key, const struct lp_value **found_out)
{
    const struct lp_value *at = config->root, *next;
    char place[512];

    for (const char *part = key; *key && part;) {
        size_t length = strcspn(part, ".");

        next = lp_value_get(at, part, length);
        if (!next)
            return lp_error(LLMPERF_ENOENT, "%s: key \"%s\" not found (\"%.*s\" is missing)",
                            lp_value_place(at, place, sizeof(place)), key, (int)length, part);
        at = next;
        part = part[length] ? part + length + 1 : NULL;
    }
    if (config->composed && lp_value_is_missing(at))
        return lp_error(LLMPERF_EFORMAT, "%s: %s is required: write %s=VALUE",
                        lp_value_place(at, place, sizeof(place)), key, key);
    *found_out = at;
    return 0;
}

static int find_for(const llmperf_config *config, const char *key, const void *value_out,
                    const struct lp_value **found_out)
{
    if (!config || !key || !value_out)
        return lp_error(LLMPERF_EINVAL, "config, key and value_out are required");
    return find(config, key, found_out);
}

static int wrong_type(const char *key, const struct lp_value *at, const char *wanted)
{
    static const char *const kinds[] = { "a text", "a list", "a map" };
    char place[512];

    lp_value_place(at, place, sizeof(place));
    if (at->kind != LP_VALUE_TEXT)
        return lp_error(LLMPERF_EFORMAT, "%s: %s is %s; it must be %s", place, key, kinds[at->kind],
                        wanted);
    if (lp_scalar_type(at) == LP_SCALAR_NULL)
        return lp_error(LLMPERF_EFORMAT, "%s: %s is empty; it must be %s", place, key, wanted);
    return lp_error(LLMPERF_EFORMAT, "%s: %s is %s%.100s%s; it must be %s", place, key,
                    at->is_string ? "the string \"" : "", at->text, at->is_string ? "\"" : "",
                    wanted);
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* [+-]digits without a leading zero, which would be octal in YAML 1.1. */
static bool is_integer(const char *text)
{
    size_t digits;

    text += *text == '+' || *text == '-';
    digits = count_digits(text);
    return digits > 0 && text[digits] == '\0' && (digits == 1 || text[0] != '0');
}

/* [+-]digits[.digits][e[+-]digits], with a digit before or after the point. */
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
    const struct lp_value *at;
    long long value;
    int status = find_for(config, key, value_out, &at);

    if (status < 0)
        return status;
    if (at->kind != LP_VALUE_TEXT || at->is_string || !is_integer(at->text))
        return wrong_type(key, at, "a decimal integer");
    errno = 0;
    value = strtoll(at->text, NULL, 10);
    if (errno == ERANGE)
        return wrong_type(key, at, "an integer that fits 64 bits");
    *value_out = value;
    return 0;
}

int llmperf_config_number(const llmperf_config *config, const char *key, double *value_out)
{
    const struct lp_value *at;
    double value;
    int status = find_for(config, key, value_out, &at);

    if (status < 0)
        return status;
    if (at->kind != LP_VALUE_TEXT || at->is_string || !is_number(at->text))
        return wrong_type(key, at, "a decimal number");
    value = lp_number_read(at->text, NULL);
    if (!isfinite(value))
        return wrong_type(key, at, "within the range of a double");
    *value_out = value;
    return 0;
}

int llmperf_config_text(const llmperf_config *config, const char *key, const char **value_out)
{
    const struct lp_value *at;
    int status = find_for(config, key, value_out, &at);

    if (status < 0)
        return status;
    if (at->kind != LP_VALUE_TEXT || lp_scalar_type(at) == LP_SCALAR_NULL)
        return wrong_type(key, at, "a text");
    *value_out = at->text;
    return 0;
}

int llmperf_config_boolean(const llmperf_config *config, const char *key, int32_t *value_out)
{
    const struct lp_value *at;
    int status = find_for(config, key, value_out, &at);

    if (status < 0)
        return status;
    if (at->kind != LP_VALUE_TEXT || lp_scalar_type(at) != LP_SCALAR_BOOL)
        return wrong_type(key, at, "true or false");
    *value_out = lp_scalar_true(at->text);
    return 0;
}

size_t llmperf_config_length(const llmperf_config *config, const char *key)
{
    const struct lp_value *at;

    if (!config || !key || find(config, key, &at) < 0)
        return 0;
    return at->count;
}

const char *llmperf_config_key(const llmperf_config *config, const char *key, size_t index)
{
    const struct lp_value *at;

    if (!config || !key || find(config, key, &at) < 0 || at->kind != LP_VALUE_MAP ||
        index >= at->count)
        return NULL;
    return at->entries[index].key;
}

int llmperf_config_origin(const llmperf_config *config, const char *key, const char **file_out,
                          uint32_t *line_out)
{
    const struct lp_value *at;
    int status;

    if (!config || !key || !file_out || !line_out)
        return lp_error(LLMPERF_EINVAL, "config, key, file_out and line_out are required");
    if ((status = find(config, key, &at)) < 0)
        return status;
    *file_out = at->file;
    *line_out = at->line;
    return 0;
}

int32_t llmperf_config_has(const llmperf_config *config, const char *key)
{
    const struct lp_value *at = config && key ? config->root : NULL;

    for (const char *part = key; at && *key && part;) {
        size_t length = strcspn(part, ".");

        at = lp_value_get(at, part, length);
        part = part[length] ? part + length + 1 : NULL;
    }
    return at && !(at->kind == LP_VALUE_TEXT && lp_scalar_type(at) == LP_SCALAR_NULL);
}

int llmperf_config_document(const llmperf_config *config, const char *key, uint32_t format,
                            char **text_out)
{
    const struct lp_value *at;
    struct lp_text text = { 0 };
    int status;

    if (!config || !key || !text_out)
        return lp_error(LLMPERF_EINVAL, "config, key and text_out are required");
    if (format > LLMPERF_CONFIG_JSON)
        return lp_error(LLMPERF_EINVAL, "unknown format %u", format);
    if ((status = find(config, key, &at)) < 0)
        return status;
    if (format == LLMPERF_CONFIG_JSON)
        lp_emit_json(&text, at);
    else
        lp_emit_yaml(&text, at);
    return lp_text_take(&text, text_out);
}

int llmperf_config_fingerprint(const llmperf_config *config, char **hex_out)
{
    char *text, hex[65];
    int status;

    if (!config || !hex_out)
        return lp_error(LLMPERF_EINVAL, "config and hex_out are required");
    if ((status = llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &text)) < 0)
        return status;
    lp_sha256(text, strlen(text), hex);
    free(text);
    if (!(text = strdup(hex)))
        return lp_out_of_memory();
    *hex_out = text;
    return 0;
}

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

void llmperf_config_free(llmperf_config *config)
{
    if (config)
        lp_values_clear(&config->values);
    free(config);
}

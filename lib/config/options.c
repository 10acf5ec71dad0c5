/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/config/options.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "lib/config/config.h"
#include "lib/config/nearest.h"
#include "lib/config/inside.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/sys/option.h"

const struct lp_option *lp_option_find(const char *key)
{
    for (size_t i = 0; i < lp_options_count; i++)
        if (lp_options[i].key && strcmp(lp_options[i].key, key) == 0)
            return &lp_options[i];
    return NULL;
}

/* "a, b, c" of "a|b|c". */
static const char *list_words(const struct lp_option *option, char *list, size_t size)
{
    size_t used = 0;

    for (const char *at = option->words; *at && used + 3 < size; at++) {
        list[used++] = *at == '|' ? ',' : *at;
        if (*at == '|')
            list[used++] = ' ';
    }
    list[used] = '\0';
    return list;
}

/* Values of a configuration */

static bool is_asked_for(const llmperf_config *config, const char *key)
{
    const struct lp_value *value = lp_value_at(config->root, key);

    return value && value->kind == LP_VALUE_TEXT && strcmp(value->text, "???") == 0;
}

static int find_word(const struct lp_option *option, const char *word)
{
    size_t length = strlen(word);
    int number = 0;

    for (const char *at = option->words; *at; at += *at == '|', number++) {
        size_t next = strcspn(at, "|");

        if (next == length && strncmp(at, word, length) == 0)
            return number;
        at += next;
    }
    return -1;
}

/* Number of a value: index of a word, 1 or 0 of a switch; for texts the text. */
static int read_config(const llmperf_config *config, const struct lp_option *option,
                       const char *key, const char **text_out, int64_t *number_out)
{
    char list[256];
    int32_t truth;
    int status, word;

    if (option->kind == LP_OPTION_SWITCH) {
        if ((status = llmperf_config_boolean(config, key, &truth)) == 0)
            *number_out = truth;
        return status;
    }
    if (option->kind == LP_OPTION_NUMBER) {
        status = llmperf_config_integer(config, key, number_out);
        if (status < 0 || (*number_out >= option->least && *number_out <= option->most))
            return status;
        return lp_config_refuse(config, key, "must be between %" PRId64 " and %" PRId64,
                                option->least, option->most);
    }
    if ((status = llmperf_config_text(config, key, text_out)) < 0 || option->kind != LP_OPTION_WORD)
        return status;
    if ((word = find_word(option, *text_out)) < 0)
        return lp_config_refuse(config, key, "%.80s is not one of %s", *text_out,
                                list_words(option, list, sizeof(list)));
    *number_out = option->least + word;
    return 0;
}

/* A missing value is valid, and so is "???" (must still be given). */
static int check_option(const llmperf_config *config, const struct lp_option *option)
{
    const char *text;
    int64_t number;

    if (option->kind == LP_OPTION_ANY || option->kind == LP_OPTION_TEXT ||
        !llmperf_config_has(config, option->key) || is_asked_for(config, option->key))
        return 0;
    return read_config(config, option, option->key, &text, &number);
}

int lp_options_check(const llmperf_config *config)
{
    int status = 0;

    for (size_t i = 0; i < lp_options_count && status == 0; i++)
        if (lp_options[i].key)
            status = check_option(config, &lp_options[i]);
    return status;
}

/* Optional values. */

/* 1: there is a value, and it is valid for its key. */
static int check_value(const llmperf_config *config, const char *key)
{
    const struct lp_option *option = lp_option_find(key);
    int status = option ? check_option(config, option) : 0;

    return status < 0 ? status : llmperf_config_has(config, key);
}

int lp_config_take_text(const llmperf_config *config, const char *key, const char **value_out)
{
    int status = check_value(config, key);

    return status > 0 ? llmperf_config_text(config, key, value_out) : status;
}

int lp_config_take_integer(const llmperf_config *config, const char *key, int64_t *value_out)
{
    int status = check_value(config, key);

    return status > 0 ? llmperf_config_integer(config, key, value_out) : status;
}

int lp_config_take_truth(const llmperf_config *config, const char *key, bool *value_out)
{
    int32_t truth = *value_out;
    int status = check_value(config, key);

    status = status > 0 ? llmperf_config_boolean(config, key, &truth) : status;
    *value_out = truth != 0;
    return status;
}

static int check_key(const llmperf_config *config, const char *map, const char *key,
                     const char *const *names)
{
    const char *best = NULL;
    size_t distance = (size_t)-1;
    char path[256];

    /* Our keys at the root are maps; a scalar there is the program's own. */
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

static int check_keys(const llmperf_config *config, const char *key, const char *const *names)
{
    const char *found;
    int status = 0;

    for (size_t i = 0; status == 0 && (found = llmperf_config_key(config, key, i)); i++)
        status = check_key(config, key, found, names);
    return status;
}

/* Option keys of a map, ended by NULL; `size` must be enough for all. */
static void names_below(const char *map, const char **names)
{
    size_t length = strlen(map), count = 0;

    for (size_t i = 0; i < lp_options_count; i++) {
        const char *key = lp_options[i].key;

        if (key && strncmp(key, map, length) == 0 && key[length] == '.' &&
            !strchr(key + length + 1, '.'))
            names[count++] = key + length + 1;
    }
    names[count] = NULL;
}

int lp_options_check_map(const llmperf_config *config, const char *map)
{
    const char *names[LP_OPTIONS_MOST];

    names_below(map, names);
    return names[0] ? check_keys(config, map, names) : 0;
}

int lp_options_check_keys(const llmperf_config *config)
{
    static const char *const maps[] = { "run",     "session",  "artifacts", "report",
                                        "regions", "hardware", "pipeline",  "inputs",
                                        "model",   "infer",    "dataset",   NULL };
    int status = check_keys(config, "", maps);

    for (size_t i = 0; status == 0 && maps[i]; i++)
        status = lp_options_check_map(config, maps[i]);
    return status;
}

/* Precedence */

static int refuse(const struct lp_option *option, const char *variable, const char *value)
{
    char list[256];

    if (option->kind == LP_OPTION_WORD)
        return lp_error(LLMPERF_EINVAL, "%s=%.80s is not one of %s", variable, value,
                        list_words(option, list, sizeof(list)));
    if (option->kind == LP_OPTION_SWITCH)
        return lp_error(LLMPERF_EINVAL, "%s=%.80s: give 1 or 0", variable, value);
    return lp_error(LLMPERF_EINVAL, "%s=%.80s: must be between %" PRId64 " and %" PRId64, variable,
                    value, option->least, option->most);
}

/* From the environment, or the default. */
static int read_text(const struct lp_option *option, const char *name, const char *text,
                     int64_t *number_out)
{
    char *end = NULL;
    int word;

    if (option->kind == LP_OPTION_NUMBER) {
        *number_out = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
        return end && !*end && *number_out >= option->least && *number_out <= option->most
                   ? 0
                   : refuse(option, name, text);
    }
    if (option->kind == LP_OPTION_SWITCH) {
        *number_out = strcmp(text, "1") == 0;
        return strcmp(text, "1") == 0 || strcmp(text, "0") == 0 ? 0 : refuse(option, name, text);
    }
    if (option->kind == LP_OPTION_WORD) {
        if ((word = find_word(option, text)) < 0)
            return refuse(option, name, text);
        *number_out = option->least + word;
    }
    return 0;
}

static void *place(const struct lp_option *option, llmperf_session_options *values)
{
    return (char *)values + option->offset;
}

static bool is_number(const struct lp_option *option)
{
    return option->kind != LP_OPTION_TEXT && option->kind != LP_OPTION_ANY;
}

static uint64_t number_of(const struct lp_option *option, llmperf_session_options *values)
{
    void *at = place(option, values);

    return option->flag                       ? values->flags & option->flag
           : option->size == sizeof(uint32_t) ? *(uint32_t *)at
                                              : *(uint64_t *)at;
}

static bool is_field(const struct lp_option *option)
{
    return option->size || option->flag;
}

static bool is_in_call(const struct lp_option *option, llmperf_session_options *values)
{
    const char *text;

    if (!is_field(option))
        return false;
    if (is_number(option))
        return number_of(option, values) != 0;
    text = *(const char **)place(option, values);
    return text && (*text || !option->usual); /* without a default "" means none */
}

static void set(const struct lp_option *option, llmperf_session_options *values, const char *text,
                int64_t number)
{
    if (option->flag)
        values->flags |= number ? option->flag : 0;
    else if (!is_number(option))
        *(const char **)place(option, values) = text;
    else if (option->size == sizeof(uint32_t))
        *(uint32_t *)place(option, values) = (uint32_t)number;
    else
        *(uint64_t *)place(option, values) = (uint64_t)number;
}

static int check_call(const struct lp_option *option, llmperf_session_options *values)
{
    uint64_t number = is_number(option) ? number_of(option, values) : 0;
    uint64_t least = (uint64_t)option->least;
    uint64_t most = option->kind == LP_OPTION_WORD ? least : (uint64_t)option->most;

    if (option->kind == LP_OPTION_WORD)
        for (const char *at = strchr(option->words, '|'); at; at = strchr(at + 1, '|'))
            most++;
    else if (option->kind != LP_OPTION_NUMBER)
        return 0;
    if (number >= least && number <= most)
        return 0;
    return lp_error(LLMPERF_EINVAL,
                    "%s is %" PRIu64 "; it must be between %" PRIu64 " and %" PRIu64, option->field,
                    number, least, most);
}

static bool is_override(const llmperf_config *config, const char *key)
{
    const char *file;
    uint32_t line;

    return llmperf_config_origin(config, key, &file, &line) == 0 && line == 0;
}

/* The key with a value; NULL: none. */
static const char *find_key(const struct lp_option *option, const llmperf_config *config)
{
    if (!config || option->kind == LP_OPTION_ANY)
        return NULL;
    return option->key && llmperf_config_has(config, option->key)       ? option->key
           : option->other && llmperf_config_has(config, option->other) ? option->other
                                                                        : NULL;
}

static enum lp_option_from find_from(const struct lp_option *option, const llmperf_config *config,
                                     const char *key, llmperf_session_options *values,
                                     const char **text_out)
{
    *text_out = option->variable ? lp_variable(option->variable) : NULL;
    if (is_in_call(option, values))
        return LP_FROM_CALL;
    if (key && is_override(config, key))
        return LP_FROM_OVERRIDE;
    return *text_out && **text_out ? LP_FROM_ENVIRONMENT : key ? LP_FROM_CONFIG : LP_FROM_NOWHERE;
}

/* @param number_out  0 if not set; not read for values of a call. */
static int resolve(const struct lp_option *option, const llmperf_config *config,
                   llmperf_session_options *values, uint8_t *from, int64_t *number_out)
{
    const char *key = find_key(option, config), *text;
    int status = 0;

    *number_out = 0;
    *from = (uint8_t)find_from(option, config, key, values, &text);
    if (*from == LP_FROM_CALL)
        return check_call(option, values);
    if (*from == LP_FROM_ENVIRONMENT)
        status = read_text(option, option->variable, text, number_out);
    else if (key)
        status = read_config(config, option, key, &text, number_out);
    else if ((text = option->usual))
        status = read_text(option, option->key, text, number_out);
    if (status == 0 && (key || text) && is_field(option))
        set(option, values, text, *number_out);
    return status;
}

/* Options of nsys and ncu have no field and no help here; their users read them. */
static bool is_of_session(const struct lp_option *option)
{
    return option->key && option->help && is_number(option);
}

int lp_options_resolve(const llmperf_session_options *call, const llmperf_config *config,
                       struct lp_resolved *resolved)
{
    int status = 0;

    *resolved = (struct lp_resolved){ .values = *call };
    for (size_t i = 0; status == 0 && i < lp_options_count; i++)
        if (is_field(&lp_options[i]) || is_of_session(&lp_options[i]))
            status = resolve(&lp_options[i], config, &resolved->values, &resolved->from[i],
                             &resolved->numbers[i]);
    return status;
}

int lp_option_resolve(const char *key, const llmperf_config *config,
                      llmperf_session_options *values)
{
    int64_t number;
    uint8_t from;

    return resolve(lp_option_find(key), config, values, &from, &number);
}

const char *lp_option_word(const char *key, int64_t number, char word[LP_OPTION_WORD_BYTES])
{
    const struct lp_option *option = lp_option_find(key);
    const char *at = option->words;

    for (int64_t i = option->least; at && i < number; i++)
        at = (at = strchr(at, '|')) ? at + 1 : NULL;
    if (!at || number < option->least)
        at = "unknown";
    snprintf(word, LP_OPTION_WORD_BYTES, "%.*s", (int)strcspn(at, "|"), at);
    return word;
}

enum lp_option_from lp_option_source(const struct lp_resolved *resolved, const char *key)
{
    return resolved->from[lp_option_find(key) - lp_options];
}

const char *lp_option_name(const struct lp_resolved *resolved, const char *key)
{
    const struct lp_option *option = lp_option_find(key);
    enum lp_option_from from = lp_option_source(resolved, key);

    return from == LP_FROM_CALL          ? option->field
           : from == LP_FROM_ENVIRONMENT ? option->variable
                                         : key;
}

int lp_option_of_profile(const llmperf_profile *profile, const char *key, int64_t *number_out)
{
    const char *word = llmperf_profile_fact(profile, key);
    const char *text = llmperf_profile_fact(profile, "config");
    llmperf_config *config = NULL;
    int status;

    if (word)
        return read_text(lp_option_find(key), key, word, number_out);
    if (!text)
        return 0;
    if ((status = llmperf_config_parse(text, &config)) == 0)
        status = lp_config_take_integer(config, key, number_out);
    llmperf_config_free(config);
    return status;
}

int llmperf_profile_set_option(llmperf_profile *profile, const char *key, const char *value)
{
    const struct lp_option *option = key ? lp_option_find(key) : NULL;
    int64_t number;
    int status;

    if (!profile || !value)
        return lp_error(LLMPERF_EINVAL, "profile, key and value are required");
    if (!option || !option->commands || !strstr(option->commands, "report"))
        return lp_error(LLMPERF_EINVAL, "%s is not an option of reports", key ? key : "NULL");
    if ((status = read_text(option, key, value, &number)) < 0 ||
        (status = lp_profile_set_fact(profile, key, value)) < 0)
        return status;
    lp_profile_forget(profile);
    return 0;
}

int llmperf_option_info_get(size_t index, llmperf_option_info *info_out)
{
    const struct lp_option *option;
    llmperf_option_info info = LLMPERF_OPTION_INFO_INIT;

    if (index >= lp_options_count)
        return lp_error(LLMPERF_ENOENT, "there are %zu options", lp_options_count);
    option = &lp_options[index];
    info.key = option->key;
    info.other_key = option->other;
    info.variable = option->variable;
    info.field = option->flag ? "flags" : option->field;
    info.word = option->word;
    info.value = option->value;
    info.commands = option->commands;
    info.choices = option->words;
    info.least = option->least;
    info.most = option->most;
    info.unit = option->unit;
    info.usual = option->usual;
    info.help = option->help;
    info.kind = (uint32_t)option->kind;
    return lp_sized_out(info_out, &info, sizeof(info));
}

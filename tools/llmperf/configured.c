/* SPDX-License-Identifier: Apache-2.0 */
#include "configured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "options.h"

#define MADE_MOST (sizeof(((struct configured *)NULL)->made) / sizeof(char *))

static bool keep(struct configured *configured, const char *word)
{
    if (configured->count == CONFIGURED_WORDS) {
        fprintf(stderr, "llmperf: too many KEY=VALUE arguments; give at most %d\n",
                CONFIGURED_WORDS);
        return false;
    }
    configured->words[configured->count++] = word;
    return true;
}

bool configured_add(struct configured *configured, const char *word)
{
    return keep(configured, word);
}

static char *put(char *out, char byte, size_t times)
{
    memset(out, byte, times);
    return out + times;
}

/* Quoted as the grammar requires: a backslash before quotes and "${"; backslashes before these are
 * doubled. */
static void quote(char *out, const char *text)
{
    size_t slashes = 0;

    *out++ = '\'';
    for (;; text++) {
        bool special = *text == '\0' || *text == '\'' || (text[0] == '$' && text[1] == '{');

        if (special)
            out = put(out, '\\', slashes + (*text != '\0'));
        slashes = *text == '\\' ? slashes + 1 : 0;
        if (*text == '\0')
            break;
        *out++ = *text;
    }
    *out++ = '\'';
    *out = '\0';
}

/* An option that sets a key. It takes precedence over KEY=VALUE. */
static bool set(struct configured *configured, const char *key, const char *value, bool quoted)
{
    char *word;
    int length;

    word = configured->made_count < MADE_MOST ? malloc(strlen(key) + 3 * strlen(value) + 8) : NULL;
    if (!word) {
        fprintf(stderr, "llmperf: out of memory\n");
        return false;
    }
    length = sprintf(word, "++%s=", key);
    if (quoted)
        quote(word + length, value);
    else
        strcpy(word + length, value);
    configured->made[configured->made_count++] = word;
    return keep(configured, word);
}

bool configured_take(struct configured *configured, const struct words *words)
{
    for (size_t i = 0; i < words->setting_count; i++) {
        const struct setting *setting = &words->settings[i];

        if (strcmp(setting->info.word, "--config") == 0)
            configured->name = setting->value;
        else if (strcmp(setting->info.word, "--model") == 0)
            configured->model = setting->value;
        else if (!set(configured, setting->info.key, setting->value,
                      setting->info.kind != LLMPERF_OPTION_SWITCH &&
                          setting->info.kind != LLMPERF_OPTION_NUMBER))
            return false;
    }
    return true;
}

/* Precedence */

/* Is `file` the option that "GROUP[@KEY]=OPTION" chooses, GROUP/OPTION.yaml? */
static bool chooses(const char *override, const char *file)
{
    const char *group = override + strspn(override, "+"), *equal = strchr(group, '=');
    size_t group_length = strcspn(group, "@="), option_length = equal ? strlen(equal + 1) : 0;
    size_t length = group_length + 1 + option_length, file_length = strlen(file);
    const char *end = file + file_length - strlen(".yaml");

    if (option_length == 0 || file_length <= length + strlen("/.yaml") || strcmp(end, ".yaml") != 0)
        return false;
    return end[-(ptrdiff_t)length - 1] == '/' && strncmp(end - length, group, group_length) == 0 &&
           end[-(ptrdiff_t)option_length - 1] == '/' &&
           strncmp(end - option_length, equal + 1, option_length) == 0;
}

static bool is_of_command_line(const llmperf_config *config, const char *key,
                               const char *const *overrides, size_t count)
{
    const char *file;
    uint32_t line;

    if (!key || llmperf_config_origin(config, key, &file, &line) < 0)
        return false;
    for (size_t i = 0; line > 0 && i < count; i++)
        if (chooses(overrides[i], file))
            return true;
    return line == 0;
}

/* Unset the variables that the command line overrides, for this process and the program. */
static void unset_replaced(const llmperf_config *config, const char *const *overrides, size_t count)
{
    llmperf_option_info info = LLMPERF_OPTION_INFO_INIT;

    for (size_t i = 0; llmperf_option_info_get(i, &info) == 0; i++)
        if (info.variable && (is_of_command_line(config, info.key, overrides, count) ||
                              is_of_command_line(config, info.other_key, overrides, count)))
            unsetenv(info.variable);
}

const char *configured_text(const struct configured *configured, const char *key, const char *usual)
{
    llmperf_option_info info = LLMPERF_OPTION_INFO_INIT;
    const char *text = NULL;

    for (size_t i = 0; llmperf_option_info_get(i, &info) == 0; i++)
        if (info.key && strcmp(info.key, key) == 0 && info.variable)
            text = getenv(info.variable);
    if ((!text || !*text) && configured->config && llmperf_config_has(configured->config, key))
        llmperf_config_text(configured->config, key, &text);
    return text && *text ? text : usual;
}

int configured_folder(const struct words *words, const char *path, char *folder)
{
    const char *name = option_value(words, "--config");
    struct configured configured = { .name = NULL };
    int status = 0;

    if (words->count == 0)
        status = llmperf_config_compose(name ? name : "config", NULL, 0, NULL, &configured.config);
    if (status < 0)
        return fail_status(status);
    snprintf(folder, CONFIGURED_PATH_BYTES, "%s",
             words->count > 0 ? path : configured_text(&configured, "artifacts.dir", "runs"));
    configured_clear(&configured);
    return EXIT_FINE;
}

static int check(struct configured *configured)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    int status;

    options.config = configured->config;
    if ((status = llmperf_session_check(&options, &configured->tier)) == 0)
        return EXIT_FINE;
    fail_status(status);
    return status == LLMPERF_ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE;
}

int configured_compose(struct configured *configured)
{
    int status =
        llmperf_config_compose(configured->name ? configured->name : "config", configured->words,
                               configured->count, configured->model, &configured->config);

    if (status < 0) {
        fail_status(status);
        return status == LLMPERF_ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE;
    }
    if ((status = llmperf_config_document(configured->config, "", LLMPERF_CONFIG_YAML,
                                          &configured->text)) < 0)
        return fail_status(status);
    unset_replaced(configured->config, configured->words, configured->count);
    return check(configured);
}

static bool is_of_model(const llmperf_option_info *info)
{
    return strcmp(info->word, "--model") == 0 || strcmp(info->word, "--dtype") == 0;
}

int configured_apply(llmperf_profile *profile, const struct words *words)
{
    const char *model = words ? option_value(words, "--model") : NULL;
    const char *dtype = words ? option_value(words, "--dtype") : NULL, *reason;
    int status = LLMPERF_OK;

    for (size_t i = 0; words && status == LLMPERF_OK && i < words->setting_count; i++)
        if (!is_of_model(&words->settings[i].info))
            status = llmperf_profile_set_option(profile, words->settings[i].info.key,
                                                words->settings[i].value);
    if (status == LLMPERF_OK && (!words || model || dtype))
        status = llmperf_profile_apply_model(profile, model, dtype);
    if (status < 0) {
        fail_status(status);
        return status == LLMPERF_ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE;
    }
    reason = !words || model || dtype ? llmperf_profile_fact(profile, "model_reason") : NULL;
    if (reason)
        fprintf(stderr, "llmperf: no FLOPs and bytes from the model: %s\n", reason);
    return EXIT_FINE;
}

void configured_clear(struct configured *configured)
{
    for (size_t i = 0; i < configured->made_count; i++)
        free(configured->made[i]);
    llmperf_config_free(configured->config);
    llmperf_text_free(configured->text);
    *configured = (struct configured){ .name = NULL };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "configured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "precedence.h"

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

/* In the quotes of the grammar: a backslash before a quote, before "${", and those before both are
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

bool configured_set(struct configured *configured, const char *key, const char *value)
{
    char *word;
    int length;

    if (!value)
        return true;
    word = configured->made_count < MADE_MOST ? malloc(strlen(key) + 3 * strlen(value) + 8) : NULL;
    if (!word) {
        fprintf(stderr, "llmperf: out of memory\n");
        return false;
    }
    length = sprintf(word, "++%s=", key);
    quote(word + length, value);
    configured->made[configured->made_count++] = word;
    return keep(configured, word);
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
    int status = llmperf_config_compose_model(configured->name ? configured->name : "config",
                                              configured->words, configured->count,
                                              configured->model, &configured->config);

    if (status < 0) {
        fail_status(status);
        return status == LLMPERF_ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE;
    }
    if ((status = llmperf_config_document(configured->config, "", LLMPERF_CONFIG_YAML,
                                          &configured->text)) < 0)
        return fail_status(status);
    precedence_apply(configured->config, configured->words, configured->count);
    return check(configured);
}

int configured_apply(llmperf_profile *profile, const char *model, const char *dtype)
{
    int status = llmperf_profile_apply_model(profile, model, dtype);
    const char *reason = llmperf_profile_fact(profile, "model_reason");

    if (status < 0) {
        fail_status(status);
        return status == LLMPERF_ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE;
    }
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

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/secret.h"
#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/vendor/commands.h"

static const char *add_text(llmperf_commands *commands, const char *format, va_list args)
{
    const char *kept = NULL;
    char *text = NULL;

    if (vasprintf(&text, format, args) >= 0) {
        kept = lp_strings_add(&commands->texts, text);
        free(text);
    }
    commands->failed |= !kept;
    return kept ? kept : "";
}

const char *lp_commands_text(llmperf_commands *commands, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = add_text(commands, format, args);
    va_end(args);
    return text;
}

static void push(llmperf_commands *commands, const char *argument)
{
    if (lp_vector_push(&commands->list.items[commands->list.count - 1].argv, argument) < 0)
        commands->failed = true;
}

void lp_commands_begin(llmperf_commands *commands, const char *step, const char *tool,
                       const char *output)
{
    struct lp_command command = { .step = step };

    command.output = output ? lp_commands_text(commands, "%s", output) : NULL;
    if (lp_vector_push(&commands->list, command) < 0)
        commands->failed = true;
    else
        lp_commands_add(commands, "%s", tool);
}

void lp_commands_add(llmperf_commands *commands, const char *format, ...)
{
    const char *text;
    va_list args;

    if (commands->list.count == 0)
        return;
    va_start(args, format);
    text = add_text(commands, format, args);
    va_end(args);
    push(commands, text);
}

void lp_commands_note(llmperf_commands *commands, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = add_text(commands, format, args);
    va_end(args);
    if (lp_vector_push(&commands->notes, text) < 0)
        commands->failed = true;
}

void lp_commands_add_program(llmperf_commands *commands, const llmperf_tool_request *request)
{
    lp_commands_add(commands, "%s", request->program);
    for (size_t i = 0; i < request->argument_count; i++)
        lp_commands_add(commands, "%s", request->arguments[i]);
}

int lp_commands_add_extra(llmperf_commands *commands, const llmperf_config *config, const char *key)
{
    size_t count = llmperf_config_length(config, key);
    int status = 0;

    for (size_t i = 0; status == 0 && i < count; i++) {
        char element[128];
        const char *text;

        snprintf(element, sizeof(element), "%s.%zu", key, i);
        if ((status = llmperf_config_text(config, element, &text)) == 0)
            lp_commands_add(commands, "%s", text);
    }
    return status;
}

int lp_commands_join(llmperf_commands *commands, const llmperf_config *config, const char *key,
                     const char **joined_out)
{
    size_t count = llmperf_config_length(config, key);
    const char *text = "";
    int status = count ? 0 : lp_config_take_text(config, key, &text);

    *joined_out = "";
    if (llmperf_config_key(config, key, 0))
        return lp_config_refuse(config, key, "must be a list of strings");
    if (count == 0 && llmperf_config_has(config, key)) {
        char *empty_list = NULL;

        /* An empty list is valid and gives no text. */
        if (status == LLMPERF_EFORMAT &&
            llmperf_config_document(config, key, LLMPERF_CONFIG_JSON, &empty_list) == 0 &&
            strcmp(empty_list, "[]\n") == 0)
            status = 0;
        llmperf_text_free(empty_list);
        *joined_out = lp_commands_text(commands, "%s", text);
        return status;
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        char element[128];

        snprintf(element, sizeof(element), "%s.%zu", key, i);
        if ((status = llmperf_config_text(config, element, &text)) == 0)
            *joined_out = lp_commands_text(commands, "%s%s%s", *joined_out, i ? "," : "", text);
    }
    return status;
}

const char *lp_commands_file(llmperf_commands *commands, const char *folder, const char *name)
{
    struct lp_text path = { 0 };
    const char *kept;

    for (; *folder; folder++)
        lp_text_puts(&path, *folder == '%' ? "%%" : (char[]){ *folder, '\0' });
    lp_text_printf(&path, "/%s", name);
    kept = lp_commands_text(commands, "%s", path.failed ? "" : path.bytes);
    commands->failed |= path.failed;
    lp_text_clear(&path);
    return kept;
}

size_t llmperf_commands_count(const llmperf_commands *commands)
{
    return commands ? commands->list.count : 0;
}

static const struct lp_command *command_at(const llmperf_commands *commands, size_t index)
{
    return commands && index < commands->list.count ? &commands->list.items[index] : NULL;
}

const char *llmperf_commands_argument(const llmperf_commands *commands, size_t index,
                                      size_t argument)
{
    const struct lp_command *command = command_at(commands, index);

    return command && argument < command->argv.count ? command->argv.items[argument] : NULL;
}

const char *llmperf_commands_step(const llmperf_commands *commands, size_t index)
{
    const struct lp_command *command = command_at(commands, index);

    return command ? command->step : NULL;
}

const char *llmperf_commands_output(const llmperf_commands *commands, size_t index)
{
    const struct lp_command *command = command_at(commands, index);

    return command ? command->output : NULL;
}

const char *llmperf_commands_note(const llmperf_commands *commands, size_t index)
{
    return commands && index < commands->notes.count ? commands->notes.items[index] : NULL;
}

/* As a shell reads it. */
static void put_quoted(struct lp_text *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./,:@%";

    if (*text && strspn(text, plain) == strlen(text)) {
        lp_text_puts(out, text);
        return;
    }
    lp_text_puts(out, "'");
    for (; *text; text++)
        lp_text_add(out, *text == '\'' ? "'\\''" : text, *text == '\'' ? 4 : 1);
    lp_text_puts(out, "'");
}

int llmperf_commands_line(const llmperf_commands *commands, size_t index, char **line_out)
{
    const struct lp_command *command = command_at(commands, index);
    struct lp_text line = { NULL, 0, 0, false }, masked = line;
    bool next = false;

    if (!command || !line_out)
        return lp_error(LLMPERF_EINVAL, "there is no command %zu", index);
    for (size_t i = 0; i < command->argv.count; i++) {
        masked.length = 0;
        lp_text_puts(&masked, "");
        lp_secret_mask(&masked, command->argv.items[i], &next);
        lp_text_puts(&line, i ? " " : "");
        if (!masked.failed)
            put_quoted(&line, masked.bytes);
    }
    line.failed |= masked.failed;
    lp_text_clear(&masked);
    return lp_text_take(&line, line_out);
}

static void put_command(struct lp_text *out, const struct lp_command *command)
{
    lp_text_puts(out, "    {\n      \"step\": ");
    lp_text_json(out, command->step);
    lp_text_puts(out, ",\n      \"argv\": [");
    for (size_t i = 0; i < command->argv.count; i++) {
        lp_text_puts(out, i ? ",\n        " : "\n        ");
        lp_text_json(out, command->argv.items[i]);
    }
    lp_text_puts(out, "\n      ],\n      \"output\": ");
    lp_text_json(out, command->output);
    lp_text_puts(out, "\n    }");
}

int llmperf_commands_json(const llmperf_commands *commands, char **text_out)
{
    struct lp_text out = { 0 };

    if (!commands || !text_out)
        return lp_error(LLMPERF_EINVAL, "commands and text_out are required");
    lp_text_printf(&out, "{\n  \"tool\": \"%s\",\n  \"version\": ",
                   commands->tool == LLMPERF_TOOL_NSYS ? "nsys" : "ncu");
    lp_text_json(&out, commands->version);
    lp_text_puts(&out, ",\n  \"commands\": [");
    for (size_t i = 0; i < commands->list.count; i++) {
        lp_text_puts(&out, i ? ",\n" : "\n");
        put_command(&out, &commands->list.items[i]);
    }
    lp_text_puts(&out, "\n  ],\n  \"notes\": [");
    for (size_t i = 0; i < commands->notes.count; i++) {
        lp_text_puts(&out, i ? ", " : "");
        lp_text_json(&out, commands->notes.items[i]);
    }
    lp_text_puts(&out, "]\n}\n");
    return lp_text_take(&out, text_out);
}

void llmperf_commands_free(llmperf_commands *commands)
{
    if (!commands)
        return;
    for (size_t i = 0; i < commands->list.count; i++)
        lp_vector_clear(&commands->list.items[i].argv);
    lp_vector_clear(&commands->list);
    lp_vector_clear(&commands->notes);
    lp_strings_clear(&commands->texts);
    free(commands);
}

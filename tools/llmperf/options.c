/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define COLUMNS 80

/* Index of a word in a list with separator `between`; -1: not in it. */
static int place_in(const char *list, char between, const char *word, size_t length)
{
    for (int place = 0;; place++) {
        if (strncmp(list, word, length) == 0 && (list[length] == between || list[length] == '\0'))
            return place;
        if (!(list = strchr(list, between)))
            return -1;
        list++;
    }
}

/* "a, b, c" of "a|b|c". */
static const char *with_commas(const char *choices, char *list, size_t size)
{
    size_t used = 0;

    for (; *choices && used + 3 < size; choices++) {
        list[used++] = *choices == '|' ? ',' : *choices;
        if (*choices == '|')
            list[used++] = ' ';
    }
    list[used] = '\0';
    return list;
}

/* Options of the library's table that the command takes. */
static bool next_library_option(const struct command *command, size_t *index,
                                llmperf_option_info *info)
{
    *info = (llmperf_option_info)LLMPERF_OPTION_INFO_INIT;
    while (llmperf_option_info_get((*index)++, info) == 0)
        if (info->word && place_in(info->commands, ' ', command->name, strlen(command->name)) >= 0)
            return true;
    return false;
}

bool option_at(const struct command *command, size_t index, struct option *option)
{
    llmperf_option_info info;
    size_t own = 0, next = 0;

    for (; command->options && command->options[own].name; own++)
        if (own == index) {
            *option = command->options[own];
            return true;
        }
    for (; next_library_option(command, &next, &info); own++)
        if (own == index) {
            *option = (struct option)OPTION(
                info.word, NULL, info.choices ? info.choices : info.value, info.usual, info.help);
            return true;
        }
    return false;
}

static int fail_unknown(const struct command *command, const char *argument)
{
    const char *names[2 * OPTIONS_MOST] = { NULL };
    char word[64];
    struct option option;

    for (size_t i = 0; i + 1 < 2 * OPTIONS_MOST && option_at(command, i, &option); i++)
        names[i] = option.name;
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(argument, "="), argument);
    return fail_usage(command, "unknown option %s%s", argument, did_you_mean(word, names));
}

static int check_value(const struct command *command, const char *name, const char *choices,
                       uint64_t least, uint64_t most, const char *value)
{
    char list[256];
    uint64_t number;

    if (choices && strchr(choices, '|') && place_in(choices, '|', value, strlen(value)) < 0)
        return fail_usage(command, "%s is %s; it must be one of %s", name, value,
                          with_commas(choices, list, sizeof(list)));
    if (most > 0 && (!to_number(value, &number) || number < least || number > most))
        return fail_usage(command,
                          "%s is %s; it must be an integer between %" PRIu64 " and %" PRIu64, name,
                          value, least, most);
    return -1;
}

/* The value of the option at argv[*at]; that of a switch is "true". -1, or as parse_words(). */
static int take_value(const struct command *command, bool is_switch, int argc, char **argv, int *at,
                      const char **value)
{
    const char *argument = argv[*at], *equals = strchr(argument, '=');

    *value = equals ? equals + 1 : "true";
    if (is_switch && equals)
        return fail_usage(command, "%.*s takes no value", (int)(equals - argument), argument);
    if (is_switch || equals)
        return -1;
    *value = *at + 1 < argc ? argv[++*at] : NULL;
    return *value ? -1 : fail_usage(command, "option %s needs a value", argument);
}

static bool is_named(const char *argument, const char *name)
{
    size_t length = strlen(name);

    return strncmp(argument, name, length) == 0 &&
           (argument[length] == '\0' || argument[length] == '=');
}

/* -2: not an option of the command; otherwise as parse_words(). */
static int take_own(const struct command *command, int argc, char **argv, int *at,
                    struct words *words)
{
    const char *argument = argv[*at];

    for (int i = 0; command->options && command->options[i].name; i++) {
        const struct option *option = &command->options[i];
        int status;

        if (!is_named(argument, option->name) &&
            !(option->letter && strcmp(argument, option->letter) == 0))
            continue;
        status = take_value(command, !option->value, argc, argv, at, &words->values[i]);
        return status == -1 && option->value
                   ? check_value(command, option->name, option->value, option->least, option->most,
                                 words->values[i])
                   : status;
    }
    return -2;
}

static int take_library(const struct command *command, int argc, char **argv, int *at,
                        struct words *words)
{
    const char *argument = argv[*at];
    llmperf_option_info info;

    for (size_t index = 0; next_library_option(command, &index, &info);) {
        struct setting *setting = &words->settings[words->setting_count];
        int status;

        if (!is_named(argument, info.word))
            continue;
        if (words->setting_count == OPTIONS_MOST)
            return fail_usage(command, "more than %d options", OPTIONS_MOST);
        setting->info = info;
        if ((status = take_value(command, !info.value, argc, argv, at, &setting->value)) >= 0)
            return status;
        words->setting_count++;
        return check_value(command, info.word, info.choices, (uint64_t)info.least,
                           info.kind == LLMPERF_OPTION_NUMBER ? (uint64_t)info.most : 0,
                           setting->value);
    }
    return fail_unknown(command, argument);
}

static int take_option(const struct command *command, int argc, char **argv, int *at,
                       struct words *words)
{
    int status = take_own(command, argc, argv, at, words);

    return status == -2 ? take_library(command, argc, argv, at, words) : status;
}

int parse_words(const struct command *command, int argc, char **argv, struct words *words)
{
    bool only_operands = false;
    int status = -1;

    *words = (struct words){ .count = 0 };
    for (int i = 0; command->options && command->options[i].name; i++)
        words->values[i] = command->options[i].usual;
    for (int i = 1; i < argc && status < 0; i++) {
        char *argument = argv[i];

        if (!*argument && !only_operands) {
            status =
                fail_usage(command, "an argument is empty; is a variable of the shell not set?");
        } else if (only_operands || argument[0] != '-' || argument[1] == '\0') {
            argv[++words->count] = argument;
        } else if (strcmp(argument, "--") == 0) {
            only_operands = true;
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help(command);
            status = EXIT_FINE;
        } else {
            status = take_option(command, argc, argv, &i, words);
        }
    }
    return status;
}

const char *option_value(const struct words *words, const char *name)
{
    for (size_t i = words->setting_count; i > 0; i--)
        if (strcmp(words->settings[i - 1].info.word, name) == 0)
            return words->settings[i - 1].value;
    return NULL;
}

uint64_t number_value(const struct words *words, int option, uint64_t usual)
{
    uint64_t number = usual;

    if (words->values[option])
        to_number(words->values[option], &number);
    return number;
}

int choice_of(const struct command *command, const struct words *words, int option)
{
    const char *value = words->values[option];

    return place_in(command->options[option].value, '|', value, strlen(value));
}

bool take_percent(const struct command *command, const struct words *words, int option,
                  double *percent)
{
    const char *value = words->values[option];
    char *end;

    *percent = strtod(value, &end);
    if (end != value && !*end && *percent >= 0)
        return true;
    fail_usage(command, "%s is %s; it must be a percentage, 0 or more",
               command->options[option].name, value);
    return false;
}

/* Help */

void print_wrapped(int column, int indent, const char *text)
{
    bool first = true;

    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        int length = (int)strcspn(text, " \n");

        if (!first && column + 1 + length > COLUMNS) {
            print("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            print(" ");
            column++;
        }
        print("%.*s", length, text);
        column += length;
        text += length;
        first = *text == '\n';
        if (first) {
            print("\n%*s", indent, "");
            column = indent;
            text++;
        }
    }
    print("\n");
}

static int width_of(const char *name, const char *letter, const char *value)
{
    return 2 + (letter ? (int)strlen(letter) + 2 : 0) + (int)strlen(name) +
           (value ? (int)strlen(value) + 1 : 0);
}

static void print_option(int width, const char *name, const char *letter, const char *value,
                         const char *help)
{
    int used = width_of(name, letter, value);

    print("  %s%s%s%s%s%*s", letter ? letter : "", letter ? ", " : "", name, value ? " " : "",
          value ? value : "", used < width ? width - used : 0, "");
    if (used > width - 2)
        print("\n%*s", width, "");
    print_wrapped(width, width, help);
}

/* With the sources of the value if the option is not given: "(default: $LLMPERF_TIER, run.mode,
 * deep)".
 */
static void print_library_option(int width, const llmperf_option_info *info)
{
    char text[1024];
    const char *parts[] = { info->key && info->variable ? "$" : NULL, info->key,
                            info->kind == LLMPERF_OPTION_SWITCH ? NULL : info->usual };
    size_t used = (size_t)snprintf(text, sizeof(text), "%s", info->help);
    const char *before = " (default: ";

    for (size_t i = 0; i < 3 && used < sizeof(text); i++) {
        if (!parts[i] || info->kind == LLMPERF_OPTION_ANY)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s", before, parts[i],
                                 i == 0 ? info->variable : "");
        before = ", ";
    }
    if (before[0] == ',' && used < sizeof(text))
        snprintf(text + used, sizeof(text) - used, ")");
    print_option(width, info->word, NULL, info->value, text);
}

static int find_width(const struct command *command)
{
    int width = 0, each;
    llmperf_option_info info;

    for (const struct option *option = command->options; option && option->name; option++)
        if ((each = width_of(option->name, option->letter, option->value)) > width && each < 26)
            width = each;
    for (size_t index = 0; next_library_option(command, &index, &info);)
        if ((each = width_of(info.word, NULL, info.value)) > width && each < 26)
            width = each;
    return width + 2;
}

void print_help(const struct command *command)
{
    int width = find_width(command);
    llmperf_option_info info;

    print("usage: llmperf %s%s%s\n\n", command->name, *command->operands ? " " : "",
          command->operands);
    print_wrapped(0, 0, command->about);
    if (width > 2)
        print("\n");
    for (const struct option *option = command->options; option && option->name; option++) {
        char text[1024];

        snprintf(text, sizeof(text), option->usual ? "%s (default: %s)" : "%s", option->help,
                 option->usual);
        print_option(width, option->name, option->letter, option->value, text);
    }
    for (size_t index = 0; next_library_option(command, &index, &info);)
        print_library_option(width, &info);
    if (command->after) {
        print("\n");
        print_wrapped(0, 0, command->after);
    }
    if (command->more_help)
        command->more_help();
}

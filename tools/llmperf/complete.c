/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf completion`: scripts for shells, and the candidates that these ask for at each TAB. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "configured.h"
#include "folder.h"
#include "llmperf/sys.h"
#include "run_paths.h"

/* Lines that a shell replaces with names that it knows. */
#define FILES    ":files"
#define FOLDERS  ":folders"
#define PROGRAMS ":programs"

static const char bash_script[] =
    "_llmperf() {\n"
    "    local IFS=$'\\n' line current=${COMP_WORDS[COMP_CWORD]}\n"
    "    [[ $current == = ]] && current=\n"
    "    COMPREPLY=()\n"
    "    for line in $(\"$1\" completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null); "
    "do\n"
    "        case $line in\n"
    "        " FILES ") compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$current\")) ;;\n"
    "        " FOLDERS ") compopt -o filenames; COMPREPLY+=($(compgen -d -- \"$current\")) ;;\n"
    "        " PROGRAMS ") COMPREPLY+=($(compgen -c -- \"$current\")) ;;\n"
    "        *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
    "    return 0\n"
    "}\n"
    "complete -F _llmperf llmperf\n";

static const char zsh_script[] =
    "#compdef llmperf\n"
    "_llmperf() {\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in ${(f)\"$(\"$words[1]\" completion words -- \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)\"}; do\n"
    "        case $line in\n"
    "        (" FILES ") _files ;;\n"
    "        (" FOLDERS ") _files -/ ;;\n"
    "        (" PROGRAMS ") _command_names -e ;;\n"
    "        (*=$'\\t'*) compadd -S '' -- \"${line%%$'\\t'*}\" ;;\n"
    "        (*) found+=(\"${${line%%$'\\t'*}//:/\\\\:}${${line#*$'\\t'}:+:${line#*$'\\t'}}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#found )) && _describe llmperf found\n"
    "}\n"
    "if [[ $funcstack[1] == _llmperf ]]; then _llmperf \"$@\"; else compdef _llmperf llmperf; fi\n";

static const char fish_script[] =
    "function __llmperf_candidates\n"
    "    set -l before (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    for line in ($before[1] completion words -- $before[2..-1] \"$current\" 2>/dev/null)\n"
    "        switch $line\n"
    "            case " FILES "\n"
    "                __fish_complete_path \"$current\"\n"
    "            case " FOLDERS "\n"
    "                __fish_complete_directories \"$current\"\n"
    "            case " PROGRAMS "\n"
    "                complete -C \"$current\"\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c llmperf -f -a '(__llmperf_candidates)'\n";

/* The word to complete, and what comes before its part after "=" in the same word. */
struct want {
    const char *start, *prefix;
    int prefix_length;
};

static void offer(const struct want *want, const char *word, const char *end, const char *help)
{
    if (strncmp(word, want->start, strlen(want->start)) == 0)
        print("%.*s%s%s\t%.60s\n", want->prefix_length, want->prefix, word, end, help ? help : "");
}

static void offer_choices(const struct want *want, const char *choices)
{
    char word[64];

    for (size_t length; *choices; choices += length + (choices[length] == '|')) {
        length = strcspn(choices, "|");
        snprintf(word, sizeof(word), "%.*s", (int)length, choices);
        offer(want, word, "", NULL);
    }
}

static void offer_commands(const struct want *want)
{
    for (size_t i = 0; all_commands[i]; i++)
        offer(want, all_commands[i]->name, "", all_commands[i]->summary);
    offer(want, "help", "", "print the options of a command");
}

static void offer_model(const char *path, const char *name, void *want)
{
    char arch[FOLDER_PATH_BYTES];

    if (folder_join(arch, path, "arch") && folder_is_kind(arch, S_IFDIR))
        offer(want, name, "", NULL);
}

static void offer_models(const struct want *want)
{
    const char *data = llmperf_config_dir();
    char folder[FOLDER_PATH_BYTES];

    if (data && folder_join(folder, data, "model"))
        folder_each(folder, offer_model, (void *)want);
}

static void offer_runs(const struct want *want)
{
    static const struct words none;
    struct run_paths runs = { .count = 0 };
    char folder[CONFIGURED_PATH_BYTES];

    if (configured_folder(&none, NULL, folder) == EXIT_FINE && run_paths_add(&runs, folder))
        for (size_t i = 0; i < runs.count && strcmp(runs.paths[i], folder) != 0; i++)
            offer(want, runs.paths[i], "", NULL);
    run_paths_clear(&runs);
}

/* Of what it stands for in a help text: "RUN_DIR", "a|b|c". */
static void offer_value(const struct want *want, const char *value)
{
    if (strstr(value, "MODEL"))
        offer_models(want);
    if (strstr(value, "RUN ") || strstr(value, "RUN|") || strstr(value, "|RUN") ||
        strstr(value, "BASE"))
        offer_runs(want);
    if (strcmp(value, "DIR") == 0 || strcmp(value, "RUN_DIR") == 0)
        print(FOLDERS "\n");
    else if (strpbrk(value, "|") && strspn(value, "|-_abcdefghijklmnopqrstuvwxyz") == strlen(value))
        offer_choices(want, value);
    else if (strstr(value, "FILE") || strstr(value, "MODEL") || strstr(value, "RUN") ||
             strstr(value, "BASE") || strstr(value, "DIR") || strcmp(value, "NAME") == 0)
        print(FILES "\n");
}

static bool is_same(const char *name, const char *text, size_t length)
{
    return name && strlen(name) == length && strncmp(name, text, length) == 0;
}

/* false: no option with a value. */
static bool offer_option_value(const struct command *command, const struct want *want,
                               const char *name, size_t length)
{
    struct option option;

    for (size_t i = 0; option_at(command, i, &option); i++)
        if (option.value &&
            (is_same(option.name, name, length) || is_same(option.letter, name, length))) {
            offer_value(want, option.value);
            return true;
        }
    return false;
}

/* The value of an option, or of a key of the configuration. */
static void offer_named(const struct command *command, const struct want *want, const char *name,
                        size_t length)
{
    llmperf_option_info info = LLMPERF_OPTION_INFO_INIT;

    if (offer_option_value(command, want, name, length))
        return;
    for (size_t i = 0; llmperf_option_info_get(i, &info) == 0; i++)
        if (is_same(info.key, name, length) && info.choices)
            offer_choices(want, info.choices);
        else if (is_same(info.key, name, length) && info.kind == LLMPERF_OPTION_SWITCH)
            offer_choices(want, "true|false");
}

static void offer_keys(const struct want *want)
{
    llmperf_option_info info = LLMPERF_OPTION_INFO_INIT;

    for (size_t i = 0; llmperf_option_info_get(i, &info) == 0; i++)
        if (info.key)
            offer(want, info.key, "=", info.help);
}

static void offer_options(const struct command *command, const struct want *want)
{
    struct option option;

    for (size_t i = 0; option_at(command, i, &option); i++)
        offer(want, option.name, "", option.help);
    offer(want, "--help", "", "print this help");
}

/* The program to profile comes after "--": its name, then its own arguments. */
static bool offer_program(const struct want *want, int count, char **words)
{
    for (int i = 1; i < count - 1; i++)
        if (strcmp(words[i], "--") == 0) {
            print("%s\n", i == count - 2 && !strchr(want->start, '/') ? PROGRAMS : FILES);
            return true;
        }
    return false;
}

/* words[0]: the command; the last one is incomplete. */
static void offer_argument(const struct command *command, int count, char **words)
{
    struct want want = { words[count - 1], "", 0 };
    const char *equal = strchr(want.start, '='), *before = words[count - 2];

    if (offer_program(&want, count, words))
        return;
    if (strcmp(want.start, "=") == 0) { /* bash makes "=" a word of its own */
        want.start++;
        offer_named(command, &want, before, strlen(before));
    } else if (count > 3 && strcmp(before, "=") == 0) {
        offer_named(command, &want, words[count - 3], strlen(words[count - 3]));
    } else if (equal) {
        want = (struct want){ equal + 1, want.start, (int)(equal + 1 - want.start) };
        offer_named(command, &want, want.prefix, (size_t)(equal - want.prefix));
    } else if (offer_option_value(command, &want, before, strlen(before))) {
        return;
    } else if (want.start[0] == '-') {
        offer_options(command, &want);
    } else {
        offer_value(&want, command->operands);
        if (strstr(command->operands, "KEY=VALUE"))
            offer_keys(&want);
    }
}

static void offer_word(int count, char **words)
{
    const struct command *command;

    if (count == 1 || (count == 2 && strcmp(words[0], "help") == 0))
        offer_commands(&(struct want){ words[count - 1], "", 0 });
    else if (count > 1 && (command = find_command(words[0])))
        offer_argument(command, count, words);
}

static int run(const struct command *command, int argc, char **argv)
{
    static const struct {
        const char *name, *script;
    } shells[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };
    struct words words;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count > 0 && strcmp(argv[1], "words") == 0) {
        offer_word(words.count - 1, argv + 2);
        return EXIT_FINE;
    }
    for (size_t i = 0; words.count == 1 && i < 3; i++)
        if (strcmp(argv[1], shells[i].name) == 0) {
            print("%s", shells[i].script);
            return EXIT_FINE;
        }
    return fail_usage(command, "expected a shell: bash, zsh or fish");
}

const struct command command_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .operands = "bash|zsh|fish",
    .about = "Prints a script that makes the shell complete commands, options, their values, keys "
             "of the configuration and runs. Installed packages have these scripts in place; "
             "otherwise add to ~/.bashrc: source <(llmperf completion bash), to ~/.zshrc: source "
             "<(llmperf completion zsh), to ~/.config/fish/config.fish: llmperf completion fish | "
             "source.",
    .run = run,
};

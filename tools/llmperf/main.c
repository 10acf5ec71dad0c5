/* SPDX-License-Identifier: Apache-2.0 */
/** The command line: `llmperf COMMAND [options]`. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/llmperf.h"

const struct command *const all_commands[] = {
    &command_run,      &command_attach,     &command_report,
    &command_top,      &command_list,       &command_import,
    &command_export,   &command_compare,    &command_repeats,
    &command_merge,    &command_validate,   &command_hardware,
    &command_counters, &command_nsys,       &command_ncu,
    &command_deep,     &command_config,     &command_doctor,
    &command_model,    &command_completion, NULL,
};

static void print_commands(void)
{
    print("usage: llmperf COMMAND [options]\n\n");
    for (size_t i = 0; all_commands[i]; i++)
        print("  %-10s %s\n", all_commands[i]->name, all_commands[i]->summary);
    print("\nllmperf help COMMAND prints its options; llmperf --version prints the version.\n"
          "Exit codes: 0 success, 1 a check failed, 2 wrong usage, 3 the environment prevents it,\n"
          "4 (compare) the runs have too little in common.\n");
}

const struct command *find_command(const char *name)
{
    const char *names[sizeof(all_commands) / sizeof(all_commands[0])] = { NULL };

    for (size_t i = 0; all_commands[i]; i++) {
        names[i] = all_commands[i]->name;
        if (strcmp(names[i], name) == 0)
            return all_commands[i];
    }
    fprintf(stderr, "llmperf: unknown command %s%s; see llmperf --help\n", name,
            did_you_mean(name, names));
    return NULL;
}

static int help(const char *name)
{
    const struct command *command = name ? find_command(name) : NULL;

    if (command)
        print_help(command);
    else if (!name)
        print_commands();
    return command || !name ? EXIT_FINE : EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const struct command *command;

    if (!name) {
        fprintf(stderr, "llmperf: no command given; see llmperf --help\n");
        return EXIT_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0) {
        print("llmperf %s\n", llmperf_version());
        return EXIT_FINE;
    }
    command = find_command(name);
    return command ? command->run(command, argc - 1, argv + 1) : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    /* A closed pipe must not end the process while it writes a run. */
    signal(SIGPIPE, SIG_IGN);
    unsetenv("LLMPERF_RUN_CONFIG"); /* Variables of an enclosing llmperf run do not apply to
                                       sessions of this process. */
    return finish_output(run_command(argc, argv));
}

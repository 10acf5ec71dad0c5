/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf config`: print the composed configuration. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "llmperf/sys.h"

static const struct option options[] = {
    OPTION("--format", NULL, "yaml|json", "yaml", "YAML or JSON"), OPTIONS_END
};

static int run(const struct command *command, int argc, char **argv)
{
    llmperf_config *config = NULL;
    struct words words;
    const char *name;
    char *text;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    name = option_value(&words, "--config");
    status = llmperf_config_compose(name ? name : "config", (const char *const *)(argv + 1),
                                    (size_t)words.count, option_value(&words, "--model"), &config);
    if (status == 0)
        status = llmperf_config_document(
            config, "", choice_of(command, &words, 0) ? LLMPERF_CONFIG_JSON : LLMPERF_CONFIG_YAML,
            &text);
    if (status == 0) {
        print("%s", text);
        llmperf_text_free(text);
    }
    llmperf_config_free(config);
    return status < 0 ? fail_status(status) : EXIT_FINE;
}

/* Such as "16 to 1048576 paths". */
static void values_of(const llmperf_option_info *info, char *text, size_t size)
{
    static const char *const kinds[] = { [LLMPERF_OPTION_TEXT] = "text",
                                         [LLMPERF_OPTION_NUMBER] = "number",
                                         [LLMPERF_OPTION_SWITCH] = "true|false",
                                         [LLMPERF_OPTION_ANY] = "map" };
    const char *unit = info->unit ? info->unit : "", *space = info->unit ? " " : "";

    if (info->kind == LLMPERF_OPTION_NUMBER && info->most < INT64_MAX)
        snprintf(text, size, "%" PRId64 " to %" PRId64 "%s%s", info->least, info->most, space,
                 unit);
    else
        snprintf(text, size, "%s%s%s", info->choices ? info->choices : kinds[info->kind], space,
                 unit);
}

static void print_key(const llmperf_option_info *info)
{
    bool has_default = info->usual && info->kind != LLMPERF_OPTION_SWITCH;
    char values[256], line[512];

    values_of(info, values, sizeof(values));
    snprintf(line, sizeof(line), "(%s%s%s%s%s%s%s)", values, has_default ? ", default " : "",
             has_default ? info->usual : "", info->variable ? ", $" : "",
             info->variable ? info->variable : "", info->word ? ", " : "",
             info->word ? info->word : "");
    print("  %s  ", info->key);
    print_wrapped(4 + (int)strlen(info->key), 6, line);
    print("      ");
    print_wrapped(6, 6, info->help);
}

static void print_keys(void)
{
    llmperf_option_info info = LLMPERF_OPTION_INFO_INIT;

    print("\nKeys, with their values, default, environment variable and option. The command\n"
          "line comes before the environment, the environment before the configuration.\n");
    for (size_t i = 0; llmperf_option_info_get(i, &info) == 0; i++)
        if (info.key && info.help)
            print_key(&info);
    print("\nEnvironment only:\n");
    for (size_t i = 0; llmperf_option_info_get(i, &info) == 0; i++)
        if (!info.key && info.variable && !info.field) {
            print("  %s\n      ", info.variable);
            print_wrapped(6, 6, info.help);
        }
}

const struct command command_config = {
    .name = "config",
    .summary = "print the composed configuration",
    .operands = "[options] [KEY=VALUE...]",
    .about = "Composes a configuration (Hydra syntax) and prints it. KEY=VALUE: a.b=c sets, +a.b=c "
             "adds, ~a.b removes, group=option chooses.",
    .options = options,
    .run = run,
    .more_help = print_keys,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that ncu measures: the longest of a profile, or all but those that are excluded. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/pattern.h"
#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/vendor/commands.h"
#include "lib/profile/fields.h"

#define EXCLUDE "pipeline.ncu.ncu_cli.kernel_exclude"

struct total {
    const char *function;
    double ms;
};

struct totals {
    LP_VECTOR(struct total) list;
};

/* "prefill" is LLM@prefill. */
static const char *full_label(llmperf_commands *commands, const char *stage)
{
    return strchr(stage, '@') ? stage : lp_commands_text(commands, "LLM@%s", stage);
}

/* Does the path contain the label, or the labels of a path in this order? */
static bool lies_in(const char *path, const char *stage)
{
    size_t length = strlen(stage);

    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, stage, length) == 0 && (at[length] == '\0' || at[length] == '/'))
            return true;
    return false;
}

static int add_total(struct totals *totals, const char *function, double ms)
{
    for (size_t i = 0; i < totals->list.count; i++)
        if (strcmp(totals->list.items[i].function, function) == 0) {
            totals->list.items[i].ms += ms;
            return 0;
        }
    return lp_vector_push(&totals->list, (struct total){ function, ms }) < 0 ? lp_out_of_memory()
                                                                             : 0;
}

/* Memory copies and memsets are not kernels. */
static int add_up(llmperf_commands *commands, const llmperf_profile *profile, const char *stage,
                  const struct lp_patterns *excluded, struct totals *totals)
{
    size_t count = lp_row_count(profile, LP_ROW_KERNEL);
    int status = 0;

    for (size_t i = 0; status == 0 && i < count; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;
        const char *name;

        if (llmperf_profile_kernel(profile, i, &kernel) < 0)
            continue;
        name = kernel.demangled ? kernel.demangled : kernel.name;
        if (!name || *name == '[' || lp_patterns_match(excluded, name) ||
            (stage && (!kernel.region || !lies_in(kernel.region, stage))))
            continue;
        status = add_total(totals, lp_kernel_function(commands, name), kernel.total_ms);
    }
    return status;
}

static int compare_totals(const void *left, const void *right)
{
    double a = ((const struct total *)left)->ms, b = ((const struct total *)right)->ms;

    return a < b ? 1 : -(a > b);
}

/* As a part of a regular expression; `star`: "*" stands for any text. */
static void put_escaped(struct lp_text *text, const char *name, bool star)
{
    for (const char *at = name; *at; at++) {
        if (*at == '*' && star)
            lp_text_puts(text, ".");
        else if (strchr("\\^$.|?*+()[]{}", *at))
            lp_text_puts(text, "\\");
        lp_text_add(text, at, 1);
    }
}

/* An expression that ncu matches with the whole function name. */
static const char *as_pattern(llmperf_commands *commands, const struct totals *totals, size_t count)
{
    struct lp_text text = { 0 };
    const char *kept;

    lp_text_puts(&text, "regex:^(");
    for (size_t i = 0; i < count; i++) {
        lp_text_puts(&text, i ? "|" : "");
        put_escaped(&text, totals->list.items[i].function, false);
    }
    lp_text_puts(&text, ")$");
    kept = lp_commands_text(commands, "%s", text.failed ? "" : text.bytes);
    lp_text_clear(&text);
    return kept;
}

static int read_excluded(llmperf_commands *commands, const llmperf_config *config,
                         struct lp_patterns **patterns_out)
{
    size_t count = llmperf_config_length(config, EXCLUDE);
    const char *texts[64], *text = NULL;
    int status = 0;

    *patterns_out = NULL;
    if (count > sizeof(texts) / sizeof(texts[0]))
        return lp_config_refuse(config, EXCLUDE, "has more than 64 patterns");
    if (count == 0) {
        if ((status = lp_commands_join(commands, config, EXCLUDE, &text)) < 0 || !*text)
            return status;
        texts[count++] = text;
    } else {
        for (size_t i = 0; status == 0 && i < count; i++)
            status = llmperf_config_text(config, lp_commands_text(commands, EXCLUDE ".%zu", i),
                                         &texts[i]);
    }
    return status < 0 ? status : lp_patterns_open(texts, count, patterns_out);
}

static int choose(llmperf_commands *commands, const char *stage, int64_t most,
                  struct totals *totals, const char **pattern_out, size_t *count_out)
{
    size_t count = totals->list.count < (size_t)most ? totals->list.count : (size_t)most;

    if (count == 0)
        return lp_error(LLMPERF_ENOENT, "the profile has no kernel in %s",
                        stage ? stage : "any of its regions");
    qsort(totals->list.items, totals->list.count, sizeof(totals->list.items[0]), compare_totals);
    *pattern_out = as_pattern(commands, totals, count);
    *count_out = count;
    lp_commands_note(commands,
                     "ncu profiles %zu of %zu kernels%s%s, those with the largest total time",
                     count, totals->list.count, stage ? " in " : "", stage ? stage : "");
    return 0;
}

int lp_top_kernels(llmperf_commands *commands, const llmperf_config *config,
                   const llmperf_profile *profile, const char **pattern_out, size_t *count_out)
{
    const char *stage = NULL;
    struct lp_patterns *excluded = NULL;
    struct totals totals = { 0 };
    int64_t most = 10;
    int status;

    if ((status = lp_config_take_text(config, "run.stage", &stage)) < 0 ||
        (status = lp_config_take_integer(config, "run.top_n_kernels", &most)) < 0)
        return status;
    if (stage)
        stage = full_label(commands, stage);
    if ((status = read_excluded(commands, config, &excluded)) == 0 &&
        (status = add_up(commands, profile, stage, excluded, &totals)) == 0)
        status = choose(commands, stage, most, &totals, pattern_out, count_out);
    lp_vector_clear(&totals.list);
    lp_patterns_free(excluded);
    return status;
}

int lp_excluding(llmperf_commands *commands, const llmperf_config *config, const char *name,
                 const char **pattern_out)
{
    bool regex = name && strncmp(name, "regex:", 6) == 0;
    struct lp_patterns *excluded = NULL;
    struct lp_text text = { 0 };
    int status = read_excluded(commands, config, &excluded);

    *pattern_out = name;
    lp_text_puts(&text, "regex:^");
    for (size_t i = 0; i < lp_patterns_count(excluded); i++) {
        const char *pattern = lp_patterns_text(excluded, i);

        lp_text_puts(&text, "(?!");
        if (strncmp(pattern, "regex:", 6) == 0) {
            lp_text_printf(&text, ".*(?:%s)", pattern + 6);
        } else {
            put_escaped(&text, pattern, true);
            lp_text_puts(&text, "$");
        }
        lp_text_puts(&text, ")");
    }
    if (regex)
        lp_text_printf(&text, "(?=.*(?:%s))", name + 6);
    else if (name)
        put_escaped(&text, name, false);
    lp_text_puts(&text, name && !regex ? "$" : "");
    if (lp_patterns_count(excluded) > 0)
        *pattern_out = lp_commands_text(commands, "%s", text.failed ? "" : text.bytes);
    commands->failed |= text.failed;
    lp_text_clear(&text);
    lp_patterns_free(excluded);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/options/rule.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/base/utf8.h"
#include "lib/base/vector.h"

#define SECOND_NS UINT64_C(1000000000)

#define SPAN_NS     (2 * SECOND_NS)
#define SPAN_LEAST  UINT64_C(20000000) /* the collector reads calls this often */
#define SPAN_MOST   (3600 * SECOND_NS)
#define UNITS       20u
#define UNITS_MOST  1000u
#define COOLDOWN_NS (60 * SECOND_NS)
#define TIME_MOST   (7 * 86400 * SECOND_NS)
#define LIMIT       10u
#define LIMIT_MOST  1000u

static const struct {
    const char *name, *unit;
} quantities[] = {
    [LP_QUANTITY_P50] = { "p50", "ms" },  [LP_QUANTITY_P95] = { "p95", "ms" },
    [LP_QUANTITY_P99] = { "p99", "ms" },  [LP_QUANTITY_MEAN] = { "mean", "ms" },
    [LP_QUANTITY_MAX] = { "max", "ms" },  [LP_QUANTITY_TOKENS_PER_S] = { "tokens/s", "1/s" },
    [LP_QUANTITY_IDLE] = { "idle", "%" },
};
#define QUANTITIES LP_LENGTH(quantities)

const char *lp_quantity_name(enum lp_quantity quantity)
{
    return quantities[quantity].name;
}

const char *lp_quantity_unit(enum lp_quantity quantity)
{
    return quantities[quantity].unit;
}

/* The rest of a rule's text. */
struct words {
    struct lp_rule *rule;
    const char *at;
    char word[64]; /* the next word; "": end */
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct words *words,
                                                        const char *format, ...)
{
    char reason[200], clean[LP_RULE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    lp_text_sanitise(clean, sizeof(clean), words->rule->text);
    return lp_error(LLMPERF_EINVAL, "rule \"%s\": %s; write: " LP_RULE_SYNTAX, clean, reason);
}

static bool is_number(char byte)
{
    return (byte >= '0' && byte <= '9') || byte == '.';
}

static bool is_sign(char byte)
{
    return byte == '<' || byte == '>';
}

/* "30ms" is two words, ">30" too. */
static void next_word(struct words *words)
{
    size_t length = 0;

    while (*words->at == ' ' || *words->at == '\t')
        words->at++;
    if (is_sign(*words->at))
        length = 1;
    else if (is_number(*words->at))
        while (is_number(words->at[length]))
            length++;
    else
        while (words->at[length] && !strchr(" \t<>", words->at[length]))
            length++;
    if (length >= sizeof(words->word))
        length = sizeof(words->word) - 1;
    memcpy(words->word, words->at, length);
    words->word[length] = '\0';
    words->at += length;
}

static bool take_word(struct words *words, const char *word)
{
    if (strcmp(words->word, word) != 0)
        return false;
    next_word(words);
    return true;
}

static int take_number(struct words *words, const char *what, double *number_out)
{
    char *end;

    if (!is_number(words->word[0]))
        return refuse(words, "%s needs a number, not \"%.40s\"", what, words->word);
    *number_out = lp_number_read(words->word, &end);
    if (*end)
        return refuse(words, "\"%.40s\" is not a number", words->word);
    next_word(words);
    return 0;
}

static int take_time(struct words *words, const char *what, double most_ns, double *ns_out)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = { { "ns", 1 },  { "us", 1e3 },   { "ms", 1e6 },
                  { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 } };
    double number = 0;
    int status = take_number(words, what, &number);

    if (status < 0)
        return status;
    for (size_t i = 0; i < LP_LENGTH(units); i++) {
        if (!take_word(words, units[i].unit))
            continue;
        *ns_out = number * units[i].ns;
        return *ns_out <= most_ns ? 0 : refuse(words, "%s exceeds %.0f s", what, most_ns / 1e9);
    }
    return refuse(words, "%s needs a time with ns, us, ms, s, min or h", what);
}

static int take_count(struct words *words, const char *what, uint32_t most, uint32_t *count_out)
{
    double number = 0;
    int status = take_number(words, what, &number);

    if (status < 0)
        return status;
    if (number < 1 || number > most || number != (double)(uint32_t)number)
        return refuse(words, "%s needs a whole number from 1 to %u", what, most);
    *count_out = (uint32_t)number;
    return 0;
}

static int take_label(struct words *words)
{
    size_t length;

    words->at += strspn(words->at, " \t");
    length = strcspn(words->at, " \t");
    if (length == 0 || length > LLMPERF_LABEL_BYTES)
        return refuse(words, "a rule begins with the label of a region");
    snprintf(words->rule->label, sizeof(words->rule->label), "%s%.*s",
             memchr(words->at, '@', length) ? "" : "LLM@", (int)length, words->at);
    words->at += length;
    next_word(words);
    return 0;
}

static int take_quantity(struct words *words)
{
    for (size_t i = 0; i < QUANTITIES; i++) {
        if (!take_word(words, quantities[i].name))
            continue;
        words->rule->quantity = (enum lp_quantity)i;
        return 0;
    }
    return refuse(words, "\"%.40s\" is not a known quantity", words->word);
}

static int take_side(struct words *words)
{
    words->rule->above = take_word(words, ">") || take_word(words, "above");
    if (words->rule->above || take_word(words, "<") || take_word(words, "below"))
        return 0;
    return refuse(words, "above or below (> or <) must follow %s",
                  lp_quantity_name(words->rule->quantity));
}

static int take_threshold(struct words *words)
{
    struct lp_rule *rule = words->rule;
    double ns = 0;
    int status;

    if (rule->quantity == LP_QUANTITY_TOKENS_PER_S)
        return take_number(words, "tokens/s", &rule->threshold);
    if (rule->quantity == LP_QUANTITY_IDLE) {
        if ((status = take_number(words, "idle", &rule->threshold)) < 0)
            return status;
        return take_word(words, "%") && rule->threshold <= 100
                   ? 0
                   : refuse(words, "idle is a share of the time on the device, 0 to 100 %%");
    }
    status = take_time(words, lp_quantity_name(rule->quantity), (double)TIME_MOST, &ns);
    rule->threshold = ns / 1e6;
    return status;
}

static int take_option(struct words *words)
{
    struct lp_rule *rule = words->rule;
    double ns = 0;
    int status;

    if (take_word(words, "collect"))
        return take_count(words, "collect", UNITS_MOST, &rule->units);
    if (take_word(words, "limit"))
        return take_count(words, "limit", LIMIT_MOST, &rule->limit);
    if (take_word(words, "cooldown")) {
        status = take_time(words, "cooldown", (double)TIME_MOST, &ns);
        rule->cooldown_ns = (uint64_t)ns;
        return status;
    }
    if (!take_word(words, "for"))
        return refuse(words, "unexpected \"%.40s\"", words->word);
    if ((status = take_time(words, "for", (double)SPAN_MOST, &ns)) < 0)
        return status;
    rule->span_ns = (uint64_t)ns;
    return rule->span_ns >= SPAN_LEAST ? 0 : refuse(words, "for must be at least 20 ms");
}

static int read_rule(const char *text, size_t length, struct lp_rule *rule)
{
    struct words words = { rule, rule->text, "" };
    int status;

    *rule = (struct lp_rule){
        .span_ns = SPAN_NS, .units = UNITS, .limit = LIMIT, .cooldown_ns = COOLDOWN_NS
    };
    if (length >= sizeof(rule->text))
        return lp_error(LLMPERF_EINVAL, "the rule has %zu bytes; at most %zu are allowed", length,
                        sizeof(rule->text) - 1);
    memcpy(rule->text, text, length);
    rule->text[length] = '\0';
    if ((status = take_label(&words)) < 0 || (status = take_quantity(&words)) < 0 ||
        (status = take_side(&words)) < 0 || (status = take_threshold(&words)) < 0)
        return status;
    while (words.word[0] && (status = take_option(&words)) == 0)
        ;
    return status;
}

int lp_rules_read(const char *text, struct lp_rule *rules_out, size_t *count_out)
{
    int status = 0;

    *count_out = 0;
    while (status == 0 && text && *text) {
        size_t length = strcspn(text, ";"), blank = strspn(text, " \t\n");

        if (blank >= length) { /* empty, for example after the last semicolon */
            text += length + (text[length] == ';');
            continue;
        }
        if (*count_out == LP_RULES)
            return lp_error(LLMPERF_EINVAL, "more than %u rules", LP_RULES);
        while (length > blank && isspace((unsigned char)text[length - 1]))
            length--;
        status = read_rule(text + blank, length - blank, &rules_out[*count_out]);
        text += strcspn(text, ";");
        text += *text == ';';
        *count_out += status == 0;
    }
    return status;
}

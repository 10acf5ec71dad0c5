/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/format/markdown.h"
#include "llmperf/profile.h"

/* ± stands for both sides of an interval if one is at most so many times the other. */
#define SIDES_EQUAL 1.1

/* A text starts its line even after a list or heading marker, but not in a cell. */
static bool begins_line(const struct lp_text *out)
{
    size_t at = out->length;

    while (at > 0 && strchr(" #>-", out->bytes[at - 1]))
        at--;
    return at == 0 || out->bytes[at - 1] == '\n';
}

/* Escape what would start a heading, list, quote or rule at the start of a line. */
static void begin_text(struct lp_text *out, const char **string)
{
    size_t digits;

    if (!begins_line(out))
        return;
    while (**string == ' ')
        (*string)++;
    digits = strspn(*string, "0123456789");
    if (digits > 0 && strchr(".)", (*string)[digits])) {
        lp_text_add(out, *string, digits);
        *string += digits;
    }
    if (**string && (digits > 0 ? strchr(".)", **string) : strchr("#>+-=", **string)))
        lp_text_add(out, "\\", 1);
}

void lp_md_text(struct lp_text *out, const char *string)
{
    struct lp_text clean = { NULL, 0, 0, false };
    const char *at;

    lp_text_clean(&clean, string);
    if ((at = clean.bytes))
        begin_text(out, &at);
    for (; at && *at; at++) {
        if (strchr("\\`|<*[&~", *at))
            lp_text_add(out, "\\", 1);
        lp_text_add(out, at, 1);
    }
    out->failed |= clean.failed;
    lp_text_clear(&clean);
}

static size_t longest_backtick_run(const char *string)
{
    size_t longest = 0;

    while (*string) {
        size_t run = strspn(string, "`");

        longest = run > longest ? run : longest;
        string += run;
        string += strcspn(string, "`");
    }
    return longest;
}

static void add_fence(struct lp_text *out, size_t length)
{
    for (size_t i = 0; i < length; i++)
        lp_text_add(out, "`", 1);
}

/* Tables split cells at '
 * ' before they look for code spans, so it is escaped. Backslashes before it are doubled, because
 * some readers would otherwise take the '
 * ' as the end of the cell. */
static void add_code_bytes(struct lp_text *out, const char *string)
{
    while (*string) {
        size_t backslashes = strspn(string, "\\");

        lp_text_add(out, string, backslashes);
        if (string[backslashes] == '|') {
            lp_text_add(out, string, backslashes);
            lp_text_add(out, "\\", 1);
        }
        string += backslashes;
        if (*string) {
            lp_text_add(out, string, 1);
            string++;
        }
    }
}

static void add_code(struct lp_text *out, const char *string)
{
    size_t run = longest_backtick_run(string), length = strlen(string);
    bool padded = run > 0 || strspn(string, " ") == length;

    if (length == 0)
        return;
    add_fence(out, run + 1);
    lp_text_puts(out, padded ? " " : "");
    add_code_bytes(out, string);
    /* Some readers would let a backslash at the end escape the next character. */
    lp_text_puts(out, padded || string[length - 1] == '\\' ? " " : "");
    add_fence(out, run + 1);
}

void lp_md_code(struct lp_text *out, const char *string)
{
    struct lp_text clean = { NULL, 0, 0, false };

    lp_text_clean(&clean, string);
    if (clean.bytes)
        add_code(out, clean.bytes);
    out->failed |= clean.failed;
    lp_text_clear(&clean);
}

void lp_md_number(struct lp_text *out, double value)
{
    lp_text_puts(out, isnan(value) ? LP_MD_UNKNOWN : LP_NUMBER(value, 4));
}

void lp_md_count(struct lp_text *out, uint64_t value)
{
    if (value == LLMPERF_UNKNOWN)
        lp_text_puts(out, LP_MD_UNKNOWN);
    else
        lp_text_printf(out, "%" PRIu64, value);
}

static void end_cell(struct lp_text *out)
{
    lp_text_puts(out, " |");
}

void lp_md_cell_text(struct lp_text *out, const char *string)
{
    lp_text_puts(out, " ");
    lp_md_text(out, string ? string : LP_MD_UNKNOWN);
    end_cell(out);
}

void lp_md_cell_code(struct lp_text *out, const char *string)
{
    lp_text_puts(out, " ");
    if (string)
        lp_md_code(out, string);
    else
        lp_text_puts(out, LP_MD_UNKNOWN);
    end_cell(out);
}

void lp_md_interval(struct lp_text *out, double value, struct lp_interval interval, int digits)
{
    double above = interval.high - value, below = value - interval.low;

    lp_text_puts(out, isnan(value) ? LP_MD_UNKNOWN : LP_NUMBER(value, digits));
    if (isnan(value) || !(above + below > 0))
        return;
    if (fmax(above, below) <= SIDES_EQUAL * fmin(above, below))
        lp_text_printf(out, " ± %s", LP_NUMBER(fmax(above, below), 2));
    else
        lp_text_printf(out, " (%s–%s)", LP_NUMBER(interval.low, digits),
                       LP_NUMBER(interval.high, digits));
}

void lp_md_cell_number(struct lp_text *out, double value)
{
    lp_text_puts(out, " ");
    lp_md_number(out, value);
    end_cell(out);
}

void lp_md_cell_count(struct lp_text *out, uint64_t value)
{
    lp_text_puts(out, " ");
    lp_md_count(out, value);
    end_cell(out);
}

void lp_md_cell_device(struct lp_text *out, int32_t device)
{
    if (device < 0)
        lp_md_cell_text(out, NULL);
    else
        lp_md_cell_count(out, (uint64_t)device);
}

void lp_md_cell_region(struct lp_text *out, const char *path)
{
    if (path && *path)
        lp_md_cell_code(out, path);
    else
        lp_md_cell_text(out, path ? "(no region)" : "(unknown launch)");
}

#define REASONS_MOST 4

void lp_md_reasons(struct lp_text *out, const char *what, const char *const *reason, size_t count,
                   size_t stride)
{
    const char *said[REASONS_MOST];
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        const char *why = *(const char *const *)((const char *)reason + i * stride);
        size_t at = 0;

        while (why && at < most && strcmp(said[at], why) != 0)
            at++;
        if (!why || at < most || most == REASONS_MOST)
            continue;
        said[most++] = why;
        lp_text_printf(out, "\n%s: ", what);
        lp_md_text(out, why);
        lp_text_puts(out, ".\n");
    }
}

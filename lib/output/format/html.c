/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/format/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/utf8.h"
#include "lib/output/format/json_writer.h"
#include "llmperf/profile.h"

#define UNKNOWN "–"

static const char *entity(char sign)
{
    switch (sign) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void put_escaped(struct lp_text *out, const char *string, size_t length)
{
    size_t size = 3 * length + 4; /* U+FFFD takes three bytes */
    char *raw = malloc(length + 1), *clean = malloc(size);

    if (raw && clean) {
        memcpy(raw, string, length);
        raw[length] = '\0';
        lp_text_sanitise(clean, size, raw);
        for (const char *at = clean; *at; at++) {
            const char *escaped = entity(*at);

            if (escaped)
                lp_text_puts(out, escaped);
            else
                lp_text_add(out, at, 1);
        }
    } else {
        out->failed = true;
    }
    free(raw);
    free(clean);
}

void lp_html_text(struct lp_text *out, const char *string)
{
    if (string)
        put_escaped(out, string, strlen(string));
    else
        lp_text_puts(out, UNKNOWN);
}

const char *lp_pointer(char *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(out, LP_POINTER_BYTES, format, args);
    va_end(args);
    return out;
}

const char *lp_pointer_word(char *out, const char *word)
{
    size_t length = 0;

    for (; *word && length + 3 < LP_POINTER_BYTES; word++) {
        if (*word == '~' || *word == '/') {
            out[length++] = '~';
            out[length++] = *word == '~' ? '0' : '1';
        } else {
            out[length++] = *word;
        }
    }
    out[length] = '\0';
    return out;
}

void lp_html_raw(struct lp_text *out, double value)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_number(&json, NULL, value);
    lp_text_puts(out, json.text.bytes ? json.text.bytes : "");
    out->failed |= json.text.failed;
    lp_text_clear(&json.text);
}

/* @param pointer  NULL: the row and column of a cell give it, and NaN is a dash alone. */
static void put_number(struct lp_text *out, const char *pointer, double value, double scale)
{
    if (!pointer && !isfinite(value)) {
        lp_text_puts(out, UNKNOWN);
        return;
    }
    lp_text_puts(out, "<data value=\"");
    lp_html_raw(out, value);
    if (pointer) {
        lp_text_puts(out, "\" data-metric=\"");
        lp_html_text(out, pointer);
    }
    lp_text_puts(out, "\">");
    if (isfinite(value))
        lp_text_printf(out, "%s%s", LP_NUMBER(value * scale, 4), scale > 1 ? " %" : "");
    else
        lp_text_puts(out, UNKNOWN);
    lp_text_puts(out, "</data>");
}

void lp_html_number(struct lp_text *out, const char *pointer, double value)
{
    put_number(out, pointer, value, 1);
}

void lp_html_count(struct lp_text *out, const char *pointer, uint64_t value)
{
    if (value == LLMPERF_UNKNOWN) {
        put_number(out, pointer, NAN, 1);
        return;
    }
    lp_text_printf(out, "<data value=\"%" PRIu64 "\" data-metric=\"", value);
    lp_html_text(out, pointer);
    lp_text_printf(out, "\">%" PRIu64 "</data>", value);
}

static void put_cell(struct lp_text *out, const char *pointer, double value, double scale)
{
    lp_text_puts(out, pointer ? "<td class=\"n\">" : "<td>");
    put_number(out, pointer, value, scale);
    lp_text_puts(out, "</td>");
}

void lp_html_cell_number(struct lp_text *out, const char *pointer, double value)
{
    put_cell(out, pointer, value, 1);
}

void lp_html_cell_percent(struct lp_text *out, const char *pointer, double value)
{
    put_cell(out, pointer, value, 100);
}

void lp_html_cell_count(struct lp_text *out, const char *pointer, uint64_t value)
{
    lp_text_puts(out, pointer ? "<td class=\"n\">" : "<td>");
    if (pointer)
        lp_html_count(out, pointer, value);
    else if (value == LLMPERF_UNKNOWN)
        lp_text_puts(out, UNKNOWN);
    else
        lp_text_printf(out, "%" PRIu64, value);
    lp_text_puts(out, "</td>");
}

void lp_html_cell_text(struct lp_text *out, const char *text)
{
    lp_text_puts(out, "<td class=\"t\">");
    lp_html_text(out, text);
    lp_text_puts(out, "</td>");
}

void lp_html_path(struct lp_text *out, const char *path)
{
    const char *slash;

    if (!path) {
        lp_html_text(out, path);
        return;
    }
    for (; (slash = strchr(path, '/')); path = slash + 1) {
        put_escaped(out, path, (size_t)(slash + 1 - path));
        lp_text_puts(out, "<wbr>");
    }
    put_escaped(out, path, strlen(path));
}

void lp_html_cell_code(struct lp_text *out, const char *text)
{
    lp_text_puts(out, "<td class=\"t\"><code>");
    lp_html_path(out, text);
    lp_text_puts(out, "</code></td>");
}

static void begin_table(struct lp_text *out, const char *caption)
{
    lp_text_puts(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\"><caption>");
    lp_html_text(out, caption);
    lp_text_puts(out, "</caption><thead><tr>");
}

/* @param metric  NULL: the column has no metric. */
static void put_heading(struct lp_text *out, const char *title, bool number, const char *metric)
{
    lp_text_printf(out, "<th scope=\"col\"%s", number ? " class=\"n\"" : "");
    if (metric)
        lp_text_printf(out, " data-metric=\"%s\"", metric);
    lp_text_puts(out, "><button type=\"button\">");
    lp_html_text(out, title);
    lp_text_puts(out, "</button></th>");
}

void lp_html_table_open(struct lp_text *out, const char *caption, const char *const *headings)
{
    begin_table(out, caption);
    for (; *headings; headings++)
        put_heading(out, *headings + (**headings == '#'), **headings == '#', NULL);
    lp_text_puts(out, "</tr></thead><tbody>\n");
}

void lp_html_rows_open(struct lp_text *out, const char *caption,
                       const struct lp_html_column *columns)
{
    begin_table(out, caption);
    for (; columns->title; columns++)
        put_heading(out, columns->title, columns->metric != NULL, columns->metric);
    lp_text_puts(out, "</tr></thead><tbody>\n");
}

void lp_html_row_open(struct lp_text *out, const char *pointer)
{
    lp_text_puts(out, "<tr data-row=\"");
    lp_html_text(out, pointer);
    lp_text_puts(out, "\">");
}

void lp_html_table_close(struct lp_text *out)
{
    lp_text_puts(out, "</tbody></table></div>\n");
}

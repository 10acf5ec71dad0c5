/* SPDX-License-Identifier: Apache-2.0 */
/* All rows of a profile as JSON lines (one object per line) and CSV (one number per line). */
#include <math.h>
#include <string.h>

#include "lib/findings/limits/facts.h"
#include "lib/output/format/documents.h"
#include "lib/output/format/row_fields.h"
#include "llmperf/profile.h"
#include "lib/output/format/json_writer.h"
#include "lib/base/text.h"

/* JSON lines */

/* The writer puts each member on its own line; values contain no line ends. */
static void add_line(struct lp_text *out, const struct lp_json *json)
{
    bool indent = false;

    for (size_t i = 0; i < json->text.length; i++) {
        char byte = json->text.bytes[i];

        if (byte == '\n' || (indent && byte == ' ')) {
            indent = true;
            continue;
        }
        indent = false;
        lp_text_add(out, &byte, 1);
    }
    lp_text_puts(out, "\n");
    out->failed |= json->text.failed;
}

static void put_run(const llmperf_profile *profile, struct lp_text *out)
{
    static const char *const texts[] = { "run_id", "created_at", "llmperf_version", "tier",
                                         "source", "process_id", "model",           "merged_from" };
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    lp_json_open(&json, NULL, '{');
    lp_json_string(&json, "type", "run");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        lp_json_string(&json, texts[i], llmperf_profile_fact(profile, texts[i]));
    lp_json_number(&json, "duration_ms", lp_duration_ms(profile));
    lp_json_string(&json, "verdict", llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    lp_json_close(&json, '}');
    add_line(out, &json);
    lp_text_clear(&json.text);
}

/* The line of the run has the verdict as a word. */
static bool is_shown(const struct lp_row_field *field)
{
    return field->type != LP_FIELD_BLOB && field->merge != LP_MERGE_WORST;
}

static void put_row(const struct lp_row_kind *kind, const void *row, struct lp_text *out)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_open(&json, NULL, '{');
    lp_json_string(&json, "type", kind->type);
    for (size_t i = 0; i < kind->count; i++)
        if (is_shown(&kind->fields[i]))
            lp_field_json(&json, &kind->fields[i], kind->fields[i].name, row);
    lp_json_close(&json, '}');
    add_line(out, &json);
    lp_text_clear(&json.text);
}

static void each_row(const llmperf_profile *profile, struct lp_text *out,
                     void (*put)(const struct lp_row_kind *kind, const void *row,
                                 struct lp_text *out))
{
    llmperf_ledger ledger;

    for (enum lp_row_id id = LP_ROW_LEDGER; id < LP_ROW_KINDS; id++)
        for (size_t i = 0; lp_row_kinds[id].type && i < lp_row_count(profile, id); i++)
            put(&lp_row_kinds[id], lp_shown_row(profile, id, i, &ledger), out);
}

int lp_rows_jsonl(const llmperf_profile *profile, struct lp_text *out)
{
    put_run(profile, out);
    each_row(profile, out, put_row);
    return out->failed ? LLMPERF_ENOMEM : 0;
}

/* CSV */

static void put_number(struct lp_text *out, const char *number)
{
    lp_text_puts(out, ",");
    lp_text_puts(out, number ? number : "");
}

/* Spreadsheets would take a name that starts like this as a formula; it gets an apostrophe in
 * front. So does a name with an apostrophe, so that readers can always remove one. The wide
 * characters are East Asian forms. */
static bool begins_formula(const char *text)
{
    static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
                                        "\xef\xbc\xa0" };

    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0)
            return true;
    return *text && strchr("=+-@\t\r\n'", *text);
}

static void put_cell(struct lp_text *out, const char *text)
{
    lp_text_puts(out, ",");
    if (!text)
        return;
    if (!strpbrk(text, ",\"\r\n")) {
        lp_text_puts(out, begins_formula(text) ? "'" : "");
        lp_text_puts(out, text);
        return;
    }
    lp_text_puts(out, begins_formula(text) ? "\"'" : "\"");
    for (; *text; text++)
        lp_text_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    lp_text_puts(out, "\"");
}

/* Write a number as in JSON; false: not known. */
static bool write_number(const struct lp_row_field *field, const void *row, struct lp_text *number)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };
    bool known;

    lp_field_json(&json, field, NULL, row);
    known = !json.text.failed && strcmp(json.text.bytes, "null") != 0;
    number->length = 0;
    if (known)
        lp_text_puts(number, json.text.bytes);
    lp_text_clear(&json.text);
    return known && !number->failed;
}

static const struct lp_row_field *find_field(const struct lp_row_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->count; i++)
        if (strcmp(kind->fields[i].name, name) == 0)
            return &kind->fields[i];
    return NULL;
}

static const char *text_of(const struct lp_row_kind *kind, const void *row, const char *name)
{
    const struct lp_row_field *field = find_field(kind, name);

    return field ? *(const char *const *)(const void *)((const char *)row + field->offset) : NULL;
}

/* The key of a row, in the same columns for every kind. */
static void write_key(const struct lp_row_kind *kind, const void *row, struct lp_text *key)
{
    static const char *const numbers[] = { "process_id", "device" };
    const char *region = text_of(kind, row, "path"), *name = text_of(kind, row, "demangled");
    struct lp_text number = { NULL, 0, 0, false };

    lp_text_puts(key, kind->type);
    for (size_t i = 0; i < 2; i++) {
        const struct lp_row_field *field = find_field(kind, numbers[i]);

        put_number(key, field && write_number(field, row, &number) ? number.bytes : NULL);
    }
    put_cell(key, region ? region : text_of(kind, row, "region"));
    put_cell(key, text_of(kind, row, "kernel"));
    name = name ? name : text_of(kind, row, "quantity");
    put_cell(key, name                                ? name
                  : strcmp(kind->type, "region") == 0 ? NULL
                                                      : text_of(kind, row, "name"));
    put_cell(key, text_of(kind, row, "group") ? text_of(kind, row, "group")
                                              : text_of(kind, row, "stage"));
    lp_text_clear(&number);
}

static bool is_key(const struct lp_row_field *field)
{
    return field->type == LP_FIELD_NAME || field->type == LP_FIELD_TEXT ||
           field->type == LP_FIELD_DEVICE || strcmp(field->name, "process_id") == 0;
}

static void put_values(const struct lp_row_kind *kind, const void *row, struct lp_text *out)
{
    struct lp_text key = { NULL, 0, 0, false }, number = key;

    write_key(kind, row, &key);
    for (size_t i = 0; i < kind->count && !key.failed; i++) {
        if (is_key(&kind->fields[i]) || !is_shown(&kind->fields[i]) ||
            !write_number(&kind->fields[i], row, &number))
            continue;
        lp_text_add(out, key.bytes, key.length);
        put_cell(out, kind->fields[i].name);
        put_number(out, number.bytes);
        lp_text_puts(out, "\n");
    }
    out->failed |= key.failed | number.failed;
    lp_text_clear(&key);
    lp_text_clear(&number);
}

int lp_rows_csv(const llmperf_profile *profile, struct lp_text *out)
{
    lp_text_puts(out, "type,process_id,device,region,kernel,name,group,quantity,value\n");
    each_row(profile, out, put_values);
    return out->failed ? LLMPERF_ENOMEM : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/base/utf8.h"
#include "lib/vendor/csv.h"

#define READ_BYTES  (256u << 10)
#define RECORD_MOST (16u << 20)
#define FIELD_MOST  (1u << 20)
#define LINE_MOST   (64u << 10) /* as much of a line as peek() shows */

int lp_csv_open(struct lp_csv *csv, const char *path)
{
    *csv = (struct lp_csv){ .path = path };
    csv->file = -1;
    return lp_file_open(path, &csv->file);
}

void lp_csv_close(struct lp_csv *csv)
{
    if (csv->file >= 0)
        close(csv->file);
    free(csv->bytes);
    lp_vector_clear(&csv->fields);
    *csv = (struct lp_csv){ .file = -1 };
}

/* Bytes of the file */

static int make_room(struct lp_csv *csv, size_t bytes)
{
    size_t capacity = csv->capacity ? csv->capacity : READ_BYTES * 2;
    char *grown;

    if (csv->begin > 0) {
        memmove(csv->bytes, csv->bytes + csv->begin, csv->end - csv->begin);
        csv->end -= csv->begin;
        csv->begin = 0;
    }
    while (capacity < csv->end + bytes + 1)
        capacity *= 2;
    if (capacity == csv->capacity)
        return 0;
    if (!(grown = realloc(csv->bytes, capacity)))
        return lp_error(LLMPERF_ENOMEM, "out of memory for a row of %s", csv->path);
    csv->bytes = grown;
    csv->capacity = capacity;
    return 0;
}

static int read_bytes(const struct lp_csv *csv, void *bytes, size_t size, size_t *got_out)
{
    struct stat info;
    ssize_t got;

    do
        got = read(csv->file, bytes, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", csv->path, strerror(errno));
    *got_out = (size_t)got;
    if (fstat(csv->file, &info) == 0)
        lp_progress("reading a table", (uint64_t)lseek(csv->file, 0, SEEK_CUR),
                    (uint64_t)info.st_size);
    return 0;
}

/* Append a UTF-16 unit as UTF-8; unpaired surrogates become U+FFFD. */
static void put_unit(struct lp_csv *csv, uint32_t unit)
{
    bool low = unit >= 0xdc00 && unit < 0xe000;
    uint32_t high = csv->high;

    csv->high = 0;
    if (high && low) {
        csv->end +=
            lp_utf8_put(csv->bytes + csv->end, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
        return;
    }
    if (high)
        csv->end += lp_utf8_put(csv->bytes + csv->end, 0xfffd);
    if (unit >= 0xd800 && unit < 0xdc00)
        csv->high = unit;
    else
        csv->end += lp_utf8_put(csv->bytes + csv->end, low ? 0xfffd : unit);
}

static void put_wide(struct lp_csv *csv, const uint8_t *raw, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!csv->has_odd) {
            csv->odd = raw[i];
            csv->has_odd = true;
            continue;
        }
        csv->has_odd = false;
        put_unit(csv, csv->wide == 1 ? (uint32_t)(raw[i] << 8 | csv->odd)
                                     : (uint32_t)(csv->odd << 8 | raw[i]));
    }
}

static void find_encoding(struct lp_csv *csv, const uint8_t *raw, size_t *size, size_t *skip)
{
    *skip = 0;
    if (*size >= 3 && memcmp(raw, "\xef\xbb\xbf", 3) == 0)
        *skip = 3;
    else if (*size >= 2 && memcmp(raw, "\xff\xfe", 2) == 0)
        csv->wide = 1;
    else if (*size >= 2 && memcmp(raw, "\xfe\xff", 2) == 0)
        csv->wide = 2;
    if (csv->wide)
        *skip = 2;
    *size -= *skip;
}

/* Append bytes at csv->end, or set csv->eof. A UTF-16 unit needs at most two more bytes as
 * UTF-8. */
static int fill(struct lp_csv *csv)
{
    uint8_t wide[4096];
    size_t got = 0, skip = 0;
    bool first = csv->capacity == 0, apart = first || csv->wide;
    int status;

    if ((status = make_room(csv, READ_BYTES)) < 0)
        return status;
    if (first) {
        if ((status = read_bytes(csv, wide, sizeof(wide), &got)) < 0)
            return status;
        csv->eof = got == 0;
        find_encoding(csv, wide, &got, &skip);
    } else if (apart) {
        status = read_bytes(csv, wide, sizeof(wide), &got);
    } else {
        status = read_bytes(csv, csv->bytes + csv->end, READ_BYTES, &got);
        csv->end += got;
    }
    if (status < 0)
        return status;
    if (apart && csv->wide) {
        put_wide(csv, wide + skip, got);
    } else if (first) {
        memcpy(csv->bytes, wide + skip, got);
        csv->end = got;
    }
    csv->eof |= got == 0 && !(first && skip);
    return 0;
}

/* Lines */

int lp_csv_peek(struct lp_csv *csv, const char **line_out, size_t *length_out)
{
    size_t looked = 0, length;
    const char *end = NULL;
    int status;

    for (;;) {
        length = csv->end - csv->begin;
        if (length > looked)
            end = memchr(csv->bytes + csv->begin + looked, '\n', length - looked);
        if (end || csv->eof || length > LINE_MOST)
            break;
        looked = length;
        if ((status = fill(csv)) < 0)
            return status;
    }
    *line_out = csv->bytes ? csv->bytes + csv->begin : "";
    *length_out = end ? (size_t)(end - *line_out) : length;
    if (end && *length_out > 0 && end[-1] == '\r')
        --*length_out;
    return length > 0;
}

int lp_csv_skip(struct lp_csv *csv)
{
    for (;;) {
        size_t length = csv->end - csv->begin;
        const char *end = length ? memchr(csv->bytes + csv->begin, '\n', length) : NULL;
        int status;

        csv->begin = end ? (size_t)(end - csv->bytes) + 1 : csv->end;
        if (end || csv->eof)
            return 0;
        if ((status = fill(csv)) < 0)
            return status;
    }
}

/* Records */

/* Positions are relative to csv->begin, so they remain valid when the buffer moves. */
struct scan {
    struct lp_csv *csv;
    size_t at;
    int status;
};

/* The byte at `at`, or -1 at the end of the file or on an error. */
static int byte_at(struct scan *scan)
{
    struct lp_csv *csv = scan->csv;

    while (csv->begin + scan->at >= csv->end) {
        if (csv->eof || scan->status < 0)
            return -1;
        if (scan->at > RECORD_MOST)
            scan->status = lp_error(LLMPERF_EFORMAT,
                                    "%s: record %" PRIu64
                                    " is longer than %u MiB; is a closing quote missing?",
                                    csv->path, csv->record + 1, RECORD_MOST >> 20);
        else
            scan->status = fill(csv);
    }
    return scan->status < 0 ? -1 : (unsigned char)csv->bytes[csv->begin + scan->at];
}

static char *byte_in(const struct scan *scan, size_t at)
{
    return scan->csv->bytes + scan->csv->begin + at;
}

/* The rest of a quoted field, from `at` after the opening quote. Doubled quotes become single, so
 * the text gets shorter; *end_out is its end. */
static void scan_quoted(struct scan *scan, size_t *end_out)
{
    struct lp_csv *csv = scan->csv;
    size_t start = scan->at, out = scan->at;

    while (byte_at(scan) >= 0) {
        char *from = byte_in(scan, scan->at);
        size_t left = csv->end - (size_t)(from - csv->bytes);
        const char *quote = memchr(from, '"', left);
        size_t run = quote ? (size_t)(quote - from) : left;

        if (out != scan->at)
            memmove(byte_in(scan, out), from, run);
        out += run;
        scan->at += run;
        if (out - start > FIELD_MOST) {
            scan->status = lp_error(
                LLMPERF_EFORMAT, "%s: the quoted field in record %" PRIu64 " has no closing quote",
                csv->path, csv->record + 1);
            break;
        }
        if (!quote)
            continue;
        scan->at++;
        if (byte_at(scan) != '"') {
            *end_out = out;
            return;
        }
        *byte_in(scan, out++) = '"';
        scan->at++;
    }
    csv->cut = scan->status == 0;
    *end_out = out;
}

/* Skip to the comma or line end: characters after a closing quote are ignored. */
static void scan_plain(struct scan *scan)
{
    int byte;

    while ((byte = byte_at(scan)) >= 0 && byte != ',' && byte != '\n')
        scan->at++;
}

/* Read a field; false: it was the last of its record. */
static bool scan_field(struct scan *scan)
{
    bool quoted = byte_at(scan) == '"';
    size_t start = scan->at + quoted, end;
    struct lp_field field;
    int behind;

    if (quoted) {
        scan->at++;
        scan_quoted(scan, &end);
        scan_plain(scan);
    } else {
        scan_plain(scan);
        end = scan->at;
    }
    behind = byte_at(scan);
    if (!quoted && behind != ',' && end > start && *byte_in(scan, end - 1) == '\r')
        end--;
    field = (struct lp_field){ NULL, end - start, start };
    if (scan->status == 0)
        scan->status = lp_vector_push(&scan->csv->fields, field);
    scan->at += behind >= 0;
    return behind == ',';
}

int lp_csv_record(struct lp_csv *csv)
{
    struct scan scan = { csv, 0, 0 };

    csv->fields.count = 0;
    if (byte_at(&scan) < 0)
        return scan.status;
    while (scan_field(&scan) && scan.status == 0)
        ;
    if (scan.status < 0)
        return scan.status;
    for (size_t i = 0; i < csv->fields.count; i++) {
        struct lp_field *field = &csv->fields.items[i];

        field->text = csv->bytes + csv->begin + field->at;
        field->text[field->length] = '\0';
    }
    csv->begin += scan.at;
    csv->record++;
    return 1;
}

const struct lp_field *lp_csv_field(const struct lp_csv *csv, size_t column)
{
    static char none[1];
    static const struct lp_field empty = { none, 0, 0 };

    return column < csv->fields.count ? &csv->fields.items[column] : &empty;
}

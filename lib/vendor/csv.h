/* SPDX-License-Identifier: Apache-2.0 */
/** A stream of lines and CSV records from a file: UTF-8 with or without BOM, UTF-16 with one, LF or
 * CRLF. Memory is bounded by the longest record, and that by a limit.
 * @threads one at a time per object */
#ifndef LP_VENDOR_CSV_H
#define LP_VENDOR_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

/** A field, ended by NUL, without its quotes and with doubled quotes made single. Valid until the
 * next call. */
struct lp_field {
    char *text;
    size_t length;
    size_t at; /* while the record is read: where it starts */
};

struct lp_csv {
    const char *path;
    int file;
    int wide; /* 0: bytes are UTF-8, 1: UTF-16LE, 2: UTF-16BE */
    bool eof;
    char *bytes; /* begin..end are not taken yet */
    size_t begin, end, capacity;
    uint8_t odd; /* first byte of a UTF-16 unit whose second one is to come */
    bool has_odd;
    uint32_t high;   /* first half of a pair of UTF-16 units; 0: none */
    uint64_t record; /* number of the record that was read last */
    bool cut;        /* the file ended inside of a quoted field */
    LP_VECTOR(struct lp_field) fields;
};

/** 0, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_ENOMEM. @param path  outlives the object */
int lp_csv_open(struct lp_csv *csv, const char *path);
void lp_csv_close(struct lp_csv *csv);

/** The next line without its line end; it is not consumed. A very long line is cut.
 * @return 1, 0 at the end of the file, or an error. */
int lp_csv_peek(struct lp_csv *csv, const char **line_out, size_t *length_out);

/** Take that line. 0 or an error. */
int lp_csv_skip(struct lp_csv *csv);

/** Take the next record into csv->fields; a quoted field may hold line ends.
 * @return 1, 0 at the end of the file; LLMPERF_EFORMAT (longer than a record can be), LLMPERF_EIO,
 * LLMPERF_ENOMEM. */
int lp_csv_record(struct lp_csv *csv);

/** Field of the record that was read last; empty where it has no such column. */
const struct lp_field *lp_csv_field(const struct lp_csv *csv, size_t column);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Tables of documents, with their columns as data.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_TABLE_H
#define LP_OUTPUT_MD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/findings/findings.h"

enum lp_cell_kind {
    LP_CELL_NUMBER,   /* double */
    LP_CELL_RATIO,    /* double, divided by another member */
    LP_CELL_TIME,     /* double, with the interval that a struct lp_interval gives it as a time */
    LP_CELL_RATE,     /* the same of a rate */
    LP_CELL_ESTIMATE, /* estimate_ms with its limits: of a row with LP_ESTIMATE_FIELDS */
    LP_CELL_DURATION, /* double: ms, shown as "1.20 s" */
    LP_CELL_COUNT,    /* uint64_t */
    LP_CELL_WORD,     /* uint32_t */
    LP_CELL_DEVICE,   /* int32_t */
    LP_CELL_TEXT,     /* const char * */
    LP_CELL_CODE,     /* const char * */
    LP_CELL_REGION,   /* const char *: a path, and its process if the profile has several */
    LP_CELL_SHOWN,    /* by `show`: a number */
    LP_CELL_WORDS     /* by `show`: words, aligned to the left like texts */
};

struct lp_column {
    const char *title;
    enum lp_cell_kind kind;
    size_t offset; /* of the member in the row */
    double factor; /* of a number; of a count, if it is not 1 */
    size_t per;    /* RATIO: of the member that it is divided by; TIME, RATE: of its error;
                      REGION: of its process_id, 0: not shown */
    enum lp_cell_kind per_kind;
    void (*show)(const struct lp_findings *findings, const void *row, struct lp_text *out);
};

#define LP_CELL_KIND(member)                                                                       \
    _Generic((member),                                                                             \
        double: LP_CELL_NUMBER,                                                                    \
        uint64_t: LP_CELL_COUNT,                                                                   \
        uint32_t: LP_CELL_WORD,                                                                    \
        int32_t: LP_CELL_DEVICE,                                                                   \
        const char *: LP_CELL_TEXT)

/** A member of the row, by its type; a number or count times a factor; that divided by another
 * member; with the interval that follows from an error; an estimate; a duration, a text as code, or
 * the path of a region, with its process; a cell with a function, for a number or for words. */
#define LP_COLUMN_OF(...)                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define LP_COLUMN_AS(title, kind, type, member, factor)                                            \
    LP_COLUMN_OF(title, kind, offsetof(type, member), factor, 0, 0, NULL)
#define LP_COLUMN(title, type, member)                                                             \
    LP_COLUMN_AS(title, LP_CELL_KIND(((type *)0)->member), type, member, 1)
#define LP_COLUMN_TIMES(title, type, member, factor)                                               \
    LP_COLUMN_AS(title, LP_CELL_KIND(((type *)0)->member), type, member, factor)
#define LP_COLUMN_PER(title, type, member, factor, other)                                          \
    LP_COLUMN_OF(title, LP_CELL_RATIO, offsetof(type, member), factor, offsetof(type, other),      \
                 LP_CELL_KIND(((type *)0)->other), NULL)
#define LP_COLUMN_ERROR(title, kind, type, member, factor, error)                                  \
    LP_COLUMN_OF(title, kind, offsetof(type, member), factor, offsetof(type, error), 0, NULL)
#define LP_COLUMN_ESTIMATE(title, type, member)                                                    \
    LP_COLUMN_AS(title, LP_CELL_ESTIMATE, type, member, 1)
#define LP_COLUMN_DURATION(title, type, member)                                                    \
    LP_COLUMN_AS(title, LP_CELL_DURATION, type, member, 1)
#define LP_COLUMN_CODE(title, type, member)   LP_COLUMN_AS(title, LP_CELL_CODE, type, member, 1)
#define LP_COLUMN_REGION(title, type, member) LP_COLUMN_AS(title, LP_CELL_REGION, type, member, 1)
#define LP_COLUMN_REGION_OF(title, type, member, process)                                          \
    LP_COLUMN_OF(title, LP_CELL_REGION, offsetof(type, member), 1, offsetof(type, process), 0, NULL)
#define LP_COLUMN_NUMBER(title, show) LP_COLUMN_OF(title, LP_CELL_SHOWN, 0, 1, 0, 0, show)
#define LP_COLUMN_WORDS(title, show)  LP_COLUMN_OF(title, LP_CELL_WORDS, 0, 1, 0, 0, show)

/** Columns without a known value are left out. */
struct lp_table {
    const struct lp_column *columns;
    size_t column_count;
    const void *rows;
    size_t row_size; /* 0: rows is an array of pointers to rows */
    size_t row_count;
    bool (*has)(const struct lp_findings *findings, const void *row); /* NULL: all rows */
    size_t limit;                                                     /* rows at most; 0: all */
    const char *all_in; /* the document with all rows */
};

/** Columns, and rows of a vector or of a kind of row of the profile. */
#define LP_TABLE_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof((list)[0])
#define LP_TABLE_VECTOR(vector)                                                                    \
    .rows = (vector)->items, .row_size = sizeof(*(vector)->items), .row_count = (vector)->count
#define LP_TABLE_ROWS(profile, id)                                                                 \
    .rows = lp_row_at((profile), (id), 0), .row_size = lp_row_kinds[id].row_size,                  \
    .row_count = lp_row_count((profile), (id))

/** The table, and a line that counts the rows left out. Nothing without rows. */
void lp_table_add(const struct lp_findings *findings, const struct lp_table *table,
                  struct lp_text *out);

/** Rows of a table of two columns. A text that is NULL has none. */
void lp_pair_head(struct lp_text *out);
void lp_pair_text(struct lp_text *out, const char *name, const char *value);
void lp_pair_number(struct lp_text *out, const char *name, double value);
void lp_pair_count(struct lp_text *out, const char *name, uint64_t value);

/** "1.20 s", "40.9 ms"; LP_MD_UNKNOWN for NaN. */
void lp_md_time(struct lp_text *out, double ms);

/** " after warm-up (first call 530 ms)", or nothing. */
void lp_md_warm_up(struct lp_text *out, const struct lp_region_finding *region);

/** What limits a struct lp_region_finding. */
void lp_show_bound(const struct lp_findings *findings, const void *row, struct lp_text *out);

/** The path of a region ("": none, NULL: not known), and its process if the profile has several. */
void lp_show_region(const struct lp_findings *findings, const char *path, uint32_t process_id,
                    struct lp_text *out);

#endif

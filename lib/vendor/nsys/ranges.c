/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges from an nsys export. */
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/vendor/nsys/sqlite.h"

enum { EVENT_PUSH_POP = 59, EVENT_START_END = 60, EVENT_T_PUSH_POP = 70, EVENT_T_START_END = 71 };
enum { EVENT_DOMAIN = 75 };

enum nvtx_column {
    NVTX_START,
    NVTX_END,
    NVTX_TYPE,
    NVTX_TEXT,
    NVTX_TEXT_ID,
    NVTX_THREAD,
    NVTX_END_THREAD,
    NVTX_DOMAIN,
    NVTX_COLUMNS
};

static const struct lp_want nvtx_wants[NVTX_COLUMNS] = {
    { "start", false },  { "end", false },       { "eventType", false },    { "text", true },
    { "textId", false }, { "globalTid", false }, { "endGlobalTid", false }, { "domainId", false },
};

/* Process and domain in one word: bits below 24 are not used in a process key. */
static uint64_t domain_key(uint64_t process, uint32_t domain)
{
    return process | (domain & 0xffffff);
}

/* Text of an event, by id or in the row. *key_out identifies it. */
static int find_text(struct lp_nsys *nsys, const struct lp_cell *cells, const char **text_out,
                     uint64_t *key_out)
{
    const struct lp_nsys_string *string =
        cells[NVTX_TEXT_ID].null ? NULL : lp_nsys_string(nsys, cells[NVTX_TEXT_ID].number);
    uint32_t id;

    *text_out = NULL;
    *key_out = UINT64_MAX;
    if (string) {
        *text_out = string->text;
        *key_out = (uint64_t)(string - nsys->strings.items);
    } else if (!cells[NVTX_TEXT].null && cells[NVTX_TEXT].text) {
        if ((id = lp_names_intern(&nsys->inline_texts, cells[NVTX_TEXT].text)) == LP_HASHMAP_NONE)
            return lp_out_of_memory();
        *text_out = lp_names_text(&nsys->inline_texts, id);
        *key_out = UINT64_C(1) << 32 | id;
    }
    return 0;
}

static int take_domain(struct lp_nsys *nsys, const struct lp_cell *cells)
{
    uint64_t process = (uint64_t)cells[NVTX_THREAD].number & LP_THREAD_PROCESS, key;
    uint32_t row = (uint32_t)nsys->domain_names.count;
    const char *text;
    int status = find_text(nsys, cells, &text, &key);

    if (status < 0 || !text || !*text || cells[NVTX_DOMAIN].null)
        return status;
    if ((status = lp_vector_push(&nsys->domain_names, text)) < 0)
        return status;
    return lp_hashmap_put(&nsys->domains, domain_key(process, (uint32_t)cells[NVTX_DOMAIN].number),
                          0, row);
}

/* Row of the range's label, which several ranges may share. */
static int find_label(struct lp_nsys *nsys, const struct lp_cell *cells, uint32_t *row_out)
{
    struct lp_nsys_label label = { .label = LP_HASHMAP_NONE,
                                   .domain = (uint32_t)cells[NVTX_DOMAIN].number };
    uint64_t text_key, owner;
    int status;

    label.process = (uint64_t)cells[NVTX_THREAD].number & LP_THREAD_PROCESS;
    if ((status = find_text(nsys, cells, &label.text, &text_key)) < 0)
        return status;
    owner = domain_key(label.process, label.domain);
    *row_out = lp_hashmap_get(&nsys->label_rows, text_key, owner);
    if (*row_out != LP_HASHMAP_NONE)
        return 0;
    *row_out = (uint32_t)nsys->labels.count;
    if ((status = lp_vector_push(&nsys->labels, label)) < 0)
        return status;
    return lp_hashmap_put(&nsys->label_rows, text_key, owner, *row_out);
}

static int take_range(struct lp_nsys *nsys, const struct lp_cell *cells)
{
    struct lp_span span = { .start = cells[NVTX_START].number,
                            .end = cells[NVTX_END].null ? INT64_MAX : cells[NVTX_END].number,
                            .thread = (uint64_t)cells[NVTX_THREAD].number,
                            .open = cells[NVTX_END].null,
                            .foreign = !cells[NVTX_END_THREAD].null &&
                                       cells[NVTX_END_THREAD].number != cells[NVTX_THREAD].number };
    int status;

    if (cells[NVTX_START].null || cells[NVTX_THREAD].null)
        return 0;
    if (!span.open && span.end > nsys->last_time)
        nsys->last_time = span.end;
    if ((status = find_label(nsys, cells, &span.label)) < 0)
        return status;
    return lp_vector_push(&nsys->timeline.spans, span);
}

static int visit_event(void *user, const struct lp_cell *cells)
{
    switch (cells[NVTX_TYPE].number) {
    case EVENT_DOMAIN:
        return take_domain(user, cells);
    case EVENT_PUSH_POP:
    case EVENT_START_END:
    case EVENT_T_PUSH_POP:
    case EVENT_T_START_END:
        return take_range(user, cells);
    default:
        return 0;
    }
}

/* Domain 0 is the default. If the creation of a domain was not captured, only its number is
 * known. */
static int make_label(struct lp_nsys *nsys, struct lp_nsys_label *label)
{
    struct lp_text text = { NULL, 0, 0, false };
    uint32_t row = lp_hashmap_get(&nsys->domains, domain_key(label->process, label->domain), 0);
    const char *domain = row == LP_HASHMAP_NONE ? NULL : nsys->domain_names.items[row];
    char number[32];

    if (!domain && label->domain != 0) {
        snprintf(number, sizeof(number), "domain %u", label->domain);
        domain = number;
    }
    lp_range_label(&text, domain, label->text ? label->text : "", nsys->flags);
    if (!text.failed)
        label->label = lp_names_intern(&nsys->timeline.labels, text.bytes);
    lp_text_clear(&text);
    return label->label == LP_HASHMAP_NONE ? lp_out_of_memory() : 0;
}

int lp_nsys_read_ranges(struct lp_nsys *nsys)
{
    int status = lp_database_rows(nsys->database, "NVTX_EVENTS", nvtx_wants, NVTX_COLUMNS,
                                  visit_event, nsys);

    for (size_t i = 0; i < nsys->labels.count && status == 0; i++)
        status = make_label(nsys, &nsys->labels.items[i]);
    for (size_t i = 0; i < nsys->timeline.spans.count && status == 0; i++)
        nsys->timeline.spans.items[i].label =
            nsys->labels.items[nsys->timeline.spans.items[i].label].label;
    return status;
}

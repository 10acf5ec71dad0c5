/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/kineto/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"

#define KEPT_MOST 262144u /* facts in memory */
#define READ_MOST 1024u   /* facts of a run in memory */

static int compare(const void *left, const void *right)
{
    const struct lp_kineto_fact *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return LP_ORDER(a->time_ns, b->time_ns);
    if (a->kind != b->kind)
        return LP_ORDER(a->kind, b->kind);
    return a->rank != b->rank ? LP_ORDER(a->rank, b->rank) : LP_ORDER(a->event, b->event);
}

static int file_error(void)
{
    return lp_error(LLMPERF_EIO,
                    "cannot write a temporary file of the trace: %s; make room in /tmp",
                    strerror(errno));
}

static int write_run(struct lp_kineto_facts *facts)
{
    struct lp_kineto_run run = { .left = facts->items.count };

    if (run.left == 0)
        return 0;
    lp_vector_sort(&facts->items, compare);
    if (!facts->file && !(facts->file = tmpfile()))
        return file_error();
    run.at = ftell(facts->file);
    if (run.at < 0 ||
        fwrite(facts->items.items, sizeof(*facts->items.items), run.left, facts->file) != run.left)
        return file_error();
    facts->items.count = 0;
    return lp_vector_push(&facts->runs, run);
}

int lp_kineto_facts_add(struct lp_kineto_facts *facts, const struct lp_kineto_fact *fact)
{
    int status = facts->items.count == KEPT_MOST ? write_run(facts) : 0;

    return status < 0 ? status : lp_vector_push(&facts->items, *fact);
}

/* Read on in a run that has facts left. */
static int read_run(struct lp_kineto_facts *facts, struct lp_kineto_run *run)
{
    run->count = run->left < READ_MOST ? run->left : READ_MOST;
    run->next = 0;
    run->left -= run->count;
    if (fseek(facts->file, run->at, SEEK_SET) != 0 ||
        fread(run->facts, sizeof(*run->facts), run->count, facts->file) != run->count)
        return lp_error(LLMPERF_EIO, "cannot read the temporary file of the trace: %s",
                        strerror(errno));
    run->at += (long)(run->count * sizeof(*run->facts));
    return 0;
}

int lp_kineto_facts_sort(struct lp_kineto_facts *facts)
{
    int status = 0;

    if (facts->runs.count == 0) {
        lp_vector_sort(&facts->items, compare);
        return 0;
    }
    if ((status = write_run(facts)) < 0)
        return status;
    if (fflush(facts->file) != 0)
        return file_error();
    lp_vector_clear(&facts->items);
    for (size_t i = 0; i < facts->runs.count && status == 0; i++) {
        struct lp_kineto_run *run = &facts->runs.items[i];

        run->facts = malloc(READ_MOST * sizeof(*run->facts));
        status = run->facts ? read_run(facts, run) : lp_out_of_memory();
    }
    return status;
}

static struct lp_kineto_run *earliest(struct lp_kineto_facts *facts)
{
    struct lp_kineto_run *best = NULL;

    for (size_t i = 0; i < facts->runs.count; i++) {
        struct lp_kineto_run *run = &facts->runs.items[i];

        if (run->next < run->count &&
            (!best || compare(&run->facts[run->next], &best->facts[best->next]) < 0))
            best = run;
    }
    return best;
}

int lp_kineto_facts_next(struct lp_kineto_facts *facts, struct lp_kineto_fact *fact_out)
{
    struct lp_kineto_run *run = earliest(facts);
    int status;

    if (facts->runs.count == 0 && facts->next < facts->items.count) {
        *fact_out = facts->items.items[facts->next++];
        return 1;
    }
    if (!run)
        return 0;
    *fact_out = run->facts[run->next++];
    if (run->next == run->count && run->left > 0 && (status = read_run(facts, run)) < 0)
        return status;
    return 1;
}

void lp_kineto_facts_clear(struct lp_kineto_facts *facts)
{
    for (size_t i = 0; i < facts->runs.count; i++)
        free(facts->runs.items[i].facts);
    lp_vector_clear(&facts->items);
    lp_vector_clear(&facts->runs);
    if (facts->file)
        fclose(facts->file);
}

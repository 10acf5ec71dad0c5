/* SPDX-License-Identifier: Apache-2.0 */
/** One run: pages, engine, session, and what was measured besides. */
#ifndef DSOCR_PROFILE_RUN_H
#define DSOCR_PROFILE_RUN_H

#include "engine.h"
#include "llmperf/llmperf.h"
#include "options.h"
#include "page.h"
#include "views.h"

/** A request's times on the host's clock; its end waits for the GPU. */
struct times {
    double prefill_ms, decode_ms; /* decode_ms: of the passes, for a network of convolutions */
    double *step_ms;              /* new_tokens of them: of each decode step */
};

struct run {
    const struct options *options;
    struct pages pages;
    struct page_views *views; /* of each page; NULL: the model takes no images */
    struct shape shape;
    struct engine *engines[STREAMS_MAX];
    struct group *group;      /* NULL: no other ranks */
    llmperf_session *session; /* NULL, and so is the profile: tier none */
    llmperf_profile *profile;
    struct engine_options engine_options;
    int32_t *text;       /* prompt_tokens ids */
    struct times *times; /* repeats x runs */
    double *step_ms;     /* of all of these, one after the other */
    char model_path[4096];
    char problem[1024];
};

/** Read and check all that needs no device: model, pages, memory. @return 0 or an exit code, after
 * a line on stderr. */
int run_plan(struct run *run);

/** Each step returns 0, or an exit code after a line on stderr. */
int run_prepare(struct run *run);
int run_measure(struct run *run);
void run_clear(struct run *run);

/** What page `page` asks of an engine. */
struct request run_request(const struct run *run, size_t page);
/** This run's device. @return NULL after lines on stderr. */
struct ops *run_open_ops(struct run *run);

int run_has_images(const struct run *run);
int run_is_network(const struct run *run);
/** Positions of page `page` in a prompt, its text included. */
size_t run_positions(const struct run *run, size_t page);

/** report.c: the tables of repeats on stdout and, if there is a session, in repeats.md; inputs.yaml
 * of a session. */
int report_repeats(const struct run *run);
int report_inputs(const struct run *run);
void report_plan(const struct run *run);
/** The decode steps of one repeat on a line of stdout. */
void report_turn(const struct run *run, size_t repeat);
/** The verdict, and what is wrong. */
int report_ledger(const llmperf_profile *profile);
/** YAML of the options as they were understood. */
int report_options(const struct run *run, const char *path);

int complain(const char *what, int code);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** The state machine of tier light: each transition of its table, nothing else, and in every
 * interleaving of two threads, the collector and several sessions records are on where launches
 * count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/regions/sampler_state.h"

#define OVER LP_SAMPLER_STATE_COUNT

static const char *const state_names[] = {
#define NAME(name, owned, records) #name,
    LP_SAMPLER_STATES(NAME)
#undef NAME
        "OVER"
};

static const char *const event_names[] = {
#define NAME(name, kind) #name,
    LP_SAMPLER_EVENTS(NAME)
#undef NAME
};

enum { FREE, OWNED, SHARED };
static const int owned[] = {
#define OWNED_BY(name, owned, records) owned,
    LP_SAMPLER_STATES(OWNED_BY)
#undef OWNED_BY
};

enum { OPENS, OWNERS, COLLECTORS, TRIES };
static const int kinds[] = {
#define KIND(name, kind) kind,
    LP_SAMPLER_EVENTS(KIND)
#undef KIND
};

#define LP_SAMPLER_OVER OVER
static const struct {
    uint32_t from, event, to;
} table[] = {
#define ROW(from, event, to) { LP_SAMPLER_##from, LP_SAMPLER_ON_##event, LP_SAMPLER_##to },
    LP_SAMPLER_TRANSITIONS(ROW)
#undef ROW
};
#define ROWS (sizeof(table) / sizeof(table[0]))

/* The table */

static uint64_t make_word(uint32_t state, uint64_t flags, uint32_t owner)
{
    return UINT64_C(7) << 40 | (uint64_t)owner << 16 | flags | state;
}

/* What the table says: the state that follows, or -1. */
static int expected(uint32_t from, uint64_t flags, uint32_t owner, uint32_t event, uint32_t who)
{
    int to = -1;

    if (event == LP_SAMPLER_ON_SESSION_GIVES_UP)
        return LP_SAMPLER_OFF;
    if (event == LP_SAMPLER_ON_SESSION_ENDS)
        return lp_sampler_records(from) == LP_SAMPLER_RECORDS_CHANGING ? -1 : LP_SAMPLER_OFF;
    for (size_t i = 0; i < ROWS; i++)
        if (table[i].from == from && table[i].event == event)
            to = (int)table[i].to;
    if (kinds[event] == OPENS && (flags & LP_SAMPLER_SUSPENDED))
        return -1;
    if (kinds[event] == OWNERS && owned[from] != SHARED && owner != who)
        return -1;
    if (to == OVER && owned[from] == SHARED && owner > 1)
        return (int)from;
    if (to == OVER)
        return flags & LP_SAMPLER_GRAPHS ? LP_SAMPLER_SETTLING : LP_SAMPLER_STOPPING;
    return to;
}

static void check(uint32_t from, uint64_t flags, uint32_t owner, uint32_t event, uint32_t who)
{
    uint64_t word = make_word(from, flags, owner), next = lp_sampler_next(word, event, who);
    int to = expected(from, flags, owner, event, who);
    uint32_t owner_then = owned[from] == OWNED ? owner : who;

    if (to < 0) {
        assert_true(next == word);
        return;
    }
    if (to == LP_SAMPLER_OFF) {
        assert_true(next == 0);
        return;
    }
    if (event == LP_SAMPLER_ON_SESSION_BEGINS) {
        assert_true(next == ((uint64_t)who << 40 | LP_SAMPLER_SUSPENDED | LP_SAMPLER_IDLE));
        return;
    }
    if (to == LP_SAMPLER_STOPPING)
        flags &= ~LP_SAMPLER_GRAPHS;
    if (owned[to] == SHARED) /* the number of calls */
        owner_then = owned[from] != SHARED                ? 1
                     : event == LP_SAMPLER_ON_CALL_BEGINS ? owner + 1
                                                          : owner - 1;
    assert_true(next == make_word((uint32_t)to, flags, owned[to] ? owner_then : 0));
}

static void each_event_in_each_state_does_what_the_table_says(void **state)
{
    static const uint32_t names[] = { LP_SAMPLER_COLLECTOR, 1, 2, 0xffffff };

    (void)state;
    for (uint32_t from = 1; from < LP_SAMPLER_STATE_COUNT; from++)
        for (uint32_t event = 0; event < LP_SAMPLER_EVENT_COUNT; event++)
            for (uint64_t flags = 0; flags < 8; flags++)
                for (size_t owner = owned[from] == SHARED; owner < (owned[from] == FREE     ? 1
                                                                    : owned[from] == SHARED ? 3
                                                                                            : 4);
                     owner++)
                    for (size_t who = 0; who < 4; who++)
                        check(from, flags * LP_SAMPLER_SUSPENDED, names[owner], event, names[who]);
    for (uint32_t event = 0; event < LP_SAMPLER_EVENT_COUNT; event++)
        assert_true(lp_sampler_next(0, event, 5) == 0 || event == LP_SAMPLER_ON_SESSION_BEGINS);
}

/* An owner's or the collector's event that its state does not know is a fault of the caller's. */
static void an_illegal_event_is_not_refused_quietly(void **state)
{
    (void)state;
    assert_true(
        lp_sampler_may_refuse(make_word(LP_SAMPLER_SAMPLE, 0, 1), LP_SAMPLER_ON_CALL_BEGINS, 2));
    assert_true(lp_sampler_may_refuse(0, LP_SAMPLER_ON_CALL_ENDS, 1)); /* taken away */
    assert_true(lp_sampler_may_refuse(make_word(LP_SAMPLER_IDLE, 0, 0), LP_SAMPLER_ON_SETTLED, 0));
    assert_false(
        lp_sampler_may_refuse(make_word(LP_SAMPLER_SAMPLE, 0, 1), LP_SAMPLER_ON_RECORDS_ON, 1));
    assert_false(
        lp_sampler_may_refuse(make_word(LP_SAMPLER_WINDOW, 0, 0), LP_SAMPLER_ON_TRIGGER_CLOSES, 0));
    assert_false(
        lp_sampler_may_refuse(make_word(LP_SAMPLER_SAMPLE, 0, 1), LP_SAMPLER_ON_BURST_BEGINS, 0));
}

/* The page says the same, row by row, and no more rows. */
static void the_page_has_the_same_table(void **state)
{
    const char *source = getenv("LLMPERF_SOURCE");
    char path[4096], *page = calloc(1, 1 << 20);
    size_t rows = 0;
    FILE *file;

    (void)state;
    assert_non_null(page);
    snprintf(path, sizeof(path), "%s/docs/explanation/light-tier.md", source ? source : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(page, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    for (size_t i = 0; i < ROWS; i++) {
        char row[128];

        snprintf(row, sizeof(row), "\n| `%s` | `%s` | `%s` |", state_names[table[i].from],
                 event_names[table[i].event], state_names[table[i].to]);
        if (!strstr(page, row))
            fail_msg("not in light-tier.md:%s", row);
    }
    for (const char *at = page; (at = strstr(at, "\n| `")); at++) {
        char from[32] = "", event[32] = "", to[32] = "";

        rows += sscanf(at, "\n| `%31[A-Z_]` | `%31[A-Z_]` | `%31[A-Z_]` |", from, event, to) == 3;
    }
    assert_int_equal(rows, ROWS);
    free(page);
}

/* Every interleaving */

/* A thread's place in its call, in the order of sampler.c and threads.c. */
enum place {
    OUTSIDE,
    OPENS_SAMPLE, /* it has read a word that says so */
    OPENS_BURST,
    OPENS_TRIGGERED,
    SWITCHES_ON,
    SAYS_ON,
    TAKES_BACK, /* records that it switched on in vain */
    INSIDE,     /* a call that is collected */
    MARKED,     /* a launch under way */
    COUNTED,    /* its callback has said whether it counts */
    CLOSES,
    SWITCHES_OFF,
    SAYS_OFF
};

/* The collector's, likewise. */
enum work {
    RESTS,
    W_SWITCHES_ON,
    W_SAYS_ON,
    W_OPEN,
    W_AWAITS,
    T_SWITCHES_ON,
    T_SAYS_ON,
    T_HANDS_OUT,
    T_FORGETS,
    C_SWITCHES_OFF,
    C_SAYS_OFF,
    J_LEAVES,
    J_RECORDS_ON,
    E_AWAITS,
    E_ENDS,
    E_SWITCHES_OFF,
    E_OVER
};

#define THREADS  2
#define SESSIONS 2

struct model {
    uint64_t word;
    uint8_t places[THREADS], work, records, out, epoch, begun;
    uint8_t counts[THREADS], placed[THREADS], session[THREADS], awaited[THREADS];
    uint8_t burst, number, left, open; /* the burst's calls; the triggered window */
};

static struct model *models;
static uint32_t *slots; /* index + 1 into models, by hash */
static size_t count, room;

static void clean(struct model *model, int thread)
{
    model->counts[thread] = model->placed[thread] = model->session[thread] = 0;
}

static void visit(const struct model *model)
{
    const unsigned char *bytes = (const unsigned char *)model;
    uint64_t hash = 1469598103934665603u;
    size_t at;

    for (size_t i = 0; i < sizeof(*model); i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    for (at = hash % room; slots[at]; at = (at + 1) % room)
        if (memcmp(&models[slots[at] - 1], model, sizeof(*model)) == 0)
            return;
    assert_true(count < room / 2);
    models[count] = *model;
    slots[at] = (uint32_t)++count;
}

static uint32_t state_of(const struct model *model)
{
    return lp_sampler_state_of(model->word);
}

static bool move(struct model *model, enum lp_sampler_event event, uint32_t who)
{
    uint64_t next = lp_sampler_next(model->word, event, who);

    if (next == model->word) {
        assert_true(lp_sampler_may_refuse(model->word, event, who));
        return false;
    }
    model->word = next;
    return true;
}

/* What must hold between any two steps of anybody. */
static void check_model(const struct model *model)
{
    enum lp_sampler_records records = lp_sampler_records(state_of(model));

    if (records == LP_SAMPLER_RECORDS_ON && !model->records)
        fail_msg("records are off in %s", state_names[state_of(model)]);
    if (records == LP_SAMPLER_RECORDS_OFF && model->records)
        fail_msg("records are on in %s", state_names[state_of(model)]);
    for (int t = 0; t < THREADS; t++)
        if (model->work == E_OVER)
            assert_true(model->places[t] < SWITCHES_ON || model->places[t] > TAKES_BACK);
}

static void step_outside(struct model model, int t)
{
    uint32_t state = state_of(&model);

    if (lp_sampler_samples(model.word))
        model.places[t] = OPENS_SAMPLE;
    else if (state == LP_SAMPLER_BURST || state == LP_SAMPLER_BURST_SAMPLE ||
             state == LP_SAMPLER_DETACHED)
        model.places[t] = OPENS_BURST;
    else if (state < LP_SAMPLER_WINDOW_STARTS || state > LP_SAMPLER_WINDOW_ENDS)
        model.places[t] = OPENS_TRIGGERED;
    else
        model.places[t] = OUTSIDE;
    visit(&model);
    model.places[t] = MARKED;
    visit(&model);
}

static void enter(struct model *model, int t, uint64_t session)
{
    model->places[t] = INSIDE;
    model->session[t] = (uint8_t)session;
}

static void step_open(struct model model, int t)
{
    uint32_t who = (uint32_t)t + 1;
    uint8_t place = model.places[t];

    model.places[t] = OUTSIDE;
    if (place == OPENS_SAMPLE && move(&model, LP_SAMPLER_ON_CALL_BEGINS, who)) {
        if (state_of(&model) == LP_SAMPLER_SAMPLE_STARTS)
            model.places[t] = SWITCHES_ON;
        else
            enter(&model, t, lp_sampler_session_of(model.word));
    } else if (place == OPENS_BURST && model.burst > 0 &&
               move(&model, LP_SAMPLER_ON_BURST_CALL_BEGINS, who)) {
        model.burst--;
        enter(&model, t, lp_sampler_session_of(model.word));
    } else if (place == OPENS_TRIGGERED && model.left > 0) {
        model.left--;
        model.open++;
        model.placed[t] = 1;
        enter(&model, t, lp_sampler_session_of(model.word));
    }
    visit(&model);
}

/* In a call that is collected a thread launches or ends it; elsewhere it launches only. */
static void step_inside(struct model model, int t)
{
    model.places[t] = MARKED;
    visit(&model);
    model.places[t] = CLOSES;
    visit(&model);
}

static void step_marked(struct model model, int t)
{
    bool own = model.session[t] && model.session[t] == lp_sampler_session_of(model.word);

    model.counts[t] = !model.out && model.epoch && model.word != 0 &&
                      (own || state_of(&model) == LP_SAMPLER_WINDOW);
    model.places[t] = COUNTED;
    visit(&model);
    if (model.counts[t]) { /* It may be that of a graph. */
        model.word |= LP_SAMPLER_GRAPHS;
        visit(&model);
    }
}

static void step_counted(struct model model, int t)
{
    if (model.counts[t] && !model.records)
        fail_msg("a launch counts and brings no record in %s", state_names[state_of(&model)]);
    model.counts[t] = model.awaited[t] = 0;
    model.places[t] = model.session[t] ? INSIDE : OUTSIDE;
    visit(&model);
}

static void step_close(struct model model, int t)
{
    bool own = model.session[t] == lp_sampler_session_of(model.word);
    bool placed = model.placed[t];

    model.places[t] = OUTSIDE;
    clean(&model, t);
    if (own && placed)
        model.open = (uint8_t)(model.open - (model.open > 0));
    else if (own && move(&model, LP_SAMPLER_ON_CALL_ENDS, (uint32_t)t + 1) &&
             state_of(&model) == LP_SAMPLER_STOPPING)
        model.places[t] = SWITCHES_OFF;
    visit(&model);
}

static void step_switch(struct model model, int t)
{
    uint32_t who = (uint32_t)t + 1;

    switch (model.places[t]) {
    case SWITCHES_ON:
        model.records = 1;
        model.places[t] = SAYS_ON;
        break;
    case SAYS_ON:
        if (move(&model, LP_SAMPLER_ON_RECORDS_ON, who))
            enter(&model, t, lp_sampler_session_of(model.word));
        else
            model.places[t] = TAKES_BACK;
        break;
    case SWITCHES_OFF:
        model.records = 0;
        model.places[t] = SAYS_OFF;
        break;
    case SAYS_OFF:
        move(&model, LP_SAMPLER_ON_RECORDS_OFF, who);
        model.places[t] = OUTSIDE;
        break;
    default:
        model.records = 0;
        model.places[t] = OUTSIDE;
    }
    visit(&model);
}

static void step_thread(const struct model *model, int t)
{
    switch (model->places[t]) {
    case OUTSIDE:
        step_outside(*model, t);
        break;
    case OPENS_SAMPLE:
    case OPENS_BURST:
    case OPENS_TRIGGERED:
        step_open(*model, t);
        break;
    case INSIDE:
        step_inside(*model, t);
        break;
    case MARKED:
        step_marked(*model, t);
        break;
    case COUNTED:
        step_counted(*model, t);
        break;
    case CLOSES:
        step_close(*model, t);
        break;
    default:
        step_switch(*model, t);
    }
}

/* The collector is free: what it may begin. */
static void begin_work(const struct model *model, enum lp_sampler_event event, uint8_t if_starts,
                       uint8_t if_open)
{
    struct model next = *model;

    if (!move(&next, event, LP_SAMPLER_COLLECTOR))
        return;
    next.work =
        lp_sampler_records(state_of(&next)) == LP_SAMPLER_RECORDS_CHANGING ? if_starts : if_open;
    visit(&next);
}

static bool nobody_launches(const struct model *model)
{
    for (int t = 0; t < THREADS; t++)
        if (model->places[t] == MARKED || model->places[t] == COUNTED)
            return false;
    return true;
}

static void begin_burst_work(const struct model *model)
{
    struct model next = *model;

    if (model->out) {
        next.work = J_RECORDS_ON;
        visit(&next);
    }
    if (state_of(model) != LP_SAMPLER_BURST && state_of(model) != LP_SAMPLER_BURST_SAMPLE)
        return;
    next.burst = 0;
    begin_work(&next, LP_SAMPLER_ON_BURSTS_END, C_SWITCHES_OFF, RESTS);
    if (move(&next, LP_SAMPLER_ON_CUPTI_LEAVES, LP_SAMPLER_COLLECTOR)) {
        next.work = J_LEAVES;
        visit(&next);
    }
}

static void begin_triggered_work(const struct model *model)
{
    struct model next = *model;

    if (model->number == 0) {
        next.number = 1;
        next.word |= LP_SAMPLER_REQUESTED;
        visit(&next);
    } else if (model->word & LP_SAMPLER_REQUESTED) {
        begin_work(model, LP_SAMPLER_ON_TRIGGER_OPENS, T_SWITCHES_ON, T_SWITCHES_ON);
    } else if (model->left == 0 && model->open == 0) {
        begin_work(model, LP_SAMPLER_ON_TRIGGER_CLOSES, C_SWITCHES_OFF, T_FORGETS);
    }
}

static void begin_any_work(const struct model *model)
{
    struct model next = *model;

    if (model->word == 0) {
        if (model->begun >= 2 * SESSIONS)
            return;
        for (int burst = 0; burst < 2; burst++) {
            next = *model;
            next.begun++;
            next.number = next.left = next.open = next.out = 0;
            move(&next, LP_SAMPLER_ON_SESSION_BEGINS, 1u + model->begun);
            if (burst) { /* The source comes with its records on, and before calls may open. */
                next.records = next.burst = 1;
                move(&next, LP_SAMPLER_ON_BURST_BEGINS, LP_SAMPLER_COLLECTOR);
            }
            next.word &= ~LP_SAMPLER_SUSPENDED;
            next.epoch = 1;
            visit(&next);
        }
        return;
    }
    begin_work(model, LP_SAMPLER_ON_WINDOW_OPENS, W_SWITCHES_ON, W_OPEN);
    begin_work(model, LP_SAMPLER_ON_SETTLED, C_SWITCHES_OFF, C_SWITCHES_OFF);
    begin_burst_work(model);
    if (state_of(model) < LP_SAMPLER_BURST)
        begin_triggered_work(model);
    next.word |= LP_SAMPLER_SUSPENDED;
    next.epoch = 0;
    next.work = E_AWAITS;
    for (int t = 0; t < THREADS; t++)
        next.awaited[t] = model->places[t] == MARKED || model->places[t] == COUNTED;
    visit(&next);
}

static bool await(const struct model *model)
{
    for (int t = 0; t < THREADS; t++)
        if (model->awaited[t])
            return false;
    return true;
}

static void finish(struct model *model, enum lp_sampler_event event, uint8_t if_stops)
{
    move(model, event, LP_SAMPLER_COLLECTOR);
    model->work = state_of(model) == LP_SAMPLER_STOPPING ? if_stops : RESTS;
}

static void step_end(struct model model)
{
    enum lp_sampler_records before = lp_sampler_records(state_of(&model));

    if (model.work == E_AWAITS) {
        model.work = E_ENDS;
    } else if (model.work == E_SWITCHES_OFF) {
        model.records = 0;
        model.work = E_OVER;
    } else if (model.work == E_OVER) {
        model.records = 0; /* The source pauses. */
        model.work = RESTS;
    } else if (move(&model, LP_SAMPLER_ON_SESSION_ENDS, LP_SAMPLER_COLLECTOR)) {
        model.work = before >= LP_SAMPLER_RECORDS_CHANGING ? E_SWITCHES_OFF : E_OVER;
    }
    visit(&model);
}

static void step_collector(const struct model *from)
{
    struct model model = *from;

    if ((model.work == W_AWAITS || model.work == E_AWAITS) && !await(&model))
        return;
    switch (model.work) {
    case RESTS:
        begin_any_work(from);
        return;
    case W_SWITCHES_ON:
    case T_SWITCHES_ON:
        model.records = 1;
        model.work++;
        break;
    case W_SAYS_ON:
    case T_SAYS_ON:
        move(&model, LP_SAMPLER_ON_RECORDS_ON, LP_SAMPLER_COLLECTOR);
        model.work++;
        break;
    case W_OPEN:
        move(&model, LP_SAMPLER_ON_WINDOW_CLOSES, LP_SAMPLER_COLLECTOR);
        for (int t = 0; t < THREADS; t++)
            model.awaited[t] = model.places[t] == MARKED || model.places[t] == COUNTED;
        model.work = W_AWAITS;
        break;
    case W_AWAITS:
        finish(&model, LP_SAMPLER_ON_CALLS_OVER, C_SWITCHES_OFF);
        break;
    case T_HANDS_OUT:
        model.left = 1;
        model.word &= ~LP_SAMPLER_REQUESTED;
        model.work = RESTS;
        break;
    case C_SWITCHES_OFF:
        model.records = 0;
        model.work = C_SAYS_OFF;
        break;
    case C_SAYS_OFF:
        move(&model, LP_SAMPLER_ON_RECORDS_OFF, LP_SAMPLER_COLLECTOR);
        model.work = model.number && model.left == 0 && !(model.word & LP_SAMPLER_REQUESTED)
                         ? T_FORGETS
                         : RESTS;
        break;
    case T_FORGETS:
        model.number = 0;
        model.work = RESTS;
        break;
    case J_LEAVES: /* refused while a thread launches: bursts end */
        if (!nobody_launches(&model)) {
            finish(&model, LP_SAMPLER_ON_BURSTS_END, C_SWITCHES_OFF);
            break;
        }
        model.records = 0;
        model.out = 1;
        model.work = RESTS;
        break;
    case J_RECORDS_ON:
        model.records = model.burst = 1;
        model.out = 0;
        move(&model, LP_SAMPLER_ON_BURST_BEGINS, LP_SAMPLER_COLLECTOR);
        model.work = RESTS;
        break;
    default:
        step_end(model);
        return;
    }
    visit(&model);
}

static void in_every_interleaving_records_are_on_where_launches_count(void **state)
{
    struct model first;
    uint32_t seen = 0;

    (void)state;
    room = 1u << 21;
    models = malloc(room / 2 * sizeof(*models));
    slots = calloc(room, sizeof(*slots));
    assert_true(models && slots);
    memset(&first, 0, sizeof(first));
    visit(&first);
    for (size_t at = 0; at < count; at++) {
        struct model model = models[at];

        seen |= 1u << state_of(&model);
        check_model(&model);
        for (int t = 0; t < THREADS; t++)
            step_thread(&model, t);
        step_collector(&model);
    }
    print_message("%zu situations\n", count);
    assert_int_equal(seen, (1u << LP_SAMPLER_STATE_COUNT) - 1);
    free(models);
    free(slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_in_each_state_does_what_the_table_says),
        cmocka_unit_test(an_illegal_event_is_not_refused_quietly),
        cmocka_unit_test(the_page_has_the_same_table),
        cmocka_unit_test(in_every_interleaving_records_are_on_where_launches_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

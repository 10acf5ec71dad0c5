/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/regions/sampler_state.h"

enum owned { FREE, OWNED, SHARED };
enum kind { OPENS, OWNERS, COLLECTORS, TRIES };

static const struct {
    enum owned owned;
    enum lp_sampler_records records;
} states[] = {
#define STATE(name, owned, records) { owned, LP_SAMPLER_RECORDS_##records },
    LP_SAMPLER_STATES(STATE)
#undef STATE
};

static const enum kind kinds[] = {
#define EVENT(name, kind) kind,
    LP_SAMPLER_EVENTS(EVENT)
#undef EVENT
};

#define LP_SAMPLER_OVER LP_SAMPLER_STATE_COUNT

/* LP_SAMPLER_OFF: no transition. */
static const uint8_t transitions[LP_SAMPLER_STATE_COUNT][LP_SAMPLER_EVENT_COUNT] = {
#define TRANSITION(from, event, to) [LP_SAMPLER_##from][LP_SAMPLER_ON_##event] = LP_SAMPLER_##to,
    LP_SAMPLER_TRANSITIONS(TRANSITION)
#undef TRANSITION
};

enum lp_sampler_records lp_sampler_records(enum lp_sampler_state state)
{
    return states[state].records;
}

static bool is_owner(uint64_t word, uint32_t who)
{
    enum owned owned = states[lp_sampler_state_of(word)].owned;

    return owned == SHARED || (owned == OWNED && lp_sampler_owner_of(word) == who);
}

bool lp_sampler_may_refuse(uint64_t word, enum lp_sampler_event event, uint32_t who)
{
    return kinds[event] == OPENS || kinds[event] == TRIES ||
           (kinds[event] == OWNERS && !is_owner(word, who));
}

/* Owner of the next state, or number of calls in it. */
static uint32_t next_owner(uint64_t word, uint32_t to, uint32_t who)
{
    enum owned before = states[lp_sampler_state_of(word)].owned, then = states[to].owned;

    if (then == SHARED)
        return before == SHARED ? lp_sampler_owner_of(word) + 1 : 1;
    if (then == OWNED)
        return before == OWNED ? lp_sampler_owner_of(word) : who;
    return 0;
}

uint64_t lp_sampler_next(uint64_t word, enum lp_sampler_event event, uint32_t who)
{
    enum lp_sampler_state from = lp_sampler_state_of(word);
    uint32_t to = transitions[from][event];

    if (event == LP_SAMPLER_ON_SESSION_GIVES_UP)
        return 0;
    if (event == LP_SAMPLER_ON_SESSION_ENDS)
        return states[from].records == LP_SAMPLER_RECORDS_CHANGING ? word : 0;
    if (to == LP_SAMPLER_OFF || (kinds[event] == OPENS && (word & LP_SAMPLER_SUSPENDED)) ||
        (kinds[event] == OWNERS && !is_owner(word, who)))
        return word;
    if (event == LP_SAMPLER_ON_SESSION_BEGINS)
        return (uint64_t)who << 40 | LP_SAMPLER_SUSPENDED | to;
    if (to == LP_SAMPLER_OVER && states[from].owned == SHARED && lp_sampler_owner_of(word) > 1)
        return word - (UINT64_C(1) << 16);
    if (to == LP_SAMPLER_OVER)
        to = word & LP_SAMPLER_GRAPHS ? LP_SAMPLER_SETTLING : LP_SAMPLER_STOPPING;
    if (to == LP_SAMPLER_STOPPING)
        word &= ~LP_SAMPLER_GRAPHS;
    return (word & ~UINT64_C(0xffffff00ff)) | (uint64_t)next_owner(word, to, who) << 16 | to;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/attribution/units.h"

#define LOOK_NS UINT64_C(50000000) /* interval between checks of ended units */

/* A graph has any number of records, a memcpy may have none, and no record is marked as the last.
 * Records are delivered when buffers are complete, or with a flush once a second. So a unit is done
 * after a flush, this long after its last record, that delivered nothing for it. */
#define QUIET_NS  UINT64_C(1000000000)
#define ANSWER_NS UINT64_C(500000000)

/* Give up waiting for the record of a launch. */
#define GIVEN_UP_NS UINT64_C(60000000000)

/* 0: none. */
static uint32_t take_slot(struct lp_units *units)
{
    static const struct lp_unit fresh = { 0 };

    if (units->vacant.count > 0)
        return units->vacant.items[--units->vacant.count];
    while (units->slots.count <= LP_UNIT_FOUND)
        if (lp_vector_push(&units->slots, fresh) < 0)
            return 0;
    if (units->slots.count >= LP_UNIT_SLOTS || lp_vector_push(&units->slots, fresh) < 0)
        return 0;
    return (uint32_t)units->slots.count - 1;
}

uint32_t lp_units_begin(struct lp_units *units, uint32_t parent, uint64_t now_ns)
{
    uint32_t slot = take_slot(units);
    uint16_t generation;

    if (slot == 0) {
        units->untracked++;
        return LP_UNIT_NONE;
    }
    generation = (uint16_t)(units->slots.items[slot].generation + 1);
    units->slots.items[slot] = (struct lp_unit){ now_ns, parent, 0, generation, true, false };
    return (uint32_t)generation << 16 | slot;
}

void lp_units_end(struct lp_units *units, uint32_t id, uint64_t now_ns)
{
    struct lp_unit *unit = lp_units_find(units, id);

    if (!unit)
        return;
    if (now_ns > unit->touched_ns)
        unit->touched_ns = now_ns;
    if (lp_vector_push(&units->ended, id) < 0) {
        unit->in_use = false; /* out of memory: the unit is dropped */
        units->untracked++;
    }
}

/* With a running device, units with launches wait for a flush. */
static bool is_answered(const struct lp_units *units, const struct lp_unit *unit)
{
    return !unit->launched || units->asked_ns == 0 ||
           units->asked_ns >= unit->touched_ns + ANSWER_NS;
}

static bool is_done(const struct lp_units *units, const struct lp_unit *unit, uint64_t now_ns)
{
    uint64_t quiet_ns = now_ns > unit->touched_ns ? now_ns - unit->touched_ns : 0;

    return quiet_ns >= GIVEN_UP_NS ||
           (unit->pending == 0 && quiet_ns >= QUIET_NS && is_answered(units, unit));
}

void lp_units_settle(struct lp_units *units, uint64_t now_ns, bool final,
                     const struct lp_attribution_sink *sink)
{
    size_t kept = 0;

    if (!final && now_ns - units->looked_ns < LOOK_NS)
        return;
    units->looked_ns = now_ns;
    units->unanswered = 0;
    for (size_t i = 0; i < units->ended.count; i++) {
        uint32_t id = units->ended.items[i];
        struct lp_unit *unit = lp_units_find(units, id);

        if (!final && !is_done(units, unit, now_ns)) {
            units->unanswered += unit->launched;
            units->ended.items[kept++] = id;
            continue;
        }
        sink->units.done(sink->context, id);
        unit->in_use = false;
        /* Out of memory: the slot is not used again. */
        (void)lp_vector_push(&units->vacant, (uint16_t)(id & UINT16_MAX));
    }
    units->ended.count = kept;
}

void lp_units_clear(struct lp_units *units)
{
    lp_vector_clear(&units->slots);
    lp_vector_clear(&units->vacant);
    lp_vector_clear(&units->ended);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Units: calls of stages that are followed one by one. A unit is open while its region is, then
 * ended until its device work is in, then done. Nested ones are linked to the unit around them,
 * which waits for them. Memory is bounded by LP_UNIT_SLOTS units at once.
 * @threads one at a time per object */
#ifndef LP_ATTRIBUTION_UNITS_H
#define LP_ATTRIBUTION_UNITS_H

#include "lib/attribution/attribution.h"
#include "lib/base/vector.h"

struct lp_unit {
    uint64_t touched_ns; /* host time when something of it came in last */
    uint32_t parent;     /* unit, LP_UNIT_NONE at the top */
    uint32_t pending;    /* launches, nested ones included, that have no record yet */
    uint16_t generation;
    bool in_use;
    bool launched; /* something was, in it or in a nested one */
};

struct lp_units {
    LP_VECTOR(struct lp_unit) slots; /* by the low half of the id; the first stays empty */
    LP_VECTOR(uint16_t) vacant;      /* slots */
    LP_VECTOR(uint32_t) ended;       /* units, in the order of their ends */
    uint64_t looked_ns;              /* when the ended ones were looked at last */
    uint64_t asked_ns;               /* when a running device was last flushed; 0: there is none */
    size_t unanswered;  /* ended ones with launches at the last look: a flush is needed */
    uint64_t untracked; /* calls for which there was no slot */
};

/** Open a unit in `parent`; LP_UNIT_NONE if there are too many or without memory. */
uint32_t lp_units_begin(struct lp_units *units, uint32_t parent, uint64_t now_ns);

/** Its region has ended. */
void lp_units_end(struct lp_units *units, uint32_t unit, uint64_t now_ns);

/** NULL: it is done, or LP_UNIT_NONE. */
static inline struct lp_unit *lp_units_find(struct lp_units *units, uint32_t id)
{
    uint32_t slot = id & UINT16_MAX;
    struct lp_unit *unit = slot && slot < units->slots.count ? &units->slots.items[slot] : NULL;

    return unit && unit->in_use && unit->generation == id >> 16 ? unit : NULL;
}

/** A launch was made in it; `awaited`: it is sure to have a record. */
static inline void lp_units_launched(struct lp_units *units, uint32_t id, bool awaited)
{
    for (struct lp_unit *unit; (unit = lp_units_find(units, id)); id = unit->parent) {
        unit->pending += awaited;
        unit->launched = true;
    }
}

/** A record of a launch came in; `first`: the launch was pending until now. */
static inline void lp_units_landed(struct lp_units *units, uint32_t id, bool first, uint64_t now_ns)
{
    for (struct lp_unit *unit; (unit = lp_units_find(units, id)); id = unit->parent) {
        unit->pending -= first && unit->pending > 0;
        unit->touched_ns = now_ns;
    }
}

/** Hand over ended units whose work is all in: nothing is pending and nothing came for a while, nor
 * with an answer of the device at the end of it. All of them if `final`. */
void lp_units_settle(struct lp_units *units, uint64_t now_ns, bool final,
                     const struct lp_attribution_sink *sink);

void lp_units_clear(struct lp_units *units);

#endif

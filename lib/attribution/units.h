/* SPDX-License-Identifier: Apache-2.0 */
/** Units: calls of stages that are followed one by one. A unit is open while its region is, then
 * ended until all its device work is in, then done. Nested units are linked to the enclosing one,
 * which waits for them. At most LP_UNIT_SLOTS units exist at once.
 * @threads one at a time per object */
#ifndef LP_ATTRIBUTION_UNITS_H
#define LP_ATTRIBUTION_UNITS_H

#include "lib/attribution/attribution.h"
#include "lib/base/vector.h"

struct lp_unit {
    uint64_t touched_ns; /* host time of its last record */
    uint32_t parent;     /* enclosing unit; LP_UNIT_NONE at the top */
    uint32_t pending;    /* launches without a record so far, nested ones included */
    uint16_t generation;
    bool in_use;
    bool launched; /* it or a nested unit launched device work */
};

struct lp_units {
    LP_VECTOR(struct lp_unit) slots; /* by the low half of the id; up to LP_UNIT_FOUND unused */
    LP_VECTOR(uint16_t) vacant;      /* slots */
    LP_VECTOR(uint32_t) ended;       /* in the order of their ends */
    uint64_t looked_ns;              /* last check of ended units */
    uint64_t asked_ns;               /* last flush of a running device; 0: no such device */
    size_t unanswered;  /* ended units with launches at the last check: they need a flush */
    uint64_t untracked; /* calls without a free slot */
};

/** Open a unit in `parent`. LP_UNIT_NONE: too many units, or out of memory. */
uint32_t lp_units_begin(struct lp_units *units, uint32_t parent, uint64_t now_ns);

/** Its region has ended. */
void lp_units_end(struct lp_units *units, uint32_t unit, uint64_t now_ns);

/** NULL: the unit is done, or `id` is LP_UNIT_NONE. */
static inline struct lp_unit *lp_units_find(struct lp_units *units, uint32_t id)
{
    uint32_t slot = id & UINT16_MAX;
    struct lp_unit *unit = slot && slot < units->slots.count ? &units->slots.items[slot] : NULL;

    return unit && unit->in_use && unit->generation == id >> 16 ? unit : NULL;
}

/** A launch in the unit.
 * @param awaited  It must have a record. */
static inline void lp_units_launched(struct lp_units *units, uint32_t id, bool awaited)
{
    for (struct lp_unit *unit; (unit = lp_units_find(units, id)); id = unit->parent) {
        unit->pending += awaited;
        unit->launched = true;
    }
}

/** A record of its launch came.
 * @param first  The launch was pending until now. */
static inline void lp_units_landed(struct lp_units *units, uint32_t id, bool first, uint64_t now_ns)
{
    for (struct lp_unit *unit; (unit = lp_units_find(units, id)); id = unit->parent) {
        unit->pending -= first && unit->pending > 0;
        unit->touched_ns = now_ns;
    }
}

/** Report ended units whose work is complete: nothing is pending, and after a quiet interval a
 * flush of the device delivered nothing more. With `final` all of them. */
void lp_units_settle(struct lp_units *units, uint64_t now_ns, bool final,
                     const struct lp_attribution_sink *sink);

void lp_units_clear(struct lp_units *units);

#endif

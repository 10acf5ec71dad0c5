/* SPDX-License-Identifier: Apache-2.0 */
/** Device memory that the program allocates and frees during the session, by device and region.
 * Records of several threads are put in the order of time first. Memory is bounded: at most
 * LP_MEMORY_LIVE allocations are followed at once. For lib/profile only.
 * @threads one at a time per object */
#ifndef LP_PROFILE_MEMORY_H
#define LP_PROFILE_MEMORY_H

#include <stdbool.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/record.h"

#define LP_MEMORY_LIVE    262144u
#define LP_MEMORY_DEVICES 16u  /* with the first allocations; calls for others are not followed */
#define LP_MEMORY_LEVELS  512u /* points of the curve of a device */

/** What is to be done, at a time. */
struct lp_memory_event {
    uint64_t time_ns;
    uint64_t address; /* of a pool: its handle */
    uint64_t bytes;   /* of a pool: reserved ones; end of a stage: tokens of context */
    uint64_t used;    /* of a pool */
    uint32_t node;
    uint32_t unit; /* begin and end of a stage */
    uint16_t detail;
    uint8_t kind; /* enum lp_memory_step, or a stage */
    uint32_t order;
};

struct lp_allocation {
    uint64_t address, bytes, time_ns;
    uint32_t row;  /* of the region that allocated it */
    uint32_t more; /* frees of its handle before the last */
    uint8_t space; /* addresses and handles may be equal */
    bool live;
};

/** Calls of a region for a device. */
struct lp_memory_total {
    uint32_t node;
    uint8_t device; /* index */
    uint64_t allocations, frees, unmatched;
    uint64_t allocated_bytes, freed_bytes, largest_bytes;
    uint64_t live_bytes;     /* of what it allocated */
    uint64_t held_bytes;     /* most of them at once */
    uint64_t context_tokens; /* most of a call of the stage; 0: not counted */
    uint64_t peak_bytes;     /* most live bytes on the device in calls of the stage */
    bool has_peak;
};

/** Most live bytes from time_ns to the time of the next one. */
struct lp_memory_level {
    uint64_t time_ns, bytes;
};

struct lp_memory_device {
    uint16_t device;
    uint64_t live_bytes, peak_bytes, peak_ns;
    uint64_t reserved_bytes, used_bytes; /* most of its pools together; 0: none */
    uint64_t interval_ns;                /* of the points: doubled when there are too many */
    LP_VECTOR(struct lp_memory_level) levels;
};

/** A stage that is open, and the most live bytes so far. */
struct lp_memory_stage {
    uint32_t unit, node;
    uint64_t peak_bytes[LP_MEMORY_DEVICES];
};

/** Values of records that belong to the one that comes next, by enum lp_memory_step. */
struct lp_memory_pending {
    uint64_t values[LP_MEMORY_POOL_USED];
};

/** A memory pool of the driver, after its last allocation. */
struct lp_memory_pool {
    uint64_t handle, reserved_bytes, used_bytes;
    size_t device; /* index */
};

/** Zero-initialised: empty. */
struct lp_memory {
    LP_VECTOR(struct lp_memory_event) events;    /* not applied yet */
    bool unsorted;                               /* they are not in order */
    LP_VECTOR(struct lp_memory_pending) pending; /* by thread */
    LP_VECTOR(struct lp_memory_pool) pools;
    LP_VECTOR(struct lp_allocation) allocations;
    LP_VECTOR(uint32_t) vacant; /* of the allocations */
    struct lp_hashmap index;    /* (address, space) -> allocation, possibly not live any more */
    LP_VECTOR(struct lp_memory_total) rows;
    struct lp_hashmap row_index; /* (node, device) -> row */
    LP_VECTOR(struct lp_memory_stage) open;
    struct lp_memory_device devices[LP_MEMORY_DEVICES];
    size_t device_count;
    uint64_t first_stage_ns; /* 0: none began */
    uint64_t over_limit;     /* allocations that are not followed */
    bool failed;             /* memory ran out */
};

/** LP_RECORD_MEMORY of a thread, in its order. */
void lp_memory_record(struct lp_memory *memory, uint32_t thread, const struct lp_record *record);

/** A call of a stage begins. */
void lp_memory_begin(struct lp_memory *memory, uint32_t unit, uint32_t node, uint64_t time_ns);

/** It ends.
 * @param context_tokens  That it counted; 0: none. */
void lp_memory_end(struct lp_memory *memory, uint32_t unit, uint32_t node, uint64_t time_ns,
                   uint64_t context_tokens);

/** All records up to this time were passed. */
void lp_memory_settle(struct lp_memory *memory, uint64_t until_ns);

/** Bytes on a device that were allocated before the first stage and are live. */
uint64_t lp_memory_kept(const struct lp_memory *memory, size_t device);

void lp_memory_clear(struct lp_memory *memory);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Shapes of activities: the launch geometry of kernels, the memory kinds of copies. A shape has an
 * id, as a name does, so that a record carries one number. @threads one at a time per object */
#ifndef LP_RECORD_SHAPES_H
#define LP_RECORD_SHAPES_H

#include <assert.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"

/** Most shapes; further ones have the id LP_SHAPE_OTHER. */
#define LP_SHAPES_LIMIT 65536u
#define LP_SHAPE_OTHER  (LP_SHAPES_LIMIT - 1)
#define LP_SHAPE_NONE   0u /* the source does not report it */

/** A number of a shape that is not known. */
#define LP_SHAPE_UNKNOWN UINT32_MAX

/** Kinds of memory. The numbers are CUPTI's, and stored in recordings. */
enum lp_memory_kind {
    LP_MEMORY_UNKNOWN = 0,
    LP_MEMORY_PAGEABLE = 1,
    LP_MEMORY_PINNED = 2,
    LP_MEMORY_DEVICE = 3,
    LP_MEMORY_ARRAY = 4,
    LP_MEMORY_MANAGED = 5,
    LP_MEMORY_DEVICE_STATIC = 6,
    LP_MEMORY_MANAGED_STATIC = 7
};
#define LP_MEMORY_KINDS 8u

/** Does the call that copies return before the copy is done? The numbers are stored in recordings.
 */
enum lp_copy_call { LP_COPY_CALL_UNKNOWN = 0, LP_COPY_CALL_SYNC = 1, LP_COPY_CALL_ASYNC = 2 };

struct lp_shape {
    uint32_t grid[3], block[3];             /* 0: not a kernel, or not known */
    uint32_t registers;                     /* per thread */
    uint32_t static_shared, dynamic_shared; /* bytes per block */
    uint8_t source, destination;            /* enum lp_memory_kind */
    uint8_t call;                           /* enum lp_copy_call */
    uint8_t reserved;                       /* 0 */
};
static_assert(sizeof(struct lp_shape) == 40, "shapes are compared as bytes");

/** Zero-initialised: empty. */
struct lp_shapes {
    LP_VECTOR(struct lp_shape) items; /* by id, from 1: item 0 is LP_SHAPE_NONE */
    struct lp_hashmap ids;
};

/** Id of a shape, a new one if it was not seen. LP_HASHMAP_NONE without memory. */
uint32_t lp_shapes_intern(struct lp_shapes *shapes, const struct lp_shape *shape);

/** The shape of an id; NULL for LP_SHAPE_NONE, LP_SHAPE_OTHER and past the end. Valid until one is
 * added. */
const struct lp_shape *lp_shapes_get(const struct lp_shapes *shapes, uint32_t id);

/** "pageable", "pinned" …; NULL: not known. */
const char *lp_memory_kind_name(uint32_t kind);

/** "sync" or "async"; NULL: not known. */
const char *lp_copy_call_name(uint32_t call);

/** Static and dynamic shared memory, bytes per block; UINT64_MAX: not known. */
uint64_t lp_shape_shared(const struct lp_shape *shape);

void lp_shapes_clear(struct lp_shapes *shapes);

#endif

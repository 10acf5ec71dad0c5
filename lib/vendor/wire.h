/* SPDX-License-Identifier: Apache-2.0 */
/** Messages of protocol buffers, field by field, in untrusted memory: nothing is read beyond its
 * end, whatever the sizes in it. @threads any thread */
#ifndef LP_VENDOR_WIRE_H
#define LP_VENDOR_WIRE_H

#include <stddef.h>
#include <stdint.h>

/** Bytes that are not read yet. Zero-initialised: none. */
struct lp_wire {
    const uint8_t *at;
    size_t size;
};

enum lp_wire_type {
    LP_WIRE_VARINT = 0,
    LP_WIRE_FIXED64 = 1,
    LP_WIRE_BYTES = 2, /* also texts and messages */
    LP_WIRE_FIXED32 = 5
};

struct lp_wire_field {
    uint32_t number;
    uint32_t type;        /* LP_WIRE_… */
    uint64_t value;       /* not for LP_WIRE_BYTES; fixed ones unconverted, little-endian */
    struct lp_wire bytes; /* for LP_WIRE_BYTES: its bytes */
};

/** Take the next field. @return 1; 0 at the end; LLMPERF_EFORMAT, without a text: what follows is
 * no field */
int lp_wire_next(struct lp_wire *wire, struct lp_wire_field *field);

/** The first field of that number and type of a message. @return 1, 0 (there is none) or
 * LLMPERF_EFORMAT */
int lp_wire_find(struct lp_wire message, uint32_t number, uint32_t type,
                 struct lp_wire_field *field);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Protocol Buffers messages in untrusted memory, read field by field and never beyond the end.
 * @threads any thread */
#ifndef LP_VENDOR_WIRE_H
#define LP_VENDOR_WIRE_H

#include <stddef.h>
#include <stdint.h>

/** Unread bytes. Zero-initialised: none. */
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

/** Read the next field.
 * @return 1; 0 at the end; LLMPERF_EFORMAT without an error text: not a field */
int lp_wire_next(struct lp_wire *wire, struct lp_wire_field *field);

/** Find the first field of this number and type in a message.
 * @return 1; 0: none; LLMPERF_EFORMAT */
int lp_wire_find(struct lp_wire message, uint32_t number, uint32_t type,
                 struct lp_wire_field *field);

#endif

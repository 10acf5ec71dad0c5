/* SPDX-License-Identifier: Apache-2.0 */
/** The part of the Protocol Buffers wire format that traces need
 * (https://protobuf.dev/programming-guides/encoding). A message is a text. A nested message is made
 * first and then added to the outer one. For lib/trace only.
 * @threads one at a time per object */
#ifndef LP_TRACE_PROTO_H
#define LP_TRACE_PROTO_H

#include <stdint.h>

#include "lib/base/text.h"

void lp_proto_number(struct lp_text *message, uint32_t field, uint64_t value);
void lp_proto_fixed64(struct lp_text *message, uint32_t field, uint64_t value);
void lp_proto_double(struct lp_text *message, uint32_t field, double value);
void lp_proto_string(struct lp_text *message, uint32_t field, const char *text);

/** Add a nested message; `inner` is empty afterwards. */
void lp_proto_message(struct lp_text *message, uint32_t field, struct lp_text *inner);

#endif

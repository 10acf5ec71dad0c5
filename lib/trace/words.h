/* SPDX-License-Identifier: Apache-2.0 */
/** Texts that a trace repeats (kernel names, region paths, names of kinds), each made once. For
 * lib/trace only.
 * @threads one at a time per object */
#ifndef LP_TRACE_WORDS_H
#define LP_TRACE_WORDS_H

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/record/names.h"
#include "lib/record/record.h"

/** Zero-initialised except for `names`. */
struct lp_trace_words {
    const struct lp_names *names;
    struct lp_strings pool;
    LP_VECTOR(const char *) full, brief; /* by name */
    LP_VECTOR(const char *) paths;       /* by node */
};

/** C++ name of a kernel, and the name without return type, arguments and parameters. "": out of
 * memory. */
const char *lp_trace_full_name(struct lp_trace_words *words, uint32_t name);
const char *lp_trace_brief_name(struct lp_trace_words *words, uint32_t name);

/** Path of a node; "" at the root or out of memory. LP_PATH_UNKNOWN: "(launch not seen)". */
const char *lp_trace_path(struct lp_trace_words *words, uint32_t node);

void lp_trace_words_clear(struct lp_trace_words *words);

/** Name of a LLMPERF_QUANTITY_…, such as "tokens". */
const char *lp_trace_quantity(uint32_t quantity);

/** "stream 7"; in its second lane "stream 7 (2)". */
void lp_trace_stream_name(char *text, size_t size, const struct lp_activity *activity,
                          uint32_t lane);

/** Name of an enum lp_launch_kind: "launch", "graph launch". Static text. */
const char *lp_trace_launch_word(uint32_t kind);

/** The usual CUDA function of such a call, for formats with names of calls. Static text. */
const char *lp_trace_launch_function(uint32_t kind);

#endif

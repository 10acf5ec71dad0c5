/* SPDX-License-Identifier: Apache-2.0 */
/** Regions: named, nested spans of host time on the calling thread.
 *
 * A label is `DOMAIN@name`: `LLM@prefill` is NVTX domain `LLM`, range `prefill`. A label without
 * `@` is in domain `LLM`. Kernels that this thread launches while a region is open are charged to
 * it, whenever they run.
 *
 * Region calls need no session and return nothing: a library marks regions, the application decides
 * about profiling. They take no lock, allocate nothing and format nothing once a label was seen on
 * a thread; when a buffer is full they drop the record and count it. An end without a begin is
 * ignored and counted. More than LLMPERF_REGION_DEPTH open levels are counted in the deepest one. A
 * label longer than LLMPERF_LABEL_BYTES is cut; a NULL or empty one becomes `LLM@(empty)`; invalid
 * UTF-8 and control characters are replaced.
 *
 * @threads any thread; each thread has its own stack */
#ifndef LLMPERF_REGION_H
#define LLMPERF_REGION_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LLMPERF_REGION_DEPTH 128
#define LLMPERF_LABEL_BYTES  1024

/** What a region is in the reports. */
enum {
    LLMPERF_REGION_AUTO = 0,    /**< prefill, decode_all, decode_step and vision in domain LLM are
                                   stages, others operators */
    LLMPERF_REGION_STAGE = 1,   /**< a phase that a user thinks in */
    LLMPERF_REGION_OPERATOR = 2 /**< an operation of the model, below a stage */
};

/** What can be counted in a region. Amounts add up over calls and instances. */
enum {
    LLMPERF_QUANTITY_TOKENS = 1,    /**< new tokens computed */
    LLMPERF_QUANTITY_SEQUENCES = 2, /**< sequences (requests) in the batch */
    LLMPERF_QUANTITY_CONTEXT =
        3, /**< KV positions attended, summed over the sequences; each new token counts itself */
    LLMPERF_QUANTITY_FLOPS =
        4, /**< floating-point operations as the program knows them; a multiply-add is 2 */
    LLMPERF_QUANTITY_BYTES =
        5 /**< bytes moved to and from device memory as the program knows them */
};

/** A region with what is known about its work. Amounts of 0 are "not given". */
typedef struct llmperf_region_attr {
    size_t struct_size;
    const char *label; /**< Borrowed for the call. */
    uint32_t kind;     /**< LLMPERF_REGION_… ; the first kind given for a path stays */
    uint32_t reserved;
    uint64_t tokens;
    uint64_t sequences;
    uint64_t context;
    uint64_t flops;
    uint64_t bytes;
} llmperf_region_attr;
#define LLMPERF_REGION_ATTR_INIT LLMPERF_INIT(llmperf_region_attr)

/** Open a region on this thread. @param label  Borrowed for the call. */
LLMPERF_API void llmperf_region_begin(const char *label);

/** Open a region and count what `attr` gives. @param attr  Borrowed for the call; NULL opens
 * `LLM@(empty)`. */
LLMPERF_API void llmperf_region_begin_attr(const llmperf_region_attr *attr);

/** Close the innermost open region of this thread. */
LLMPERF_API void llmperf_region_end(void);

/** Add `amount` of LLMPERF_QUANTITY_… to the innermost open region. Without an open region, or with
 * an unknown quantity, ignored. */
LLMPERF_API void llmperf_region_count(uint32_t quantity, uint64_t amount);

/** `LLM@prefill`: the forward pass over the prompt, up to the first logits. @param tokens  Prompt
 * tokens computed; 0: not known. */
LLMPERF_API void llmperf_prefill_begin(uint64_t tokens);
LLMPERF_API void llmperf_prefill_end(void);

/** `LLM@decode_all`: the whole token loop. @param tokens  Tokens made by the loop; 0: not known. */
LLMPERF_API void llmperf_decode_all_begin(void);
LLMPERF_API void llmperf_decode_all_end(uint64_t tokens);

/** `LLM@decode_step`: one pass of the token loop; counts `sequences` tokens too (one new token a
 * sequence).
 *
 * @param sequences  Sequences in the batch; 0: not known.
 * @param context    KV positions attended, summed over the sequences; 0: not known. */
LLMPERF_API void llmperf_decode_step_begin(uint64_t sequences, uint64_t context);
LLMPERF_API void llmperf_decode_step_end(void);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/findings/kernel_shapes.h"
#include "lib/findings/limits/limits.h"
#include "lib/findings/recommend_say.h"
#include "lib/base/number.h"
#include "lib/profile/fields.h"
#include "lib/record/stall_reasons.h"
#include "llmperf/sys/analysis.h"

/* Shares by kernel are of what is charged to the stage itself. */
static const char *without_nested(const struct lp_stage_facts *stage)
{
    return stage->holds_stages ? " without nested stages" : "";
}

/* Shorter kernels mostly start and end, which takes LP_KERNEL_LEAST_MS. */
#define SHORT_US 4

/* Kernels that lose less of a call are not worth a word. */
#define LOSS_SHARE 0.03

static double operator_loss(const struct lp_stage_facts *stage)
{
    return stage->worst ? lp_part_loss(stage->worst) * stage->elapsed_calls : (double)NAN;
}

/* "kernels of class attention in LLM@attention" */
static void name_part(const struct lp_waterfall_part *part, struct lp_text *text)
{
    if (part->kernel_class)
        lp_text_printf(text, "%s kernels", part->kernel_class);
    else
        lp_text_puts(text, "kernels");
    if (part->region)
        lp_text_printf(text, " in %s", part->region);
}

static bool names_operator(const struct lp_stage_facts *stage)
{
    return stage->worst && lp_part_loss(stage->worst) >= LOSS_SHARE * stage->elapsed_ms;
}

static bool is_of_class(const struct lp_waterfall_part *part, const char *kernel_class)
{
    return part->kernel_class && strcmp(part->kernel_class, kernel_class) == 0;
}

/* Attention in separate kernels is worth a word from this share of the device time on. */
#define SOFTMAX_SHARE 0.02

/* More than a softmax of the logits, and no fused attention beside it. */
bool lp_is_unfused(const struct lp_stage_facts *stage)
{
    return stage->softmax_calls >= 2 * (double)stage->instances &&
           stage->softmax_calls > stage->attention_calls &&
           stage->softmax_ms >= SOFTMAX_SHARE * stage->device_ms;
}

/* Calls of the kernel, and the mean of one, tell a long kernel from many short ones. */
static void say_longest(const struct lp_waterfall_part *part, struct lp_text *text)
{
    if (!part->kernel)
        return;
    lp_text_printf(text, ". %s %s",
                   part->kernel_ms > 0.5 * part->busy_ms ? "Most of it is" : "The largest part is",
                   part->kernel);
    if (part->kernel_calls > 0)
        lp_text_printf(text, ", %s x %s us", COUNT(part->kernel_calls),
                       N(1e3 * part->kernel_ms / part->kernel_calls));
}

static bool is_narrow(const llmperf_kernel_shape *shape)
{
    return shape && lp_shape_filled(shape) < LP_NARROW;
}

/* "its grid of 10 blocks fills 7.58 % of the 132 SMs (0.00474 waves)" */
static void say_grid(const llmperf_kernel_shape *shape, struct lp_recommendation *out,
                     struct lp_text *text)
{
    double blocks = (double)shape->grid_x * (double)shape->grid_y * (double)shape->grid_z;
    double filled = lp_shape_filled(shape);

    lp_evidence_add(out, "blocks", blocks);
    lp_evidence_add(out, "filled_share", filled);
    lp_evidence_add(out, "waves", shape->waves);
    lp_text_printf(text, "its grid of %s %s fills %s %% of the %.0f SMs (%s waves)", COUNT(blocks),
                   blocks > 1 ? "blocks" : "block", PERCENT(filled), round(blocks / filled),
                   N(shape->waves));
}

/* How the work of a kernel of this class is spread over more blocks. */
static const char *how_to_widen(const char *kernel_class)
{
    static const char *const ways[][2] = {
        { "GEMM", "split it over k (split-K, stream-K), or give it more rows with a larger batch" },
        { "attention", "split it over the context (Flash-Decoding), or give it more sequences" },
        { "norm", "fuse it with its neighbours, or give each row several blocks" },
        { "reduction", "fuse it with its neighbours, or reduce in two steps" },
    };

    for (size_t i = 0; kernel_class && i < LP_LENGTH(ways); i++)
        if (strcmp(ways[i][0], kernel_class) == 0)
            return ways[i][1];
    return "launch more and smaller blocks, or give it more work with a larger batch";
}

/* The grid, and how to fill more SMs. */
static void say_narrow(const llmperf_kernel_shape *shape, const char *kernel_class,
                       struct lp_recommendation *out, struct lp_text *text)
{
    say_grid(shape, out, text);
    lp_text_printf(text, ": that limits it. To use the others, %s.", how_to_widen(kernel_class));
}

/* ", in 65 kernels of 2.90 us each (4.00 % of the call)": how far they are from their bound says
 * nothing of kernels that are this small. */
static void say_small(const struct lp_waterfall_part *part, const llmperf_kernel_shape *shape,
                      double share, struct lp_recommendation *out, struct lp_text *text)
{
    double each_us = 1e3 * part->busy_ms / part->calls;

    lp_evidence_add(out, "kernels_per_instance", part->calls);
    lp_evidence_add(out, "kernel_mean_us", each_us);
    lp_text_printf(text, ", in %s kernels of %s us each (%s %% of the call)", COUNT(part->calls),
                   N(each_us), PERCENT(share));
    say_longest(part, text);
    lp_text_printf(text, ". At the rates of the whole GPU each would take less than %s us",
                   COUNT(1e3 * LP_KERNEL_LEAST_MS));
    if (is_narrow(shape)) {
        lp_text_puts(text, ", but ");
        say_narrow(shape, part->kernel_class, out, text);
        return;
    }
    lp_text_puts(text, each_us < SHORT_US
                           ? ": starting and ending takes most of their time. Fuse them into fewer "
                             "kernels; a CUDA graph shortens the gaps between those that remain."
                       : shape && lp_shape_filled(shape) >= LP_NARROW
                           ? ": their blocks fill the GPU, but wait for memory or for each other. "
                             "Study one with ncu, or fuse them with their neighbours."
                           : ": few threads do the work, or wait for each other. Spread it over "
                             "more blocks, or fuse them with their neighbours.");
}

static void say_rates(const struct lp_waterfall_part *part, const llmperf_kernel_shape *shape,
                      double share, struct lp_recommendation *out, struct lp_text *text)
{
    lp_text_printf(text, ", %sx their lower bound of %s ms (%s %% of the call)",
                   N(part->busy_ms / part->bound_ms), N(part->bound_ms), PERCENT(share));
    say_longest(part, text);
    if (shape && !isnan(shape->tflops)) {
        lp_text_puts(text, ": ");
        lp_kernel_shape_words(shape, text);
    }
    lp_text_printf(text, ". Good kernels reach about %s %% of the bound",
                   PERCENT(part->bound_ms / part->good_ms));
    if (!shape || !part->source || shape->achievable_source != part->source)
        lp_text_printf(text, " (%s)", part->source ? part->source : "assumed");
    lp_text_puts(text, ".");
    if (is_narrow(shape)) {
        lp_text_printf(text, " What limits %s: ", part->kernel);
        say_grid(shape, out, text);
        lp_text_printf(text, "; %s.", how_to_widen(part->kernel_class));
    }
    /* The model counts the logits that a prompt needs. */
    if (shape && shape->model_operator && strcmp(shape->model_operator, "lm_head") == 0 &&
        shape->achievable_ms > 2 * part->good_ms)
        lp_text_puts(text, " It computes more logits than are needed: those of the last position "
                           "of each prompt.");
}

static bool slow_operator(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                          struct lp_text *text)
{
    const struct lp_waterfall_part *part = stage->worst;
    double share;

    if (!names_operator(stage))
        return false;
    share = part->busy_ms / stage->elapsed_ms;
    lp_evidence_add_word(out, "kernel", part->kernel);
    lp_evidence_add_word(out, "operator", part->region);
    lp_evidence_add_word(out, "kernel_class", part->kernel_class);
    lp_evidence_add(out, "duration_ms", part->busy_ms);
    lp_evidence_add(out, "bound_ms", part->bound_ms);
    lp_text_printf(text, "In each call of %s, ", stage->label);
    name_part(part, text);
    lp_text_printf(text, " take %s ms", N(part->busy_ms));
    if (lp_part_is_small(part))
        say_small(part, stage->worst_shape, share, out, text);
    else
        say_rates(part, stage->worst_shape, share, out, text);
    return true;
}

/* Copies that run beside kernels cost less than they take. */
static double memory_copies(const struct lp_stage_facts *stage)
{
    double alone_ms = stage->busy_ms - stage->kernel_ms;

    return alone_ms > 0 ? fmin(stage->memcpy_ms, alone_ms) : stage->memcpy_ms;
}

/* What the busy time is without. */
static const char *without_words(double copies_ms, double collective_ms)
{
    return copies_ms > 0 && collective_ms > 0 ? " without copies and collectives"
           : copies_ms > 0                    ? " without copies"
           : collective_ms > 0                ? " without collectives"
                                              : "";
}

/* Time of kernels that are no collectives / bound; 0: slow_kernels() has nothing to say. */
static double slow_ratio(const struct lp_stage_facts *stage)
{
    double others_ms = fmax(0, stage->collective_ms) + fmax(0, memory_copies(stage)); /* not NaN */
    double ratio =
        others_ms > 0 ? (stage->busy_ms - others_ms) / stage->floor_ms : stage->floor_ratio;

    return !names_operator(stage) && stage->floor_ratio >= 1.5 && ratio >= 1.5 ? ratio : 0;
}

static bool dominates(const struct lp_stage_facts *stage)
{
    return stage->top_kernel && stage->top_kernel_ms >= 0.5 * stage->device_ms;
}

static bool slow_kernels(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    double ratio = slow_ratio(stage);

    if (!(ratio > 0))
        return false;
    lp_evidence_add(out, "floor_ratio", stage->floor_ratio);
    lp_evidence_add(out, "mbu", stage->mbu);
    lp_text_printf(text, "The kernels of %s run %sx slower than its %s (GPU busy time%s / bound)",
                   stage->label, N(ratio),
                   lp_bound_words(stage->compute_floor_ms, stage->memory_floor_ms),
                   without_words(memory_copies(stage), stage->collective_ms));
    if (stage->top_class && stage->classes_ms > 0) {
        double share = stage->top_class_ms / stage->classes_ms;

        lp_text_printf(text, "; %s %s (%s %% of their time%s)",
                       share > 0.5 ? "mostly" : "the largest class is", stage->top_class,
                       PERCENT(share), without_nested(stage));
        lp_evidence_add_word(out, "top_class", stage->top_class);
        lp_evidence_add(out, "top_class_share", share);
    }
    if (dominates(stage)) {
        lp_text_printf(text, "; one kernel, %s, is %s %% of the device time%s", stage->top_kernel,
                       PERCENT(stage->top_kernel_ms / stage->device_ms), without_nested(stage));
        lp_evidence_add_word(out, "kernel", stage->top_kernel);
        lp_evidence_add(out, "kernel_share", stage->top_kernel_ms / stage->device_ms);
    }
    lp_text_puts(text, ". Look for faster kernels or libraries for these shapes.");
    return true;
}

static bool unfused_attention(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                              struct lp_text *text)
{
    double each = stage->softmax_calls / (double)stage->instances;

    if (stage->instances == 0 || !lp_is_unfused(stage))
        return false;
    lp_evidence_add_word(out, "kernel", stage->softmax);
    lp_evidence_add(out, "softmax_per_instance", each);
    lp_evidence_add(out, "softmax_share", stage->softmax_ms / stage->device_ms);
    lp_text_printf(
        text,
        "Attention of %s runs in separate kernels: %s %s times a call takes %s %% of its "
        "device time%s, between matrix products that write and read its scores. Use a "
        "fused kernel (FlashAttention, scaled_dot_product_attention); the saving is that "
        "of the softmax alone, the traffic of the scores comes on top.",
        stage->label, stage->softmax, COUNT(each), PERCENT(stage->softmax_ms / stage->device_ms),
        without_nested(stage));
    return true;
}

static bool compute_bound(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                          struct lp_text *text)
{
    if (stage->bound != LLMPERF_BOUND_COMPUTE || !(stage->floor_ratio <= 1.5))
        return false;
    lp_evidence_add(out, "floor_ratio", stage->floor_ratio);
    lp_text_printf(text,
                   "%s is compute bound: its kernels take %sx the compute bound (GPU busy time / "
                   "bound). Only fewer FLOPs or a dtype with a higher peak (FP8) make it faster.",
                   stage->label, N(stage->floor_ratio));
    return true;
}

static bool memory_bound(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    if (stage->bound != LLMPERF_BOUND_MEMORY || !(stage->floor_ratio <= 1.5))
        return false;
    lp_evidence_add(out, "floor_ratio", stage->floor_ratio);
    lp_evidence_add(out, "mbu", stage->mbu);
    lp_text_printf(text,
                   "%s is memory bound: its kernels take %sx the memory-bandwidth bound (GPU "
                   "busy time / bound",
                   stage->label, N(stage->floor_ratio));
    if (!isnan(stage->mbu))
        lp_text_printf(text, "; MBU while busy %s %%", PERCENT(stage->mbu));
    lp_text_puts(text,
                 "). Only fewer bytes make it faster (quantised weights or KV cache); a larger "
                 "batch gives more tokens for the same bytes.");
    return true;
}

static void say_batch_of_model(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                               struct lp_text *text)
{
    lp_evidence_add(out, "batch", stage->model_batch);
    lp_evidence_add(out, "cheap_batch", stage->cheap_batch);
    lp_evidence_add(out, "context", stage->model_context);
    lp_text_printf(
        text,
        "%s runs at batch size %s. By the model, the lower bound of a step grows to %sx at "
        "batch size %s (%s tokens of context each): %sx the tokens. Use a larger batch, as "
        "far as memory and latency allow.",
        stage->label, COUNT(stage->model_batch), N(LP_BATCH_GROWTH), N(stage->cheap_batch),
        COUNT(stage->model_context), N(stage->cheap_batch / stage->model_batch));
}

static bool small_batch(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                        struct lp_text *text)
{
    if (!stage->decode || !(stage->memory_floor_ms > stage->compute_floor_ms))
        return false;
    if (!isnan(stage->cheap_batch)) {
        if (!(stage->cheap_batch >= 2 * stage->model_batch))
            return false;
        say_batch_of_model(stage, out, text);
        return true;
    }
    if (!(stage->batch < stage->critical_batch / 2))
        return false;
    lp_evidence_add(out, "batch", stage->batch);
    lp_evidence_add(out, "critical_batch", stage->critical_batch);
    lp_text_printf(
        text,
        "%s runs at batch size %s. If the model is dense and contexts are short, reading "
        "the weights (%s) dominates up to a batch size of about %s, and until then a "
        "larger batch adds little time to a step; with experts or long contexts it adds "
        "more. Give a model to work it out.",
        stage->label, COUNT(stage->batch), stage->dtype, N(stage->critical_batch));
    return true;
}

static bool is_tiny(const struct lp_stage_facts *stage)
{
    return stage->instances > 0 && stage->kernel_ms / stage->kernel_count < 0.005 &&
           stage->kernel_count / (double)stage->instances >= 100;
}

static bool tiny_kernels(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text)
{
    double mean_ms = stage->kernel_ms / stage->kernel_count;
    double each = stage->kernel_count / (double)stage->instances;

    if (!is_tiny(stage))
        return false;
    lp_evidence_add(out, "kernels_per_instance", each);
    lp_evidence_add(out, "kernel_mean_us", mean_ms * 1e3);
    lp_evidence_add(out, "small_share", stage->small_ms / stage->device_ms);
    lp_text_printf(text, "%s runs %s kernels a call, %s us each on average", stage->label,
                   COUNT(each), N(mean_ms * 1e3));
    if (stage->small_ms > 0)
        lp_text_printf(text,
                       "; norms, element-wise work, copies and reductions are %s %% of its device "
                       "time%s",
                       PERCENT(stage->small_ms / stage->device_ms), without_nested(stage));
    lp_text_puts(text, ". Fuse them.");
    return true;
}

#define COPY_CAST_SHARE 0.1

static double copy_cast_share(const struct lp_stage_facts *stage)
{
    return stage->copy_cast_ms / stage->device_ms;
}

static bool copy_cast(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                      struct lp_text *text)
{
    double share = copy_cast_share(stage);

    if (!(share >= COPY_CAST_SHARE))
        return false;
    lp_evidence_add(out, "copy_cast_share", share);
    lp_text_printf(text,
                   "Kernels that copy, convert or move data take %s %% of the device time of %s%s: "
                   "keep one layout and one dtype between operators, and write results where they "
                   "are read.",
                   PERCENT(share), stage->label, without_nested(stage));
    return true;
}

const struct lp_copies *lp_top_copies(const struct lp_stage_facts *stage)
{
    const struct lp_copies *top = NULL;

    for (size_t i = 0; i < LP_COPY_NAMES; i++)
        if (stage->copies[i].name && (!top || stage->copies[i].ms > top->ms))
            top = &stage->copies[i];
    return top;
}

/* " of 25.0 MB, 1.00 ms a copy", or where sizes differ ", 65 copies of 4.10 KB to 33.6 MB; 96.3 %
 * of their time is in 1 x 2.60 ms of 33.6 MB" */
static void say_sizes(const struct lp_stage_facts *stage, const struct lp_copies *copies,
                      struct lp_text *text)
{
    const struct lp_copy_size *size = &stage->copy_size;
    double calls = copies->calls / (double)stage->instances;

    if (!(size->most_bytes > 1.5 * size->least_bytes)) {
        lp_text_puts(text, " of ");
        lp_text_size(text, copies->bytes / copies->calls);
        lp_text_printf(text, "%s, %s ms a copy", size->share > 0 ? "" : " on average",
                       N(copies->ms / copies->calls));
        return;
    }
    lp_text_printf(text, ", %s %s of ", COUNT(calls), calls > 1 ? "copies" : "copy");
    lp_text_size(text, size->least_bytes);
    lp_text_puts(text, " to ");
    lp_text_size(text, size->most_bytes);
    lp_text_printf(text, "; %s %% of their time is in %s x %s ms of ", PERCENT(size->share),
                   COUNT(calls * size->calls_share), N(size->each_ms));
    lp_text_size(text, size->each_bytes);
}

/* "; most of it is [memcpy DtoH] of 25.0 MB, 1.00 ms a copy (25.0 MB, 1.00 ms a step), synchronous,
 * from device to pageable memory" */
static void say_copies(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                       struct lp_text *text)
{
    const struct lp_copies *copies = lp_top_copies(stage);
    double steps = (double)stage->instances;

    lp_evidence_add_word(out, "copy", copies->name);
    lp_evidence_add(
        out, "copy_kb",
        (stage->copy_size.share > 0 ? stage->copy_size.each_bytes : copies->bytes / copies->calls) /
            1e3);
    lp_text_printf(text, "; %s is %s",
                   copies->ms > 0.5 * stage->memcpy_ms ? "most of it" : "the largest part",
                   copies->name);
    say_sizes(stage, copies, text);
    lp_text_puts(text, " (");
    lp_text_size(text, copies->bytes / steps);
    lp_text_printf(text, ", %s ms a %s)", N(copies->ms / steps), stage->decode ? "step" : "call");
    if (stage->copy && stage->copy->call) {
        lp_evidence_add_word(out, "copy_call", stage->copy->call);
        lp_text_puts(text,
                     strcmp(stage->copy->call, "sync") == 0 ? ", synchronous" : ", asynchronous");
    }
    if (stage->copy && stage->copy->source && stage->copy->destination) {
        lp_evidence_add_word(out, "copy_from", stage->copy->source);
        lp_evidence_add_word(out, "copy_to", stage->copy->destination);
        lp_text_printf(text, ", from %s to %s memory", stage->copy->source,
                       stage->copy->destination);
    }
}

/* @param remedy  For copies from and to the host. */
static void say_memcpys(const struct lp_stage_facts *stage, const char *remedy,
                        struct lp_recommendation *out, struct lp_text *text)
{
    double each = stage->memcpy_count / (double)stage->instances;
    double share = stage->memcpy_ms / stage->busy_ms;
    const struct lp_copies *top = lp_top_copies(stage);

    lp_evidence_add(out, "copies_per_instance", each);
    lp_evidence_add(out, "copy_share", share);
    lp_text_printf(text, "%s makes %s memory %s a %s, %s %% of its busy time", stage->label,
                   COUNT(each), each > 1 ? "copies" : "copy", stage->decode ? "step" : "call",
                   PERCENT(share));
    if (top)
        say_copies(stage, out, text);
    lp_text_printf(text, ": %s.",
                   top && strstr(top->name, "DtoD") ? "let kernels write where the data is read"
                                                    : remedy);
}

static bool memcpy_in_decode(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                             struct lp_text *text)
{
    double each = stage->memcpy_count / (double)stage->instances;

    if (!stage->decode || stage->instances == 0 ||
        !(each >= 1 && (stage->memcpy_ms >= 0.02 * stage->busy_ms || each >= 8)))
        return false;
    say_memcpys(stage,
                "keep tokens, positions and tables on the GPU, and use pinned memory and "
                "asynchronous copies for the rest",
                out, text);
    return true;
}

/* Copies of other stages, such as of weights or of a KV cache that is kept on the host. */
#define MEMCPY_SHARE 0.1

static bool memcpys(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                    struct lp_text *text)
{
    if (stage->decode || stage->instances == 0 ||
        !(stage->memcpy_ms >= MEMCPY_SHARE * stage->busy_ms))
        return false;
    say_memcpys(stage,
                "keep on the GPU what is used again, copy the rest from pinned memory on a stream "
                "of its own, and start early enough that kernels hide it",
                out, text);
    return true;
}

/* In most decode steps, or 1 % of their time. Its gaps are those of launch_bound and host_gap. */
static bool allocation_in_decode(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                                 struct lp_text *text)
{
    double each = stage->memory_calls / (double)stage->instances;

    if (!stage->decode || stage->instances == 0 || !stage->memory_call ||
        !(each >= 0.5 || stage->memory_call_ms >= 0.01 * stage->step_ms))
        return false;
    lp_evidence_add(out, "memory_calls_per_instance", each);
    lp_evidence_add(out, "memory_call_ms", stage->memory_call_ms);
    lp_evidence_add_word(out, "memory_call", stage->memory_call);
    lp_text_printf(text,
                   "%s allocates, maps or frees memory %s times a step, %s ms of host time in all, "
                   "most of it in %s: " ALLOCATE_BEFORE ", such as the caching allocator of the "
                   "framework or cudaMallocAsync(), or capture the step in a CUDA graph.",
                   stage->label, N(each), N(stage->memory_call_ms), stage->memory_call);
    return true;
}

/* The kernel with most time of a stage */

static bool is_explained(const struct lp_stage_facts *stage)
{
    return stage->top_stall && stage->top_stall->share >= STALL_SHARE;
}

static bool is_small_class(const char *kernel_class)
{
    return strcmp(kernel_class, "norm") == 0 || strcmp(kernel_class, "elementwise") == 0 ||
           strcmp(kernel_class, "reduction") == 0;
}

/* Is there more specific advice about this kernel? */
static bool is_named(const struct lp_stage_facts *stage, const char *kernel)
{
    return (names_operator(stage) && lp_text_same(stage->worst->kernel, kernel)) ||
           (lp_is_unfused(stage) && lp_text_same(stage->softmax, kernel));
}

static bool few_blocks_speaks(const struct lp_stage_facts *stage)
{
    return stage->narrow && stage->narrow_loss_ms >= IDLE_SHARE * stage->busy_ms &&
           !is_named(stage, stage->narrow_name) &&
           !(is_tiny(stage) && is_small_class(stage->narrow_class)) &&
           !((is_tiny(stage) || copy_cast_share(stage) >= COPY_CAST_SHARE) &&
             strcmp(stage->narrow_class, "copy/cast") == 0);
}

static bool few_blocks(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                       struct lp_text *text)
{
    if (!few_blocks_speaks(stage))
        return false;
    lp_evidence_add_word(out, "kernel", stage->narrow_name);
    lp_evidence_add(out, "kernel_share", stage->narrow_ms / stage->device_ms);
    lp_text_printf(text, "%s takes %s %% of the device time of %s%s (%s x %s us a call), and ",
                   stage->narrow_name, PERCENT(stage->narrow_ms / stage->device_ms), stage->label,
                   without_nested(stage), COUNT(stage->narrow_calls / (double)stage->instances),
                   N(1e3 * stage->narrow_ms / stage->narrow_calls));
    say_narrow(stage->narrow, stage->narrow_class, out, text);
    return true;
}

static bool dominant_kernel(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                            struct lp_text *text)
{
    double share = stage->top_kernel_ms / stage->device_ms;

    if (!dominates(stage) || is_explained(stage) || slow_ratio(stage) > 0 ||
        is_named(stage, stage->top_kernel) ||
        (few_blocks_speaks(stage) && strcmp(stage->narrow_name, stage->top_kernel) == 0) ||
        stage->floor_ratio <= 1.5) /* near its bound */
        return false;
    lp_evidence_add_word(out, "kernel", stage->top_kernel);
    lp_evidence_add(out, "kernel_share", share);
    lp_text_printf(
        text, "One kernel, %s, takes %s %% of the device time of %s%s: study it first, with ncu.",
        stage->top_kernel, PERCENT(share), stage->label, without_nested(stage));
    return true;
}

static bool stalled_kernel(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                           struct lp_text *text)
{
    const struct lp_stall *stall = stage->top_stall;
    const struct lp_hot_instruction *hot = stage->top_instruction;
    const struct lp_stall_reason *reason;

    if (!is_explained(stage))
        return false;
    reason = lp_stall_reason_find(stall->reason);
    lp_evidence_add_word(out, "kernel", stage->top_kernel);
    lp_evidence_add(out, "kernel_share", stage->top_kernel_ms / stage->device_ms);
    lp_evidence_add_word(out, "stall_reason", stall->reason);
    lp_evidence_add(out, "stall_share", stall->share);
    lp_text_printf(text,
                   "%s takes %s %% of the device time of %s, and in %s %% of its samples a warp "
                   "waits for %s (%s)",
                   stage->top_kernel, PERCENT(stage->top_kernel_ms / stage->device_ms),
                   stage->label, PERCENT(stall->share), reason->words, stall->reason);
    if (hot && hot->source)
        lp_text_printf(text, ", most often at %s", hot->source);
    else if (hot)
        lp_text_printf(text, ", most often at offset 0x%" PRIx64, hot->offset);
    lp_text_printf(text, ": %s.", reason->remedy);
    return true;
}

static double above_floor(const struct lp_stage_facts *stage)
{
    return stage->busy_ms - stage->floor_ms / LP_ACHIEVABLE; /* what good kernels reach */
}

/* What slow_operator() says of kernels of this class. */
static double loss_of_class(const struct lp_stage_facts *stage, const char *kernel_class)
{
    return names_operator(stage) && is_of_class(stage->worst, kernel_class) ? operator_loss(stage)
                                                                            : 0;
}

static double softmax(const struct lp_stage_facts *stage)
{
    return stage->softmax_ms;
}

static double empty_sms(const struct lp_stage_facts *stage)
{
    return stage->narrow_loss_ms;
}

static double copies_and_casts(const struct lp_stage_facts *stage)
{
    return stage->copy_cast_ms - loss_of_class(stage, "copy/cast");
}

static double small_kernels(const struct lp_stage_facts *stage)
{
    double copies_ms = copy_cast_share(stage) >= COPY_CAST_SHARE
                           ? stage->copy_cast_ms
                           : loss_of_class(stage, "copy/cast");

    return stage->small_ms - copies_ms - loss_of_class(stage, "norm") -
           loss_of_class(stage, "elementwise") - loss_of_class(stage, "reduction") -
           (lp_is_unfused(stage) ? stage->softmax_ms : 0);
}

const struct lp_stage_rule lp_kernel_rules[] = {
    { "slow_operator", LP_OF_KERNELS, slow_operator, operator_loss, false },
    { "unfused_attention", LP_OF_KERNELS, unfused_attention, softmax, false },
    { "memory_bound", LP_OF_DEVICE, memory_bound, NULL, false },
    { "compute_bound", LP_OF_DEVICE, compute_bound, NULL, false },
    { "small_batch", LP_OF_DEVICE, small_batch, NULL, false },
    { "tiny_kernels", LP_OF_KERNELS, tiny_kernels, small_kernels, false },
    { "copy_cast", LP_OF_KERNELS, copy_cast, copies_and_casts, false },
    { "memcpy_in_decode", LP_OF_KERNELS, memcpy_in_decode, memory_copies, true },
    { "memcpys", LP_OF_KERNELS, memcpys, memory_copies, true },
    { "few_blocks", LP_OF_KERNELS, few_blocks, empty_sms, false },
    { "allocation_in_decode", LP_OF_DEVICE, allocation_in_decode, NULL, false },
    { "dominant_kernel", LP_OF_DEVICE, dominant_kernel, NULL, false },
    { "stalled_kernel", LP_OF_DEVICE, stalled_kernel, NULL, false },
    { "slow_kernels", LP_OF_REST, slow_kernels, above_floor, true },
    { NULL, 0, NULL, NULL, false },
};

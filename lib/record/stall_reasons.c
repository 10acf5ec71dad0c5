/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/record/stall_reasons.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const struct lp_stall_reason reasons[] = {
    { "barrier", "other warps of the block at a barrier", "give the warps of a block equal work before __syncthreads(), or use smaller blocks" },
    { "branch_resolving", "the target of a branch", "use fewer branches, and loops with more instructions" },
    { "dispatch_stall", "the dispatcher", "look for conflicts with the instructions around it" },
    { "drain", "stores at the end of the kernel", "write less at the end of the kernel, in coalesced accesses" },
    { "gmma", "a tensor core instruction", "issue more products before waiting for one; where the tensor cores are busy, this is the goal" },
    { "imc_miss", "a constant that is not in the cache", "read fewer constants, or the same ones in all threads of a warp" },
    { "lg_throttle", "the queue of global and local memory instructions", "make fewer, wider accesses (16 bytes a thread), and avoid register spills" },
    { "long_scoreboard", "data of global or local memory", "load earlier and keep more loads in flight (prefetch, asynchronous copies, more warps), and keep in shared memory or caches what is used again" },
    { "math_pipe_throttle", "a busy arithmetic pipe", "the kernel computes at the rate of this pipe: do less arithmetic, or use another pipe such as the tensor cores" },
    { "membar", "a memory barrier", "use fewer fences, or fences of a smaller scope" },
    { "mio_throttle", "the queue of shared memory and special function instructions", "use fewer and wider accesses to shared memory, and fewer special functions" },
    { "misc", "something else", "look at the instruction" },
    { "no_instruction", "an instruction that is not in the instruction cache", "make the code smaller (less unrolling), or start more warps" },
    { "not_selected", "its turn: other warps were ready too", NULL },
    { "selected", "nothing: it issues an instruction", NULL },
    { "short_scoreboard", "data of shared memory, or a special function", "avoid bank conflicts, access shared memory less often, and use fewer special functions (exp, sin, division)" },
    { "sleeping", "the end of a sleep", "sleep less" },
    { "tex_throttle", "the queue of texture instructions", "make fewer texture accesses" },
    { "wait", "the fixed latency of an instruction", "give it independent instructions to issue meanwhile (unroll, work on several elements)" },
    { "warpgroup_arrive", "other warps of the warpgroup before a tensor core instruction", "give the four warps of a warpgroup equal work" },
};
/* clang-format on */

/* CUPTI also says "no_instructions". */
const struct lp_stall_reason *lp_stall_reason_find(const char *name)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strncmp(reasons[i].name, name, strlen(reasons[i].name)) == 0)
            return &reasons[i];
    return NULL;
}

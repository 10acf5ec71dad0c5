/* SPDX-License-Identifier: Apache-2.0 */
/** Kernel classes by name, from the ordered table of patterns in conf/kernel_classes.yaml, which
 * explains its syntax. Results are cached. @threads one at a time per object */
#ifndef LP_FINDINGS_KERNEL_CLASS_H
#define LP_FINDINGS_KERNEL_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lp_kernel_classes;

/** Read the table.
 * @param path  NULL: kernel_classes.yaml of the configuration folder.
 * @return 0; LLMPERF_ENOENT; LLMPERF_EFORMAT (the error names the rule); LLMPERF_ENOMEM. */
int lp_kernel_classes_open(const char *path, struct lp_kernel_classes **classes_out);
void lp_kernel_classes_free(struct lp_kernel_classes *classes);

/** Class of a kernel. Texts live as long as `classes`.
 * @param name  C++ name.
 * @param kind  LLMPERF_ACTIVITY_…. */
const char *lp_kernel_class(struct lp_kernel_classes *classes, const char *name, uint32_t kind);

/** What the name of a collective says of it. */
enum lp_collective_trait {
    LP_TRAIT_KIND,      /* "all_reduce" */
    LP_TRAIT_ALGORITHM, /* "tree" */
    LP_TRAIT_PROTOCOL,  /* "LL" */
    LP_TRAIT_DTYPE,     /* "bf16" */
    LP_TRAITS
};

/** The trait of the collective kernel with this C++ name; NULL: the name does not say. */
const char *lp_collective_trait(const struct lp_kernel_classes *classes,
                                enum lp_collective_trait trait, const char *name);

/** Is it the softmax of attention that runs in separate kernels, if its class is "reduction"? */
bool lp_is_unfused_attention(const struct lp_kernel_classes *classes, const char *name);

/** Elements of a hidden state that a block of this kernel works on: LP_ELEMENTS_ALL: all of a
 * token, so that there are as many blocks as tokens; 0: no rule. */
#define LP_ELEMENTS_ALL UINT32_MAX
uint32_t lp_kernel_elements(const struct lp_kernel_classes *classes, const char *name);

/** Class by number: "memory op", "other", then those of the table in its order. There are at most
 * LLMPERF_ITERATION_CLASSES; further ones count as "other". NULL: no such class. */
const char *lp_kernel_class_name(const struct lp_kernel_classes *classes, size_t index);
uint8_t lp_kernel_class_index(struct lp_kernel_classes *classes, const char *name, uint32_t kind);

#endif

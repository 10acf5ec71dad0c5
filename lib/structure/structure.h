/* SPDX-License-Identifier: Apache-2.0 */
/** Structure of programs that mark no stage and no kernels: steps and layers, found in the order of
 * launches. It holds back the activities that are in no region, and passes them on as device work
 * of stages such as "found@decode". Once the program opens a stage, or launches a kernel in a
 * region of its own, it does nothing. Regions of loading or of inputs, with memcpys at most, change
 * nothing.
 * @threads one at a time per object, all functions */
#ifndef LP_STRUCTURE_STRUCTURE_H
#define LP_STRUCTURE_STRUCTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/attribution/attribution.h"
#include "lib/findings/kernels/kernel_class.h"
#include "lib/profile/profile.h"
#include "lib/record/names.h"

struct lp_structure;

/** NULL: out of memory.
 * @param next  Receives the results.
 * @param names  Of activities; must outlive it. */
struct lp_structure *lp_structure_create(const struct lp_attribution_sink *next,
                                         const struct lp_names *names);
void lp_structure_free(struct lp_structure *structure);

/** Set the classes of kernels, without which nothing is found; they must outlive it. */
void lp_structure_set_classes(struct lp_structure *structure, struct lp_kernel_classes *classes);

/** Set the size of the model's hidden state, from which tokens of steps follow; 0: not known. */
void lp_structure_set_hidden(struct lp_structure *structure, uint64_t hidden);

/** Hold activities back, which are passed on later. false: they are not for it, because the program
 * marks regions. */
bool lp_structure_take(void *structure, const struct lp_activity *activities, size_t count);

/** The program has opened a region. */
void lp_structure_mark(void *structure, uint32_t node);

enum lp_structure_need {
    LP_STRUCTURE_SOME, /* pass on the steps that are complete */
    LP_STRUCTURE_ALL,  /* and, if no steps are found, all activities */
    LP_STRUCTURE_END   /* all activities: no more will come */
};

/** Pass on what was held back.
 * @param attribution  Knows which launches were not collected: no step extends over them. */
void lp_structure_settle(struct lp_structure *structure, enum lp_structure_need need,
                         const struct lp_attribution *attribution);

/** Fact of a run: what was found, a JSON object. Not set if the program marks regions. */
#define LP_FOUND_FACT "found"

/** Set the facts. 0 or LLMPERF_ENOMEM. */
int lp_structure_fill(const struct lp_structure *structure, llmperf_profile *profile);

#endif

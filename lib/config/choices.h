/* SPDX-License-Identifier: Apache-2.0 */
/** Options chosen for groups: by overrides on the command line, by "override" in defaults lists, or
 * in the lists themselves. For lib/config only. */
#ifndef LP_CONFIG_CHOICES_H
#define LP_CONFIG_CHOICES_H

#include "lib/config/default_item.h"
#include "lib/config/override.h"
#include "lib/config/repository.h"

/* Replaces the option of a list, or removes a group. */
struct lp_choice {
    const char *key; /* "group" or "group@package" */
    const char *name;
    const struct lp_value *names;
    const char *text;              /* text of the override; NULL: from a list */
    const struct lp_value *origin; /* of that list */
    bool used;
};

struct lp_known_choice {
    const char *key, *group, *name;
};

struct lp_choices {
    struct lp_repository *repository;
    LP_VECTOR(struct lp_choice) chosen;
    LP_VECTOR(struct lp_choice) removed;
    LP_VECTOR(struct lp_default) appended;
    LP_VECTOR(struct lp_known_choice) known;
};

void lp_choices_init(struct lp_choices *choices, struct lp_repository *repository);
void lp_choices_clear(struct lp_choices *choices);

/** Add an override of the command line. 0; LLMPERF_EINVAL, LLMPERF_ENOMEM. */
int lp_choices_add(struct lp_choices *choices, const struct lp_override *override);

/** Add "override group: option" of a list; earlier choices have precedence. 0 or LLMPERF_ENOMEM. */
int lp_choices_override(struct lp_choices *choices, const struct lp_default *item);

/** Set the chosen option of an element. 0 or LLMPERF_ENOMEM. */
int lp_choices_apply(struct lp_choices *choices, struct lp_default *item);

/** Mark an element that was removed. 0 or LLMPERF_ENOMEM. */
int lp_choices_remove(struct lp_choices *choices, struct lp_default *item);

/** Record the option of an element; two for one group are an error. 0; LLMPERF_EFORMAT,
 * LLMPERF_ENOMEM. */
int lp_choices_learn(struct lp_choices *choices, const struct lp_default *item);

/** Known options by key, for interpolation. 0 or LLMPERF_ENOMEM. */
int lp_choices_map(const struct lp_choices *choices, struct lp_value **map_out);

/** Check that each override matched a group. 0; LLMPERF_EINVAL (with the nearest group). */
int lp_choices_check(const struct lp_choices *choices);

#endif

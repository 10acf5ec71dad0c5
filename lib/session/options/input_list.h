/* SPDX-License-Identifier: Apache-2.0 */
/** Inputs that the program reported. For lib/session only.
 * @threads any thread; `lock` guards the rest */
#ifndef LP_SESSION_OPTIONS_INPUT_LIST_H
#define LP_SESSION_OPTIONS_INPUT_LIST_H

#include <pthread.h>

#include "lib/base/vector.h"
#include "llmperf/session.h"

/** Inputs listed by name; further ones are counted, as a server may run for days. */
#define LP_INPUTS_KEPT 1000

struct lp_input_list {
    pthread_mutex_t lock;
    LP_VECTOR(llmperf_input) rows; /* texts are copies */
    uint64_t more;
};

void lp_input_list_init(struct lp_input_list *list);
void lp_input_list_clear(struct lp_input_list *list);

/** 0, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
int lp_input_list_add(struct lp_input_list *list, const llmperf_input *input);

/** {"inputs": [...], "not_listed": N} as text, or NULL if there are none. *json_out: free().
 * 0 or LLMPERF_ENOMEM. */
int lp_input_list_json(struct lp_input_list *list, char **json_out);

#endif

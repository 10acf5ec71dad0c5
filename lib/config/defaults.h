/* SPDX-License-Identifier: Apache-2.0 */
/** Expands a first file, its defaults lists and overrides of groups into the list of files to
 * merge. For lib/config only. */
#ifndef LP_CONFIG_DEFAULTS_H
#define LP_CONFIG_DEFAULTS_H

#include <time.h>

#include "lib/config/override.h"
#include "lib/config/repository.h"

/* A file and the dotted key for its values. */
struct lp_part {
    const struct lp_source *source;
    const char *package;
};

struct lp_parts {
    LP_VECTOR(struct lp_part) list;
};

/** Does an override choose an option of a group? If not, it changes a value. */
bool lp_override_is_group(const struct lp_repository *repository,
                          const struct lp_override *override);

/** List the files in the order of merging. Overrides of values are skipped.
 *
 * @param parts_out  Zero-initialised; lp_vector_clear(&parts_out->list).
 * @return 0; LLMPERF_ENOENT (a file or an option), LLMPERF_EINVAL (an override), LLMPERF_EFORMAT,
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_defaults_expand(struct lp_repository *repository, const char *name,
                       const struct lp_override *overrides, size_t override_count, time_t now,
                       struct lp_parts *parts_out);

#endif

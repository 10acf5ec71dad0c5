/* SPDX-License-Identifier: Apache-2.0 */
/** env.json: the machine that a run was made on.
 * @threads any thread */
#ifndef LP_MACHINE_ENVIRONMENT_H
#define LP_MACHINE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/output/format/json_writer.h"

/** Describe this machine and process: GPUs, driver, CUPTI, host, and variables of an allow-list;
 * nothing that could hold a secret; versions of Python and its packages.
 *
 * @param with_driver    Start the driver and query its GPUs. False: they are left out, with that
 * reason.
 * @param gpu            Name of the only GPU, instead of the driver's; NULL: not given.
 * @param cupti_version  cuptiGetVersion(); 0: not loaded.
 * @param cupti_path     Borrowed; NULL: not loaded.
 * @param text_out       free().
 * @return 0 or LLMPERF_ENOMEM. */
int lp_environment_json(bool with_driver, const char *gpu, uint32_t cupti_version,
                        const char *cupti_path, char **text_out);

/** Variables that change what a profile shows, as one object with key "variables". Values that
 * could hold a secret are "(set)". */
void lp_environment_variables(struct lp_json *json);

/** "docker", "podman", "kubernetes", …; NULL: not known to be a container. */
const char *lp_environment_container(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Which value counts where several are given: options and KEY=VALUE of the command line, then the
 * environment, then the configuration, then the default. docs/reference/configuration.md has the
 * rule. */
#ifndef LLMPERF_TOOL_PRECEDENCE_H
#define LLMPERF_TOOL_PRECEDENCE_H

#include "llmperf/sys/config.h"

/** Unset the variables of the environment that KEY=VALUE or GROUP=OPTION of the command line
 * replaces: then neither this process nor the program that it starts reads them.
 *
 * @param config  Composed with these overrides. */
void precedence_apply(const llmperf_config *config, const char *const *overrides, size_t count);

/** The first that is given and not empty.
 * @param configured, usual  NULL: none */
const char *precedence_choose(const char *option, const char *variable, const char *configured,
                              const char *usual);

#endif

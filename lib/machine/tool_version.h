/* SPDX-License-Identifier: Apache-2.0 */
/** Versions of programs on PATH.
 * @threads any thread */
#ifndef LP_MACHINE_TOOL_VERSION_H
#define LP_MACHINE_TOOL_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/** Find a program on PATH. False: not found. */
bool lp_tool_find(const char *name, char *path, size_t size);

/** Run `path --version` without a shell, for at most five seconds, and take the version out of what
 * it prints. False: it did not run, took too long or printed none. */
bool lp_tool_version(const char *path, char *version, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** What a process runs, from its command line.
 * @threads any thread */
#ifndef LP_MACHINE_PROGRAM_H
#define LP_MACHINE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/** Program of a command line: argv[0]; where that is Python, the script or the module after -m.
 * Other arguments may hold prompts, paths and keys.
 * @param line  Arguments, each ended by a NUL, as in /proc/PID/cmdline. Borrowed.
 * @return One of the arguments; NULL: there is none. */
const char *lp_program_of(const char *line, size_t size);

/** When this process began, in clock ticks since boot; 0: not known. Boot, this and the process id
 * identify it. */
uint64_t lp_process_started(void);

#endif

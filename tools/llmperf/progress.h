/* SPDX-License-Identifier: Apache-2.0 */
/** A line on standard error while a call of the library takes longer than two seconds, if that is a
 * terminal: what it does, how far it is, and how long it may still take. */
#ifndef LLMPERF_TOOL_PROGRESS_H
#define LLMPERF_TOOL_PROGRESS_H

/** Begin a long call; other output must wait for progress_end(). */
void progress_begin(void);

/** Remove the line. Without progress_begin() nothing happens. */
void progress_end(void);

#endif

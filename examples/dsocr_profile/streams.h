/* SPDX-License-Identifier: Apache-2.0 */
/** Independent requests at once: an engine, a stream and a host thread for each, one set of weights
 * for all. */
#ifndef DSOCR_PROFILE_STREAMS_H
#define DSOCR_PROFILE_STREAMS_H

#include "run.h"

/** Open the engines; the first is on `ops`, which is taken. @return 0 or an exit code. */
int streams_open(struct run *run, struct ops *ops);

/** Capture the decode step of each engine as a graph of its own, if graphs are requested. @return 0
 * or an exit code. */
int streams_capture(struct run *run);

/** All pages once: stream s takes those of place s, s + streams, … @param times_out  Of each page.
 * @return 0 or an exit code. */
int streams_run(struct run *run, size_t tokens, struct times *times_out);
void streams_close(struct run *run);

#endif

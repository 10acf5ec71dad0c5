/* SPDX-License-Identifier: Apache-2.0 */
/** A run of several processes, one a GPU. */
#ifndef DSOCR_PROFILE_RANKS_H
#define DSOCR_PROFILE_RANKS_H

#include "run.h"

/** Start this program once for each of `options->ranks`, wait, and put their runs together. The
 * arguments are this process's own. Nothing here touches CUDA. @return an exit code. */
int ranks_launch(const struct options *options, int count, char **arguments);

/** In a rank: meet the others, and share layers with them if that was asked for and works here.
 * @return 0 or an exit code. */
int ranks_join(struct run *run, struct ops *ops);

/** All ranks are here: what comes now starts at the same time. */
void ranks_meet(const struct run *run);

/** Leave the run directory to the process that started this rank. */
void ranks_report(const struct run *run, const char *folder);
void ranks_leave(struct run *run);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Ranks of one machine that work on one model: processes, or threads. They meet in shared memory.
 */
#ifndef MINI_ENGINE_GROUP_H
#define MINI_ENGINE_GROUP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GROUP_RANKS_MAX  8
#define GROUP_NOTE_BYTES 4096
#define GROUP_SLOT_BYTES (1u << 20)

struct group;

/** Memory for `world` ranks. @return a file descriptor that programs started from here inherit, or
 * -1 with errno. */
int group_create(size_t world);

/** This rank's view. One thread. @return NULL with errno; EINVAL: the descriptor is no group, or
 * has no such rank. */
struct group *group_join(int descriptor, size_t rank);
/** NULL is fine. */
void group_leave(struct group *group);

size_t group_rank(const struct group *group);
size_t group_world(const struct group *group);

/** A barrier of all ranks, without a timeout: if a rank fails, the launcher ends the others. */
void group_meet(struct group *group);

/** What rank `rank` shows to the others: GROUP_NOTE_BYTES, at first zero. Write one's own, meet,
 * read, meet. */
char *group_note(struct group *group, size_t rank);
/** The same for numbers: GROUP_SLOT_BYTES. */
void *group_slot(struct group *group, size_t rank);

#ifdef __cplusplus
}
#endif
#endif

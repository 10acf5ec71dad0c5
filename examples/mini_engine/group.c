/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Zeroed memory is a group that was not initialised. */
struct shared {
    size_t world;
    pthread_barrier_t barrier;
    char notes[GROUP_RANKS_MAX][GROUP_NOTE_BYTES];
    unsigned char slots[GROUP_RANKS_MAX][GROUP_SLOT_BYTES];
};

struct group {
    struct shared *shared;
    size_t rank;
};

static struct shared *map(int descriptor)
{
    struct stat info;
    void *at;

    if (fstat(descriptor, &info) < 0)
        return NULL;
    if (info.st_size != (off_t)sizeof(struct shared)) {
        errno = EINVAL;
        return NULL;
    }
    at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int make_barrier(struct shared *shared, size_t world)
{
    pthread_barrierattr_t attributes;

    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    errno = pthread_barrier_init(&shared->barrier, &attributes, (unsigned)world);
    pthread_barrierattr_destroy(&attributes);
    return errno == 0 ? 0 : -1;
}

int group_create(size_t world)
{
    int descriptor = memfd_create("mini_engine_group", 0);
    struct shared *shared = NULL;

    if (descriptor >= 0 && ftruncate(descriptor, sizeof(struct shared)) == 0)
        shared = map(descriptor);
    if (shared && make_barrier(shared, world) == 0) {
        shared->world = world;
        munmap(shared, sizeof(*shared));
        return descriptor;
    }
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

struct group *group_join(int descriptor, size_t rank)
{
    struct group *group = calloc(1, sizeof(*group));

    if (!group)
        return NULL;
    group->rank = rank;
    group->shared = map(descriptor);
    if (group->shared && rank < group->shared->world)
        return group;
    if (group->shared)
        errno = EINVAL;
    group_leave(group);
    return NULL;
}

void group_leave(struct group *group)
{
    if (group && group->shared)
        munmap(group->shared, sizeof(*group->shared));
    free(group);
}

size_t group_rank(const struct group *group)
{
    return group->rank;
}

size_t group_world(const struct group *group)
{
    return group->shared->world;
}

void group_meet(struct group *group)
{
    pthread_barrier_wait(&group->shared->barrier);
}

char *group_note(struct group *group, size_t rank)
{
    return group->shared->notes[rank];
}

void *group_slot(struct group *group, size_t rank)
{
    return group->shared->slots[rank];
}

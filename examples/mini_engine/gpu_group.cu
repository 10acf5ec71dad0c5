/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives between GPUs by NCCL, which is opened when a group is joined. Of its interface eight
 * functions are used; they are declared here as NCCL 2 has them. */
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu.cuh"
#include "group.h"

#define LIBRARY "libnccl.so.2"

namespace
{

enum { SUM = 0, FLOAT32 = 7, BFLOAT16 = 9 };

struct unique_id {
    char bytes[128];
};

struct nccl {
    int (*get_unique_id)(struct unique_id *id);
    int (*init_rank)(void **communicator, int world, struct unique_id id, int rank);
    int (*destroy)(void *communicator);
    const char *(*error_string)(int status);
    int (*all_reduce)(const void *from, void *to, size_t count, int type, int operation,
                      void *communicator, cudaStream_t stream);
    int (*all_gather)(const void *from, void *to, size_t count, int type, void *communicator,
                      cudaStream_t stream);
    int (*group_start)(void);
    int (*group_end)(void);
};

} // namespace

struct collectives {
    struct nccl nccl;
    void *communicator;
};

namespace
{

template <typename F> bool find(void *library, F *function, const char *name)
{
    *function = (F)dlsym(library, name);
    return *function != NULL;
}

bool find_all(void *library, struct nccl *nccl)
{
    return find(library, &nccl->get_unique_id, "ncclGetUniqueId") &&
           find(library, &nccl->init_rank, "ncclCommInitRank") &&
           find(library, &nccl->destroy, "ncclCommDestroy") &&
           find(library, &nccl->error_string, "ncclGetErrorString") &&
           find(library, &nccl->all_reduce, "ncclAllReduce") &&
           find(library, &nccl->all_gather, "ncclAllGather") &&
           find(library, &nccl->group_start, "ncclGroupStart") &&
           find(library, &nccl->group_end, "ncclGroupEnd");
}

bool good(struct ops *ops, int status, const char *what)
{
    const struct collectives *collectives = gpu_of(ops)->collectives;

    if (status != 0 && !ops->error[0])
        snprintf(ops->error, sizeof(ops->error), "%s: %s", what,
                 collectives->nccl.error_string(status));
    return status == 0;
}

/* Multicast through NVLink needs rights that few containers have; a group that fails for it is no
 * use. */
void *open_library()
{
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/* NULL, or why this rank cannot take part. */
const char *unready(struct gpu *gpu, size_t world, char *text, size_t size)
{
    void *library;
    int count = 0;

    cudaGetDeviceCount(&count);
    if ((size_t)count < world) {
        snprintf(text, size, "%zu ranks need as many GPUs; found: %d", world, count);
        return text;
    }
    library = open_library();
    gpu->collectives = (struct collectives *)calloc(1, sizeof(struct collectives));
    if (library && gpu->collectives && find_all(library, &gpu->collectives->nccl))
        return NULL;
    snprintf(text, size,
             LIBRARY " is not found; add its folder to LD_LIBRARY_PATH (the package "
                     "nvidia-nccl-cu13 has it in nvidia/nccl/lib)");
    return text;
}

/* All ranks hear the same: NULL, or in `text` the reason of one that cannot. */
const char *ask_all(struct group *group, const char *mine, char *text, size_t size)
{
    const char *reason = NULL;

    snprintf(group_note(group, group_rank(group)), GROUP_NOTE_BYTES, "%s", mine ? mine : "");
    group_meet(group);
    for (size_t r = 0; r < group_world(group) && !reason; r++)
        if (*group_note(group, r)) {
            snprintf(text, size, "%s", group_note(group, r));
            reason = text;
        }
    group_meet(group);
    return reason;
}

bool make_communicator(struct ops *ops, struct group *group)
{
    struct collectives *collectives = gpu_of(ops)->collectives;
    struct unique_id *shown = (struct unique_id *)group_note(group, 0), id;
    bool fine = true;

    if (group_rank(group) == 0)
        fine = good(ops, collectives->nccl.get_unique_id(shown), "ncclGetUniqueId");
    group_meet(group);
    id = *shown;
    group_meet(group);
    return fine &&
           good(ops,
                collectives->nccl.init_rank(&collectives->communicator, (int)group_world(group), id,
                                            (int)group_rank(group)),
                "ncclCommInitRank");
}

int join(struct ops *ops, struct group *group)
{
    char text[sizeof(ops->error)];
    const char *mine = unready(gpu_of(ops), group_world(group), text, sizeof(text));
    const char *reason = ask_all(group, mine, text, sizeof(text));

    if (!reason && make_communicator(ops, group)) {
        ops->group = group;
        return 0;
    }
    if (reason)
        memcpy(ops->error, text, sizeof(text));
    return -1;
}

void all_reduce(struct ops *ops, bf16 *x, size_t count)
{
    struct collectives *collectives = gpu_of(ops)->collectives;

    if (good(ops,
             collectives->nccl.all_reduce(x, x, count, BFLOAT16, SUM, collectives->communicator,
                                          gpu_of(ops)->stream),
             "ncclAllReduce"))
        ops->launches++;
}

void all_gather(struct ops *ops, float *to, const float *from, size_t rows, size_t count)
{
    struct collectives *collectives = gpu_of(ops)->collectives;
    const struct nccl *nccl = &collectives->nccl;
    size_t world = group_world(ops->group);

    good(ops, nccl->group_start(), "ncclGroupStart");
    for (size_t row = 0; row < rows; row++)
        good(ops,
             nccl->all_gather(from + row * count, to + row * world * count, count, FLOAT32,
                              collectives->communicator, gpu_of(ops)->stream),
             "ncclAllGather");
    if (good(ops, nccl->group_end(), "ncclGroupEnd"))
        ops->launches++;
}

} // namespace

void collectives_free(struct collectives *collectives)
{
    if (collectives && collectives->communicator)
        collectives->nccl.destroy(collectives->communicator);
    free(collectives);
}

void gpu_add_group(struct ops *ops)
{
    ops->join = join;
    ops->all_reduce = all_reduce;
    ops->all_gather = all_gather;
}

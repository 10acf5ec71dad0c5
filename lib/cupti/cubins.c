/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/cupti/cubins.h"

#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/vector.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static LP_VECTOR(struct lp_cubin *) cubins;
static uint64_t kept_bytes;
static bool watched;

void lp_cubins_watch(const struct lp_cupti *cupti, lp_cupti_subscriber subscriber)
{
    pthread_mutex_lock(&lock);
    watched = true;
    pthread_mutex_unlock(&lock);
    cupti->EnableCallback(1, subscriber, LP_CUPTI_DOMAIN_RESOURCE, LP_CUPTI_RESOURCE_MODULE_LOADED);
}

/* Is there a section of lines? Libraries are rarely built with one. */
static bool has_lines(const char *bytes, size_t size)
{
    Elf64_Ehdr head;
    Elf64_Shdr names;

    if (size < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shoff > size ||
        (size - head.e_shoff) / sizeof(names) <= head.e_shstrndx)
        return false;
    memcpy(&names, bytes + head.e_shoff + head.e_shstrndx * sizeof(names), sizeof(names));
    return names.sh_offset <= size && names.sh_size <= size - names.sh_offset &&
           memmem(bytes + names.sh_offset, names.sh_size, ".debug_line", 11) != NULL;
}

static struct lp_cubin *copy(const char *bytes, size_t size)
{
    struct lp_cubin *cubin = malloc(sizeof(*cubin) + size);

    if (!cubin)
        return NULL;
    *cubin = (struct lp_cubin){ (char *)(cubin + 1), size, 0 };
    memcpy(cubin->bytes, bytes, size);
    return cubin;
}

void lp_cubins_loaded(const struct lp_cupti_resource_data *data)
{
    const struct lp_cupti_module_data *module = data->descriptor;
    struct lp_cubin *cubin;

    if (!module || !module->cubin || !has_lines(module->cubin, module->size))
        return;
    pthread_mutex_lock(&lock);
    if (watched && module->size <= LP_CUBINS_BYTES - kept_bytes &&
        (cubin = copy(module->cubin, module->size))) {
        kept_bytes += module->size;
        if (lp_vector_push(&cubins, cubin) < 0)
            free(cubin);
    }
    pthread_mutex_unlock(&lock);
}

struct lp_cubin *lp_cubins_at(size_t index)
{
    struct lp_cubin *cubin;

    pthread_mutex_lock(&lock);
    cubin = index < cubins.count ? cubins.items[index] : NULL;
    pthread_mutex_unlock(&lock);
    return cubin;
}

void lp_cubins_forget(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < cubins.count; i++)
        free(cubins.items[i]);
    lp_vector_clear(&cubins);
    kept_bytes = 0;
    watched = false;
    pthread_mutex_unlock(&lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/merge_gpus.h"

#include <stdbool.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"

#define DEVICES 4096 /* larger device numbers are invalid */

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool same_gpu(const json_t *a, const json_t *b)
{
    const char *uuid_a = text_of(a, "uuid"), *uuid_b = text_of(b, "uuid");

    return !uuid_a || !uuid_b || strcmp(uuid_a, uuid_b) == 0;
}

/* The number of a GPU in the merged run: that of the GPU with its UUID; else its own number, if
 * free or of the same GPU; else the first free number. */
static size_t number_of(const struct lp_merged_gpus *gpus, const json_t *gpu, size_t device)
{
    size_t number = 0;

    for (size_t i = 0; text_of(gpu, "uuid") && i < gpus->gpus.count; i++)
        if (text_of(gpus->gpus.items[i], "uuid") && same_gpu(gpus->gpus.items[i], gpu))
            return i;
    if (device >= gpus->gpus.count || !gpus->gpus.items[device] ||
        same_gpu(gpus->gpus.items[device], gpu))
        return device;
    while (number < gpus->gpus.count && gpus->gpus.items[number])
        number++;
    return number;
}

static int put_gpu(struct lp_merged_gpus *gpus, const json_t *gpu, size_t number)
{
    while (gpus->gpus.count <= number)
        if (lp_vector_push(&gpus->gpus, NULL) < 0)
            return LLMPERF_ENOMEM;
    if (gpus->gpus.items[number])
        return 0;
    if (!(gpus->gpus.items[number] = json_deep_copy(gpu)) ||
        json_object_set_new(gpus->gpus.items[number], "device", json_integer((json_int_t)number)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    return 0;
}

static int add_gpu(struct lp_merged_gpus *gpus, const json_t *gpu)
{
    json_int_t device = json_integer_value(json_object_get(gpu, "device"));
    size_t number;
    int32_t own;

    if (!json_is_integer(json_object_get(gpu, "device")) || device < 0 || device >= DEVICES)
        return 0;
    number = number_of(gpus, gpu, (size_t)device);
    for (own = (int32_t)gpus->part.count; own <= device; own++)
        if (lp_vector_push(&gpus->part, own) < 0)
            return LLMPERF_ENOMEM;
    gpus->part.items[device] = (int32_t)number;
    gpus->renumbered |= number != (size_t)device;
    return put_gpu(gpus, gpu, number);
}

static int add_host(struct lp_merged_gpus *gpus, const char *host)
{
    char *copy;

    for (size_t i = 0; host && i < gpus->hosts.count; i++)
        if (strcmp(gpus->hosts.items[i], host) == 0)
            return 0;
    if (!host)
        return 0;
    if (!(copy = strdup(host)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (lp_vector_push(&gpus->hosts, copy) < 0) {
        free(copy);
        return LLMPERF_ENOMEM;
    }
    return 0;
}

/* Processes of one boot of a host have one clock. */
static int set_clock(struct lp_merged_gpus *gpus, const struct json_t *host)
{
    const char *boot = text_of(host, "boot_id");
    const char *clock = boot ? boot : text_of(host, "hostname");

    free(gpus->clock);
    gpus->clock = clock ? strdup(clock) : NULL;
    return clock && !gpus->clock ? lp_error(LLMPERF_ENOMEM, "out of memory") : 0;
}

int lp_merged_gpus_add(struct lp_merged_gpus *gpus, const char *env)
{
    json_t *root = env ? json_loads(env, 0, NULL) : NULL, *list = json_object_get(root, "gpus");
    int status = add_host(gpus, text_of(json_object_get(root, "host"), "hostname"));

    if (status == 0)
        status = set_clock(gpus, json_object_get(root, "host"));
    gpus->unread += env && !root;
    gpus->part.count = 0;
    for (size_t i = 0; i < json_array_size(list) && status == 0; i++)
        status = add_gpu(gpus, json_array_get(list, i));
    json_decref(root);
    return status;
}

int32_t lp_merged_gpu(const struct lp_merged_gpus *gpus, int32_t device)
{
    return device >= 0 && (size_t)device < gpus->part.count ? gpus->part.items[device] : device;
}

/* Replace the list of GPUs in the first run's facts. */
static int set_gpus(const struct lp_merged_gpus *gpus, llmperf_profile *out)
{
    const char *env = llmperf_profile_fact(out, "env");
    json_t *root = env ? json_loads(env, 0, NULL) : NULL, *list = json_array();
    char *text = NULL;
    int status = 0;
    /* The text was parsed before: if it cannot be now, memory ran out. */
    bool failed = !list || (env && !root && gpus->unread == 0), any = false;

    for (size_t i = 0; i < gpus->gpus.count; i++)
        if (gpus->gpus.items[i]) {
            any = true;
            failed |= json_array_append(list, gpus->gpus.items[i]) < 0;
        }
    if (failed) {
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    } else if (json_is_object(root) && any) {
        failed |= json_object_set(root, "gpus", list) < 0 ||
                  json_object_set_new(root, "gpus_reason", json_null()) < 0;
        text = failed ? NULL : json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15));
        status = text ? lp_profile_set_fact(out, "env", text)
                      : lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    free(text);
    json_decref(list);
    json_decref(root);
    return status;
}

int lp_merged_gpus_finish(const struct lp_merged_gpus *gpus, llmperf_profile *out)
{
    struct lp_text hosts = { NULL, 0, 0, false };
    int status = set_gpus(gpus, out);

    if (status == 0 && gpus->unread > 0)
        status = lp_profile_note(out,
                                 "merged: hosts and GPUs of %u runs are unknown because their "
                                 "environment cannot be read",
                                 gpus->unread);
    if (status == 0 && gpus->renumbered)
        status = lp_profile_note(out, "merged: GPUs were renumbered because several GPUs had the "
                                      "same number in their runs (identified by UUID)");
    for (size_t i = 0; i < gpus->hosts.count; i++)
        lp_text_printf(&hosts, "%s%s", i ? ", " : "", gpus->hosts.items[i]);
    if (status == 0 && gpus->hosts.count > 1)
        status = hosts.failed ? lp_error(LLMPERF_ENOMEM, "out of memory")
                              : lp_profile_note(out, "merged: runs from %zu hosts: %s",
                                                gpus->hosts.count, hosts.bytes);
    lp_text_clear(&hosts);
    return status;
}

void lp_merged_gpus_clear(struct lp_merged_gpus *gpus)
{
    for (size_t i = 0; i < gpus->gpus.count; i++)
        json_decref(gpus->gpus.items[i]);
    for (size_t i = 0; i < gpus->hosts.count; i++)
        free(gpus->hosts.items[i]);
    free(gpus->clock);
    lp_vector_clear(&gpus->gpus);
    lp_vector_clear(&gpus->part);
    lp_vector_clear(&gpus->hosts);
}

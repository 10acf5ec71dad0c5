/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/kineto/origin.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static json_t *part_of(json_t *env, const char *key)
{
    if (!json_object_get(env, key))
        json_object_set_new(env, key, json_object());
    return json_object_get(env, key);
}

static void take_gpus(json_t *env, const json_t *devices)
{
    json_t *gpus = json_array();
    const json_t *device;
    size_t index;

    json_array_foreach(devices, index, device)
    {
        json_t *gpu = json_object();
        json_int_t major = number_of(device, "computeMajor");

        json_object_set(gpu, "device", json_object_get(device, "id"));
        json_object_set(gpu, "name", json_object_get(device, "name"));
        json_object_set(gpu, "sm_count", json_object_get(device, "numSms"));
        json_object_set(gpu, "memory_bytes", json_object_get(device, "totalGlobalMem"));
        if (major > 0)
            json_object_set_new(
                gpu, "compute_capability",
                json_sprintf("%d.%d", (int)major, (int)number_of(device, "computeMinor")));
        json_array_append_new(gpus, gpu);
    }
    json_object_set_new(env, "gpus", gpus);
}

/* The rank, as torchrun sets it in the environment. */
static void take_rank(json_t *env, const json_t *distributed)
{
    json_t *variables = part_of(env, "variables");

    if (json_is_integer(json_object_get(distributed, "rank")))
        json_object_set_new(variables, "RANK",
                            json_sprintf("%d", (int)number_of(distributed, "rank")));
    if (number_of(distributed, "world_size") > 0)
        json_object_set_new(variables, "WORLD_SIZE",
                            json_sprintf("%d", (int)number_of(distributed, "world_size")));
}

static json_t *version(json_int_t number)
{
    return json_sprintf("%d.%d", (int)(number / 1000), (int)(number % 1000 / 10));
}

static void take(struct lp_kineto_origin *origin, const char *key, const json_t *value)
{
    json_int_t number = json_integer_value(value);

    if (strcmp(key, "deviceProperties") == 0)
        take_gpus(origin->env, value);
    else if (strcmp(key, "distributedInfo") == 0)
        take_rank(origin->env, value);
    else if (strcmp(key, "baseTimeNanoseconds") == 0 && number > 0)
        origin->base_ns = (uint64_t)number;
    else if (strcmp(key, "cuda_driver_version") == 0 && number > 0)
        json_object_set_new(part_of(origin->env, "driver"), "cuda_version", version(number));
    else if (strcmp(key, "cuda_runtime_version") == 0 && number > 0)
        json_object_set_new(part_of(origin->env, "software"), "cuda runtime", version(number));
    else if (strcmp(key, "cupti_version") == 0 && number > 0)
        json_object_set_new(part_of(origin->env, "cupti"), "version", json_integer(number));
    else if (strcmp(key, "schemaVersion") == 0 && number > 0)
        json_object_set_new(part_of(origin->env, "software"), "kineto schema",
                            json_sprintf("%d", (int)number));
}

void lp_kineto_origin_add(struct lp_kineto_origin *origin, const struct lp_kineto_piece *piece)
{
    json_t *value = json_loadb(piece->text.at, piece->text.length, JSON_DECODE_ANY, NULL);

    if (!origin->env)
        origin->env = json_pack("{s:i}", "schema_version", 1);
    take(origin, piece->key, value);
    json_decref(value);
}

char *lp_kineto_origin_json(struct lp_kineto_origin *origin, const char *program)
{
    json_t *env = origin->env ? origin->env : json_object();
    char *text;

    json_object_set_new(env, "program", *program ? json_string(program) : json_null());
    if (!json_object_get(env, "gpus"))
        json_object_set_new(env, "gpus_reason",
                            json_string("the trace does not describe its GPUs"));
    origin->env = env;
    text = json_dumps(env, JSON_INDENT(2));
    return text;
}

void lp_kineto_origin_clear(struct lp_kineto_origin *origin)
{
    json_decref(origin->env);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/machine/environment.h"
#include "lib/machine/program.h"
#include "lib/vendor/import/provenance.h"

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

/* As of a process with these arguments. */
static json_t *program_of(const char *const *arguments)
{
    struct lp_text line = { NULL, 0, 0, false };
    json_t *name;

    for (; arguments && *arguments; arguments++)
        lp_text_add(&line, *arguments, strlen(*arguments) + 1);
    name = text_or_null(lp_program_of(line.bytes, line.length));
    lp_text_clear(&line);
    return name;
}

/* {"nsys": "2025.3.2.474", "ncu": null} */
static json_t *tools_of(const llmperf_profile *profile)
{
    json_t *tools = json_object();

    json_object_set_new(tools, "nsys", text_or_null(llmperf_profile_fact(profile, "nsys_version")));
    json_object_set_new(tools, "ncu", text_or_null(llmperf_profile_fact(profile, "ncu_version")));
    return tools;
}

/* This machine as the driver describes it, else with the GPUs that the files name. */
static int set_machine(const llmperf_import_options *options, llmperf_profile *profile)
{
    const char *env = llmperf_profile_fact(profile, "env");
    json_t *files = env ? json_loads(env, 0, NULL) : NULL, *machine = NULL;
    char *text = NULL;
    int status = lp_environment_json(true, NULL, 0, NULL, &text);

    if (status == 0 && (machine = json_loads(text, 0, NULL))) {
        json_object_set_new(machine, "program", program_of(options->program));
        json_object_set_new(machine, "tools", tools_of(profile));
        if (json_array_size(json_object_get(machine, "gpus")) == 0 &&
            json_array_size(json_object_get(files, "gpus")) > 0) {
            json_object_set(machine, "gpus", json_object_get(files, "gpus"));
            json_object_set_new(machine, "gpus_reason", json_null());
        }
        free(text);
        text = json_dumps(machine, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    }
    if (status == 0)
        status = text ? lp_profile_set_fact(profile, "env", text) : lp_out_of_memory();
    free(text);
    json_decref(machine);
    json_decref(files);
    return status;
}

int lp_import_provenance(const llmperf_import_options *options, llmperf_profile *profile)
{
    const struct {
        const char *fact, *value;
    } facts[] = { { "created_at", options->created_at },
                  { "nsys_version", options->nsys_version },
                  { "ncu_version", options->ncu_version } };
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof(facts) / sizeof(facts[0]); i++)
        if (facts[i].value && !llmperf_profile_fact(profile, facts[i].fact))
            status = lp_profile_set_fact(profile, facts[i].fact, facts[i].value);
    return status == 0 && (options->flags & LLMPERF_IMPORT_THIS_MACHINE)
               ? set_machine(options, profile)
               : status;
}

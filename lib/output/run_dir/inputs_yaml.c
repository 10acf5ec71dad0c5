/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>

#include "lib/base/status.h"
#include "lib/output/format/documents.h"
#include "lib/base/text.h"

/* Strings, numbers and null of JSON are valid YAML. */
static void add_value(struct lp_text *out, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

    lp_text_puts(out, text ? text : "null");
    free(text);
}

static void add_input(struct lp_text *out, const json_t *input)
{
    static const char *const keys[] = { "path",  "name",   "kind",  "size_bytes",
                                        "width", "height", "tokens" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        lp_text_printf(out, "%s%s: ", i == 0 ? "  - " : "    ", keys[i]);
        add_value(out, json_object_get(input, keys[i]));
        lp_text_puts(out, "\n");
    }
}

/* The list of the configuration's manifest is YAML that starts with "inputs:". */
static void add_inputs(struct lp_text *out, const char *manifest, const json_t *list)
{
    lp_text_puts(out, manifest ? manifest : json_array_size(list) ? "inputs:\n" : "inputs: []\n");
    for (size_t i = 0; i < json_array_size(list); i++)
        add_input(out, json_array_get(list, i));
}

int lp_inputs_yaml(const llmperf_profile *profile, struct lp_text *out)
{
    const char *text = llmperf_profile_fact(profile, "given");
    const char *run_id = llmperf_profile_fact(profile, "run_id");
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    json_t *name = run_id ? json_string(run_id) : NULL;

    lp_text_puts(out, "# Inputs of the run, from its manifest (inputs.manifest) and its program "
                      "(llmperf_session_add_input). null: unknown.\nrun_id: ");
    add_value(out, name);
    lp_text_puts(out, "\n");
    add_inputs(out, llmperf_profile_fact(profile, "inputs"), json_object_get(root, "inputs"));
    lp_text_printf(out, "not_listed: %lld\n",
                   (long long)json_integer_value(json_object_get(root, "not_listed")));
    json_decref(name);
    json_decref(root);
    return out->failed ? LLMPERF_ENOMEM : 0;
}

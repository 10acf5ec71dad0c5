/* SPDX-License-Identifier: Apache-2.0 */
/** If a program defines functions with jansson's names, they replace jansson's, even in the shared
 * library. A second copy of jansson is harmless; other functions would give wrong numbers. */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/output/format/documents.h"

static bool holds_list(const json_t *root)
{
    const json_t *list = json_object_get(root, "list");

    return json_is_object(root) && json_is_array(list) && json_array_size(list) == 2 &&
           json_integer_value(json_array_get(list, 0)) == 7 &&
           json_number_value(json_array_get(list, 1)) == 0.5 && !json_object_get(root, "none");
}

/* NULL: out of memory. */
static char *join(json_t *root, json_t *words, json_t *word)
{
    if (!root || !words || !word || json_array_append(words, word) < 0 ||
        json_object_set(root, "word", words) < 0)
        return NULL;
    return json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
}

int lp_jansson_check(void)
{
    json_t *root = json_loads("{\"word\":\"x\",\"list\":[7,0.5]}", 0, NULL);
    json_t *words = json_array(), *word = json_string("w");
    char *text;
    bool sound = (!root || holds_list(root)) && (!words || json_is_array(words)) &&
                 (!word || json_is_string(word));

    if (!sound) /* the values are not freed: they may belong to other functions */
        return lp_error(LLMPERF_ESTATE,
                        "the program defines functions that have the names of jansson's (such as "
                        "json_object_get) and replace them; rename them, or compile them with "
                        "-fvisibility=hidden and link the shared library");
    text = join(root, words, word);
    sound = text && strcmp(text, "{\"list\":[7,0.5],\"word\":[\"w\"]}") == 0;
    free(text);
    json_decref(word);
    json_decref(words);
    json_decref(root);
    return sound ? 0 : lp_out_of_memory();
}

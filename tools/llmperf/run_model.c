/* SPDX-License-Identifier: Apache-2.0 */
/** The model that the command line of a program names: a folder with a config.json, or a name whose
 * files are in the cache of Hugging Face. Nothing else is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "run.h"

static const char *const model_words[] = { "--model", "--model-path", "--model-dir",
                                           "--model_name_or_path", NULL };
static const char *const parallel_words[] = { "--tensor-parallel-size", "-tp", "--tp-size", "--tp",
                                              NULL };

/* The value of an option of the program, "--model X" or "--model=X"; NULL: not given. */
static const char *value_of(char **program, const char *const *names)
{
    for (char **word = program + 1; *program && *word; word++)
        for (const char *const *name = names; *name; name++) {
            size_t length = strlen(*name);

            if (strncmp(*word, *name, length) == 0 && (*word)[length] == '=')
                return *word + length + 1;
            if (strcmp(*word, *name) == 0)
                return word[1];
        }
    return NULL;
}

static bool has_config(const char *folder, char *path)
{
    char file[FOLDER_PATH_BYTES];

    return folder_join(file, folder, "config.json") && folder_is_kind(file, S_IFREG) &&
           realpath(folder, path);
}

/* The folder of downloaded models: $HF_HUB_CACHE, $HF_HOME/hub, ~/.cache/huggingface/hub. */
static bool find_hub(char *hub)
{
    const char *cache = getenv("HF_HUB_CACHE"), *base = getenv("HF_HOME"), *home = getenv("HOME");

    if (cache)
        return snprintf(hub, FOLDER_PATH_BYTES, "%s", cache) < FOLDER_PATH_BYTES;
    if (base)
        return folder_join(hub, base, "hub");
    return home && folder_join(hub, home, ".cache/huggingface/hub");
}

/* "org/name": models--org--name/snapshots/(content of refs/main). */
static bool in_cache(const char *name, char *path)
{
    const char *slash = strchr(name, '/');
    char hub[FOLDER_PATH_BYTES], folder[2 * FOLDER_PATH_BYTES], revision[64] = "";
    FILE *file;

    if (!slash || slash == name || strchr(slash + 1, '/') || *name == '.' || strlen(name) > 200 ||
        !find_hub(hub))
        return false;
    snprintf(folder, sizeof(folder), "%s/models--%.*s--%s/refs/main", hub, (int)(slash - name),
             name, slash + 1);
    if (!(file = fopen(folder, "re")))
        return false;
    if (!fgets(revision, sizeof(revision), file) || strchr(revision, '/'))
        revision[0] = '\0';
    fclose(file);
    revision[strcspn(revision, "\r\n")] = '\0';
    snprintf(folder, sizeof(folder), "%s/models--%.*s--%s/snapshots/%s", hub, (int)(slash - name),
             name, slash + 1, revision);
    return *revision && has_config(folder, path);
}

static bool is_model(const char *word, char *path)
{
    return word && (has_config(word, path) || in_cache(word, path));
}

bool run_find_model(char **program, char *path)
{
    if (is_model(value_of(program, model_words), path))
        return true;
    for (char **word = program + 1; *word; word++) /* `vllm serve DIR` */
        if ((*word)[0] != '-' && word[-1][0] != '-' && is_model(*word, path))
            return true;
    return false;
}

const char *run_find_parallel(char **program)
{
    return value_of(program, parallel_words);
}

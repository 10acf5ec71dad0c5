/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without a fuzzer: replay FILE|FOLDER... gives it each file once. */
#include <dirent.h>

#include "lib/base/file.h"
#include "tests/fuzz/fuzz.h"

static unsigned inputs;

static void replay_file(const char *path)
{
    char *bytes;
    size_t size;

    if (lp_file_read(path, &bytes, &size) < 0) {
        fprintf(stderr, "%s\n", llmperf_last_error());
        exit(1);
    }
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    inputs++;
    free(bytes);
}

static void replay(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    if (!folder) {
        replay_file(path);
        return;
    }
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            char *file = lp_path_join(path, entry->d_name);

            replay(file);
            free(file);
        }
    closedir(folder);
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++)
        replay(paths[i]);
    printf("%u inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
}

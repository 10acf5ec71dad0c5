/* SPDX-License-Identifier: Apache-2.0 */
/* Running processes of a job. `llmperf run` sets the job's folder in their environment, which Linux
 * shows for the user's own processes. */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/store/job.h"

#define VARIABLE     "LLMPERF_RUN_DIR="
#define ENVIRON_MOST ((size_t)8 << 20) /* Linux: a quarter of the stack limit at most */

static int is_process(const struct dirent *entry)
{
    return isdigit((unsigned char)entry->d_name[0]);
}

static bool names_folder(const char *environment, size_t size, const char *folder)
{
    for (size_t at = 0; at < size; at += strlen(environment + at) + 1)
        if (strncmp(environment + at, VARIABLE, strlen(VARIABLE)) == 0)
            return strcmp(environment + at + strlen(VARIABLE), folder) == 0;
    return false;
}

/* A zombie has no environment. */
static bool is_of_job(const char *pid, const char *folder)
{
    char path[64], *environment;
    size_t size;
    bool is;

    snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
    if (lp_file_read_most(path, ENVIRON_MOST, &environment, &size) < 0)
        return false;
    is = names_folder(environment, size, folder);
    free(environment);
    return is;
}

size_t llmperf_job_processes(const llmperf_job *job, uint32_t *pids, size_t most)
{
    char *folder = job ? realpath(job->folder, NULL) : NULL;
    struct dirent **entries;
    int count = folder ? scandir("/proc", &entries, is_process, versionsort) : -1;
    size_t found = 0;

    for (int i = 0; i < count; i++) {
        uint32_t pid = (uint32_t)strtoul(entries[i]->d_name, NULL, 10);

        if (pid != (uint32_t)getpid() && is_of_job(entries[i]->d_name, folder)) {
            if (pids && found < most)
                pids[found] = pid;
            found++;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    free(folder);
    return found;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Running the commands of nsys and ncu. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "vendor.h"

bool vendor_has_file(const char *path)
{
    struct stat info;

    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

/* Arguments for execv(); NULL: out of memory. */
static char **copy_arguments(const llmperf_commands *commands, size_t index)
{
    size_t count = 0;
    char **arguments;

    while (llmperf_commands_argument(commands, index, count))
        count++;
    arguments = calloc(count + 1, sizeof(*arguments));
    for (size_t i = 0; arguments && i < count; i++)
        arguments[i] = (char *)llmperf_commands_argument(commands, index, i);
    return arguments;
}

/* In the child; does not return. The command that runs the program keeps terminal and locale. The
 * others write tables, in locale C, because decimal commas would not be understood. */
static void become(char **arguments, const char *log_file)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    int log = log_file ? open(log_file, flags, 0600) : -1;

    signal(SIGPIPE, SIG_DFL); /* main() ignores it. */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (log_file)
        setenv("LC_ALL", "C", 1);
    if (log >= 0) {
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    }
    execv(arguments[0], arguments);
    fprintf(stderr, "llmperf: cannot start %s: %s\n", arguments[0], strerror(errno));
    _exit(127);
}

/* Exit code, or 128 + signal; -1: not started. */
static int run_one(const llmperf_commands *commands, size_t index, const char *log_file)
{
    char **arguments = copy_arguments(commands, index);
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = arguments ? fork() : -1;
    if (pid == 0)
        become(arguments, log_file);
    if (pid < 0)
        fprintf(stderr, "llmperf: cannot start %s: %s\n",
                llmperf_commands_argument(commands, index, 0), strerror(errno));
    free(arguments);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* So that a user can run it again. */
static void write_command(FILE *out, const llmperf_commands *commands, size_t index)
{
    char *line;

    if (llmperf_commands_line(commands, index, &line) == LLMPERF_OK) {
        fprintf(out, "%s\n", line);
        llmperf_text_free(line);
    }
    fflush(out); /* Written before the command runs, because it may take hours or be killed. */
}

static bool run_step(const llmperf_commands *commands, size_t index, const char *tool, FILE *list,
                     const char *log_file)
{
    const char *step = llmperf_commands_step(commands, index);
    const char *output = llmperf_commands_output(commands, index);
    bool first = strcmp(step, "profile") == 0, made;
    int code;

    write_command(list, commands, index);
    code = run_one(commands, index, first ? NULL : log_file);
    fprintf(list, "# exit code %d\n", code);
    made = vendor_has_file(output);
    if (made) /* reports of the tools hold the command line, and older ones the environment */
        chmod(output, 0600);
    if (!made && code == 0 && strcmp(step, "stats") == 0)
        fprintf(stderr, "llmperf: %s found no data for %s\n", tool, output);
    else if (!made)
        fprintf(stderr, "llmperf: %s %s ended with exit code %d and wrote no %s%s%s\n", tool, step,
                code, output, first ? "" : "; see ", first ? "" : log_file);
    else if (code != 0)
        fprintf(stderr, "llmperf: %s %s ended with exit code %d; its partial result is used\n",
                tool, step, code);
    return made;
}

bool vendor_run(const llmperf_commands *commands, const char *tool, const char *version,
                const char *folder)
{
    char path[VENDOR_PATH_BYTES + 16], log_file[VENDOR_PATH_BYTES + 16];
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    bool made = false;
    FILE *list;

    snprintf(path, sizeof(path), "%s/cmd.txt", folder);
    snprintf(log_file, sizeof(log_file), "%s/log.txt", folder);
    unlink(log_file); /* the commands add to it */
    if (!(list = folder_new_file(path, 0600)))
        return false;
    fprintf(list, "# %s %s\n", tool, version ? version : "of unknown version");
    for (size_t i = 0; i < llmperf_commands_count(commands) && (i == 0 || made); i++)
        if (run_step(commands, i, tool, list, log_file) && i == 0)
            made = true;
    fclose(list);
    /* From here on llmperf handles the signals of the terminal again. */
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    return made;
}

bool vendor_check_ncu(const char *log_file)
{
    FILE *log = fopen(log_file, "re");
    char line[1024];
    bool permission = false, table = false;

    while (log && fgets(line, sizeof(line), log)) {
        if (strncmp(line, "==ERROR==", 9) == 0 || strstr(line, "No kernels were profiled"))
            fprintf(stderr, "llmperf: ncu: %s", line);
        table |= strncmp(line, "\"ID\"", 4) == 0;
        permission |= strstr(line, "ERR_NVGPUCTRPERM") != NULL;
    }
    if (log)
        fclose(log);
    if (permission)
        fprintf(stderr, "llmperf: hardware counters need administrator rights: run as root, start "
                        "the container with --cap-add=SYS_ADMIN, or load the driver with "
                        "NVreg_RestrictProfilingToAdminUsers=0\n");
    if (!table)
        fprintf(stderr, "llmperf: ncu wrote no table to %s\n", log_file);
    return table;
}

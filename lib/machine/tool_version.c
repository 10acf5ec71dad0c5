/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/variable.h"
#include "lib/machine/tool_version.h"

#define TOOL_LIMIT_NS 5000000000u

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool lp_tool_find(const char *name, char *path, size_t size)
{
    const char *folder = lp_variable("PATH");

    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        int printed = snprintf(path, size, "%.*s/%s", (int)length, folder, name);

        /* An empty entry means the current directory, from which no program is used. */
        if (length > 0 && (size_t)printed < size && is_program(path))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

/* Standard output goes to the pipe, in a process group of its own, so that what it starts can be
 * ended with it. */
static pid_t spawn_version(const char *path, int out_fd)
{
    char *arguments[] = { (char *)path, (char *)"--version", NULL };
    char *variables[] = { (char *)"LC_ALL=C", (char *)"PATH=/usr/bin:/bin", NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t pid;
    int failed;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    failed = posix_spawn(&pid, path, &actions, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : pid;
}

/* Until the end of the output, a full buffer or the deadline. False: the deadline. */
static bool read_until(int fd, uint64_t deadline, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    while (length + 1 < size) {
        uint64_t now = lp_clock_now();
        struct pollfd wait = { fd, POLLIN, 0 };
        ssize_t got;

        if (now >= deadline)
            return false;
        if (poll(&wait, 1, (int)((deadline - now) / 1000000u) + 1) == 0)
            return false;
        got = read(fd, text + length, size - 1 - length);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return true;
        length += (size_t)got;
        text[length] = '\0';
    }
    return true;
}

/* "NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0", "Version 2025.3.1.0 (build 36398880)
 * (public-release)". */
static bool find_version(const char *text, char *version, size_t size)
{
    const char *at = strstr(text, "ersion ");
    size_t length = at ? strspn(at + 7, "0123456789.") : 0;

    if (length == 0)
        return false;
    snprintf(version, size, "%.*s", (int)length, at + 7);
    return true;
}

bool lp_tool_version(const char *path, char *version, size_t size)
{
    uint64_t deadline = lp_clock_now() + TOOL_LIMIT_NS;
    char text[4096];
    int fds[2];
    bool done;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return false;
    pid = spawn_version(path, fds[1]);
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return false;
    }
    done = read_until(fds[0], deadline, text, sizeof(text));
    close(fds[0]);
    /* Its output is no longer needed: terminate it, whether it hangs or not. */
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return done && find_version(text, version, size);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf attach`: both ends of the socket through which it starts and stops the session of a
 * running process. The name is abstract: nothing is left behind, and each end checks with
 * SO_PEERCRED who the other is, so no file mode is needed. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/session/session.h"
#include "llmperf/sys/inject.h"

#define MESSAGE_BYTES 8192
#define ANSWER_S      60 /* stopping waits for the records of the device */

struct answer {
    int32_t status;
    char text[4096]; /* the error, or the folder of the run that was stopped */
};

static socklen_t name_of(long process_id, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
                                        "llmperf-attach-%ld", process_id));
}

static void set_patience(int fd, int seconds)
{
    const struct timeval limit = { .tv_sec = seconds };

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static struct ucred peer_of(int fd)
{
    struct ucred peer = { .pid = -1, .uid = (uid_t)-1 };
    socklen_t size = sizeof(peer);

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer;
}

/* The process */

static const struct lp_attach_actions *attach_actions; /* set once, before the thread */

static int start_session(uint32_t tier, const char *run_dir)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char *config = lp_path_join(run_dir, "config.yaml");
    const char *slash = strrchr(run_dir, '/');
    int status;

    options.tier = tier;
    options.run_dir = run_dir;
    options.run_id = slash ? slash + 1 : run_dir;
    options.config_path = config && lp_path_exists(config) ? config : NULL;
    options.flags = LLMPERF_SESSION_RELEASE | LLMPERF_SESSION_NO_REPORTS;
    status = config ? attach_actions->start(&options) : lp_out_of_memory();
    free(config);
    return status;
}

static int obey(const char *message, struct answer *answer)
{
    unsigned tier;
    int used = 0;

    if (strcmp(message, "stop") == 0)
        return attach_actions->stop(answer->text, sizeof(answer->text));
    if (sscanf(message, "start %u %n", &tier, &used) == 1 && message[used] == '/')
        return start_session(tier, message + used);
    return lp_error(LLMPERF_EINVAL, "llmperf attach is not of this version of libllmperf.so");
}

static void serve_one(int client)
{
    struct answer answer = { 0 };
    char message[MESSAGE_BYTES];
    ssize_t size;

    if (peer_of(client).uid != geteuid())
        return;
    set_patience(client, 1);
    if ((size = recv(client, message, sizeof(message) - 1, 0)) <= 0)
        return;
    message[size] = '\0';
    if ((answer.status = obey(message, &answer)) < 0)
        snprintf(answer.text, sizeof(answer.text), "%s", llmperf_last_error());
    send(client, &answer, sizeof(answer), MSG_NOSIGNAL);
}

static void *serve(void *context)
{
    int listener = (int)(intptr_t)context;

    for (;;) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (client < 0 && errno != EINTR)
            sleep(1); /* too many open files, for example */
        if (client < 0)
            continue;
        serve_one(client);
        close(client);
    }
    return NULL;
}

int lp_attach_listen(const struct lp_attach_actions *actions)
{
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), failed;
    struct sockaddr_un address;
    socklen_t size = name_of(getpid(), &address);
    pthread_t thread;

    attach_actions = actions;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 ||
        listen(listener, 4) < 0)
        failed = errno;
    else if ((failed = lp_session_thread(&thread, serve, (void *)(intptr_t)listener)) == 0)
        pthread_detach(thread);
    if (failed == 0)
        return 0;
    if (listener >= 0)
        close(listener);
    return lp_error(LLMPERF_EBUSY, "LLMPERF_ATTACH: cannot wait for llmperf attach: %s",
                    strerror(failed));
}

/* The command */

/* Does a file of /proc/PID hold the text? Its parts may end with NUL. */
static bool process_has(uint32_t process_id, const char *file, const char *text)
{
    char path[64], *line = NULL;
    size_t capacity = 0;
    bool found = false;
    FILE *stream;
    int between = strcmp(file, "environ") == 0 ? '\0' : '\n';

    snprintf(path, sizeof(path), "/proc/%u/%s", process_id, file);
    if (!(stream = fopen(path, "re")))
        return false;
    while (!found && getdelim(&line, &capacity, between, stream) > 0)
        found = strstr(line, text) != NULL;
    free(line);
    fclose(stream);
    return found;
}

static int explain(uint32_t process_id)
{
    Dl_info own = { 0 };
    char *library;
    int status;
    struct stat info;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u", process_id);
    if (stat(path, &info) < 0)
        return lp_error(LLMPERF_ENOENT, "there is no process %u", process_id);
    if (info.st_uid != geteuid())
        return lp_error(LLMPERF_ENOTSUP,
                        "process %u belongs to another user; run llmperf attach as that user",
                        process_id);
    if (process_has(process_id, "environ", "LLMPERF_RUN_DIR="))
        return lp_error(LLMPERF_EBUSY, "process %u was started by llmperf run, which profiles it",
                        process_id);
    if (process_has(process_id, "environ", "LLMPERF_ATTACH="))
        return lp_error(LLMPERF_ENOTSUP,
                        "process %u has not loaded libllmperf.so yet: it does so at its first use "
                        "of CUDA, if CUDA_INJECTION64_PATH names the library",
                        process_id);
    dladdr((const void *)(uintptr_t)&llmperf_attach_start, &own);
    library = own.dli_fname ? realpath(own.dli_fname, NULL) : NULL;
    status = lp_error(LLMPERF_ENOTSUP,
                      "process %u was started without llmperf, and CUPTI cannot enter it from "
                      "outside; start it again with LLMPERF_ATTACH=1 CUDA_INJECTION64_PATH=%s",
                      process_id, library ? library : "libllmperf.so");
    free(library);
    return status;
}

static int exchange(int fd, uint32_t process_id, const char *message, struct answer *answer)
{
    struct sockaddr_un address;
    socklen_t size = name_of((long)process_id, &address);

    if (fd < 0)
        return lp_error(LLMPERF_EIO, "cannot make a socket: %s", strerror(errno));
    set_patience(fd, ANSWER_S);
    if (connect(fd, (struct sockaddr *)&address, size) < 0 || peer_of(fd).pid != (pid_t)process_id)
        return explain(process_id);
    if (send(fd, message, strlen(message), MSG_NOSIGNAL) < 0 ||
        recv(fd, answer, sizeof(*answer), 0) != (ssize_t)sizeof(*answer))
        return lp_error(LLMPERF_EIO, "process %u did not answer", process_id);
    answer->text[sizeof(answer->text) - 1] = '\0';
    return answer->status < 0 ? lp_error(answer->status, "process %u: %s", process_id, answer->text)
                              : 0;
}

static int ask(uint32_t process_id, const char *message, char *text, size_t size)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct answer answer = { 0 };
    int status = exchange(fd, process_id, message, &answer);

    if (fd >= 0)
        close(fd);
    if (status == 0 && text)
        snprintf(text, size, "%s", answer.text);
    return status;
}

int llmperf_attach_start(uint32_t process_id, const char *run_dir, uint32_t tier)
{
    char message[MESSAGE_BYTES];

    if (!run_dir || *run_dir != '/' ||
        snprintf(message, sizeof(message), "start %u %s", tier, run_dir) >=
            (int)sizeof(message) - 1)
        return lp_error(LLMPERF_EINVAL, "run_dir must be an absolute path");
    return ask(process_id, message, NULL, 0);
}

int llmperf_attach_stop(uint32_t process_id, char *run_dir_out, size_t size)
{
    return ask(process_id, "stop", run_dir_out, size);
}

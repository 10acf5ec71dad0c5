/* SPDX-License-Identifier: Apache-2.0 */
/** A program that does not know the library and marks NVTX ranges: nvtx_program MODE [ARGUMENT].
 * Built as a shared object too, for Python. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>
#if defined(NVTX_DECLSPEC) && __has_include(<nvtx3/nvToolsExtPayload.h>) /* not a stand-in */
#include <nvtx3/nvToolsExtPayload.h>
#define HAVE_PAYLOAD
#endif

void mark(const char *text, int count);

/* A range of the default domain, `count` times. */
void mark(const char *text, int count)
{
    for (int i = 0; i < count; i++) {
        nvtxRangePushA(text);
        nvtxRangePop();
    }
}

#ifndef WITHOUT_MAIN

static void push_in_domain(nvtxDomainHandle_t domain, const char *text, uint64_t payload)
{
    nvtxEventAttributes_t attributes = { 0 };

    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.payloadType = payload ? NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 : NVTX_PAYLOAD_UNKNOWN;
    attributes.payload.ullValue = payload;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, text);
    nvtxDomainRangePushEx(domain, &attributes);
}

/* What the test looks for in the run. */
static void mark_known_ranges(void)
{
    nvtxDomainHandle_t llm = nvtxDomainCreateA("LLM");
    nvtxRangeId_t request = nvtxRangeStartA("request");

    push_in_domain(llm, "prefill", 128);
    mark("aten::mm, seq = 1, op_id = 2", 3);
    nvtxRangePushW(L"\u00fcber");
    nvtxRangePop();
    nvtxDomainRangePop(llm);
    nvtxRangeEnd(request);
}

/* As NCCL does: a range that is opened without a payload and closed with one. */
static void end_ranges_with_payloads(void)
{
    nvtxDomainHandle_t library = nvtxDomainCreateA("library");
    uint64_t number = 7;

    nvtxRangePushA("outer");
    push_in_domain(library, "init", 0);
#ifdef HAVE_PAYLOAD
    nvtxPayloadData_t payload = { NVTX_PAYLOAD_ENTRY_TYPE_UINT64, sizeof(number), &number };

    nvtxRangePopPayload(library, &payload, 1);
    nvtxRangePushPayload(library, &payload, 1);
    nvtxRangePopPayload(library, &payload, 1);
    nvtxRangeEndPayload(library, nvtxRangeStartPayload(library, &payload, 1), &payload, 1);
#else
    (void)number;
    nvtxDomainRangePop(library);
#endif
    mark("inner", 1);
    nvtxRangePop();
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ranges for ever; when each ended stands in a file that outlives us: their number, then times. */
static int loop(const char *path)
{
    const size_t limit = 1 << 20;
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    uint64_t *times;

    if (file < 0 || ftruncate(file, (off_t)((limit + 1) * sizeof(*times))) < 0)
        return 1;
    times = mmap(NULL, (limit + 1) * sizeof(*times), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (times == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < limit; i++) {
        mark("step", 1);
        times[i + 1] = now_ns();
        times[0] = i + 1;
        usleep(200);
    }
    return 0;
}

static void *mark_on_thread(void *text)
{
    mark(text, 1000);
    return NULL;
}

static int mark_on_threads(void)
{
    static char text[] = "threaded";
    pthread_t threads[8];

    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, mark_on_thread, text);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int fork_and_mark(void)
{
    pid_t child;
    int status = 0;

    mark("before", 1);
    fflush(stdout);
    child = fork();
    mark(child == 0 ? "in the child" : "in the parent", 5);
    if (child == 0)
        exit(0);
    waitpid(child, &status, 0);
    return status == 0 ? 0 : 1;
}

static int spawn(const char *self, const char *mode, int count)
{
    int status = 0, failed = 0;

    mark("before", 1);
    for (int i = 0; i < count; i++) {
        pid_t child = fork();

        if (child == 0) {
            execl(self, self, mode, (char *)NULL);
            _exit(1);
        }
        failed |= waitpid(child, &status, 0) != child || status != 0;
    }
    return failed;
}

static void say_term(int number)
{
    (void)number;
    _exit(write(1, "TERM\n", 5) == 5 ? 9 : 8);
}

static void say_interrupt(int number)
{
    (void)number;
    _exit(write(1, "INT\n", 4) == 4 ? 10 : 8);
}

static int wait_for_signal(void)
{
    signal(SIGTERM, say_term);
    signal(SIGINT, say_interrupt);
    mark("waiting", 1);
    printf("ready\n");
    fflush(stdout);
    sleep(20);
    return 1;
}

/* Ends without exit handlers, after the time of a commit. */
static int end_badly(const char *mode)
{
    mark("step", 7);
    usleep(1300000);
    if (strcmp(mode, "_exit") == 0)
        _exit(4);
    if (strcmp(mode, "segv") == 0)
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV); /* A sanitizer has a handler of its own. */
    abort();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "ranges";

    if (strcmp(mode, "ranges") == 0)
        mark_known_ranges();
    else if (strcmp(mode, "mark") == 0 && argc > 2)
        mark(argv[2], 3);
    else if (strcmp(mode, "payload") == 0)
        end_ranges_with_payloads();
    else if (strcmp(mode, "nothing") == 0)
        return 0;
    else if (strcmp(mode, "loop") == 0 && argc > 2)
        return loop(argv[2]);
    else if (strcmp(mode, "threads") == 0)
        return mark_on_threads();
    else if (strcmp(mode, "fork") == 0)
        return fork_and_mark();
    else if (strcmp(mode, "spawn") == 0)
        return spawn(argv[0], "ranges", 3);
    else if (strcmp(mode, "exec") == 0)
        mark("before", 1), execl(argv[0], argv[0], "ranges", (char *)NULL);
    else if (strcmp(mode, "signal") == 0)
        return wait_for_signal();
    else if (strcmp(mode, "exit") == 0 && argc > 2)
        mark("step", 1), exit(atoi(argv[2]));
    else
        return end_badly(mode);
    return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Checks before the start: reasons why a program cannot be profiled. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "folder.h"
#include "llmperf/llmperf.h"
#include "run.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

bool run_find_library(char *path)
{
    const char *(*function)(void) = llmperf_version;
    void *address;
    Dl_info info;

    memcpy(&address, &function, sizeof(address));
    if (!dladdr(address, &info) || !info.dli_fname || !realpath(info.dli_fname, path)) {
        fprintf(
            stderr,
            "llmperf run: libllmperf.so not found at its installed location; install it again\n");
        return false;
    }
    if (strstr(strrchr(path, '/'), ".so"))
        return true;
    fprintf(stderr, "llmperf run: this llmperf is linked statically, so there is no library to "
                    "load into a program; build it with the shared library\n");
    return false;
}

static bool is_executable(const char *path)
{
    if (access(path, X_OK) < 0)
        return false;
    errno = folder_is_kind(path, S_IFDIR) ? EISDIR : EACCES;
    return folder_is_kind(path, S_IFREG);
}

/* As execvp(): a name with a slash is a path, others are looked up in PATH. false: see errno */
static bool find_program(const char *name, char *path)
{
    const char *from = getenv("PATH");
    int reason = ENOENT;

    if (strchr(name, '/'))
        return snprintf(path, RUN_PATH_BYTES, "%s", name) < RUN_PATH_BYTES && is_executable(path);
    for (from = from ? from : "/usr/local/bin:/usr/bin:/bin"; *from || from[-1] == ':';) {
        size_t length = strcspn(from, ":");
        const char *folder = length > 0 ? from : ".";

        snprintf(path, RUN_PATH_BYTES, "%.*s/%s", length > 0 ? (int)length : 1, folder, name);
        if (is_executable(path))
            return true;
        reason = errno == EACCES ? EACCES : reason;
        if (from[length] == '\0')
            break;
        from += length + 1;
    }
    errno = reason;
    return false;
}

/* The interpreter of a script; false: not a script. */
static bool find_interpreter(const char *head, char *path)
{
    size_t blank, length;

    if (strncmp(head, "#!", 2) != 0)
        return false;
    blank = strspn(head + 2, " \t");
    length = strcspn(head + 2 + blank, " \t\n");
    snprintf(path, RUN_PATH_BYTES, "%.*s", (int)length, head + 2 + blank);
    return length > 0;
}

/* Does the file name a dynamic loader? Otherwise it cannot load the library. */
static bool is_dynamic(int fd, const Elf64_Ehdr *header)
{
    Elf64_Phdr program;

    for (unsigned i = 0; i < header->e_phnum; i++) {
        off_t at = (off_t)(header->e_phoff + (Elf64_Off)i * header->e_phentsize);

        if (pread(fd, &program, sizeof(program), at) != (ssize_t)sizeof(program))
            return true;
        if (program.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static void check_elf(const char *path, int fd, const Elf64_Ehdr *header)
{
    if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
        (OUR_MACHINE != EM_NONE && header->e_machine != OUR_MACHINE))
        fprintf(stderr,
                "llmperf run: %s is for another architecture (ELF machine %u) than libllmperf: it "
                "cannot load libllmperf and is not profiled\n",
                path, header->e_machine);
    else if (!is_dynamic(fd, header))
        fprintf(stderr,
                "llmperf run: %s is statically linked: it cannot load libllmperf and is not "
                "profiled; programs that it starts are\n",
                path);
}

static void check_rights(const char *path)
{
    struct stat info;

    if (stat(path, &info) < 0)
        return;
    if (((info.st_mode & S_ISUID) && info.st_uid != geteuid()) ||
        ((info.st_mode & S_ISGID) && info.st_gid != getegid()))
        fprintf(stderr,
                "llmperf run: %s is setuid or setgid: the system ignores the injection in it; "
                "start llmperf through it, as in: %s llmperf run -- PROGRAM\n",
                path, path);
    else if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        fprintf(stderr,
                "llmperf run: %s has file capabilities (getcap): libllmperf ignores the "
                "environment there and does not profile it; profile a copy without capabilities\n",
                path);
}

static void check_file(const char *path, int depth)
{
    char interpreter[RUN_PATH_BYTES];
    union {
        Elf64_Ehdr elf;
        char text[256];
    } head = { .text = "" };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, &head, sizeof(head) - 1);

    check_rights(path);
    if (size >= (ssize_t)sizeof(head.elf) && memcmp(head.text, ELFMAG, SELFMAG) == 0)
        check_elf(path, fd, &head.elf);
    else if (size > 2 && depth < 4 && find_interpreter(head.text, interpreter))
        check_file(interpreter, depth + 1);
    if (fd >= 0)
        close(fd);
}

bool run_check_program(const char *name, char *path)
{
    if (!find_program(name, path)) {
        fprintf(stderr, "llmperf run: cannot run %s: %s\n", name,
                errno == ENOENT && !strchr(name, '/') ? "not found in PATH" : strerror(errno));
        return false;
    }
    check_file(path, 0);
    return true;
}

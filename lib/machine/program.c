/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/machine/program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"

/* "python", "/usr/bin/python3.12", "pypy3". */
static bool is_python(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    size_t length = strncmp(name, "python", 6) == 0 ? 6 : strncmp(name, "pypy", 4) == 0 ? 4 : 0;

    return length > 0 && name[length + strspn(name + length, "0123456789.")] == '\0';
}

/* The argument after this one; NULL: it is the last. */
static const char *next_of(const char *argument, const char *end)
{
    const char *next = argument + strnlen(argument, (size_t)(end - argument)) + 1;

    return next < end ? next : NULL;
}

/* Options of Python may stand together, as in "-um": the last one decides what follows. */
static const char *script_of(const char *argument, const char *end)
{
    while (argument && argument[0] == '-' && argument[1]) {
        char last =
            argument[1] == 'W' || argument[1] == 'X' ? '\0' : argument[strlen(argument) - 1];

        if (argument[1] == 'm' && argument[2])
            return argument + 2;
        if (last == 'c' && argument[1] != '-')
            return NULL;
        if (last == 'm' && argument[1] != '-')
            return next_of(argument, end);
        if (last == '\0' && !argument[2])
            argument = next_of(argument, end);
        argument = argument ? next_of(argument, end) : NULL;
    }
    return argument && argument[0] != '-' ? argument : NULL;
}

const char *lp_program_of(const char *line, size_t size)
{
    const char *script;

    if (!line || size == 0 || !line[0])
        return NULL;
    script = is_python(line) ? script_of(next_of(line, line + size), line + size) : NULL;
    return script && script[0] ? script : line;
}

/* Field 22 of proc(5), the 20th after the name in parentheses. */
uint64_t lp_process_started(void)
{
    char *line = NULL, *at;
    uint64_t ticks;
    size_t size;

    if (lp_file_read("/proc/self/stat", &line, &size) < 0)
        return 0;
    at = strrchr(line, ')');
    for (int i = 0; at && i < 20; i++)
        at = strchr(at + 1, ' ');
    ticks = at ? strtoull(at, NULL, 10) : 0;
    free(line);
    return ticks;
}

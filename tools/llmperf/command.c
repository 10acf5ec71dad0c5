/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/sys.h"
#include "progress.h"

static int output_error;

static void clean_text(char *text, bool one_line)
{
    char *out = text;

    for (const char *in = text; *in;) {
        size_t length = *in == '\n' || *in == '\t' ? one_line : llmperf_text_control(in);

        *out++ = length > 0 ? ' ' : *in;
        in += length > 0 ? length : 1;
    }
    *out = '\0';
}

/* Names of files and of programs, and texts from other sources, may contain any bytes. */
static void print_clean(const char *format, va_list args, bool one_line)
{
    char *text = NULL;
    int length = vasprintf(&text, format, args);

    if (length >= 0) {
        clean_text(text, one_line);
        length = fputs(text, stdout) < 0 ? -1 : 0;
        free(text);
    }
    if (length < 0 && !output_error)
        output_error = errno;
}

void print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_clean(format, args, false);
    va_end(args);
}

void print_line(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_clean(format, args, true);
    va_end(args);
    print("\n");
}

void print_part(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_clean(format, args, true);
    va_end(args);
}

int finish_output(int code)
{
    if (fflush(stdout) != 0 && !output_error)
        output_error = errno;
    /* A reader may close its pipe at any time. */
    if (!output_error || output_error == EPIPE)
        return code;
    fprintf(stderr, "llmperf: cannot write to standard output: %s\n", strerror(output_error));
    return EXIT_ENVIRONMENT;
}

int write_text(const char *text, const char *path)
{
    int status = LLMPERF_OK;

    if (strcmp(path, "-") == 0)
        print("%s", text);
    else
        status = llmperf_text_write(text, path);
    return status < 0 ? fail_status(status) : EXIT_FINE;
}

int write_document(const llmperf_profile *profile, uint32_t document, const char *path)
{
    char *text;
    int status;

    progress_begin();
    status = llmperf_document_text(profile, document, &text);
    progress_end();
    if (status < 0)
        return fail_status(status);
    status = write_text(text, path);
    llmperf_text_free(text);
    return status;
}

bool to_number(const char *text, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

const char *did_you_mean(const char *word, const char *const *words)
{
    static char text[128];
    const char *nearest = llmperf_nearest_word(word, words);

    snprintf(text, sizeof(text), "%s%s%s", nearest ? " (did you mean " : "", nearest ? nearest : "",
             nearest ? "?)" : "");
    return text;
}

int fail_usage(const struct command *command, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "llmperf %s: ", command->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "; see llmperf %s --help\n", command->name);
    return EXIT_USAGE;
}

int fail_with(int status, const char *text)
{
    bool input = status == LLMPERF_EINVAL || status == LLMPERF_ENOENT ||
                 status == LLMPERF_EFORMAT || status == LLMPERF_ENOTSUP;

    fprintf(stderr, "llmperf: %s\n", text);
    return input ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

int fail_status(int status)
{
    return fail_with(status, llmperf_last_error());
}

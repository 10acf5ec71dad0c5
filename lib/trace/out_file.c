/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/out_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "llmperf/api.h"

#define WRITE_BYTES (1u << 20)

char *lp_out_file_temporary(const char *path)
{
    struct lp_text text = { NULL, 0, 0, false };
    char *name = NULL;

    lp_text_printf(&text, "%s.%ld.tmp", path, (long)getpid());
    return lp_text_take(&text, &name) == 0 ? name : NULL;
}

/* A rename would replace the pipe or link. */
bool lp_out_file_is_special(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

int lp_out_file_open(struct lp_out_file *out, const char *path)
{
    *out = (struct lp_out_file){ .path = lp_text_copy(path) };
    if (!lp_out_file_is_special(path))
        out->temporary = lp_out_file_temporary(path);
    if (!out->path || (!lp_out_file_is_special(path) && !out->temporary))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    out->file = out->temporary ? lp_file_create_stream(out->temporary) : fopen(path, "wbe");
    if (!out->file)
        return lp_error(LLMPERF_EIO, "cannot write %s: %s", path, strerror(errno));
    setvbuf(out->file, NULL, _IOFBF, WRITE_BYTES);
    return 0;
}

void lp_out_file_write(struct lp_out_file *out, struct lp_text *text)
{
    if (text->failed && !out->failed)
        out->failed = ENOMEM;
    if (!out->failed && text->length > 0 && fwrite(text->bytes, text->length, 1, out->file) != 1)
        out->failed = errno ? errno : EIO;
    text->length = 0;
}

int lp_out_file_finish(struct lp_out_file *out)
{
    if (fclose(out->file) != 0 && !out->failed)
        out->failed = errno;
    out->file = NULL;
    if (!out->failed && out->temporary && rename(out->temporary, out->path) < 0)
        out->failed = errno;
    if (out->failed)
        return lp_error(out->failed == ENOMEM ? LLMPERF_ENOMEM : LLMPERF_EIO, "cannot write %s: %s",
                        out->path, strerror(out->failed));
    free(out->temporary);
    out->temporary = NULL;
    return 0;
}

void lp_out_file_close(struct lp_out_file *out)
{
    if (out->file)
        fclose(out->file);
    if (out->temporary)
        unlink(out->temporary);
    free(out->temporary);
    free(out->path);
    *out = (struct lp_out_file){ NULL, NULL, NULL, 0 };
}

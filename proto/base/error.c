/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/error.h"

#include <errno.h>
#include <stdarg.h>

bool error_set(struct error *error, const char *format, ...)
{
        va_list args;

        if (!error)
                return false;
        va_start(args, format);
        (void)vsnprintf(error->text, sizeof(error->text), format, args);
        va_end(args);
        return false;
}

int error_code(struct error *error, int code, const char *format, ...)
{
        va_list args;

        if (!error)
                return code;
        va_start(args, format);
        (void)vsnprintf(error->text, sizeof(error->text), format, args);
        va_end(args);
        return code;
}

int stream_flush(FILE *to)
{
        errno = 0;
        if (fflush(to) == 0 && !ferror(to))
                return 0;
        if (errno == 0) { /* it failed before, and stdio has not kept why: one more byte is told */
                (void)putc('\n', to);
                (void)fflush(to);
        }
        return errno ? -errno : -EIO;
}

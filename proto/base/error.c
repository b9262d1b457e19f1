/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/error.h"

#include <stdarg.h>
#include <stdio.h>

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

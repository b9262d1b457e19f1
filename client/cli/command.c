/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - messages of commands, all of one form. */
#include "client/cli/command.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 2, 0))) static void message(const struct command *c, const char *format, va_list ap)
{
        (void)fprintf(stderr, "heapwatch %s: ", c->name);
        (void)vfprintf(stderr, format, ap);
        (void)fputc('\n', stderr);
}

int command_usage_error(const struct command *c, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        message(c, format, ap);
        va_end(ap);
        (void)fprintf(stderr, "heapwatch %s: see `heapwatch %s --help`\n", c->name, c->name);
        return EXIT_USAGE;
}

void command_error(const struct command *c, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        message(c, format, ap);
        va_end(ap);
}

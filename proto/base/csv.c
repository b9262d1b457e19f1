/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/csv.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"

#define ESCAPED_MAX 12u /* bytes that one becomes: \u{NNNNNN} */

/* In quotes, with those inside doubled. */
static void quote_cell(char *out, const char *text)
{
        *out++ = '"';
        for (; *text; text++) {
                if (*text == '"')
                        *out++ = '"';
                *out++ = *text;
        }
        *out++ = '"';
        *out = '\0';
}

bool csv_is_formula(const char *text)
{
        return *text && strchr("=+-@", *text);
}

char *csv_cell(const char *text)
{
        const size_t size = strlen(text) * ESCAPED_MAX + 1;
        char *cell = malloc(size + 1), *quoted;

        if (!cell)
                return NULL;
        cell[0] = '\'';
        (void)hw_terminal_text(cell + 1, size, text);
        if (!csv_is_formula(cell + 1))
                memmove(cell, cell + 1, strlen(cell));
        if (!strpbrk(cell, ",\"\r\n"))
                return cell;
        quoted = malloc(2 * strlen(cell) + sizeof("\"\""));
        if (quoted)
                quote_cell(quoted, cell);
        free(cell);
        return quoted;
}

bool csv_print(FILE *to, const char *text)
{
        char *cell = csv_cell(text);

        if (!cell)
                return false;
        (void)fputs(cell, to);
        free(cell);
        return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/xml.h"

#include "heapwatch/text.h"

#define TEXT_MAX 4096u

void xml_text(FILE *out, const char *text)
{
        char safe[TEXT_MAX];

        hw_terminal_text(safe, sizeof(safe), text);
        for (const char *p = safe; *p; p++) {
                switch (*p) {
                case '<':
                        (void)fputs("&lt;", out);
                        break;
                case '>':
                        (void)fputs("&gt;", out);
                        break;
                case '&':
                        (void)fputs("&amp;", out);
                        break;
                case '"':
                        (void)fputs("&quot;", out);
                        break;
                default:
                        (void)fputc(*p, out);
                        break;
                }
        }
}

void xml_attribute(FILE *out, const char *name, const char *text)
{
        (void)fprintf(out, " %s=\"", name);
        xml_text(out, text);
        (void)fputc('"', out);
}

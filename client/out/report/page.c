/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - DESIGN: a report is recognised by its first bytes: its data, alone or in the head of a page. */
#include "client/out/report/compose.h"

#include <errno.h>
#include <string.h>

#include "client/cli/out_file.h"
#include "client/page/assets.h"

#define HEAD_BYTES 4096

/* The JSON inside a script element: '<' must not be in it. */
static void put_data(FILE *to, const char *text)
{
        while (*text) {
                size_t n = strcspn(text, "<");

                (void)fwrite(text, 1, n, to);
                if (text[n])
                        (void)fputs("\\u003c", to);
                text += n + (text[n] != '\0');
        }
}

int page_write(FILE *to, const char *data)
{
        const char *page = page_text(), *at = memmem(page, page_size(), PAGE_MARKER, strlen(PAGE_MARKER));

        if (!at)
                return -ENOTSUP;
        (void)fwrite(page, 1, (size_t)(at - page), to);
        (void)fprintf(to,
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; %s; "
                      "img-src data: blob:\">\n",
                      page_policy());
        (void)fputs("<script type=\"application/json\" id=\"data\">\n", to);
        put_data(to, data);
        (void)fputs("</script>", to);
        at += strlen(PAGE_MARKER);
        (void)fwrite(at, 1, page_size() - (size_t)(at - page), to);
        return 0;
}

bool page_may_replace(const char *path)
{
        static const char json[] = "{\"state\":{\"server\":{\"version\":",
                          page[] = "<script type=\"application/json\" id=\"data\">";
        char head[HEAD_BYTES + 1] = "";
        const ssize_t n = out_file_head(path, head, HEAD_BYTES);

        if (n < 0)
                return n == -ENOENT;
        return !strncmp(head, json, sizeof(json) - 1) || strstr(head, page);
}

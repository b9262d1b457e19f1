/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - DESIGN: a report is recognised by its first bytes: its data, alone or in the head of a page. */
#include "client/out/report/compose.h"

#include <errno.h>
#include <string.h>

#include "client/cli/out_file.h"
#include "client/page/assets.h"

#define HEAD_BYTES 4096

/* The JSON inside a script element: '<' must not be in it. */
static ssize_t put_data(void *to, const char *bytes, size_t size)
{
        const char *const end = bytes + size;

        while (bytes < end) {
                const char *found = memchr(bytes, '<', (size_t)(end - bytes)), *stop = found ? found : end;

                (void)fwrite(bytes, 1, (size_t)(stop - bytes), to);
                if (found)
                        (void)fputs("\\u003c", to);
                bytes = stop + (found != NULL);
        }
        return ferror(to) ? 0 : (ssize_t)size;
}

/* Where the data belong. */
static const char *find_marker(void)
{
        return memmem(page_text(), page_size(), PAGE_MARKER, strlen(PAGE_MARKER));
}

FILE *page_begin(FILE *to)
{
        const char *page = page_text(), *at = find_marker();

        if (!at) {
                errno = ENOTSUP;
                return NULL;
        }
        (void)fwrite(page, 1, (size_t)(at - page), to);
        (void)fprintf(to,
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; %s; "
                      "img-src data: blob:\">\n",
                      page_policy());
        (void)fputs("<script type=\"application/json\" id=\"data\">\n", to);
        return fopencookie(to, "w", (cookie_io_functions_t){ .write = put_data });
}

void page_end(FILE *to, FILE *data)
{
        const char *rest = find_marker() + strlen(PAGE_MARKER);

        (void)fclose(data); /* an error is one of `to`, too */
        (void)fputs("</script>", to);
        (void)fwrite(rest, 1, page_size() - (size_t)(rest - page_text()), to);
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

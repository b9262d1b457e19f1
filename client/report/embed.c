/* SPDX-License-Identifier: BSD-3-Clause */
/* embed.c - data inside a page. */
#include "client/report/embed.h"

#include <errno.h>
#include <string.h>

#include "client/web/assets.h"

#define MARKER "<!--heapwatch-data-->"

/* The JSON inside a script element: '<' must not stand in it. */
static void put_embedded(FILE *to, const char *text)
{
        while (*text) {
                size_t n = strcspn(text, "<");

                (void)fwrite(text, 1, n, to);
                if (text[n])
                        (void)fputs("\\u003c", to);
                text += n + (text[n] != '\0');
        }
}

int embed_data(FILE *to, const char *data)
{
        const struct asset *page = asset_report();
        const char *at = memmem(page->bytes, page->size, MARKER, strlen(MARKER));
        const char *rest = at ? at + strlen(MARKER) : NULL;

        if (!at)
                return -ENOTSUP;
        (void)fwrite(page->bytes, 1, (size_t)(at - page->bytes), to);
        (void)fputs("<script type=\"application/json\" id=\"data\">\n", to);
        put_embedded(to, data);
        (void)fputs("</script>", to);
        (void)fwrite(rest, 1, page->size - (size_t)(rest - page->bytes), to);
        return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* embed.c - data inside a page. */
#include "client/report/embed.h"

#include <errno.h>
#include <string.h>

#include "client/page/assets.h"

/* The JSON inside a script element: '<' must not be in it. */
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
        const char *page = page_text(), *at = memmem(page, page_size(), PAGE_MARKER, strlen(PAGE_MARKER));

        if (!at)
                return -ENOTSUP;
        (void)fwrite(page, 1, (size_t)(at - page), to);
        (void)fprintf(to,
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; %s; "
                      "img-src data: blob:\">\n",
                      page_policy());
        (void)fputs("<script type=\"application/json\" id=\"data\">\n", to);
        put_embedded(to, data);
        (void)fputs("</script>", to);
        at += strlen(PAGE_MARKER);
        (void)fwrite(at, 1, page_size() - (size_t)(at - page), to);
        return 0;
}

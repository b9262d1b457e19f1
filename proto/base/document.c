/* SPDX-License-Identifier: BSD-3-Clause */
/* document.c - open_memstream with its error checks. */
#include "proto/base/document.h"

#include <stdlib.h>

void document_open(struct document *d)
{
        *d = (struct document){ 0 };
        d->to = open_memstream(&d->text, &d->size);
}

bool document_close(struct document *d)
{
        bool good = d->to && !ferror(d->to);

        if (d->to && fclose(d->to))
                good = false;
        d->to = NULL;
        return good && d->text;
}

char *document_detach(struct document *d)
{
        char *text = d->text;

        d->text = NULL;
        return text;
}

void document_done(struct document *d)
{
        if (d->to)
                (void)fclose(d->to);
        free(d->text);
        *d = (struct document){ 0 };
}

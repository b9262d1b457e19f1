/* SPDX-License-Identifier: BSD-3-Clause */
/* document.h - a text that is written as a stream and used when it is complete. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct document {
        FILE *to;   /* NULL when out of memory */
        char *text; /* valid after document_close; NUL-terminated */
        size_t size;
};

void document_open(struct document *d);

/* Ends the writing. False: out of memory, and there is no text. */
bool document_close(struct document *d);

/* The text becomes the caller's, to free(). */
char *document_detach(struct document *d);
void document_done(struct document *d);

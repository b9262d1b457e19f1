/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one arena per target, reset after each message. A text that is valid
 * UTF-8 - nearly every one - is borrowed from the model and not copied: the
 * message is packed before the model moves on. `failed` is sticky, so that
 * encoders need not check every text they ask for.
 */
#include "daemon/publish/encode.h"

#include <string.h>

#include "proto/base/ckd.h"
#include "daemon/publish/limits.h"
#include "heapwatch/text.h"

#define REPLACEMENT_BYTES 3 /* U+FFFD in UTF-8: the most that one bad byte becomes */

void encoder_init(struct encoder *e)
{
        arena_init(&e->arena, 0);
        e->failed = false;
}

void encoder_done(struct encoder *e)
{
        arena_done(&e->arena);
}

void encoder_reset(struct encoder *e)
{
        e->failed = false;
        if (e->arena.held_bytes > LIMIT_ENCODER_KEEP_BYTES)
                arena_done(&e->arena);
        else
                arena_reset(&e->arena);
}

void *encoder_calloc(struct encoder *e, size_t n, size_t size)
{
        void *p = arena_calloc(&e->arena, n, size);

        if (!p)
                e->failed = true;
        return p;
}

static bool is_clean(const char *text, size_t size)
{
        return hw_utf8_valid(text, size) && !(size && memchr(text, '\0', size));
}

/* A copy with U+FFFD in place of what is not UTF-8. */
static char *clean(struct encoder *e, const char *bytes, size_t size)
{
        size_t room;
        char *out = NULL, *copy = arena_strndup(&e->arena, bytes, size);

        if (copy && !ckd_mul(&room, size, REPLACEMENT_BYTES) && !ckd_add(&room, room, 1))
                out = arena_zalloc(&e->arena, room);
        if (!out)
                return NULL;
        for (size_t i = 0; i < size; i++)
                if (copy[i] == '\0')
                        copy[i] = '\xff'; /* never valid in UTF-8; a NUL would end the text on the wire */
        (void)hw_utf8_clean(out, room, copy, size);
        return out;
}

char *encoder_copy(struct encoder *e, const char *text)
{
        return encoder_bytes(e, text, strlen(text));
}

char *encoder_bytes(struct encoder *e, const char *bytes, size_t size)
{
        char *out = is_clean(bytes, size) ? arena_strndup(&e->arena, bytes, size) : clean(e, bytes, size);

        if (!out)
                e->failed = true;
        return out;
}

char *encoder_text(struct encoder *e, const char *text)
{
        size_t size;

        if (!text)
                return NULL;
        size = strlen(text);
        if (hw_utf8_valid(text, size))
                return (char *)text; /* protobuf-c has no const; packing only reads */
        return encoder_bytes(e, text, size);
}

char *encoder_sized_text(struct encoder *e, const char *text, size_t size)
{
        if (is_clean(text, size))
                return (char *)text; /* protobuf-c has no const; packing only reads */
        return encoder_bytes(e, text, size);
}

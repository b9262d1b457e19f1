/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one arena for all targets, reset after each message. A text that is valid
 * UTF-8 - nearly every one - is borrowed from the model and not copied: the
 * message is packed before the model moves on. `failed` is sticky, so that
 * encoders need not check every text.
 */
#include "daemon/publish/encode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/hash.h"
#include "proto/base/utf8.h"

#define REPLACEMENT_BYTES 3  /* U+FFFD in UTF-8: at most this for one invalid byte */
#define CUT_BYTES         64 /* of the remark at the end of a cut text */

void encoder_init(struct encoder *e)
{
        arena_init(&e->arena, 0);
        e->failed = false;
}

void encoder_done(struct encoder *e)
{
        arena_done(&e->arena);
}

static struct {
        struct encoder encoder;
        size_t users;
} shared;

struct encoder *encoder_share(void)
{
        if (shared.users++ == 0)
                encoder_init(&shared.encoder);
        return &shared.encoder;
}

void encoder_unshare(void)
{
        if (--shared.users == 0)
                encoder_done(&shared.encoder);
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

void *encoder_message(struct encoder *e, const ProtobufCMessageDescriptor *type)
{
        void *message = encoder_calloc(e, 1, type->sizeof_message);

        if (message)
                protobuf_c_message_init(type, message);
        return message;
}

void *encoder_rows(struct encoder *e, const ProtobufCMessageDescriptor *type, size_t n)
{
        ProtobufCMessage **rows = encoder_calloc(e, n, sizeof(*rows));
        char *messages = encoder_calloc(e, n, type->sizeof_message);

        if (!rows || !messages)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                rows[i] = (void *)(messages + i * type->sizeof_message);
                protobuf_c_message_init(type, rows[i]);
        }
        return rows;
}

static bool is_clean(const char *text, size_t size)
{
        return size <= LIMIT_PUBLISHED_TEXT_BYTES && hw_utf8_valid(text, size) && !(size && memchr(text, '\0', size));
}

/* Adds the size of a cut text, and a hash that tells texts with the same beginning apart. */
static void note_cut(char *text, size_t length, const char *bytes, size_t size)
{
        const size_t most = LIMIT_PUBLISHED_TEXT_BYTES - CUT_BYTES;

        if (length > most)
                length = utf8_cut(text, most);
        (void)snprintf(text + length, CUT_BYTES, "... (%zu bytes, %016" PRIx64 ")", size, hash_bytes(bytes, size, 0));
}

/* A copy of at most LIMIT_PUBLISHED_TEXT_BYTES, with U+FFFD in place of what is not UTF-8. */
static char *clean(struct encoder *e, const char *bytes, size_t size)
{
        const size_t taken = size < LIMIT_PUBLISHED_TEXT_BYTES ? size : LIMIT_PUBLISHED_TEXT_BYTES;
        char *out = arena_zalloc(&e->arena, taken * REPLACEMENT_BYTES + CUT_BYTES + 1);
        char *copy = arena_strndup(&e->arena, bytes, taken);
        size_t length;

        if (!out || !copy)
                return NULL;
        for (size_t i = 0; i < taken; i++)
                if (copy[i] == '\0')
                        copy[i] = '\xff'; /* never valid in UTF-8; a NUL would end the text on the wire */
        length = hw_utf8_clean(out, taken * REPLACEMENT_BYTES + 1, copy, taken);
        if (taken < size || length > LIMIT_PUBLISHED_TEXT_BYTES)
                note_cut(out, length, bytes, size);
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
        return text ? encoder_sized_text(e, text, strlen(text)) : NULL;
}

char *encoder_sized_text(struct encoder *e, const char *text, size_t size)
{
        if (is_clean(text, size))
                return (char *)text; /* protobuf-c has no const; packing only reads */
        return encoder_bytes(e, text, size);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/text_out.h"

#include <stdarg.h>

void text_out_init(struct text_out *o, char *buffer, size_t size)
{
        *o = (struct text_out){ .at = buffer, .size = size };
        buffer[0] = '\0';
}

void text_put_n(struct text_out *o, const char *text, size_t n)
{
        size_t room = o->size - o->used - 1;

        if (n > room) {
                n = room;
                o->cut = true;
        }
        memcpy(o->at + o->used, text, n);
        o->used += n;
        o->at[o->used] = '\0';
}

void text_put(struct text_out *o, const char *text)
{
        text_put_n(o, text, strlen(text));
}

static void put_number(struct text_out *o, uint64_t number, unsigned base)
{
        char digits[20];
        size_t n = sizeof(digits);

        do {
                digits[--n] = "0123456789abcdef"[number % base];
                number /= base;
        } while (number);
        text_put_n(o, digits + n, sizeof(digits) - n);
}

void text_put_u64(struct text_out *o, uint64_t number)
{
        put_number(o, number, 10);
}

void text_put_hex(struct text_out *o, uint64_t number)
{
        put_number(o, number, 16);
}

void text_out_rewind(struct text_out *o, size_t used)
{
        o->used = used;
        o->cut = false;
        o->at[used] = '\0';
}

void text_put_alternatives(struct text_out *o, const char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                text_put(o, i == 0 ? "" : i == n - 1 ? " or " : ", ");
                text_put(o, words[i]);
        }
}

char *text_join(char *buffer, size_t size, ...)
{
        struct text_out o;
        const char *text;
        va_list args;

        text_out_init(&o, buffer, size);
        va_start(args, size);
        while ((text = va_arg(args, const char *)))
                text_put(&o, text);
        va_end(args);
        return buffer;
}

const char *xml_entity(char c, bool quoted)
{
        switch (c) {
        case '<':
                return "&lt;";
        case '>':
                return "&gt;";
        case '&':
                return "&amp;";
        case '"':
                return quoted ? "&quot;" : NULL;
        default:
                return NULL;
        }
}

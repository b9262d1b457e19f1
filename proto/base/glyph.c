/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: columns are those of wcwidth(3), so of the locale, except those of
 * our own symbols: they take one column also where the locale knows none of
 * them.
 */
#include "proto/base/utf8.h"
#include "proto/base/array.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "heapwatch/text.h"

char *safe_text(char *out, size_t size, const char *text)
{
        (void)hw_terminal_text(out, size, text ? text : "");
        return out;
}

/* The symbols that heapwatch draws, and their substitutes where there is no UTF-8. */
static const struct {
        uint32_t code;
        char twin;
} twins[] = {
        { 0x2013, '-' }, { 0x2026, '~' },  { 0x00b7, '|' }, { 0x25cf, '*' }, { 0x25cb, 'o' }, { 0x2500, '-' },
        { 0x2581, '_' }, { 0x2582, '.' },  { 0x2583, ':' }, { 0x2584, '-' }, { 0x2585, '=' }, { 0x2586, '+' },
        { 0x2587, '*' }, { 0x2588, '#' },  { 0x2591, '.' }, { 0x25b8, '>' }, { 0x00d7, 'x' }, { 0x25b2, '^' },
        { 0x25b5, ',' }, { 0x25be, 'v' },  { 0x2502, '|' }, { 0x2508, '.' }, { 0x254c, '-' }, { 0x2534, '+' },
        { 0x25a0, '#' }, { 0x2590, '#' },  { 0x2190, '<' }, { 0x2191, '^' }, { 0x2192, '>' }, { 0x2193, 'v' },
        { 0x2197, '/' }, { 0x2198, '\\' }, { 0x2514, '`' }, { 0x251c, '|' }, { 0x00b1, '~' }, { 0x2592, '%' },
        { 0x201c, '"' }, { 0x201d, '"' },
};

static char twin(uint32_t code)
{
        for (size_t i = 0; i < ARRAY_SIZE(twins); i++) {
                if (twins[i].code == code)
                        return twins[i].twin;
        }
        return '?';
}

/* -1 when it cannot be shown. */
static int columns_of(uint32_t code)
{
        if (code < 0x20 || code == 0x7f)
                return -1;
        if (code < 0x7f || twin(code) != '?')
                return 1;
        return wcwidth((wchar_t)code);
}

struct glyph glyph_next(const char *text, bool ascii)
{
        struct glyph g = { .bytes = "?", .columns = 1 };
        uint32_t code = 0;
        int columns;

        g.length = utf8_decode(text, strnlen(text, 4), &code);
        if (!g.length) {
                g.length = 1; /* not UTF-8 */
                return g;
        }
        columns = columns_of(code);
        if (ascii && code >= 0x80) {
                g.bytes[0] = twin(code);
                g.columns = columns == 0 ? 0 : 1;
        } else if (columns >= 0) {
                memcpy(g.bytes, text, g.length);
                g.columns = columns;
        }
        return g;
}

int text_columns(const char *text)
{
        int columns = 0;

        while (*text) {
                struct glyph g = glyph_next(text, false);

                columns += g.columns;
                text += g.length;
        }
        return columns;
}

size_t text_beginning(const char *text, int width)
{
        size_t n = 0;

        while (text[n]) {
                struct glyph g = glyph_next(text + n, false);

                width -= g.columns;
                if (width < 0)
                        break;
                n += g.length;
        }
        return n;
}

const char *text_end(const char *text, int width)
{
        int columns = text_columns(text);
        bool follows = false; /* a character that is left out: what would join it is left out, too */

        while (*text) {
                struct glyph g = glyph_next(text, false);

                if (columns <= width && !(follows && g.columns == 0))
                        break;
                columns -= g.columns;
                text += g.length;
                follows = true;
        }
        return text;
}

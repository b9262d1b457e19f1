/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the well-formed sequences of the Unicode Standard, table 3-7, as
 * code: the lead byte gives the length and the least code point, continuation
 * bytes are checked one by one, and surrogates fall out by range.
 */
#include "proto/base/utf8.h"

#include <string.h>

#include "heapwatch/text.h"

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

size_t utf8_decode(const void *bytes, size_t n, uint32_t *ret_code)
{
        const uint8_t *p = bytes;
        uint32_t code, least;
        size_t length;

        if (n == 0)
                return 0;
        if (p[0] < 0x80) {
                *ret_code = p[0];
                return 1;
        }
        if (p[0] >= 0xC2 && p[0] <= 0xDF) {
                length = 2, least = 0x80, code = p[0] & 0x1Fu;
        } else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
                length = 3, least = 0x800, code = p[0] & 0x0Fu;
        } else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
                length = 4, least = 0x10000, code = p[0] & 0x07u;
        } else {
                return 0;
        }
        if (length > n)
                return 0;
        for (size_t i = 1; i < length; i++) {
                if ((p[i] & 0xC0) != 0x80)
                        return 0;
                code = code << 6 | (p[i] & 0x3Fu);
        }
        if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
                return 0;
        *ret_code = code;
        return length;
}

size_t utf8_cut(const char *text, size_t n)
{
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
                n--;
        return n;
}

bool utf8_is_control(uint32_t code)
{
        return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C /* Arabic letter mark */ ||
               (code >= 0x200B && code <= 0x200F) /* zero width, left-to-right and right-to-left marks */ ||
               (code >= 0x2028 && code <= 0x202E) /* separators, embeddings, overrides */ ||
               (code >= 0x2060 && code <= 0x206F) /* invisible operators, isolates */ || code == 0xFEFF ||
               (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE007F) /* tags */;
}

/* The bytes at the start that are ASCII, eight at a time: nearly all text is ASCII throughout. */
static size_t ascii_span(const uint8_t *p, size_t n)
{
        size_t at = 0;
        uint64_t word;

        for (; n - at >= sizeof(word); at += sizeof(word)) {
                memcpy(&word, p + at, sizeof(word));
                if (word & UINT64_C(0x8080808080808080))
                        break;
        }
        while (at < n && p[at] < 0x80)
                at++;
        return at;
}

bool hw_utf8_valid(const void *bytes, size_t n)
{
        const uint8_t *p = bytes;
        uint32_t code;

        for (size_t pos = ascii_span(p, n); pos < n;) {
                size_t length = utf8_decode(p + pos, n - pos, &code);

                if (length == 0)
                        return false;
                pos += length;
        }
        return true;
}

size_t hw_utf8_clean(char *out, size_t size, const void *bytes, size_t n)
{
        const char *p = bytes;
        size_t used = 0;
        uint32_t code;

        if (size == 0)
                return 0;
        while (n > 0 && p[n - 1] == '\0') /* old runtimes send a trailing NUL */
                n--;
        if (n < size && ascii_span(bytes, n) == n && !memchr(p, '\0', n)) {
                memcpy(out, p, n);
                out[n] = '\0';
                return n;
        }
        for (size_t pos = 0; pos < n;) {
                size_t length = utf8_decode(p + pos, n - pos, &code);
                bool good = length > 0 && code != 0;
                const char *from = good ? p + pos : replacement;
                size_t need = good ? length : sizeof(replacement) - 1;

                if (need > size - 1 - used)
                        break;
                memcpy(out + used, from, need);
                used += need;
                pos += length ? length : 1;
        }
        out[used] = '\0';
        return used;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - GHC writes [PACKAGE_]MODULE_NAME[_UNIQUE]_info with each part z-encoded (GHC.Utils.Encoding), so that "_"
 * is only between them. A part is never longer decoded than encoded, but for characters beyond ASCII: each write checks
 * the room.
 */
#include "proto/base/haskell_symbol.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text_out.h"

#define RUNTIME     "stg_"
#define TABLE       "_info"
#define CONSTRUCTOR "_con" TABLE
#define PARTS       4u /* package, module, name, unique */

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
        return c >= 'A' && c <= 'Z';
}

static bool is_word(const char *text, const char *allowed)
{
        for (; *text; text++)
                if (!is_digit(*text) && !is_upper(*text) && !(*text >= 'a' && *text <= 'z') && !strchr(allowed, *text))
                        return false;
        return true;
}

/* ------------------------------------------------------------------ z-encoding */

struct out {
        char *text;
        size_t n;
};

static bool put_text(struct out *o, const char *text, size_t n)
{
        if (n >= SYMBOL_BYTES - o->n)
                return false;
        memcpy(o->text + o->n, text, n);
        o->n += n;
        o->text[o->n] = '\0';
        return true;
}

/* "Z2T" is (,), "Z0T" (), "Z2H" (#,#): the number of components. */
static bool put_tuple(struct out *o, const char **at)
{
        char *end;
        unsigned long n = strtoul(*at, &end, 10);
        bool unboxed = *end == 'H';

        if ((*end != 'T' && !unboxed) || n > 64)
                return false;
        *at = end + 1;
        if (!put_text(o, unboxed ? "(#" : "(", unboxed ? 2 : 1))
                return false;
        for (unsigned long i = 1; i < n; i++)
                if (!put_text(o, ",", 1))
                        return false;
        return put_text(o, unboxed ? "#)" : ")", unboxed ? 2 : 1);
}

/* "z3bbU": a character by its number, which begins with a digit. */
static bool put_number(struct out *o, const char **at)
{
        char *end;
        unsigned long c = strtoul(*at, &end, 16);

        if (*end != 'U' || end - *at > 8)
                return false;
        *at = end + 1;
        char bytes[4];

        if (c < 0x80 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
                return false;
        if (c < 0x800) {
                bytes[0] = (char)(0xc0 | c >> 6);
                bytes[1] = (char)(0x80 | (c & 0x3f));
                return put_text(o, bytes, 2);
        }
        if (c < 0x10000) {
                bytes[0] = (char)(0xe0 | c >> 12);
                bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
                bytes[2] = (char)(0x80 | (c & 0x3f));
                return put_text(o, bytes, 3);
        }
        bytes[0] = (char)(0xf0 | c >> 18);
        bytes[1] = (char)(0x80 | (c >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (c & 0x3f));
        return put_text(o, bytes, 4);
}

static bool put_escaped(struct out *o, char kind, const char **at)
{
        static const char lower[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz", upper[] = "L(R)M[N]C:ZZ";

        if (is_digit(**at))
                return kind == 'Z' ? put_tuple(o, at) : put_number(o, at);
        for (const char *p = kind == 'Z' ? upper : lower; *p; p += 2)
                if (*p == **at) {
                        ++*at;
                        return put_text(o, p + 1, 1);
                }
        return false;
}

/* Appends what `part` encodes. */
static bool decode_part(struct out *o, const char *part)
{
        while (*part) {
                char c = *part++;
                if (c == 'z' || c == 'Z' ? !put_escaped(o, c, &part) : !put_text(o, &c, 1))
                        return false;
        }
        return o->n > 0;
}

/* --------------------------------------------------------------------- symbols */

static bool is_module(const char *part)
{
        char text[SYMBOL_BYTES] = "";
        struct out o = { .text = text };

        return is_upper(part[0]) && decode_part(&o, part) && is_word(text, "._'");
}

/* What GHC adds to a name that is not exported: "s4nN". */
static bool is_unique(const char *part)
{
        return part[0] >= 'a' && part[0] <= 'z' && part[1] && is_word(part, "");
}

/* ARR_WORDS of "ARR_WORDS", as the runtime names it; "stg_sel_0_upd" stays a symbol. */
static bool decode_of_runtime(struct haskell_symbol *ret, const char *body)
{
        bool closure = true;

        for (const char *p = body; *p; p++)
                closure &= is_upper(*p) || is_digit(*p) || *p == '_';
        ret->module[0] = '\0';
        (void)snprintf(ret->name, sizeof(ret->name), "%s%.*s", closure ? "" : RUNTIME, (int)(SYMBOL_BYTES - 8), body);
        return body[0] != '\0';
}

/* The parts of `body`, which is cut at each "_"; 0 when there are more than PARTS. */
static size_t split_parts(char *body, const char *parts[PARTS])
{
        size_t n = 0;

        for (char *at = body; at; n++) {
                char *next = strchr(at, '_');
                if (n == PARTS)
                        return 0;
                if (next)
                        *next++ = '\0';
                parts[n] = at;
                at = next;
        }
        return n;
}

bool haskell_symbol_is_table(const char *symbol)
{
        return text_has_suffix(symbol, TABLE);
}

bool haskell_symbol_decode(struct haskell_symbol *ret, const char *symbol)
{
        bool constructor = text_has_suffix(symbol, CONSTRUCTOR);
        size_t n = strlen(symbol), cut = constructor ? strlen(CONSTRUCTOR) : strlen(TABLE);
        struct out module = { .text = ret->module }, name = { .text = ret->name };
        const char *parts[PARTS];
        char body[SYMBOL_BYTES];

        if (!haskell_symbol_is_table(symbol) || n >= sizeof(body))
                return false;
        memcpy(body, symbol, n - cut);
        body[n - cut] = '\0';
        if (!strncmp(body, RUNTIME, strlen(RUNTIME)))
                return decode_of_runtime(ret, body + strlen(RUNTIME));
        n = split_parts(body, parts);
        bool package = n > 2 && !is_module(parts[0]);
        size_t at = package ? 1 : 0; /* where the module is */
        bool unique = n == at + 3 && !constructor && is_unique(parts[n - 1]);
        if (n != at + 2 + unique || !is_module(parts[at]))
                return false;
        ret->module[0] = ret->name[0] = '\0';
        if (package && !(decode_part(&module, parts[0]) && put_text(&module, ":", 1)))
                return false;
        return decode_part(&module, parts[at]) && decode_part(&name, parts[at + 1]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include <inttypes.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/census.h"
#include "inspect/show/request.h"
#include "proto/base/json_out.h"
#include "proto/base/utf8.h"

#define WHAT_BYTES  160
#define VALUE_BYTES 64u /* shown of contents, at most */
#define VALUE_HEX   16u

static const char *what_text(char what[WHAT_BYTES], const struct heap_arrays *a)
{
        (void)snprintf(what, WHAT_BYTES, "%s in %s byte arrays", BYTES_TEXT(a->bytes), COUNT_TEXT(a->arrays));
        return what;
}

/* UTF-16 of Latin letters, as text 1 has it, with zeros behind: as UTF-8. 0: it is none, or of other letters. */
static size_t from_utf16(uint8_t to[VALUE_BYTES], const uint8_t *bytes, size_t n)
{
        size_t used = 0;

        if (n % 2)
                return 0;
        while (n > 1 && !bytes[n - 1] && !bytes[n - 2])
                n -= 2;
        for (size_t i = 0; i + 1 < n; i += 2) {
                if (bytes[i + 1] || bytes[i] < 0x20 || (bytes[i] >= 0x7f && bytes[i] < 0xa0))
                        return 0;
                if (bytes[i] >= 0x80)
                        to[used++] = (uint8_t)(0xc0 | bytes[i] >> 6);
                to[used++] = bytes[i] >= 0x80 ? 0x80 | (bytes[i] & 0x3f) : bytes[i];
        }
        return used;
}

/* The length of the text that bytes are, or of more begin with; 0: they are none. */
static size_t text_length(const uint8_t *bytes, size_t n, bool of_more)
{
        size_t i = 0;
        uint32_t code;

        for (size_t c; i < n && (c = utf8_decode(bytes + i, n - i, &code)); i += c)
                if (utf8_is_control(code) && code != '\t' && code != '\n' && code != '\r')
                        return 0;
        return i == n || (of_more && n - i < 4) ? i : 0; /* its last character may be cut */
}

/* What it begins with: text, in quotes, else its bytes. */
static void print_value(FILE *to, const uint8_t *value, uint64_t bytes)
{
        uint8_t utf8[VALUE_BYTES];
        size_t n = bytes < VALUE_BYTES ? (size_t)bytes : VALUE_BYTES;
        const size_t n_utf16 = from_utf16(utf8, value, n),
                     n_text = n_utf16 ? n_utf16 : text_length(value, n, n < bytes);
        char text[VALUE_BYTES + 1], shown[4 * VALUE_BYTES];

        if (n_text) {
                (void)hw_utf8_clean(text, sizeof(text), n_utf16 ? utf8 : value, n_text);
                (void)hw_terminal_text(shown, sizeof(shown), text);
                (void)fprintf(to, "  \"%s\"", shown);
        } else {
                n = n < VALUE_HEX ? n : VALUE_HEX;
                (void)fputc(' ', to);
                for (size_t i = 0; i < n; i++)
                        (void)fprintf(to, " %02x", value[i]);
        }
        (void)fputs(n < bytes ? " ..." : "", to);
}

static void print_repeated(const struct inspect_request *r, const struct heap_arrays *a)
{
        FILE *to = r->to;
        char n[HW_NUMBER_MAX];

        if (!a->repeated) {
                (void)fputs("\nNo two of them have the same contents.\n", to);
                return;
        }
        (void)fprintf(to,
                      "\n%s arrays have the contents of another one: %s would go if each contents were there once.\n",
                      hw_count_text(n, sizeof(n), a->repeated), BYTES_TEXT(a->repeated_bytes));
        (void)fprintf(to, "\n%10s  %14s  %12s%s\n", "WOULD GO", "EQUAL ARRAYS", "SIZE OF EACH",
                      r->show_values ? "  BEGINS WITH" : "");
        for (uint32_t i = 0; i < a->n_contents && i < r->top; i++) {
                const struct array_content *c = &a->contents[i];
                (void)fprintf(to, "%10s  %14s  %12s", BYTES_TEXT(array_spare_bytes(c)),
                              hw_count_text(n, sizeof(n), c->arrays), BYTES_TEXT(c->bytes));
                if (r->show_values)
                        print_value(to, heap_arrays_value(a, c), c->bytes);
                (void)fputc('\n', to);
        }
        if (a->n_contents > r->top)
                (void)fprintf(to, "and %s contents more\n", hw_count_text(n, sizeof(n), a->n_contents - r->top));
}

static void print_text(const struct inspect_subject *s, const struct heap_arrays *a)
{
        char what[WHAT_BYTES];

        head_text(s, what_text(what, a));
        FILE *to = s->request->to;
        (void)fprintf(to, "\n%10s  %7s  %14s  SIZE OF EACH\n", "BYTES", "SHARE", "ARRAYS");
        for (unsigned i = 0; i < ARRAY_CLASSES; i++) {
                const struct array_class *c = &a->classes[i];
                const bool last = i + 1 == ARRAY_CLASSES;
                if (!c->arrays)
                        continue;
                (void)fprintf(to, "%10s  %7s  %14s  %s %s\n", BYTES_TEXT(c->bytes),
                              SHARE_TEXT(a->bytes ? (double)c->bytes / (double)a->bytes : 0), COUNT_TEXT(c->arrays),
                              last ? "at least" : "less than", BYTES_TEXT((double)array_class_ends[last ? i - 1 : i]));
        }
        print_repeated(s->request, a);
        if (a->not_compared)
                (void)fprintf(s->request->to, "not compared: %s arrays of more than a megablock, %s\n",
                              COUNT_TEXT(a->not_compared), BYTES_TEXT(a->not_compared_bytes));
}

static void print_json(const struct inspect_subject *s, const struct heap_arrays *a)
{
        struct json_out j = { .to = s->request->to };
        char what[WHAT_BYTES];

        json_open(&j, '{');
        head_json(&j, s);
        head_sentences_json(&j, s, what_text(what, a));
        json_member_u64(&j, "arrays", a->arrays);
        json_member_u64(&j, "bytes", a->bytes);
        json_member_u64(&j, "repeated_arrays", a->repeated);
        json_member_u64(&j, "repeated_bytes", a->repeated_bytes);
        json_member_u64(&j, "not_compared_arrays", a->not_compared);
        json_member_u64(&j, "not_compared_bytes", a->not_compared_bytes);
        json_member_open(&j, "sizes", '[');
        for (unsigned i = 0; i < ARRAY_CLASSES; i++) {
                json_line(&j);
                json_open(&j, '{');
                if (i + 1 < ARRAY_CLASSES)
                        json_member_u64(&j, "below_bytes", array_class_ends[i]);
                json_member_u64(&j, "arrays", a->classes[i].arrays);
                json_member_u64(&j, "bytes", a->classes[i].bytes);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_member_open(&j, "repeated", '[');
        for (uint32_t i = 0; i < a->n_contents && i < s->request->top; i++) {
                json_line(&j);
                json_open(&j, '{');
                json_member_u64(&j, "bytes", a->contents[i].bytes);
                json_member_u64(&j, "arrays", a->contents[i].arrays);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
}

bool show_arrays(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error)
{
        struct heap_arrays a;
        const bool good =
                (heap_arrays_count(&a, snapshot) || error_set(error, "out of memory; --memory gives it more")) &&
                is_understood(s, &a.all, error);

        if (good) {
                heap_arrays_sort(&a);
                (s->request->json ? print_json : print_text)(s, &a);
        }
        heap_arrays_done(&a);
        return good;
}

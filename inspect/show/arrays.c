/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/arrays.h"

#include <inttypes.h>

#include "heapwatch/text.h"
#include "inspect/ghc/arrays.h"
#include "inspect/show/head.h"
#include "inspect/show/heap.h"
#include "proto/base/json_out.h"

#define WHAT_BYTES 160

static const char *what_text(char what[WHAT_BYTES], const struct heap_arrays *a)
{
        char bytes[HW_NUMBER_MAX], n[HW_NUMBER_MAX];

        (void)snprintf(what, WHAT_BYTES, "%s in %s byte arrays", hw_bytes_text(bytes, sizeof(bytes), (double)a->bytes),
                       hw_count_text(n, sizeof(n), a->arrays));
        return what;
}

static void print_classes(FILE *to, const struct heap_arrays *a)
{
        char bytes[HW_NUMBER_MAX], n[HW_NUMBER_MAX], end[HW_NUMBER_MAX], share[HW_NUMBER_MAX];

        (void)fprintf(to, "\n%10s  %7s  %14s  SIZE OF EACH\n", "BYTES", "SHARE", "ARRAYS");
        for (unsigned i = 0; i < ARRAY_CLASSES; i++) {
                const struct array_class *c = &a->classes[i];
                const bool last = i + 1 == ARRAY_CLASSES;
                if (!c->arrays)
                        continue;
                (void)fprintf(to, "%10s  %7s  %14s  %s %s\n", hw_bytes_text(bytes, sizeof(bytes), (double)c->bytes),
                              hw_share_text(share, sizeof(share), a->bytes ? (double)c->bytes / (double)a->bytes : 0),
                              hw_count_text(n, sizeof(n), c->arrays), last ? "at least" : "less than",
                              hw_bytes_text(end, sizeof(end), (double)array_class_ends[last ? i - 1 : i]));
        }
}

static void print_repeated(FILE *to, const struct heap_arrays *a, unsigned top)
{
        char bytes[HW_NUMBER_MAX], n[HW_NUMBER_MAX], each[HW_NUMBER_MAX];

        if (!a->repeated) {
                (void)fputs("\nNo two of them have the same contents.\n", to);
                return;
        }
        (void)fprintf(to,
                      "\n%s arrays have the contents of another one: %s would go if each contents were there once.\n",
                      hw_count_text(n, sizeof(n), a->repeated),
                      hw_bytes_text(bytes, sizeof(bytes), (double)a->repeated_bytes));
        (void)fprintf(to, "\n%10s  %14s  SIZE OF EACH\n", "WOULD GO", "EQUAL ARRAYS");
        for (uint32_t i = 0; i < a->n_contents && i < top; i++)
                (void)fprintf(to, "%10s  %14s  %s\n",
                              hw_bytes_text(bytes, sizeof(bytes), (double)array_spare_bytes(&a->contents[i])),
                              hw_count_text(n, sizeof(n), a->contents[i].arrays),
                              hw_bytes_text(each, sizeof(each), (double)a->contents[i].bytes));
        if (a->n_contents > top)
                (void)fprintf(to, "and %s contents more\n", hw_count_text(n, sizeof(n), a->n_contents - top));
}

static void print_text(const struct inspect_subject *s, const struct heap_arrays *a)
{
        char what[WHAT_BYTES], n[HW_NUMBER_MAX], bytes[HW_NUMBER_MAX];

        head_text(s, what_text(what, a));
        print_classes(s->request->to, a);
        print_repeated(s->request->to, a, s->request->top);
        if (a->not_compared)
                (void)fprintf(s->request->to, "not compared: %s arrays of more than a megablock, %s\n",
                              hw_count_text(n, sizeof(n), a->not_compared),
                              hw_bytes_text(bytes, sizeof(bytes), (double)a->not_compared_bytes));
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

bool show_arrays(const struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error)
{
        struct heap_arrays a;
        const bool good =
                (heap_arrays_count(&a, snapshot) || error_set(error, "out of memory; --memory gives it more")) &&
                is_understood(&a.all, error);

        if (good) {
                heap_arrays_sort(&a);
                (s->request->json ? print_json : print_text)(s, &a);
        }
        heap_arrays_done(&a);
        return good;
}

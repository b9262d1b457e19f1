/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/query/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"
#include "proto/wire/message.h"

#define REPLACED 3u /* bytes of U+FFFD, for each bad one */

static void add_value(struct query_rows *r, struct query_value value)
{
        if (r->n < r->room || ARRAY_RESERVE(r->values, r->room, r->n + 1))
                r->values[r->n++] = value;
        else
                r->failed = true;
}

void query_rows_add_null(struct query_rows *r)
{
        add_value(r, (struct query_value){ .type = QUERY_NULL });
}

void query_rows_add_integer(struct query_rows *r, uint64_t value)
{
        if (value > INT64_MAX)
                query_rows_add_real(r, (double)value);
        else
                add_value(r, (struct query_value){ .type = QUERY_INTEGER, .integer = (int64_t)value });
}

void query_rows_add_real(struct query_rows *r, double value)
{
        add_value(r, isnan(value) ? (struct query_value){ .type = QUERY_NULL }
                                  : (struct query_value){ .type = QUERY_REAL, .real = value });
}

void query_rows_add_seconds(struct query_rows *r, uint64_t ns)
{
        query_rows_add_real(r, (double)ns / 1e9);
}

void query_rows_add_optional(struct query_rows *r, bool has, uint64_t value)
{
        if (has)
                query_rows_add_integer(r, value);
        else
                query_rows_add_null(r);
}

/* Of any type of integer; a boolean is 0 or 1 in 32 bits. */
static uint64_t get_number(const struct field_values *v)
{
        return v->step == sizeof(uint32_t) ? *(const uint32_t *)(const void *)v->at
                                           : *(const uint64_t *)(const void *)v->at;
}

static void add_field(struct query_rows *r, const ProtobufCFieldDescriptor *f, const ProtobufCMessage *message)
{
        const struct field_values v = field_values(message, f);
        char text[ENUM_TEXT_MAX];

        if (!v.count)
                query_rows_add_null(r);
        else if (f->type == PROTOBUF_C_TYPE_STRING)
                query_rows_add_text(r, *(char *const *)(const void *)v.at);
        else if (f->type == PROTOBUF_C_TYPE_ENUM)
                query_rows_add_text(r, enum_text(text, f->descriptor, *(const int *)(const void *)v.at));
        else if (f->type == PROTOBUF_C_TYPE_DOUBLE)
                query_rows_add_real(r, *(const double *)(const void *)v.at);
        else if (text_has_suffix(f->name, "_ns"))
                query_rows_add_seconds(r, get_number(&v));
        else
                query_rows_add_integer(r, get_number(&v));
}

void query_rows_add_fields(struct query_rows *r, const ProtobufCMessage *m, const char *names)
{
        char name[64];

        for (size_t n; (n = strcspn(names, " ")) > 0; names += n + (names[n] == ' ')) {
                (void)snprintf(name, sizeof(name), "%.*s", (int)n, names);
                add_field(r, protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name), m);
        }
}

bool query_rows_next_is_used(const struct query_rows *r)
{
        return r->used >> r->n % r->width & 1;
}

void query_rows_add_text(struct query_rows *r, const char *text)
{
        const size_t size = text ? strlen(text) : 0;

        if (!text || !query_rows_next_is_used(r)) {
                query_rows_add_null(r);
        } else if (ARRAY_RESERVE(r->texts, r->texts_room, r->n_texts + size * REPLACED + 1)) {
                const size_t at = r->n_texts;
                r->n_texts += hw_utf8_clean(r->texts + at, size * REPLACED + 1, text, size) + 1;
                add_value(r, (struct query_value){ .type = QUERY_TEXT, .text = at });
        } else {
                r->failed = true;
                query_rows_add_null(r);
        }
}

void query_rows_clear(struct query_rows *r)
{
        r->n = r->n_texts = 0;
}

void query_rows_done(struct query_rows *r)
{
        free(r->values);
        free(r->texts);
        *r = (struct query_rows){ .values = NULL };
}

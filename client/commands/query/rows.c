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
        if (ARRAY_RESERVE(r->values, r->room, r->n + 1))
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

static uint64_t get_number(ProtobufCType type, const void *at)
{
        return type == PROTOBUF_C_TYPE_BOOL                                      ? *(const protobuf_c_boolean *)at != 0
               : type == PROTOBUF_C_TYPE_UINT32 || type == PROTOBUF_C_TYPE_INT32 ? *(const uint32_t *)at
                                                                                 : *(const uint64_t *)at;
}

static void add_field(struct query_rows *r, const ProtobufCFieldDescriptor *f, const char *message)
{
        const void *at = message + f->offset;
        const bool is_text = f->type == PROTOBUF_C_TYPE_STRING;
        char text[ENUM_TEXT_MAX];

        if (!is_text && !*(const protobuf_c_boolean *)(message + f->quantifier_offset))
                query_rows_add_null(r);
        else if (is_text)
                query_rows_add_text(r, *(char *const *)at);
        else if (f->type == PROTOBUF_C_TYPE_ENUM)
                query_rows_add_text(r, enum_text(text, f->descriptor, *(const int *)at));
        else if (f->type == PROTOBUF_C_TYPE_DOUBLE)
                query_rows_add_real(r, *(const double *)at);
        else if (text_has_suffix(f->name, "_ns"))
                query_rows_add_seconds(r, get_number(f->type, at));
        else
                query_rows_add_integer(r, get_number(f->type, at));
}

void query_rows_add_fields(struct query_rows *r, const ProtobufCMessage *m, const char *names)
{
        char name[64];

        for (size_t n; (n = strcspn(names, " ")) > 0; names += n + (names[n] == ' ')) {
                (void)snprintf(name, sizeof(name), "%.*s", (int)n, names);
                add_field(r, protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name), (const char *)m);
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

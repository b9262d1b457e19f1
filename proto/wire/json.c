/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one walk over the descriptors writes any message, so a new field of
 * the schema needs no line here. A growing buffer remembers its first failure
 * and writes nothing after it. Recursion follows the schema, which has no
 * cycles. What is absent is left out; so are empty repeated fields.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/ckd.h"
#include "proto/base/decimal.h"
#include "proto/wire/fields.h"
#include "heapwatch/wire.h"
#include "proto/base/utf8.h"

struct writer {
        char *text;
        size_t used, size;
        bool failed;
        bool plain_numbers;
};

static bool reserve(struct writer *w, size_t n)
{
        size_t need, size = w->size ? w->size : 512;

        if (w->failed || ckd_add(&need, w->used, n) || ckd_add(&need, need, 1u))
                return !(w->failed = true);
        while (size < need)
                if (ckd_mul(&size, size, 2u))
                        return !(w->failed = true);
        if (size == w->size)
                return true;
        char *text = realloc(w->text, size);
        if (!text)
                return !(w->failed = true);
        w->text = text;
        w->size = size;
        return true;
}

static void put(struct writer *w, const char *bytes, size_t n)
{
        if (!reserve(w, n))
                return;
        memcpy(w->text + w->used, bytes, n);
        w->used += n;
        w->text[w->used] = '\0';
}

static void put_text(struct writer *w, const char *text)
{
        put(w, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void put_format(struct writer *w, const char *format, ...)
{
        char small[64];
        va_list args;

        va_start(args, format);
        int n = vsnprintf(small, sizeof(small), format, args);
        va_end(args);
        if (n < 0 || (size_t)n >= sizeof(small))
                w->failed = true;
        else
                put(w, small, (size_t)n);
}

/* ------------------------------------------------------------------ scalars */

static void put_escaped(struct writer *w, uint32_t code)
{
        if (code >= 0x10000)
                put_format(w, "\\u%04X\\u%04X", 0xD7C0u + (unsigned)(code >> 10), 0xDC00u + (unsigned)(code & 0x3FF));
        else if (code == '\n' || code == '\t' || code == '\r')
                put_text(w, code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r");
        else
                put_format(w, "\\u%04X", (unsigned)code);
}

static void put_string(struct writer *w, const char *text)
{
        size_t n = strlen(text);
        uint32_t code = 0;

        put_text(w, "\"");
        for (size_t pos = 0; pos < n && !w->failed;) {
                size_t length = utf8_decode(text + pos, n - pos, &code);

                if (length == 0)
                        put_text(w, "\xEF\xBF\xBD");
                else if (utf8_is_control(code))
                        put_escaped(w, code);
                else if (code == '"' || code == '\\')
                        put_format(w, "\\%c", (char)code);
                else
                        put(w, text + pos, length);
                pos += length ? length : 1;
        }
        put_text(w, "\"");
}

static void put_base64(struct writer *w, const ProtobufCBinaryData *data)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

        put_text(w, "\"");
        for (size_t pos = 0; pos < data->len; pos += 3) {
                size_t n = data->len - pos < 3 ? data->len - pos : 3;
                uint32_t bits = (uint32_t)data->data[pos] << 16;
                char out[4];

                bits |= n > 1 ? (uint32_t)data->data[pos + 1] << 8 : 0;
                bits |= n > 2 ? data->data[pos + 2] : 0u;
                for (unsigned i = 0; i < 4; i++)
                        out[i] = i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=';
                put(w, out, sizeof(out));
        }
        put_text(w, "\"");
}

static void put_double(struct writer *w, double value)
{
        char number[DECIMAL_MAX];

        if (isnan(value))
                put_text(w, "\"NaN\"");
        else if (isinf(value))
                put_text(w, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        else
                put_text(w, decimal_shortest(number, value));
}

static void put_enum(struct writer *w, const ProtobufCFieldDescriptor *field, int value)
{
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(field->descriptor, value);

        if (v)
                put_string(w, v->name);
        else
                put_format(w, "%d", value);
}

static void put_64(struct writer *w, ProtobufCType type, const char *at)
{
        const char *quote = w->plain_numbers ? "" : "\"";
        uint64_t value;
        int64_t negative;

        memcpy(&value, at, sizeof(value));
        memcpy(&negative, at, sizeof(negative));
        if (type == PROTOBUF_C_TYPE_UINT64 || type == PROTOBUF_C_TYPE_FIXED64)
                put_format(w, "%s%" PRIu64 "%s", quote, value, quote);
        else
                put_format(w, "%s%" PRId64 "%s", quote, negative, quote);
}

static void put_32(struct writer *w, const ProtobufCFieldDescriptor *field, const char *at)
{
        uint32_t value;
        int32_t negative;
        float single;

        memcpy(&value, at, sizeof(value));
        memcpy(&negative, at, sizeof(negative));
        memcpy(&single, at, sizeof(single));
        if (field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_FIXED32)
                put_format(w, "%" PRIu32, value);
        else if (field->type == PROTOBUF_C_TYPE_FLOAT)
                put_double(w, (double)single);
        else if (field->type == PROTOBUF_C_TYPE_ENUM)
                put_enum(w, field, negative);
        else
                put_format(w, "%" PRId32, negative);
}

/* ----------------------------------------------------------------- messages */

static void put_message(struct writer *w, const ProtobufCMessage *message);

static void put_value(struct writer *w, const ProtobufCFieldDescriptor *field, const char *at)
{
        const void *pointer = NULL;
        ProtobufCBinaryData data;
        protobuf_c_boolean yes;
        double number;

        switch (field->type) {
        case PROTOBUF_C_TYPE_MESSAGE:
                memcpy(&pointer, at, sizeof(pointer));
                put_message(w, pointer);
                break;
        case PROTOBUF_C_TYPE_STRING:
                memcpy(&pointer, at, sizeof(pointer));
                put_string(w, pointer);
                break;
        case PROTOBUF_C_TYPE_BYTES:
                memcpy(&data, at, sizeof(data));
                put_base64(w, &data);
                break;
        case PROTOBUF_C_TYPE_BOOL:
                memcpy(&yes, at, sizeof(yes));
                put_text(w, yes ? "true" : "false");
                break;
        case PROTOBUF_C_TYPE_DOUBLE:
                memcpy(&number, at, sizeof(number));
                put_double(w, number);
                break;
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_SINT64:
        case PROTOBUF_C_TYPE_SFIXED64:
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_FIXED64:
                put_64(w, field->type, at);
                break;
        default:
                put_32(w, field, at);
                break;
        }
}

/* "live_time_ns" as "liveTimeNs". */
static void put_name(struct writer *w, const char *name)
{
        char camel[80];
        size_t n = 0;

        camel[n++] = '"';
        for (bool upper = false; *name && n < sizeof(camel) - 2; name++) {
                char c = upper && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;

                upper = c == '_';
                if (!upper)
                        camel[n++] = c;
        }
        camel[n++] = '"';
        camel[n++] = ':';
        put(w, camel, n);
        w->failed |= *name != '\0'; /* no name of the schema is that long */
}

static void put_field(struct writer *w, const ProtobufCFieldDescriptor *field, const struct field_values *v)
{
        bool list = field->label == PROTOBUF_C_LABEL_REPEATED;

        put_name(w, field->name);
        if (list)
                put_text(w, "[");
        for (size_t i = 0; i < v->count && !w->failed; i++) {
                if (i > 0)
                        put_text(w, ",");
                put_value(w, field, v->at + i * v->step);
        }
        if (list)
                put_text(w, "]");
}

static void put_message(struct writer *w, const ProtobufCMessage *message)
{
        const ProtobufCMessageDescriptor *d = message->descriptor;
        const char *separator = "";

        put_text(w, "{");
        for (unsigned i = 0; i < d->n_fields && !w->failed; i++) {
                struct field_values v = field_values(message, &d->fields[i]);

                if (v.count == 0)
                        continue;
                put_text(w, separator);
                put_field(w, &d->fields[i], &v);
                separator = ",";
        }
        put_text(w, "}");
}

char *hw_json(const ProtobufCMessage *message, bool plain_numbers)
{
        struct writer w = { .plain_numbers = plain_numbers };

        put_message(&w, message);
        if (!w.failed)
                return w.text;
        free(w.text);
        return NULL;
}

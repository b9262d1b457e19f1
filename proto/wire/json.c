/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one walk over the descriptors writes any message, so a new field of
 * the schema needs no code here. Recursion follows the schema, which has no
 * cycles. Absent fields are left out; so are empty repeated ones.
 */
#include "proto/wire/message.h"

#include <math.h>
#include <string.h>

#include "proto/base/document.h"
#include "proto/base/text_out.h"
#include "heapwatch/wire.h"

/* ------------------------------------------------------------------ scalars */

/* As protobuf writes them: canonical proto3 has texts for what is not finite. */
static void put_double(struct json_out *j, double value)
{
        char number[DECIMAL_MAX];

        if (isnan(value))
                json_text(j, "NaN");
        else if (isinf(value))
                json_text(j, value > 0 ? "Infinity" : "-Infinity");
        else
                json_raw(j, decimal_shortest(number, value));
}

static void put_64(struct json_out *j, ProtobufCType type, const char *at, bool plain_numbers)
{
        bool is_signed = type != PROTOBUF_C_TYPE_UINT64 && type != PROTOBUF_C_TYPE_FIXED64;
        uint64_t value;
        int64_t negative;

        memcpy(&value, at, sizeof(value));
        memcpy(&negative, at, sizeof(negative));
        if (is_signed && plain_numbers)
                json_i64(j, negative);
        else if (is_signed)
                json_i64_string(j, negative);
        else if (plain_numbers)
                json_u64(j, value);
        else
                json_u64_string(j, value);
}

static void put_32(struct json_out *j, const ProtobufCFieldDescriptor *field, const char *at)
{
        uint32_t value;
        int32_t negative;
        float single;

        memcpy(&value, at, sizeof(value));
        memcpy(&negative, at, sizeof(negative));
        memcpy(&single, at, sizeof(single));
        if (field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_FIXED32) {
                json_u64(j, value);
        } else if (field->type == PROTOBUF_C_TYPE_FLOAT) {
                put_double(j, (double)single);
        } else if (field->type == PROTOBUF_C_TYPE_ENUM) {
                const char *word = hw_enum_word(field->descriptor, negative);
                if (word)
                        json_text(j, word);
                else
                        json_i64(j, negative);
        } else {
                json_i64(j, negative);
        }
}

/* ----------------------------------------------------------------- messages */

static void put_value(struct json_out *j, const ProtobufCFieldDescriptor *field, const char *at, bool plain_numbers)
{
        const void *pointer = NULL;
        ProtobufCBinaryData data;
        protobuf_c_boolean yes;
        double number;

        switch (field->type) {
        case PROTOBUF_C_TYPE_MESSAGE:
                memcpy(&pointer, at, sizeof(pointer));
                json_message(j, pointer, plain_numbers);
                break;
        case PROTOBUF_C_TYPE_STRING:
                memcpy(&pointer, at, sizeof(pointer));
                json_text(j, pointer);
                break;
        case PROTOBUF_C_TYPE_BYTES:
                memcpy(&data, at, sizeof(data));
                json_base64(j, data.data, data.len);
                break;
        case PROTOBUF_C_TYPE_BOOL:
                memcpy(&yes, at, sizeof(yes));
                json_bool(j, yes);
                break;
        case PROTOBUF_C_TYPE_DOUBLE:
                memcpy(&number, at, sizeof(number));
                put_double(j, number);
                break;
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_SINT64:
        case PROTOBUF_C_TYPE_SFIXED64:
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_FIXED64:
                put_64(j, field->type, at, plain_numbers);
                break;
        default:
                put_32(j, field, at);
                break;
        }
}

/* "live_time_ns" as "liveTimeNs". No name of the schema is longer than 79 bytes. */
static void put_name(struct json_out *j, const char *name)
{
        char camel[80];
        size_t n = 0;

        for (bool upper = false; *name && n < sizeof(camel) - 1; name++) {
                char c = upper && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;

                upper = c == '_';
                if (!upper)
                        camel[n++] = c;
        }
        camel[n] = '\0';
        json_key(j, camel);
}

void json_message(struct json_out *j, const ProtobufCMessage *message, bool plain_numbers)
{
        const ProtobufCMessageDescriptor *d = message->descriptor;

        json_open(j, '{');
        for (unsigned i = 0; i < d->n_fields; i++) {
                const ProtobufCFieldDescriptor *field = &d->fields[i];
                struct field_values v = field_values(message, field);
                bool list = field->label == PROTOBUF_C_LABEL_REPEATED;

                if (v.count == 0)
                        continue;
                put_name(j, field->name);
                if (list)
                        json_open(j, '[');
                for (size_t k = 0; k < v.count; k++)
                        put_value(j, field, v.at + k * v.step, plain_numbers);
                if (list)
                        json_close(j, ']');
        }
        json_close(j, '}');
}

char *hw_json(const ProtobufCMessage *message, bool plain_numbers)
{
        struct document d;
        char *text;

        document_open(&d);
        if (d.to)
                json_message(&(struct json_out){ .to = d.to }, message, plain_numbers);
        text = document_close(&d) ? document_detach(&d) : NULL;
        document_done(&d);
        return text;
}

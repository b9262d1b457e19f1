/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/message.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static size_t value_size(ProtobufCType type)
{
        switch (type) {
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_SINT64:
        case PROTOBUF_C_TYPE_SFIXED64:
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_FIXED64:
        case PROTOBUF_C_TYPE_DOUBLE:
                return 8;
        case PROTOBUF_C_TYPE_BOOL:
                return sizeof(protobuf_c_boolean);
        case PROTOBUF_C_TYPE_STRING:
                return sizeof(char *);
        case PROTOBUF_C_TYPE_BYTES:
                return sizeof(ProtobufCBinaryData);
        case PROTOBUF_C_TYPE_MESSAGE:
                return sizeof(ProtobufCMessage *);
        default: /* 32-bit integers, enums, float */
                return 4;
        }
}

static char *at(const ProtobufCMessage *message, unsigned offset)
{
        return (char *)(uintptr_t)message + offset;
}

/* Whether a field that is not repeated is there. */
static bool is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
        const void *value = at(message, field->offset), *quantifier = at(message, field->quantifier_offset);

        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
                uint32_t chosen;

                memcpy(&chosen, quantifier, sizeof(chosen));
                if (chosen != field->id)
                        return false;
        }
        if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE) {
                const void *pointer;

                memcpy(&pointer, value, sizeof(pointer));
                return pointer != NULL;
        }
        if (field->label == PROTOBUF_C_LABEL_OPTIONAL && !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)) {
                protobuf_c_boolean has;

                memcpy(&has, quantifier, sizeof(has));
                return has;
        }
        return true;
}

struct field_values field_values(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
        struct field_values v = { .step = value_size(field->type) };

        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
                memcpy(&v.count, at(message, field->quantifier_offset), sizeof(v.count));
                memcpy(&v.at, at(message, field->offset), sizeof(v.at));
        } else {
                v.count = is_present(message, field);
                v.at = at(message, field->offset);
        }
        return v;
}

void field_drop_enum(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, size_t i)
{
        struct field_values v = field_values(message, field);

        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
                memmove(v.at + i * v.step, v.at + (i + 1) * v.step, (v.count - i - 1) * v.step);
                v.count--;
                memcpy(at(message, field->quantifier_offset), &v.count, sizeof(v.count));
        } else {
                protobuf_c_boolean has = 0;

                memset(v.at, 0, v.step);
                memcpy(at(message, field->quantifier_offset), &has, sizeof(has));
        }
}

const char *enum_text(char out[ENUM_TEXT_MAX], const ProtobufCEnumDescriptor *of, int value)
{
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(of, value);
        const char *prefix_end = v ? strchr(v->name, '_') : NULL, *from = prefix_end ? prefix_end + 1 : NULL;
        size_t n = 0;

        for (; from && from[n] && n < ENUM_TEXT_MAX - 1; n++)
                out[n] = (char)tolower((unsigned char)from[n]);
        out[n] = '\0';
        return from ? out : NULL;
}

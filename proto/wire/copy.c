/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: by the descriptors, as a message is freed. What is not there in the original has its default in the copy,
 * whatever the original holds in its place, as in a message that was packed and unpacked.
 */
#include "proto/wire/message.h"

#include <string.h>

static void *copy_bytes(const void *from, size_t n)
{
        void *to = message_allocate(n);

        return to ? memcpy(to, from, n) : NULL;
}

/* Replaces what a copied value points to by its copy. False: out of memory, and it points to nothing. */
static bool copy_pointee(const ProtobufCFieldDescriptor *field, char *value)
{
        ProtobufCBinaryData bytes;
        void *pointer;

        if (field->type == PROTOBUF_C_TYPE_BYTES) {
                memcpy(&bytes, value, sizeof(bytes));
                bytes.data = bytes.len ? copy_bytes(bytes.data, bytes.len) : NULL;
                const bool good = bytes.data || !bytes.len;
                bytes.len = good ? bytes.len : 0;
                memcpy(value, &bytes, sizeof(bytes));
                return good;
        }
        if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
                return true;
        memcpy(&pointer, value, sizeof(pointer));
        pointer = field->type == PROTOBUF_C_TYPE_MESSAGE ? (void *)message_copy(pointer)
                                                         : copy_bytes(pointer, strlen(pointer) + 1);
        memcpy(value, &pointer, sizeof(pointer));
        return pointer != NULL;
}

/* What is not copied after a failure is not there. */
static bool copy_field(ProtobufCMessage *to, const ProtobufCMessage *from, const ProtobufCFieldDescriptor *field)
{
        const struct field_values v = field_values(from, field);
        char *at = (char *)to + field->offset, *quantity = (char *)to + field->quantifier_offset;
        const bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
        size_t done = 0;

        if (v.count == 0)
                return true;
        if (repeated) {
                char *array = copy_bytes(v.at, v.count * v.step);
                if (!array)
                        return false;
                memcpy(at, &array, sizeof(array));
                at = array;
        } else {
                memcpy(at, v.at, v.step);
                if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
                        memcpy(quantity, &field->id, sizeof(field->id));
                else if (field->quantifier_offset)
                        memcpy(quantity, &(protobuf_c_boolean){ 1 }, sizeof(protobuf_c_boolean));
        }
        while (done < v.count && copy_pointee(field, at + done * v.step))
                done++;
        if (repeated)
                memcpy(quantity, &done, sizeof(done));
        return done == v.count;
}

ProtobufCMessage *message_copy(const ProtobufCMessage *message)
{
        ProtobufCMessage *copy = message_new(message->descriptor);
        bool good = copy != NULL;

        for (unsigned i = 0; good && i < message->descriptor->n_fields; i++)
                good = copy_field(copy, message, &message->descriptor->fields[i]);
        if (good)
                return copy;
        hw_message_unref(copy);
        return NULL;
}

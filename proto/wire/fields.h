/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h - the values of a message's field, by its descriptor: the one place that knows protobuf-c's layout. */
#ifndef HW_PROTO_WIRE_FIELDS_H
#define HW_PROTO_WIRE_FIELDS_H

#include <protobuf-c/protobuf-c.h>

struct field_values {
        char *at;     /* the first value: scalar, char *, ProtobufCBinaryData or ProtobufCMessage * */
        size_t count; /* 0: absent; 1: present; any number when repeated */
        size_t step;  /* bytes from one value to the next */
};

/* Borrowed from the message. */
struct field_values field_values(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

/* Drops the i-th value of an optional or repeated enum field; the message is changed. */
void field_drop_enum(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, size_t i);

#define ENUM_TEXT_MAX 64

/* "running" for STATE_RUNNING, in `out`; NULL when this version does not know the value. */
const char *enum_text(char out[ENUM_TEXT_MAX], const ProtobufCEnumDescriptor *of, int value);

#endif

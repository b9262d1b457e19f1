/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h - the memory of messages: how wire.h's counted messages are allocated. */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "heapwatch/wire.h"
#include "proto/base/json_out.h"

/* Memory for a message or a part of one, its count 1; NULL when out of memory. Frees it, whatever its count is. */
void *message_allocate(size_t size);
void message_release(void *memory);

/* A message of this type with nothing set; NULL when out of memory. For hw_message_unref. */
void *message_new(const ProtobufCMessageDescriptor *type);

/* Replaces *field, a text of a message that was made here, by a copy of `text`. Returns 0 or -ENOMEM. */
int message_set_text(char **field, const char *text);

/* copy.c: of a message that may be anywhere, all of it, for hw_message_unref; NULL when out of memory. */
ProtobufCMessage *message_copy(const ProtobufCMessage *message);

/* validate.c: is an unpacked message what the schema's comments promise? */

/*
 * Each returns NULL when the message is good, else a static sentence. Enum
 * values that this version does not know are removed from updates and replies;
 * in requests, where dropping one would change the question, they are refused.
 */
const char *validate_update(Hw__Update *update);
const char *validate_request(Hw__Request *request);
const char *validate_reply(Hw__Reply *reply);

/* json.c: messages of the wire as JSON, written to a stream; hw_json makes a text. */

/* proto3's canonical form; plain_numbers: 64-bit integers as numbers, not as texts. */
void json_message(struct json_out *j, const ProtobufCMessage *message, bool plain_numbers);

/* fields.c: the values of a message's field, by its descriptor: the one place that knows protobuf-c's layout. */

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

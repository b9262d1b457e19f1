/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - messages of the wire as JSON, written to a stream; hw_json makes a text. */
#ifndef HW_PROTO_WIRE_JSON_H
#define HW_PROTO_WIRE_JSON_H

#include <protobuf-c/protobuf-c.h>

#include "proto/base/json_out.h"

/* proto3's canonical form; plain_numbers: 64-bit integers as numbers, not as texts. */
void json_message(struct json_out *j, const ProtobufCMessage *message, bool plain_numbers);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h - the messages of heapwatch: generated structs, checked unpacking,
 * topics, and JSON. The schema, with the unit of every field, is
 * heapwatch.proto; docs/PROTOCOL.md says how messages travel.
 */
#ifndef HEAPWATCH_WIRE_H
#define HEAPWATCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/heapwatch.pb-c.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_TOPIC_MAX 96 /* bytes of the longest topic, NUL included */

/*
 * Messages are allocated by this library only, and counted. Never put one on a stack or into a struct of your own: a
 * later version of the library has larger ones (fields are only ever appended), and its functions would read beyond
 * yours. So none of the generated functions of heapwatch.pb-c.h is exported. Read messages in place; keep one, or any
 * message inside it, by a reference:
 *
 *     const Hw__Heap *heap = (const Hw__Heap *)hw_message_ref(&update->heap->base);
 *     ... the update may go, the heap stays ...
 *     hw_message_unref(&heap->base);
 *
 * Nobody changes a message that may have other readers. Counts are not atomic: a message belongs to one thread.
 * NULL may be passed to all of these.
 */
const void *hw_message_ref(const ProtobufCMessage *message); /* returns `message` */
void hw_message_unref(const ProtobufCMessage *message);
const Hw__Update *hw_update_ref(const Hw__Update *update);
void hw_update_unref(const Hw__Update *update);
void hw_reply_unref(const Hw__Reply *reply);

/*
 * A request with an empty body of this kind, for example HW__REQUEST__WHAT_HISTORY: r->history is there. Numbers are
 * set in place, with their has_ field; texts and lists by the functions below, which copy. NULL when out of memory or
 * when there is no such kind.
 */
Hw__Request *hw_request_new(Hw__Request__WhatCase what);
void hw_request_destroy(Hw__Request **request);

/* *field is a text of a request's body: hw_request_set_text(&r->history->target, "api"); NULL removes it. Returns 0
 * or -ENOMEM. */
int hw_request_set_text(char **field, const char *text);
int hw_request_add_target(Hw__SnapshotRequest *snapshot, const char *target);
int hw_request_add_kind(Hw__SnapshotRequest *snapshot, Hw__Kind kind);
int hw_request_add_label(Hw__AddTargetRequest *add, const char *label); /* NAME=VALUE */

/* Lower-case name of a kind ("heap"), or NULL. Static. */
const char *hw_kind_name(Hw__Kind kind);

/* The kind of a name, or HW__KIND__KIND_NONE. */
Hw__Kind hw_kind_parse(const char *name);

/* The kind of an update's body; KIND_NONE when there is none this version knows. */
Hw__Kind hw_update_kind(const Hw__Update *update);

/* Name of a series as users write it ("live", "gc_pause"), or NULL; and back, or SERIES_NONE. */
const char *hw_series_name(Hw__Series series);
Hw__Series hw_series_parse(const char *name);

/* The schema's name of an enum's value, "STATE_RUNNING"; NULL when this version does not know it. Static. */
const char *hw_enum_word(const ProtobufCEnumDescriptor *of, int value);

/* Unit of a series' values: "B", "ns", or "" for counts. Static. */
const char *hw_series_unit(Hw__Series series);

/* Whether this is a valid name of a target: 1 to 64 of [A-Za-z0-9._~-]. */
bool hw_target_name_valid(const char *name);

/* Writes "hw1/<kind>/<target>/" and returns its length. `target` "" with KIND_DAEMON. */
size_t hw_topic(char ret_topic[HW_TOPIC_MAX], Hw__Kind kind, const char *target);

/*
 * Unpacks and checks a message from outside: sizes of paired arrays agree,
 * texts are UTF-8, names are valid, nothing is nested deeper than the schema.
 * An enum value that this version does not know is dropped from an update or
 * reply (a newer daemon may send it) and refused in a request.
 * Returns NULL with a static sentence in *ret_reason when it is refused. The
 * result has one reference; protobuf-c's own *_free_unpacked must not be used.
 */
Hw__Update *hw_update_unpack(const void *bytes, size_t size, const char **ret_reason);
Hw__Request *hw_request_unpack(const void *bytes, size_t size, const char **ret_reason);
Hw__Reply *hw_reply_unpack(const void *bytes, size_t size, const char **ret_reason);

/*
 * Any message as JSON on one line, proto3's canonical mapping (lowerCamelCase
 * names, 64-bit integers as strings, enums by name), made by walking the
 * descriptors. With `plain_numbers`, 64-bit integers are written as numbers
 * for tools that want them so. Returns a string to free(), NULL when out of
 * memory. A text that is not UTF-8 is cleaned (hw_utf8_clean), so the result is
 * always valid JSON; control characters are escaped, C1 and bidi ones too.
 */
char *hw_json(const ProtobufCMessage *message, bool plain_numbers);

/* The default directory of a daemon's sockets: $HEAPWATCH_DIR, else $XDG_RUNTIME_DIR/heapwatch, else
 * /run/heapwatch as root, else /run/user/<uid>/heapwatch where the user has a session, else /tmp/heapwatch-<uid>.
 * Returns 0 or -ENAMETOOLONG. */
int hw_default_directory(char *ret_path, size_t size);

/* "ipc://<directory>/publish" and ".../request". */
int hw_default_endpoints(char *ret_publish, char *ret_request, size_t size);

/*
 * Whether whatever listens at a publish endpoint, and at the request endpoint beside it, can be trusted to be the
 * intended daemon: an ipc socket must belong to this user, root or (for an endpoint other than the default) the owner
 * of its directory, and nobody else may be able to change that directory or those above it. A missing default directory
 * is created where anybody else could create it first. Subscribers and requesters refuse other endpoints themselves.
 * Returns 0, -EPERM, or -EACCES (the directory may not be entered), then with a sentence in `reason`.
 */
int hw_endpoint_check(const char *publish, char *reason, size_t size);

#ifdef __cplusplus
}
#endif
#endif

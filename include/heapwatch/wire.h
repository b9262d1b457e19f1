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

/* Lower-case name of a kind ("heap"), or NULL. Static. */
const char *hw_kind_name(Hw__Kind kind);

/* The kind of a name, or HW__KIND__KIND_NONE. */
Hw__Kind hw_kind_parse(const char *name);

/* The kind of an update's body; KIND_NONE when there is none this version knows. */
Hw__Kind hw_update_kind(const Hw__Update *update);

/* Name of a series as users write it ("live", "gc_pause"), or NULL; and back, or SERIES_NONE. */
const char *hw_series_name(Hw__Series series);
Hw__Series hw_series_parse(const char *name);

/* Unit of a series' values: "B", "ns". Static. */
const char *hw_series_unit(Hw__Series series);

/* Whether a target may be called so: 1 to 64 of [A-Za-z0-9._~-]. */
bool hw_target_name_valid(const char *name);

/* Writes "hw1/<kind>/<target>/" and returns its length. `target` "" with KIND_DAEMON. */
size_t hw_topic(char ret_topic[HW_TOPIC_MAX], Hw__Kind kind, const char *target);

/*
 * Unpacks and checks a message from outside: sizes of paired arrays agree,
 * texts are UTF-8, names are valid, nothing is nested deeper than the schema.
 * An enum value that this version does not know is dropped from an update or
 * reply (a newer daemon may send it) and refused in a request.
 * Returns NULL with a static sentence in *ret_reason when it is refused.
 * Free with hw__update__free_unpacked(update, NULL) and its like.
 */
Hw__Update *hw_update_unpack(const void *bytes, size_t size, const char **ret_reason);
Hw__Request *hw_request_unpack(const void *bytes, size_t size, const char **ret_reason);
Hw__Reply *hw_reply_unpack(const void *bytes, size_t size, const char **ret_reason);

/*
 * Any message as JSON on one line, proto3's canonical mapping (lowerCamelCase
 * names, 64-bit integers as strings, enums by name), made by walking the
 * descriptors. With `plain_numbers`, 64-bit integers are written as numbers
 * for tools that want them so. Returns a string to free(), NULL when memory is
 * short. A text that is not UTF-8 is cleaned (hw_utf8_clean), so the result is
 * always valid JSON; control characters are escaped, C1 and bidi ones too.
 */
char *hw_json(const ProtobufCMessage *message, bool plain_numbers);

/* The default directory of a daemon's sockets: $HEAPWATCH_DIR, else $XDG_RUNTIME_DIR/heapwatch, else
 * /run/heapwatch as root, else /tmp/heapwatch-<uid>. Returns 0 or -ENAMETOOLONG. */
int hw_default_directory(char *ret_path, size_t size);

/* "ipc://<directory>/publish" and ".../request". */
int hw_default_endpoints(char *ret_publish, char *ret_request, size_t size);

#ifdef __cplusplus
}
#endif
#endif

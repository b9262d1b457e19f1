/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_text.h - sets fields of messages by their names in the schema: "trends.early.rate", "10MiB". Lists grow by
 * their indices, "bands.0.label", those of numbers are "1,2"; "-" takes a field or a list away, "{}" is a message
 * without fields.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "tests/unit/test.h"

#define MESSAGE_LIST_MAX 8

static struct {
        _Alignas(16) char room[1 << 18];
        size_t used;
} messages;

static inline void *messages_alloc(size_t size)
{
        void *ret = messages.room + messages.used;

        messages.used += (size + 15) / 16 * 16;
        assert_in_range(messages.used, 0, sizeof(messages.room));
        return memset(ret, 0, size);
}

/* What was set before is gone. */
static inline void messages_forget(void)
{
        messages.used = 0;
}

static inline double message_unit(const char *unit, size_t n)
{
        static const struct {
                const char *name;
                double value;
        } units[] = { { "", 1 },     { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
                      { "ms", 1e6 }, { "s", 1e9 },       { "m", 60e9 } };

        for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
                if (strlen(units[i].name) == n && !memcmp(units[i].name, unit, n))
                        return units[i].value;
        fail_msg("no unit %s", unit);
        return 0;
}

/* "4m59s980ms", "12": exact. */
static inline uint64_t message_whole(const char *value)
{
        uint64_t ret = 0;

        do {
                char *unit;
                const uint64_t n = strtoull(value, &unit, 10);
                const size_t size = strcspn(unit, "0123456789");
                ret += n * (uint64_t)message_unit(unit, size);
                value = unit + size;
        } while (*value);
        return ret;
}

static inline double message_real(const char *value)
{
        char *unit;
        const double n = strtod(value, &unit);

        return n * message_unit(unit, strlen(unit));
}

/* "7,5" in place of the numbers that were there. */
static inline void message_set_numbers(void *at, size_t *count, size_t size, const char *value)
{
        char *list = messages_alloc(MESSAGE_LIST_MAX * size);

        for (*count = 0; *value; value += strcspn(value, ",") + (strchr(value, ',') != NULL)) {
                char one[32] = "";
                assert_true(*count < MESSAGE_LIST_MAX && strcspn(value, ",") < sizeof(one));
                memcpy(one, value, strcspn(value, ","));
                const uint64_t n = message_whole(one); /* the least bytes come first */
                memcpy(list + (*count)++ * size, &n, size);
        }
        *(void **)at = list;
}

static inline void message_set(ProtobufCMessage *m, const char *path, const char *value);

/* The message there, or the field `path` of it. */
static inline void message_set_in(ProtobufCMessage **slot, const ProtobufCMessageDescriptor *type, const char *path,
                                  const char *value)
{
        if (!*path && !strcmp(value, "-")) {
                *slot = NULL;
                return;
        }
        if (!*slot || !*path) {
                *slot = messages_alloc(type->sizeof_message);
                protobuf_c_message_init(type, *slot);
        }
        if (*path)
                message_set(*slot, path, value);
}

static inline void message_set(ProtobufCMessage *m, const char *path, const char *value)
{
        char name[64] = "";
        const size_t n = strcspn(path, ".");
        const char *rest = path + n + (path[n] == '.');

        assert_in_range(n, 1, sizeof(name) - 1);
        memcpy(name, path, n);
        const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);
        if (!f)
                fail_msg("%s has no field %s", m->descriptor->name, name);
        void *at = (char *)m + f->offset, *known = (char *)m + f->quantifier_offset;
        if (f->label == PROTOBUF_C_LABEL_REPEATED) {
                size_t *count = known;
                if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
                        message_set_numbers(at, count, f->type == PROTOBUF_C_TYPE_UINT64 ? 8 : 4, value);
                        return;
                }
                if (!*rest) { /* of it only this is said: "-" */
                        *count = 0;
                        return;
                }
                char *end;
                const size_t i = strtoul(rest, &end, 10);
                ProtobufCMessage ***list = at;
                assert_true(i < MESSAGE_LIST_MAX && *end == '.');
                if (!*list)
                        *list = messages_alloc(MESSAGE_LIST_MAX * sizeof(**list));
                *count = i < *count ? *count : i + 1;
                message_set_in(&(*list)[i], f->descriptor, end + 1, value);
                return;
        }
        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
                message_set_in(at, f->descriptor, rest, value);
                return;
        }
        const bool set = strcmp(value, "-") != 0;
        if (f->type == PROTOBUF_C_TYPE_STRING) {
                *(char **)at = set ? strcpy(messages_alloc(strlen(value) + 1), value) : NULL;
                return;
        }
        *(protobuf_c_boolean *)known = set;
        value = set ? value : "0";
        if (f->type == PROTOBUF_C_TYPE_BOOL) {
                *(protobuf_c_boolean *)at = !strcmp(value, "true");
        } else if (f->type == PROTOBUF_C_TYPE_DOUBLE) {
                *(double *)at = message_real(value);
        } else if (f->type == PROTOBUF_C_TYPE_UINT64) {
                *(uint64_t *)at = message_whole(value);
        } else if (f->type == PROTOBUF_C_TYPE_ENUM) {
                const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value_by_name(f->descriptor, value);
                *(int *)at = v ? v->value : (int)message_whole(value);
        } else if (f->type == PROTOBUF_C_TYPE_INT32 || f->type == PROTOBUF_C_TYPE_UINT32) {
                *(uint32_t *)at = (uint32_t)message_whole(value);
        } else {
                fail_msg("%s: of a type that is not read here", path);
        }
}

/* Calls set() with each field of such lines: "trends.early rate=10MiB sentence="it rises""; below "." is nothing. */
static inline void message_each(const char *lines, void (*set)(void *ctx, const char *path, const char *value),
                                void *ctx)
{
        char path[300], value[1000];

        for (const char *p = lines + strspn(lines, "\n"); *p; p += strspn(p, "\n")) {
                const char *below = p;
                const size_t size = *below == '.' ? 0 : strcspn(below, " \n");
                for (p += strcspn(p, " \n"); *p == ' ';) {
                        const char *name = p + 1;
                        const size_t n = strcspn(name, "=");
                        const bool quoted = name[n + 1] == '"';
                        const char *v = name + n + 1 + quoted;
                        const size_t length = strcspn(v, quoted ? "\"" : " \n");
                        assert_true(name[n] == '=' && length < sizeof(value));
                        (void)snprintf(path, sizeof(path), "%.*s%s%.*s", (int)size, below, size ? "." : "", (int)n,
                                       name);
                        (void)snprintf(value, sizeof(value), "%.*s", (int)length, v);
                        set(ctx, path, value);
                        p = v + length + quoted;
                }
        }
}

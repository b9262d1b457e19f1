/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: every allocation of a message begins with a head that has a count:
 *
 *     | head | Hw__Update |    | head | Hw__Heap |    | head | "text" |
 *
 * So each message inside a message has its own count, and whoever wants to
 * keep one band definition out of a list of 256 keeps no more than that.
 * Only messages are counted; texts and arrays belong to the one message that
 * points to them. The price is 8 bytes an allocation, whose
 * content is then aligned for any field of a message, to 8 and no more.
 *
 * What to free when a count falls to 0 is found by the descriptors, as
 * protobuf_c_message_free_unpacked does it; the depth is that of the schema.
 *
 * The magic number catches a message that was not made here (on somebody's
 * stack) before its count is written into memory that is not ours.
 */
#include "proto/wire/message.h"

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x6877316du

struct head {
        alignas(uint64_t) uint32_t magic;
        uint32_t count;
};

static struct head *head_of(const void *memory)
{
        struct head *h = (struct head *)(uintptr_t)memory - 1;

        assert(h->magic == MAGIC);
        return h;
}

void *message_allocate(size_t size)
{
        struct head *h = size > SIZE_MAX - sizeof(*h) ? NULL : malloc(sizeof(*h) + size);

        if (!h)
                return NULL;
        h->magic = MAGIC;
        h->count = 1;
        return h + 1;
}

void message_release(void *memory)
{
        if (!memory)
                return;
        struct head *h = head_of(memory);
        h->magic = 0;
        free(h);
}

/* ------------------------------------------------------------------ counting */

const void *hw_message_ref(const ProtobufCMessage *message)
{
        if (message)
                head_of(message)->count++;
        return message;
}

/* What one value of a field points to. */
static void release_value(const ProtobufCFieldDescriptor *field, const void *value)
{
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
                hw_message_unref(*(ProtobufCMessage *const *)value);
        else if (field->type == PROTOBUF_C_TYPE_STRING)
                message_release(*(char *const *)value);
        else if (field->type == PROTOBUF_C_TYPE_BYTES)
                message_release(((const ProtobufCBinaryData *)value)->data);
}

static void release_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
        const char *at = (const char *)message + field->offset,
                   *quantity = (const char *)message + field->quantifier_offset;

        if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) && *(const uint32_t *)(const void *)quantity != field->id)
                return;
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
                release_value(field, at);
                return;
        }
        char *array = *(char *const *)(const void *)at;
        size_t n = *(const size_t *)(const void *)quantity,
               size = field->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData) : sizeof(void *);
        bool points = field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING ||
                      field->type == PROTOBUF_C_TYPE_BYTES;
        for (size_t i = 0; points && i < n; i++)
                release_value(field, array + i * size);
        message_release(array);
}

void hw_message_unref(const ProtobufCMessage *message)
{
        if (!message || --head_of(message)->count > 0)
                return;
        for (unsigned i = 0; i < message->descriptor->n_fields; i++)
                release_field(message, &message->descriptor->fields[i]);
        for (size_t i = 0; i < message->n_unknown_fields; i++)
                message_release(message->unknown_fields[i].data);
        message_release(message->unknown_fields);
        message_release((void *)(uintptr_t)message);
}

const Hw__Update *hw_update_ref(const Hw__Update *update)
{
        return hw_message_ref(update ? &update->base : NULL);
}

void hw_update_unref(const Hw__Update *update)
{
        hw_message_unref(update ? &update->base : NULL);
}

void hw_reply_unref(const Hw__Reply *reply)
{
        hw_message_unref(reply ? &reply->base : NULL);
}

/* -------------------------------------------------------------------- making */

void *message_new(const ProtobufCMessageDescriptor *type)
{
        ProtobufCMessage *m = message_allocate(type->sizeof_message);

        if (m)
                protobuf_c_message_init(type, m);
        return m;
}

int message_set_text(char **field, const char *text)
{
        size_t n = text ? strlen(text) + 1 : 0;
        char *copy = text ? message_allocate(n) : NULL;

        if (text && !copy)
                return -ENOMEM;
        if (copy)
                memcpy(copy, text, n);
        message_release(*field);
        *field = copy;
        return 0;
}

/* ------------------------------------------------------------------ requests */

Hw__Request *hw_request_new(Hw__Request__WhatCase what)
{
        const ProtobufCFieldDescriptor *body =
                protobuf_c_message_descriptor_get_field(&hw__request__descriptor, (unsigned)what);
        Hw__Request *r =
                body && (body->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) ? message_new(&hw__request__descriptor) : NULL;

        if (!r)
                return NULL;
        r->what_case = what;
        *(void **)((char *)r + body->offset) = message_new(body->descriptor);
        if (!*(void **)((char *)r + body->offset))
                hw_request_destroy(&r);
        return r;
}

void hw_request_destroy(Hw__Request **request)
{
        if (*request)
                hw_message_unref(&(*request)->base);
        *request = NULL;
}

int hw_request_set_text(char **field, const char *text)
{
        return message_set_text(field, text);
}

/* A copy of an array with room for one more; the old one is freed. */
static void *one_more(void *array, size_t n, size_t size)
{
        void *wider = n >= SIZE_MAX / size - 1 ? NULL : message_allocate((n + 1) * size);

        if (wider && n)
                memcpy(wider, array, n * size);
        if (wider)
                message_release(array);
        return wider;
}

static int add_text(char ***list, size_t *n, const char *added)
{
        char *text = NULL;
        char **wider = message_set_text(&text, added) < 0 ? NULL : one_more(*list, *n, sizeof(**list));

        if (!wider) {
                message_release(text);
                return -ENOMEM;
        }
        wider[(*n)++] = text;
        *list = wider;
        return 0;
}

int hw_request_add_target(Hw__SnapshotRequest *snapshot, const char *target)
{
        return add_text(&snapshot->targets, &snapshot->n_targets, target);
}

int hw_request_add_label(Hw__AddTargetRequest *add, const char *label)
{
        return add_text(&add->labels, &add->n_labels, label);
}

int hw_request_add_kind(Hw__SnapshotRequest *snapshot, Hw__Kind kind)
{
        Hw__Kind *wider = one_more(snapshot->kinds, snapshot->n_kinds, sizeof(*snapshot->kinds));

        if (!wider)
                return -ENOMEM;
        wider[snapshot->n_kinds++] = kind;
        snapshot->kinds = wider;
        return 0;
}

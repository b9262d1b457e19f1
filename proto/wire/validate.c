/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two passes. The first walks the descriptors and checks every field
 * of every message: texts are UTF-8 and not too long, enum values are
 * known. The second checks what descriptors cannot say: paired arrays, names,
 * ids. Walking recurses by the schema, which has no cycles, not by the input.
 */
#include "proto/wire/message.h"

#include <string.h>

#include "proto/wire/limits.h"
#include "heapwatch/text.h"

/* model/histogram.c's number of buckets; part of the protocol (docs/PROTOCOL.md). */
#define PAUSE_BUCKETS 1216u

#define EVENT_IDS 65536u /* an eventlog's ids have 16 bits */

/* ------------------------------------------------- every field of any message */

static const char *walk_message(ProtobufCMessage *message, bool strict);

static const char *check_enum(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, bool strict)
{
        struct field_values v = field_values(message, field);

        for (size_t i = v.count; i-- > 0;) {
                int value;

                memcpy(&value, v.at + i * v.step, sizeof(value));
                if (hw_enum_word(field->descriptor, value))
                        continue;
                if (strict)
                        return "a kind or series is not known";
                field_drop_enum(message, field, i);
                v = field_values(message, field);
        }
        return NULL;
}

/* Texts, and messages in messages. */
static const char *check_pointers(const struct field_values *v, ProtobufCType type, bool strict)
{
        for (size_t i = 0; i < v->count; i++) {
                void *pointer;

                memcpy(&pointer, v->at + i * v->step, sizeof(pointer));
                const size_t n = type == PROTOBUF_C_TYPE_STRING ? strnlen(pointer, LIMIT_TEXT_BYTES + 1) : 0;
                if (n > LIMIT_TEXT_BYTES)
                        return "a text is longer than 64 KiB";
                if (n > 0 && !hw_utf8_valid(pointer, n))
                        return "a text is not UTF-8";
                const char *reason = type == PROTOBUF_C_TYPE_MESSAGE ? walk_message(pointer, strict) : NULL;
                if (reason)
                        return reason;
        }
        return NULL;
}

static const char *walk_message(ProtobufCMessage *message, bool strict)
{
        const ProtobufCMessageDescriptor *d = message->descriptor;
        const char *reason = NULL;

        for (unsigned i = 0; i < d->n_fields && !reason; i++) {
                const ProtobufCFieldDescriptor *field = &d->fields[i];
                struct field_values v = field_values(message, field);

                if (field->type == PROTOBUF_C_TYPE_ENUM)
                        reason = check_enum(message, field, strict);
                else if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE)
                        reason = check_pointers(&v, field->type, strict);
        }
        return reason;
}

/* ------------------------------------------------------------------- bodies */

static const char bad_name[] = "a target's name is not [A-Za-z0-9._~-]{1,64}";

static const char *check_names(char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!hw_target_name_valid(names[i]))
                        return bad_name;
        return NULL;
}

static const char *check_name(const char *name)
{
        return name && !hw_target_name_valid(name) ? bad_name : NULL;
}

static bool id_valid(bool has, uint32_t id)
{
        return has && id > 0 && id <= LIMIT_WIRE_ID;
}

static const char *check_trends(const Hw__Trends *trends)
{
        for (size_t i = 0; i < trends->n_trends; i++) {
                const Hw__Trend *t = trends->trends[i];

                if (t->has_band && !id_valid(true, t->band))
                        return "trend: its band's id is 0 or too large";
                if (t->has_band && t->has_series)
                        return "trend: it names a series and a band";
        }
        return NULL;
}

static const char *check_events(const Hw__Events *e)
{
        size_t n = e->n_type;

        for (size_t i = 0; i < e->n_types; i++)
                if (!e->types[i]->has_id || e->types[i]->id >= EVENT_IDS)
                        return "event type: its id is missing or too large";
        if (e->n_time_ns != n || e->n_offset != n || e->n_capability != n || e->n_size_bytes != n || e->n_fields != n)
                return "events: the columns differ in number";
        for (size_t i = 0; i < n; i++)
                if (e->type[i] >= EVENT_IDS)
                        return "events: a type's id is too large";
        return NULL;
}

static const char *check_collections(const Hw__Gc *gc)
{
        for (size_t i = 0; i < gc->n_generations; i++) {
                const Hw__Generation *g = gc->generations[i];

                if (g->n_bucket != g->n_bucket_count)
                        return "generation: buckets and counts differ in number";
                for (size_t k = 0; k < g->n_bucket; k++)
                        if (g->bucket[k] >= PAUSE_BUCKETS || (k > 0 && g->bucket[k] <= g->bucket[k - 1]))
                                return "generation: buckets do not rise, or are beyond the last";
        }
        return NULL;
}

static const char *check_body(const Hw__Update *u)
{
        switch (u->body_case) {
        case HW__UPDATE__BODY_DAEMON:
                return check_names(u->daemon->targets, u->daemon->n_targets);
        case HW__UPDATE__BODY_HEAP:
                if (u->heap->n_fact != u->heap->n_fact_value)
                        return "heap: keys of facts and their values differ in number";
                for (size_t i = 0; i < u->heap->n_samples; i++)
                        if (u->heap->samples[i]->n_times_ns != u->heap->samples[i]->n_values)
                                return "samples: times and values differ in number";
                return NULL;
        case HW__UPDATE__BODY_GC:
                return check_collections(u->gc);
        case HW__UPDATE__BODY_CENSUS:
                if (u->census->n_band != u->census->n_bytes)
                        return "census: bands and bytes differ in number";
                for (size_t i = 0; i < u->census->n_band; i++)
                        if (!id_valid(true, u->census->band[i]))
                                return "census: a band's id is 0 or too large";
                return NULL;
        case HW__UPDATE__BODY_BANDS:
                for (size_t i = 0; i < u->bands->n_bands; i++)
                        if (!id_valid(u->bands->bands[i]->has_id, u->bands->bands[i]->id))
                                return "band: its id is missing, 0 or too large";
                return NULL;
        case HW__UPDATE__BODY_PROFILE:
                for (size_t i = 0; i < u->profile->n_stacks; i++)
                        if (!id_valid(u->profile->stacks[i]->has_id, u->profile->stacks[i]->id))
                                return "stack: its id is missing, 0 or too large";
                return NULL;
        case HW__UPDATE__BODY_TRENDS:
                return check_trends(u->trends);
        case HW__UPDATE__BODY_ALERTS:
                for (size_t i = 0; i < u->alerts->n_alerts; i++)
                        if (!u->alerts->alerts[i]->rule || !u->alerts->alerts[i]->rule[0])
                                return "alert: its rule is missing";
                return NULL;
        case HW__UPDATE__BODY_EVENTS:
                return check_events(u->events);
        default:
                return NULL;
        }
}

/* An update without a body is from a newer version: valid, and of no kind. */
static const char *check_update(const Hw__Update *u)
{
        const char *target = u->target ? u->target : "";

        if (u->body_case == HW__UPDATE__BODY_DAEMON && *target)
                return "the daemon's own update names a target";
        if (u->body_case != HW__UPDATE__BODY_DAEMON && u->body_case != HW__UPDATE__BODY__NOT_SET &&
            !hw_target_name_valid(target))
                return bad_name;
        return check_body(u);
}

/* ----------------------------------------------------------------- messages */

const char *validate_update(Hw__Update *update)
{
        const char *reason = walk_message(&update->base, false);

        return reason ? reason : check_update(update);
}

const char *validate_request(Hw__Request *request)
{
        const char *reason = walk_message(&request->base, true);

        if (reason)
                return reason;
        switch (request->what_case) {
        case HW__REQUEST__WHAT_SNAPSHOT:
                return check_names(request->snapshot->targets, request->snapshot->n_targets);
        case HW__REQUEST__WHAT_HISTORY:
                return check_name(request->history->target);
        case HW__REQUEST__WHAT_END_TARGET:
                return check_name(request->end_target->name);
        case HW__REQUEST__WHAT_ADD_TARGET:
                return check_name(request->add_target->name);
        case HW__REQUEST__WHAT_REMOVE_TARGET:
                return check_name(request->remove_target->name);
        default:
                return NULL;
        }
}

const char *validate_reply(Hw__Reply *reply)
{
        const char *reason = walk_message(&reply->base, false);

        if (reason)
                return reason;
        switch (reply->what_case) {
        case HW__REPLY__WHAT_UPDATE:
                return check_update(reply->update);
        case HW__REPLY__WHAT_STATUS:
                if (reply->status->daemon)
                        reason = check_names(reply->status->daemon->targets, reply->status->daemon->n_targets);
                for (size_t i = 0; i < reply->status->n_targets && !reason; i++)
                        reason = check_update(reply->status->targets[i]);
                return reason;
        case HW__REPLY__WHAT_HISTORY:
                return check_name(reply->history->target);
        default:
                return NULL;
        }
}

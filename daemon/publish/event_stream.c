/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: columns, not one message per event: a packed column costs a few
 * instructions per entry at both ends, where a nested message would cost the
 * reader several allocations per event. All numbers are in one column and all
 * texts in another; the types, each defined before its first event, tell how
 * many of which an event has.
 *
 * A message is sent when a column of it is full. Only the text column grows:
 * one event of program arguments may have very many texts.
 */
#include "daemon/publish/event_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "daemon/publish/limits.h"
#include "daemon/publish/encode.h"
#include "proto/base/array.h"
#include "proto/base/bytes.h"

#define NUMBERS_OF_ONE 512u /* no event has more: at most 255 ids and 9 others */
#define NUMBERS_ROOM   (LIMIT_EVENT_NUMBERS_PER_UPDATE + NUMBERS_OF_ONE)

struct event_stream {
        char *target;
        struct update_sink sink;
        uint64_t epoch, sequence;
        enum event_wish wish;
        bool show_arguments;
        int error;

        uint32_t run;       /* of what has been collected */
        uint64_t newest_ns; /* likewise */
        bool defined[HW_EVENT_IDS];
        uint32_t new_types[LIMIT_EVENTS_PER_UPDATE], n_new_types;
        uint32_t type[LIMIT_EVENTS_PER_UPDATE], capability[LIMIT_EVENTS_PER_UPDATE];
        uint32_t size_bytes[LIMIT_EVENTS_PER_UPDATE], fields[LIMIT_EVENTS_PER_UPDATE];
        uint64_t time_ns[LIMIT_EVENTS_PER_UPDATE], offset[LIMIT_EVENTS_PER_UPDATE];
        uint32_t n;
        uint64_t numbers[NUMBERS_ROOM];
        uint32_t n_numbers;
        ProtobufCBinaryData *texts; /* their bytes are in the arena */
        size_t n_texts, texts_room, text_bytes;
        struct arena arena;
};

/* ---------------------------------------------------------------- types */

static Hw__EventField__Form form_of(enum hw_field_type type)
{
        switch (type) {
        case HW_FIELD_U8:
        case HW_FIELD_U16:
        case HW_FIELD_U32:
        case HW_FIELD_U64:
                return HW__EVENT_FIELD__FORM__FORM_NUMBER;
        case HW_FIELD_TEXT:
        case HW_FIELD_STRING:
                return HW__EVENT_FIELD__FORM__FORM_TEXT;
        case HW_FIELD_STRINGS:
                return HW__EVENT_FIELD__FORM__FORM_TEXTS;
        case HW_FIELD_BYTES:
                return HW__EVENT_FIELD__FORM__FORM_BYTES;
        case HW_FIELD_IDS:
                break;
        }
        return HW__EVENT_FIELD__FORM__FORM_NUMBERS;
}

static bool is_hidden(const struct event_stream *s, uint16_t id)
{
        return id == HW_PROGRAM_ENV || (id == HW_PROGRAM_ARGS && !s->show_arguments);
}

static bool put_fields(struct event_stream *s, Hw__EventType *type, const struct hw_event_info *info)
{
        Hw__EventField *rows = arena_calloc(&s->arena, info->n_fields, sizeof(*rows));

        type->fields = arena_calloc(&s->arena, info->n_fields, sizeof(*type->fields));
        if (!rows || !type->fields)
                return false;
        for (unsigned i = 0; i < info->n_fields; i++) {
                hw__event_field__init(&rows[i]);
                rows[i].name = (char *)info->fields[i].name; /* protobuf-c has no const; packing only reads */
                PUT(&rows[i], form, form_of(info->fields[i].type));
                type->fields[type->n_fields++] = &rows[i];
        }
        return true;
}

static Hw__EventType *make_type(struct event_stream *s, uint16_t id)
{
        const struct hw_event_info *info = hw_event_info(id);
        Hw__EventType *type = arena_calloc(&s->arena, 1, sizeof(*type));

        if (!type)
                return NULL;
        hw__event_type__init(type);
        PUT(type, id, id);
        if (is_hidden(s, id))
                PUT(type, hidden, true);
        if (!info)
                return type;
        type->name = (char *)info->name;
        return put_fields(s, type, info) ? type : NULL;
}

/* -------------------------------------------------------------- sending */

static void send_events(struct event_stream *s, Hw__Events *body)
{
        Hw__Update update = HW__UPDATE__INIT;

        update.body_case = HW__UPDATE__BODY_EVENTS;
        update.events = body;
        update.target = s->target;
        PUT(&update, epoch, s->epoch);
        PUT(&update, sequence, ++s->sequence);
        if (s->run) {
                PUT(&update, run, s->run);
                PUT(&update, event_time_ns, s->newest_ns);
        }
        s->error = s->sink.send(s->sink.ctx, &update);
}

static bool put_new_types(struct event_stream *s, Hw__Events *body)
{
        body->types = arena_calloc(&s->arena, s->n_new_types, sizeof(*body->types));
        if (!body->types)
                return false;
        for (uint32_t i = 0; i < s->n_new_types; i++) {
                Hw__EventType *type = make_type(s, (uint16_t)s->new_types[i]);
                if (!type)
                        return false;
                body->types[body->n_types++] = type;
        }
        return true;
}

void event_stream_flush(struct event_stream *s)
{
        Hw__Events body = HW__EVENTS__INIT;

        if (s->error || s->n == 0)
                return;
        body.n_type = body.n_time_ns = body.n_offset = s->n;
        body.n_capability = body.n_size_bytes = body.n_fields = s->n;
        body.type = s->type;
        body.time_ns = s->time_ns;
        body.offset = s->offset;
        body.capability = s->capability;
        body.size_bytes = s->size_bytes;
        body.fields = s->fields;
        body.n_numbers = s->n_numbers;
        body.numbers = s->numbers;
        body.n_texts = s->n_texts;
        body.texts = s->texts;
        if (put_new_types(s, &body))
                send_events(s, &body);
        else
                s->error = -ENOMEM;
        s->n = s->n_new_types = s->n_numbers = 0;
        s->n_texts = s->text_bytes = 0;
        arena_reset(&s->arena);
}

/* Puts the type with its count into the message; sends it when it is full. */
static int put_count(struct event_stream *s, Hw__Events *body, uint16_t id, uint64_t count)
{
        if (body->n_types == LIMIT_EVENTS_PER_UPDATE) {
                send_events(s, body);
                body->n_types = 0;
        }
        Hw__EventType *type = make_type(s, id);
        if (!type)
                return -ENOMEM;
        PUT(type, count, count);
        body->types[body->n_types++] = type;
        return s->error;
}

void event_stream_finish(struct event_stream *s, const struct hw_eventlog *log)
{
        Hw__Events body = HW__EVENTS__INIT;

        event_stream_flush(s);
        body.types = arena_calloc(&s->arena, LIMIT_EVENTS_PER_UPDATE, sizeof(*body.types));
        if (!body.types)
                s->error = s->error ? s->error : -ENOMEM;
        for (uint64_t id = 0, left = hw_eventlog_stats(log)->events; id < HW_EVENT_IDS && left && !s->error; id++) {
                const uint64_t count = hw_eventlog_count(log, (uint16_t)id);
                left -= count;
                if (count)
                        s->error = put_count(s, &body, (uint16_t)id, count);
        }
        if (!s->error)
                send_events(s, &body);
        arena_reset(&s->arena);
}

/* ------------------------------------------------------------ gathering */

static bool add_text(struct event_stream *s, const uint8_t *bytes, size_t size)
{
        if (!ARRAY_RESERVE(s->texts, s->texts_room, s->n_texts + 1))
                return false;
        char *copy = arena_strndup(&s->arena, bytes, size);
        if (!copy)
                return false;
        s->texts[s->n_texts++] = (ProtobufCBinaryData){ .len = size, .data = (uint8_t *)copy };
        s->text_bytes += size;
        return true;
}

/* Strings separated by NUL. */
static bool add_texts(struct event_stream *s, const uint8_t *bytes, size_t size)
{
        uint64_t *n = &s->numbers[s->n_numbers++];

        *n = 0;
        while (size > 0) {
                const uint8_t *nul = memchr(bytes, 0, size);
                size_t length = nul ? (size_t)(nul - bytes) : size;
                if (!add_text(s, bytes, length))
                        return false;
                ++*n;
                bytes += nul ? length + 1 : length;
                size -= nul ? length + 1 : length;
        }
        return true;
}

static bool add_field(struct event_stream *s, const struct hw_field_value *value)
{
        switch (form_of(value->type)) {
        case HW__EVENT_FIELD__FORM__FORM_NUMBER:
                s->numbers[s->n_numbers++] = value->number;
                return true;
        case HW__EVENT_FIELD__FORM__FORM_TEXTS:
                return add_texts(s, value->bytes, value->size);
        case HW__EVENT_FIELD__FORM__FORM_NUMBERS:
                s->numbers[s->n_numbers++] = value->number;
                for (size_t i = 0; i < value->number; i++)
                        s->numbers[s->n_numbers++] = be32(value->bytes + 4 * i);
                return true;
        default:
                return add_text(s, value->bytes, value->size);
        }
}

static bool is_full(const struct event_stream *s)
{
        return s->n == LIMIT_EVENTS_PER_UPDATE || s->n_numbers >= LIMIT_EVENT_NUMBERS_PER_UPDATE ||
               s->n_texts >= LIMIT_EVENTS_PER_UPDATE || s->text_bytes >= LIMIT_EVENT_TEXT_BYTES_PER_UPDATE;
}

void event_stream_add(struct event_stream *s, uint32_t run, const struct hw_event *e)
{
        if (s->wish == EVENTS_COUNTED)
                return;
        if (run != s->run || is_full(s)) {
                event_stream_flush(s);
                s->newest_ns = run != s->run ? 0 : s->newest_ns;
        }
        if (s->error)
                return;
        if (!s->defined[e->id])
                s->new_types[s->n_new_types++] = e->id;
        s->defined[e->id] = true;
        s->run = run;
        s->newest_ns = e->time_ns > s->newest_ns ? e->time_ns : s->newest_ns;
        s->type[s->n] = e->id;
        s->time_ns[s->n] = e->time_ns;
        s->offset[s->n] = e->offset;
        s->capability[s->n] = e->cap;
        s->size_bytes[s->n] = e->size;
        /* Of a hidden event only the leading numbers are added. */
        const struct hw_event_info *info = hw_event_info(e->id);
        bool hidden = is_hidden(s, e->id);
        struct hw_field_value value;
        uint32_t i = 0;

        for (; info && i < info->n_fields; i++) {
                if (hidden && form_of(info->fields[i].type) != HW__EVENT_FIELD__FORM__FORM_NUMBER)
                        break;
                if (!hw_event_field(e, i, &value))
                        break;
                if (!add_field(s, &value))
                        s->error = -ENOMEM;
        }
        s->fields[s->n] = i;
        s->n++;
}

/* ----------------------------------------------------------------- life */

struct event_stream *event_stream_new(const char *target, uint64_t epoch, const struct update_sink *sink,
                                      enum event_wish wish, bool show_arguments)
{
        struct event_stream *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        s->epoch = epoch;
        s->sink = *sink;
        s->wish = wish;
        s->show_arguments = show_arguments;
        arena_init(&s->arena, 0);
        s->target = strdup(target);
        if (!s->target)
                event_stream_destroy(&s);
        return s;
}

void event_stream_destroy(struct event_stream **s)
{
        if (!*s)
                return;
        arena_done(&(*s)->arena);
        free((*s)->texts);
        free((*s)->target);
        free(*s);
        *s = NULL;
}

int event_stream_error(const struct event_stream *s)
{
        return s->error;
}

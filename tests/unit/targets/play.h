/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * play.h - a log through the whole chain of a finished log, bytes in and
 * messages out, without files or sockets; and the content of the messages.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/publish/limits.h"
#include "client/out/convert/event_types.h"
#include "heapwatch/eventlog.h"
#include "daemon/log.h"
#include "daemon/model/model.h"
#include "daemon/watch/targets/pipeline.h"
#include "tests/unit/counted.h"
#include "proto/base/error.h"
#include "proto/eventlog/stack_message.h"

#define LOGS "tests/data/logs/"

struct log {
        uint8_t *bytes;
        size_t size;
};

static inline struct log log_read(const char *path)
{
        struct log l = { NULL, 0 };
        FILE *f = fopen(path, "rb");

        assert_non_null(f);
        assert_int_equal(fseek(f, 0, SEEK_END), 0);
        l.size = (size_t)ftell(f);
        rewind(f);
        l.bytes = malloc(l.size);
        assert_non_null(l.bytes);
        assert_int_equal(fread(l.bytes, 1, l.size, f), l.size);
        fclose(f);
        return l;
}

static inline struct log log_of(const char *run)
{
        char path[256];

        snprintf(path, sizeof(path), LOGS "%s/run.eventlog", run);
        return log_read(path);
}

/* One event as published. */
struct told_event {
        uint64_t hash; /* of its type, time and fields */
        uint64_t time_ns, offset;
        uint32_t id, size, capability;
        bool is_note; /* samples of stacks are none */
};

/* All messages of one log: how many, and a hash over their bytes in order. */
struct said {
        uint64_t messages, hash;
        uint64_t censuses, unfinished, collections, notes;
        uint64_t notes_hash;  /* of their times and texts, in any order */
        uint64_t census_hash; /* of all of them, in order */
        Hw__Target__State state;
        uint32_t runs;
        char detail[256];
        uint64_t lost_bytes, resyncs, state_bytes, late_samples, time_anomalies;
        struct {
                uint64_t offset, lost_bytes;
        } damages[LIMIT_DAMAGES];
        size_t n_damages;
        uint64_t state_hash; /* of the newest heap, gc and sched, without what depends on the way there */
        uint64_t kind_hash[3];

        /* When events are published. */
        enum event_wish wish;
        struct told_event *events; /* said_done frees them */
        size_t n_events, events_room;
        struct event_types *types;
        uint64_t counted; /* sum of the counts at the end */

        /* Called with each update and its pipeline, when set. */
        void (*hear)(void *ctx, const Hw__Update *u);
        void (*after)(void *ctx, const struct model *m);
        void *ctx;
};

static inline void said_done(struct said *s)
{
        free(s->events);
        if (s->types)
                event_types_done(s->types);
        free(s->types);
        s->events = NULL;
        s->types = NULL;
}

static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
        const uint8_t *p = bytes;

        for (size_t i = 0; i < n; i++)
                h = (h ^ p[i]) * 1099511628211u;
        return h;
}

static inline uint64_t hash_message(uint64_t h, const ProtobufCMessage *m)
{
        static uint8_t *packed;
        static size_t room;
        size_t size = protobuf_c_message_get_packed_size(m);

        if (size + 1 > room) {
                packed = realloc(packed, room = 2 * size + 4096);
                assert_non_null(packed);
        }
        protobuf_c_message_pack(m, packed);
        return hash_bytes(h, packed, size);
}

static inline bool is_note(const struct event *e)
{
        const uint32_t id = e->type->id;
        struct stack_message message;

        if (id == HW_USER_BINARY_MSG && e->fields > 0)
                return !stack_message_read(e->texts[0].data, e->texts[0].len, &message);
        return id == HW_USER_MSG || id == HW_USER_MARKER || id == HW_THREAD_LABEL || id == HW_USER_BINARY_MSG ||
               id == HW_LOG_MSG;
}

static inline void hear_event(struct said *s, const struct event *e)
{
        uint64_t h = 14695981039346656037u;
        const uint64_t head[] = { e->type->id, e->time_ns, e->size_bytes, e->fields };
        const uint64_t *number = e->numbers;
        const ProtobufCBinaryData *text = e->texts;

        h = hash_bytes(h, head, sizeof(head));
        for (uint32_t i = 0; i < e->fields; i++) {
                Hw__EventField__Form form = e->type->fields[i]->form;
                bool is_text = form == HW__EVENT_FIELD__FORM__FORM_TEXT || form == HW__EVENT_FIELD__FORM__FORM_BYTES;
                uint64_t n = is_text || form == HW__EVENT_FIELD__FORM__FORM_NUMBER ? 1 : *number++;
                if (form == HW__EVENT_FIELD__FORM__FORM_TEXTS)
                        is_text = true;
                for (; n > 0; n--) {
                        if (is_text)
                                h = hash_bytes(h, text->data, text->len), text++;
                        else
                                h = hash_bytes(h, number++, sizeof(*number));
                }
        }
        if (s->n_events == s->events_room) {
                s->events_room = 2 * s->events_room + 1024;
                s->events = realloc(s->events, s->events_room * sizeof(*s->events));
                assert_non_null(s->events);
        }
        s->events[s->n_events++] = (struct told_event){
                h, e->time_ns, e->offset, e->type->id, e->size_bytes, e->capability, is_note(e),
        };
}

static inline void hear_events(struct said *s, const Hw__Update *u)
{
        if (!s->types)
                s->types = calloc(1, sizeof(*s->types));
        assert_non_null(s->types);
        const Hw__Events *definitions = counted(&u->events->base);
        event_types_define(s->types, definitions);
        hw_message_unref(&definitions->base);
        assert_true(u->events->n_type <= LIMIT_EVENTS_PER_UPDATE);
        struct event_cursor cursor = { .types = s->types, .message = u->events };
        struct event e;
        while (event_cursor_next(&cursor, &e))
                hear_event(s, &e);
        assert_false(cursor.broken);
        assert_true(cursor.number == u->events->n_numbers && cursor.text == u->events->n_texts);
        for (size_t i = 0; i < u->events->n_types; i++)
                s->counted += u->events->types[i]->count;
}

/* The state without what depends on how it was reached. */
static inline void hear_state(struct said *s, const Hw__Update *u)
{
        const uint64_t start = 14695981039346656037u;

        if (u->body_case == HW__UPDATE__BODY_HEAP) {
                Hw__Heap heap = *u->heap;
                heap.n_samples = 0;
                heap.has_allocation_rate_bps = 0;
                s->kind_hash[0] = hash_message(start, &heap.base);
        } else if (u->body_case == HW__UPDATE__BODY_GC) {
                Hw__Gc gc = *u->gc;
                gc.n_collections = 0;
                gc.has_gc_share = gc.has_gc_share_run = gc.has_collections_dropped = 0;
                s->kind_hash[1] = hash_message(start, &gc.base);
        } else if (u->body_case == HW__UPDATE__BODY_SCHED) {
                s->kind_hash[2] = hash_message(start, &u->sched->base);
        }
        s->state_hash = hash_bytes(start, s->kind_hash, sizeof(s->kind_hash));
}

static inline void hear_health(struct said *s, const Hw__Health *h)
{
        s->lost_bytes = h->lost_bytes;
        s->resyncs = h->resyncs;
        s->state_bytes = h->state_bytes;
        s->late_samples = h->late_samples;
        s->time_anomalies = h->time_anomalies;
        s->n_damages = h->n_damages;
        assert_true(h->n_damages <= LIMIT_DAMAGES);
        for (size_t i = 0; i < h->n_damages; i++) {
                s->damages[i].offset = h->damages[i]->offset;
                s->damages[i].lost_bytes = h->damages[i]->lost_bytes;
        }
}

static inline int hear(void *ctx, const Hw__Update *u)
{
        struct said *s = ctx;

        s->hash = hash_message(s->hash, &u->base);
        s->messages++;
        hear_state(s, u);
        if (u->body_case == HW__UPDATE__BODY_CENSUS) {
                s->censuses++;
                s->unfinished += u->census->unfinished;
                s->census_hash = hash_message(s->census_hash, &u->census->base);
        }
        if (u->body_case == HW__UPDATE__BODY_GC)
                s->collections += u->gc->n_collections;
        if (u->body_case == HW__UPDATE__BODY_NOTES) {
                s->notes += u->notes->n_notes;
                for (size_t i = 0; i < u->notes->n_notes; i++) {
                        const Hw__Note *n = u->notes->notes[i];
                        s->notes_hash += hash_bytes(n->time_ns, n->text ? n->text : "", n->text ? strlen(n->text) : 0);
                }
        }
        if (u->body_case == HW__UPDATE__BODY_HEALTH)
                hear_health(s, u->health);
        if (u->body_case == HW__UPDATE__BODY_EVENTS)
                hear_events(s, u);
        if (u->body_case == HW__UPDATE__BODY_TARGET_STATE) {
                s->state = u->target_state->state;
                s->runs = u->target_state->runs;
                snprintf(s->detail, sizeof(s->detail), "%s", u->target_state->detail);
        }
        if (s->hear)
                s->hear(s->ctx, u);
        return 0;
}

/* Plays the bytes in pieces that `piece` gives (0 = the rest) into *s, whose wish and callbacks are set. */
static inline void play_into(struct said *s, const uint8_t *bytes, size_t size, size_t (*piece)(void *ctx), void *ctx)
{
        struct source_uri uri;
        struct error error;

        log_set_level(LOG_ERROR); /* thousands of damaged places */
        s->hash = s->census_hash = 14695981039346656037u;
        assert_true(source_uri_parse("file:/log", &uri, &error));
        struct pipeline_options options = {
                .name = "log",
                .uri = &uri,
                .epoch = 1,
                .sink = { .ctx = s, .send = hear },
                .events = s->wish,
        };
        struct pipeline *p = pipeline_new(&options, &error);
        assert_non_null(p);
        for (size_t at = 0; at < size;) {
                size_t n = piece(ctx);
                if (n == 0 || n > size - at)
                        n = size - at;
                /* A private copy: the decoder must not keep pointers into earlier pieces. */
                uint8_t *copy = malloc(n);
                assert_non_null(copy);
                memcpy(copy, bytes + at, n);
                assert_int_equal(pipeline_bytes(p, copy, n), 0);
                memset(copy, 0xa5, n);
                free(copy);
                at += n;
        }
        assert_int_equal(pipeline_finish(p, NULL, false), 0);
        if (s->after)
                s->after(s->ctx, pipeline_model(p));
        pipeline_destroy(&p);
}

static inline struct said play(const uint8_t *bytes, size_t size, size_t (*piece)(void *ctx), void *ctx)
{
        struct said s = { .wish = EVENTS_OFF };

        play_into(&s, bytes, size, piece, ctx);
        return s;
}

/* With its events published. Free with said_done. */
static inline struct said play_events(const uint8_t *bytes, size_t size, size_t (*piece)(void *ctx), void *ctx)
{
        struct said s = { .wish = EVENTS_FULL };

        play_into(&s, bytes, size, piece, ctx);
        return s;
}

static inline size_t one_piece(void *ctx)
{
        return 0;
}

/* First *ctx bytes, then the rest. */
static inline size_t two_pieces(void *ctx)
{
        size_t *first = ctx, n = *first;

        *first = 0;
        return n;
}

static inline size_t single_bytes(void *ctx)
{
        return 1;
}

static inline uint64_t random_u64(uint64_t *x)
{
        *x = *x * 6364136223846793005u + 1442695040888963407u;
        return *x >> 31;
}

static inline size_t random_pieces(void *ctx)
{
        uint64_t *x = ctx;

        *x = *x * 6364136223846793005u + 1442695040888963407u;
        return 1 + (size_t)(*x >> 33) % (*x >> 60 ? 300 : 20000);
}

static inline void assert_same(const struct said *a, const struct said *b)
{
        assert_int_equal(a->messages, b->messages);
        assert_true(a->hash == b->hash);
}

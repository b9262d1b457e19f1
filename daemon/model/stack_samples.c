/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of stacks that a program takes by ghc-stack-profiler (proto/eventlog/stack_message.h).
 *
 * DESIGN: a frame becomes a cost centre, a sample a tick of its stack: all that shows, exports and compares the time
 * profile does the same with samples. Frames refer to strings, places and info tables whose definitions may come
 * before or after them; one table has the frames and what they refer to. A frame is named when it is made, if that can
 * be; otherwise later, all at once, and the less often the more there are: so a definition costs nothing. Of a deep
 * stack both ends are kept: the outermost frames say what it is for, the innermost where it is. Neighbours of one name
 * are one frame, so that recursion makes no stack deeper; those that were named later are still two here, and become
 * one where they are sent.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/model/limits.h"
#include "daemon/model/state.h"
#include "proto/base/text_out.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/utf8.h"
#include "proto/eventlog/stack_message.h"

#define TEXT_BYTES 480u /* of a string; more is cut. A line and column have room behind it in STACK_TEXT_SIZE */

enum { SYMBOL_STRING = 16, SYMBOL_PLACE }; /* beside enum stack_frame_kind */

void stack_samples_init(struct stack_samples *s)
{
        *s = (struct stack_samples){ .unnamed = 0 };
        pool_init(&s->symbols, sizeof(struct stack_symbol), 6);
}

void stack_samples_done(struct stack_samples *s)
{
        pool_done(&s->symbols);
        idtable_done(&s->by_key);
        free(s->parts);
        s->parts = NULL;
        s->n_parts = s->parts_room = 0;
}

size_t stack_samples_held(const struct stack_samples *s)
{
        return pool_held(&s->symbols) + idtable_held(&s->by_key) + s->parts_room * sizeof(*s->parts);
}

/* ------------------------------------------------------------------ symbols */

static uint64_t hash_symbol(const struct profile *p, const struct stack_symbol *key)
{
        return hash_u64(key->id, hash_u64(key->place, p->seed + key->kind));
}

/* 0: there is none. */
static uint32_t find_symbol(const struct profile *p, const struct stack_symbol *key)
{
        const struct stack_samples *s = &p->samples;
        uint64_t hash = hash_symbol(p, key);
        uint32_t at = idtable_start(&s->by_key, hash), id;

        while ((id = idtable_next(&s->by_key, hash, &at))) {
                const struct stack_symbol *symbol = pool_at(&s->symbols, id);
                if (symbol->id == key->id && symbol->place == key->place && symbol->kind == key->kind)
                        return id;
        }
        return 0;
}

static const struct stack_symbol *find_definition(const struct profile *p, uint32_t kind, uint64_t id)
{
        uint32_t found = find_symbol(p, &(struct stack_symbol){ .kind = kind, .id = id });

        return found ? pool_at(&p->samples.symbols, found) : NULL;
}

/* Its id; 0: it is left out. */
static uint32_t add_symbol(struct model *m, const struct stack_symbol *symbol)
{
        struct stack_samples *s = &m->profile.samples;
        bool room = !m->bands.closed && s->symbols.count < LIMIT_STACK_SYMBOLS;
        struct stack_symbol *added = room ? pool_add(&s->symbols) : NULL;

        if (!added)
                return 0;
        if (idtable_add(&s->by_key, hash_symbol(&m->profile, symbol), s->symbols.count) < 0) {
                pool_undo(&s->symbols);
                return 0;
        }
        *added = *symbol;
        return s->symbols.count;
}

static void define_symbol(struct model *m, const struct stack_symbol *symbol)
{
        if (find_symbol(&m->profile, symbol))
                return; /* they are repeated to each reader that connects */
        if (add_symbol(m, symbol))
                m->profile.samples.any_defined = true;
        else
                m->bands.centres_left_out++;
}

/* ------------------------------------------------------------------- frames */

static bool name_code(struct model *m, const struct stack_symbol *frame, struct cost_centre *c)
{
        const struct info_table *table = ipe_find(&m->bands, frame->id);
        char text[sizeof("0x") + 16];
        struct text_out number;

        if (table && (table->label[0] || table->name[0])) {
                c->label = table->label[0] ? table->label : table->name;
                c->module = table->module;
                c->source = strcmp(table->source, ":") != 0 ? table->source : NULL; /* GHC's word for none */
                return true;
        }
        text_out_init(&number, text, sizeof(text));
        text_put(&number, "0x");
        text_put_hex(&number, frame->id);
        c->label = bands_keep_text(&m->bands, text, number.used);
        return false;
}

static bool name_annotation(struct model *m, const struct stack_symbol *frame, struct cost_centre *c)
{
        const struct profile *p = &m->profile;
        const struct stack_symbol *text = find_definition(p, SYMBOL_STRING, frame->id), *place = NULL, *file = NULL;
        char bytes[STACK_TEXT_SIZE];
        struct text_out o;

        text_out_init(&o, bytes, sizeof(bytes));
        if (frame->kind == STACK_FRAME_PLACED)
                place = find_definition(p, SYMBOL_PLACE, frame->place);
        if (place)
                file = find_definition(p, SYMBOL_STRING, place->file);
        if (file) {
                text_put(&o, file->text);
                text_put(&o, ":");
                text_put_u64(&o, place->line);
                text_put(&o, ":");
                text_put_u64(&o, place->column);
                c->source = bands_keep_text(&m->bands, bytes, o.used);
        }
        if (text) {
                c->label = text->text;
        } else {
                text_out_rewind(&o, 0);
                text_put(&o, "(string ");
                text_put_u64(&o, frame->id);
                text_put(&o, ")");
                c->label = bands_keep_text(&m->bands, bytes, o.used);
        }
        return text && (file || frame->kind != STACK_FRAME_PLACED);
}

/* Gives the frame the best name that there is now. False: there is no memory for it. */
static bool name_frame(struct model *m, uint32_t id)
{
        struct stack_symbol *frame = pool_at(&m->profile.samples.symbols, id);
        struct cost_centre c = { .id = FRAME_CENTRES | id };
        const char *none = bands_keep_text(&m->bands, "", 0);

        frame->named = frame->kind == STACK_FRAME_CODE ? name_code(m, frame, &c) : name_annotation(m, frame, &c);
        c.module = c.module ? c.module : none;
        c.source = c.source ? c.source : none;
        return c.label && c.module && c.source && cost_centre_set(&m->bands, &c);
}

static void set_unnamed(struct model *m, uint32_t unnamed)
{
        m->profile.samples.unnamed = unnamed;
        model_set_fact(m, CARRIED_FRAMES_UNDEFINED, m->clock.newest_ns, unnamed);
}

/* The cost centre of a frame; 0: it is left out. */
static uint32_t centre_of_frame(struct model *m, const struct stack_message_frame *frame)
{
        const struct stack_symbol key = { .kind = frame->kind, .id = frame->id, .place = frame->place };
        uint32_t id = find_symbol(&m->profile, &key);

        if (!id && (id = add_symbol(m, &key))) {
                (void)name_frame(m, id); /* without a name it is its number */
                const struct stack_symbol *added = pool_at(&m->profile.samples.symbols, id);
                set_unnamed(m, m->profile.samples.unnamed + !added->named);
        }
        return id ? FRAME_CENTRES | id : 0;
}

#define STEPS_PER_REFRESH 65536u /* a refresh follows each 10 ms in which bytes came: 0.1 ms */

/* Marks the stacks that have a frame with a new name as changed. Returns the steps that it took. */
static uint64_t mark_renamed_stacks(struct profile *p)
{
        uint64_t steps = 0;

        p->renames++;
        for (uint32_t id = 1; p->is_sampled && id <= p->stacks.count; id++) {
                struct profile_stack *stack = pool_at(&p->stacks, id);
                for (uint32_t i = 0; i < stack->depth; i++) {
                        const uint32_t frame = stack->centres[i] & ~FRAME_CENTRES;
                        if (!frame || frame > p->samples.symbols.count ||
                            !((const struct stack_symbol *)pool_at(&p->samples.symbols, frame))->renamed)
                                continue;
                        stack->changed = profile_changes(p);
                        break;
                }
                steps += stack->depth;
        }
        return steps;
}

void stack_samples_refresh(struct model *m)
{
        struct stack_samples *s = &m->profile.samples;
        uint64_t steps = s->symbols.count;
        uint32_t unnamed = 0;

        if (!s->any_defined || !s->unnamed)
                return;
        if (s->wait && !m->ended) {
                s->wait--;
                return;
        }
        s->any_defined = false;
        for (uint32_t id = 1; id <= s->symbols.count; id++) {
                struct stack_symbol *symbol = pool_at(&s->symbols, id);
                symbol->renamed = symbol->kind < SYMBOL_STRING && !symbol->named && name_frame(m, id) && symbol->named;
                unnamed += symbol->kind < SYMBOL_STRING && !symbol->named;
        }
        if (unnamed != s->unnamed) {
                set_unnamed(m, unnamed);
                steps += mark_renamed_stacks(&m->profile);
                m->changes |= MODEL_PROFILE;
        }
        s->wait = (uint32_t)(steps / STEPS_PER_REFRESH);
}

/* ------------------------------------------------------------------ samples */

static void remove_part(struct stack_samples *s, struct stack_part *part)
{
        s->n_parts--;
        memmove(part, part + 1, (size_t)(s->parts + s->n_parts - part) * sizeof(*part));
}

static struct stack_part *add_part(struct model *m, const struct stack_part *part)
{
        struct stack_samples *s = &m->profile.samples;

        if (s->n_parts == LIMIT_STACK_PARTS) {
                profile_leave_out(m, true);
                remove_part(s, s->parts);
        }
        if (!ARRAY_RESERVE(s->parts, s->parts_room, s->n_parts + 1))
                return NULL;
        s->parts[s->n_parts] = *part;
        return &s->parts[s->n_parts++];
}

static uint32_t *frame_at(struct stack_part *part, uint32_t i)
{
        return &part->frames[i < STACK_END ? i : STACK_END + i % STACK_END];
}

/* 0: it is one of those that are not told apart. */
static uint64_t thread_of_sample(struct stack_samples *s, uint64_t thread)
{
        for (uint32_t i = 0; i < s->n_threads; i++)
                if (s->threads[i] == thread)
                        return thread;
        if (s->n_threads == LIMIT_SAMPLED_THREADS)
                return 0;
        s->threads[s->n_threads++] = thread;
        return thread;
}

static void count_sample(struct model *m, struct stack_part *part)
{
        static const char left_out[] = "(frames left out)";
        uint32_t centres[2 * STACK_END + 1], n = 0;

        for (uint32_t i = part->n; i-- > STACK_END && n < STACK_END;)
                centres[n++] = *frame_at(part, i);
        if (part->n > 2 * STACK_END) { /* a frame in place of those that are not kept */
                const char *none = bands_keep_text(&m->bands, "", 0);
                const struct cost_centre c = { .id = FRAME_CENTRES,
                                               .label = bands_keep_text(&m->bands, left_out, sizeof(left_out) - 1),
                                               .module = none,
                                               .source = none };
                part->lacks |= !c.label || !none || !cost_centre_set(&m->bands, &c);
                centres[n++] = c.id;
        }
        for (uint32_t i = part->n < STACK_END ? part->n : STACK_END; i-- > 0;)
                centres[n++] = *frame_at(part, i);
        if (part->lacks)
                profile_leave_out(m, true);
        else
                profile_count(m, centres, n, true, thread_of_sample(&m->profile.samples, part->thread));
}

static void add_part_of_stack(struct model *m, const struct stack_message *message)
{
        struct stack_samples *s = &m->profile.samples;
        struct stack_part whole = { .thread = message->thread, .capability = message->capability };
        struct stack_part *pending = NULL;

        for (uint32_t i = 0; i < s->n_parts && !pending; i++)
                if (s->parts[i].thread == message->thread && s->parts[i].capability == message->capability)
                        pending = &s->parts[i];
        if (!pending && message->kind == STACK_MESSAGE_PART && !(pending = add_part(m, &whole)))
                return;
        struct stack_part *part = pending ? pending : &whole;
        struct stack_message_frame frame;

        for (size_t at = 0; stack_message_next(message, &at, &frame);) {
                const uint32_t id = centre_of_frame(m, &frame);

                if (!part->n || !bands_is_same_frame(&m->bands, id, *frame_at(part, part->n - 1)))
                        part->n++;
                *frame_at(part, part->n - 1) = id;
                part->lacks = part->lacks || !id;
        }
        if (message->kind == STACK_MESSAGE_PART)
                return;
        count_sample(m, pending ? pending : &whole);
        if (pending)
                remove_part(s, pending);
}

void stack_samples_message(struct model *m, const struct hw_event *e)
{
        struct stack_message message;

        if (!stack_message_read(e->payload, e->size, &message)) {
                model_add_fact(m, CARRIED_BINARY_MESSAGES, 1);
                note_binary(m, e);
                return;
        }
        const char *bytes = (const char *)message.bytes;
        struct stack_symbol symbol = { .kind = SYMBOL_STRING, .id = message.id };
        switch (message.kind) {
        case STACK_MESSAGE_VERSION:
                return;
        case STACK_MESSAGE_STRING:
                symbol.text = bands_keep_text(&m->bands, bytes,
                                              message.size > TEXT_BYTES ? utf8_cut(bytes, TEXT_BYTES) : message.size);
                if (symbol.text)
                        define_symbol(m, &symbol);
                else
                        m->bands.centres_left_out++;
                return;
        case STACK_MESSAGE_PLACE:
                symbol = (struct stack_symbol){ .kind = SYMBOL_PLACE,
                                                .id = message.id,
                                                .line = message.line,
                                                .column = message.column,
                                                .file = message.file };
                define_symbol(m, &symbol);
                return;
        case STACK_MESSAGE_PART:
        case STACK_MESSAGE_LAST:
                add_part_of_stack(m, &message);
                return;
        }
}

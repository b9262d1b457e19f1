/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a ring whose slots keep their text's memory, so a program with many notes costs no allocation once the ring
 * has wrapped around. When out of memory a note loses its text, as size_bytes then shows, but is still numbered.
 */
#include "daemon/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/model/limits.h"
#include "daemon/model/state.h"
#include "proto/base/agent_socket.h"

void notes_clear(struct notes *n)
{
        n->total = 0;
        n->n_landmarks = 0;
}

void notes_done(struct notes *n)
{
        for (uint32_t i = 0; i < n->made; i++)
                if (n->slots[i].room)
                        free((char *)n->slots[i].text);
        free(n->slots);
        free(n->landmarks);
        *n = (struct notes){ 0 };
}

size_t notes_held(const struct notes *n)
{
        return n->text_bytes + n->landmarks_room * sizeof(*n->landmarks) +
               (n->slots ? LIMIT_NOTES * sizeof(*n->slots) : 0);
}

/* The slot of a number; slots are initialised in order, so the pages of unused ones are never touched. */
static struct note *slot_of(struct notes *n, uint64_t number)
{
        uint32_t i = (uint32_t)((number - 1) % LIMIT_NOTES);

        if (!n->slots)
                n->slots = malloc(LIMIT_NOTES * sizeof(*n->slots));
        if (!n->slots)
                return NULL;
        while (n->made <= i)
                n->slots[n->made++] = (struct note){ .text = "" };
        return &n->slots[i];
}

/* The text of a slot as memory of at least `size` bytes and a NUL; NULL: out of memory. */
static char *text_room(struct notes *n, struct note *slot, uint32_t size)
{
        char *text = slot->room ? (char *)slot->text : NULL;

        if (size < slot->room)
                return text;
        uint16_t room = (uint16_t)((size + 8) / 16 * 16 + 8); /* what malloc gives without a rest */
        text = realloc(text, room);
        if (!text)
                return NULL;
        n->text_bytes += (size_t)room - slot->room;
        slot->text = text;
        slot->room = room;
        return text;
}

/* Gives the note in a slot its text. False: out of memory, it has none. */
static bool keep_text(struct notes *n, struct note *slot, const uint8_t *text, uint16_t size)
{
        char *kept = text_room(n, slot, size);

        if (!kept)
                return false;
        if (size)
                memcpy(kept, text, size);
        kept[size] = '\0';
        slot->text_size = size;
        return true;
}

/* -------------------------------------------------------------- landmarks */

/* FNV-1a over the text with each run of digits as one 0. */
static uint64_t pattern_of(enum note_what what, const char *text, uint32_t size)
{
        uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)what;
        bool digit = false;

        for (uint32_t i = 0; i < size; i++) {
                bool is = text[i] >= '0' && text[i] <= '9';
                if (!is || !digit)
                        hash = (hash ^ (is ? '0' : (uint8_t)text[i])) * UINT64_C(0x100000001b3);
                digit = is;
        }
        return hash;
}

/* The oldest message; without one the oldest marker. */
static uint32_t least_landmark(const struct notes *n)
{
        uint32_t least = 0;

        for (uint32_t i = 1; i < n->n_landmarks; i++) {
                const struct note *a = &n->landmarks[i].note, *b = &n->landmarks[least].note;
                bool a_marker = a->what == NOTE_MARKER, b_marker = b->what == NOTE_MARKER;
                if (a_marker != b_marker ? b_marker : a->number < b->number)
                        least = i;
        }
        return least;
}

/* Makes room for one more, if there may be one: most programs have a few. */
static bool landmark_room(struct notes *n)
{
        uint32_t room = n->landmarks_room ? 2 * n->landmarks_room : 2;

        if (n->n_landmarks < n->landmarks_room || n->n_landmarks == LIMIT_LANDMARKS)
                return true;
        struct landmark *landmarks = realloc(n->landmarks, room * sizeof(*landmarks));
        if (!landmarks)
                return false;
        for (uint32_t i = 0; i < n->n_landmarks; i++)
                landmarks[i].note.text = landmarks[i].text;
        n->landmarks = landmarks;
        n->landmarks_room = room;
        return true;
}

static void keep_landmark(struct notes *n, const struct note *note)
{
        uint64_t pattern = pattern_of(note->what, note->text, note->text_size);
        uint32_t seen = 0, size = note->text_size < LIMIT_LANDMARK_BYTES ? note->text_size : LIMIT_LANDMARK_BYTES;

        for (uint32_t i = 0; i < n->n_landmarks; i++)
                seen += n->landmarks[i].pattern == pattern;
        if (seen >= (note->what == NOTE_MARKER ? LANDMARK_REPEATS : 1))
                return;
        if (!landmark_room(n))
                return; /* out of memory: not kept */
        uint32_t place = n->n_landmarks < LIMIT_LANDMARKS ? n->n_landmarks++ : least_landmark(n);
        struct landmark *l = &n->landmarks[place];
        *l = (struct landmark){ .note = *note, .pattern = pattern };
        memcpy(l->text, note->text, size);
        l->note.text = l->text;
        l->note.text_size = (uint16_t)size;
        l->note.room = 0;
}

uint32_t notes_landmarks(const struct notes *n)
{
        return n->n_landmarks;
}

const struct note *notes_landmark(const struct notes *n, uint32_t index)
{
        return &n->landmarks[index].note;
}

/* ------------------------------------------------------------------ notes */

static void add_note(struct model *m, const struct hw_event *e, enum note_what what, size_t skip)
{
        struct notes *n = &m->notes;
        struct note lost = { .text = "" }, *slot = slot_of(n, n->total + 1), *note = slot ? slot : &lost;
        uint32_t size = e->size - (uint32_t)skip;
        const uint8_t *text = e->payload + skip;

        if (what != NOTE_BINARY)
                while (size && text[size - 1] == '\0') /* some releases pad with them */
                        size--;
        *note = (struct note){
                .number = ++n->total,
                .time_ns = e->time_ns,
                .text = note->text,
                .size_bytes = size,
                .thread = what == NOTE_THREAD_LABEL ? hw_event_u32(e, 0) : 0,
                .room = note->room,
                .cap = e->cap,
                .what = (uint8_t)what,
        };
        if (note->room)
                *(char *)note->text = '\0';
        if (size > LIMIT_NOTE_TEXT_BYTES)
                size = LIMIT_NOTE_TEXT_BYTES;
        if (slot && what != NOTE_BINARY && keep_text(n, note, text, (uint16_t)size) &&
            (what == NOTE_MESSAGE || what == NOTE_MARKER))
                keep_landmark(n, note);
        PASS_ON(m, note, note);
}

static bool begins_with(const struct hw_event *e, const char *text)
{
        const size_t n = strlen(text);

        return e->size >= n && memcmp(e->payload, text, n) == 0;
}

/* "No census for now" of the agent is the state of the heap profile, not a note of the program. */
static bool is_no_census(struct model *m, const struct hw_event *e)
{
        static const char begin[] = AGENT_SAYS AGENT_NO_CENSUS;
        const size_t n = sizeof(begin) - 1, room = sizeof(m->run.no_census) - 1;

        if (!begins_with(e, begin))
                return false;
        size_t size = e->size - n < room ? e->size - n : room;
        memcpy(m->run.no_census, e->payload + n, size);
        m->run.no_census[size] = '\0';
        return true;
}

void note_message(struct model *m, const struct hw_event *e)
{
        /* What the agent answers to its clients is no message of the program. */
        if (!begins_with(e, AGENT_ANSWER) && !is_no_census(m, e))
                add_note(m, e, NOTE_MESSAGE, 0);
}

void note_marker(struct model *m, const struct hw_event *e)
{
        add_note(m, e, NOTE_MARKER, 0);
}

/* The agent repeats the labels to each new reader, outside of capabilities. */
static bool is_repeated(const struct notes *n, const struct hw_event *e)
{
        for (uint32_t i = 0; e->cap == HW_CAP_NONE && i < n->made; i++)
                if (n->slots[i].what == NOTE_THREAD_LABEL && n->slots[i].time_ns == e->time_ns &&
                    n->slots[i].thread == hw_event_u32(e, 0))
                        return true;
        return false;
}

void note_thread_label(struct model *m, const struct hw_event *e)
{
        if (!is_repeated(&m->notes, e))
                add_note(m, e, NOTE_THREAD_LABEL, 4);
}

void note_binary(struct model *m, const struct hw_event *e)
{
        add_note(m, e, NOTE_BINARY, 0);
}

void note_text(struct model *m, const char *text)
{
        const struct hw_event e = { .time_ns = model_time_ns(m),
                                    .cap = HW_CAP_NONE,
                                    .payload = (const uint8_t *)text,
                                    .size = (uint16_t)strlen(text) };

        add_note(m, &e, NOTE_MESSAGE, 0);
}

void note_log(struct model *m, const struct hw_event *e)
{
        if (begins_with(e, AGENT_ANSWER) || is_no_census(m, e) || census_message(m, e))
                return;
        if (!begins_with(e, RUN_END_MESSAGE)) {
                add_note(m, e, NOTE_LOG, 0);
                return;
        }
        /* What a recording knew of the run's end is none of the program's, nor is its block: no later one comes. */
        PASS_ON(m, recorded_end, (const char *)e->payload, e->size);
        m->clock.global_end_ns = UNKNOWN_U64;
}

uint64_t notes_total(const struct notes *n)
{
        return n->total;
}

uint64_t notes_oldest(const struct notes *n)
{
        if (!n->slots || !n->total)
                return 0;
        return n->total > LIMIT_NOTES ? n->total - LIMIT_NOTES + 1 : 1;
}

const struct note *notes_get(const struct notes *n, uint64_t number)
{
        uint64_t oldest = notes_oldest(n);

        if (!oldest || number < oldest || number > n->total)
                return NULL;
        const struct note *note = &n->slots[(number - 1) % LIMIT_NOTES];
        return note->number == number ? note : NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/notes.c - what the program said (markers, messages, names of threads)
 * and what happened to its stream, in order of time; when it ended badly, the
 * post-mortem after that.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/answers/answers.h"
#include "client/console/views/views.h"
#include "client/console/scene/trends.h"
#include "proto/base/array.h"

enum { TEXT = ANSWER_WHOLE };

/* A row: a note; or an event of the stream or a row of the post-mortem, with words of its own. */
struct line {
        uint64_t time_ns; /* event time */
        bool has_time;
        size_t place;                  /* among rows of the same time */
        const struct world_note *note; /* NULL: it is none */
        const char *end;               /* subject of a row of the post-mortem, which comes last; NULL: of none */
        enum tint end_tint;
        char words[TEXT]; /* for what is no note, and for notes without a text of their own */
};

struct notes {
        struct line *lines;
        size_t n, capacity;
};

ROWS_ARE(struct line, line_of_row)

/* ----------------------------------------------------------------- columns */

static struct value time_of(const struct scene *s, const void *row)
{
        struct value v = value_when(s, s->target, line_of_row(row)->has_time, line_of_row(row)->time_ns);

        v.now_wall_ns = 0; /* always with seconds: notes can be close together */
        return v;
}

static const char *kind_name(const struct line *l)
{
        static const char *const names[] = {
                "note",
                [HW__NOTE__WHAT__WHAT_MESSAGE] = "message",
                [HW__NOTE__WHAT__WHAT_MARKER] = "marker",
                [HW__NOTE__WHAT__WHAT_THREAD_LABEL] = "thread",
                [HW__NOTE__WHAT__WHAT_BINARY] = "binary",
                [HW__NOTE__WHAT__WHAT_LOG] = "RTS",
        };

        if (!l->note)
                return l->end ? l->end : "stream";
        return names[(unsigned)l->note->what < ARRAY_SIZE(names) ? (unsigned)l->note->what : 0];
}

COLUMN_VALUE(kind, value_text(kind_name(line_of_row(row))))

static enum tint colour_of_row(const struct scene *s, const void *row)
{
        if (line_of_row(row)->end)
                return line_of_row(row)->end_tint;
        if (!line_of_row(row)->note)
                return TINT_WARN;
        return line_of_row(row)->note->what == HW__NOTE__WHAT__WHAT_MARKER ? TINT_MARK : TINT_DIM;
}

static const char *words_of_row(const void *row)
{
        const struct line *l = row;

        return l->words[0] ? l->words : l->note ? l->note->text : NULL;
}

COLUMN_VALUE(said, value_text(words_of_row(row)))

static enum tint said_colour(const struct scene *s, const void *row)
{
        enum tint tint = colour_of_row(s, row);

        return tint == TINT_DIM ? TINT_PLAIN : tint == TINT_MARK ? TINT_STRONG : tint;
}

static struct value capability_value(const struct scene *s, const void *row)
{
        const struct world_note *n = line_of_row(row)->note;

        return value_number(n && n->has_capability, n ? n->capability : 0);
}

/* clang-format off */
static const struct column columns[] = {
        { .title = "time", .name = "time_ns", .unit = UNIT_WHEN, .width = 9, .value = time_of, .rising = true,
          .help = "when, in the clock of the view; in files nanoseconds since the program started" },
        { .title = "kind", .name = "kind", .width = 8, .value = kind, .tint = colour_of_row,
          .help = "marker and message: traceMarker, traceEvent; thread: labelThread; stream: what happened to the "
                  "stream itself; after a bad end the subjects of its post-mortem" },
        { .title = "cap", .name = "capability", .unit = UNIT_COUNT, .width = 3, .rank = 1, .value = capability_value,
          .help = "capability that it came from" },
        { .title = "text", .name = "text", .width = -30, .value = said, .tint = said_colour,
          .searched = true,
          .help = "as the program wrote it; control characters are made visible" },
};
/* clang-format on */

/* -------------------------------------------------------------------- rows */

static struct line *next_line(struct notes *n)
{
        if (!ARRAY_RESERVE(n->lines, n->capacity, n->n + 1))
                return NULL;
        n->lines[n->n] = (struct line){ .place = n->n };
        return &n->lines[n->n++];
}

static void add_note(struct notes *n, const struct world_note *note)
{
        struct line *l = next_line(n);

        if (!l)
                return;
        l->note = note;
        l->has_time = note->has_time_ns;
        l->time_ns = note->time_ns;
        if (note->what == HW__NOTE__WHAT__WHAT_THREAD_LABEL)
                (void)snprintf(l->words, sizeof(l->words), "thread %u is %s", note->thread,
                               note->has_text ? note->text : "?");
        else if (note->what == HW__NOTE__WHAT__WHAT_BINARY)
                (void)snprintf(l->words, sizeof(l->words), "%" PRIu64 " bytes of binary data", note->size_bytes);
}

static void add_journal(struct notes *n, const struct console *c, const struct world_target *t)
{
        const struct journal_entry *e;

        for (size_t i = 0; (e = journal_entry(&c->journal, i)); i++) {
                struct line *l;

                if (!journal_is_about(e, t))
                        continue;
                l = next_line(n);
                if (!l)
                        return;
                l->has_time = e->time_ns > 0;
                l->time_ns = e->time_ns;
                (void)snprintf(l->words, sizeof(l->words), "%s", e->text);
        }
}

/* The post-mortem of a run that ended badly, without the notes, which are here already. */
static void add_end(struct notes *n, const struct scene *s, const struct world_target *t)
{
        char time[SHORT_TEXT];
        struct account account;

        if (account_end(t) != END_BADLY)
                return;
        account_of(&account, t, s->live);
        for (size_t i = 0; i < account.n; i++) {
                const struct account_row *r = &account.rows[i];
                struct line *l = strcmp(r->key, "said") ? next_line(n) : NULL;

                if (!l)
                        continue;
                l->end = r->key;
                l->end_tint = answer_tint(r->says.tone);
                l->has_time = true;
                l->time_ns = t->event_time_ns;
                (void)scene_when(time, sizeof(time), s, t, r->says.time_ns);
                (void)answer_whole(l->words, sizeof(l->words), &r->says, time);
        }
}

static int by_time(const void *a, const void *b)
{
        const struct line *x = a, *y = b;

        if (x->has_time != y->has_time)
                return x->has_time ? 1 : -1;
        if (!x->end != !y->end)
                return x->end ? 1 : -1;
        if (x->time_ns != y->time_ns)
                return x->time_ns < y->time_ns ? -1 : 1;
        return x->place < y->place ? -1 : 1;
}

static void fill_rows(const struct console *c, struct table *t)
{
        struct notes *n = console_state(c);
        const struct world_target *target = c->scene.target;

        n->n = 0;
        if (!target)
                return;
        /* Damages are in the order of the stream, but their time is unknown. */
        for (size_t i = 0; target->health && i < target->health->n_damages; i++) {
                const Hw__Damage *d = target->health->damages[i];
                struct line *l = next_line(n);

                if (l)
                        (void)snprintf(l->words, sizeof(l->words), "lost %" PRIu64 " bytes at byte %" PRIu64 ": %s",
                                       d->lost_bytes, d->offset, d->reason ? d->reason : "damaged");
        }
        add_journal(n, c, target);
        for (uint64_t i = target->notes_first; i && i <= target->notes_last; i++) {
                const struct world_note *note = world_note(target, i);

                if (note)
                        add_note(n, note);
        }
        add_end(n, &c->scene, target);
        ARRAY_SORT(n->lines, n->n, by_time);
        for (size_t i = 0; i < n->n; i++)
                table_add(t, n->lines[i].note ? n->lines[i].note->number : UINT64_MAX - i, &n->lines[i]);
}

static const struct table_class table = {
        .name = "notes",
        .empty = "the program has said nothing yet (traceMarker, traceEvent), and nothing happened to its stream",
        .columns = columns,
        .n_columns = ARRAY_SIZE(columns),
        .sort = SIZE_MAX,
        .log = true,
        .rows = fill_rows,
};

static void release_lines(void *state)
{
        free(((struct notes *)state)->lines);
}

static const struct console_key keys[] = {
        { "/", "search" }, { "n N", "next" }, { "f", "filter" }, { "end", "follow" }, { NULL, NULL },
};

const struct console_view view_notes = {
        .name = "notes",
        .title = "Notes",
        .brief = "Notes",
        .letter = 'l',
        .about = "What the program said: markers, messages, names of threads; and what happened to its stream: damage, "
                 "reconnections, changes of state since this console was opened; and, after a crash, how it ended and "
                 "its memory until then. The newest is at the bottom, and the "
                 "list follows it while the last row is selected.",
        .keys = keys,
        .tables = { &table },
        .state_size = sizeof(struct notes),
        .state_done = release_lines,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/names.h"
#include "inspect/show/request.h"
#include "proto/base/json_out.h"
#include "proto/base/sibling.h"

#define NAMED_MOST 6u /* threads whose labels or numbers are shown of a group, in text and in brief */
#define WHAT_BYTES 128

/* ------------------------------------------------------------------------- groups */

/* Neighbours in the sorted list: those of the same state and the same frames, as far as these are kept. */
struct group {
        const struct haskell_thread *first;
        size_t n;
        bool is_main; /* that thread is among them */
};

/* What is not known of C is as none. */
static int compare_c_frames(const struct haskell_thread *a, const struct haskell_thread *b)
{
        static const struct c_frames none = { .n = 0 };
        const struct c_frames *x = a->in_c ? a->in_c : &none, *y = b->in_c ? b->in_c : &none;

        if (!thread_state_is_in_c(a->state) || x == y)
                return 0;
        if (x->n != y->n)
                return x->n < y->n ? -1 : 1;
        for (size_t i = 0; i < x->n; i++)
                if (x->items[i].function != y->items[i].function)
                        return x->items[i].function < y->items[i].function ? -1 : 1;
        return x->n ? !!x->caller - !!y->caller : 0;
}

static int compare_threads(const struct haskell_thread *x, const struct haskell_thread *y)
{
        if (x->state != y->state)
                return x->state < y->state ? -1 : 1;
        if (x->n_kept != y->n_kept)
                return x->n_kept < y->n_kept ? -1 : 1;
        const int frames = memcmp(x->frames, y->frames, x->n_kept * sizeof(x->frames[0]));
        return frames ? frames : compare_c_frames(x, y);
}

static int by_id(const void *a, const void *b)
{
        const struct haskell_thread *x = a, *y = b;

        return (x->id > y->id) - (x->id < y->id);
}

static int by_stack(const void *a, const void *b)
{
        const int stacks = compare_threads(a, b);

        return stacks ? stacks : by_id(a, b);
}

static int by_size(const void *a, const void *b)
{
        const struct group *x = a, *y = b;

        if (x->n != y->n)
                return x->n > y->n ? -1 : 1;
        return (x->first->id > y->first->id) - (x->first->id < y->first->id);
}

/* One for each thread with --all. NULL: out of memory. */
static struct group *group_threads(struct threads *t, bool all, size_t *ret_n)
{
        struct group *groups = calloc(t->n + 1, sizeof(*groups));
        size_t n = 0;

        if (groups && t->n)
                qsort(t->items, t->n, sizeof(*t->items), all ? by_id : by_stack);
        for (size_t i = 0; groups && i < t->n; i++) {
                if (!all && n && compare_threads(groups[n - 1].first, &t->items[i]) == 0)
                        groups[n - 1].n++;
                else
                        groups[n++] = (struct group){ .first = &t->items[i], .n = 1 };
                groups[n - 1].is_main |= t->items[i].is_main;
        }
        if (groups && !all && n)
                qsort(groups, n, sizeof(*groups), by_size);
        *ret_n = n;
        return groups;
}

struct extent {
        uint64_t least_frames, most_frames, least_words, most_words, allocated;
        bool same_cause; /* all wait for the same */
        bool whole, stale;
};

static struct extent extent_of(const struct group *g)
{
        struct extent e = { UINT64_MAX, 0, UINT64_MAX, 0, 0, g->first->waits_for != 0, true, false };

        for (size_t i = 0; i < g->n; i++) {
                const struct haskell_thread *h = &g->first[i];
                e.least_frames = h->n_frames < e.least_frames ? h->n_frames : e.least_frames;
                e.most_frames = h->n_frames > e.most_frames ? h->n_frames : e.most_frames;
                e.least_words = h->stack_words < e.least_words ? h->stack_words : e.least_words;
                e.most_words = h->stack_words > e.most_words ? h->stack_words : e.most_words;
                e.allocated += h->allocated;
                e.same_cause &= h->waits_for == g->first->waits_for;
                e.whole &= h->whole;
                e.stale |= h->stale;
        }
        return e;
}

/* --------------------------------------------------------------------------- text */

/* Numbers of files in the operating system rather than closures. */
static bool waits_for_file(enum thread_state s)
{
        return s == THREAD_READ || s == THREAD_WRITE;
}

static bool waits_for_closure(enum thread_state s)
{
        return s == THREAD_MVAR || s == THREAD_MVAR_READ || s == THREAD_BLACK_HOLE || s == THREAD_THROW_TO;
}

static void print_cause(FILE *to, const struct group *g, const struct extent *e)
{
        const struct haskell_thread *h = g->first;

        if (h->state == THREAD_BLACK_HOLE && h->owner && g->n == 1)
                (void)fprintf(to, " (thread %" PRIu64 ")", h->owner);
        else if (waits_for_file(h->state) && h->waits_for && e->same_cause)
                (void)fprintf(to, ", file descriptor %" PRIu64, h->waits_for);
        else if (waits_for_closure(h->state) && g->n > 1)
                (void)fputs(e->same_cause ? ", all on the same one" : ", on different ones", to);
        if (h->os_thread && g->n == 1)
                (void)fprintf(to, ", on OS thread %d", h->os_thread);
}

static void print_stack(FILE *to, const struct extent *e)
{
        (void)fprintf(to, "; stack %s", BYTES_TEXT((double)e->least_words * 8));
        if (e->least_words != e->most_words)
                (void)fprintf(to, " to %s", BYTES_TEXT((double)e->most_words * 8));
        (void)fprintf(to, " in %s", COUNT_TEXT(e->least_frames));
        if (e->least_frames != e->most_frames)
                (void)fprintf(to, " to %s", COUNT_TEXT(e->most_frames));
        (void)fputs(e->most_frames == 1 ? " frame" : " frames", to);
        if (e->stale)
                (void)fputs(", as when it last stopped", to);
        else if (!e->whole)
                (void)fputs(", not to its bottom", to);
        if (e->allocated)
                (void)fprintf(to, "; %s allocated", BYTES_TEXT(e->allocated));
}

/* Of a group; a single thread is named before its state. */
static void print_members(FILE *to, const struct group *g)
{
        char label[4 * THREAD_LABEL_BYTES];

        for (size_t i = 0; i < g->n && i < NAMED_MOST; i++) {
                (void)hw_terminal_text(label, sizeof(label), g->first[i].label);
                (void)fprintf(to, "%s%" PRIu64 "%s%s", i ? ", " : "    threads ", g->first[i].id, label[0] ? " " : "",
                              label);
        }
        (void)fputs(g->n > NAMED_MOST ? ", ...\n" : "\n", to);
}

/* From the innermost to the one that Haskell has called. */
static void print_c_frames(const struct inspect_subject *s, const struct haskell_thread *h)
{
        const size_t n = h->in_c ? h->in_c->n : 0, shown = n < s->request->frames ? n : s->request->frames;
        char name[PROGRAM_NAME_BYTES], safe[2 * PROGRAM_NAME_BYTES];

        for (size_t i = 0; i < shown; i++) {
                name_of_c_function(s->program, h->in_c->items[i].function, name, sizeof(name));
                (void)hw_terminal_text(safe, sizeof(safe), name);
                (void)fprintf(s->request->to, "        %s\n", safe);
        }
        if (n > shown)
                (void)fprintf(s->request->to, "        ... %zu more in C\n", n - shown);
        else if (s->request->frames > 0 && (n == 0 || !h->in_c->caller))
                (void)fputs("        " NAMES_OF_C_UNKNOWN "\n", s->request->to);
}

static void print_frames(const struct inspect_subject *s, const struct haskell_thread *h)
{
        char name[PROGRAM_NAME_BYTES], source[NAME_SOURCE_BYTES];
        char safe[2 * PROGRAM_NAME_BYTES], safe_source[2 * NAME_SOURCE_BYTES];

        for (uint32_t i = 0; i < h->n_kept && i < s->request->frames; i++) {
                const enum name_kind kind = name_of_code(s->program, h->frames[i], name, sizeof(name));
                (void)hw_terminal_text(safe, sizeof(safe), name_without_package(name));
                name_of_source(s->program, h->frames[i], source);
                (void)hw_terminal_text(safe_source, sizeof(safe_source), source);
                (void)fprintf(s->request->to, "        %s%s%s%s%s\n", safe,
                              kind == NAME_LOCAL ? " (a local function)" : "", source[0] ? " (" : "", safe_source,
                              source[0] ? ")" : "");
        }
        if (h->n_frames > h->n_kept || h->n_kept > s->request->frames) {
                const uint64_t shown = h->n_kept < s->request->frames ? h->n_kept : s->request->frames;
                (void)fprintf(s->request->to, "        ... %s more\n", COUNT_TEXT(h->n_frames - shown));
        }
}

static void print_group(const struct inspect_subject *s, const struct group *g)
{
        FILE *to = s->request->to;
        const struct extent e = extent_of(g);
        char n[HW_NUMBER_MAX], label[4 * THREAD_LABEL_BYTES];

        if (g->n == 1) {
                (void)hw_terminal_text(label, sizeof(label), g->first->label);
                (void)fprintf(to, "\nthread %" PRIu64 "%s%s: ", g->first->id, label[0] ? " " : "", label);
        } else {
                (void)fprintf(to, "\n%s threads ", hw_count_text(n, sizeof(n), g->n));
        }
        (void)fputs(thread_state_text(g->first->state), to);
        print_cause(to, g, &e);
        print_stack(to, &e);
        (void)fputc('\n', to);
        if (g->n > 1)
                print_members(to, g);
        if (thread_state_is_in_c(g->first->state))
                print_c_frames(s, g->first);
        print_frames(s, g->first);
}

static const char *what_text(char what[WHAT_BYTES], const struct inspect_subject *s, const struct threads *t, size_t n)
{
        (void)snprintf(what, WHAT_BYTES, "%s %s%s%s%s", COUNT_TEXT(t->n), t->n == 1 ? "thread" : "threads",
                       s->request->all ? "" : " in ", s->request->all ? "" : COUNT_TEXT(n),
                       s->request->all ? ""
                       : n == 1        ? " group"
                                       : " groups");
        return what;
}

static void print_text(const struct inspect_subject *s, const struct threads *t, const struct group *groups, size_t n)
{
        char what[WHAT_BYTES];

        head_text(s, what_text(what, s, t, n));
        if (t->list_cut && !s->late)
                (void)fputs("incomplete: a list of threads ended as no list does\n", s->request->to);
        if (t->out_of_memory)
                (void)fputs("incomplete: the stacks are larger than 512 MiB together\n", s->request->to);
        for (size_t i = 0; i < n; i++)
                if (groups[i].is_main && !s->request->all)
                        print_group(s, &groups[i]);
        for (size_t i = 0; i < n; i++)
                if (!groups[i].is_main || s->request->all)
                        print_group(s, &groups[i]);
}

/* --------------------------------------------------------------------------- JSON */

static void json_address(struct json_out *j, const char *key, uint64_t address)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "0x%" PRIx64, address);
        json_member_text(j, key, text);
}

static void frames_json(struct json_out *j, const struct inspect_subject *s, const struct haskell_thread *h)
{
        static const char *const kinds[] = {
                [NAME_EXACT] = "symbol", [NAME_SOURCE] = "source", [NAME_LOCAL] = "module", [NAME_NONE] = "place"
        };
        char name[PROGRAM_NAME_BYTES], source[NAME_SOURCE_BYTES];

        json_member_open(j, "frames", '[');
        for (uint32_t i = 0; i < h->n_kept && i < s->request->frames; i++) {
                const enum name_kind kind = name_of_code(s->program, h->frames[i], name, sizeof(name));
                json_open(j, '{');
                json_member_text(j, "name", name);
                json_member_text(j, "by", kinds[kind]);
                json_member_bool(j, "probably", name_is_probable(name));
                name_of_source(s->program, h->frames[i], source);
                json_known_text(j, "source", source[0] ? source : NULL);
                json_address(j, "at", h->frames[i]);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void c_frames_json(struct json_out *j, const struct inspect_subject *s, const struct c_frames *c)
{
        char name[PROGRAM_NAME_BYTES];

        json_member_u64(j, "c_stack_frames", c ? c->n : 0);
        json_member_bool(j, "c_stack_whole", c && c->n && c->caller);
        json_member_open(j, "c_frames", '[');
        for (size_t i = 0; c && i < c->n && i < s->request->frames; i++) {
                name_of_c_function(s->program, c->items[i].function, name, sizeof(name));
                json_open(j, '{');
                json_member_text(j, "name", name);
                json_address(j, "function", c->items[i].function);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void thread_json(struct json_out *j, const struct haskell_thread *h)
{
        json_open(j, '{');
        json_member_u64(j, "id", h->id);
        if (h->is_main)
                json_member_bool(j, "main", true);
        if (h->label[0])
                json_member_text(j, "label", h->label);
        if (waits_for_file(h->state) && h->waits_for)
                json_member_u64(j, "descriptor", h->waits_for);
        if (waits_for_closure(h->state) && h->waits_for)
                json_address(j, "waits_for", h->waits_for);
        if (h->owner)
                json_member_u64(j, "owner", h->owner);
        if (h->os_thread)
                json_member_i64(j, "os_thread", h->os_thread);
        if (h->allocated)
                json_member_u64(j, "allocated_bytes", h->allocated);
        json_member_u64(j, "stack_bytes", h->stack_words * 8);
        json_member_u64(j, "stack_frames", h->n_frames);
        json_member_bool(j, "stack_whole", h->whole && !h->stale);
        json_close(j, '}');
}

static void group_json(struct json_out *j, const struct inspect_subject *s, const struct group *g)
{
        const struct extent e = extent_of(g);

        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "threads", g->n);
        json_member_text(j, "state", thread_state_word(g->first->state));
        json_member_text(j, "state_text", thread_state_text(g->first->state));
        if (waits_for_closure(g->first->state) && g->n > 1)
                json_member_bool(j, "same_cause", e.same_cause);
        json_member_u64(j, "least_stack_bytes", e.least_words * 8);
        json_member_u64(j, "most_stack_bytes", e.most_words * 8);
        json_member_u64(j, "stack_frames", e.most_frames);
        json_member_bool(j, "stack_whole", e.whole && !e.stale);
        json_known_u64(j, "allocated_bytes", e.allocated > 0, e.allocated);
        if (thread_state_is_in_c(g->first->state))
                c_frames_json(j, s, g->first->in_c);
        frames_json(j, s, g->first);
        json_member_open(j, "members", '[');
        for (size_t k = 0; k < g->n && (!s->request->brief || k < NAMED_MOST); k++)
                thread_json(j, &g->first[k]);
        json_close(j, ']');
        json_close(j, '}');
}

static void print_json(const struct inspect_subject *s, const struct threads *t, const struct group *groups, size_t n)
{
        const size_t shown = s->request->brief && n > s->request->top ? s->request->top : n;
        struct json_out j = { .to = s->request->to };
        char what[WHAT_BYTES];

        json_open(&j, '{');
        head_json(&j, s);
        head_sentences_json(&j, s, what_text(what, s, t, n));
        json_member_u64(&j, "threads", t->n);
        json_member_bool(&j, "list_complete", !t->list_cut && !t->out_of_time && !t->out_of_memory);
        json_member_open(&j, "groups", '[');
        for (size_t i = 0; i < shown; i++)
                group_json(&j, s, &groups[i]);
        json_close(&j, ']');
        json_known_u64(&j, "other_groups", shown < n, n - shown);
        json_close(&j, '}');
        json_newline(&j);
}

/* Of the program's log (INSPECT_LABELS). Threads that have a label of the program's own keep it. */
static void add_labels(struct threads *t, const char *lines)
{
        for (const char *line = lines; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
                char *label;
                const uint64_t id = strtoull(line, &label, 10);

                for (size_t i = 0; *label == '=' && i < t->n; i++)
                        if (t->items[i].id == id && (!t->items[i].label[0] || t->items[i].is_main))
                                (void)snprintf(t->items[i].label, sizeof(t->items[i].label), "%.*s",
                                               (int)strcspn(label + 1, "\n"), label + 1);
        }
}

bool show_threads(const struct inspect_subject *s, struct threads *t)
{
        char source[NAME_SOURCE_BYTES];
        size_t n;

        add_labels(t, getenv(INSPECT_LABELS));
        struct group *groups = group_threads(t, s->request->all, &n);

        /* which sources cannot be read is said before the first frame */
        for (size_t i = 0; groups && i < n; i++)
                for (uint32_t k = 0; k < groups[i].first->n_kept && k < s->request->frames; k++)
                        name_of_source(s->program, groups[i].first->frames[k], source);
        if (groups && s->request->json)
                print_json(s, t, groups, n);
        else if (groups)
                print_text(s, t, groups, n);
        free(groups);
        return groups != NULL;
}

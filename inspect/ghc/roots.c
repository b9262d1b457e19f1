/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/roots.h"

#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/threads.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

#define STABLE_MOST   (UINT64_C(1) << 24)
#define NAMED_FRAMES  16u /* from the top, of which one names a thread */
#define C_STACK_BYTES 65536u

/* NULL: out of memory. */
static struct root *add_root(struct heap_roots *r, enum graph_kind kind, const char *name, uint64_t closure)
{
        struct heap_graph *g = r->types->graph;
        const uint32_t type = heap_graph_type(g, kind, name, "root");

        if (g->out_of_memory || !ARRAY_RESERVE(r->items, r->capacity, r->n + 1)) {
                g->out_of_memory = true;
                return NULL;
        }
        g->types[type].roots++;
        r->items[r->n] = (struct root){ closure, type, false, false };
        return &r->items[r->n++];
}

struct thread_frames heap_thread_frames(const struct heap_snapshot *s, uint64_t tso)
{
        const uint64_t base = (snapshot_word(s, tso + s->ghc->shift + THREAD_STACK) & ~UINT64_C(7)) + s->ghc->shift;
        const uint64_t begin = base + STACK_WORDS, at = snapshot_word(s, base + STACK_POINTER);

        return (struct thread_frames){ s, at >= begin ? at : UINT64_MAX,
                                       begin + 8 * (uint64_t)(uint32_t)snapshot_word(s, base + STACK_SIZE) };
}

bool thread_frames_next(struct thread_frames *f, const struct closure_table **ret)
{
        const uint64_t words[2] = { snapshot_word(f->snapshot, f->at), snapshot_word(f->snapshot, f->at + 8) };
        const size_t size =
                f->at < f->end ? frame_words(f->snapshot->ghc, words, (size_t)((f->end - f->at) / 8), ret) : 0;

        f->at += 8 * size;
        return size > 0;
}

/* Modules of GHC's own say little of a program: its arithmetic, its event manager. So does no place. */
static bool is_of_ghc(const char *place)
{
        return !place[0] || !strncmp(place, "GHC.", 4);
}

/* The stack pointer of a thread that runs: in Sp, or where C that it called has saved that: innermost on its stack. */
static uint64_t find_pointer(const struct heap_snapshot *s, uint64_t begin, uint64_t end)
{
        const struct program *p = s->ghc->program;
        uint64_t word;

        for (size_t i = 0; i < p->n_registers; i++)
                if (p->registers[i].hs_sp >= begin && p->registers[i].hs_sp < end)
                        return p->registers[i].hs_sp;
        for (size_t i = 0; i < p->n_registers; i++) {
                const uint64_t from = p->registers[i].sp & ~UINT64_C(7);
                for (uint64_t at = from; at - from < C_STACK_BYTES && snapshot_read(s, at, &word); at += 8)
                        if (word >= begin && word < end && !(word & 7))
                                return word;
        }
        return 0;
}

static void see_running(struct heap_roots *r, uint64_t tso)
{
        const struct heap_snapshot *s = r->snapshot;
        const uint64_t capability = snapshot_word(s, tso + s->ghc->shift + s->ghc->thread.capability);
        const uint64_t stack = snapshot_word(s, tso + s->ghc->shift + THREAD_STACK) & ~UINT64_C(7);
        const uint64_t base = stack + s->ghc->shift, begin = base + STACK_WORDS;
        const uint64_t end = begin + 8 * (uint64_t)(uint32_t)snapshot_word(s, base + STACK_SIZE);
        uint64_t current;

        if (r->n_running == RUNNING_MOST || !snapshot_read(s, capability + CAPABILITY_CURRENT_THREAD, &current) ||
            current != tso)
                return;
        r->running[r->n_running++] = (struct running_stack){ stack, find_pointer(s, begin, end) };
}

/*
 * "Main.serve", "GHC.Real.$fIntegralInt_$cmod": the topmost function of a thread, of no module of GHC's own if there is
 * such a one; "": not known.
 */
static const char *find_place(struct heap_roots *r, uint64_t tso)
{
        struct thread_frames frames = heap_thread_frames(r->snapshot, tso);
        const struct closure_table *t;
        const char *place = "";

        for (unsigned n = 0; n < NAMED_FRAMES && is_of_ghc(place) && thread_frames_next(&frames, &t); n++) {
                const uint32_t type = graph_type_of_frame(r->types, t);
                if (type == GRAPH_TYPE_NONE)
                        continue;
                const char *name = r->types->graph->types[type].name, *of = strstr(name, " of ");
                const char *here = of ? of + 4 : strstr(name, " in ") + 4;
                place = place[0] && is_of_ghc(here) ? place : here;
        }
        return place;
}

/* By its label without its number, and where it is: threads of one kind are one root. */
static void add_thread(struct heap_roots *r, uint64_t tso)
{
        const struct heap_snapshot *s = r->snapshot;
        const struct ghc *g = s->ghc;
        const uint16_t next = (uint16_t)snapshot_word(s, tso + g->shift + THREAD_WHAT_NEXT);
        const uint64_t label = g->thread.label ? snapshot_word(s, tso + g->shift + g->thread.label) & ~UINT64_C(7) : 0;
        const uint64_t n = label ? snapshot_word(s, label + 8 * (uint64_t)g->header_words) : 0;
        char text[PROGRAM_NAME_BYTES + 96], bytes[THREAD_LABEL_BYTES + 1] = "";
        struct text_out out;

        if (thread_has_ended(next))
                return;
        see_running(r, tso);
        const char *place = find_place(r, tso);
        text_out_init(&out, text, sizeof(text));
        text_put(&out, "thread");
        for (uint64_t i = 0; i < n && i < THREAD_LABEL_BYTES; i++) {
                const uint64_t at = label + 8 * ((uint64_t)g->header_words + 1) + i;
                bytes[i] = (char)(snapshot_word(s, at & ~UINT64_C(7)) >> (at % 8 * 8));
        }
        (void)thread_put_kind(&out, bytes);
        text_put(&out, place[0] ? " in " : "");
        text_put(&out, place);
        add_root(r, GRAPH_THREAD_ROOT, text, tso);
}

static void add_registers(struct heap_roots *r)
{
        const struct program *p = r->snapshot->ghc->program;

        for (size_t i = 0; i < p->n_registers; i++)
                for (size_t k = 0; k < p->registers[i].n_all; k++)
                        if (snapshot_megablock(r->snapshot, p->registers[i].all[k])) {
                                struct root *root = add_root(r, GRAPH_ROOT, "registers of a thread that runs",
                                                             p->registers[i].all[k]);
                                if (root)
                                        root->is_brief = true;
                        }
}

/* The runtime's table of them; free entries lead into the table itself. */
static void add_stable_pointers(struct heap_roots *r)
{
        const struct heap_snapshot *s = r->snapshot;
        const uint64_t table_at = program_variable(s->ghc->program, "stable_ptr_table");
        const uint64_t size_at = program_variable(s->ghc->program, "SPT_size");
        uint64_t table, size, entry;

        if (!table_at || !size_at || !snapshot_read(s, table_at & ~UINT64_C(7), &table) ||
            !snapshot_read(s, size_at & ~UINT64_C(7), &size))
                return;
        r->has_stable_pointers = true;
        size = size_at & 4 ? size >> 32 : (uint32_t)size;
        for (uint64_t i = 0; i < size && i < STABLE_MOST; i++)
                if (snapshot_read(s, table + 8 * i, &entry) && (snapshot_megablock(s, entry & ~UINT64_C(7)) ||
                                                                program_is_data(s->ghc->program, entry & ~UINT64_C(7))))
                        add_root(r, GRAPH_ROOT, "stable pointer", entry);
}

/*
 * Its own symbol; what the code that computed it is called, which it keeps behind its value; its place in the file. And
 * where that code is in the source.
 */
static void name_caf(const struct heap_snapshot *s, uint64_t at, char *text, size_t size)
{
        const struct program *p = s->ghc->program;
        char name[PROGRAM_NAME_BYTES], code[PROGRAM_NAME_BYTES], source[NAME_SOURCE_BYTES];
        const bool named = name_of_static(p, at, name, sizeof(name)) == NAME_EXACT;
        enum name_kind by_code = NAME_NONE;
        uint64_t saved = 0;

        (void)snapshot_read(s, at + 8 * ((uint64_t)s->ghc->header_words + 2), &saved);
        name_of_source(p, saved, source);
        if (!named && program_is_code(p, saved))
                by_code = name_of_code(p, saved, code, sizeof(code));
        const char *place = source[0] || by_code == NAME_NONE ? source : name;
        const char *own = named ? name_without_package(name) : by_code == NAME_NONE ? name : name_without_package(code);
        const bool is_part = by_code != NAME_NONE && (by_code != NAME_EXACT || !source[0]);
        (void)text_join(text, size, is_part ? "a CAF in " : "CAF ", own, place[0] ? " (" : "", place,
                        place[0] ? ")" : "", NULL);
}

void heap_roots_add_cafs(struct heap_roots *r, bool (*is_alive)(const void *ctx, uint64_t at), const void *ctx)
{
        const struct heap_snapshot *s = r->snapshot;
        const uint64_t h = 8 * (uint64_t)s->ghc->header_words;
        struct heap_graph *g = r->types->graph;
        char text[3 * PROGRAM_NAME_BYTES];

        for (size_t i = 0; i < s->ghc->program->n_data; i++) {
                const struct range *d = &s->ghc->program->data[i];
                for (uint64_t at = (d->start + 7) & ~UINT64_C(7); at + h + 24 <= d->end; at += 8) {
                        uint64_t first, value;
                        const struct closure_table *t;
                        if (!snapshot_read(s, at, &first) || !(t = info_tables_find(&s->ghc->tables, first)) ||
                            t->type != IND_STATIC || !snapshot_read(s, at + h, &value) ||
                            !snapshot_megablock(s, value & ~UINT64_C(7)))
                                continue;
                        if (!is_alive(ctx, at)) {
                                g->dead_cafs++;
                                continue;
                        }
                        g->live_cafs++;
                        name_caf(s, at, text, sizeof(text));
                        add_root(r, GRAPH_ROOT, text, value);
                }
        }
}

void heap_roots_add_weak(struct heap_roots *r, uint64_t weak)
{
        struct root *root = add_root(r, GRAPH_ROOT, "weak pointer whose key does not move", weak);

        if (root)
                root->is_weak = true;
}

void heap_roots_add(struct heap_roots *r)
{
        struct snapshot_threads threads = { .snapshot = r->snapshot };
        uint64_t tso;

        add_stable_pointers(r);
        while (snapshot_next_thread(&threads, &tso))
                add_thread(r, tso);
        add_registers(r);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the struct as it is, then what it owns, part by part; when reading, the parts' shapes come from the new
 * model. Once everything is read, every pointer is relocated.
 */
#include "daemon/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/model/image/containers.h"
#include "daemon/model/state.h"
#include "proto/base/limits.h"
#include "proto/base/outside_census.h"

#include "daemon/model/model_image_layouts.inc"

#define ROWS_MAX (1u << 24)

static const char impossible[] = "numbers in its model contradict each other";

/* ---------------------------------------------------------------- what it owns */

static void image_gc(struct image *im, struct model *m)
{
        uint32_t room = GC_MAX_GENERATIONS;

        image_struct_array(im, &m->gc.generations, &m->gc.n_generations, &room, IMAGE_TYPE(generation),
                           GC_MAX_GENERATIONS);
        for (uint32_t i = 0; i < m->gc.n_generations; i++)
                image_sketch(im, &m->gc.generations[i].pauses.cells, HISTOGRAM_CELLS);
        if (m->gc.nonmoving.n_census > NONMOVING_SIZES || m->gc.n_last > GC_LAST)
                image_refuse(im, impossible);
}

static void image_rows(struct image *im, struct census_rows *rows, uint32_t n, uint32_t bands)
{
        image_struct_array(im, &rows->rows, &n, &rows->room, IMAGE_TYPE(census_row), ROWS_MAX);
        for (uint32_t i = 0; im->reads && i < n; i++)
                if (rows->rows[i].band == 0 || rows->rows[i].band > bands)
                        image_refuse(im, impossible);
}

static void image_contents(struct image *im, struct census_contents_rows *contents, uint32_t n, uint32_t bands)
{
        image_struct_array(im, &contents->rows, &n, &contents->room, IMAGE_TYPE(census_contents),
                           2 * OUTSIDE_CONTENTS_MOST);
        if (n > OUTSIDE_CONTENTS_MOST)
                image_refuse(im, impossible);
        for (uint32_t i = 0; im->reads && i < n; i++) {
                struct census_contents *c = &contents->rows[i];
                if (c->band == 0 || c->band > bands || c->name[sizeof(c->name) - 1])
                        image_refuse(im, impossible);
        }
}

static void image_census(struct image *im, struct census_state *c, uint32_t bands)
{
        if (c->writing > 1)
                image_refuse(im, impossible);
        c->writing = c->writing & 1;
        image_rows(im, &c->buffers[c->writing], c->is_open ? c->open.n_rows : 0, bands);
        image_rows(im, &c->buffers[!c->writing], c->done.n_rows, bands);
        image_rows(im, &c->groups[c->writing], c->is_open ? c->open.n_groups : 0, bands);
        image_rows(im, &c->groups[!c->writing], c->done.n_groups, bands);
        image_contents(im, &c->contents[c->writing], c->is_open ? c->open.n_contents : 0, bands);
        image_contents(im, &c->contents[!c->writing], c->done.n_contents, bands);
        if (!im->reads)
                return;
        if (c->history.fold.n > BAND_POINTS || c->history.fold.newest >= BAND_POINTS)
                image_refuse(im, impossible);
        c->done.rows = c->buffers[!c->writing].rows;
        c->open.rows = c->buffers[c->writing].rows;
        c->done.groups = c->groups[!c->writing].rows;
        c->open.groups = c->groups[c->writing].rows;
        c->done.contents = c->contents[!c->writing].rows;
        c->open.contents = c->contents[c->writing].rows;
        c->history.fold.cells = c->history.fold.cells ? c->history.cells : NULL;
}

static void image_bands(struct image *im, struct bands *b, const struct bands *shape)
{
        const uint64_t form[] = { BAND_STRIDE, band_history.capacity, band_history.cell.size,
                                  band_history_thin.capacity, band_history_thin.cell.size };

        image_expect(im, form, sizeof(form)); /* of the points */
        image_pool(im, &b->entries, shape->entries, IMAGE_TYPE(band_entry), LIMIT_BANDS);
        image_idtable(im, &b->by_key, b->entries.count);
        image_pool(im, &b->sums, shape->sums, IMAGE_TYPE(band_sums), LIMIT_BANDS);
        image_pool(im, &b->histories, shape->histories, IMAGE_TYPE(fold), LIMIT_FULL_BANDS);
        image_arena(im, &b->points, shape->points.max_bytes);
        image_arena(im, &b->stacks, shape->stacks.max_bytes);
        image_strings(im, &b->strings, shape->strings.arena.max_bytes);
        image_pool(im, &b->centres, shape->centres, IMAGE_TYPE(cost_centre), LIMIT_COST_CENTRES);
        image_idtable(im, &b->centre_by_id, b->centres.count);
        image_pool(im, &b->tables, shape->tables, IMAGE_TYPE(info_table), LIMIT_INFO_TABLES);
        image_idtable(im, &b->table_by_key, b->tables.count);
}

static void image_note(struct image *im, struct note *note)
{
        uint32_t used = note->room ? note->text_size + 1u : 0, room = note->room;
        char *text = note->room ? (char *)note->text : NULL;

        image_array(im, &text, &used, &room, 1, LIMIT_NOTE_TEXT_BYTES + 64);
        if (!im->reads)
                return;
        if (text)
                text[used - 1] = '\0';
        else
                note->text_size = 0;
        note->text = text ? text : "";
        note->room = (uint16_t)room;
}

static void image_notes(struct image *im, struct notes *n)
{
        uint32_t made = n->made, room = n->slots ? LIMIT_NOTES : 0;

        image_struct_array(im, &n->slots, &made, &room, IMAGE_TYPE(note), LIMIT_NOTES);
        n->made = made;
        for (uint32_t i = 0; i < n->made; i++) {
                image_note(im, &n->slots[i]);
        }
        image_struct_array(im, &n->landmarks, &n->n_landmarks, &n->landmarks_room, IMAGE_TYPE(landmark),
                           LIMIT_LANDMARKS);
        for (uint32_t i = 0; im->reads && i < n->n_landmarks; i++) {
                struct landmark *l = &n->landmarks[i];
                l->note.text = l->text;
                l->note.room = 0;
                if (l->note.text_size > LIMIT_LANDMARK_BYTES)
                        image_refuse(im, impossible);
                l->text[LIMIT_LANDMARK_BYTES] = '\0';
        }
}

/* ------------------------------------------------------------------- arguments */

struct wanted {
        const char *text;
        bool found;
};

static void match_option(void *ctx, const char *option)
{
        struct wanted *w = ctx;

        w->found = w->found || option == w->text;
}

static bool is_secret(const struct run *run, uint32_t i)
{
        struct wanted w = { .text = run->args[i] };

        run_each_rts_option(run, match_option, &w);
        return !w.found && w.text != run->args[0] && strcmp(w.text, "+RTS") != 0 && strcmp(w.text, "-RTS") != 0 &&
               strcmp(w.text, "--RTS") != 0 && strcmp(w.text, "--") != 0;
}

/*
 * Arguments may be secrets, and would outlive the program in the file: their texts are asterisks while they are
 * written.
 */
static void write_identity(struct image *im, struct model *m)
{
        const struct run *run = &m->run;
        char *texts[RUN_MAX_ARGS] = { NULL };

        for (uint32_t i = 1; i < run->n_args && image_fine(im); i++) {
                if (!is_secret(run, i))
                        continue;
                texts[i] = strdup(run->args[i]);
                if (texts[i])
                        memset((char *)(size_t)run->args[i], '*', strings_size(run->args[i]));
                else
                        image_refuse(im, "out of memory");
        }
        image_strings(im, &m->identity, m->identity.arena.max_bytes);
        for (uint32_t i = RUN_MAX_ARGS; i-- > 1;) /* the same text may be there twice: its first copy is the true one */
                if (texts[i])
                        memcpy((char *)(size_t)run->args[i], texts[i], strlen(texts[i]));
        for (uint32_t i = 1; i < RUN_MAX_ARGS; i++)
                free(texts[i]);
}

/* Samples of the newest second have their cells open at all levels. */
static bool fresh_is_sound(const struct series *s)
{
        bool sound = true;

        for (unsigned level = 0; level < series_shape.n_levels; level++)
                sound &= s->pyramid.levels[level].in_use;
        return sound || !s->fresh.cell.n;
}

static void image_series(struct image *im, struct model *m)
{
        struct image_entries e = image_entries(im, IMAGE_NAMES(series_id), SERIES_COUNT);

        while (image_next(im, &e)) {
                if (e.lacks) {
                        m->series[e.i] = (struct series){ .late = 0 };
                        continue;
                }
                image_pyramid(im, &m->series[e.i].pyramid, &series_shape, IMAGE_TYPE(trend_cell), NULL);
                if (im->reads && !fresh_is_sound(&m->series[e.i]))
                        image_refuse(im, "impossible samples of a second");
        }
}

/* Nothing if there were none, as in images of versions that had no samples. */
static void image_samples(struct image *im, struct stack_samples *s, const struct stack_samples *shape)
{
        if (s->symbols.count) {
                image_pool(im, &s->symbols, shape->symbols, IMAGE_TYPE(stack_symbol), LIMIT_STACK_SYMBOLS);
                image_idtable(im, &s->by_key, s->symbols.count);
                image_struct_array(im, &s->parts, &s->n_parts, &s->parts_room, IMAGE_TYPE(stack_part),
                                   2 * LIMIT_STACK_PARTS);
        } else if (im->reads) {
                stack_samples_init(s);
        }
        if (s->n_parts > LIMIT_STACK_PARTS)
                image_refuse(im, impossible);
}

/* -------------------------------------------------------------------- pointers */

static void relocate_points(struct image *im, struct band_points *p, const struct fold_shape *shape)
{
        image_pointer(im, &p->cells, shape->cell.size * BAND_STRIDE * shape->capacity);
        if (p->used > BAND_STRIDE)
                image_refuse(im, impossible);
}

static void relocate_bands(struct image *im, struct bands *b)
{
        relocate_points(im, &b->newest_points, &band_history);
        relocate_points(im, &b->newest_thin_points, &band_history_thin);
        image_pointer(im, &b->newest_row, sizeof(struct band_entry));
        for (uint32_t id = 1; id <= b->entries.count; id++) {
                struct band_entry *e = bands_entry(b, id);
                struct band *band = &e->band;
                image_pointer(im, &e->follower, sizeof(struct band_entry));
                image_string(im, &band->label);
                image_pointer(im, &band->stack, band->depth * sizeof(*band->stack));
                image_pointer(im, &band->info_table, sizeof(struct info_table));
                image_pointer(im, &band->sums, sizeof(struct band_sums));
                image_pointer(im, &band->history, sizeof(struct fold));
                if (band->history)
                        image_fold_cells(im, band->history, band_history_shape(band));
                if (band->id != id || !band->label)
                        image_refuse(im, impossible);
        }
        for (uint32_t id = 1; id <= b->centres.count; id++) {
                struct cost_centre *c = pool_at(&b->centres, id);
                image_string(im, &c->label);
                image_string(im, &c->module);
                image_string(im, &c->source);
        }
        for (uint32_t id = 1; id <= b->tables.count; id++) {
                struct info_table *t = pool_at(&b->tables, id);
                image_string(im, &t->name);
                image_string(im, &t->closure_type);
                image_string(im, &t->type);
                image_string(im, &t->label);
                image_string(im, &t->module);
                image_string(im, &t->source);
                if (t->band > b->entries.count)
                        image_refuse(im, impossible);
        }
}

static void relocate_run(struct image *im, struct run *run)
{
        if (run->n_args > RUN_MAX_ARGS || run->breakdown > BREAKDOWN_ERA)
                image_refuse(im, impossible);
        image_string(im, &run->program);
        image_string(im, &run->rts_identifier);
        for (uint32_t i = 0; i < run->n_args && i < RUN_MAX_ARGS; i++) {
                image_string(im, &run->args[i]);
                if (!run->args[i])
                        image_refuse(im, impossible);
        }
        run->ghc_version[sizeof(run->ghc_version) - 1] = run->rts_way[sizeof(run->rts_way) - 1] = '\0';
}

static void relocate_others(struct image *im, struct model *m)
{
        const struct census *open = &m->census.open;

        for (uint32_t id = 1; m->census.is_open && id <= m->bands.entries.count; id++) {
                const struct band_entry *e = bands_entry(&m->bands, id);
                if (e->row_census == (uint32_t)open->number && e->row >= open->n_rows)
                        image_refuse(im, impossible);
        }
        for (uint32_t id = 1; id <= m->profile.stacks.count; id++) {
                struct profile_stack *s = pool_at(&m->profile.stacks, id);
                image_pointer(im, &s->centres, s->depth * sizeof(*s->centres));
        }
        for (uint32_t id = 1; id <= m->profile.samples.symbols.count; id++)
                image_string(im, &((struct stack_symbol *)pool_at(&m->profile.samples.symbols, id))->text);
        for (uint32_t id = 1; id <= m->ticky.counters.count; id++) {
                struct ticky_counter *t = pool_at(&m->ticky.counters, id);
                image_string(im, &t->name);
                image_string(im, &t->argument_kinds);
        }
}

void model_image(struct image *im, struct model *m, bool arguments)
{
        const struct model fresh = *m;

        image_struct(im, m, IMAGE_TYPE(model));
        if (im->reads) {
                m->sinks = fresh.sinks;
                model_keep_finely(m, fresh.finely);
                free(fresh.gc.generations);
        }
        uint32_t n = m->sched.n_caps, room = m->caps_room;

        image_struct_array(im, &m->sched.caps, &n, &room, IMAGE_TYPE(sched_cap), 2 * LIMIT_CAPS);
        image_struct_array(im, &m->caps, &m->sched.n_caps, &m->caps_room, IMAGE_TYPE(cap_state), 2 * LIMIT_CAPS);
        for (unsigned i = 0; i < SCHED_STATUSES; i++)
                if (m->stop_status[i] >= SCHED_STATUSES)
                        image_refuse(im, impossible);
        image_gc(im, m);
        image_bands(im, &m->bands, &fresh.bands);
        image_census(im, &m->census, m->bands.entries.count);
        image_notes(im, &m->notes);
        image_pool(im, &m->profile.stacks, fresh.profile.stacks, IMAGE_TYPE(profile_stack), LIMIT_STACKS);
        image_idtable(im, &m->profile.by_stack, m->profile.stacks.count);
        image_arena(im, &m->profile.centres, fresh.profile.centres.max_bytes);
        image_samples(im, &m->profile.samples, &fresh.profile.samples);
        image_pool(im, &m->ticky.counters, fresh.ticky.counters, IMAGE_TYPE(ticky_counter), LIMIT_TICKY);
        image_idtable(im, &m->ticky.by_id, m->ticky.counters.count);
        if (im->reads || arguments)
                image_strings(im, &m->identity, fresh.identity.arena.max_bytes);
        else
                write_identity(im, m);
        image_series(im, m);
        if (!im->reads)
                return;
        m->changes |= MODEL_RUN;
        m->heap.process.cgroup[sizeof(m->heap.process.cgroup) - 1] = '\0';
        relocate_bands(im, &m->bands);
        relocate_run(im, &m->run);
        relocate_others(im, m);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json.c - the run as facts, each once, one object per line: what was measured, in plain numbers, without the
 * messages that carried it (see `pipe`) and without what is derived from it (see `summary` and `trend`).
 *
 *     {"kind":"band","band":3,"label":"ARR_WORDS"}                                      before its first census
 *     {"kind":"census","timeNs":31000000,"totalBytes":90,"bands":[[3,90]]}               pairs of band and bytes
 *     {"kind":"sample","series":"live","unit":"B","timeNs":30000000,"value":100}
 *     {"kind":"collection","timeNs":..., ...}  {"kind":"note", ...}
 *     {"kind":"stack", ...}  {"kind":"counter", ...}  {"kind":"run", ...}                at the end, in this order
 */
#include "client/out/convert/format.h"

#include <string.h>

#include "client/out/convert/frames.h"
#include "proto/base/array.h"
#include "proto/base/json_out.h"

struct lines {
        struct conversion run;
        struct json_out j; /* to run.out */
};

static void open_line(struct lines *l, const char *kind)
{
        json_open(&l->j, '{');
        json_member_text(&l->j, "kind", kind);
}

static void close_line(struct lines *l)
{
        json_close(&l->j, '}');
        (void)putc('\n', l->j.to);
        l->j.comma = false;
}

static void put_centres(struct lines *l, Hw__CostCentre *const *centres, size_t n)
{
        char name[1024];

        json_member_open(&l->j, "stack", '[');
        for (size_t i = 0; i < n; i++) {
                const Hw__CostCentre *c = centres[i];
                json_open(&l->j, '{');
                json_known_text(&l->j, "name", frame_name(name, sizeof(name), c->id, c->label, c->module));
                json_known_text(&l->j, "source", c->source);
                json_close(&l->j, '}');
        }
        json_close(&l->j, ']');
}

/* ------------------------------------------------------------------- facts */

static void put_band(struct lines *l, const Hw__Band *b)
{
        open_line(l, "band");
        json_member_u64(&l->j, "band", b->id);
        json_known_text(&l->j, "label", b->label);
        if (b->n_stack)
                put_centres(l, b->stack, b->n_stack);
        if (b->info_table) {
                json_known_text(&l->j, "type", b->info_table->type);
                json_known_text(&l->j, "closureType", b->info_table->closure_type);
                json_known_text(&l->j, "module", b->info_table->module);
                json_known_text(&l->j, "source", b->info_table->source);
        }
        close_line(l);
}

static void put_census(struct lines *l, const Hw__Census *c)
{
        open_line(l, "census");
        json_known_u64(&l->j, "timeNs", c->has_time_ns, c->time_ns);
        json_known_u64(&l->j, "totalBytes", c->has_total_bytes, c->total_bytes);
        json_known_u64(&l->j, "leftOutBytes", c->bytes_left_out > 0, c->bytes_left_out);
        if (c->unfinished)
                json_member_bool(&l->j, "unfinished", true);
        json_member_open(&l->j, "bands", '[');
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                json_open(&l->j, '[');
                json_u64(&l->j, c->band[i]);
                json_u64(&l->j, c->bytes[i]);
                json_close(&l->j, ']');
        }
        json_close(&l->j, ']');
        close_line(l);
}

static void put_samples(struct lines *l, const Hw__Samples *s)
{
        const char *name = hw_series_name(s->series);

        for (size_t i = 0; name && i < s->n_times_ns && i < s->n_values; i++) {
                open_line(l, "sample");
                json_known_text(&l->j, "series", name);
                json_known_text(&l->j, "unit", hw_series_unit(s->series));
                json_member_u64(&l->j, "timeNs", s->times_ns[i]);
                json_member_u64(&l->j, "value", s->values[i]);
                close_line(l);
        }
}

static void put_collection(struct lines *l, const Hw__Collection *c)
{
        open_line(l, "collection");
        json_known_u64(&l->j, "timeNs", c->has_end_time_ns, c->end_time_ns);
        json_known_u64(&l->j, "pauseNs", c->has_pause_ns, c->pause_ns);
        json_known_u64(&l->j, "watchPauseNs", c->has_watch_pause_ns, c->watch_pause_ns);
        json_known_u64(&l->j, "generation", c->has_generation, c->generation);
        if (c->has_major)
                json_member_bool(&l->j, "major", c->major);
        json_known_u64(&l->j, "copiedBytes", c->has_copied_bytes, c->copied_bytes);
        json_known_u64(&l->j, "slopBytes", c->has_slop_bytes, c->slop_bytes);
        json_known_u64(&l->j, "fragmentationBytes", c->has_fragmentation_bytes, c->fragmentation_bytes);
        json_known_u64(&l->j, "threads", c->has_parallel_threads, c->parallel_threads);
        close_line(l);
}

static void put_note(struct lines *l, const Hw__Note *n)
{
        static const char *const what[] = { "unknown", "message", "marker", "threadLabel", "binary", "log" };

        open_line(l, "note");
        json_known_u64(&l->j, "timeNs", n->has_time_ns, n->time_ns);
        json_known_text(&l->j, "what", (unsigned)n->what < ARRAY_SIZE(what) ? what[n->what] : what[0]);
        json_known_u64(&l->j, "thread", n->has_thread, n->thread);
        json_known_text(&l->j, "text", n->text);
        json_known_u64(&l->j, "sizeBytes", n->has_size_bytes, n->size_bytes);
        close_line(l);
}

static void put_run(struct lines *l, const struct world_target *t)
{
        const Hw__Run *r = t->target ? t->target->run_info : NULL;

        open_line(l, "run");
        json_member_u64(&l->j, "run", t->run);
        json_member_u64(&l->j, "endNs", t->event_time_ns);
        if (r) {
                json_known_text(&l->j, "program", r->program);
                json_known_text(&l->j, "rts", r->rts_identifier);
                json_known_u64(&l->j, "startWallNs", r->has_start_wall_ns, r->start_wall_ns);
                json_known_u64(&l->j, "capabilities", r->has_capabilities, r->capabilities);
                json_known_u64(&l->j, "tickIntervalNs", r->has_tick_interval_ns, r->tick_interval_ns);
                json_known_u64(&l->j, "censusPeriodNs", r->has_census_period_ns, r->census_period_ns);
        }
        if (t->target && t->target->detail)
                json_known_text(&l->j, "end", t->target->detail);
        if (t->health)
                json_known_u64(&l->j, "lostBytes", t->health->has_lost_bytes, t->health->lost_bytes);
        if (t->health && t->health->unread)
                json_known_text(&l->j, "unread", t->health->unread);
        close_line(l);
}

/* ----------------------------------------------------------------- updates */

static int json_begin(void *state)
{
        struct lines *l = state;

        l->j.to = l->run.out;
        return 0;
}

static int json_update(void *state, const Hw__Update *u)
{
        struct lines *l = state;

        if (u->body_case == HW__UPDATE__BODY_CENSUS)
                put_census(l, u->census);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_BANDS && i < u->bands->n_bands; i++)
                put_band(l, u->bands->bands[i]);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_HEAP && i < u->heap->n_samples; i++)
                put_samples(l, u->heap->samples[i]);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_GC && i < u->gc->n_collections; i++)
                put_collection(l, u->gc->collections[i]);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_NOTES && i < u->notes->n_notes; i++)
                put_note(l, u->notes->notes[i]);
        return 0;
}

static int json_finish(void *state)
{
        struct lines *l = state;

        for (uint32_t i = 0; i < l->run.t->n_stacks; i++) {
                if (!l->run.t->stacks[i])
                        continue;
                open_line(l, "stack");
                json_member_u64(&l->j, "ticks", l->run.t->stacks[i]->ticks);
                put_centres(l, l->run.t->stacks[i]->centres, l->run.t->stacks[i]->n_centres);
                close_line(l);
        }
        for (uint32_t i = 0; i < l->run.t->n_ticky; i++) {
                const Hw__TickyCounter *c = l->run.t->ticky[i];
                open_line(l, "counter");
                json_known_text(&l->j, "name", c->name);
                json_known_u64(&l->j, "entries", c->has_entries, c->entries);
                json_known_u64(&l->j, "allocs", c->has_allocs, c->allocs);
                json_known_u64(&l->j, "allocd", c->has_allocd, c->allocd);
                close_line(l);
        }
        put_run(l, l->run.t);
        return 0;
}

const struct format format_json = {
        .name = "json",
        .size = sizeof(struct lines),
        .begin = json_begin,
        .update = json_update,
        .finish = json_finish,
        .no_data = "is empty",
};

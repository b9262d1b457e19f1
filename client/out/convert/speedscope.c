/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * speedscope.c - profiles in speedscope's own format: of time, one for each capability, in the order and at the time
 * of its samples; of the stacks that a program samples itself, one, by stack; of the heap, a census by cost-centre
 * stack, or all of them.
 *
 * DESIGN: samples of time come from single events, because messages have only sums. In the file, a capability's
 * samples are one list, but they arrive mixed with those of others, so they wait in a temporary file, which is read
 * once for each list. A sample lasts a tick; where the next one is late by more than half a tick, nothing was sampled
 * (the runtime's ticker stops when the program is idle): an empty stack fills the gap, so that displayed times are
 * times of the run.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/convert/frames.h"
#include "client/out/convert/event_types.h"
#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/json_out.h"

#define CAPABILITIES 4096u
#define LIMIT_CENTRE (1u << 22) /* cost centres with higher ids are not named */

struct tick {
        uint64_t time_ns;
        uint32_t capability, n; /* n frames follow, innermost first */
};

struct speedscope {
        struct conversion run;
        struct json_out j; /* to run.out */
        struct event_types *types;
        struct frames frames;
        uint32_t *centres; /* frame of each cost centre, by id; 0: not defined */
        uint32_t n_centres;
        FILE *ticks;
        uint64_t n_ticks, tick_ns;
        bool seen[CAPABILITIES];
        uint32_t capabilities; /* highest seen, + 1 */
        bool begun;            /* the list of profiles is open */
        bool any_census;
        uint64_t profiles, active;
};

/* ------------------------------------------------------------------ profiles */

static void open_profiles(struct speedscope *s, const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        if (s->begun)
                return;
        s->begun = true;
        json_open(&s->j, '{');
        json_member_text(&s->j, "$schema", "https://www.speedscope.app/file-format-schema.json");
        json_member_text(&s->j, "exporter", "heapwatch " HEAPWATCH_VERSION);
        json_member_text(&s->j, "name", run && run->program ? run->program : "heapwatch");
        json_member_open(&s->j, "profiles", '[');
}

static void open_profile(struct speedscope *s, const char *name, const char *unit, uint64_t from, uint64_t to)
{
        json_line(&s->j);
        json_open(&s->j, '{');
        json_member_text(&s->j, "type", "sampled");
        json_member_text(&s->j, "name", name);
        json_member_text(&s->j, "unit", unit);
        json_member_u64(&s->j, "startValue", from);
        json_member_u64(&s->j, "endValue", to);
        s->profiles++;
}

/* A stack, outermost first; speedscope counts frames from 0. */
static void put_stack(struct speedscope *s, const uint32_t *numbers, size_t n)
{
        json_open(&s->j, '[');
        while (n-- > 0)
                json_u64(&s->j, numbers[n] - 1);
        json_close(&s->j, ']');
}

/* ---------------------------------------------------------------------- heap */

static int put_census(struct speedscope *s, const struct world_target *t, const Hw__Census *c)
{
        uint32_t numbers[FRAMES_DEEP];
        uint64_t sum = 0;
        char name[64];

        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++)
                sum += c->bytes[i];
        (void)snprintf(name, sizeof(name), "heap at %" PRIu64 ".%03us", c->time_ns / 1000000000,
                       (unsigned)(c->time_ns % 1000000000 / 1000000));
        open_profiles(s, t);
        open_profile(s, name, "bytes", 0, sum);
        json_member_open(&s->j, "samples", '[');
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                const Hw__Band *band = band_of(t, c->band[i]);
                size_t n = band ? frames_of_band(&s->frames, band, numbers, FRAMES_DEEP) : 0;
                if (band && !n)
                        return -ENOMEM;
                put_stack(s, numbers, n);
        }
        json_close(&s->j, ']');
        json_member_open(&s->j, "weights", '[');
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++)
                json_u64(&s->j, c->bytes[i]);
        json_close(&s->j, ']');
        json_close(&s->j, '}');
        return 0;
}

/* ---------------------------------------------------------------------- time */

static char *text_of(const ProtobufCBinaryData *text)
{
        return text->len ? strndup((const char *)text->data, text->len) : strdup("");
}

static int define_centre(struct speedscope *s, const struct event *e)
{
        uint64_t id = e->fields >= 4 ? e->numbers[0] : LIMIT_CENTRE;

        if (id >= LIMIT_CENTRE)
                return 0;
        if (!ARRAY_RESERVE_ZEROED(s->centres, s->n_centres, id + 1))
                return -ENOMEM;
        char *label = text_of(&e->texts[0]), *module = text_of(&e->texts[1]), *source = text_of(&e->texts[2]);
        if (label && module && source)
                s->centres[id] = frames_of_centre(&s->frames, (uint32_t)id, label, module, source);
        free(label);
        free(module);
        free(source);
        return s->centres[id] ? 0 : -ENOMEM;
}

/* PROF_SAMPLE_COST_CENTRE: capability, tick, number of cost centres, their ids. */
static int add_tick(struct speedscope *s, const struct event *e)
{
        uint32_t numbers[FRAMES_DEEP];

        if (e->fields < 3 || e->numbers[0] >= CAPABILITIES || e->numbers[2] > FRAMES_DEEP)
                return 0;
        struct tick tick = { e->time_ns, (uint32_t)e->numbers[0], (uint32_t)e->numbers[2] };
        for (uint32_t i = 0; i < tick.n; i++) {
                uint64_t id = e->numbers[3 + i];
                numbers[i] = id < s->n_centres ? s->centres[id] : 0;
                if (!numbers[i])
                        numbers[i] = frames_of_centre(&s->frames, (uint32_t)id, NULL, NULL, NULL);
                if (!numbers[i])
                        return -ENOMEM;
        }
        if (tick.n == 0) {
                numbers[0] = frames_of_centre(&s->frames, 0, "MAIN", NULL, NULL);
                tick.n = numbers[0] ? 1 : 0;
        }
        s->seen[tick.capability] = true;
        s->capabilities = tick.capability >= s->capabilities ? tick.capability + 1 : s->capabilities;
        s->n_ticks++;
        errno = 0;
        bool whole = fwrite(&tick, sizeof(tick), 1, s->ticks) == 1 &&
                     fwrite(numbers, sizeof(*numbers), tick.n, s->ticks) == tick.n;
        return whole ? 0 : errno ? -errno : -EIO;
}

static int add_events(struct speedscope *s, const Hw__Events *events)
{
        struct event_cursor cursor = { .types = s->types, .message = events };
        struct event e;
        int r = 0;

        event_types_define(s->types, events);
        while (r == 0 && event_cursor_next(&cursor, &e)) {
                if (e.type->id == HW_HEAP_PROF_COST_CENTRE)
                        r = define_centre(s, &e);
                else if (e.type->id == HW_PROF_SAMPLE_COST_CENTRE)
                        r = add_tick(s, &e);
                else if (e.type->id == HW_PROF_BEGIN && e.fields > 0)
                        s->tick_ns = e.numbers[0];
        }
        return r ? r : cursor.broken ? -EBADMSG : 0;
}

/* Walks the time of a capability, for the weight of each sample and of the gap before it. */
struct walk {
        uint64_t first_ns, at_ns; /* of the profile; where the last sample ended */
        uint64_t n;
};

/* The gap before a sample; 0: none. */
static uint64_t walk_gap(const struct speedscope *s, struct walk *w, uint64_t time_ns)
{
        uint64_t gap = 0;

        if (w->n++ == 0)
                w->first_ns = w->at_ns = time_ns;
        else if (s->tick_ns && time_ns > w->at_ns && time_ns - w->at_ns > s->tick_ns / 2)
                gap = time_ns - w->at_ns;
        w->at_ns += gap + s->tick_ns;
        return gap;
}

/* Reads all ticks of a capability and writes what `put` makes of them. 0 or -errno. */
static int each_tick(struct speedscope *s, uint32_t capability, struct walk *w,
                     void (*put)(struct speedscope *s, uint64_t gap, const uint32_t *numbers, size_t n))
{
        uint32_t numbers[FRAMES_DEEP];
        struct tick tick;

        *w = (struct walk){ .n = 0 };
        errno = 0;
        if (fflush(s->ticks) || fseek(s->ticks, 0, SEEK_SET))
                return errno ? -errno : -EIO;
        while (fread(&tick, sizeof(tick), 1, s->ticks) == 1) {
                if (fread(numbers, sizeof(*numbers), tick.n, s->ticks) != tick.n)
                        return -EIO;
                if (tick.capability != capability)
                        continue;
                uint64_t gap = walk_gap(s, w, tick.time_ns);
                if (put)
                        put(s, gap, numbers, tick.n);
        }
        return ferror(s->ticks) ? -EIO : 0;
}

static void put_samples(struct speedscope *s, uint64_t gap, const uint32_t *numbers, size_t n)
{
        if (gap)
                put_stack(s, NULL, 0);
        put_stack(s, numbers, n);
}

static void put_weights(struct speedscope *s, uint64_t gap, const uint32_t *numbers, size_t n)
{
        if (gap)
                json_u64(&s->j, gap);
        json_u64(&s->j, s->tick_ns ? s->tick_ns : 1);
}

static int put_capability(struct speedscope *s, const struct world_target *t, uint32_t capability)
{
        struct walk walk;
        char name[64];
        int r = each_tick(s, capability, &walk, NULL);

        if (r)
                return r;
        open_profiles(s, t);
        (void)snprintf(name, sizeof(name), "time, capability %" PRIu32, capability);
        if (s->tick_ns)
                open_profile(s, name, "nanoseconds", walk.first_ns, walk.at_ns);
        else
                open_profile(s, name, "none", 0, walk.n);
        json_member_open(&s->j, "samples", '[');
        r = each_tick(s, capability, &walk, put_samples);
        json_close(&s->j, ']');
        json_member_open(&s->j, "weights", '[');
        r = r ? r : each_tick(s, capability, &walk, put_weights);
        json_close(&s->j, ']');
        json_close(&s->j, '}');
        return r;
}

/* Samples of ghc-stack-profiler: several threads are sampled at once, so they have no order in time. */
static int put_sampled_stacks(struct speedscope *s, const struct world_target *t)
{
        uint32_t numbers[FRAMES_DEEP];

        open_profiles(s, t);
        open_profile(s, "samples of stacks", "none", 0, t->ticks);
        json_member_open(&s->j, "samples", '[');
        for (uint32_t i = 0; i < t->n_stacks; i++) {
                const Hw__Stack *stack = t->stacks[i];
                size_t n =
                        stack ? frames_of_stack(&s->frames, stack->centres, stack->n_centres, numbers, FRAMES_DEEP) : 0;
                if (stack && !n)
                        return -ENOMEM;
                if (stack)
                        put_stack(s, numbers, n);
        }
        json_close(&s->j, ']');
        json_member_open(&s->j, "weights", '[');
        for (uint32_t i = 0; i < t->n_stacks; i++)
                if (t->stacks[i])
                        json_u64(&s->j, t->stacks[i]->ticks);
        json_close(&s->j, ']');
        json_close(&s->j, '}');
        return 0;
}

/* ---------------------------------------------------------------------- life */

static void speedscope_done(void *state)
{
        struct speedscope *s = state;

        if (s->types)
                event_types_done(s->types);
        free(s->types);
        if (s->ticks)
                (void)fclose(s->ticks);
        frames_done(&s->frames);
        free(s->centres);
}

static int speedscope_begin(void *state)
{
        struct speedscope *s = state;

        s->j.to = s->run.out;
        s->types = calloc(1, sizeof(*s->types));
        s->ticks = tmpfile();
        return !s->types ? -ENOMEM : !s->ticks ? -errno : 0;
}

static int speedscope_update(void *state, const Hw__Update *u)
{
        struct speedscope *s = state;

        if (u->body_case == HW__UPDATE__BODY_EVENTS && s->run.options->of != OF_HEAP)
                return add_events(s, u->events);
        if (u->body_case != HW__UPDATE__BODY_CENSUS || u->census->unfinished || s->run.options->of == OF_TIME)
                return 0;
        s->any_census = true;
        if (s->run.options->at_ns == AT_ALL)
                return put_census(s, s->run.t, u->census);
        moment_add(&s->run, u->census);
        return 0;
}

static void put_frames(struct speedscope *s)
{
        json_member_open(&s->j, "shared", '{');
        json_member_open(&s->j, "frames", '[');
        for (uint32_t i = 0; i < s->frames.n; i++) {
                const struct code_place *f = &s->frames.frames[i];
                json_line(&s->j);
                json_open(&s->j, '{');
                json_member_text(&s->j, "name", f->name);
                if (f->file) {
                        json_member_text(&s->j, "file", f->file);
                        json_member_u64(&s->j, "line", f->line);
                }
                if (f->file && f->column)
                        json_member_u64(&s->j, "col", f->column);
                json_close(&s->j, '}');
        }
        json_close(&s->j, ']');
        json_close(&s->j, '}');
}

static int speedscope_finish(void *state)
{
        struct speedscope *s = state;
        int r = 0;

        const bool of_samples = s->run.t->is_sampled && s->run.t->n_stacks && s->run.options->of != OF_HEAP;

        if (s->n_ticks == 0 && !of_samples && !s->any_census)
                return -ENODATA;
        if (s->run.census)
                r = put_census(s, s->run.t, s->run.census);
        s->active = (s->n_ticks || of_samples) && s->run.options->of != OF_HEAP && !s->run.options->at_given
                            ? s->profiles
                            : 0;
        if (of_samples && r == 0)
                r = put_sampled_stacks(s, s->run.t);
        for (uint32_t i = 0; i < s->capabilities && r == 0; i++)
                if (s->seen[i])
                        r = put_capability(s, s->run.t, i);
        json_close(&s->j, ']');
        json_member_u64(&s->j, "activeProfileIndex", s->active);
        put_frames(s);
        json_close(&s->j, '}');
        (void)putc('\n', s->j.to);
        return r;
}

const struct format format_speedscope = {
        .name = "speedscope",
        .events = true,
        .profiles = ANY_PROFILES,
        .size = sizeof(struct speedscope),
        .begin = speedscope_begin,
        .update = speedscope_update,
        .finish = speedscope_finish,
        .no_data =
                "has no such profile: -p (of a program built for profiling) makes one of time, -hT and similar "
                "flags one of the heap",
        .done = speedscope_done,
};

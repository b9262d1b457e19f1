/* SPDX-License-Identifier: BSD-3-Clause */
/* made_up.h - synthetic updates for tests of the client. */
#pragma once

#include <string.h>

#include "client/world/state/world.h"
#include "tests/unit/message_text.h"
#include "tests/unit/state/apply.h"

#define SECOND UINT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)

static inline Hw__Update update_of(const char *target, uint32_t run, uint64_t time_ns)
{
        Hw__Update u = HW__UPDATE__INIT;

        u.target = (char *)target;
        u.has_run = run > 0;
        u.run = run;
        SET(u, event_time_ns, time_ns);
        SET(u, published_wall_ns, 1700000000 * SECOND + time_ns);
        return u;
}

/* A field of its body, whose name is the first of the path. */
static inline void set_in_update(void *update, const char *path, const char *value)
{
        char body[32];
        Hw__Update *u = update;

        (void)snprintf(body, sizeof(body), "%.*s", (int)strcspn(path, "."), path);
        const ProtobufCFieldDescriptor *f =
                protobuf_c_message_descriptor_get_field_by_name(&hw__update__descriptor, body);
        assert_non_null(f);
        u->body_case = (Hw__Update__BodyCase)f->id;
        message_set(&u->base, path, value);
}

static inline int send_state(struct world *v, size_t daemon, const char *name, uint32_t run, Hw__Target__State state)
{
        Hw__Update u = update_of(name, run, SECOND);
        Hw__Target t = HW__TARGET__INIT;
        Hw__Run info = HW__RUN__INIT;

        info.program = (char *)"service";
        SET(info, start_wall_ns, 1700000000 * SECOND);
        SET(info, max_heap_bytes, 512 * MIB);
        SET(t, state, state);
        t.uri = (char *)"file:/var/tmp/a.eventlog";
        t.run_info = &info;
        u.body_case = HW__UPDATE__BODY_TARGET_STATE;
        u.target_state = &t;
        return apply_made(v, daemon, &u);
}

/* A heap message: live bytes as gauge and as one sample. */
static inline int send_live(struct world *v, size_t daemon, const char *name, uint32_t run, uint64_t time_ns,
                            uint64_t live)
{
        Hw__Update u = update_of(name, run, time_ns);
        Hw__Heap heap = HW__HEAP__INIT;
        Hw__Samples samples = HW__SAMPLES__INIT;
        Hw__Samples *list[] = { &samples };

        SET(samples, series, HW__SERIES__SERIES_LIVE);
        samples.n_times_ns = samples.n_values = 1;
        samples.times_ns = &time_ns;
        samples.values = &live;
        SET(heap, live_bytes, live);
        SET(heap, live_time_ns, time_ns);
        heap.n_samples = 1;
        heap.samples = list;
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        return apply_made(v, daemon, &u);
}

static inline int send_band(struct world *v, const char *name, uint32_t run, uint32_t id, const char *label)
{
        Hw__Update u = update_of(name, run, SECOND);
        Hw__Bands bands = HW__BANDS__INIT;
        Hw__Band band = HW__BAND__INIT;
        Hw__Band *list[] = { &band };

        SET(band, id, id);
        band.label = (char *)label;
        bands.n_bands = 1;
        bands.bands = list;
        u.body_case = HW__UPDATE__BODY_BANDS;
        u.bands = &bands;
        return apply_made(v, 0, &u);
}

static inline Hw__Census census_of(uint64_t number, uint32_t *ids, uint64_t *bytes, size_t n)
{
        Hw__Census c = HW__CENSUS__INIT;

        c.has_total_bytes = 1;
        SET(c, number, number);
        SET(c, time_ns, number * SECOND);
        c.n_band = c.n_bytes = n;
        c.band = ids;
        c.bytes = bytes;
        for (size_t i = 0; i < n; i++)
                c.total_bytes += bytes[i];
        return c;
}

static inline int send_census(struct world *v, const char *name, uint32_t run, uint64_t number, uint32_t *ids,
                              uint64_t *bytes, size_t n)
{
        Hw__Update u = update_of(name, run, number * SECOND);
        Hw__Census c = census_of(number, ids, bytes, n);

        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &c;
        return apply_made(v, 0, &u);
}

static inline int send_note(struct world *v, const char *name, uint32_t run, uint64_t number, const char *text)
{
        Hw__Update u = update_of(name, run, SECOND);
        Hw__Notes notes = HW__NOTES__INIT;
        Hw__Note note = HW__NOTE__INIT;
        Hw__Note *list[] = { &note };

        SET(note, number, number);
        SET(note, time_ns, SECOND);
        SET(note, what, HW__NOTE__WHAT__WHAT_MARKER);
        note.text = (char *)text;
        notes.n_notes = 1;
        notes.notes = list;
        u.body_case = HW__UPDATE__BODY_NOTES;
        u.notes = &notes;
        return apply_made(v, 0, &u);
}

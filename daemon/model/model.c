/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one table from event id to handler; each concept has a file of its
 * own with the handlers and the readers of its part of struct model (state.h).
 * The loop below does what concerns every event: its time. Three tricks keep it
 * short, because nine out of ten events of a busy program are of three kinds
 * that are only counted (docs/PERFORMANCE.md has the measurements):
 *
 *     clock_sure   one comparison says that a time changes nothing
 *     sched_hot    the three kinds inline, without a call
 *     notes        text memory is reused: nothing is allocated
 *
 * Rates and shares look back over event time and so change even when nothing
 * new comes; they are computed once per call, not per event.
 */
#include "daemon/model/model.h"

#include <stdlib.h>

#include "daemon/model/sched_hot.h"
#include "daemon/model/state.h"

#define IDENTITY_BYTES ((size_t)1 << 20)
#define REFRESH_NS     UINT64_C(1000000000)

typedef void handler(struct model *m, const struct hw_event *e);

static void heap_prof_begin(struct model *m, const struct hw_event *e)
{
        census_close(m);
        run_heap_prof_begin(m, e);
}

static handler *const handlers[HW_KNOWN_IDS] = {
        [HW_WALL_CLOCK_TIME] = clock_wall,

        [HW_RTS_IDENTIFIER] = run_rts_identifier,
        [HW_PROGRAM_ARGS] = run_program_args,
        [HW_OSPROCESS_PID] = run_pid,
        [HW_OSPROCESS_PPID] = run_ppid,
        [HW_CAPSET_DELETE] = run_capset_delete,
        [HW_HEAP_INFO_GHC] = run_heap_info,
        [HW_HEAP_PROF_BEGIN] = heap_prof_begin,
        [HW_PROF_BEGIN] = run_prof_begin,

        /* RUN_THREAD, STOP_THREAD and THREAD_WAKEUP: sched_hot.h */
        [HW_CREATE_THREAD] = sched_create_thread,
        [HW_MIGRATE_THREAD] = sched_migrate_thread,
        [HW_SPARK_COUNTERS] = sched_spark_counters,
        [HW_STARTUP] = sched_startup,
        [HW_CAP_CREATE] = sched_cap_create,
        [HW_CAP_DISABLE] = sched_cap_disable,
        [HW_CAP_ENABLE] = sched_cap_enable,

        [HW_HEAP_ALLOCATED] = heap_allocated,
        [HW_HEAP_SIZE] = heap_size,
        [HW_HEAP_LIVE] = heap_live,
        [HW_BLOCKS_SIZE] = heap_blocks_size,
        [HW_MEM_RETURN] = heap_mem_return,

        [HW_REQUEST_SEQ_GC] = gc_request,
        [HW_REQUEST_PAR_GC] = gc_request,
        [HW_GC_START] = gc_start,
        [HW_GC_END] = gc_end,
        [HW_GC_STATS_GHC] = gc_stats,

        [HW_OUTSIDE_GENERATION] = gc_count_generation,
        [HW_OUTSIDE_COLLECTIONS] = gc_count_all,
        [HW_OUTSIDE_THREADS] = sched_count_threads,
        [HW_OUTSIDE_BAND_THREADS] = census_band_threads,

        [HW_CONC_MARK_BEGIN] = nonmoving_mark_begin,
        [HW_CONC_MARK_END] = nonmoving_mark_end,
        [HW_CONC_SYNC_BEGIN] = nonmoving_sync_begin,
        [HW_CONC_SYNC_END] = nonmoving_sync_end,
        [HW_CONC_SWEEP_BEGIN] = nonmoving_sweep_begin,
        [HW_CONC_SWEEP_END] = nonmoving_sweep_end,
        [HW_CONC_UPD_REM_SET_FLUSH] = nonmoving_flush,
        [HW_NONMOVING_HEAP_CENSUS] = nonmoving_census,
        [HW_NONMOVING_PRUNED_SEGMENTS] = nonmoving_pruned,

        [HW_HEAP_PROF_COST_CENTRE] = cost_centre_define,
        [HW_IPE] = ipe_define,
        [HW_HEAP_PROF_SAMPLE_BEGIN] = census_begin,
        [HW_HEAP_BIO_PROF_SAMPLE_BEGIN] = census_bio_begin,
        [HW_HEAP_PROF_SAMPLE_STRING] = census_row_string,
        [HW_HEAP_PROF_SAMPLE_COST_CENTRE] = census_row_stack,
        [HW_HEAP_PROF_SAMPLE_END] = census_end,

        [HW_USER_MSG] = note_message,
        [HW_USER_MARKER] = note_marker,
        [HW_THREAD_LABEL] = note_thread_label,
        [HW_USER_BINARY_MSG] = stack_samples_message,
        [HW_LOG_MSG] = note_log,

        [HW_PROF_SAMPLE_COST_CENTRE] = profile_tick,
        [HW_TICKY_COUNTER_DEF] = ticky_define,
        [HW_TICKY_COUNTER_SAMPLE] = ticky_sample,
};

/* Slow path of an event's time: before the run's first, outside of blocks, or damaged. */
static __attribute__((noinline)) const struct hw_event *correct_event(struct model *m, const struct hw_event *e,
                                                                      struct hw_event *room)
{
        uint64_t time_ns;

        if (!clock_see(&m->clock, e, &time_ns))
                return e;
        *room = *e;
        room->time_ns = time_ns;
        return room;
}

/* Not per batch of events: what is published must not depend on how large those were. */
static void refresh_shares(struct model *m)
{
        uint64_t now = m->clock.newest_ns;

        stack_samples_refresh(m);
        if (!(m->changes & (MODEL_HEAP | MODEL_GC)) && now - m->refreshed_ns < REFRESH_NS)
                return;
        m->refreshed_ns = now;
        if (heap_refresh(m, now))
                m->changes |= MODEL_HEAP;
        if (gc_refresh(m, now))
                m->changes |= MODEL_GC;
}

static bool is_stopped(const struct model *m)
{
        return m->sinks.stop && *m->sinks.stop;
}

/* Returns how many it took. */
static size_t process_events(struct model *m, const struct hw_event *events, size_t n)
{
        struct hw_event corrected;

        for (size_t i = 0; i < n; i++) {
                const struct hw_event *e = &events[i];
                if (e->id == HW_BLOCK_MARKER) { /* its time may be from before the run */
                        clock_block(m, e);
                        if (is_stopped(m))
                                return i + 1;
                        continue;
                }
                if (e->id == HW_HEAP_PROF_SAMPLE_STRING && (m->bands.any_unwanted || m->no_bands)) {
                        const size_t skipped = census_skip_rows(m, e, n - i); /* their time is that of the others */
                        if (skipped > 0) {
                                i += skipped - 1;
                                continue;
                        }
                }
                if (!clock_sure(&m->clock, e->time_ns))
                        e = correct_event(m, e, &corrected);
                if (sched_hot(m, e))
                        continue; /* not passed on */
                handler *handle = e->id < HW_KNOWN_IDS ? handlers[e->id] : NULL;
                if (handle)
                        handle(m, e);
                if (is_stopped(m))
                        return i + 1;
        }
        return n;
}

size_t model_events(struct model *m, const struct hw_event *events, size_t n)
{
        size_t taken = 0;

        while (taken < n && census_grows(m)) {
                size_t part = n - taken < CENSUS_AHEAD ? n - taken : CENSUS_AHEAD, took;

                census_prefetch(m, events + taken, part);
                took = process_events(m, events + taken, part);
                taken += took;
                if (took < part)
                        return taken;
        }
        return taken + process_events(m, events + taken, n - taken);
}

void model_want(struct model *m, bool bands, bool history)
{
        m->no_bands = !bands;
        m->no_history = !history;
}

void model_sample(struct model *m, enum series_id id, uint64_t time_ns, uint64_t value)
{
        const struct series_row *row = &series_rows[id];
        bool minutes = row->minutes || m->finely.minutes >> id & 1;
        enum series_seconds seconds = m->finely.seconds >> id & 1 ? SERIES_ALL_SECONDS : row->seconds;

        if (!m->no_history && series_push_kept(&m->series[id], seconds, minutes, time_ns, (double)value) < 0)
                m->dropped_samples++;
        PASS_ON(m, sample, id, time_ns, value);
}

/* ------------------------------------------------------------------- life */

static void clear_run(struct model *m, uint32_t ordinal)
{
        clock_clear(&m->clock);
        run_clear(&m->run, ordinal);
        sched_clear(m);
        heap_clear(m);
        gc_clear(m);
        census_clear(&m->census);
        notes_clear(&m->notes);
        bands_init(&m->bands);
        profile_init(&m->profile);
        ticky_init(&m->ticky);
        strings_init(&m->identity, IDENTITY_BYTES);
        for (unsigned i = 0; i < SERIES_COUNT; i++)
                series_clear(&m->series[i]);
        m->ended = m->completed = false;
        m->refreshed_ns = 0;
        m->dropped_samples = 0;
}

static void release_model(struct model *m)
{
        bands_done(&m->bands);
        profile_done(&m->profile);
        ticky_done(&m->ticky);
        strings_done(&m->identity);
}

struct model *model_new(const struct model_sink *sink)
{
        struct model *m = calloc(1, sizeof(*m));

        if (!m)
                return NULL;
        model_set_sinks(m, sink, sink != NULL);
        if (gc_init(m) < 0) {
                free(m);
                return NULL;
        }
        clear_run(m, 0);
        return m;
}

void model_set_sinks(struct model *m, const struct model_sink *sinks, unsigned n)
{
        m->sinks = (struct model_sinks){ .n = n < MODEL_SINKS_MAX ? n : MODEL_SINKS_MAX };
        for (unsigned i = 0; i < m->sinks.n; i++) {
                m->sinks.items[i] = sinks[i];
                if (sinks[i].stop)
                        m->sinks.stop = sinks[i].stop;
        }
}

void model_destroy(struct model **m)
{
        struct model *gone = *m;

        if (!gone)
                return;
        *m = NULL;
        release_model(gone);
        sched_done(gone);
        gc_done(gone);
        census_done(&gone->census);
        notes_done(&gone->notes);
        for (unsigned i = 0; i < SERIES_COUNT; i++)
                series_done(&gone->series[i]);
        free(gone);
}

void model_begin_run(struct model *m, uint32_t ordinal)
{
        release_model(m);
        clear_run(m, ordinal);
        m->changes = MODEL_RUN | MODEL_HEAP | MODEL_GC | MODEL_PROFILE | MODEL_TICKY | MODEL_SCHED;
}

void model_keep_finely(struct model *m, struct series_finely more)
{
        m->finely.seconds |= more.seconds;
        m->finely.minutes |= more.minutes;
}

void model_close_bands(struct model *m, bool closed)
{
        m->bands.closed = closed;
}

void model_end_run(struct model *m, bool completed)
{
        census_close(m);
        heap_close(m);
        gc_close(m);
        if (m->gc_state.seen)
                m->changes |= MODEL_GC; /* shares of time are up to the last event */
        m->ended = true;
        m->completed = completed;
}

void model_resume_run(struct model *m, bool missed)
{
        m->ended = m->completed = false;
        m->sched.uncounted |= missed;
}

unsigned model_collect_changes(struct model *m)
{
        refresh_shares(m);
        unsigned changes = m->changes;

        m->changes = 0;
        return changes;
}

/* ---------------------------------------------------------------- reading */

const struct run *model_run(const struct model *m)
{
        return &m->run;
}

const struct heap *model_heap(const struct model *m)
{
        return &m->heap;
}

const struct gc *model_gc(const struct model *m)
{
        return &m->gc;
}

const struct sched *model_sched(const struct model *m)
{
        return &m->sched;
}

const struct bands *model_bands(const struct model *m)
{
        return &m->bands;
}

const struct census_history *model_census_history(const struct model *m)
{
        return &m->census.history;
}

const struct census *model_census(const struct model *m)
{
        return &m->census.done;
}

const struct notes *model_notes(const struct model *m)
{
        return &m->notes;
}

const struct profile *model_profile(const struct model *m)
{
        return &m->profile;
}

const struct ticky *model_ticky(const struct model *m)
{
        return &m->ticky;
}

const struct series *model_series(const struct model *m, enum series_id id, struct series_view *room)
{
        return series_read(&m->series[id], room);
}

uint64_t model_late_samples(const struct model *m)
{
        uint64_t late = m->dropped_samples;

        for (unsigned i = 0; i < SERIES_COUNT; i++)
                late += m->series[i].late;
        return late;
}

size_t model_held_bytes(const struct model *m)
{
        size_t held =
                sizeof(*m) + gc_held(&m->gc) + m->caps_room * (sizeof(struct sched_cap) + sizeof(struct cap_state)) +
                (m->census.buffers[0].room + (size_t)m->census.buffers[1].room + m->census.groups[0].room +
                 m->census.groups[1].room) *
                        sizeof(struct census_row) +
                (m->census.contents[0].room + (size_t)m->census.contents[1].room) * sizeof(struct census_contents) +
                bands_held(&m->bands) + profile_held(&m->profile) + ticky_held(&m->ticky) + notes_held(&m->notes) +
                strings_held(&m->identity);

        for (unsigned i = 0; i < SERIES_COUNT; i++)
                held += m->series[i].pyramid.held_bytes;
        return held;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two buffers of rows, one being written and one with the newest
 * finished census, so that one can be read while the next is logged. The RTS
 * keys rows by pointer: several rows may be of one band, so a band remembers
 * its row.
 *
 * HEAP_PROF_SAMPLE_END exists since 8.10. Where it is written, a sample that
 * closes without it is unfinished: passed on as such, and no band is changed.
 * Before 8.10, a sample ends where the next one begins or the log ends.
 */
#include "daemon/model/census.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/outside_census.h"
#include "proto/base/text_out.h"
#include "daemon/model/sizing.h"
#include "daemon/model/state.h"

#define GROUPS_MOST     256u /* of threads: the inspection has no more */
#define FIRST_ROOM      64u
#define WITH_SAMPLE_END 810u /* GHC 8.10 */

void census_clear(struct census_state *c)
{
        const struct census_rows rows[] = { c->buffers[0], c->buffers[1], c->groups[0], c->groups[1] };

        *c = (struct census_state){ .own_ns = UINT64_MAX,
                                    .buffers = { rows[0], rows[1] },
                                    .groups = { rows[2], rows[3] },
                                    .contents = { c->contents[0], c->contents[1] } };
}

void census_done(struct census_state *c)
{
        free(c->buffers[0].rows);
        free(c->buffers[1].rows);
        free(c->groups[0].rows);
        free(c->groups[1].rows);
        free(c->contents[0].rows);
        free(c->contents[1].rows);
        *c = (struct census_state){ 0 };
}

/* The finished census becomes the newest. */
static void accept_census(struct model *m)
{
        struct census_state *c = &m->census;

        m->dropped_samples += bands_add_census(&m->bands, &c->done, &c->open);
        if (c->open.rows_left_out > m->bands.left_out)
                m->bands.left_out = c->open.rows_left_out;
        c->done = c->open;
        c->writing = !c->writing;
}

/* In an estimated census threads are in other bands than in a counted one that splits them. */
static bool are_alike(const struct census *a, const struct census *b)
{
        return (a->spread > 0) == (b->spread > 0) || (!a->splits && !b->splits);
}

static void remember_census(struct census_history *h, const struct census *now, bool alike)
{
        static const struct fold_shape shape = { CELL_TYPE, BAND_POINTS, 1, BAND_FIRST_WIDTH_NS };

        if (!h->fold.n || !alike || now->time_ns < h->first_ns)
                h->first_ns = now->time_ns;
        h->spread = now->spread > h->spread ? now->spread : h->spread;
        h->fold.cells = h->cells;
        cell_add(fold_cell(&shape, &h->fold, now->time_ns), now->time_ns, (double)now->total_bytes);
}

/*
 * The runtime logs live data at the end of the collection in which it made the census; events of different buffers come
 * in any order. Known only where an older measurement, or the run's first, shows that none between has been forgotten.
 */
static void compare_live(struct model *m)
{
        struct census_state *c = &m->census;
        const struct census_live *of = NULL;
        bool complete = c->n_lives <= CENSUS_LIVES;

        for (unsigned i = 0; i < CENSUS_LIVES && i < c->n_lives; i++) {
                const struct census_live *l = &c->lives[i];
                complete |= l->time_ns < c->own_ns;
                if (l->time_ns >= c->own_ns && (!of || l->time_ns < of->time_ns))
                        of = l;
        }
        if (of && complete)
                model_set_fact(m, CARRIED_CENSUS_UNCOUNTED, c->own_ns, (double)of->bytes - (double)c->own_bytes);
}

void census_live(struct model *m, uint64_t time_ns, uint64_t bytes)
{
        struct census_state *c = &m->census;

        c->lives[c->n_lives++ % CENSUS_LIVES] = (struct census_live){ time_ns, bytes };
        if (c->own_ns <= time_ns)
                compare_live(m);
}

static void is_filter(void *ctx, const char *option)
{
        bool *filtered = ctx;

        *filtered |= !strncmp(option, "-h", 2) && option[2] && option[3];
}

/* One that selects rows, or is made outside of a measuring collection, says nothing of what it leaves out. */
static bool is_comparable(const struct model *m, const struct census *census)
{
        bool filtered = false;

        run_each_rts_option(&m->run, is_filter, &filtered);
        return !filtered && !census->outside && m->run.breakdown != BREAKDOWN_BIOGRAPHY && !collector_of(m).nonmoving;
}

static const struct census_row *find_row(const struct census *census, uint32_t band)
{
        for (uint32_t i = 0; i < census->n_rows; i++)
                if (census->rows[i].band == band)
                        return &census->rows[i];
        return NULL;
}

/*
 * The runtime's own censuses and estimated ones do not tell contents: what the last one that did told stands until its
 * band doubles.
 */
static void copy_contents(struct census_state *c)
{
        struct census_contents_rows *buffer = &c->contents[c->writing];

        if ((c->open.outside && c->open.spread == 0) || c->open.n_contents > 0)
                return;
        for (uint32_t i = 0; i < c->done.n_contents; i++) {
                struct census_contents kept = c->done.contents[i];
                const struct census_row *then = find_row(&c->done, kept.band), *now = find_row(&c->open, kept.band);

                if (!kept.of_bytes && then)
                        kept.of_bytes = then->bytes;
                if (now && now->bytes / 2 <= kept.of_bytes &&
                    ARRAY_RESERVE(buffer->rows, buffer->room, c->open.n_contents + 1))
                        buffer->rows[c->open.n_contents++] = kept;
        }
}

/*
 * Each thread has one TSO, of the same size: a census from outside counts both, where no thread that has ended is kept.
 * With that size the runtime's own, which are taken more often, tell how many threads there are.
 */
static void count_threads(struct model *m, struct census *census)
{
        const double threads = m->heap.facts[CARRIED_HASKELL_THREADS];
        uint64_t bytes = 0, *each = &m->census.thread_bytes;

        if (m->run.breakdown != BREAKDOWN_CLOSURE_TYPE || (census->outside && !census->counts_threads))
                return;
        for (uint32_t i = 0; i < census->n_rows && !bytes; i++)
                if (!strcmp(bands_get(&m->bands, census->rows[i].band)->label, "TSO"))
                        bytes = census->rows[i].bytes;
        if (census->counts_threads) {
                *each = threads >= 1 && bytes % (uint64_t)threads == 0 ? bytes / (uint64_t)threads : 0;
        } else if (*each && bytes % *each == 0) {
                sched_set_threads(m, census->time_ns, bytes / *each);
                census->counts_threads = true;
        }
}

static void finish_census(struct model *m, bool unfinished)
{
        struct census_state *c = &m->census;

        if (!c->is_open)
                return;
        c->is_open = false;
        c->open.rows = c->buffers[c->writing].rows;
        c->open.groups = c->groups[c->writing].rows;
        copy_contents(c);
        c->open.contents = c->contents[c->writing].rows;
        c->open.unfinished = unfinished;
        if (!unfinished) {
                count_threads(m, &c->open);
                remember_census(&c->history, &c->open, are_alike(&c->open, &c->done));
                accept_census(m);
                model_sample(m, SERIES_CENSUS_TOTAL, c->done.time_ns, c->done.total_bytes);
                if (is_comparable(m, &c->done)) {
                        c->own_ns = c->done.time_ns;
                        c->own_bytes = c->done.total_bytes;
                        compare_live(m);
                }
        }
        PASS_ON(m, census, &c->open);
}

static bool ends_expected(const struct model *m)
{
        return m->census.ends_seen || m->run.ghc_number >= WITH_SAMPLE_END;
}

static void begin_census(struct model *m, uint64_t time_ns)
{
        struct census_state *c = &m->census;

        if (c->is_open)
                c->followed = true;
        finish_census(m, ends_expected(m));
        c->open = (struct census){ .number = ++c->count,
                                   .time_ns = time_ns,
                                   .tells_groups = c->tells_groups,
                                   .counts_threads = c->tells_groups };
        c->is_open = true;
        c->tells_groups = false;
        c->row_threads = 0;
}

/* For one that was read from outside no collection was made, whatever other one it may seem to be in. */
void census_begin(struct model *m, const struct hw_event *e)
{
        begin_census(m, e->time_ns);
        m->run.no_census[0] = '\0';
        m->census.open.outside = outside_census_spread(hw_event_u64(e, 0), &m->census.open.spread);
        if (!m->census.open.outside)
                gc_census(m, e->time_ns);
}

/* Biographies are written at exit; the payload has the time of the sample. */
void census_bio_begin(struct model *m, const struct hw_event *e)
{
        uint64_t time_ns = hw_event_u64(e, 8);

        begin_census(m, time_ns < e->time_ns ? time_ns : e->time_ns);
}

void census_end(struct model *m, const struct hw_event *e)
{
        m->census.ends_seen = true;
        finish_census(m, false);
}

void census_close(struct model *m)
{
        bool old = !ends_expected(m) && (m->run.ghc_number || m->census.followed);

        finish_census(m, !old);
}

static void add_sat(uint64_t *sum, uint64_t value)
{
        if (ckd_add(sum, *sum, value))
                *sum = UINT64_MAX;
}

static __attribute__((noinline)) bool grow_rows(struct census_rows *buffer)
{
        uint32_t room = buffer->room ? buffer->room * 4 : FIRST_ROOM;
        struct census_row *rows = realloc(buffer->rows, room * sizeof(*rows));

        if (!rows)
                return false;
        buffer->rows = rows;
        buffer->room = room;
        return true;
}

static __attribute__((noinline)) void leave_out(struct census *open, uint64_t bytes)
{
        open->rows_left_out++;
        add_sat(&open->bytes_left_out, bytes);
}

/* Adds bytes to the row of a band; NULL: a band that is left out. */
static inline void add_row(struct census_state *c, struct band_entry *entry, uint64_t bytes)
{
        struct census *open = &c->open;
        struct census_rows *buffer = &c->buffers[c->writing];

        add_sat(&open->total_bytes, bytes);
        if (entry && entry->row_census == BAND_UNWANTED && !open->outside)
                return; /* messages of one from outside count its rows */
        if (entry && entry->row_census == (uint32_t)open->number) {
                add_sat(&buffer->rows[entry->row].bytes, bytes);
        } else if (!entry || (open->n_rows == buffer->room && !grow_rows(buffer))) {
                leave_out(open, bytes);
        } else {
                entry->row_census = (uint32_t)open->number;
                entry->row = open->n_rows;
                buffer->rows[open->n_rows++] = (struct census_row){ .band = entry->band.id, .bytes = bytes };
        }
}

/* The band of a label that is not the expected one. */
static __attribute__((noinline)) struct band_entry *find_entry(struct model *m, const char *label, size_t size)
{
        return bands_of_text(m, label, strnlen(label, size), m->census.open.time_ns);
}

/* From outside: how many threads the band has whose row comes next. */
void census_band_threads(struct model *m, const struct hw_event *e)
{
        const uint64_t n = hw_event_u64(e, 4);

        m->census.row_threads = n < UINT32_MAX ? (uint32_t)n : 0;
}

static __attribute__((noinline)) void put_row_threads(struct census_state *c, const struct band_entry *entry)
{
        if (entry && entry->row_census == (uint32_t)c->open.number)
                c->buffers[c->writing].rows[entry->row].threads = c->row_threads;
        c->row_threads = 0;
        c->open.splits = c->open.tells_groups = true;
}

/* ------------------------------------- what messages tell (proto/base/outside_census.h) */

/* A number and what follows it, a space or the end. */
static bool read_number(const char **at, const char *end, uint64_t *ret)
{
        const char *begin = *at;

        for (*ret = 0; *at < end && **at >= '0' && **at <= '9'; ++*at)
                if (ckd_mul(ret, *ret, 10) || ckd_add(ret, *ret, (uint64_t)(**at - '0')))
                        return false;
        if (*at == begin || (*at < end && **at != ' '))
                return false;
        *at += *at < end;
        return true;
}

/* What they have is in rows of other bands: their own band has none. */
static void add_group(struct model *m, uint64_t threads, uint64_t bytes, const char *name, size_t size)
{
        struct census_state *c = &m->census;
        struct census_rows *buffer = &c->groups[c->writing];
        const struct band_entry *entry = find_entry(m, name, size);

        if (!entry || threads == 0 || threads > UINT32_MAX || c->open.n_groups == GROUPS_MOST ||
            (c->open.n_groups == buffer->room && !grow_rows(buffer)))
                return;
        buffer->rows[c->open.n_groups++] =
                (struct census_row){ .band = entry->band.id, .threads = (uint32_t)threads, .bytes = bytes };
}

static void add_threads(struct model *m, uint64_t time_ns, const char *at, const char *end)
{
        uint64_t threads, bytes;

        if (!read_number(&at, end, &threads))
                return;
        if (at == end) {
                m->census.open.tells_groups = m->census.open.counts_threads = true;
                sched_set_threads(m, time_ns, threads);
        } else if (read_number(&at, end, &bytes) && at < end) {
                add_group(m, threads, bytes, at, (size_t)(end - at));
        }
}

/* Of a row so far, where each is of the band that the message counts. */
static void add_contents(struct census_state *c, const char *at, const char *end)
{
        const struct census_row *rows = c->buffers[c->writing].rows;
        struct census_contents_rows *buffer = &c->contents[c->writing];
        struct text_out name;
        uint64_t row, bytes;

        if (!read_number(&at, end, &row) || !read_number(&at, end, &bytes) || at == end || c->open.rows_left_out > 0 ||
            row >= c->open.n_rows || bytes > rows[row].bytes || c->open.n_contents == OUTSIDE_CONTENTS_MOST ||
            !ARRAY_RESERVE(buffer->rows, buffer->room, c->open.n_contents + 1))
                return;
        struct census_contents *added = &buffer->rows[c->open.n_contents++];
        *added = (struct census_contents){ .band = rows[row].band, .bytes = bytes };
        text_out_init(&name, added->name, sizeof(added->name));
        text_put_n(&name, at, (size_t)(end - at));
}

bool census_message(struct model *m, const struct hw_event *e)
{
        const char *at = (const char *)e->payload, *end = at + strnlen(at, e->size);

        if (outside_message_begins(&at, end, OUTSIDE_SAYS_THREADS)) {
                if (m->census.is_open && m->census.open.outside)
                        add_threads(m, e->time_ns, at, end);
                return true;
        }
        if (outside_message_begins(&at, end, OUTSIDE_SAYS_CLOSURES)) {
                if (m->census.is_open) {
                        /* Of the rows so far. */
                        struct census_row *rows = m->census.buffers[m->census.writing].rows;
                        uint32_t n = 0;
                        while (n < m->census.open.n_rows && read_number(&at, end, &rows[n].closures))
                                n++;
                        m->census.open.n_counted = at == end ? n : 0;
                }
                return true;
        }
        if (outside_message_begins(&at, end, OUTSIDE_SAYS_CONTENTS)) {
                if (m->census.is_open)
                        add_contents(&m->census, at, end);
                return true;
        }
        return false;
}

/* -------------------------------------------------------------------- rows */

size_t census_skip_rows(struct model *m, const struct hw_event *events, size_t n)
{
        const struct census_state *c = &m->census;
        uint64_t bytes = 0;
        size_t skipped = 0;

        if (!c->is_open || c->open.outside || (m->run.breakdown == BREAKDOWN_INFO_TABLE && !m->no_bands))
                return 0;
        for (; skipped < n && events[skipped].id == HW_HEAP_PROF_SAMPLE_STRING; skipped++) {
                const struct hw_event *e = &events[skipped];
                const struct band_entry *entry = bands_expected(&m->bands);

                if (!m->no_bands && (!entry || entry->row_census != BAND_UNWANTED ||
                                     !bands_match_expected(&m->bands, (const char *)e->payload + 9, e->size - 9)))
                        break;
                add_sat(&bytes, hw_event_u64(e, 1));
        }
        add_sat(&m->census.open.total_bytes, bytes);
        return skipped;
}

/* A row outside a sample is dropped: the beginning of its sample was not seen. */
void census_row_string(struct model *m, const struct hw_event *e)
{
        const char *label = (const char *)e->payload + 9;
        size_t size = e->size - 9;

        if (!m->census.is_open)
                return;
        bool keys = m->run.breakdown == BREAKDOWN_INFO_TABLE;
        struct band_entry *entry = keys ? NULL : bands_match_expected(&m->bands, label, size);
        entry = entry ? entry : find_entry(m, label, size);
        add_row(&m->census, entry, hw_event_u64(e, 1));
        if (m->census.row_threads)
                put_row_threads(&m->census, entry);
}

bool census_grows(const struct model *m)
{
        return m->census.is_open && m->run.breakdown == BREAKDOWN_INFO_TABLE && bands_growing(&m->bands);
}

void census_prefetch(const struct model *m, const struct hw_event *events, size_t n)
{
        uint64_t keys[CENSUS_AHEAD];
        uint32_t n_keys = 0;

        for (size_t i = 0; i < n; i++) {
                if (events[i].id != HW_HEAP_PROF_SAMPLE_STRING)
                        continue;
                const char *label = (const char *)events[i].payload + 9;
                n_keys += bands_key(label, strnlen(label, events[i].size - 9), &keys[n_keys]);
        }
        ipe_prefetch(&m->bands, keys, n_keys);
}

void census_row_stack(struct model *m, const struct hw_event *e)
{
        uint32_t ids[MAX_STACK], depth;

        if (m->census.is_open && cost_centre_stack(e, 9, ids, &depth))
                add_row(&m->census, bands_of_stack(m, ids, depth, m->census.open.time_ns), hw_event_u64(e, 1));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: three ways lead to a message.
 *
 *   sink      the model hands over what must not be merged away. A census goes
 *             out at once, after the bands collected so far; the rest is
 *             collected (gather.h) and sent early when it fills a message.
 *   flush     sends what was collected and each kind of state that changed. The
 *             change bits are cleared kind by kind as messages succeed, so a
 *             failure costs a delay and no state.
 *   snapshot  (snapshot.c) all state again, to one late joiner.
 *
 * The sink runs in the middle of model_events: a message that is sent early
 * publishes the state of that moment.
 */
#include "daemon/publish/publisher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/publish/limits.h"
#include "proto/base/probes.h"
#include "daemon/publish/send.h"
#include "daemon/judge/trend/tracker.h"

/* --------------------------------------------------------------- sink */

static bool is_wanted(const struct publisher *p, uint32_t any_of)
{
        return update_wish_has(&p->wish, any_of);
}

/* The changes of which no message is wanted. */
static unsigned unwanted_changes(const struct publisher *p)
{
        return (is_wanted(p, WISH(HEAP)) ? 0 : MODEL_HEAP) | (is_wanted(p, WISH(GC)) ? 0 : MODEL_GC) |
               (is_wanted(p, WISH(PROFILE)) ? 0 : MODEL_PROFILE) | (is_wanted(p, WISH(TICKY)) ? 0 : MODEL_TICKY) |
               (is_wanted(p, WISH(SCHED)) ? 0 : MODEL_SCHED);
}

/* Also updates the model's rates, so it is called before every message that has them. */
static void collect_changes(struct publisher *p)
{
        if (p->model)
                p->changes |= model_collect_changes(p->model) & ~unwanted_changes(p);
}

static void flush_bands(struct publisher *p)
{
        struct gathered *g = &p->gathered;

        if (!send_new_bands(p))
                send_gap(p, HW__KIND__KIND_BAND);
        g->n_bands = 0;
}

static void flush_notes(struct publisher *p, uint64_t last)
{
        struct gathered *g = &p->gathered;

        if (last <= g->notes_sent)
                return;
        if (!send_notes(p, g->notes_sent + 1, last, NULL))
                send_gap(p, HW__KIND__KIND_NOTE);
        g->notes_sent = last;
}

static void on_band(void *ctx, const struct band *band)
{
        struct publisher *p = ctx;

        if (!is_wanted(p, WISH(BAND)) || gather_band(&p->gathered, band->id))
                return;
        flush_bands(p);
        (void)gather_band(&p->gathered, band->id); /* there is room now */
}

static void on_census(void *ctx, const struct census *census)
{
        struct publisher *p = ctx;

        if (!is_wanted(p, WISH(CENSUS)))
                return;
        flush_bands(p);
        PROBE_CENSUS_DONE(p->target, census->n_rows);
        if (!send_census(p, census, NULL))
                send_gap(p, HW__KIND__KIND_CENSUS);
}

/* The note itself may not be in the model's list yet: only earlier ones are sent here. */
static void on_note(void *ctx, const struct note *note)
{
        struct publisher *p = ctx;

        if (!is_wanted(p, WISH(NOTE)))
                return;
        if (!p->wish.last_notes && p->gathered.notes_last - p->gathered.notes_sent >= LIMIT_NOTES_PER_UPDATE)
                flush_notes(p, p->gathered.notes_last);
        p->gathered.notes_last = note->number;
}

static void on_collection(void *ctx, const struct collection *collection)
{
        struct publisher *p = ctx;

        if (!is_wanted(p, WISH(GC)) || p->wish.no_samples || gather_collection(&p->gathered, collection))
                return;
        collect_changes(p);
        (void)send_gc(p, NULL); /* if out of memory it stays full, and the next line counts */
        if (!gather_collection(&p->gathered, collection))
                p->gathered.collections.dropped++;
}

static void on_sample(void *ctx, enum series_id series, uint64_t time_ns, uint64_t value)
{
        struct publisher *p = ctx;

        if (!is_wanted(p, WISH(HEAP)) || p->wish.no_samples || gather_sample(&p->gathered, series, time_ns, value))
                return;
        collect_changes(p);
        (void)send_heap(p, NULL);
        if (!gather_sample(&p->gathered, series, time_ns, value))
                p->gathered.samples[series].dropped++;
}

struct model_sink publisher_sink(struct publisher *p)
{
        return (struct model_sink){
                .ctx = p,
                .band = on_band,
                .census = on_census,
                .note = on_note,
                .collection = on_collection,
                .sample = on_sample,
        };
}

/* -------------------------------------------------------------- flush */

static bool has_heap(const struct publisher *p)
{
        return (p->changes & MODEL_HEAP) || p->gathered.any_samples;
}

static bool has_gc(const struct publisher *p)
{
        return (p->changes & MODEL_GC) || p->gathered.collections.n || p->gathered.collections.dropped;
}

bool publisher_pending(struct publisher *p)
{
        const unsigned others = MODEL_PROFILE | MODEL_TICKY | MODEL_SCHED;

        collect_changes(p);
        return has_heap(p) || has_gc(p) || (p->changes & others) || p->gathered.n_bands ||
               p->gathered.notes_last > p->gathered.notes_sent ||
               (p->tracker && (p->trends_changed || tracker_any_due(p->tracker)));
}

void publisher_skip_flush(struct publisher *p)
{
        collect_changes(p);
}

void publisher_flush(struct publisher *p, uint64_t wall_ns)
{
        p->wall_ns = wall_ns;
        if (!publisher_pending(p) || !p->run)
                return;
        flush_bands(p);
        if (is_wanted(p, WISH(HEAP)) && p->tracker && tracker_any_due(p->tracker) &&
            tracker_has_last_values(p->tracker))
                p->changes |= MODEL_HEAP; /* the run is over, and its shutdown's values are none of the program's */
        if (has_heap(p) && send_heap(p, NULL))
                p->changes &= ~(unsigned)MODEL_HEAP;
        if (has_gc(p) && send_gc(p, NULL))
                p->changes &= ~(unsigned)MODEL_GC;
        flush_notes(p, p->gathered.notes_last);
        if ((p->changes & MODEL_PROFILE) && send_profile(p, NULL))
                p->changes &= ~(unsigned)MODEL_PROFILE;
        if ((p->changes & MODEL_TICKY) && send_ticky(p, NULL))
                p->changes &= ~(unsigned)MODEL_TICKY;
        if ((p->changes & MODEL_SCHED) && send_sched(p, NULL))
                p->changes &= ~(unsigned)MODEL_SCHED;
        if (p->tracker && is_wanted(p, WISH(TREND)) && !send_trends_due(p))
                send_gap(p, HW__KIND__KIND_TREND);
}

void publisher_shrink(struct publisher *p)
{
        gathered_shrink(&p->gathered);
}

bool publisher_run_changed(struct publisher *p)
{
        collect_changes(p);
        return p->changes & MODEL_RUN;
}

void publisher_set_clock(struct publisher *p, uint64_t wall_ns)
{
        p->wall_ns = wall_ns;
}

void publisher_state(struct publisher *p, bool with_health, uint64_t wall_ns)
{
        p->wall_ns = wall_ns;
        collect_changes(p);
        if (send_target(p, NULL))
                p->changes &= ~(unsigned)MODEL_RUN;
        if (with_health)
                (void)send_health(p, NULL); /* repeated in the heartbeat */
}

void publisher_begin_run(struct publisher *p, uint64_t wall_ns)
{
        p->wall_ns = wall_ns;
        if (p->gathered.n_bands)
                send_gap(p, HW__KIND__KIND_BAND);
        if (p->gathered.notes_last > p->gathered.notes_sent)
                send_gap(p, HW__KIND__KIND_NOTE);
        gathered_clear(&p->gathered);
        p->profile_seen = p->ticky_seen = 0;
        p->stopped = p->trends_changed = false;
        p->ended_by = LIMIT_SOURCE_UNKNOWN;
        p->sent = 0;
        collect_changes(p);
        p->changes &= MODEL_RUN; /* cleared state is not published: zeros before any event would be wrong */
        p->run = model_run(p->model)->ordinal;
}

struct publisher_run publisher_run(const struct publisher *p)
{
        return (struct publisher_run){ p->sent, p->changes };
}

void publisher_resume_run(struct publisher *p, struct publisher_run run)
{
        p->run = model_run(p->model)->ordinal;
        p->sent = run.sent;
        p->changes = run.changes;
        p->gathered.notes_sent = p->gathered.notes_last = notes_total(model_notes(p->model));
        collect_changes(p);
}

/* --------------------------------------------------------------- life */

struct publisher *publisher_new(const char *target, uint64_t epoch, const struct update_sink *sink)
{
        struct publisher *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->encoder = encoder_share();
        gathered_init(&p->gathered);
        p->epoch = epoch;
        p->sink = *sink;
        p->target = strdup(target);
        if (!p->target)
                publisher_destroy(&p);
        return p;
}

void publisher_destroy(struct publisher **p)
{
        if (!*p)
                return;
        encoder_unshare();
        gathered_done(&(*p)->gathered);
        free((*p)->target);
        free(*p);
        *p = NULL;
}

struct publisher *publisher_new_of_run(const struct publisher *p, const char *target)
{
        struct publisher *other = publisher_new(target, p->epoch, &p->sink);

        if (!other)
                return NULL;
        memcpy(other->sequences, p->sequences, sizeof(other->sequences));
        other->sent = p->sent;
        other->run = p->run;
        other->profile_seen = p->profile_seen;
        other->ticky_seen = p->ticky_seen;
        return other;
}

int publisher_rename(struct publisher *p, const char *target)
{
        char *name = strdup(target);

        if (!name)
                return -ENOMEM;
        free(p->target);
        p->target = name;
        return 0;
}

void publisher_set_wish(struct publisher *p, const struct update_wish *wish)
{
        p->wish = *wish;
}

void publisher_attach(struct publisher *p, struct model *m, struct tracker *t, const struct target_messages *messages)
{
        p->model = m;
        p->tracker = t;
        p->messages = *messages;
}

int publisher_error(const struct publisher *p)
{
        return p->error;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_lists.c - what accumulates during a run: notes, time-profile stacks,
 * ticky counters. A snapshot repeats them, so each is looked up by its number.
 */
#include "client/world/state/internal.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "proto/base/ckd.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/base/number_text.h"
#include "proto/base/time.h"

/* From the end of a program until its parent has told the daemon, unless that was away. */
#define TOLD_NS (5 * NS_PER_S)

/* A judgement is as of the newest second that all events have passed; an older one is of a log that stands. */
#define JUDGED_LATE_NS (5 * NS_PER_S)

/* ------------------------------------------------------------------- notes */

static struct world_note *copy_note(const Hw__Note *from)
{
        const size_t size = from->text ? strlen(from->text) : 0;
        struct world_note *to = malloc(offsetof(struct world_note, text) + size + 1);

        if (!to)
                return NULL;
        *to = (struct world_note){
                .what = from->what,
                .capability = from->capability,
                .thread = from->thread,
                .number = from->number,
                .time_ns = from->time_ns,
                .size_bytes = from->size_bytes,
                .has_time_ns = from->has_time_ns,
                .has_what = from->has_what,
                .has_capability = from->has_capability,
                .has_thread = from->has_thread,
                .has_size_bytes = from->has_size_bytes,
                .has_text = from->text != NULL,
        };
        memcpy(to->text, from->text ? from->text : "", size + 1);
        return to;
}

static void forget_note(struct world_note **note)
{
        free(*note);
        *note = NULL;
}

/* Moves the window of kept numbers so that it holds `number`. False: it is too old. */
static bool notes_admit(struct world_target *t, uint64_t number)
{
        if (!t->notes_last) {
                t->notes_first = t->notes_last = number;
                return true;
        }
        if (number > t->notes_last) {
                uint64_t steps = number - t->notes_last < WORLD_NOTES ? number - t->notes_last : WORLD_NOTES;

                for (uint64_t i = 0; i < steps; i++)
                        forget_note(&t->notes[(number - i) % WORLD_NOTES]);
                t->notes_last = number;
                if (number - t->notes_first >= WORLD_NOTES)
                        t->notes_first = number - WORLD_NOTES + 1;
                return true;
        }
        if (t->notes_last - number >= WORLD_NOTES)
                return false;
        if (number < t->notes_first)
                t->notes_first = number;
        return true;
}

void world_notes_clear(struct target_state *ts)
{
        struct world_target *t = &ts->t;

        for (size_t i = 0; t->notes && i < WORLD_NOTES; i++)
                forget_note(&t->notes[i]);
        free(t->notes);
        t->notes = NULL;
        t->notes_first = t->notes_last = 0;
}

int notes_add(struct target_state *ts, const Hw__Notes *notes)
{
        struct world_target *t = &ts->t;

        if (!notes->n_notes || target_is_brief(ts))
                return 0;
        if (!t->notes && !(t->notes = calloc(WORLD_NOTES, sizeof(struct world_note *))))
                return -ENOMEM;
        for (size_t i = 0; i < notes->n_notes; i++) {
                const Hw__Note *note = notes->notes[i];
                struct world_note **place = &t->notes[note->number % WORLD_NOTES];

                if (!note->has_number || !note->number || !notes_admit(t, note->number) ||
                    (*place && (*place)->number == note->number))
                        continue;
                forget_note(place);
                if (!(*place = copy_note(note)))
                        return -ENOMEM;
        }
        return 0;
}

bool world_from_outside(const struct world_target *t)
{
        return (t->target && t->target->uri && !strncmp(t->target->uri, "outside:", strlen("outside:"))) ||
               (t->gc && t->gc->counted); /* and in its recording */
}

bool world_newest(const struct world_target *t, Hw__Series series, double *ret)
{
        const bool is_live = series == HW__SERIES__SERIES_LIVE;

        *ret = is_live || series == HW__SERIES__SERIES_HEAP_SIZE ? facts_get(t, is_live ? FACT_LIVE : FACT_HEAP_SIZE)
                                                                 : NAN;
        return !isnan(*ret);
}

const char *world_untimed(const struct world_target *t)
{
        return t->gc && t->gc->counted ? "counted from outside, not timed: pauses are not known" : NULL;
}

bool run_has_ended(const Hw__Target *t)
{
        return t->state == HW__TARGET__STATE__STATE_ENDED || t->state == HW__TARGET__STATE__STATE_FAILED ||
               t->state == HW__TARGET__STATE__STATE_CRASHED;
}

bool world_is_alive(const struct world_target *t)
{
        return t->target && (t->target->state == HW__TARGET__STATE__STATE_RUNNING ||
                             t->target->state == HW__TARGET__STATE__STATE_STOPPED);
}

uint64_t world_known_until_ns(const struct world_target *t)
{
        const Hw__Target *s = t->target;
        const Hw__Run *run = s ? s->run_info : NULL;
        const Hw__Process *p = t->heap ? t->heap->process : NULL;
        if (!run || !run->has_start_wall_ns)
                return t->event_time_ns;
        if (world_is_alive(t)) {
                const uint64_t message_ns = sub_sat(t->published_wall_ns, run->start_wall_ns);
                const uint64_t now_ns = message_ns > t->event_time_ns ? message_ns : t->event_time_ns;
                const Hw__EarlyWarning *early = t->trend_state ? t->trend_state->early : NULL;
                const uint64_t judged_ns = early && early->has_as_of_ns ? early->as_of_ns : now_ns;

                return sub_sat(now_ns, judged_ns) < JUDGED_LATE_NS ? judged_ns : now_ns;
        }
        const bool sampled = p && p->has_sampled_wall_ns;
        const uint64_t sampled_ns = sampled ? sub_sat(p->sampled_wall_ns, run->start_wall_ns) : 0;
        const uint64_t alive_ns = sampled_ns > t->event_time_ns ? sampled_ns : t->event_time_ns;
        const bool told = run_has_ended(s) && (s->has_exit_status || s->has_exit_signal);
        const uint64_t told_ns = told ? sub_sat(s->state_since_wall_ns, run->start_wall_ns) : 0;
        return told_ns > alive_ns && told_ns - alive_ns <= TOLD_NS ? told_ns : alive_ns;
}

char *world_parts_age(char ret[WORLD_AGE_TEXT], const struct world_target *t)
{
        const Hw__Resident *r = t->heap->resident;
        const uint64_t age_ns = r->has_live_time_ns ? sub_sat(world_known_until_ns(t), r->live_time_ns) : 0;

        ret[0] = '\0';
        if (age_ns >= NS_PER_S)
                (void)snprintf(ret, WORLD_AGE_TEXT, ", %s %s", DURATION_TEXT(age_ns),
                               world_is_alive(t) ? "ago" : "before the end");
        return ret;
}

bool run_is_over(const Hw__Target *t)
{
        return run_has_ended(t) || t->state == HW__TARGET__STATE__STATE_LOST ||
               t->state == HW__TARGET__STATE__STATE_UNREADABLE || t->state == HW__TARGET__STATE__STATE_REMOVED ||
               t->kept;
}

bool world_is_over(const struct world_target *t, bool followed)
{
        const Hw__Target *s = t->target;

        return s && s->state == HW__TARGET__STATE__STATE_RUNNING ? s->kept : !followed || (s && run_is_over(s));
}

bool world_process(const struct world_target *t, pid_t *ret, struct error *error)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        /* The daemon ends a lost run as soon as its process is gone. */
        if (!run || !(world_is_alive(t) || t->target->state == HW__TARGET__STATE__STATE_LOST))
                return error_set(error, "%s does not run now", t->name);
        if (!run->has_pid || !run->local)
                return error_set(error, "the process of %s is not known yet, or is not on its daemon's machine",
                                 t->name);
        *ret = (pid_t)run->pid;
        return true;
}

const struct world_note *world_note(const struct world_target *t, uint64_t number)
{
        const struct world_note *note = t->notes ? t->notes[number % WORLD_NOTES] : NULL;

        return note && note->number == number ? note : NULL;
}

/* ------------------------------------------------------------ time profile */

int profile_add(struct target_state *ts, const Hw__Profile *profile)
{
        struct world_target *t = &ts->t;

        if (profile->has_ticks)
                t->ticks = profile->ticks;
        t->is_sampled = profile->has_sampled && profile->sampled;
        for (size_t i = 0; i < profile->n_stacks; i++) {
                const Hw__Stack *stack = profile->stacks[i];

                if (!stack->has_id || !stack->id || stack->id > LIMIT_STACKS)
                        continue;
                if (!ARRAY_RESERVE_ZEROED(t->stacks, ts->cap_stacks, stack->id))
                        return -ENOMEM;
                if (stack->id > t->n_stacks)
                        t->n_stacks = stack->id;
                KEEP(t->stacks[stack->id - 1], stack);
        }
        return 0;
}

/* ------------------------------------------------------------------- ticky */

/* Where the counter is, or the place made for a new one; UINT32_MAX beyond the cap. 0 or -ENOMEM. */
static int ticky_place(struct target_state *ts, uint64_t id, uint32_t *ret_place)
{
        struct world_target *t = &ts->t;
        const uint64_t hash = hash_u64(id, 0);
        uint32_t at = idtable_start(&ts->ticky_ids, hash), place;

        while ((place = idtable_next(&ts->ticky_ids, hash, &at)) && t->ticky[place - 1]->id != id)
                ;
        *ret_place = place ? place - 1 : UINT32_MAX;
        if (place)
                return 0;
        if (t->n_ticky >= LIMIT_TICKY)
                return 0;
        if (!ARRAY_RESERVE_ZEROED(t->ticky, ts->cap_ticky, (size_t)t->n_ticky + 1))
                return -ENOMEM;
        if (idtable_add(&ts->ticky_ids, hash, t->n_ticky + 1) < 0)
                return -ENOMEM;
        *ret_place = t->n_ticky++;
        return 0;
}

int ticky_add(struct target_state *ts, const Hw__Ticky *ticky)
{
        for (size_t i = 0; i < ticky->n_counters; i++) {
                const Hw__TickyCounter *counter = ticky->counters[i];
                uint32_t place;

                if (!counter->has_id)
                        continue;
                if (ticky_place(ts, counter->id, &place) < 0)
                        return -ENOMEM;
                if (place != UINT32_MAX)
                        KEEP(ts->t.ticky[place], counter);
        }
        return 0;
}

void lists_done(struct target_state *ts)
{
        struct world_target *t = &ts->t;

        world_notes_clear(ts);
        for (uint32_t i = 0; i < t->n_stacks; i++)
                FORGET(t->stacks[i]);
        for (uint32_t i = 0; i < t->n_ticky; i++)
                FORGET(t->ticky[i]);
        free(t->stacks);
        free(t->ticky);
        t->stacks = NULL;
        t->ticky = NULL;
        t->ticks = 0;
        t->is_sampled = false;
        t->n_stacks = t->n_ticky = ts->cap_stacks = ts->cap_ticky = 0;
        idtable_done(&ts->ticky_ids);
}

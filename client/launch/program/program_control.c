/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: of each command one number of the target's state tells: it rises with what the command switches on. So one
 * snapshot of one kind is compared with those that follow. What is switched off is seen by a number that no longer
 * rises, after what was on the way has had time to arrive; that it would have risen is known if it had before.
 */
#include "client/launch/program/program_control.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/absent.h"
#include "heapwatch/text.h"
#include "heapwatch/wire.h"
#include "proto/base/clock.h"

#define STEP_MS    100
#define ARRIVES_MS 2000 /* what was logged before the command: the program's flush interval, and our own */
#define QUIET_MS   3000

struct effect_kind {
        Hw__Kind kind;
        const char *what;  /* "a census was" */
        const char *needs; /* of the program, beside a library that knows the command */
        uint64_t (*count)(const Hw__Update *u);
};

struct effect_count {
        const struct effect_kind *of;
        uint64_t n;
        char refusal[256]; /* the daemon's; "": none */
};

static uint64_t count_censuses(const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_CENSUS ? u->census->number : 0;
}

static uint64_t count_ticks(const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_PROFILE ? u->profile->ticks : 0;
}

static uint64_t count_threads(const Hw__Update *u)
{
        uint64_t n = 0;

        if (u->body_case != HW__UPDATE__BODY_SCHED)
                return 0;
        for (size_t i = 0; i < u->sched->n_stops; i++)
                n += u->sched->stops[i]->count;
        return n;
}

static uint64_t count_sparks(const Hw__Update *u)
{
        const Hw__Sparks *s = u->body_case == HW__UPDATE__BODY_SCHED ? u->sched->sparks : NULL;

        return s ? s->created + s->dud + s->overflowed + s->converted + s->collected + s->fizzled : 0;
}

static uint64_t count_collections(const Hw__Update *u)
{
        uint64_t n = 0;

        if (u->body_case != HW__UPDATE__BODY_GC)
                return 0;
        for (size_t i = 0; i < u->gc->n_generations; i++)
                n += u->gc->generations[i]->count;
        return n;
}

static uint64_t count_cycles(const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_GC && u->gc->nonmoving ? u->gc->nonmoving->cycles : 0;
}

static uint64_t count_notes(const Hw__Update *u)
{
        if (u->body_case != HW__UPDATE__BODY_NOTES || !u->notes->n_notes)
                return 0;
        return u->notes->notes[u->notes->n_notes - 1]->number;
}

static const struct effect_kind effects[EFFECT_NONE] = {
        [EFFECT_CENSUS] = { HW__KIND__KIND_CENSUS, "census", "a heap profile, such as +RTS -hT", count_censuses },
        [EFFECT_TICKS] = { HW__KIND__KIND_PROFILE, "sample", "+RTS -p, or for stack-samples ghc-stack-profiler",
                           count_ticks },
        [EFFECT_THREADS] = { HW__KIND__KIND_SCHED, "event of a thread", "GHC 10", count_threads },
        [EFFECT_COLLECTIONS] = { HW__KIND__KIND_GC, "collection", "GHC 10", count_collections },
        [EFFECT_CYCLES] = { HW__KIND__KIND_GC, "cycle of the nonmoving collector", "GHC 10, and +RTS -xn",
                            count_cycles },
        [EFFECT_SPARKS] = { HW__KIND__KIND_SCHED, "spark", "GHC 10, and sparks", count_sparks },
        [EFFECT_NOTES] = { HW__KIND__KIND_NOTE, "marker or message", "GHC 10, and messages that it writes",
                           count_notes },
};

static void on_state(void *ctx, const Hw__Reply *reply)
{
        struct effect_count *c = ctx;
        const uint64_t n = reply->what_case == HW__REPLY__WHAT_UPDATE ? c->of->count(reply->update) : 0;

        c->n = n > c->n ? n : c->n;
}

/* False with an error. */
static bool request_count(const char *endpoint, const char *target, struct effect_count *ret, struct error *error)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);

        if (r &&
            (hw_request_add_target(r->snapshot, target) < 0 || hw_request_add_kind(r->snapshot, ret->of->kind) < 0))
                hw_request_destroy(&r);
        ret->n = 0;
        bool answered = absent_request(endpoint, r, on_state, ret, error);
        hw_request_destroy(&r);
        return answered;
}

static void on_sent(void *ctx, const Hw__Reply *reply)
{
        struct effect_count *c = ctx;

        (void)snprintf(c->refusal, sizeof(c->refusal), "%s", reply->error ? reply->error : "");
}

static bool send_command(const char *endpoint, const char *target, const char *command, struct error *error)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_PROGRAM);
        struct effect_count sent = { .of = NULL };

        if (r && (hw_request_set_text(&r->program->target, target) < 0 ||
                  hw_request_set_text(&r->program->command, command) < 0))
                hw_request_destroy(&r);
        bool answered = absent_request(endpoint, r, on_sent, &sent, error);
        hw_request_destroy(&r);
        return answered && (!sent.refusal[0] || error_set(error, "%s", sent.refusal));
}

/* Waits for the number to rise. */
static bool await_rise(const char *endpoint, const char *target, struct effect_count *c, uint64_t wait_ms,
                       uint64_t *ret_ms, struct error *error)
{
        const uint64_t before = c->n, began = clock_mono_ms();

        do {
                (void)poll(NULL, 0, STEP_MS);
                *ret_ms = clock_mono_ms() - began;
                if (!request_count(endpoint, target, c, error))
                        return false;
        } while (c->n <= before && *ret_ms < wait_ms);
        return true;
}

static bool see_start(const char *endpoint, const char *target, const char *command, struct effect_count *c, char *ret,
                      size_t size, bool *ret_seen, struct error *error)
{
        const uint64_t before = c->n;
        uint64_t took_ms;
        char text[HW_NUMBER_MAX];

        if (!await_rise(endpoint, target, c, PROGRAM_CONTROL_MS, &took_ms, error))
                return false;
        *ret_seen = c->n > before;
        (void)hw_duration_text(text, sizeof(text), (double)took_ms * 1e6);
        if (*ret_seen)
                (void)snprintf(ret, size, "%s: a %s of %s was seen %s later", command, c->of->what, target, text);
        else
                (void)snprintf(ret, size,
                               "%s: sent to %s, but no %s was seen within %s: it needs %s, and an eventlog-socket that "
                               "was built with the flag control",
                               command, target, c->of->what, text, c->of->needs);
        return true;
}

static bool see_end(const char *endpoint, const char *target, const char *command, struct effect_count *c,
                    uint64_t at_first, char *ret, size_t size, bool *ret_seen, struct error *error)
{
        uint64_t took_ms;
        char text[HW_NUMBER_MAX];

        (void)poll(NULL, 0, ARRIVES_MS);
        if (!request_count(endpoint, target, c, error))
                return false;
        const uint64_t then = c->n;
        if (!await_rise(endpoint, target, c, QUIET_MS, &took_ms, error))
                return false;
        *ret_seen = c->n == then && then > at_first;
        (void)hw_duration_text(text, sizeof(text), (double)took_ms * 1e6);
        (void)snprintf(ret, size,
                       c->n > then
                               ? "%s: sent to %s, but a %s was seen %s after that: its eventlog-socket does not know "
                                 "the command, or was built without the flag control"
                       : *ret_seen ? "%s: sent to %s, and no %s was seen for %s after that"
                                   : "%s: sent to %s, but no %s was seen for %s, nor just before: it may have been off "
                                     "already",
                       command, target, c->of->what, text);
        return true;
}

bool program_control(const char *endpoint, const char *target, const struct program_command *command, char *ret,
                     size_t size, bool *ret_seen, struct error *error)
{
        struct effect_count count = { .of = command->effect != EFFECT_NONE ? &effects[command->effect] : NULL };
        const bool is_off = command->is_off;
        char publish[256], unused[256];
        uint64_t before, unused_ms;

        *ret_seen = false;
        if (!endpoint && hw_default_endpoints(publish, unused, sizeof(publish)) < 0)
                return error_set(error, "the default socket's path is too long");
        endpoint = endpoint ? endpoint : publish;
        if (count.of && !request_count(endpoint, target, &count, error))
                return false;
        before = count.n;
        if (is_off && count.of && !await_rise(endpoint, target, &count, QUIET_MS, &unused_ms, error))
                return false; /* does it come at all? */
        if (!send_command(endpoint, target, command->text, error))
                return false;
        if (count.of)
                return is_off ? see_end(endpoint, target, command->text, &count, before, ret, size, ret_seen, error)
                              : see_start(endpoint, target, command->text, &count, ret, size, ret_seen, error);
        (void)snprintf(ret, size, "%s: sent to %s; its log does not show whether it had an effect", command->text,
                       target);
        return true;
}

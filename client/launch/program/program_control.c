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
#include "heapwatch/wire.h"
#include "proto/base/clock.h"
#include "proto/base/number_text.h"
#include "proto/base/time.h"

#define STEP_MS    100
#define ARRIVES_MS 2000 /* what was logged before the command: the program's flush interval, and our own */
#define QUIET_MS   3000

struct effect_kind {
        Hw__Kind kind;
        const char *what;  /* "a census was" */
        const char *needs; /* of the program, beside a library that knows the command */
        uint64_t (*count)(const Hw__Update *u);
};

struct exchange {
        const char *endpoint, *target, *command;
        const struct effect_kind *of; /* NULL: it has no effect that is seen */
        uint64_t n;
        char refusal[256]; /* the daemon's; "": none */
        char *said;
        size_t said_size;
        struct error *error;
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

static void on_reply(void *ctx, const Hw__Reply *reply)
{
        struct exchange *x = ctx;
        const uint64_t n = x->of && reply->what_case == HW__REPLY__WHAT_UPDATE ? x->of->count(reply->update) : 0;

        x->n = n > x->n ? n : x->n;
        (void)snprintf(x->refusal, sizeof(x->refusal), "%s", reply->error ? reply->error : "");
}

/* These return false with an error. */

static bool request_count(struct exchange *x)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);

        if (r &&
            (hw_request_add_target(r->snapshot, x->target) < 0 || hw_request_add_kind(r->snapshot, x->of->kind) < 0))
                hw_request_destroy(&r);
        x->n = 0;
        bool answered = absent_request(x->endpoint, r, on_reply, x, x->error);
        hw_request_destroy(&r);
        return answered;
}

static bool send_command(struct exchange *x)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_PROGRAM);

        if (r && (hw_request_set_text(&r->program->target, x->target) < 0 ||
                  hw_request_set_text(&r->program->command, x->command) < 0))
                hw_request_destroy(&r);
        bool answered = absent_request(x->endpoint, r, on_reply, x, x->error);
        hw_request_destroy(&r);
        return answered && (!x->refusal[0] || error_set(x->error, "%s", x->refusal));
}

/* Waits for the number to rise. */
static bool await_rise(struct exchange *x, uint64_t wait_ms, uint64_t *ret_ms)
{
        const uint64_t before = x->n, began = clock_mono_ms();

        do {
                (void)poll(NULL, 0, STEP_MS);
                *ret_ms = clock_mono_ms() - began;
                if (!request_count(x))
                        return false;
        } while (x->n <= before && *ret_ms < wait_ms);
        return true;
}

static bool see_start(struct exchange *x, bool *ret_seen)
{
        const uint64_t before = x->n;
        uint64_t took_ms;

        if (!await_rise(x, PROGRAM_CONTROL_MS, &took_ms))
                return false;
        *ret_seen = x->n > before;
        if (*ret_seen)
                (void)snprintf(x->said, x->said_size, "%s: a %s of %s was seen %s later", x->command, x->of->what,
                               x->target, DURATION_TEXT(took_ms * NS_PER_MS));
        else
                (void)snprintf(x->said, x->said_size,
                               "%s: sent to %s, but no %s was seen within %s: it needs %s, and an eventlog-socket that "
                               "was built with the flag control",
                               x->command, x->target, x->of->what, DURATION_TEXT(took_ms * NS_PER_MS), x->of->needs);
        return true;
}

static bool see_end(struct exchange *x, uint64_t at_first, bool *ret_seen)
{
        uint64_t took_ms;

        (void)poll(NULL, 0, ARRIVES_MS);
        if (!request_count(x))
                return false;
        const uint64_t then = x->n;
        if (!await_rise(x, QUIET_MS, &took_ms))
                return false;
        *ret_seen = x->n == then && then > at_first;
        (void)snprintf(x->said, x->said_size,
                       x->n > then
                               ? "%s: sent to %s, but a %s was seen %s after that: its eventlog-socket does not know "
                                 "the command, or was built without the flag control"
                       : *ret_seen ? "%s: sent to %s, and no %s was seen for %s after that"
                                   : "%s: sent to %s, but no %s was seen for %s, nor just before: it may have been off "
                                     "already",
                       x->command, x->target, x->of->what, DURATION_TEXT(took_ms * NS_PER_MS));
        return true;
}

bool program_control(const char *endpoint, const char *target, const struct program_command *command, char *ret,
                     size_t size, bool *ret_seen, struct error *error)
{
        struct exchange x = { .target = target,
                              .command = command->text,
                              .of = command->effect != EFFECT_NONE ? &effects[command->effect] : NULL,
                              .said = ret,
                              .said_size = size,
                              .error = error };
        char publish[256], unused[256];
        uint64_t unused_ms;

        *ret_seen = false;
        if (!endpoint && hw_default_endpoints(publish, unused, sizeof(publish)) < 0)
                return error_set(error, "the default socket's path is too long");
        x.endpoint = endpoint ? endpoint : publish;
        if (x.of && !request_count(&x))
                return false;
        const uint64_t before = x.n;
        if (command->is_off && x.of && !await_rise(&x, QUIET_MS, &unused_ms))
                return false; /* does it come at all? */
        if (!send_command(&x))
                return false;
        if (x.of)
                return command->is_off ? see_end(&x, before, ret_seen) : see_start(&x, ret_seen);
        (void)snprintf(ret, size, "%s: sent to %s; its log does not show whether it had an effect", command->text,
                       target);
        return true;
}

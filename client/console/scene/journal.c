/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.c - what happened to the streams, found by comparing an update with what was known before it. */
#include "client/console/scene/shown.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/console/scene/scene.h"

static void add(struct journal *j, const char *target, size_t daemon, uint64_t time_ns, const char *format, ...)
        __attribute__((format(printf, 5, 6)));

static void add(struct journal *j, const char *target, size_t daemon, uint64_t time_ns, const char *format, ...)
{
        struct journal_entry *e = &j->entries[j->next];
        va_list ap;

        (void)snprintf(e->target, sizeof(e->target), "%s", target);
        e->daemon = daemon;
        e->time_ns = time_ns;
        va_start(ap, format);
        (void)vsnprintf(e->text, sizeof(e->text), format, ap);
        va_end(ap);
        j->next = (j->next + 1) % JOURNAL_ENTRIES;
        j->count += j->count < JOURNAL_ENTRIES;
}

static void watch_state(struct journal *j, const struct world_target *t, const Hw__Update *u)
{
        const Hw__Target *now = u->target_state;
        struct world_target shown = { .target = u->target_state };

        if (t->target && now->has_state && t->target->state == now->state && (!u->has_run || u->run == t->run))
                return;
        if (u->has_run && u->run != t->run && t->run)
                add(j, t->name, t->daemon, u->event_time_ns, "run %u begins", u->run);
        if (!t->target || t->target->state != now->state)
                add(j, t->name, t->daemon, u->event_time_ns, "%s%s%.150s", state_word(&shown), now->detail ? ": " : "",
                    now->detail ? now->detail : "");
}

static void watch_health(struct journal *j, const struct world_target *t, const Hw__Update *u)
{
        const Hw__Health *now = u->health, *before = t->health;

        if (!before)
                return;
        if (now->reconnects > before->reconnects)
                add(j, t->name, t->daemon, t->event_time_ns, "the source was connected again");
        if (now->lost_bytes > before->lost_bytes)
                add(j, t->name, t->daemon, t->event_time_ns, "lost %" PRIu64 " bytes of the stream",
                    now->lost_bytes - before->lost_bytes);
        if (now->late_samples > before->late_samples && !before->late_samples)
                add(j, t->name, t->daemon, t->event_time_ns, "samples begin to arrive too late for their second");
}

void journal_watch(struct journal *j, const struct world *before, size_t daemon, const Hw__Update *u)
{
        const struct world_target *t;

        if (!u->target || (u->body_case != HW__UPDATE__BODY_TARGET_STATE && u->body_case != HW__UPDATE__BODY_HEALTH))
                return;
        t = world_find_of(before, daemon, u->target);
        if (t && u->body_case == HW__UPDATE__BODY_TARGET_STATE)
                watch_state(j, t, u);
        else if (t)
                watch_health(j, t, u);
}

void journal_daemon(struct journal *j, const struct world *world, size_t daemon, const char *text)
{
        uint64_t time_ns = 0;

        for (size_t i = 0; i < world_targets(world); i++) {
                const struct world_target *t = world_target(world, i);

                if (t->daemon == daemon && t->event_time_ns > time_ns)
                        time_ns = t->event_time_ns;
        }
        add(j, "", daemon, time_ns, "%s", text);
}

const struct journal_entry *journal_entry(const struct journal *j, size_t i)
{
        if (i >= j->count)
                return NULL;
        return &j->entries[(j->next + JOURNAL_ENTRIES - j->count + i) % JOURNAL_ENTRIES];
}

bool journal_is_about(const struct journal_entry *e, const struct world_target *t)
{
        return e->daemon == t->daemon && (!e->target[0] || !strcmp(e->target, t->name));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a topic's sequence rises by 1, so what is missing is detected at the
 * next message of the topic, or by the `heads` of the target's heartbeat when no
 * next one comes. After a gap the target is resynced by its snapshot; an unknown
 * epoch requires one of everything. While a snapshot is under way, live updates
 * of what it covers are held; when it ends they are replayed, and those with a
 * sequence that the snapshot includes are dropped.
 *
 * One snapshot at a time. A target with a new gap soon after a resync waits for
 * a backoff that doubles, so a reader that is always too slow asks rarely. A
 * snapshot that makes no progress is requested again, with a time-out that
 * doubles.
 *
 * The first request waits a moment: the subscription must have reached the
 * daemon before the snapshot is made, or what comes between the two is missed.
 * (It would be found as a gap and resynced, which is not needed.)
 */
#include "proto/wire/follow/clone.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/follow/limits.h"
#include "proto/wire/message.h"
#include "proto/base/limits.h"
#include "proto/base/time.h"

#define FIRST_REQUEST_NS        (100 * NS_PER_MS) /* subscribe first */
#define UNCONNECTED_NS          (250 * NS_PER_MS) /* the request socket has no peer yet */
#define STALE_NS                (3000 * NS_PER_MS)
#define SNAPSHOT_TIMEOUT_NS     (2000 * NS_PER_MS)
#define SNAPSHOT_TIMEOUT_MAX_NS (16000 * NS_PER_MS)
#define REFUSED_NS              (2000 * NS_PER_MS) /* after an error reply */
#define RESYNC_BACKOFF_NS       (1000 * NS_PER_MS)
#define RESYNC_BACKOFF_MAX_NS   (30000 * NS_PER_MS)
#define RESYNC_CALM_NS          (60000 * NS_PER_MS) /* after so long without a gap the backoff is short again */
#define MAX_TARGETS             (LIMIT_TARGETS * 4) /* of one daemon, however many it names */

void clone_init(struct clone *c, uint32_t kinds, struct hw_subscriber_stats *stats, uint64_t now_ns)
{
        *c = (struct clone){
                .kinds = kinds,
                .stats = stats,
                .heard_ns = now_ns,
                .want_all = true,
                .all_at_ns = now_ns + FIRST_REQUEST_NS,
                .timeout_ns = SNAPSHOT_TIMEOUT_NS,
        };
}

void clone_done(struct clone *c)
{
        queue_clear(&c->held);
        queue_clear(&c->out);
        free(c->targets);
        c->targets = NULL;
        c->n_targets = c->max_targets = 0;
}

/* ------------------------------------------------------------------ targets */

/* Where `name` is or belongs. */
static size_t find_position(const struct clone *c, const char *name, bool *ret_found)
{
        size_t low = 0, high = c->n_targets;

        *ret_found = false;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(name, c->targets[middle].name);

                if (order == 0) {
                        *ret_found = true;
                        return middle;
                }
                if (order < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

static struct clone_target *find_target(struct clone *c, const char *name)
{
        bool found;
        size_t at = find_position(c, name, &found);

        return found ? &c->targets[at] : NULL;
}

/* NULL when there is no room. */
static struct clone_target *find_or_add(struct clone *c, const char *name)
{
        bool found;
        size_t at = find_position(c, name, &found), n = strlen(name);

        if (found)
                return &c->targets[at];
        if (n > LIMIT_TARGET_NAME_BYTES ||
            !(c->n_targets < MAX_TARGETS && ARRAY_RESERVE(c->targets, c->max_targets, c->n_targets + 1)))
                return NULL;
        struct clone_target *t = &c->targets[at];
        memmove(t + 1, t, (c->n_targets - at) * sizeof(*t));
        c->n_targets++;
        *t = (struct clone_target){ .backoff_ns = RESYNC_BACKOFF_NS };
        memcpy(t->name, name, n + 1);
        return t;
}

static void forget_target(struct clone *c, struct clone_target *t)
{
        size_t after = c->n_targets - (size_t)(t - c->targets) - 1;

        memmove(t, t + 1, after * sizeof(*t));
        c->n_targets--;
}

/* ---------------------------------------------------------- gaps and resync */

/* The topic's messages up to `sequence` were missed. */
static void note_missed(struct clone *c, struct clone_target *t, Hw__Kind kind, uint64_t sequence)
{
        c->stats->gaps++;
        c->stats->lost += sequence - t->newest[kind];
        t->newest[kind] = sequence;
        t->gap = *t->name != '\0'; /* the daemon's own topic is full state: the next message is enough */
}

/* ------------------------------------------------------------------- events */

static int deliver_update(struct clone *c, Hw__Update *update, size_t bytes)
{
        c->stats->updates++;
        return queue_push(&c->out, HW_SUBSCRIBER_UPDATE, update, bytes);
}

static int emit_event(struct clone *c, enum hw_subscriber_event event)
{
        return queue_push(&c->out, event, NULL, 0);
}

/* The last message of a target was lost: makes it up, so that the caller forgets the target as usual. */
static int deliver_removal(struct clone *c, const struct clone_target *t)
{
        Hw__Update *u = message_new(&hw__update__descriptor);
        Hw__Target *state = u ? message_new(&hw__target__descriptor) : NULL;

        if (!state || message_set_text(&u->target, t->name) < 0) {
                hw_message_unref(state ? &state->base : NULL);
                hw_update_unref(u);
                return -ENOMEM;
        }
        state->has_state = true;
        state->state = HW__TARGET__STATE__STATE_REMOVED;
        u->has_epoch = true;
        u->epoch = c->epoch;
        u->body_case = HW__UPDATE__BODY_TARGET_STATE;
        u->target_state = state;
        return deliver_update(c, u, 0);
}

/* Not named by the daemon twice in a row: removed. Once may be a heartbeat from before the target was added. */
static int check_removed(struct clone *c, const Hw__DaemonState *daemon)
{
        for (size_t i = c->n_targets; i-- > 0;) {
                struct clone_target *t = &c->targets[i];

                if (*t->name == '\0')
                        continue;
                t->absent++;
                for (size_t k = 0; k < daemon->n_targets && t->absent; k++)
                        if (!strcmp(daemon->targets[k], t->name))
                                t->absent = 0;
                if (t->absent < 2)
                        continue;
                int r = deliver_removal(c, t);
                if (r < 0)
                        return r;
                forget_target(c, t);
        }
        return 0;
}

/* Records a sign of life. Returns 1 when it is of the current epoch, 0 when it is to be ignored, or -ENOMEM. */
static int note_alive(struct clone *c, bool has_epoch, uint64_t epoch, bool by_reply, uint64_t now_ns)
{
        bool was_stale = c->stale;
        int r;

        if (has_epoch && c->known && epoch == c->old_epoch && epoch != c->epoch)
                return 0; /* a late message of the daemon that ended */
        c->heard_ns = now_ns;
        c->stale = false;
        if (has_epoch && (!c->known || epoch != c->epoch)) {
                /*
                 * The daemon was restarted: nothing of the old epoch holds. A snapshot of everything that is under way
                 * goes on only if the new daemon answers it: on first contact, or when its own reply had the epoch.
                 */
                bool goes_on = c->asked_all && (by_reply || !c->known);

                c->old_epoch = c->known ? c->epoch : epoch;
                c->epoch = epoch;
                c->known = true;
                c->n_targets = 0;
                queue_clear(&c->held);
                c->want_all = true;
                c->all_at_ns = now_ns;
                c->timeout_ns = SNAPSHOT_TIMEOUT_NS;
                if (!goes_on)
                        c->active = c->asked_all = false;
                r = emit_event(c, HW_SUBSCRIBER_RESET);
                return r < 0 ? r : 1;
        }
        r = was_stale && c->known ? emit_event(c, HW_SUBSCRIBER_ALIVE) : 0;
        return r < 0 ? r : 1;
}

/* ------------------------------------------------------------- live updates */

static int accept_live(struct clone *c, Hw__Update *u, size_t bytes)
{
        Hw__Kind kind = hw_update_kind(u);
        struct clone_target *t = find_or_add(c, u->target ? u->target : "");
        int r = 0;

        if (!t) {
                c->stats->bad++;
                hw_update_unref(u);
                return 0;
        }
        if (t->live[kind] && u->sequence <= t->live[kind]) {
                /* The daemon has added the target again: its topics count from 1 again. */
                memset(t->newest, 0, sizeof(t->newest));
                memset(t->live, 0, sizeof(t->live));
                t->gap = true;
        }
        t->live[kind] = u->sequence;
        if (u->sequence <= t->newest[kind]) { /* the snapshot included it */
                hw_update_unref(u);
                return 0;
        }
        if (u->sequence - 1 > t->newest[kind])
                note_missed(c, t, kind, u->sequence - 1);
        t->newest[kind] = u->sequence;
        if (kind == HW__KIND__KIND_TARGET && u->target_state->state == HW__TARGET__STATE__STATE_REMOVED) {
                forget_target(c, t);
        } else if (kind == HW__KIND__KIND_TARGET) {
                /* It has the newest sequence of the other topics: what has not come by now was lost. */
                for (size_t i = 0; i < u->target_state->n_heads; i++) {
                        const Hw__TopicHead *head = u->target_state->heads[i];
                        if ((unsigned)head->kind < CLONE_KINDS && (c->kinds >> (unsigned)head->kind & 1u) &&
                            head->kind != HW__KIND__KIND_TARGET && head->sequence > t->newest[head->kind])
                                note_missed(c, t, head->kind, head->sequence);
                }
        } else if (kind == HW__KIND__KIND_DAEMON && !c->active) {
                r = check_removed(c, u->daemon);
        }
        if (r < 0) {
                hw_update_unref(u);
                return r;
        }
        return deliver_update(c, u, bytes);
}

/* Whether a snapshot under way (or due) covers this target, so that its updates must wait. */
static bool must_wait(struct clone *c, const char *target)
{
        if (c->want_all)
                return true;
        const struct clone_target *t = c->active ? find_target(c, target) : NULL;
        return t && t->asked;
}

int clone_live(struct clone *c, Hw__Update *u, size_t bytes, uint64_t now_ns)
{
        int r = note_alive(c, true, u->epoch, false, now_ns);

        if (r <= 0 || hw_update_kind(u) == HW__KIND__KIND_NONE) { /* of no kind: from a newer version */
                hw_update_unref(u);
                return r < 0 ? r : 0;
        }
        if (must_wait(c, u->target ? u->target : "")) {
                if (c->held.count >= LIMIT_HELD_MESSAGES || c->held.bytes >= LIMIT_HELD_BYTES)
                        queue_clear(&c->held); /* found as gaps when the next ones are replayed */
                return queue_push(&c->held, HW_SUBSCRIBER_UPDATE, u, bytes);
        }
        return accept_live(c, u, bytes);
}

/* ---------------------------------------------------------------- snapshots */

static int replay_held(struct clone *c)
{
        struct queue held = c->held;
        struct queue_item *item;
        int r = 0;

        if (!held.first)
                return 0;
        c->held = (struct queue){ 0 };
        while (r == 0 && (item = queue_pop(&held))) {
                r = accept_live(c, item->update, item->bytes);
                item->update = NULL;
                queue_item_free(item);
        }
        queue_clear(&held);
        return r;
}

static int accept_snapshot(struct clone *c, Hw__Reply *reply)
{
        Hw__Update *u = reply->update;
        Hw__Kind kind = hw_update_kind(u);
        struct clone_target *t = kind == HW__KIND__KIND_NONE ? NULL : find_or_add(c, u->target ? u->target : "");

        if (!t)
                return 0;
        if (u->sequence > t->newest[kind])
                t->newest[kind] = u->sequence;
        if (kind == HW__KIND__KIND_TARGET) {
                /* A snapshot covers its topics up to these numbers, including those of which it has no message. */
                for (size_t i = 0; i < u->target_state->n_heads; i++) {
                        const Hw__TopicHead *head = u->target_state->heads[i];
                        if ((unsigned)head->kind < CLONE_KINDS && head->sequence > t->newest[head->kind])
                                t->newest[head->kind] = head->sequence;
                }
        }
        reply->update = NULL; /* moved out of the reply */
        reply->what_case = HW__REPLY__WHAT__NOT_SET;
        return deliver_update(c, u, 0);
}

/* The snapshot under way is over. `complete`: what it covered no longer has a gap. */
static int finish_snapshot(struct clone *c, bool complete)
{
        for (size_t i = 0; i < c->n_targets; i++) {
                struct clone_target *t = &c->targets[i];

                if (complete && (c->asked_all || t->asked))
                        t->gap = false;
                t->asked = false;
        }
        c->active = false;
        if (c->asked_all && complete)
                c->want_all = false;
        bool ready = c->asked_all && complete;
        c->asked_all = false;
        int r = ready ? emit_event(c, HW_SUBSCRIBER_READY) : 0;
        return r < 0 || c->want_all ? r : replay_held(c);
}

int clone_reply(struct clone *c, Hw__Reply *reply, uint64_t now_ns)
{
        bool is_update = reply->what_case == HW__REPLY__WHAT_UPDATE;
        bool is_end = reply->what_case == HW__REPLY__WHAT_SNAPSHOT_END;
        int r;

        if (!c->active || (reply->id != c->id && (reply->has_id || !reply->error)))
                return 0; /* to a request that was given up */
        if (is_update)
                r = note_alive(c, reply->update->has_epoch, reply->update->epoch, true, now_ns);
        else
                r = note_alive(c, is_end && reply->snapshot_end->has_epoch, is_end ? reply->snapshot_end->epoch : 0,
                               true, now_ns);
        if (r <= 0 || !c->active)
                return r < 0 ? r : 0;
        c->progress_ns = now_ns;
        if (reply->error) {
                /*
                 * An error reply. For everything, or by the rate limit: try again later; for some targets: they do not
                 * exist.
                 */
                c->all_at_ns = now_ns + REFUSED_NS;
                return finish_snapshot(c, !c->asked_all && reply->what_case != HW__REPLY__WHAT_RETRY_AFTER_NS);
        }
        if (is_update)
                return accept_snapshot(c, reply);
        if (!is_end)
                return 0;
        c->timeout_ns = SNAPSHOT_TIMEOUT_NS;
        return finish_snapshot(c, true);
}

/* --------------------------------------------------------------------- time */

int clone_tick(struct clone *c, uint64_t now_ns)
{
        int r = 0;

        if (!c->stale && now_ns >= c->heard_ns + STALE_NS) {
                c->stale = true;
                r = emit_event(c, HW_SUBSCRIBER_STALE);
        }
        if (r == 0 && c->active && now_ns >= c->progress_ns + c->timeout_ns) {
                if (c->timeout_ns < SNAPSHOT_TIMEOUT_MAX_NS)
                        c->timeout_ns *= 2;
                r = finish_snapshot(c, false);
        }
        return r;
}

uint64_t clone_deadline(const struct clone *c)
{
        uint64_t at = c->stale ? UINT64_MAX : c->heard_ns + STALE_NS;
        uint64_t next = UINT64_MAX;

        if (c->active)
                next = c->progress_ns + c->timeout_ns;
        else if (c->want_all)
                next = c->all_at_ns;
        for (size_t i = 0; !c->active && !c->want_all && i < c->n_targets; i++)
                if (c->targets[i].gap && c->targets[i].resync_at_ns < next)
                        next = c->targets[i].resync_at_ns;
        return at < next ? at : next;
}

bool clone_want(struct clone *c, uint64_t now_ns, char **names, size_t *ret_n)
{
        size_t n = 0;

        if (c->active)
                return false;
        *ret_n = 0;
        if (c->want_all)
                return now_ns >= c->all_at_ns;
        for (size_t i = 0; i < c->n_targets && n < LIMIT_RESYNC_TARGETS; i++) {
                struct clone_target *t = &c->targets[i];

                t->asked = t->gap && now_ns >= t->resync_at_ns;
                if (t->asked)
                        names[n++] = t->name;
        }
        *ret_n = n;
        return n > 0;
}

void clone_request_sent(struct clone *c, uint64_t id, uint64_t now_ns)
{
        c->stats->snapshots++;
        c->active = true;
        c->asked_all = c->want_all;
        c->id = id;
        c->progress_ns = now_ns;
        for (size_t i = 0; !c->asked_all && i < c->n_targets; i++)
                if (c->targets[i].asked) {
                        /* The backoff before the next resync: longer when this one comes soon after the last. */
                        struct clone_target *t = &c->targets[i];
                        if (t->resynced_ns == 0 || now_ns - t->resynced_ns > RESYNC_CALM_NS)
                                t->backoff_ns = RESYNC_BACKOFF_NS;
                        else if (t->backoff_ns < RESYNC_BACKOFF_MAX_NS)
                                t->backoff_ns = t->backoff_ns * 2 < RESYNC_BACKOFF_MAX_NS ? t->backoff_ns * 2
                                                                                          : RESYNC_BACKOFF_MAX_NS;
                        t->resynced_ns = now_ns;
                        t->resync_at_ns = now_ns + t->backoff_ns;
                }
}

void clone_request_failed(struct clone *c, uint64_t now_ns)
{
        c->all_at_ns = now_ns + UNCONNECTED_NS;
        for (size_t i = 0; i < c->n_targets; i++) {
                if (c->targets[i].asked)
                        c->targets[i].resync_at_ns = now_ns + UNCONNECTED_NS;
                c->targets[i].asked = false;
        }
}

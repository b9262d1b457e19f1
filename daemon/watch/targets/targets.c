/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an array in order of adding; there are at most LIMIT_TARGETS and
 * names are looked up by people, so linear search is enough. The epoch is drawn
 * once, at random: by it subscribers see that the daemon was restarted.
 *
 * The heartbeats of all targets are made for BEAT_NS at a time: a thousand of
 * them would block the sources for half a second.
 */
#include "daemon/watch/targets/targets.h"
#include "daemon/publish/encode.h"
#include "daemon/publish/transport/admission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/ckd.h"
#include "proto/base/event.h"
#include "proto/base/limits.h"
#include "daemon/publish/transport/limits.h"
#include "proto/base/clock.h"
#include "daemon/source/buffer/read_buffer.h"
#include "daemon/record/checkpoint/store.h"
#include "daemon/log.h"
#include "daemon/source/loop/memory.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/source/loop/descriptors.h"
#include "daemon/source/procfs.h"

#define BEAT_NS 10000000u

struct targets {
        struct event_base *base;
        struct bus *bus;
        struct targets_options options;
        struct event *heartbeat;
        struct event *rest; /* for those that have not had it yet */
        size_t beat_at;     /* the first of them */
        uint64_t epoch, sequence, started_wall_ns;
        struct clock_steady clock;
        struct pipeline *pipelines[LIMIT_TARGETS];
        size_t n;
        char *names[LIMIT_TARGETS]; /* of the message below; borrowed from the pipelines */
        Hw__Update update;
        Hw__DaemonState state;
        struct daemon_loop loop; /* of the message, too */
        struct checkpoint_trouble checkpoint_trouble;
};

/* Who was let in, who was not, and what was asked for that changes something. */
static void fill_connections(struct targets *t, const struct bus_stats *stats)
{
        struct admission *a = bus_admission(t->bus);
        Hw__DaemonState *state = &t->state;

        PUT(state, requests, stats->requests);
        PUT(state, bad_requests, stats->bad_requests);
        if (stats->paced_requests)
                PUT(state, paced_requests, stats->paced_requests);
        if (stats->clients.disconnected)
                PUT(state, subscribers_disconnected, stats->clients.disconnected);
        PUT(state, control_requests, stats->controls);
        PUT(state, forbidden_requests, stats->forbidden);
        PUT(state, strangers_refused, stats->clients.strangers);
        PUT(state, connections_refused, descriptors_refused() + stats->clients.refused);
        if (!a)
                return;
        const struct admission_stats s = admission_stats(a);
        state->listen = (char *)admission_listens(a);
        PUT(state, authorized_keys, s.authorized);
        PUT(state, handshakes_admitted, s.admitted);
        PUT(state, handshakes_refused, s.refused);
        PUT(state, handshakes_failed, s.failed);
        PUT(state, connections_shut, s.shut);
}

const Hw__Update *targets_daemon_state(struct targets *t)
{
        const uint64_t rss_bytes = procfs_own_rss();

        for (size_t i = 0; i < t->n; i++)
                t->names[i] = (char *)pipeline_name(t->pipelines[i]);
        hw__daemon_state__init(&t->state);
        t->state.version = (char *)HEAPWATCH_VERSION;
        PUT(&t->state, pid, (uint32_t)getpid());
        PUT(&t->state, started_wall_ns, t->started_wall_ns);
        t->state.targets = t->names;
        t->state.n_targets = t->n;
        if (rss_bytes)
                PUT(&t->state, rss_bytes, rss_bytes);
        t->state.before = t->options.before;
        fill_connections(t, bus_stats(t->bus));

        daemon_loop_fill(&t->loop, &t->state);
        if (t->options.checkpoints && checkpoint_store_trouble(t->options.checkpoints, &t->checkpoint_trouble)) {
                t->state.checkpoint_failure = t->checkpoint_trouble.why;
                PUT(&t->state, checkpoint_failure_wall_ns, t->checkpoint_trouble.since_wall_ns);
        }
        if (t->options.fill_state)
                t->options.fill_state(t->options.fill_ctx, &t->state);

        hw__update__init(&t->update);
        PUT(&t->update, epoch, t->epoch);
        PUT(&t->update, sequence, t->sequence);
        PUT(&t->update, published_wall_ns, clock_wall_ns());
        t->update.target = (char *)"";
        t->update.body_case = HW__UPDATE__BODY_DAEMON;
        t->update.daemon = &t->state;
        return &t->update;
}

/* ---------------------------------------------------------------- ended ones */

/* When the source of one run has been gone for this long, and its process, too, it does not come back. */
#define GONE_AFTER_NS 2000000000u

static void remove_at(struct targets *t, size_t i)
{
        if (t->options.checkpoints)
                checkpoint_store_forget(t->options.checkpoints, pipeline_name(t->pipelines[i]));
        log_info("target=%s removed", pipeline_name(t->pipelines[i]));
        watchdog_begin(WATCHDOG_REMOVAL);
        watchdog_of(pipeline_name(t->pipelines[i]));
        pipeline_remove(&t->pipelines[i]);
        watchdog_end();
        memmove(t->pipelines + i, t->pipelines + i + 1, (t->n - i - 1) * sizeof(*t->pipelines));
        t->n--;
        if (t->beat_at > i)
                t->beat_at--;
}

#define KEEP_OF_ONE 4u /* previous runs of one name: a program that restarts in a loop must not push out others' */

static bool is_run_before(const struct pipeline *p, const char *name)
{
        size_t n = strlen(name);
        const char *other = pipeline_name(p);

        return pipeline_is_kept(p) && !strncmp(other, name, n) && other[n] == '~';
}

/* Of two of a name by N of NAME~N, since a clock that was set may have put their times in disorder. */
static bool ended_before(const struct pipeline *p, const struct pipeline *other, bool of_a_name)
{
        if (!of_a_name)
                return pipeline_ended_wall_ns(p) < pipeline_ended_wall_ns(other);
        return strtoul(strrchr(pipeline_name(p), '~') + 1, NULL, 10) >
               strtoul(strrchr(pipeline_name(other), '~') + 1, NULL, 10);
}

/* Removes kept targets, those that ended first, down to `most`: all of them, or with `name` the previous runs of it. */
static void remove_oldest(struct targets *t, const char *name, size_t most)
{
        for (size_t kept = most + 1; kept > most;) {
                size_t oldest = 0;

                kept = 0;
                for (size_t i = 0; i < t->n; i++) {
                        const struct pipeline *p = t->pipelines[i];
                        if (name ? !is_run_before(p, name) : !pipeline_is_kept(p))
                                continue;
                        if (kept++ == 0 || ended_before(p, t->pipelines[oldest], name != NULL))
                                oldest = i;
                }
                if (kept > most)
                        remove_at(t, oldest);
        }
}

/* NAME~N; of a long name the beginning. */
static void name_aside(char out[TARGET_NAME_MAX + 1], const char *name, unsigned number)
{
        snprintf(out, TARGET_NAME_MAX + 1, "%.*s~%u", (int)strnlen(name, TARGET_NAME_MAX - 5), name, number);
}

/*
 * Frees NAME~1, the run before: what has the name becomes NAME~2, and so on up to the first number that is free. At
 * most KEEP_OF_ONE - 1 are left, those that ended last. False: out of memory.
 */
static bool free_name_aside(struct targets *t, const char *name, char ret_aside[TARGET_NAME_MAX + 1])
{
        char from[TARGET_NAME_MAX + 1], to[TARGET_NAME_MAX + 1];
        unsigned n = 1;
        bool good = true;

        remove_oldest(t, name, KEEP_OF_ONE - 1);
        for (name_aside(from, name, n); targets_find(t, from); name_aside(from, name, n))
                n++;
        for (; good && n > 1; n--) {
                name_aside(from, name, n - 1);
                name_aside(to, name, n);
                good = pipeline_set_aside(targets_find(t, from), to) == 0;
        }
        name_aside(ret_aside, name, 1);
        return good;
}

/* Set aside already, by a daemon that was killed before it made the first checkpoint of the run after it. */
static bool is_set_aside(const struct targets *t, const struct pipeline *p)
{
        for (size_t i = 0; i < t->n; i++)
                if (is_run_before(t->pipelines[i], pipeline_name(p)) && pipeline_has_run_of(t->pipelines[i], p))
                        return true;
        return false;
}

/*
 * 0 when the name is free now. *ret_alerting: what judged the name until now, owned; or NULL. The checkpoint of the
 * name stays until that of its next target replaces it: a daemon that is killed in between loses no alert and no count.
 */
static int make_room(struct targets *t, const char *name, char aside[TARGET_NAME_MAX + 1],
                     struct alerting **ret_alerting)
{
        struct pipeline *p = targets_find(t, name);

        aside[0] = '\0';
        if (!p)
                return 0;
        pipeline_check_runner(p);
        if (!pipeline_is_kept(p) && !pipeline_is_over(p))
                return -EEXIST;
        const bool stays = pipeline_is_worth_keeping(p) && strlen(name) <= TARGET_NAME_MAX && !strchr(name, '~') &&
                           !is_set_aside(t, p);
        if (stays && !pipeline_is_kept(p))
                pipeline_keep(p); /* its alerts are told how it ended, if they were not */
        *ret_alerting = pipeline_release_alerting(p);
        if (!stays)
                return targets_remove(t, name);
        if (!free_name_aside(t, name, aside) || pipeline_set_aside(p, aside) != 0)
                return -EEXIST;
        log_info("target=%s kept as %s", name, aside);
        return 0;
}

/* A source has another run: the previous one gets a name of its own, as that of `heapwatch run` does in make_room. */
static void keep_run_before(void *ctx, struct pipeline *p)
{
        struct targets *t = ctx;
        char aside[TARGET_NAME_MAX + 1];
        const char *name = pipeline_name(p);

        if (t->options.keep.most == 0 || memory_now() != MEMORY_PLENTY || strlen(name) > TARGET_NAME_MAX - 5)
                return;
        if (t->n == LIMIT_TARGETS || !free_name_aside(t, name, aside))
                return;
        struct pipeline *before = pipeline_leave_run(p, aside);
        if (!before)
                return;
        t->pipelines[t->n++] = before;
        log_info("target=%s previous run kept as %s", name, aside);
}

/* Heartbeats of the next targets, for BEAT_NS; the rest in the next iteration of the loop. */
static void beat_targets(struct targets *t)
{
        static const struct timeval at_once = { 0, 0 };
        const uint64_t wall_ns = clock_wall_ns(), end_ns = clock_mono_ns() + BEAT_NS;

        while (t->beat_at < t->n && clock_mono_ns() < end_ns) {
                struct pipeline *p = t->pipelines[t->beat_at++];
                pipeline_close_bands(p, memory_closes(pipeline_held_bytes(p)));
                pipeline_heartbeat(p, wall_ns);
        }
        if (t->beat_at < t->n)
                (void)event_add(t->rest, &at_once); /* if out of memory, the next second continues */
}

static void on_rest(evutil_socket_t fd, short what, void *ctx)
{
        beat_targets(ctx);
}

void targets_heartbeat(struct targets *t)
{
        struct update_sink out = bus_sink(t->bus);

        watchdog_begin(WATCHDOG_HOUSEKEEPING);
        read_buffers_trim();
        memory_update_usage(procfs_own_rss(), clock_mono_ns());
        memory_set_targets(t->n);
        t->sequence++;
        (void)out.send(out.ctx, targets_daemon_state(t)); /* a lost heartbeat is followed by another */
        uint64_t wall_ns = clock_wall_ns();
        const bool by_age = clock_tells_age(&t->clock, t->options.keep.for_ns, wall_ns, clock_mono_ns());

        for (size_t i = t->n; i-- > 0;) {
                struct pipeline *p = t->pipelines[i];
                const bool over = pipeline_is_gone(p, GONE_AFTER_NS) && !pipeline_may_return(p);
                if (over && !pipeline_is_worth_keeping(p))
                        remove_at(t, i);
                else if (over)
                        pipeline_keep(p);
                else if (by_age && pipeline_is_kept(p) &&
                         sub_sat(wall_ns, pipeline_ended_wall_ns(p)) > t->options.keep.for_ns)
                        remove_at(t, i);
        }
        remove_oldest(t, NULL, t->options.keep.most);
        watchdog_end();
        if (evtimer_pending(t->rest, NULL))
                return; /* the last one is still in progress */
        t->beat_at = 0;
        beat_targets(t);
}

static void on_heartbeat(evutil_socket_t fd, short what, void *ctx)
{
        targets_heartbeat(ctx);
}

struct targets *targets_new(struct event_base *base, struct bus *bus, const struct targets_options *options)
{
        struct targets *t = calloc(1, sizeof(*t));
        struct timeval second = { .tv_sec = 1 };

        if (!t)
                return NULL;
        t->base = base;
        t->bus = bus;
        t->options = *options;
        t->started_wall_ns = clock_wall_ns();
        if (getrandom(&t->epoch, sizeof(t->epoch), 0) != sizeof(t->epoch) || t->epoch == 0)
                t->epoch = t->started_wall_ns;
        t->heartbeat = event_new(base, -1, EV_PERSIST, on_heartbeat, t);
        t->rest = evtimer_new(base, on_rest, t);
        if (!t->heartbeat || !t->rest || event_priority_set(t->heartbeat, LOOP_FIRST) != 0 ||
            event_add(t->heartbeat, &second) != 0)
                targets_destroy(&t);
        return t;
}

void targets_destroy(struct targets **tp)
{
        struct targets *t = *tp;

        *tp = NULL;
        if (!t)
                return;
        for (size_t i = 0; i < t->n; i++)
                pipeline_destroy(&t->pipelines[i]);
        free_event(&t->heartbeat);
        free_event(&t->rest);
        free(t);
}

/* The saved state of a target: 0; -ENOENT: there is none; another -errno: it is refused. */
static int read_checkpoint(const struct targets *t, const char *name, struct checkpoint *ret)
{
        struct error error;
        int r;

        if (!t->options.checkpoints)
                return -ENOENT;
        r = checkpoint_read(checkpoint_store_directory(t->options.checkpoints), name, ret, &error);
        if (r != 0 && r != -ENOENT)
                log_warning("target=%s checkpoint refused: %s; the target starts over", name, error.text);
        return r;
}

/* Whether all targets and this one can have theirs, and clients the ones that are kept for them. */
static bool has_descriptors(const struct targets *t, const struct source_uri *uri, bool recorded, struct error *error)
{
        size_t promised = 0, needs = source_descriptors(uri->kind) + (recorded ? RECORDING_DESCRIPTORS : 0) +
                                     DESCRIPTORS_RESERVE + DESCRIPTORS_KEPT;

        for (size_t i = 0; i < t->n; i++)
                promised += pipeline_descriptors(t->pipelines[i]);
        const size_t left = descriptors_left(promised);
        return left >= needs ||
               error_set(error,
                         "of the %zu descriptors that this daemon may open %zu %s missing for it: %zu are left, of "
                         "which %u are for clients; raise its limit (ulimit -Hn, LimitNOFILE=) or remove targets",
                         descriptors_limit(), needs - left, needs - left == 1 ? "is" : "are", left,
                         DESCRIPTORS_RESERVE + DESCRIPTORS_KEPT);
}

/*
 * The name is free. Clears *alerting if the target has taken it over. `fresh`: another target had the name until now,
 * whose checkpoint may still be there.
 */
static int add_target(struct targets *t, const char *name, const struct source_uri *given,
                      const struct target_wish *wish, struct alerting **alerting, bool fresh, struct error *error)
{
        struct source_uri pinned = *given, *uri = &pinned;
        struct tracker_config trend = t->options.trend;
        struct checkpoint checkpoint = { 0 };

        if (t->n == LIMIT_TARGETS) {
                return error_code(error, -ENOSPC, "one daemon takes at most %u targets; start another", LIMIT_TARGETS);
        }
        if (memory_now() == MEMORY_FULL)
                return error_code(error, -ENOMEM, "%s", memory_words());
        if (!has_descriptors(t, uri, t->options.recorder && !wish->no_record, error))
                return -EMFILE;
        /* A process is meant as it is now: a later one with its pid, also after a restart of the daemon, is another. */
        struct process_identity id;
        if (source_uri_is_process(uri) && uri->start_ticks == 0 && procfs_identity("", uri->pid, &id) == 0)
                source_uri_set_start(uri, id.start_ticks);
        const int kept = fresh ? -ENOENT : read_checkpoint(t, name, &checkpoint);
        if (wish->resolution_ns)
                trend.trend = trend_config_scaled(wish->resolution_ns);
        struct pipeline_options options = {
                .base = t->base,
                .name = name,
                .uri = uri,
                .epoch = t->epoch,
                .sink = bus_sink(t->bus),
                .show_arguments = t->options.show_arguments,
                .trend = &trend,
                .rules = t->options.rules,
                .alert_hooks = &t->options.alert_hooks,
                .alerting = alerting,
                .one_run = wish->one_run,
                .next_run = keep_run_before,
                .next_run_ctx = t,
                .recorder = wish->no_record ? NULL : t->options.recorder,
                .resolution_ns = wish->resolution_ns,
                .labels = wish->labels,
                .process_only_reason = wish->process_only_reason,
                .checkpoint = kept == 0 ? &checkpoint : NULL,
        };
        struct pipeline *p = pipeline_new(&options, error);
        free(checkpoint.image);
        if (!p)
                return -EINVAL;
        t->pipelines[t->n++] = p;
        log_info("target=%s source=%s added", name, uri->text);
        return 0;
}

int targets_add(struct targets *t, const char *name, const struct source_uri *uri, const struct target_wish *wish,
                char ret_before[TARGET_NAME_MAX + 1], struct error *error)
{
        char before[TARGET_NAME_MAX + 1];
        const bool fresh = targets_find(t, name) != NULL;
        struct alerting *alerting = NULL;
        int r;

        if (make_room(t, name, ret_before ? ret_before : before, &alerting) == 0)
                r = add_target(t, name, uri, wish, &alerting, fresh, error);
        else
                r = error_code(error, -EEXIST, "there is already a target '%s'; remove it or give another name", name);
        alerting_destroy(&alerting);
        return r;
}

int targets_remove(struct targets *t, const char *name)
{
        for (size_t i = 0; i < t->n; i++) {
                if (strcmp(pipeline_name(t->pipelines[i]), name) != 0)
                        continue;
                remove_at(t, i);
                return 0;
        }
        return -ENOENT;
}

void targets_reload(struct targets *t, const struct ruleset *rules)
{
        t->options.rules = rules;
        for (size_t i = 0; i < t->n; i++)
                pipeline_reload(t->pipelines[i], rules);
}

struct pipeline *targets_find(const struct targets *t, const char *name)
{
        for (size_t i = 0; i < t->n; i++)
                if (!strcmp(pipeline_name(t->pipelines[i]), name))
                        return t->pipelines[i];
        return NULL;
}

size_t targets_count(const struct targets *t)
{
        return t->n;
}

struct pipeline *targets_get(const struct targets *t, size_t index)
{
        return t->pipelines[index];
}

uint64_t targets_epoch(const struct targets *t)
{
        return t->epoch;
}

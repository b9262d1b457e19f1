/* SPDX-License-Identifier: BSD-3-Clause */
/* ctl_print.c - replies as text: aligned columns, a line each; unknown values are "-". */
#include "client/commands/ctl_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/json_out.h"
#include "proto/base/nearest.h"
#include "proto/base/text_out.h"
#include "proto/base/utf8.h"
#include "proto/wire/message.h"

#define UNKNOWN "-"

static const char *state_name(const Hw__Target *t)
{
        static const char *const names[] = {
                "unknown",    "waiting", "connected", "running", "ended",   "crashed",
                "unreadable", "removed", "lost",      "failed",  "stopped",
        };

        if (!t->has_state || t->state < 0 || (size_t)t->state >= ARRAY_SIZE(names))
                return names[0];
        if (t->state == HW__TARGET__STATE__STATE_CRASHED && t->has_exit_signal)
                return "killed";
        return names[t->state];
}

static void print_notifier(const Hw__Notifier *n)
{
        static const char *const names[] = {
                "unknown",
                "idle: nothing to act on",
                "starting",
                "running",
                "restarting",
                "unknown",
                "off: rules have actions, and --notify=off does none of them",
        };

        (void)printf("notifier %s", n->has_state && (size_t)n->state < ARRAY_SIZE(names) ? names[n->state] : names[0]);
        if (n->has_pid)
                (void)printf("  pid %u", n->pid);
        if (n->has_restarts && n->restarts > 0)
                (void)printf("  restarts %u", n->restarts);
        if (n->detail && *n->detail)
                (void)printf("  (%s)", SAFE_TEXT(512, n->detail));
        (void)putchar('\n');
}

static void print_turn(const char *when, const Hw__LoopTurn *t)
{
        static const char *const kinds[] = {
                "unknown", "source", "rules", "publish", "request", "reload", "removal", "housekeeping",
        };

        if (!t || !t->has_cpu_ns)
                return;
        (void)printf("  %s %s", when, DURATION_TEXT(t->cpu_ns));
        if (t->has_kind && t->kind > 0 && (size_t)t->kind < ARRAY_SIZE(kinds))
                (void)printf(" (%s%s%s)", kinds[t->kind], t->target && *t->target ? " of " : "",
                             SAFE_TEXT(512, t->target));
}

static void print_count(const char *words, bool known, uint64_t n, const char *after)
{
        (void)printf("%s %s%s", words, known ? COUNT_TEXT(n) : UNKNOWN, after);
}

/* Who came in over TCP and who did not; what changed something. */
static void print_connections(const Hw__DaemonState *d)
{
        if (d->listen) {
                (void)printf("listens at %s", SAFE_TEXT(256, d->listen));
                print_count("  keys", true, d->authorized_keys, "");
                print_count("  handshakes refused", true, d->handshakes_refused, "");
                print_count("  failed", true, d->handshakes_failed, "\n");
        }
        if (d->strangers_refused > 0)
                print_count("connections of other users refused", true, d->strangers_refused, "\n");
        if (d->forbidden_requests > 0)
                print_count("requests forbidden by their key's role", true, d->forbidden_requests, "\n");
}

static void print_daemon(const Hw__DaemonState *d)
{
        (void)printf("heapwatchd %s", SAFE_TEXT(256, d->version ? d->version : UNKNOWN));
        if (d->has_pid)
                (void)printf("  pid %u", d->pid);
        if (d->has_started_wall_ns)
                (void)printf("  since %s", TIME_TEXT(d->started_wall_ns));
        if (d->has_rss_bytes)
                (void)printf("  rss %s", BYTES_TEXT(d->rss_bytes));
        if (d->has_memory_budget_bytes)
                (void)printf(" of %s", BYTES_TEXT(d->memory_budget_bytes));
        print_count("\nrequests", d->has_requests, d->requests, "");
        print_count("  refused", d->has_bad_requests, d->bad_requests, "");
        if (d->has_paced_requests)
                print_count("  delayed", true, d->paced_requests, " (a client sent more at once than it may)");
        (void)putchar('\n');
        if (d->memory_pressure)
                (void)printf("short of memory: %s\n", SAFE_TEXT(256, d->memory_pressure));
        if (d->checkpoint_failure)
                (void)printf(
                        "checkpoints cannot be written since %s: %s; state since then would not outlive a restart\n",
                        TIME_TEXT(d->checkpoint_failure_wall_ns), SAFE_TEXT(256, d->checkpoint_failure));
        if (d->before && d->before->text) {
                (void)printf("the daemon before this one %s", SAFE_TEXT(256, d->before->text));
                if (d->has_started_wall_ns)
                        (void)printf("; this one was started at %s", TIME_TEXT(d->started_wall_ns));
                if (d->before->in_a_row > 1)
                        (void)printf("; %u in a row lived for less than a minute", d->before->in_a_row);
                (void)putchar('\n');
        }
        if (d->longest_turn) { /* during which nobody else is read or answered */
                (void)printf("longest turn");
                print_turn("since the start", d->longest_turn);
                print_turn("lately", d->recent_turn);
                (void)putchar('\n');
        }
        if (d->has_subscribers_disconnected)
                print_count("subscribers disconnected", true, d->subscribers_disconnected, "\n");
        if (d->has_connections_refused && d->connections_refused > 0) {
                print_count("connections refused", true, d->connections_refused, "");
                if (d->has_descriptors_limit)
                        print_count("; it may open only", true, d->descriptors_limit, " descriptors; its log says why");
                (void)putchar('\n');
        }
        print_connections(d);
        if (d->has_actions_done) {
                print_count("actions done", true, d->actions_done, "");
                if (d->has_actions_failed)
                        print_count("  failed", true, d->actions_failed, "");
                if (d->has_actions_dropped)
                        print_count("  dropped", true, d->actions_dropped, "");
                (void)putchar('\n');
        }
        if (d->notifier)
                print_notifier(d->notifier);
}

static void print_target(struct print_state *p, const Hw__Update *u)
{
        const Hw__Target *t = u->target_state;
        char name[512], uri[4096], detail[1024], run[16] = UNKNOWN;

        if (!p->headed)
                (void)printf("%-20s  %-9s  %4s  %s\n", "TARGET", "STATE", "RUN", "SOURCE");
        p->headed = true;
        if (u->has_run)
                (void)snprintf(run, sizeof(run), "%u", u->run);
        (void)printf("%-20s  %-9s  %4s  %s", safe_text(name, sizeof(name), u->target ? u->target : UNKNOWN),
                     state_name(t), run, safe_text(uri, sizeof(uri), t->uri ? t->uri : UNKNOWN));
        if (t->detail && *t->detail)
                (void)printf("  (%s)", safe_text(detail, sizeof(detail), t->detail));
        for (size_t i = 0; i < t->n_labels; i++)
                (void)printf("  %s", safe_text(detail, sizeof(detail), t->labels[i]));
        (void)putchar('\n');
}

/* What is recorded of a target, and what is not; quiet where there is no recorder. */
static void print_recording(const Hw__Update *u)
{
        const Hw__Recording *r = u->health->recording;

        if (!r || (!r->active && !r->paused && !r->lost_bytes))
                return;
        (void)printf("%-20s  recorded %s", "", BYTES_TEXT(r->bytes - r->lost_bytes));
        if (r->lost_bytes)
                (void)printf("  not recorded %s", BYTES_TEXT(r->lost_bytes));
        if (r->paused)
                (void)printf("  paused: %s", SAFE_TEXT(512, r->detail));
        (void)putchar('\n');
}

/* By name; of one target its state first. */
static int compare_updates(const void *left, const void *right)
{
        const Hw__Update *a = *(Hw__Update *const *)left, *b = *(Hw__Update *const *)right;
        const int order = name_order(a->target ? a->target : "", b->target ? b->target : "", false);

        return order ? order : (a->body_case > b->body_case) - (a->body_case < b->body_case);
}

static void print_status(struct print_state *p, const Hw__Status *s)
{
        bool is_told = p->targets_only;

        if (!p->targets_only && s->daemon)
                print_daemon(s->daemon);
        for (size_t i = 0; !p->targets_only && i < s->n_publish_endpoints; i++)
                (void)printf("publishes at %s\n", SAFE_TEXT(1024, s->publish_endpoints[i]));
        for (size_t i = 0; i < s->n_targets && !is_told; i++) { /* of all recordings; each target's health has it */
                const Hw__Update *u = s->targets[i];
                if (u->body_case != HW__UPDATE__BODY_HEALTH || !u->health->recording)
                        continue;
                (void)printf("recordings %s on disk\n", BYTES_TEXT(u->health->recording->disk_bytes));
                is_told = true;
        }
        ARRAY_SORT(s->targets, s->n_targets, compare_updates);
        for (size_t i = 0; i < s->n_targets; i++) {
                if (s->targets[i]->body_case == HW__UPDATE__BODY_TARGET_STATE)
                        print_target(p, s->targets[i]);
                else if (!p->targets_only && s->targets[i]->body_case == HW__UPDATE__BODY_HEALTH)
                        print_recording(s->targets[i]);
        }
        if (!p->headed && !s->n_targets)
                (void)printf("no targets\n");
}

static void print_number(bool known, double value)
{
        char text[DECIMAL_MAX];

        (void)printf("  %14s", known ? decimal_short(text, value) : UNKNOWN);
}

static void print_history(struct print_state *p, const Hw__History *h)
{
        const char *unit = h->has_series ? hw_series_unit(h->series) : "B";

        if (!p->headed) {
                (void)printf("%14s  %9s  %8s  %14s  %14s  %14s  %14s   (values in %s)\n", "TIME_S", "WIDTH_S", "COUNT",
                             "MIN", "MEAN", "MAX", "LAST", *unit ? unit : "1");
                if (!h->n_points)
                        fputs("heapwatch ctl: nothing was measured in that part of the run\n", stderr);
        }
        p->headed = true;
        for (size_t i = 0; i < h->n_points; i++) {
                const Hw__Point *x = h->points[i];

                (void)printf("%14.3f  %9.3f  %8" PRIu64, (double)x->time_ns / 1e9, (double)x->width_ns / 1e9, x->count);
                print_number(x->has_min, x->min);
                print_number(x->has_mean, x->mean);
                print_number(x->has_max, x->max);
                print_number(x->has_last, x->last);
                (void)putchar('\n');
        }
}

void print_reply(void *ctx, const Hw__Reply *reply)
{
        const Hw__Done *done = reply->what_case == HW__REPLY__WHAT_DONE ? reply->done : NULL;
        struct print_state *p = ctx;

        if (reply->error) {
                p->refused = true;
                (void)safe_text(p->refusal, sizeof(p->refusal), reply->error);
        }
        if (p->json) {
                struct json_out j = { .to = stdout };

                json_message(&j, &reply->base, false);
                json_newline(&j);
        } else if (reply->what_case == HW__REPLY__WHAT_STATUS)
                print_status(p, reply->status);
        else if (reply->what_case == HW__REPLY__WHAT_HISTORY)
                print_history(p, reply->history);
        else if (reply->what_case == HW__REPLY__WHAT_SILENCES)
                silence_print(reply->silences);
        else if (reply->what_case == HW__REPLY__WHAT_RELOADED)
                (void)printf("%u rules are in force\n", reply->reloaded->rules);
        else if (done) {
                (void)printf("%s: done", SAFE_TEXT(256, done->target));
                if (done->run_before && *done->run_before)
                        (void)printf("; the run that had this name is %s", SAFE_TEXT(256, done->run_before));
                (void)putchar('\n');
        }
}

void print_agent(const char *said, bool json)
{
        struct json_out j = { .to = stdout };

        if (!json) {
                (void)puts(SAFE_TEXT(1400, *said ? said : "done"));
                return;
        }
        json_open(&j, '{');
        json_member_text(&j, "agent", said);
        json_close(&j, '}');
        (void)putchar('\n');
}

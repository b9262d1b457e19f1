/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a plain connect(2) to the ipc socket first finds out whether somebody
 * listens: ZeroMQ alone would wait its whole timeout for nothing.
 */
#include "client/launch/run/daemon.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/world/state/world.h"
#include "heapwatch/requester.h"
#include "client/cli/absent.h"
#include "client/cli/options.h"
#include "client/launch/program/own_daemon.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/private_directory.h"
#include "proto/base/process_stat.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"

#define WAIT_MS       2000
#define START_STEP_MS 20
#define NAMES_MAX     100 /* NAME-2 ... NAME-100 */

/* --------------------------------------------------------------- directory */

bool daemon_link_init(struct daemon_link *link, struct error *error)
{
        struct error reason;

        if (hw_default_directory(link->directory, sizeof(link->directory)) < 0 ||
            hw_default_endpoints(link->publish, link->request, sizeof(link->publish)) < 0) {
                return error_set(error,
                                 "the path of the daemon's directory is too long; set HEAPWATCH_DIR to a "
                                 "shorter one");
        }
        link->wait_ms = WAIT_MS;
        int fd = private_directory_open(link->directory, false, &reason);
        if (fd < 0)
                return error_set(error, "%s; HEAPWATCH_DIR can name another directory, which only you can enter",
                                 reason.text);
        (void)close(fd);
        return !absent_for_good(link->publish, error);
}

/* ------------------------------------------------------------- find, start */

/* The path of the socket for requests; NULL: it is another kind. */
static const char *request_path(const struct daemon_link *link)
{
        static const char scheme[] = "ipc://";

        return strncmp(link->request, scheme, sizeof(scheme) - 1) == 0 ? link->request + sizeof(scheme) - 1 : NULL;
}

uint64_t daemon_started_ns(const struct daemon_link *link)
{
        const char *path = request_path(link);
        struct stat st;

        return path && stat(path, &st) == 0 ? (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec : 0;
}

bool daemon_reachable(const struct daemon_link *link)
{
        const char *path = request_path(link);
        int fd = path ? unix_connect(path) : -1;
        const bool reachable = fd >= 0;

        close_fd(&fd);
        return reachable;
}

/* Sends a request, unless it is NULL, and frees it. Returns what hw_request does. */
static int send_request(const struct daemon_link *link, Hw__Request *request,
                        void (*each)(void *ctx, const Hw__Reply *reply), void *ctx)
{
        int r = request ? hw_request(link->publish, request, link->wait_ms, each, ctx) : -ENOMEM;

        hw_request_destroy(&request);
        return r;
}

static pid_t process_of(const Hw__Target *t)
{
        const Hw__Run *run = t->run_info;

        /* the process of a run that was set aside may go on, as that of another */
        return run && run->has_pid && run->local && !run_has_ended(t) && !t->kept ? (pid_t)run->pid : 0;
}

struct search {
        const char *name, *uri_end;  /* either may be NULL */
        bool kept;                   /* by uri_end, those that are kept as ended ones, too, where there is no other */
        bool answered;               /* the daemon did */
        bool taken;                  /* there is a target of that name which is not kept as an ended one, */
        bool over;                   /* but its program has ended: maybe the daemon sets it aside */
        pid_t process;               /* of its run, if that runs on the daemon's machine; 0 */
        struct daemon_target *found; /* by uri_end */
};

static void match_target(struct search *q, const Hw__Update *u)
{
        if (!u->target || u->body_case != HW__UPDATE__BODY_TARGET_STATE || (u->target_state->kept && !q->kept))
                return;
        const char *uri = u->target_state->uri;
        if (q->name && !strcmp(u->target, q->name)) {
                q->taken = true;
                q->over = run_has_ended(u->target_state);
                q->process = process_of(u->target_state);
        }
        if (u->target_state->kept && q->found->name[0])
                return; /* a run before, which has the same uri */
        if (q->uri_end && uri && (!strcmp(uri, q->uri_end) || text_has_suffix(uri, q->uri_end)) &&
            strlen(uri) < sizeof(q->found->uri)) {
                snprintf(q->found->name, sizeof(q->found->name), "%s", u->target);
                snprintf(q->found->uri, sizeof(q->found->uri), "%s", uri);
                q->found->has_run = u->has_run;
        }
}

static void on_status(void *ctx, const Hw__Reply *reply)
{
        struct search *q = ctx;

        q->answered |= reply->what_case == HW__REPLY__WHAT_STATUS;
        for (size_t i = 0; reply->what_case == HW__REPLY__WHAT_STATUS && i < reply->status->n_targets; i++)
                match_target(q, reply->status->targets[i]);
}

static int search_daemon(const struct daemon_link *link, struct search *q)
{
        return send_request(link, hw_request_new(HW__REQUEST__WHAT_STATUS), on_status, q);
}

/* error_set() for one that may answer later. */
#define SILENT(...) (error_set(__VA_ARGS__), DAEMON_SILENT)

static bool is_answering(const struct daemon_link *link)
{
        struct search q = { .name = NULL };

        return search_daemon(link, &q) == 0 && q.answered;
}

enum daemon_outcome daemon_ensure(const struct daemon_link *link, int start_ms, char ret_started[OWN_DAEMON_TEXT],
                                  struct error *error)
{
        struct own_daemon started = { .text = "" };
        int waited = 0;

        ret_started[0] = '\0';
        /* Another command may have started it just now. */
        while (!daemon_reachable(link) && waited < start_ms / 2 && own_daemon_is_alive(link->publish)) {
                (void)poll(NULL, 0, START_STEP_MS);
                waited += START_STEP_MS;
        }
        if (daemon_reachable(link)) {
                if (is_answering(link))
                        return DAEMON_OK;
                return SILENT(error, "a daemon listens on %s but does not answer", link->request);
        }
        if (!own_daemon_start(link->publish, link->directory, !link->no_record, &started, error))
                return DAEMON_REFUSES;
        memcpy(ret_started, started.text, OWN_DAEMON_TEXT);
        for (; waited < start_ms; waited += START_STEP_MS) {
                if (daemon_reachable(link) && is_answering(link))
                        return DAEMON_OK;
                (void)poll(NULL, 0, START_STEP_MS);
        }
        return SILENT(error, "heapwatchd did not start within %d s; its messages are in %.900s", start_ms / 1000,
                      started.log);
}

/* ----------------------------------------------------------------- targets */

void daemon_name_of(const char *path, char name[DAEMON_NAME_MAX])
{
        const char *slash = strrchr(path, '/');

        snprintf(name, DAEMON_NAME_MAX, "%.60s", slash != NULL ? slash + 1 : path);
        for (char *p = name; *p != '\0'; p++)
                if (!(((*p | 32) >= 'a' && (*p | 32) <= 'z') || (*p >= '0' && *p <= '9') || *p == '_' || *p == '-' ||
                      *p == '.'))
                        *p = '-';
        if (name[0] == '.' || name[0] == '-')
                name[0] = '_';
}

void daemon_name_of_process(pid_t pid, char ret_name[DAEMON_NAME_MAX])
{
        char file[NAME_MAX + 1];

        daemon_name_of(process_program_name(pid, file, sizeof(file)) ? file : "child", ret_name);
}

struct added {
        bool done;
        char name[DAEMON_NAME_MAX];
        struct error error;
};

static void on_added(void *ctx, const Hw__Reply *reply)
{
        struct added *a = ctx;

        if (reply->error != NULL)
                error_set(&a->error, "%s", reply->error);
        if (reply->what_case != HW__REPLY__WHAT_DONE)
                return;
        a->done = true;
        if (reply->done->target != NULL)
                snprintf(a->name, sizeof(a->name), "%s", reply->done->target);
}

static Hw__Request *add_request(const char *name, const char *uri, const struct daemon_wish *wish)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_ADD_TARGET);
        Hw__AddTargetRequest *add = r ? r->add_target : NULL;
        const char *reason = wish->process_only_reason;
        bool good = r && hw_request_set_text(&add->name, name) >= 0 && hw_request_set_text(&add->uri, uri) >= 0;

        for (size_t i = 0; good && wish->labels && i < wish->labels->n; i++)
                good = hw_request_add_label(add, wish->labels->items[i]) >= 0;
        if (!good || (reason && reason[0] && hw_request_set_text(&add->process_only_reason, reason) < 0)) {
                hw_request_destroy(&r);
                return NULL;
        }
        add->has_resolution_ns = wish->resolution_ns != 0;
        add->resolution_ns = wish->resolution_ns;
        add->has_one_run = add->one_run = true;
        add->has_no_record = add->no_record = wish->no_record;
        return r;
}

bool daemon_has(const struct daemon_link *link, const char *name)
{
        struct search q = { .name = name };

        return daemon_reachable(link) && search_daemon(link, &q) == 0 && q.taken;
}

pid_t daemon_process_of(const struct daemon_link *link, const char *name)
{
        struct search q = { .name = name };

        return daemon_reachable(link) && search_daemon(link, &q) == 0 ? q.process : 0;
}

struct each_process {
        void (*each)(void *ctx, const char *name, pid_t pid);
        void *ctx;
};

static void on_status_of_all(void *ctx, const Hw__Reply *reply)
{
        const struct each_process *e = ctx;

        for (size_t i = 0; reply->what_case == HW__REPLY__WHAT_STATUS && i < reply->status->n_targets; i++) {
                const Hw__Update *u = reply->status->targets[i];
                const pid_t pid = u->body_case == HW__UPDATE__BODY_TARGET_STATE ? process_of(u->target_state) : 0;
                if (pid && u->target)
                        e->each(e->ctx, u->target, pid);
        }
}

bool daemon_each_process(const struct daemon_link *link, void (*each)(void *ctx, const char *name, pid_t pid),
                         void *ctx)
{
        struct each_process e = { each, ctx };

        return send_request(link, hw_request_new(HW__REQUEST__WHAT_STATUS), on_status_of_all, &e) == 0;
}

bool daemon_find(const struct daemon_link *link, const char *uri_end, struct daemon_target *ret)
{
        *ret = (struct daemon_target){ .has_run = false };
        return daemon_reachable(link) && search_daemon(link, &(struct search){ .uri_end = uri_end, .found = ret }) == 0;
}

/* An addition whose answer did not come in time may have been made all the same: so nothing is added without asking. */
enum daemon_outcome daemon_add(const struct daemon_link *link, const char *name, bool exact, const char *uri,
                               const struct daemon_wish *wish, char ret_name[DAEMON_NAME_MAX], struct error *error)
{
        char candidate[DAEMON_NAME_MAX];
        struct added a = { .done = false };
        struct daemon_target there = { .has_run = false };
        bool again = true;
        int r = 0;

        snprintf(candidate, sizeof(candidate), "%s", name);
        for (int i = 2; again && i <= NAMES_MAX + 1; i++) {
                struct search q = { .name = candidate, .uri_end = uri, .found = &there };

                if ((r = search_daemon(link, &q)) < 0 || there.name[0])
                        break;
                if (exact || !q.taken || q.over) {
                        a = (struct added){ .done = false };
                        snprintf(a.name, sizeof(a.name), "%s", candidate);
                        r = send_request(link, add_request(candidate, uri, wish), on_added, &a);
                        again = r == 0 && !a.done && !exact && daemon_has(link, candidate); /* by somebody, meanwhile */
                }
                if (again)
                        snprintf(candidate, sizeof(candidate), "%.58s-%d", name, i);
        }
        if (a.done || there.name[0]) {
                memcpy(ret_name, a.done ? a.name : there.name, DAEMON_NAME_MAX);
                return DAEMON_OK;
        }
        if (r < 0)
                return SILENT(error, "the daemon does not answer (%s)", strerror(-r));
        error_set(error, "the daemon refuses the target %s: %s", candidate,
                  a.error.text[0] ? a.error.text : "all names like this are taken");
        return DAEMON_REFUSES;
}

static void on_done(void *ctx, const Hw__Reply *reply)
{
}

bool daemon_end(const struct daemon_link *link, const char *uri, pid_t pid, int wait_status, bool out_of_cpu,
                char name[DAEMON_NAME_MAX])
{
        struct daemon_target there = { .has_run = false };
        /* A daemon that saw the process gone may have kept its target as crashed before we could tell. */
        struct search q = { .uri_end = uri, .kept = true, .found = &there };
        const bool known = daemon_reachable(link) && search_daemon(link, &q) == 0;
        Hw__Request *r = known && there.name[0] ? hw_request_new(HW__REQUEST__WHAT_END_TARGET) : NULL;
        Hw__EndTargetRequest *end = r ? r->end_target : NULL;

        if (!r)
                return known && !there.name[0];
        memcpy(name, there.name, sizeof(there.name));
        end->has_pid = 1;
        end->pid = (uint32_t)pid;
        end->has_out_of_cpu = end->out_of_cpu = out_of_cpu;
        end->has_exit_signal = WIFSIGNALED(wait_status);
        end->has_exit_status = !end->has_exit_signal;
        if (end->has_exit_signal)
                end->exit_signal = (uint32_t)WTERMSIG(wait_status);
        else
                end->exit_status = (uint32_t)WEXITSTATUS(wait_status);
        if (hw_request_set_text(&end->name, there.name) < 0)
                hw_request_destroy(&r);
        return send_request(link, r, on_done, NULL) == 0;
}

bool daemon_remove(const struct daemon_link *link, const char *name)
{
        Hw__Request *r = daemon_reachable(link) ? hw_request_new(HW__REQUEST__WHAT_REMOVE_TARGET) : NULL;

        if (!r)
                return false;
        /* It may be gone already, with its daemon, which is fine. */
        if (hw_request_set_text(&r->remove_target->name, name) < 0)
                hw_request_destroy(&r);
        return send_request(link, r, on_done, NULL) == 0;
}

/* --------------------------------------------------------- facts about a run */

static void on_snapshot(void *ctx, const Hw__Reply *reply)
{
        if (reply->what_case == HW__REPLY__WHAT_UPDATE)
                (void)world_apply(ctx, 0, reply->update); /* when out of memory, that part is unknown */
}

bool daemon_read_target(const struct daemon_link *link, const char *name, const char *uri, struct world **world)
{
        static const Hw__Kind kinds[] = {
                HW__KIND__KIND_TARGET, HW__KIND__KIND_HEAP,   HW__KIND__KIND_GC,    HW__KIND__KIND_CENSUS,
                HW__KIND__KIND_BAND,   HW__KIND__KIND_HEALTH, HW__KIND__KIND_TREND,
        };
        struct world *now = daemon_reachable(link) ? world_new(NULL) : NULL;
        Hw__Request *r = now ? hw_request_new(HW__REQUEST__WHAT_SNAPSHOT) : NULL;
        bool good = r && hw_request_add_target(r->snapshot, name) == 0;

        for (size_t i = 0; good && i < ARRAY_SIZE(kinds); i++)
                good = hw_request_add_kind(r->snapshot, kinds[i]) == 0;
        if (!good)
                hw_request_destroy(&r);
        good = good && send_request(link, r, on_snapshot, now) == 0;
        const struct world_target *t = good ? world_find(now, name) : NULL;
        const bool found = t && t->target && t->target->uri && !strcmp(t->target->uri, uri);
        if (found) {
                world_destroy(world);
                *world = now;
        } else {
                world_destroy(&now);
        }
        return found;
}

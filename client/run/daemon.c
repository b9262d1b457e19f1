/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the daemon belongs to the user and not to this command: it is
 * started detached (own session, so that the terminal's signals and its end do
 * not reach it; forked twice, so that nobody has to wait for it) and stays when
 * `run` ends, for the next one.
 *
 * Whether somebody listens is asked with a plain connect(2) on the ipc socket
 * first: ZeroMQ alone would wait its whole timeout for nobody.
 */
#include "client/run/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/process.h"
#include "heapwatch/requester.h"
#include "client/cli/absent.h"
#include "client/feed/find_daemon.h"
#include "client/program/inquire.h"
#include "heapwatch/text.h"

#define REQUEST_MS    2000
#define START_MS      8000 /* for a new daemon to answer */
#define START_STEP_MS 20
#define NAMES_MAX     100 /* NAME-2 ... NAME-100 */

/* --------------------------------------------------------------- directory */

static bool own_directory(const char *path, char *error, size_t error_size)
{
        struct stat st;

        if (mkdir(path, 0700) < 0 && errno != EEXIST) {
                snprintf(error, error_size, "cannot make the directory %s: %s", path, strerror(errno));
                return false;
        }
        if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
                snprintf(error, error_size,
                         "%s must be a directory that belongs to you and that nobody else can "
                         "write to; set HEAPWATCH_DIR to another",
                         path);
                return false;
        }
        return true;
}

bool daemon_link_init(struct daemon_link *link, char *error, size_t error_size)
{
        if (hw_default_directory(link->directory, sizeof(link->directory)) < 0 ||
            hw_default_endpoints(link->publish, link->request, sizeof(link->publish)) < 0) {
                snprintf(error, error_size,
                         "the path of the daemon's directory is too long; set HEAPWATCH_DIR to a "
                         "shorter one");
                return false;
        }
        return own_directory(link->directory, error, error_size) && !absent_for_good(link->publish, error, error_size);
}

/* ------------------------------------------------------------- find, start */

bool daemon_reachable(const struct daemon_link *link)
{
        static const char scheme[] = "ipc://";
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        const char *path = link->request + sizeof(scheme) - 1;

        if (strncmp(link->request, scheme, sizeof(scheme) - 1) != 0 || strlen(path) >= sizeof(address.sun_path))
                return false;
        memcpy(address.sun_path, path, strlen(path) + 1);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return false;
        bool yes = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
        (void)close(fd);
        return yes;
}

static void hear_status(void *ctx, const Hw__Reply *reply)
{
        if (reply->what_case == HW__REPLY__WHAT_STATUS)
                *(bool *)ctx = true;
}

static bool answers(const struct daemon_link *link)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;
        bool yes = false;

        request.what_case = HW__REQUEST__WHAT_STATUS;
        request.status = &status;
        return hw_request(link->publish, &request, REQUEST_MS, hear_status, &yes) == 0 && yes;
}

/* heapwatchd beside this very program, else in PATH. */
static bool find_program(char *path, size_t size)
{
        find_daemon(path, size);
        return strchr(path, '/') != NULL || inquire_find("heapwatchd", path, size);
}

/* In the grandchild: becomes the daemon. */
static _Noreturn void become_daemon(const char *program, int null, int log)
{
        char *argv[] = { (char *)(size_t)program, NULL };
        sigset_t none;

        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        if (dup2(null, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0)
                execv(program, argv);
        _exit(127);
}

static bool start(const struct daemon_link *link, char *error, size_t error_size)
{
        char program[1024], log_path[300];
        int null = -1, log = -1;
        pid_t pid;

        if (!find_program(program, sizeof(program))) {
                snprintf(error, error_size, "no daemon answers and heapwatchd is not beside this program or in PATH");
                return false;
        }
        snprintf(log_path, sizeof(log_path), "%s/daemon.log", link->directory);
        null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        pid = null >= 0 && log >= 0 ? fork() : -1;
        if (pid == 0) {
                if (setsid() < 0 || (pid = fork()) < 0)
                        _exit(126);
                if (pid > 0)
                        _exit(0);
                become_daemon(program, null, log);
        }
        if (pid < 0)
                snprintf(error, error_size, "cannot start %s: %s", program, strerror(errno));
        else
                while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        if (null >= 0)
                (void)close(null);
        if (log >= 0)
                (void)close(log);
        return pid > 0;
}

bool daemon_ensure(const struct daemon_link *link, bool *ret_started, char *error, size_t error_size)
{
        *ret_started = false;
        if (daemon_reachable(link)) {
                if (answers(link))
                        return true;
                snprintf(error, error_size, "a daemon holds %s but does not answer", link->request);
                return false;
        }
        if (!start(link, error, error_size))
                return false;
        *ret_started = true;
        for (int waited = 0; waited < START_MS; waited += START_STEP_MS) {
                if (daemon_reachable(link) && answers(link))
                        return true;
                (void)poll(NULL, 0, START_STEP_MS);
        }
        snprintf(error, error_size, "heapwatchd did not come up within %d s; its messages are in %s/daemon.log",
                 START_MS / 1000, link->directory);
        return false;
}

/* ----------------------------------------------------------------- targets */

struct added {
        bool done;
        char name[DAEMON_NAME_MAX];
        char error[256];
};

static void hear_added(void *ctx, const Hw__Reply *reply)
{
        struct added *a = ctx;

        if (reply->error != NULL)
                snprintf(a->error, sizeof(a->error), "%s", reply->error);
        if (reply->what_case != HW__REPLY__WHAT_DONE)
                return;
        a->done = true;
        if (reply->done->target != NULL)
                snprintf(a->name, sizeof(a->name), "%s", reply->done->target);
}

static int add_once(const struct daemon_link *link, const char *name, const char *uri, uint64_t resolution_ns,
                    struct added *ret)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__AddTargetRequest add = HW__ADD_TARGET_REQUEST__INIT;

        *ret = (struct added){ .done = false };
        snprintf(ret->name, sizeof(ret->name), "%s", name);
        add.name = (char *)(size_t)name;
        add.uri = (char *)(size_t)uri;
        add.has_resolution_ns = resolution_ns != 0;
        add.resolution_ns = resolution_ns;
        add.has_one_run = add.one_run = true;
        request.what_case = HW__REQUEST__WHAT_ADD_TARGET;
        request.add_target = &add;
        return hw_request(link->publish, &request, REQUEST_MS, hear_added, ret);
}

struct taken {
        const char *name;
        bool yes;
};

/* The state of a target of that name which has not ended for good. */
static bool holds(const Hw__Update *u, const char *name)
{
        return u->target != NULL && !strcmp(u->target, name) && u->body_case == HW__UPDATE__BODY_TARGET_STATE &&
               !u->target_state->kept;
}

static void hear_taken(void *ctx, const Hw__Reply *reply)
{
        struct taken *t = ctx;

        if (reply->what_case != HW__REPLY__WHAT_STATUS)
                return;
        for (size_t i = 0; i < reply->status->n_targets; i++)
                t->yes |= holds(reply->status->targets[i], t->name);
}

static bool is_taken(const struct daemon_link *link, const char *name)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;
        struct taken t = { name, false };

        request.what_case = HW__REQUEST__WHAT_STATUS;
        request.status = &status;
        return hw_request(link->publish, &request, REQUEST_MS, hear_taken, &t) == 0 && t.yes;
}

bool daemon_add(const struct daemon_link *link, const char *name, bool exact, const char *uri, uint64_t resolution_ns,
                char ret_name[DAEMON_NAME_MAX], char *error, size_t error_size)
{
        char candidate[DAEMON_NAME_MAX];
        struct added a;

        snprintf(candidate, sizeof(candidate), "%s", name);
        for (int i = 2; !exact && i <= NAMES_MAX && is_taken(link, candidate); i++)
                snprintf(candidate, sizeof(candidate), "%.58s-%d", name, i);
        int r = add_once(link, candidate, uri, resolution_ns, &a);
        if (r == 0 && a.done) {
                memcpy(ret_name, a.name, sizeof(a.name));
                return true;
        }
        if (a.error[0] != '\0')
                snprintf(error, error_size, "the daemon does not take the target %s: %s", candidate, a.error);
        else
                snprintf(error, error_size, "the daemon does not answer (%s)", r < 0 ? strerror(-r) : "no reply");
        return false;
}

static void hear_nothing(void *ctx, const Hw__Reply *reply)
{
        (void)ctx;
        (void)reply;
}

void daemon_end(const struct daemon_link *link, const char *name, int wait_status)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__EndTargetRequest end = HW__END_TARGET_REQUEST__INIT;

        if (!daemon_reachable(link))
                return;
        end.name = (char *)(size_t)name;
        end.has_exit_signal = WIFSIGNALED(wait_status);
        end.has_exit_status = !end.has_exit_signal;
        if (end.has_exit_signal)
                end.exit_signal = (uint32_t)WTERMSIG(wait_status);
        else
                end.exit_status = (uint32_t)WEXITSTATUS(wait_status);
        request.what_case = HW__REQUEST__WHAT_END_TARGET;
        request.end_target = &end;
        /* Without an answer the daemon sees the end of the log, and knows that much. */
        (void)hw_request(link->publish, &request, REQUEST_MS, hear_nothing, NULL);
}

void daemon_remove(const struct daemon_link *link, const char *name)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__RemoveTargetRequest remove_target = HW__REMOVE_TARGET_REQUEST__INIT;

        if (!daemon_reachable(link))
                return;
        remove_target.name = (char *)(size_t)name;
        request.what_case = HW__REQUEST__WHAT_REMOVE_TARGET;
        request.remove_target = &remove_target;
        /* It may be gone already, with its daemon: then all is as wanted. */
        (void)hw_request(link->publish, &request, REQUEST_MS, hear_nothing, NULL);
}

/* -------------------------------------------------------------- what it saw */

static void saw_census(struct daemon_saw *saw, const Hw__Census *census)
{
        saw->censuses = census->has_number ? census->number : UNKNOWN_U64;
        saw->top_band_bytes = 0;
        for (size_t i = 0; i < census->n_band && i < census->n_bytes; i++) {
                if (census->bytes[i] <= saw->top_band_bytes)
                        continue;
                saw->top_band_bytes = census->bytes[i];
                saw->top_band_id = census->band[i];
        }
}

static void saw_heap(struct daemon_saw *saw, const Hw__Heap *heap)
{
        saw->live_bytes = heap->has_live_bytes ? heap->live_bytes : UNKNOWN_U64;
        saw->max_live_bytes = heap->has_max_live_bytes ? heap->max_live_bytes : UNKNOWN_U64;
        saw->heap_size_bytes = heap->has_heap_size_bytes ? heap->heap_size_bytes : UNKNOWN_U64;
        if (heap->process != NULL && heap->process->has_rss_bytes)
                saw->rss_bytes = heap->process->rss_bytes;
}

static void saw_state(struct daemon_saw *saw, const Hw__Target *target)
{
        saw->target = true;
        saw->crashed = target->state == HW__TARGET__STATE__STATE_CRASHED;
        saw->ended = saw->crashed || target->state == HW__TARGET__STATE__STATE_ENDED;
}

static const char *text_of(const Hw__Note *note)
{
        return note != NULL && note->text != NULL && note->text[0] != '\0' ? note->text : NULL;
}

/* The verdict on live data: the sentence it came with, when growth began, and what the program said around then. */
static void saw_verdict(struct daemon_saw *saw, const Hw__Trend *t)
{
        const char *before = text_of(t->note_before), *after = text_of(t->note_after);
        char began[HW_NUMBER_MAX], onset[64 + HW_NUMBER_MAX] = "";

        if (t->has_onset_ns)
                snprintf(onset, sizeof(onset), "; growth began %s into the run",
                         hw_duration_text(began, sizeof(began), (double)t->onset_ns));
        snprintf(saw->verdict, sizeof(saw->verdict), "%s%s%s%s%s%s%s%s", t->sentence, onset, before ? ", after \"" : "",
                 before ? before : "", before ? "\"" : "", after ? ", before \"" : "", after ? after : "",
                 after ? "\"" : "");
}

static void saw_trends(struct daemon_saw *saw, const Hw__Trends *trends)
{
        for (size_t i = 0; i < trends->n_trends; i++)
                if (trends->trends[i]->has_series && trends->trends[i]->series == HW__SERIES__SERIES_LIVE &&
                    trends->trends[i]->sentence != NULL)
                        saw_verdict(saw, trends->trends[i]);
}

static void saw_gc(struct daemon_saw *saw, const Hw__Gc *gc)
{
        saw->collections = 0;
        for (size_t i = 0; i < gc->n_generations; i++)
                saw->collections += gc->generations[i]->count;
}

static void saw_bands(struct daemon_saw *saw, const Hw__Bands *bands)
{
        for (size_t i = 0; i < bands->n_bands; i++)
                if (bands->bands[i]->id == saw->top_band_id && bands->bands[i]->label != NULL)
                        snprintf(saw->top_band, sizeof(saw->top_band), "%s", bands->bands[i]->label);
}

static void hear_snapshot(void *ctx, const Hw__Reply *reply)
{
        struct daemon_saw *saw = ctx;

        if (reply->what_case != HW__REPLY__WHAT_UPDATE)
                return;
        const Hw__Update *u = reply->update;
        switch (u->body_case) {
        case HW__UPDATE__BODY_TARGET_STATE:
                saw_state(saw, u->target_state);
                break;
        case HW__UPDATE__BODY_HEAP:
                saw_heap(saw, u->heap);
                break;
        case HW__UPDATE__BODY_GC:
                saw_gc(saw, u->gc);
                break;
        case HW__UPDATE__BODY_CENSUS:
                saw_census(saw, u->census);
                break;
        case HW__UPDATE__BODY_TRENDS:
                saw_trends(saw, u->trends);
                break;
        case HW__UPDATE__BODY_BANDS:
                saw_bands(saw, u->bands);
                break;
        case HW__UPDATE__BODY_HEALTH:
                saw->lost_bytes = u->health->has_lost_bytes ? u->health->lost_bytes : UNKNOWN_U64;
                saw->events = u->health->has_events ? u->health->events : UNKNOWN_U64;
                break;
        default:
                break;
        }
}

static bool ask_kinds(const struct daemon_link *link, const char *name, Hw__Kind *kinds, size_t n,
                      struct daemon_saw *saw)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__SnapshotRequest snapshot = HW__SNAPSHOT_REQUEST__INIT;
        char *names[] = { (char *)(size_t)name };

        snapshot.n_targets = 1;
        snapshot.targets = names;
        snapshot.n_kinds = n;
        snapshot.kinds = kinds;
        request.what_case = HW__REQUEST__WHAT_SNAPSHOT;
        request.snapshot = &snapshot;
        return hw_request(link->publish, &request, REQUEST_MS, hear_snapshot, saw) == 0;
}

bool daemon_ask(const struct daemon_link *link, const char *name, struct daemon_saw *ret_saw)
{
        Hw__Kind state[] = { HW__KIND__KIND_TARGET, HW__KIND__KIND_HEAP,   HW__KIND__KIND_GC,
                             HW__KIND__KIND_CENSUS, HW__KIND__KIND_HEALTH, HW__KIND__KIND_TREND };
        Hw__Kind bands[] = { HW__KIND__KIND_BAND };
        struct daemon_saw saw = { .live_bytes = UNKNOWN_U64,
                                  .max_live_bytes = UNKNOWN_U64,
                                  .heap_size_bytes = UNKNOWN_U64,
                                  .rss_bytes = UNKNOWN_U64,
                                  .censuses = UNKNOWN_U64,
                                  .lost_bytes = UNKNOWN_U64,
                                  .events = UNKNOWN_U64,
                                  .collections = UNKNOWN_U64 };

        if (!daemon_reachable(link) || !ask_kinds(link, name, state, sizeof(state) / sizeof(*state), &saw))
                return false;
        if (saw.top_band_bytes > 0 && !ask_kinds(link, name, bands, 1, &saw))
                return false; /* labels come after the ids: asked second */
        *ret_saw = saw;
        return saw.target;
}

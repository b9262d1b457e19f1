/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - one mutex guards the state below; it is never held while the runtime
 * is called, which may wait as long as a Haskell thread does not yield. `busy`
 * says that the thread is in the runtime; the end of the runtime waits for that.
 * Whatever needs the runtime stopped is a request, including the start after an
 * attach.
 */
#include "agent/pace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/control.h"
#include "agent/meter.h"
#include "agent/runtime.h"
#include "agent/server.h"
#include "agent/synthetic.h"
#include "agent/thread.h"
#include "agent/writer.h"

#define UP_POLL_NS      INT64_C(5000000)    /* while the runtime starts */
#define STUCK_NS        INT64_C(5000000000) /* at the end: a thread of ours that does not return is abandoned */
#define LAST_FLUSH_NS   INT64_C(50000000)
#define UNKNOWN_NS      INT64_C(10000000000) /* from census to census while their cost is not known */
#define CENSUSES_FREE   2                    /* taken before their cost must be known */
#define FIRST_CENSUS_NS INT64_C(200000000)   /* after the profile began */

static struct {
        struct pace_setup setup;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        pthread_t thread;
        bool started, busy, ending, flush_now, due;
        bool waiting;           /* a request waits for the program's own thread */
        struct request request; /* that one, or the one being carried out */
        bool ok;                /* its outcome */
        struct error reason;    /* in words; may be "" */
        bool profile;           /* censuses are requested */
        char letter;            /* of the profile that was set up; 0: none yet */
        uint64_t censuses;      /* requested */
        int64_t next_flush_ns, next_census_ns;
        _Atomic bool child;
} p = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread bool inside; /* against a point within a point: what we call may call our hooks */

/* ------------------------------------------------------------------ requests */

static bool logs(void)
{
        return runtime_kind.log ? runtime_logs() : synthetic_runs();
}

static bool start_profile(char letter)
{
        struct own_options program;
        const char *refused;

        p.setup.look_at_options(&program);
        refused = options_refuse_profile(&program);
        if (refused) {
                error_set(&p.reason, "no heap profile: %s", refused);
                return false;
        }
        if (!runtime_kind.log && letter != 'T') {
                error_set(&p.reason, "without the runtime's eventlog there are bands by closure type only");
                return false;
        }
        if (!runtime_start_profile(letter, p.setup.settings.interval_ns, &p.reason))
                return false;
        if (!runtime_kind.log) {
                FILE *text = synthetic_profile(p.setup.settings.interval_ns), **file = rts.hp_file.address;
                if (text) {
                        if (*file)
                                (void)fclose(*file); /* /dev/null, profile_file.h */
                        *file = text;
                }
        }
        p.letter = letter;
        p.profile = true;
        p.next_census_ns = thread_now_ns() + FIRST_CENSUS_NS;
        return true;
}

static bool start_log(void)
{
        if (logs())
                return true;
        if (!runtime_kind.log)
                synthetic_begin(p.setup.version, runtime_kind.threaded);
        else if (!runtime_start_log(p.setup.settings.classes, &p.reason))
                return false;
        else if (!runtime_kind.recent)
                synthetic_introduce(p.setup.version, runtime_kind.threaded, runtime_elapsed_ns());
        return true;
}

static void stop_profile(void)
{
        p.profile = false;
        if (p.letter)
                runtime_stop_profile();
        p.letter = 0;
}

/* The log goes on without bands, and the reason is given. */
static bool start_all(void)
{
        bool profile = p.setup.settings.heap && !p.letter;

        if (!start_log())
                return false;
        if (profile && !start_profile(p.setup.settings.heap))
                server_say("%s", p.reason.text);
        p.reason.text[0] = '\0';
        return true;
}

static bool stop_all(void)
{
        if (writer_tees()) {
                error_set(&p.reason, "the program asked for this log, too: it cannot be stopped");
                return false;
        }
        stop_profile();
        if (runtime_kind.log)
                runtime_stop_log();
        else
                synthetic_end();
        return true;
}

static bool set_profile(char letter)
{
        if (letter == p.letter)
                return true;
        stop_profile();
        return !letter || start_profile(letter);
}

/* With everything stopped. */
static void do_stopped(void)
{
        p.reason.text[0] = '\0';
        switch (p.request.verb) {
        case REQUEST_START:
                p.ok = start_all();
                break;
        case REQUEST_STOP:
                p.ok = stop_all();
                break;
        case REQUEST_HEAP:
                p.ok = logs() && set_profile(p.request.letter);
                if (!p.ok && !p.reason.text[0])
                        error_set(&p.reason, "there is no log: start one first");
                break;
        case REQUEST_CLASSES:
                p.ok = runtime_kind.log && logs();
                if (p.ok)
                        runtime_set_classes(p.request.text);
                else
                        error_set(&p.reason, "this runtime has no event classes, or no log runs");
                break;
        case REQUEST_STATUS:
        case REQUEST_CENSUS:
        case REQUEST_INTERVAL:
        case REQUEST_FLUSH:
        case REQUEST_BUDGET:
                break; /* these need nothing stopped */
        }
}

static void answer(void)
{
        if (p.request.id > 0 || !p.ok)
                control_reply(&p.request, p.ok, p.reason.text);
}

static int64_t census_interval(void)
{
        struct server_facts f = server_facts();
        int64_t wanted = p.setup.settings.interval_ns;

        if (f.census_pause_ns == 0 && p.censuses > CENSUSES_FREE && wanted < UNKNOWN_NS && p.setup.settings.budget > 0)
                return UNKNOWN_NS;
        return meter_interval(wanted, f.census_pause_ns, p.setup.settings.budget);
}

static void say_status(void)
{
        struct server_facts f = server_facts();

        error_set(
                &p.reason,
                "ghc=%s threaded=%d log=%s classes=%s heap=%c interval=%.3f census_every=%.3f pause_ms=%.3f "
                "budget=%.3f flush=%.3f censuses=%llu taken=%llu readers=%llu left_out=%llu definitions_left_out=%llu",
                p.setup.version[0] ? p.setup.version : "?", runtime_kind.threaded,
                !logs()            ? "off"
                : runtime_kind.log ? "runtime"
                                   : "synthetic",
                p.setup.settings.classes, p.profile ? p.letter : '-', (double)p.setup.settings.interval_ns / 1e9,
                (double)census_interval() / 1e9, (double)f.census_pause_ns / 1e6, p.setup.settings.budget * 100,
                (double)p.setup.settings.flush_ns / 1e9, (unsigned long long)p.censuses,
                (unsigned long long)f.censuses_taken, (unsigned long long)f.readers,
                (unsigned long long)f.left_out_bytes, (unsigned long long)f.definitions_left_out);
}

static void ask_census(void)
{
        p.censuses++;
        runtime_census();
}

/* Those that need nothing stopped. False: it does. */
static bool do_at_once(void)
{
        p.ok = true;
        p.reason.text[0] = '\0';
        switch (p.request.verb) {
        case REQUEST_STATUS:
                say_status();
                return true;
        case REQUEST_CENSUS:
                p.ok = p.profile && logs();
                if (p.ok)
                        ask_census();
                else
                        error_set(&p.reason, "there is no heap profile");
                return true;
        case REQUEST_INTERVAL:
                p.setup.settings.interval_ns = p.request.ns;
                p.next_census_ns = thread_now_ns() + p.request.ns;
                return true;
        case REQUEST_FLUSH:
                p.setup.settings.flush_ns = p.request.ns;
                p.next_flush_ns = thread_now_ns() + p.request.ns;
                return true;
        case REQUEST_BUDGET:
                p.setup.settings.budget = p.request.share;
                return true;
        case REQUEST_START:
        case REQUEST_STOP:
        case REQUEST_HEAP:
        case REQUEST_CLASSES:
                return false;
        }
        return true;
}

/* -------------------------------------------------------------------- thread */

static void flush(void)
{
        if (runtime_kind.log)
                runtime_flush();
        else
                synthetic_flush();
}

/* On the thread, threaded runtime: all calls into it. The lock is not held. */
static void go_in(bool flush_due, bool request)
{
        if (request) {
                if (p.request.verb == REQUEST_STOP)
                        flush();
                runtime_stopped(do_stopped);
        }
        if (flush_due && logs())
                flush();
        if (request)
                answer();
}

/* Takes a request if there is one; the lock is held. Returns whether it needs the runtime stopped. */
static bool take_request(void)
{
        while (!p.waiting && control_next(&p.request)) {
                if (!do_at_once())
                        return true;
                answer();
        }
        return false;
}

static void census_if_due(int64_t now)
{
        if (!p.profile || now < p.next_census_ns || !logs())
                return;
        ask_census();
        p.next_census_ns = now + census_interval();
}

static int64_t next_wakeup(int64_t now)
{
        int64_t at = p.next_flush_ns;

        if (p.profile && p.next_census_ns < at)
                at = p.next_census_ns;
        return at > now ? at - now : 0;
}

static void turn(void)
{
        int64_t now = thread_now_ns();
        bool request = take_request(), flush_due = p.flush_now || now >= p.next_flush_ns;

        census_if_due(now);
        if (flush_due)
                p.next_flush_ns = now + p.setup.settings.flush_ns;
        if (runtime_kind.threaded || (!runtime_kind.log && !request)) {
                if (flush_due || request) {
                        p.busy = true;
                        pthread_mutex_unlock(&p.lock);
                        go_in(flush_due, request);
                        pthread_mutex_lock(&p.lock);
                        p.busy = false;
                }
                p.flush_now = false;
        } else {
                p.due |= flush_due;
                p.waiting |= request;
                if (request && p.profile && logs())
                        ask_census(); /* causes the collection at which the request is carried out */
        }
        pthread_cond_broadcast(&p.changed);
}

/* The first request: begins the heap profile, and after an attach the log. False: there is nothing to begin. */
static bool request_start(void)
{
        if (!p.setup.attached && !p.setup.settings.heap)
                return false;
        p.request = (struct request){ .verb = REQUEST_START };
        return true;
}

/*
 * The runtime's start is over: carries that request out, with everything stopped. Not where it could only be refused:
 * rts_pause of 9.10 hangs with the nonmoving collector, see docs/AGENT.md.
 */
static void begin(void)
{
        struct own_options program;
        const char *refused;

        p.setup.look_at_options(&program);
        refused = p.setup.attached ? NULL : options_refuse_profile(&program);
        p.next_flush_ns = thread_now_ns() + p.setup.settings.flush_ns;
        if (!runtime_kind.threaded || !request_start())
                return;
        if (refused) {
                server_say("no heap profile: %s", refused);
                return;
        }
        p.busy = true;
        pthread_mutex_unlock(&p.lock);
        go_in(false, true);
        pthread_mutex_lock(&p.lock);
        p.busy = false;
        pthread_cond_broadcast(&p.changed);
}

static void wait_for(int64_t ns)
{
        struct timespec until = thread_time_after(ns);

        (void)pthread_cond_timedwait(&p.changed, &p.lock, &until);
}

static void *run(void *unused)
{
        (void)unused;
        pthread_mutex_lock(&p.lock);
        while (!p.ending && !runtime_up())
                wait_for(UP_POLL_NS);
        if (!p.ending && rts_flag(&rts.rts_shutdown, false))
                p.ending = true; /* attached, and too late */
        if (!p.ending)
                begin();
        while (!p.ending) {
                int64_t ns = next_wakeup(thread_now_ns());
                if (ns > 0 && !p.flush_now)
                        wait_for(ns);
                if (!p.ending)
                        turn();
        }
        pthread_mutex_unlock(&p.lock);
        return NULL;
}

/* From the server's thread: there is a request. */
static void wake(void)
{
        pthread_mutex_lock(&p.lock);
        pthread_cond_broadcast(&p.changed);
        pthread_mutex_unlock(&p.lock);
}

int pace_start(const struct pace_setup *setup)
{
        p.setup = *setup;
        p.waiting = !runtime_kind.threaded && request_start();
        thread_condition_init(&p.changed);
        control_on_request(wake);
        int r = thread_start(&p.thread, "heapwatch-pace", run);
        p.started = r == 0;
        return r;
}

/* --------------------------------------------------- the program's own thread */

void pace_point(void)
{
        bool flush_due, request;

        if (runtime_kind.threaded || !p.started || inside || p.child || !runtime_up())
                return;
        pthread_mutex_lock(&p.lock);
        flush_due = p.due && !p.ending;
        request = p.waiting && !p.ending;
        p.due = false;
        pthread_mutex_unlock(&p.lock);
        if (!flush_due && !request)
                return;
        inside = true;
        go_in(flush_due || (request && p.request.verb == REQUEST_STOP), request);
        inside = false;
        if (!request)
                return;
        pthread_mutex_lock(&p.lock);
        p.waiting = false;
        pthread_cond_broadcast(&p.changed);
        pthread_mutex_unlock(&p.lock);
}

int64_t pace_until_due(void)
{
        int64_t ns = INT64_MAX;

        if (!p.started || runtime_kind.threaded || inside || p.child)
                return ns;
        pthread_mutex_lock(&p.lock);
        if (!p.ending)
                ns = p.due || p.waiting ? 0 : p.next_flush_ns - thread_now_ns();
        pthread_mutex_unlock(&p.lock);
        return ns > 0 ? ns : 0;
}

void pace_collection(const void *details)
{
        if (p.child)
                return;
        if (!runtime_kind.log)
                synthetic_collection(details);
        pace_point();
}

/* -------------------------------------------------------------------- the end */

void pace_stop(void)
{
        int64_t give_up = thread_now_ns() + STUCK_NS;
        bool busy;

        if (!p.started || p.child)
                return;
        pthread_mutex_lock(&p.lock);
        p.ending = true;
        pthread_cond_broadcast(&p.changed);
        while (p.busy && thread_now_ns() < give_up)
                wait_for(give_up - thread_now_ns());
        busy = p.busy;
        pthread_mutex_unlock(&p.lock);
        if (!busy)
                (void)pthread_join(p.thread, NULL);
        p.started = false;
}

void pace_last_flush(void)
{
        int64_t give_up = thread_now_ns() + LAST_FLUSH_NS;

        if (!p.started || p.child || !logs())
                return;
        pthread_mutex_lock(&p.lock);
        p.flush_now = true;
        pthread_cond_broadcast(&p.changed);
        while (p.flush_now && runtime_kind.threaded && thread_now_ns() < give_up)
                wait_for(give_up - thread_now_ns());
        p.ending = true;
        pthread_mutex_unlock(&p.lock);
}

void pace_fork_child(void)
{
        p.child = true;
        p.started = false;
        pthread_mutex_init(&p.lock, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - one mutex guards the state below; it is never held while the runtime
 * is called, which may wait as long as a Haskell thread does not yield. `busy`
 * says that the thread is in the runtime; the end of the runtime waits for that.
 * Whatever needs the runtime stopped is a request (requests.c), including the
 * start after an attach. The errand belongs to the program's own thread while
 * `waiting`, else to ours.
 */
#include "agent/pace.h"

#include <pthread.h>
#include <stdatomic.h>

#include "agent/agent.h"
#include "agent/control.h"
#include "agent/logging.h"
#include "agent/runtime.h"
#include "agent/server.h"
#include "agent/synthetic.h"
#include "agent/thread.h"
#include "proto/base/agent_socket.h"

#define UP_POLL_NS      INT64_C(5000000)    /* while the runtime starts */
#define STUCK_NS        INT64_C(5000000000) /* at the end: a thread of ours that does not return is abandoned */
#define LAST_FLUSH_NS   INT64_C(50000000)
#define REPORT_EVERY_NS INT64_C(60000000000) /* that no census is made */

_Atomic unsigned heapwatch_agent_accepts_censuses;

static struct {
        struct pace_setup setup;
        struct timetable timetable;
        struct errand errand;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct thread thread;
        _Atomic bool started; /* on the thread that attach borrows; the program's own may be at a point just then */
        bool busy, ending, flush_now, census_now, due;
        int64_t report_ns; /* when to report again that no census is made */
        bool report_knew;  /* how long one would pause the program, when that was last reported */
        bool waiting;      /* the errand waits for the program's own thread */
        _Atomic bool child;
} p = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread bool inside; /* against a point within a point: what we call may call our hooks */

/* -------------------------------------------------------------------- thread */

/* Calls the runtime: on the thread where that is threaded, else on the program's own. The lock is not held. */
static void go_in(bool flush_due, bool request)
{
        if (request)
                requests_carry_out(&p.errand);
        if (flush_due && logging_runs())
                logging_flush();
        if (request)
                requests_answer(&p.errand);
}

/* On the thread; the lock is held, but for the time in there. */
static void go_in_unlocked(bool flush_due, bool request)
{
        p.busy = true;
        pthread_mutex_unlock(&p.lock);
        go_in(flush_due, request);
        pthread_mutex_lock(&p.lock);
        p.busy = false;
}

/* Takes a request if there is one; the lock is held. Returns whether it needs the runtime stopped. */
static bool start_request(void)
{
        while (!p.waiting && control_next(&p.errand.request)) {
                if (!requests_at_once(&p.errand, &p.timetable, p.setup.version))
                        return true;
                requests_answer(&p.errand);
        }
        return false;
}

static void census_if_due(int64_t now)
{
        struct server_facts facts = server_facts();

        const bool ended = p.timetable.budget.ended_ns > 0;
        budget_learn(&p.timetable.budget, now, &facts.census);
        if (!ended && p.timetable.budget.ended_ns > 0)
                server_notify(
                        "a census paused the program for %.3g ms where %.3g ms were expected: none will pause it "
                        "again in this run",
                        (double)p.timetable.budget.ended_ns / 1e6, (double)p.timetable.budget.expected_ns / 1e6);
        timetable_given(&p.timetable, now, facts.censuses_given);
        if (!logging_runs())
                return;
        if (timetable_census(&p.timetable, now)) {
                p.report_ns = 0;
                runtime_census();
        } else if (timetable_census_forbidden(&p.timetable, now)) {
                /* Into the log; again from time to time for who joins it late, or when the reason is known better. */
                struct error reason;
                int64_t cost;
                const bool known = budget_predict(&p.timetable.budget, &cost);

                if ((now < p.report_ns && known == p.report_knew) ||
                    !requests_forbid_census(&p.timetable.budget, &reason))
                        return;
                p.report_knew = known;
                server_notify(AGENT_NO_CENSUS "%s", reason.text);
                p.report_ns = now + REPORT_EVERY_NS;
        }
}

/* Causes the collection at which a request is carried out; where that may not be, the program's next one does. */
static void census_for_request(int64_t now)
{
        if (!p.timetable.profile || !logging_runs() || budget_forbids(&p.timetable.budget))
                return;
        timetable_spend_census(&p.timetable, now);
        runtime_census();
}

static void run_turn(void)
{
        int64_t now = thread_now_ns();
        bool request, flush_due = timetable_flush(&p.timetable, now) || p.flush_now;

        timetable_set_profile(&p.timetable, now, logging_profile());
        request = start_request();
        census_if_due(now);
        if (p.census_now)
                census_for_request(now);
        p.census_now = false;
        if (runtime_kind.threaded || (!runtime_kind.log && !request)) {
                if (flush_due || request)
                        go_in_unlocked(flush_due, request);
                p.flush_now = false;
        } else {
                p.due |= flush_due;
                p.waiting |= request;
                if (request)
                        census_for_request(now);
        }
        timetable_set_profile(&p.timetable, thread_now_ns(), logging_profile());
        heapwatch_agent_accepts_censuses = timetable_accepts(&p.timetable, thread_now_ns()) ? AGENT_ACCEPTS_THREADS : 0;
        pthread_cond_broadcast(&p.changed);
}

/* The first request: begins the heap profile, and after an attach the log. False: there is nothing to begin. */
static bool request_start(void)
{
        p.errand.request = (struct request){ .verb = REQUEST_START };
        return p.setup.attached || p.setup.settings.heap;
}

static void wait_for(int64_t ns)
{
        struct timespec until = thread_time_after(ns);

        (void)pthread_cond_timedwait(&p.changed, &p.lock, &until);
}

static void run_pace(void)
{
        pthread_mutex_lock(&p.lock);
        while (!p.ending && !(p.setup.forked ? runtime_up_after_fork() : runtime_up()))
                wait_for(UP_POLL_NS);
        if (!p.ending && rts_flag(&rts.rts_shutdown, false))
                p.ending = true; /* attached, and too late */
        if (!p.ending) {
                /* The runtime's start is over. */
                const struct server_facts facts = server_facts();

                timetable_set_flush(&p.timetable, thread_now_ns(), p.timetable.flush_ns);
                budget_learn(&p.timetable.budget, thread_now_ns(),
                             &facts.census); /* or the first census seems forbidden */
                if (runtime_kind.threaded && request_start())
                        go_in_unlocked(false, true);
                timetable_set_profile(&p.timetable, thread_now_ns(), logging_profile());
                pthread_cond_broadcast(&p.changed);
        }
        while (!p.ending) {
                int64_t ns = timetable_until_due(&p.timetable, thread_now_ns());
                if (ns > 0 && !p.flush_now && !p.census_now)
                        wait_for(ns);
                if (!p.ending)
                        run_turn();
        }
        pthread_mutex_unlock(&p.lock);
}

/* From the server's thread: there is a request. */
static void wake_pace(void)
{
        pthread_mutex_lock(&p.lock);
        pthread_cond_broadcast(&p.changed);
        pthread_mutex_unlock(&p.lock);
}

void heapwatch_agent_census(void)
{
        if (!p.started || p.child)
                return;
        pthread_mutex_lock(&p.lock);
        p.census_now = true;
        pthread_cond_broadcast(&p.changed);
        pthread_mutex_unlock(&p.lock);
}

int pace_start(const struct pace_setup *setup)
{
        const struct agent_settings *s = &setup->settings;

        p.setup = *setup;
        p.timetable = (struct timetable){ .flush_ns = s->flush_ns, .interval_ns = s->interval_ns };
        budget_begin(&p.timetable.budget, thread_now_ns(), s->budget, s->max_pause_ns);
        p.errand = (struct errand){ .heap = s->heap };
        logging_setup(&(struct logging_setup){
                .version = setup->version,
                .classes = s->classes,
                .forked = setup->forked,
                .parse_options = setup->parse_options,
        });
        p.waiting = !runtime_kind.threaded && request_start();
        thread_condition_init(&p.changed);
        control_on_request(wake_pace);
        int r = thread_start(&p.thread, "heapwatch-pace", run_pace);
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
        go_in(flush_due, request);
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
                ns = p.due || p.waiting ? 0 : p.timetable.next_flush_ns - thread_now_ns();
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
        heapwatch_agent_accepts_censuses = 0;
        pthread_cond_broadcast(&p.changed);
        while (p.busy && thread_now_ns() < give_up)
                wait_for(give_up - thread_now_ns());
        busy = p.busy;
        pthread_mutex_unlock(&p.lock);
        if (!busy)
                (void)pthread_join(p.thread.id, NULL);
        p.started = false;
}

void pace_last_flush(void)
{
        int64_t give_up = thread_now_ns() + LAST_FLUSH_NS;

        if (!p.started || p.child || !logging_runs())
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
        heapwatch_agent_accepts_censuses = 0;
        p.started = p.busy = p.ending = p.flush_now = p.census_now = p.due = p.waiting = false;
        pthread_mutex_init(&p.lock, NULL);
        control_fork_child();
}

void pace_resume_in_child(void)
{
        p.child = false;
}

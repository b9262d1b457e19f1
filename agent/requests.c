/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/pace.h"

#include <stddef.h>

#include "agent/logging.h"
#include "agent/runtime.h"
#include "agent/server.h"
#include "agent/thread.h"

#define NO_PROFILE "no heap profile: %s"

/* ------------------------------------------------------ with nothing stopped */

static void format_status(struct errand *e, const struct timetable *s, const char *version)
{
        struct server_facts f = server_facts();
        char profile = logging_profile();
        const char *log = !logging_runs() ? "off" : runtime_kind.log ? "runtime" : "synthetic";

        error_set(&e->reason,
                  "ghc=%s threaded=%d log=%s classes=%s heap=%c interval=%.3f census_every=%.3f pause_ms=%.3f "
                  "budget=%.3f max_pause_ms=%.3f rising=%d flush=%.3f censuses=%llu taken=%llu given=%llu readers=%llu "
                  "left_out=%llu definitions_left_out=%llu",
                  version[0] ? version : "?", runtime_kind.threaded, log, logging_classes(), profile ? profile : '-',
                  (double)s->interval_ns / 1e9, (double)timetable_census_every(s, thread_now_ns()) / 1e9,
                  (double)f.census.pause_ns / 1e6, s->budget.share * 100, (double)s->budget.longest_ns / 1e6,
                  budget_rising(&s->budget, thread_now_ns()), (double)s->flush_ns / 1e9,
                  (unsigned long long)s->censuses, (unsigned long long)f.censuses_taken,
                  (unsigned long long)f.censuses_given, (unsigned long long)f.readers,
                  (unsigned long long)f.left_out_bytes, (unsigned long long)f.definitions_left_out);
}

bool requests_forbid_census(const struct census_budget *b, struct error *ret)
{
        int64_t cost;

        if (!budget_forbids(b))
                return false;
        if (b->ended_ns > 0)
                error_set(ret,
                          "one paused the program for %.3g ms where %.3g ms were expected; to allow them again: "
                          "heapwatch ctl agent NAME max-pause %.3g",
                          (double)b->ended_ns / 1e6, (double)b->expected_ns / 1e6, (double)b->longest_ns / 1e9);
        else if (budget_predict(b, &cost))
                error_set(ret, "it would pause the program about %.3g ms, --max-pause is %.3g ms", (double)cost / 1e6,
                          (double)b->longest_ns / 1e6);
        else
                error_set(ret,
                          "how long it would pause the program is unknown before a major collection, --max-pause is "
                          "%.3g ms",
                          (double)b->longest_ns / 1e6);
        return true;
}

bool requests_at_once(struct errand *e, struct timetable *s, const char *version)
{
        e->ok = true;
        e->reason.text[0] = '\0';
        switch (e->request.verb) {
        case REQUEST_STATUS:
                format_status(e, s, version);
                return true;
        case REQUEST_CENSUS:
                e->ok = (s->profile && logging_runs()) ? !requests_forbid_census(&s->budget, &e->reason)
                                                       : error_set(&e->reason, "there is no heap profile");
                if (e->ok) {
                        timetable_spend_census(s, thread_now_ns());
                        runtime_census();
                }
                return true;
        case REQUEST_INTERVAL:
                timetable_set_interval(s, thread_now_ns(), e->request.ns);
                return true;
        case REQUEST_FLUSH:
                timetable_set_flush(s, thread_now_ns(), e->request.ns);
                return true;
        case REQUEST_BUDGET:
                budget_set_share(&s->budget, thread_now_ns(), e->request.share);
                return true;
        case REQUEST_MAX_PAUSE:
                budget_set_longest(&s->budget, e->request.ns);
                return true;
        case REQUEST_START:
        case REQUEST_STOP:
        case REQUEST_HEAP:
        case REQUEST_CLASSES:
                return false;
        case REQUEST_TRACER:
                break; /* control_post */
        }
        return true;
}

/* ---------------------------------------------------- with everything stopped */

static struct errand *current; /* runtime_stopped() passes nothing on */
static const char *refused;    /* why the program's options forbid the profile that it begins; NULL: they do not */

static bool start_profile(char letter)
{
        if (refused)
                return error_set(&current->reason, NO_PROFILE, refused);
        return logging_start_profile(letter, &current->reason);
}

/* Without a profile the log goes on, and the reason is given. */
static bool start_requests(void)
{
        if (!logging_start(&current->reason))
                return false;
        if (current->heap && !logging_profile() && !start_profile(current->heap))
                server_notify("%s", current->reason.text);
        current->reason.text[0] = '\0';
        return true;
}

static bool set_profile(char letter)
{
        if (!logging_runs())
                return error_set(&current->reason, "there is no log: start one first");
        if (letter == logging_profile())
                return true;
        logging_stop_profile();
        return !letter || start_profile(letter);
}

static void execute_errand(void)
{
        const struct request *r = &current->request;

        switch (r->verb) {
        case REQUEST_START:
                current->ok = start_requests();
                break;
        case REQUEST_STOP:
                current->ok = logging_stop(&current->reason);
                break;
        case REQUEST_HEAP:
                current->ok = set_profile(r->letter);
                break;
        case REQUEST_CLASSES:
                current->ok = logging_set_classes(r->text, &current->reason);
                break;
        case REQUEST_STATUS:
        case REQUEST_CENSUS:
        case REQUEST_INTERVAL:
        case REQUEST_FLUSH:
        case REQUEST_BUDGET:
        case REQUEST_MAX_PAUSE:
        case REQUEST_TRACER:
                break; /* before it comes here */
        }
}

/* Of the heap profile that it begins; 0: none. */
static char start_answer(const struct errand *e)
{
        if (e->request.verb == REQUEST_START)
                return e->heap;
        return e->request.verb == REQUEST_HEAP ? e->request.letter : 0;
}

/*
 * Nothing is stopped for a profile that can only be refused: rts_pause of 9.10 hangs with the nonmoving collector, see
 * docs/AGENT.md.
 */
void requests_carry_out(struct errand *e)
{
        current = e;
        e->reason.text[0] = '\0';
        refused = start_answer(e) ? logging_refuses_profile() : NULL;
        if (e->request.verb == REQUEST_STOP)
                logging_flush();
        if (e->request.verb == REQUEST_START)
                logging_prepare();
        if (refused && logging_runs()) {
                /* The log goes on as it is. */
                error_set(&e->reason, NO_PROFILE, refused);
                e->ok = e->request.verb == REQUEST_START;
                if (e->ok) {
                        server_notify("%s", e->reason.text);
                        e->reason.text[0] = '\0';
                }
        } else {
                runtime_stopped(execute_errand);
        }
}

void requests_answer(const struct errand *e)
{
        if (e->request.id > 0 || !e->ok)
                control_reply(&e->request, e->ok, e->reason.text);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* evidence.h - what the answers are based on, taken from a target's state once. Private to this room. */
#pragma once

#include "client/answers/answers.h"
#include "proto/base/limits.h"
#include "proto/base/phrase.h"
#include "proto/base/process.h"
#include "proto/base/time.h"
#include "proto/eventlog/advice.h"

/* ENDED_SOMEHOW: its log is finished, and was not completed. */
enum ending { STILL_RUNS, ENDED, ENDED_SOMEHOW, ENDED_BADLY, KILLED, CRASHED, LOST, FAILED, AWAITED, STOPPED };

struct evidence {
        const struct world_target *t;
        bool live; /* a daemon follows it */
        enum ending ending;
        bool over;                      /* its run is over, or its log is finished: nothing more comes */
        const char *detail;             /* the daemon's words for the state, or "" */
        Hw__Growth__Where where;        /* UNKNOWN when nothing was said */
        Hw__Series series;              /* the one whose trend decides */
        const Hw__Trend *trend;         /* of that series; NULL: none */
        Hw__Verdict verdict;            /* its verdict, STEADY when nothing grows anywhere */
        bool process_only;              /* the program has no log: of its heap nothing is known */
        bool foreign;                   /* what grows is foreign memory */
        bool grows;                     /* verdict is growing or leak */
        const Hw__GrowingBand *growing; /* the band that grows most, or `likely`; NULL */
        Hw__GrowingBand likely;         /* without a verdict of its own it carries most of live data's growth */
        const Hw__Band *band;           /* what it is; NULL */
        const Hw__Alert *alert;         /* the most severe firing one that says more than the verdict; NULL */
        size_t n_alerts;                /* of those */
        enum severity gravest;          /* of all that fire; SEVERITY_INFO when none does */
        const Hw__EarlyWarning
                *rise; /* with which a run ended badly or by a signal, without a verdict of growth; or NULL */
        const Hw__EarlyWarning *risen; /* by whose bands is said what grows; or NULL */
        const Hw__EarlyWarning *early; /* it rises or is near a limit, before any verdict of growth; or NULL */
        const Hw__ThreadRise *threads; /* threads that pile up, whose groups have no verdict of growth yet; or NULL */
        const Hw__EarlyWarning *near;  /* it meets a limit before `limit` does, or `limit` is NULL; or NULL */
        uint64_t samples;              /* of the series that decides, in this run; 0: none, or not known */
        bool may_grow;                 /* no verdict yet, and the few steps so far surely rise */
        bool climbs;                   /* no verdict, no rise yet: live data is at a new high, far above the usual */
        bool steady_so_far;            /* no verdict, and a rise would have shown: there is none */
        const Hw__TimeToLimit *limit;  /* NULL: nothing grows towards a limit */
};

void evidence_of(struct evidence *ret, const struct world_target *t, bool live);

/* What an early warning says; NULL: there is none. */
static inline bool early_rises(const Hw__EarlyWarning *early)
{
        return early && early->has_rising && early->rising;
}

static inline bool early_runs_out(const Hw__EarlyWarning *early)
{
        return early && early->has_runs_out && early->runs_out;
}

static inline bool early_is_foreign(const Hw__EarlyWarning *early)
{
        return early && early->has_series && early->series == HW__SERIES__SERIES_FOREIGN;
}

/* The middle of the interval in which a rise began, event time; only with one. */
uint64_t onset_middle(const Hw__EarlyWarning *early);

/* Nothing is known from before the rise: it may have begun at any time until the end of that interval. */
static inline bool onset_is_latest(const Hw__EarlyWarning *early)
{
        return early->has_since_start && early->since_start;
}

/* The moment that stands for that interval: its middle, or its end where the onset is only the latest. */
uint64_t onset_moment(const Hw__EarlyWarning *early);

/* From now until the early warning's limit is met, by its rate; false: not known. */
bool early_limit_ns(const Hw__EarlyWarning *early, uint64_t *ret);

/* It has reached its limit. */
static inline bool early_at_limit(const Hw__EarlyWarning *early)
{
        return early->has_at_limit && early->at_limit;
}

/* By its rate it may meet its limit at any time. */
static inline bool early_meets_now(const Hw__EarlyWarning *early)
{
        return early->has_mid_ns && early->mid_ns < NS_PER_S;
}

/* Live data grows by the verdict, or rose to the end of a run that ended badly. */
bool live_grows(const struct evidence *e);

/* The number of threads rises, or a band that grows is of threads. */
bool threads_are_culprit(const struct evidence *e);

/* By the runtime's own status for it, the kernel's account, or the heap's largest size. False also while unknown. */
bool limit_was_met(const struct evidence *e);

/* The newest census is from before the last quarter of the growth: its bands do not show what grew. */
bool census_is_stale(const struct evidence *e);

/* Live data has been higher by more than a little: what it does below that is no rise. */
bool is_below_its_highest(const struct world_target *t);

/* How much of the least limit is used, by what ("its heap"); false: unknown. */
#define MUCH_OF_LIMIT 0.5 /* a program that has this much may meet its limit before there is a verdict */
bool share_of_limit(const struct evidence *e, const char **ret_name, double *ret);

/* Of the newest census; NULL: there is none. Looks at every band, as the next one does. */
const struct world_band *largest_band(const struct evidence *e);

/* The band that grows as it is said in a sentence (band_said); "a band" without a label. Returns `out`. */
const char *growing_said(char *out, size_t size, const struct evidence *e);

/* Whether some band has a verdict: that none grows is known. */
bool bands_judged(const struct evidence *e);

/* Appends to a text; cut at a whole character. */
__attribute__((format(printf, 2, 3))) void append_text(char text[ANSWER_TEXT], const char *format, ...);

/* Samples without which no rise is seen (daemon/judge/trend/early_fit.h). */
#define RISE_SAMPLES 4u

/*
 * The step in which growth is judged and the run's length so far, in ns; 0: unknown. shorter_step: the longest
 * step below the one in use that gives a run of this length a verdict, as --resolution takes it; NULL: none does.
 */
#define SURE_STEPS 48 /* a run that has risen since its start is not called steady before */
uint64_t step_in_use(const struct evidence *e);
uint64_t length_seen(const struct evidence *e);

/* A heap profile is on, and no census has come yet: its clock is the program's own. */
bool awaits_census(const struct evidence *e);
const char *shorter_step(const struct evidence *e);

/* Whether the daemon gives that advice. */
bool is_advised(const struct evidence *e, enum hw_advice code);
bool may_profile(const struct evidence *e); /* false: its collector refuses -h */

/* Its log comes from the agent, which takes censuses as often as its budget of the program's time allows. */
bool is_by_agent(const struct evidence *e);

/* It runs, and its events stay in its buffer: what is unknown may be there. */
bool keeps_events(const struct evidence *e);

/* The growth meets the limit within minutes, as the built-in rules memory-runs-out-now and -soon have it. */
#define SOON_NS (UINT64_C(20) * 60 * 1000000000)
bool limit_is_near(const struct evidence *e);

/* Whether the label of a band by info table is a bare address: the log gives it no name. */
bool is_unnamed_table(const struct evidence *e, const char *label);

const Hw__Run *run_of(const struct evidence *e);   /* NULL: not known */
unsigned ghc_version_of(const struct evidence *e); /* 902 for GHC 9.2; 0: unknown */
bool has_process_reason(const struct evidence *e); /* why it has no log */
bool is_local(const struct evidence *e);           /* its process is on the daemon's machine */
const Hw__ActionResult *why_of(const struct evidence *e);

/* When its growth or rise began. */
struct onset {
        bool known;
        uint64_t ns, error_ns; /* event time; more or less, 0: not known */
        const Hw__Note *note;  /* what the program said near it, or NULL */
};
struct onset onset_of(const struct evidence *e);
bool is_marker(const Hw__Note *note);
uint64_t note_apart(const struct evidence *e);
uint64_t steady_since(const struct evidence *e);  /* UINT64_MAX: not known */
uint64_t first_time_of(const struct evidence *e); /* from which the run is known */

/* What the program said near the onset of growth, or of the rise that it ended with, or NULL. */
const Hw__Note *note_near(const struct evidence *e);

/* Live data in no band, if much of them; NaN: not much, or not known. */
double uncounted_share(const struct evidence *e);

/* What rises or grows is not among live data. */
bool is_outside(const struct evidence *e);

/* The least limit that is known, whether anything heads for it or not; and whether that is the one that is near. */
const Hw__Trends *known_limit(const struct evidence *e);
bool is_of_known_limit(const struct evidence *e);
uint64_t limit_at(const Hw__TimeToLimit *l);               /* the middle of the interval where it is known */
bool limit_clock(const struct evidence *e, uint64_t *ret); /* event time at which it is met; false: not foretold */

uint64_t bands_beyond(const struct evidence *e); /* bands beyond what the daemon keeps */
bool is_joined_inside(const struct evidence *e); /* in the middle of its log, without the header */
void find_caveats(struct answers *a, const struct evidence *e);

/* census.c: of the newest census. */
double census_spread_of_largest(const struct evidence *e); /* NaN: it was counted */
double census_uncounted_bytes(const struct evidence *e);   /* census_uncounted(); NaN: not known, or next to nothing */
bool census_differs(const struct world_target *t);         /* a later collection says something else */
bool census_has_garbage(const struct world_target *t, bool over);
const char *ghc_of(const struct evidence *e); /* "9.6.6", or "" */

/* account.c: how it ended; what it used of its limit, lately or, once over, at most; NaN: not known. */
bool ends_as(const struct evidence *e, enum account_end end);
bool account_had_more(const struct evidence *e);
double account_share(const struct evidence *e);
bool account_is_limited(const struct world_target *t);
bool account_counts_heap(const struct world_target *t); /* its limit is one of the heap alone */
bool account_has_lost(const struct evidence *e);        /* part of its stream */

/* The tables of sentences.def. */
#define TABLE(name) phrase_table sentences_##name;
#define SAY(...)
#define END
#include "client/answers/sentences.def"
#undef TABLE
#undef SAY
#undef END

/* A sentence about a target in the making. */
struct phrase phrase_of(char *out, size_t size, const struct evidence *e);

/* Appends what the table says, with its moment; the row, or NULL where no condition holds. */
const struct phrase_row *append_sentence(struct target_answer *a, const struct evidence *e, phrase_table *table);

/* Each fills an empty answer. */
void answer_wrong(struct target_answer *a, const struct evidence *e);
void answer_since(struct target_answer *a, const struct evidence *e);
void answer_grows(struct target_answer *a, const struct evidence *e);
void answer_where(struct target_answer *a, const struct evidence *e);
void answer_why(struct target_answer *a, const struct evidence *e);
void answer_until(struct target_answer *a, const struct evidence *e);
void answer_next(struct target_answer *a, const struct evidence *e);

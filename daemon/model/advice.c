/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a table of checks, each a predicate on the state. What a program did not do (such as collect or write)
 * becomes advice only after enough event time, so that a young or idle program is not blamed; a run that has completed
 * its log has had its time.
 */
#include "daemon/model/sizing.h"

#include "daemon/model/state.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

#define SETTLED_NS       (2 * NS_PER_S) /* identity, class g and profile events have come by then */
#define RARE_NS          (5 * NS_PER_S) /* blocks farther apart than this are too late to watch live */
#define SOME_BLOCKS      3u             /* fewer do not show how often they come */
#define LATE_NS          (8 * NS_PER_S) /* so that it is on the screen within ten */
#define OLD_LIVE_NS      (60 * NS_PER_S)
#define WITH_FLUSH       902u  /* GHC 9.2 */
#define WITHOUT_DEADLOCK 1000u /* GHC 10.0 */
#define FLUSH_OPTION     "--eventlog-flush-interval"

static uint64_t run_age(const struct model *m)
{
        return sub_sat(m->clock.newest_ns, m->clock.first_ns);
}

static bool is_settled(const struct model *m)
{
        return m->clock.first_ns != UINT64_MAX && (m->completed || run_age(m) >= SETTLED_NS);
}

struct log_class {
        char letter;
        bool given, on; /* by the last -l, if one was given */
};

/* The flags of -l: a letter turns its class on, or off after a minus; `a` is all. Without any a class is on. */
static void see_log_option(void *ctx, const char *option)
{
        struct log_class *class = ctx;
        bool value = true;

        if (option[0] != '-' || option[1] != 'l')
                return;
        class->given = class->on = true;
        for (const char *flag = option + 2; *flag; flag++) {
                if (*flag == class->letter || *flag == 'a')
                        class->on = value;
                value = *flag != '-';
        }
}

static struct log_class class_of(const struct model *m, char letter)
{
        struct log_class class = { .letter = letter, .on = true };

        run_each_rts_option(&m->run, see_log_option, &class);
        return class;
}

/* Of a log that a killed program left, all but its beginning may have been in buffers: its flags tell. */
static bool no_gc_events(const struct model *m)
{
        const struct log_class gc = class_of(m, 'g');

        return is_settled(m) && !(gc.given && gc.on) && !m->gc_state.seen && !m->run.generations &&
               m->heap.heap_size_bytes == UNKNOWN_U64;
}

static bool lacks_heap_profile(const struct model *m)
{
        return is_settled(m) && m->run.program && m->run.breakdown == BREAKDOWN_NONE && !m->census.count;
}

struct rts_collector collector_of(const struct model *m)
{
        struct rts_collector collector = sizing_of(&m->run, &m->heap).collector;

        collector.nonmoving |= m->gc.nonmoving.seen; /* chosen where the log does not show it */
        return collector;
}

static bool refuses_heap_profile(const struct model *m)
{
        const struct rts_collector collector = collector_of(m);

        return rts_collector_refuses_profile(&collector, m->run.ghc_version, m->run.profiled);
}

static bool no_heap_profile(const struct model *m)
{
        return lacks_heap_profile(m) && !refuses_heap_profile(m);
}

static bool profile_refused(const struct model *m)
{
        return lacks_heap_profile(m) && refuses_heap_profile(m);
}

/* How long blocks have been expected: while none comes, event time stands still, but the clock does not. */
static uint64_t watched_ns(const struct model *m, uint64_t silent_ns)
{
        return run_age(m) + silent_ns;
}

/*
 * Blocks come often enough to watch live, whether flushed by a timer or because buffers fill fast. Nothing that the
 * program does changes when what is read of it from outside comes.
 */
static bool is_timely(const struct model *m, uint64_t silent_ns)
{
        const uint64_t blocks = m->clock.whole_blocks ? m->clock.whole_blocks : m->clock.blocks;

        if (clock_is_from_outside(m))
                return true;
        return blocks >= SOME_BLOCKS && watched_ns(m, silent_ns) / blocks <= RARE_NS;
}

static bool not_flushed(const struct model *m, uint64_t silent_ns)
{
        bool any = m->clock.blocks || silent_ns; /* else the log has no blocks, or has just begun */

        return !run_has_rts_option(&m->run, FLUSH_OPTION) && any && watched_ns(m, silent_ns) >= LATE_NS &&
               !is_timely(m, silent_ns);
}

static bool flush_not_threaded(const struct model *m)
{
        return run_has_rts_option(&m->run, FLUSH_OPTION) && m->run.rts_way[0] && !m->run.threaded;
}

static bool flush_exit_deadlock(const struct model *m)
{
        return run_has_rts_option(&m->run, FLUSH_OPTION) && m->run.threaded && m->run.ghc_number < WITHOUT_DEADLOCK;
}

static bool profile_not_threaded(const struct model *m)
{
        return m->run.rts_way[0] && !m->run.threaded && m->profile.ticks && (m->census.count || m->gc_state.seen);
}

static bool old_ghc(const struct model *m, uint64_t silent_ns)
{
        return m->run.ghc_number && m->run.ghc_number < WITH_FLUSH && is_settled(m) && !is_timely(m, silent_ns);
}

static bool no_ipe(const struct model *m)
{
        return m->run.breakdown == BREAKDOWN_INFO_TABLE && m->census.done.number && !m->bands.tables.count;
}

static bool is_biography(const struct model *m)
{
        return m->run.breakdown == BREAKDOWN_BIOGRAPHY;
}

static bool is_retainer(const struct model *m)
{
        return m->run.breakdown == BREAKDOWN_RETAINER;
}

static bool ticky_unnamed(const struct model *m)
{
        return m->ticky.counters.count > m->ticky.defined;
}

static bool undefined_centres(const struct model *m)
{
        return cost_centres_lacking(&m->bands);
}

static bool no_user_events(const struct model *m)
{
        return !class_of(m, 'u').on && !m->notes.total;
}

/* A heap profile is the remedy, so with one there is nothing to advise: its censuses are as often as they may be. */
static bool few_major(const struct model *m)
{
        uint64_t last = m->heap.live_time_ns == UNKNOWN_U64 ? m->clock.first_ns : m->heap.live_time_ns;

        return m->gc.collections && !m->census.count && sub_sat(m->clock.newest_ns, last) > OLD_LIVE_NS;
}

static const struct {
        enum hw_advice code;
        bool (*holds)(const struct model *m);
        bool (*late)(const struct model *m, uint64_t silent_ns); /* instead, for what does not come */
} judgements[] = {
        { HW_ADVICE_NO_GC_EVENTS, no_gc_events, NULL },
        { HW_ADVICE_NO_HEAP_PROFILE, no_heap_profile, NULL },
        { HW_ADVICE_PROFILE_REFUSED, profile_refused, NULL },
        { HW_ADVICE_NOT_FLUSHED, NULL, not_flushed },
        { HW_ADVICE_FLUSH_NOT_THREADED, flush_not_threaded, NULL },
        { HW_ADVICE_FLUSH_EXIT_DEADLOCK, flush_exit_deadlock, NULL },
        { HW_ADVICE_PROFILE_NOT_THREADED, profile_not_threaded, NULL },
        { HW_ADVICE_OLD_GHC, NULL, old_ghc },
        { HW_ADVICE_NO_IPE, no_ipe, NULL },
        { HW_ADVICE_BIOGRAPHY_AT_EXIT, is_biography, NULL },
        { HW_ADVICE_RETAINER_MANY, is_retainer, NULL },
        { HW_ADVICE_TICKY_AT_EXIT, ticky_unnamed, NULL },
        { HW_ADVICE_UNDEFINED_COST_CENTRES, undefined_centres, NULL },
        { HW_ADVICE_NO_USER_EVENTS, no_user_events, NULL },
        { HW_ADVICE_FEW_MAJOR, few_major, NULL },
};

size_t model_advice(const struct model *m, uint64_t silent_ns, enum hw_advice *codes, size_t max)
{
        size_t n = 0;

        if (m->run.process_only) { /* what a log lacks does not matter without one */
                if (max > 0)
                        codes[n++] = HW_ADVICE_PROCESS_ONLY;
                return n;
        }
        for (size_t i = 0; i < ARRAY_SIZE(judgements) && n < max; i++)
                if (judgements[i].holds ? judgements[i].holds(m) : judgements[i].late(m, silent_ns))
                        codes[n++] = judgements[i].code;
        return n;
}

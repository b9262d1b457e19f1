/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * next.c - what to do next.
 *
 * DESIGN: one table, the most urgent first; the first row whose condition holds is the advice. A row says what the
 * evidence supports and no more: which file to read, which profile to switch on, which command to type. To add one: a
 * condition, its words, a line of the table, a case in tests/unit/answers/test_answers.c.
 */
#include "client/answers/evidence.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "client/state/band_name.h"
#include "heapwatch/text.h"
#include "proto/eventlog/advice.h"

#define EXIT_HEAP_EXHAUSTED 251u /* EXIT_HEAPOVERFLOW of GHC's Rts.h */
#define OOM_LOOK            "journalctl -k --grep \"out of memory\""

/* -------------------------------------------------------- what is looked at */

static const Hw__Run *run_of(const struct evidence *e)
{
        return e->t->target ? e->t->target->run_info : NULL;
}

static Hw__Breakdown breakdown(const struct evidence *e)
{
        const Hw__Run *run = run_of(e);

        return run && run->has_breakdown ? run->breakdown : HW__BREAKDOWN__BREAKDOWN_NONE;
}

static bool has_profile(const struct evidence *e)
{
        return e->t->census || e->t->n_bands;
}

/* 902 for GHC 9.2; 0: unknown. */
static unsigned ghc(const struct evidence *e)
{
        const Hw__Run *run = run_of(e);
        unsigned major = 0, minor = 0;

        if (!run || !run->ghc_version || sscanf(run->ghc_version, "%u.%u", &major, &minor) != 2 || minor > 99)
                return 0;
        return 100 * major + minor;
}

static bool label_has(const struct evidence *e, const char *text)
{
        return e->growing && e->growing->label && strstr(e->growing->label, text);
}

static bool fires(const struct evidence *e, const char *rule)
{
        return e->alert && e->alert->rule && !strcmp(e->alert->rule, rule);
}

static bool live_grows(const struct evidence *e)
{
        return e->grows && e->where == HW__GROWTH__WHERE__WHERE_LIVE;
}

/* -------------------------------------------------------------- conditions */

static bool cannot_be_read(const struct evidence *e)
{
        return e->ending == FAILED;
}

static bool not_begun(const struct evidence *e)
{
        return e->ending == AWAITED;
}

static bool no_collections(const struct evidence *e)
{
        return advised(e, HW_ADVICE_NO_GC_EVENTS);
}

static bool out_of_memory(const struct evidence *e)
{
        return e->ending >= ENDED_BADLY && e->ending <= LOST && !e->grows && e->t->target->has_oom_killed &&
               e->t->target->oom_killed;
}

static bool killed_steady(const struct evidence *e)
{
        return e->ending == KILLED && !e->grows;
}

static bool failed_steady(const struct evidence *e)
{
        return (e->ending == ENDED_BADLY || e->ending == CRASHED) && !e->grows;
}

static bool connection_lost(const struct evidence *e)
{
        return e->ending == LOST;
}

static bool live_without_profile(const struct evidence *e)
{
        return live_grows(e) && !has_profile(e);
}

static bool thunks(const struct evidence *e)
{
        return live_grows(e) && breakdown(e) == HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE &&
               (label_has(e, "THUNK") || label_has(e, "AP_STACK") || label_has(e, "BLACKHOLE"));
}

static bool byte_arrays(const struct evidence *e)
{
        return live_grows(e) && (label_has(e, "ARR_WORDS") || label_has(e, "PINNED"));
}

static bool place_known(const struct evidence *e)
{
        return live_grows(e) && band_source(e->band);
}

static bool stack_known(const struct evidence *e)
{
        return live_grows(e) && e->growing && breakdown(e) == HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK;
}

static bool module_known(const struct evidence *e)
{
        return live_grows(e) && e->growing && breakdown(e) == HW__BREAKDOWN__BREAKDOWN_MODULE;
}

static bool type_known(const struct evidence *e)
{
        return live_grows(e) && e->growing &&
               (breakdown(e) == HW__BREAKDOWN__BREAKDOWN_TYPE ||
                breakdown(e) == HW__BREAKDOWN__BREAKDOWN_CLOSURE_DESCRIPTION);
}

static bool retainer_known(const struct evidence *e)
{
        return live_grows(e) && e->growing && breakdown(e) == HW__BREAKDOWN__BREAKDOWN_RETAINER;
}

static bool addresses_only(const struct evidence *e)
{
        return live_grows(e) && e->growing && breakdown(e) == HW__BREAKDOWN__BREAKDOWN_INFO_TABLE;
}

static bool closures_known(const struct evidence *e)
{
        return live_grows(e) && e->growing;
}

static bool first_census(const struct evidence *e)
{
        return live_grows(e) && !has_profile(e) && awaits_census(e) && !e->over;
}

static bool no_census(const struct evidence *e)
{
        return live_grows(e) && !has_profile(e) && awaits_census(e) && e->over;
}

/* What grows is not known yet, and what there is of it may not last until then. */
static bool limit_first(const struct evidence *e)
{
        return live_grows(e) && !e->over && !e->growing && limit_is_near(e);
}

static bool heap_exhausted(const struct evidence *e)
{
        return e->ending == ENDED_BADLY && !e->grows && e->t->target->exit_status == EXIT_HEAP_EXHAUSTED;
}

static bool few_censuses(const struct evidence *e)
{
        return live_grows(e) && has_profile(e) && !e->bands_judged;
}

static bool spread(const struct evidence *e)
{
        return live_grows(e) && has_profile(e);
}

static bool retained(const struct evidence *e)
{
        return e->grows && e->where == HW__GROWTH__WHERE__WHERE_RETENTION;
}

static bool off_heap(const struct evidence *e)
{
        return e->off_heap;
}

static bool growth_unplaced(const struct evidence *e)
{
        return e->grows && e->where == HW__GROWTH__WHERE__WHERE_UNKNOWN;
}

static bool fragmented(const struct evidence *e)
{
        return fires(e, "fragmentation");
}

static bool censuses_cost(const struct evidence *e)
{
        double share;

        return (fires(e, "gc-share") || fires(e, "gc-pauses")) && answers_census_share(e->t, &share) && share > 0.5;
}

static bool collects_much(const struct evidence *e)
{
        return fires(e, "gc-share") || fires(e, "gc-pauses");
}

static bool stalled(const struct evidence *e)
{
        return fires(e, "stream-stalled");
}

static bool restarts(const struct evidence *e)
{
        return fires(e, "restart-loop");
}

static bool other_alert(const struct evidence *e)
{
        return e->alert;
}

static bool damaged(const struct evidence *e)
{
        return e->t->health && e->t->health->has_lost_bytes && e->t->health->lost_bytes;
}

static bool too_short(const struct evidence *e)
{
        return e->over && !e->verdict;
}

static bool too_few_collections(const struct evidence *e)
{
        return !e->verdict && e->trend && e->trend->verdict == HW__VERDICT__VERDICT_UNKNOWN &&
               (e->over ? long_enough(e) : !e->trend->has_verdict_in_ns);
}

static bool verdict_comes(const struct evidence *e)
{
        return !e->over && !e->verdict && e->trend && e->trend->has_verdict_in_ns;
}

static bool no_live_yet(const struct evidence *e)
{
        return !e->over && !e->verdict && !e->trend;
}

static bool has_advice(const struct evidence *e)
{
        return e->t->health && e->t->health->n_advice && e->t->health->advice[0]->text;
}

static bool kept(const struct evidence *e)
{
        return e->live && e->over && e->t->target->has_kept && e->t->target->kept;
}

static bool always(const struct evidence *e)
{
        (void)e;
        return true;
}

/* ------------------------------------------------------------------- words */

static void say_cannot_be_read(char *text, const struct evidence *e)
{
        say(text, "Fix what its state says, or watch another source: heapwatch ctl remove %s, then heapwatch ctl add",
            e->t->name);
}

static void say_not_begun(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "Start the program with +RTS -l; heapwatch run -- PROGRAM starts and watches it");
}

static void say_no_collections(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "Run it with +RTS -l: collections are not in its log, so nothing is known of its heap");
}

static void say_out_of_memory(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "Its control group ran out of memory without lasting growth here: see who used it (" OOM_LOOK
                  "), and raise the limit or lower the peak");
}

static void say_killed(char *text, const struct evidence *e)
{
        if (e->t->target->exit_signal == 9)
                say(text, "Find who sent SIGKILL: " OOM_LOOK " shows the kernel's own; memory did not grow before");
        else
                say(text,
                    "Read its last output, and its core dump if there is one (coredumpctl info): memory did not "
                    "grow before");
}

static void say_failed(char *text, const struct evidence *e)
{
        say(text, e->t->run ? "Read its last output: nothing here explains the end, memory did not grow before"
                            : "Read its last output: it ended before anything of its log was seen");
}

static void say_connection_lost(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "See whether the program still runs; heapwatch connects again by itself");
}

static void say_profile_flags(char *text, const struct evidence *e)
{
        const Hw__Run *run = run_of(e);

        if (run && run->has_profiled && run->profiled)
                say(text, "+RTS -hc -i1 (by call stack; it is built for profiling)");
        else if (ghc(e) >= 902)
                say(text,
                    "+RTS -hT -i1 at once, or compile with -finfo-table-map -fdistinct-constructor-tables and "
                    "run with +RTS -hi -i1 for the place in the source");
        else
                say(text,
                    "+RTS -hT -i1 (kinds of closures, any build), or compile with -prof and run with +RTS -hc "
                    "-i1 for the place in the source");
}

static void say_without_profile(char *text, const struct evidence *e)
{
        say(text, "Switch on a heap profile; it names what grows: ");
        say_profile_flags(text, e);
}

static void say_place_flags(char *text, const struct evidence *e)
{
        if (ghc(e) >= 902)
                say(text, "compile with -finfo-table-map -fdistinct-constructor-tables, run with +RTS -hi -i1");
        else
                say(text, "compile with -prof, run with +RTS -hc -i1");
}

static void say_thunks(char *text, const struct evidence *e)
{
        say(text,
            "Unevaluated work piles up: look for lazy accumulators and fields (foldl', modifyIORef', strict maps). "
            "For the place: ");
        say_place_flags(text, e);
}

static void say_byte_arrays(char *text, const struct evidence *e)
{
        const char *source = band_source(e->band);

        say(text, "Byte arrays grow (ByteString, Text): a small slice that is kept holds its whole buffer, copy it. ");
        if (source) {
                say(text, "Look at %.160s", source);
                return;
        }
        say(text, "For the place: ");
        say_place_flags(text, e);
}

static void say_place(char *text, const struct evidence *e)
{
        say(text, "Look at %.200s, where %.120s are made: who keeps them, and what should let them go?",
            band_source(e->band), e->growing->label ? package_label(e->growing->label).rest : "they");
}

static void say_stack(char *text, const struct evidence *e)
{
        size_t n = strcspn(e->growing->label ? e->growing->label : "", ";");

        say(text, "Look at %.*s: what it makes is kept. Who keeps it: +RTS -hr (retainers)", (int)(n < 160 ? n : 160),
            e->growing->label ? e->growing->label : "");
}

static void say_module(char *text, const struct evidence *e)
{
        say(text, "Look into module %.100s; run with +RTS -hc -hm%.100s for the function", e->growing->label,
            e->growing->label);
}

static void say_type(char *text, const struct evidence *e)
{
        bool type = breakdown(e) == HW__BREAKDOWN__BREAKDOWN_TYPE;

        say(text, "Find who keeps %.100s: run with +RTS -hr -h%c%.100s (retainers), or -hc for who makes it",
            e->growing->label, type ? 'y' : 'd', e->growing->label);
}

static void say_retainer(char *text, const struct evidence *e)
{
        say(text, "Look at %.160s: it keeps what grows", e->growing->label);
}

static void say_addresses(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "Give the bands names: compile the program and its libraries with -finfo-table-map "
            "-fdistinct-constructor-tables");
}

static void say_closures(char *text, const struct evidence *e)
{
        say(text, "Find where %.100s are made: ", package_label(e->growing->label).rest);
        say_place_flags(text, e);
}

static void say_first_census(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "Wait for the heap profile's first census, it names what grows: its clock stops while the program waits, a "
            "shorter -i brings it sooner");
}

static void say_no_census(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "Take censuses more often (a shorter -i), they name what grows: its heap profile was on and had none, for "
            "its clock stops while the program waits");
}

static void say_limit_first(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "Give it time before the limit is met (a higher limit, less load, a planned restart); a heap profile with "
            "a short -i (+RTS -hT -i0.5) names what grows");
}

static void say_heap_exhausted(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "Its heap was exhausted without lasting growth here: raise -M or lower the peak, which the charts show");
}

static void say_few_censuses(char *text, const struct evidence *e)
{
        say(text, e->over ? "For what grows take censuses more often (a shorter -i), or let it run for longer"
                          : "Wait for more censuses, they show which band grows; a shorter -i brings them sooner");
}

static void say_spread(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "No band grows by itself: the growth is spread over many. Compare the first half of the run with the "
            "second (Compare), or break down by module (+RTS -hm, built for profiling)");
}

static void say_retained(char *text, const struct evidence *e)
{
        const Hw__Gc *gc = e->t->gc;

        if (gc && gc->nonmoving && gc->nonmoving->has_cycles && gc->nonmoving->cycles)
                say(text,
                    "The nonmoving heap does not compact: try the copying collector (without --nonmoving-gc), or "
                    "see which block sizes stay half empty (GC)");
        else
                say(text,
                    "Look for pinned byte arrays that are kept long (each holds its whole block: copy them, or use "
                    "ShortByteString); a smaller -F or -c makes the heap hold less beside its data");
}

static void say_off_heap(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "No heap profile can show this: look at C libraries, mmap and mallocBytes without free, for example "
            "with heaptrack or bpftrace");
}

static void say_unplaced(char *text, const struct evidence *e)
{
        if (!e->over && !advised(e, HW_ADVICE_FEW_MAJOR) && has_profile(e))
                say(text, "Wait: where it grows shows with the next collections");
        else
                say(text,
                    "Let it collect more often, so that live data are known: a heap profile does at each census "
                    "(+RTS -hT -i1), performMajorGC too");
}

static void say_fragmented(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "The heap holds more than the collector's sizing: look for pinned byte arrays that are kept (copy "
            "them), see Heap and GC for what is not returned");
}

static void say_censuses_cost(char *text, const struct evidence *e)
{
        double share = 0;
        char number[HW_NUMBER_MAX];

        (void)answers_census_share(e->t, &share);
        say(text, "Take censuses less often: %s of the time in collections is the heap profile's own, at ",
            hw_share_text(number, sizeof(number), share));
        say_census_period(text, e->t);
}

static void say_collects_much(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "Allocate less, or give the young generation room: +RTS -A64m -n4m; see GC for which generation "
            "takes the time");
}

static void say_stalled(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "See whether the program runs: an idle one writes nothing, a hung one neither (top, gdb -p)");
}

static void say_restarts(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "Stop what starts it again and again, and read its last output");
}

static void say_other_alert(char *text, const struct evidence *e)
{
        if (e->live)
                say(text, "Read what the rule says: heapwatch alerts --target %s", e->t->name);
        else
                say(text, "Read what the rule says: heapwatch alerts LOG");
}

static void say_damaged(char *text, const struct evidence *e)
{
        (void)e;
        say(text,
            "Part of its log is damaged, numbers may be low: heapwatch doctor LOG says why and which flag to "
            "change");
}

static void say_too_short(char *text, const struct evidence *e)
{
        const char *step = shorter_step(e);

        if (step && !e->live) {
                say(text, "For a verdict judge in shorter steps: heapwatch trend LOG --resolution %s", step);
        } else if (step) {
                say(text, "For a verdict judge the next run in shorter steps: heapwatch run --resolution %s", step);
        } else {
                say(text, "Let it run for longer: a verdict takes ");
                say_duration(text, SURE_STEPS * LIMIT_RESOLUTION_LEAST_NS);
                say(text, " at least, with collections in most of that time");
        }
}

static void say_too_few_collections(char *text, const struct evidence *e)
{
        say(text, has_profile(e)
                          ? "Let it run for longer, or take censuses more often: each is a major collection that "
                            "shows what is live"
                          : "Let it run for longer, or collect more often: a heap profile does at each census "
                            "(+RTS -hT -i1), performMajorGC too");
}

static void say_verdict_comes(char *text, const struct evidence *e)
{
        say(text, "Wait for the verdict, in ");
        say_duration(text, e->trend->verdict_in_ns);
        if (step_in_use(e) > 1000000000)
                say(text, "; shorter steps judge sooner: heapwatch run --resolution 1s");
}

static void say_no_live_yet(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "Wait for a major collection: a heap profile makes one at each census (+RTS -hT -i10)");
}

static void say_keeps_events(char *text, const struct evidence *e)
{
        say(text,
            "Watch it from inside: heapwatch attach PID; or let a thread of it call Debug.Trace.flushEventLog once a "
            "second%s",
            advised(e, HW_ADVICE_OLD_GHC) ? " (GHC 9.2 or newer)" : "");
}

static void say_advice(char *text, const struct evidence *e)
{
        say(text, "%.480s", e->t->health->advice[0]->text);
}

static void say_kept(char *text, const struct evidence *e)
{
        say(text, "Nothing. It stays as it ended; to remove it: heapwatch ctl remove %s", e->t->name);
}

static void say_nothing(char *text, const struct evidence *e)
{
        (void)e;
        say(text, "Nothing");
}

/* ------------------------------------------------------------------- table */

static const struct advice {
        const char *name;
        bool (*when)(const struct evidence *e);
        void (*say)(char *text, const struct evidence *e);
} table[] = {
        { "cannot-be-read", cannot_be_read, say_cannot_be_read },
        { "not-begun", not_begun, say_not_begun },
        { "no-collections", no_collections, say_no_collections },
        { "not-flushed", keeps_events, say_keeps_events },
        { "out-of-memory", out_of_memory, say_out_of_memory },
        { "heap-exhausted", heap_exhausted, say_heap_exhausted },
        { "killed", killed_steady, say_killed },
        { "failed", failed_steady, say_failed },
        { "limit-first", limit_first, say_limit_first },
        { "no-census", no_census, say_no_census },
        { "first-census", first_census, say_first_census },
        { "no-profile", live_without_profile, say_without_profile },
        { "thunks", thunks, say_thunks },
        { "byte-arrays", byte_arrays, say_byte_arrays },
        { "place", place_known, say_place },
        { "stack", stack_known, say_stack },
        { "module", module_known, say_module },
        { "type", type_known, say_type },
        { "retainer", retainer_known, say_retainer },
        { "addresses", addresses_only, say_addresses },
        { "closures", closures_known, say_closures },
        { "few-censuses", few_censuses, say_few_censuses },
        { "spread", spread, say_spread },
        { "retention", retained, say_retained },
        { "off-heap", off_heap, say_off_heap },
        { "unplaced", growth_unplaced, say_unplaced },
        { "connection-lost", connection_lost, say_connection_lost },
        { "fragmentation", fragmented, say_fragmented },
        { "censuses", censuses_cost, say_censuses_cost },
        { "collections", collects_much, say_collects_much },
        { "stalled", stalled, say_stalled },
        { "restarts", restarts, say_restarts },
        { "alert", other_alert, say_other_alert },
        { "damaged", damaged, say_damaged },
        { "few-collections", too_few_collections, say_too_few_collections },
        { "too-short", too_short, say_too_short },
        { "verdict-comes", verdict_comes, say_verdict_comes },
        { "no-live-yet", no_live_yet, say_no_live_yet },
        { "advice", has_advice, say_advice },
        { "kept", kept, say_kept },
        { "nothing", always, say_nothing },
};

static const struct advice *find(const struct evidence *e)
{
        const struct advice *a = table;

        while (!a->when(e))
                a++;
        return a;
}

const char *advice_name(const struct evidence *e)
{
        return find(e)->name;
}

/* Every advice begins with a word of its own, never with a label. */
void answer_next(struct target_answer *a, const struct evidence *e)
{
        const struct advice *found = find(e);
        const char *before = e->grows && e->ending >= ENDED_BADLY && e->ending <= LOST ? "Before it runs again: "
                             : e->verdict == HW__VERDICT__VERDICT_GROWING && !e->over  ? "If it goes on: "
                                                                                       : "";
        size_t n = strlen(before);

        say(a->text, "%s", before);
        found->say(a->text, e);
        if (n)
                a->text[n] = (char)tolower((unsigned char)a->text[n]);
        a->tone = found->say == say_nothing || found->say == say_kept ? ANSWER_DIM : ANSWER_WARN;
}

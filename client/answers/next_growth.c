/* SPDX-License-Identifier: BSD-3-Clause */
/* next_growth.c - what to do next: where to look for what grows, and which profile shows more. */
#include "client/answers/advice.h"

#include <stdio.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/world/state/band_name.h"
#include "proto/eventlog/advice.h"

/* What grows is not known yet, and what there is of it may not last until then. */
CONDITION(limit_first, live_grows(e) && !e->over && !e->growing && limit_is_near(e))

CONDITION(process_grows, e->grows && e->process_only)

CONDITION(no_census, live_grows(e) && !has_profile(e) && awaits_census(e) && e->over)

static void append_no_census(char *text, const struct evidence *e)
{
        append_text(text, "%s",
                    world_from_outside(e->t)
                            ? "Let it run for longer: a census names what grows, and it ended before the first"
                            : "Take censuses more often (a shorter -i), they name what grows: its heap profile was on "
                              "and had none, for its clock stops while the program waits");
}

CONDITION(first_census, live_grows(e) && !has_profile(e) && awaits_census(e) && !e->over)

static void append_first_census(char *text, const struct evidence *e)
{
        if (world_from_outside(e->t))
                append_text(text, "Wait for its first census, it names what grows; heapwatch heap %s takes one now",
                            e->t->name);
        else
                append_text(text,
                            "Wait for the heap profile's first census, it names what grows: its clock stops "
                            "while the program waits, a shorter -i brings it sooner");
}

CONDITION(live_without_profile, live_grows(e) && !has_profile(e))

static const Hw__Run *run_of(const struct evidence *e)
{
        return e->t->target ? e->t->target->run_info : NULL;
}

/* 902 for GHC 9.2; 0: unknown. */
static unsigned major_ghc_version(const struct evidence *e)
{
        const Hw__Run *run = run_of(e);
        unsigned major = 0, minor = 0;

        if (!run || !run->ghc_version || sscanf(run->ghc_version, "%u.%u", &major, &minor) != 2 || minor > 99)
                return 0;
        return 100 * major + minor;
}

static void append_profile_flags(char *text, const struct evidence *e)
{
        const Hw__Run *run = run_of(e);

        if (run && run->has_profiled && run->profiled)
                append_text(text, "+RTS -hc -i1 (by call stack; it is built for profiling)");
        else if (major_ghc_version(e) >= 902)
                append_text(text,
                            "+RTS -hT -i1 at once, or compile with -finfo-table-map -fdistinct-constructor-tables and "
                            "run with +RTS -hi -i1 for the place in the source");
        else
                append_text(text,
                            "+RTS -hT -i1 (kinds of closures, any build), or compile with -prof and run with +RTS -hc "
                            "-i1 for the place in the source");
}

static void append_without_profile(char *text, const struct evidence *e)
{
        append_text(text, "Switch on a heap profile; it names what grows: ");
        append_profile_flags(text, e);
}

static Hw__Breakdown breakdown_of(const struct evidence *e)
{
        const Hw__Run *run = run_of(e);

        return run && run->has_breakdown ? run->breakdown : HW__BREAKDOWN__BREAKDOWN_NONE;
}

static bool label_has(const struct evidence *e, const char *text)
{
        return e->growing && e->growing->label && strstr(e->growing->label, text);
}

CONDITION(thunks, live_grows(e) && breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE &&
                          (label_has(e, "THUNK") || label_has(e, "AP_STACK") || label_has(e, "BLACKHOLE")))

/* Threads that wait at one place: inspect/ghc/thread_bands.c. */
CONDITION(waiting_threads, live_grows(e) && e->growing && e->growing->label && e->growing->threads)

static void append_waiting_threads(char *text, const struct evidence *e)
{
        append_text(text, "Find who should end these %.120s: ", e->growing->label);
        if (e->over)
                append_text(text, "they are made, and wait for what does not come");
        else
                append_text(text, "heapwatch threads %s counts them and shows their stacks", e->t->name);
}

CONDITION(threads_pile_up, !e->over && e->threads)

static void append_threads_pile_up(char *text, const struct evidence *e)
{
        append_text(text, "Find who should end these threads: heapwatch threads %s counts them and shows their stacks",
                    e->t->name);
}

static bool label_is(const struct evidence *e, const char *text)
{
        return e->growing && e->growing->label && !strcmp(e->growing->label, text);
}

CONDITION(threads, live_grows(e) && breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE &&
                           (label_is(e, "STACK") || label_is(e, "TSO")))

static void append_threads(char *text, const struct evidence *e)
{
        append_text(text, "Find threads that nobody ends, or a recursion that is too deep: ");
        if (e->over)
                append_text(text, "heapwatch threads shows what they wait for, while it runs");
        else
                append_text(text, "heapwatch threads %s shows what they wait for, and how deep their stacks are",
                            e->t->name);
}

static void append_place_flags(char *text, const struct evidence *e)
{
        if (major_ghc_version(e) >= 902)
                append_text(text, "compile with -finfo-table-map -fdistinct-constructor-tables, run with +RTS -hi -i1");
        else
                append_text(text, "compile with -prof, run with +RTS -hc -i1");
}

static void append_thunks(char *text, const struct evidence *e)
{
        append_text(
                text,
                "Unevaluated work piles up: look for lazy accumulators and fields (foldl', modifyIORef', strict maps). "
                "For the place: ");
        append_place_flags(text, e);
}

CONDITION(byte_arrays, live_grows(e) && (label_has(e, "ARR_WORDS") || label_has(e, "PINNED")))

static void append_byte_arrays(char *text, const struct evidence *e)
{
        const char *source = band_source(e->band);

        append_text(
                text,
                "Byte arrays grow (ByteString, Text): a small slice that is kept holds its whole buffer, copy it. ");
        if (source) {
                append_text(text, "Look at %.160s", source);
                return;
        }
        append_text(text, "For the place: ");
        append_place_flags(text, e);
}

CONDITION(place_known, live_grows(e) && band_source(e->band))

static void append_place(char *text, const struct evidence *e)
{
        char said[CONTENTS_TEXT];

        append_text(text, "Look at %.200s, where %.120s are made: who keeps them, and what should let them go?",
                    band_source(e->band), growing_said(said, sizeof(said), e));
}

CONDITION(stack_known, live_grows(e) && e->growing && breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK)

static void append_stack(char *text, const struct evidence *e)
{
        size_t n = strcspn(e->growing->label ? e->growing->label : "", ";");

        append_text(text, "Look at %.*s: what it makes is kept. Who keeps it: +RTS -hr (retainers)",
                    (int)(n < 160 ? n : 160), e->growing->label ? e->growing->label : "");
}

CONDITION(module_known, live_grows(e) && e->growing && breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_MODULE)

static void append_module(char *text, const struct evidence *e)
{
        append_text(text, "Look into module %.100s; run with +RTS -hc -hm%.100s for the function", e->growing->label,
                    e->growing->label);
}

CONDITION(type_known, live_grows(e) && e->growing &&
                              (breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_TYPE ||
                               breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_CLOSURE_DESCRIPTION))

static void append_type(char *text, const struct evidence *e)
{
        bool type = breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_TYPE;

        append_text(text, "Find who keeps %.100s: run with +RTS -hr -h%c%.100s (retainers), or -hc for who makes it",
                    e->growing->label, type ? 'y' : 'd', e->growing->label);
}

CONDITION(retainer_known, live_grows(e) && e->growing && breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_RETAINER)

static void append_retainer(char *text, const struct evidence *e)
{
        append_text(text, "Look at %.160s: it keeps what grows", e->growing->label);
}

CONDITION(addresses_only,
          live_grows(e) && e->growing && is_unnamed_table(e, e->growing->label ? e->growing->label : ""))

CONDITION(closures_known, live_grows(e) && e->growing)

static void append_closures(char *text, const struct evidence *e)
{
        char said[CONTENTS_TEXT];

        append_text(text, "Find where %.100s are made: ", growing_said(said, sizeof(said), e));
        if (breakdown_of(e) == HW__BREAKDOWN__BREAKDOWN_INFO_TABLE)
                append_text(text, "no place in the source is known for it, so see what grows beside it");
        else
                append_place_flags(text, e);
}

CONDITION(few_censuses, live_grows(e) && has_profile(e) && (!bands_judged(e) || census_is_stale(e)))

static void append_few_censuses(char *text, const struct evidence *e)
{
        if (e->live && !e->over && is_by_agent(e))
                append_text(text,
                            "Wait for more censuses, they show which band grows; in up to 5 %% of its time they come "
                            "sooner: heapwatch ctl agent %s budget 5",
                            e->t->name);
        else if (world_from_outside(e->t) && !e->over)
                append_text(text, "Wait for more censuses, they show which band grows");
        else
                append_text(text,
                            e->over ? "For what grows take censuses more often (a shorter -i), or let it run for longer"
                                    : "Wait for more censuses, they show which band grows; a shorter -i brings them "
                                      "sooner");
}

CONDITION(spread, live_grows(e) && has_profile(e))

CONDITION(retained, e->grows && e->where == HW__GROWTH__WHERE__WHERE_RETENTION)

static void append_retained(char *text, const struct evidence *e)
{
        const Hw__Gc *gc = e->t->gc;

        if (gc && gc->nonmoving && gc->nonmoving->has_cycles && gc->nonmoving->cycles)
                append_text(
                        text,
                        "The nonmoving heap does not compact: try the copying collector (without --nonmoving-gc), or "
                        "see which block sizes stay half empty (GC)");
        else
                append_text(
                        text,
                        "Look for pinned byte arrays that are kept long (each holds its whole block: copy them, or use "
                        "ShortByteString); a smaller -F or -c makes the heap hold less beside its data");
}

CONDITION(foreign, e->foreign)

void append_foreign_advice(char *text, const struct evidence *e)
{
        (void)e;
        append_text(
                text,
                "No heap profile can show this: look at C libraries, mmap and mallocBytes without free, for example "
                "with heaptrack or bpftrace");
}

CONDITION(growth_unplaced, e->grows && e->where == HW__GROWTH__WHERE__WHERE_UNKNOWN)

static void append_unplaced(char *text, const struct evidence *e)
{
        if (append_agents_budget(text, e))
                return;
        if (!e->over && !is_advised(e, HW_ADVICE_FEW_MAJOR) && has_profile(e))
                append_text(text, "Wait: where it grows shows with the next collections");
        else
                append_text(text,
                            "Let it collect more often, so that live data is known: a heap profile does at each census "
                            "(+RTS -hT -i1), performMajorGC too");
}

const struct advice advice_of_growth[] = {
        { "limit-first", limit_first,
          .text = "Give it time before the limit is met (a higher limit, less load, a planned restart); a heap "
                  "profile with a short -i (+RTS -hT -i0.5) names what grows" },
        { "process-growth", process_grows, .append = append_process_only },
        { "no-census", no_census, .append = append_no_census },
        { "first-census", first_census, .append = append_first_census },
        { "no-profile", live_without_profile, .append = append_without_profile },
        { "waiting-threads", waiting_threads, .append = append_waiting_threads },
        { "threads-pile-up", threads_pile_up, .append = append_threads_pile_up },
        { "threads", threads, .append = append_threads },
        { "thunks", thunks, .append = append_thunks },
        { "byte-arrays", byte_arrays, .append = append_byte_arrays },
        { "place", place_known, .append = append_place },
        { "stack", stack_known, .append = append_stack },
        { "module", module_known, .append = append_module },
        { "type", type_known, .append = append_type },
        { "retainer", retainer_known, .append = append_retainer },
        { "addresses", addresses_only,
          .text = "Give the bands names: compile the program and its libraries with -finfo-table-map "
                  "-fdistinct-constructor-tables" },
        { "closures", closures_known, .append = append_closures },
        { "few-censuses", few_censuses, .append = append_few_censuses },
        { "spread", spread,
          .text = "No band grows by itself: the growth is spread over many. Compare the first half of the run with the "
                  "second (Compare), or break down by module (+RTS -hm, built for profiling)" },
        { "retention", retained, .append = append_retained },
        { "foreign", foreign, .append = append_foreign_advice },
        { "unplaced", growth_unplaced, .append = append_unplaced },
        { .name = NULL },
};

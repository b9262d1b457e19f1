/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * next.c - what to do next: what the evidence supports and no more: which file to read, which profile to switch on,
 * which command to type. The first row whose condition holds is said; the most urgent come first.
 */
#include "client/answers/evidence.h"

#include <ctype.h>
#include <string.h>

#include "client/world/state/band_name.h"
#include "proto/eventlog/advice.h"

static bool has_profile(const struct evidence *e)
{
        return e->t->census || e->t->n_bands;
}

/* -------------------- what keeps it from being seen, and how it ended */

static bool ended_without_growth(const struct evidence *e, enum ending ending)
{
        return e->ending == ending && !e->grows && !e->rise;
}

WHEN(cannot_be_read, e->ending == FAILED)
WHEN(not_begun, e->ending == AWAITED)
WHEN(stopped_by_signal, e->ending == STOPPED && run_of(e) && run_of(e)->pid && strstr(e->detail, "SIGSTOP"))
WHEN(stopped, e->ending == STOPPED)
WHEN(no_collections, is_advised(e, HW_ADVICE_NO_GC_EVENTS))
WHEN(events_kept, keeps_events(e))
WHEN(out_of_memory, e->ending >= ENDED_BADLY && e->ending <= LOST && !e->grows && !e->rise &&
                            e->t->target->has_oom_killed && e->t->target->oom_killed)
WHEN(heap_exhausted, ended_without_growth(e, ENDED_BADLY) && e->t->target->exit_status == EXIT_HEAP_EXHAUSTED)
WHEN(heap_exhausted_unseen, heap_exhausted(e) && !e->t->run)
WHEN(killed_by_kill, ended_without_growth(e, KILLED) && e->t->target->exit_signal == 9)
WHEN(killed_with_pid, ended_without_growth(e, KILLED) && run_of(e) && run_of(e)->pid)
WHEN(killed, ended_without_growth(e, KILLED))
WHEN(failed, ended_without_growth(e, ENDED_BADLY) || ended_without_growth(e, CRASHED))
WHEN(failed_unseen, failed(e) && !e->t->run)
WHEN(not_completed, e->ending == ENDED_SOMEHOW && !e->trend)

#define READABLE "; meanwhile heapwatch why {target} and heapwatch threads {target} read it as it is"
#define OOM_LOOK "journalctl -k --grep \"out of memory\""
#define BEFORE                                                                                                         \
        "[{if_steady_before}memory did not grow before][{if_unknown_before}whether memory grew before is not known]"

/* ------------------------------------------------------------- what grows */

static Hw__Breakdown breakdown_of(const struct evidence *e)
{
        const Hw__Run *run = run_of(e);

        return run && run->has_breakdown ? run->breakdown : HW__BREAKDOWN__BREAKDOWN_NONE;
}

static bool label_has(const struct evidence *e, const char *text)
{
        return e->growing && e->growing->label && strstr(e->growing->label, text);
}

static bool label_is(const struct evidence *e, const char *text)
{
        return e->growing && e->growing->label && !strcmp(e->growing->label, text);
}

/* Live data grows, and the heap profile is by this. */
static bool grows_by(const struct evidence *e, Hw__Breakdown breakdown)
{
        return live_grows(e) && e->growing && e->growing->label && breakdown_of(e) == breakdown;
}

/* Live data is known too rarely, since the agent keeps to its budget. */
static bool is_within_agents_budget(const struct evidence *e)
{
        return !e->over && e->live && is_by_agent(e) && e->t->census && e->trend && !e->trend->has_verdict_in_ns;
}

/* What grows is not known yet, and what there is of the limit may not last until then. */
WHEN(limit_first, live_grows(e) && !e->over && !e->growing && limit_is_near(e))
WHEN(process_grows, e->grows && e->process_only)
WHEN(process_grows_for_reason, process_grows(e) && has_process_reason(e))
WHEN(census_to_come, live_grows(e) && !has_profile(e) && awaits_census(e))
WHEN(census_to_come_from_outside, census_to_come(e) && world_from_outside(e->t))
WHEN(no_census_from_outside, census_to_come_from_outside(e) && e->over)
WHEN(no_census, census_to_come(e) && e->over)
WHEN(no_profile, live_grows(e) && !has_profile(e))
WHEN(no_profile_profiled, no_profile(e) && run_of(e) && run_of(e)->has_profiled && run_of(e)->profiled)
WHEN(no_profile_902, no_profile(e) && ghc_version_of(e) >= 902)
/* Threads that wait at one place: inspect/ghc/thread_bands.c. */
WHEN(waiting_threads, live_grows(e) && e->growing && e->growing->label && e->growing->threads)
WHEN(waiting_threads_over, waiting_threads(e) && e->over)
WHEN(threads_pile_up, !e->over && e->threads)
WHEN(threads_grow, grows_by(e, HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE) && (label_is(e, "STACK") || label_is(e, "TSO")))
WHEN(threads_grow_now, threads_grow(e) && !e->over)
WHEN(thunks, grows_by(e, HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE) &&
                     (label_has(e, "THUNK") || label_has(e, "AP_STACK") || label_has(e, "BLACKHOLE")))
WHEN(byte_arrays, live_grows(e) && (label_has(e, "ARR_WORDS") || label_has(e, "PINNED")))
WHEN(byte_arrays_placed, byte_arrays(e) && band_source(e->band))
WHEN(place_known, live_grows(e) && band_source(e->band))
WHEN(stack_known, grows_by(e, HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK))
WHEN(module_known, grows_by(e, HW__BREAKDOWN__BREAKDOWN_MODULE))
WHEN(type_known, grows_by(e, HW__BREAKDOWN__BREAKDOWN_TYPE))
WHEN(description_known, grows_by(e, HW__BREAKDOWN__BREAKDOWN_CLOSURE_DESCRIPTION))
WHEN(retainer_known, grows_by(e, HW__BREAKDOWN__BREAKDOWN_RETAINER))
WHEN(address_known, live_grows(e) && e->growing && is_unnamed_table(e, e->growing->label ? e->growing->label : ""))
WHEN(table_known, grows_by(e, HW__BREAKDOWN__BREAKDOWN_INFO_TABLE))
WHEN(closures_known, live_grows(e) && e->growing)
WHEN(few_censuses, live_grows(e) && has_profile(e) && (!bands_judged(e) || census_is_stale(e)))
WHEN(few_censuses_of_agent, few_censuses(e) && e->live && !e->over && is_by_agent(e))
WHEN(few_censuses_from_outside, few_censuses(e) && !e->over && world_from_outside(e->t))
WHEN(spread, live_grows(e) && has_profile(e))
WHEN(retained, e->grows && e->where == HW__GROWTH__WHERE__WHERE_RETENTION)
WHEN(retained_nonmoving,
     retained(e) && e->t->gc && e->t->gc->nonmoving && e->t->gc->nonmoving->has_cycles && e->t->gc->nonmoving->cycles)
WHEN(foreign, e->foreign)
WHEN(unplaced, e->grows && e->where == HW__GROWTH__WHERE__WHERE_UNKNOWN)
WHEN(unplaced_of_agent, unplaced(e) && is_within_agents_budget(e))
WHEN(unplaced_yet, unplaced(e) && !e->over && !is_advised(e, HW_ADVICE_FEW_MAJOR) && has_profile(e))

#define PROCESS_REASON "Only its process is watched: {process_reason}"
#define PLACE_FLAGS                                                                                                    \
        "[{if_ghc_902}compile with -finfo-table-map -fdistinct-constructor-tables, run with +RTS -hi -i1]"             \
        "[{if_ghc_older}compile with -prof, run with +RTS -hc -i1]"
#define SWITCH_ON    "Switch on a heap profile; it names what grows: +RTS "
#define BYTE_ARRAYS  "Byte arrays grow (ByteString, Text): a small slice that is kept holds its whole buffer, copy it. "
#define END_THREADS  "Find who should end these "
#define SEE_STACKS   "heapwatch threads {target} counts them and shows their stacks"
#define THREADS_GROW "Find threads that nobody ends, or a recursion that is too deep: heapwatch threads "
#define FOREIGN                                                                                                        \
        "No heap profile can show this: look at C libraries, mmap and mallocBytes without free, for example with "     \
        "heaptrack or bpftrace"
#define AGENTS_BUDGET                                                                                                  \
        "Have live data measured more often, in up to 5 % of its time: heapwatch ctl agent {target} budget 5"

/* ---------------------------------------------------- what an alert asks for */

static bool alert_fires(const struct evidence *e, const char *rule)
{
        return e->alert && e->alert->rule && !strcmp(e->alert->rule, rule);
}

static bool censuses_collect(const struct evidence *e)
{
        double share;

        return answers_census_share(e->t, &share) && share > 0.5;
}

WHEN(connection_lost, e->ending == LOST)
/* Before a verdict names what grows; the agent and the alert's own `why` may have found it by now. */
WHEN(runs_out, !e->over && !e->grows && e->early && early_runs_out(e->early))
WHEN(runs_out_outside, runs_out(e) && early_is_foreign(e->early))
WHEN(fragmented, alert_fires(e, "fragmentation"))
WHEN(collects_much, alert_fires(e, "gc-share") || alert_fires(e, "gc-pauses"))
WHEN(censuses_cost, collects_much(e) && censuses_collect(e))
WHEN(stalled, alert_fires(e, "stream-stalled"))
WHEN(restarts, alert_fires(e, "restart-loop"))
WHEN(other_alert, e->alert)
WHEN(damaged, e->t->health && e->t->health->has_lost_bytes && e->t->health->lost_bytes)

/* ------------------------------------------- what is missing for a verdict */

static bool has_used_much(const struct evidence *e)
{
        const char *name;
        double share;

        return share_of_limit(e, &name, &share) && share >= MUCH_OF_LIMIT;
}

WHEN(process_only, e->process_only)
WHEN(process_only_for_reason, e->process_only &&has_process_reason(e))
WHEN(rises, e->early)
WHEN(rises_outside, rises(e) && early_is_foreign(e->early))
WHEN(rises_unseen, rises(e) && e->early->n_bands == 0)
WHEN(rises_watched, rises(e) && e->live && !e->process_only)
WHEN(few_collections,
     !e->verdict && e->trend && e->trend->verdict == HW__VERDICT__VERDICT_UNKNOWN && !e->trend->has_verdict_in_ns)
WHEN(few_collections_of_agent, few_collections(e) && is_within_agents_budget(e))
WHEN(few_collections_from_outside, few_collections(e) && world_from_outside(e->t))
WHEN(few_collections_profiled, few_collections(e) && has_profile(e))
WHEN(too_short, e->over && !e->verdict)
WHEN(too_short_log, too_short(e) && !e->live && shorter_step(e))
WHEN(too_short_run, too_short(e) && shorter_step(e))
WHEN(verdict_comes, !e->over && !e->verdict && e->trend && e->trend->has_verdict_in_ns)
WHEN(climbs, verdict_comes(e) && e->climbs)
WHEN(may_grow, verdict_comes(e) && e->may_grow)
WHEN(much_is_used, verdict_comes(e) && has_used_much(e))
WHEN(steady_so_far, verdict_comes(e) && e->steady_so_far)
WHEN(no_live_yet, !e->over && !e->verdict && !e->trend)
WHEN(has_advice, e->t->health && e->t->health->n_advice && e->t->health->advice[0]->text)
WHEN(kept, e->live && e->over && e->t->target->has_kept && e->t->target->kept)

#define ELSE      "[; if it is not found, restart it within {restart_within}]"
#define JUDGED_IN "; slow growth is judged in {verdict_in}[ to {verdict_by}]"

/* A text begins with a word of its own, never a label: its first letter may become a small one. */
const struct phrase_row sentences_next[] = {
        { "cannot-be-read", cannot_be_read,
          "Fix what its state says, or watch another source: heapwatch remove {target}, then heapwatch add",
          ANSWER_WARN },
        { "not-begun", not_begun, "Start the program with +RTS -l; heapwatch run -- PROGRAM starts and watches it",
          ANSWER_WARN },
        { "stopped", stopped_by_signal, "Let it go on: kill -CONT {pid} (fg in its terminal)" READABLE, ANSWER_WARN },
        { "stopped", stopped, "Let whoever has stopped it continue it" READABLE, ANSWER_WARN },
        { "no-collections", no_collections,
          "Run it with +RTS -l: collections are not in its log, so nothing is known of its heap", ANSWER_WARN },
        { "not-flushed", events_kept,
          "Watch it from inside: heapwatch attach PID; or let a thread of it call Debug.Trace.flushEventLog once a "
          "second[{if_old_ghc} (GHC 9.2 or newer)]",
          ANSWER_WARN },
        { "out-of-memory", out_of_memory,
          "Its control group ran out of memory, and no rise of this program's is seen: see who used it (" OOM_LOOK
          "), and raise the limit or lower the peak",
          ANSWER_WARN },
        { "heap-exhausted", heap_exhausted_unseen,
          "Its heap was exhausted before anything of its log was seen: raise -M, or read its last output",
          ANSWER_WARN },
        { "heap-exhausted", heap_exhausted,
          "Its heap was exhausted, and no rise of live data towards that is seen: look at the charts for a peak, which "
          "needs a higher -M or less held at once",
          ANSWER_WARN },
        { "killed", killed_by_kill, "Find who sent SIGKILL: " OOM_LOOK " shows the kernel's own; " BEFORE,
          ANSWER_WARN },
        { "killed", killed_with_pid,
          "Read its last output, and its core file, if systemd keeps one (heapwatch threads coredump:{pid}): " BEFORE,
          ANSWER_WARN },
        { "killed", killed, "Read its last output, and its core file, if systemd keeps one (coredumpctl list): " BEFORE,
          ANSWER_WARN },
        { "failed", failed_unseen, "Read its last output: it ended before anything of its log was seen", ANSWER_WARN },
        { "failed", failed, "Read its last output: nothing here explains the end, " BEFORE, ANSWER_WARN },
        { "not-completed", not_completed,
          "Watch the next run by heapwatch run -- PROGRAM, which sees how it ends; what this one had in its buffers is "
          "lost",
          ANSWER_WARN },

        { "limit-first", limit_first,
          "Give it time before the limit is met (a higher limit, less load, a planned restart); a heap profile with a "
          "short -i (+RTS -hT -i0.5) names what grows",
          ANSWER_WARN },
        { "process-growth", process_grows_for_reason, PROCESS_REASON, ANSWER_WARN },
        { "process-growth", process_grows, "{process_advice}", ANSWER_WARN },
        { "no-census", no_census_from_outside,
          "Let it run for longer: a census names what grows, and it ended before the first", ANSWER_WARN },
        { "no-census", no_census,
          "Take censuses more often (a shorter -i), they name what grows: its heap profile was on and had none, for "
          "its clock stops while the program waits",
          ANSWER_WARN },
        { "first-census", census_to_come_from_outside,
          "Wait for its first census, it names what grows; heapwatch heap {target} takes one now", ANSWER_WARN },
        { "first-census", census_to_come,
          "Wait for the heap profile's first census, it names what grows: its clock stops while the program waits, a "
          "shorter -i brings it sooner",
          ANSWER_WARN },
        { "no-profile", no_profile_profiled, SWITCH_ON "-hc -i1 (by call stack; it is built for profiling)",
          ANSWER_WARN },
        { "no-profile", no_profile_902,
          SWITCH_ON "-hT -i1 at once, or compile with -finfo-table-map -fdistinct-constructor-tables and run with +RTS "
                    "-hi -i1 for the place in the source",
          ANSWER_WARN },
        { "no-profile", no_profile,
          SWITCH_ON "-hT -i1 (kinds of closures, any build), or compile with -prof and run with +RTS -hc -i1 for the "
                    "place in the source",
          ANSWER_WARN },
        { "waiting-threads", waiting_threads_over,
          END_THREADS "{growing_label}: they are made, and wait for what does not come", ANSWER_WARN },
        { "waiting-threads", waiting_threads, END_THREADS "{growing_label}: " SEE_STACKS, ANSWER_WARN },
        { "threads-pile-up", threads_pile_up, END_THREADS "threads: " SEE_STACKS, ANSWER_WARN },
        { "threads", threads_grow_now, THREADS_GROW "{target} shows what they wait for, and how deep their stacks are",
          ANSWER_WARN },
        { "threads", threads_grow, THREADS_GROW "shows what they wait for, while it runs", ANSWER_WARN },
        { "thunks", thunks,
          "Unevaluated work piles up: look for lazy accumulators and fields (foldl', modifyIORef', strict maps). For "
          "the place: " PLACE_FLAGS,
          ANSWER_WARN },
        { "byte-arrays", byte_arrays_placed, BYTE_ARRAYS "Look at {growing_source}", ANSWER_WARN },
        { "byte-arrays", byte_arrays, BYTE_ARRAYS "For the place: " PLACE_FLAGS, ANSWER_WARN },
        { "place", place_known,
          "Look at {growing_source}, where {growing} are made: who keeps them, and what should let them go?",
          ANSWER_WARN },
        { "stack", stack_known,
          "Look at {growing_stack_top}: what it makes is kept. Who keeps it: +RTS -hr (retainers)", ANSWER_WARN },
        { "module", module_known,
          "Look into module {growing_label}; run with +RTS -hc -hm{growing_label} for the function", ANSWER_WARN },
        { "type", type_known,
          "Find who keeps {growing_label}: run with +RTS -hr -hy{growing_label} (retainers), or -hc for who makes it",
          ANSWER_WARN },
        { "type", description_known,
          "Find who keeps {growing_label}: run with +RTS -hr -hd{growing_label} (retainers), or -hc for who makes it",
          ANSWER_WARN },
        { "retainer", retainer_known, "Look at {growing_label}: it keeps what grows", ANSWER_WARN },
        { "addresses", address_known,
          "Give the bands names: compile the program and its libraries with -finfo-table-map "
          "-fdistinct-constructor-tables",
          ANSWER_WARN },
        { "closures", table_known,
          "Find where {growing} are made: no place in the source is known for it, so see what grows beside it",
          ANSWER_WARN },
        { "closures", closures_known, "Find where {growing} are made: " PLACE_FLAGS, ANSWER_WARN },
        { "few-censuses", few_censuses_of_agent,
          "Wait for more censuses, they show which band grows; in up to 5 % of its time they come sooner: heapwatch "
          "ctl agent {target} budget 5",
          ANSWER_WARN },
        { "few-censuses", few_censuses_from_outside, "Wait for more censuses, they show which band grows",
          ANSWER_WARN },
        { "few-censuses", few_censuses,
          "{Wait for more censuses, they show which band grows; a shorter -i brings them sooner|For what grows take "
          "censuses more often (a shorter -i), or let it run for longer}",
          ANSWER_WARN },
        { "spread", spread,
          "No band grows by itself: the growth is spread over many. Compare the first half of the run with the second "
          "(Compare), or break down by module (+RTS -hm, built for profiling)",
          ANSWER_WARN },
        { "retention", retained_nonmoving,
          "The nonmoving heap does not compact: try the copying collector (without --nonmoving-gc), or see which block "
          "sizes stay half empty (GC)",
          ANSWER_WARN },
        { "retention", retained,
          "Look for pinned byte arrays that are kept long (each holds its whole block: copy them, or use "
          "ShortByteString); a smaller -F or -c makes the heap hold less beside its data",
          ANSWER_WARN },
        { "foreign", foreign, FOREIGN, ANSWER_WARN },
        { "unplaced", unplaced_of_agent, AGENTS_BUDGET, ANSWER_WARN },
        { "unplaced", unplaced_yet, "Wait: where it grows shows with the next collections", ANSWER_WARN },
        { "unplaced", unplaced,
          "Let it collect more often, so that live data is known: a heap profile does at each census (+RTS -hT -i1), "
          "performMajorGC too",
          ANSWER_WARN },

        { "connection-lost", connection_lost, "See whether the program still runs; heapwatch connects again by itself",
          ANSWER_WARN },
        { "runs-out", runs_out_outside, FOREIGN, ANSWER_WARN },
        { "runs-out", runs_out,
          "[{if_live}Keep who holds what while it is there: heapwatch heap {target} -o {target}.heapgraph. ]A higher "
          "limit, less load or a planned restart gives time",
          ANSWER_WARN },
        { "fragmentation", fragmented,
          "The heap holds more than the collector's sizing: look for pinned byte arrays that are kept (copy them), see "
          "Heap and GC for what is not returned",
          ANSWER_WARN },
        { "censuses", censuses_cost,
          "Take censuses less often: {census_share} of the time in collections is the heap profile's own, at "
          "{census_period}",
          ANSWER_WARN },
        { "collections", collects_much,
          "Allocate less, or give the nursery more room: +RTS -A64m -n4m; see GC for which generation takes the time",
          ANSWER_WARN },
        { "stalled", stalled,
          "See whether the program runs: an idle one writes nothing, a hung one neither (top, gdb -p)", ANSWER_WARN },
        { "restarts", restarts, "Stop what starts it again and again, and read its last output", ANSWER_WARN },
        { "alert", other_alert, "Read what the rule says: heapwatch alerts [{if_live}--target {target}][{if_log}LOG]",
          ANSWER_WARN },
        { "damaged", damaged,
          "Part of its log is damaged, numbers may be low: heapwatch doctor LOG says why and which flag to change",
          ANSWER_WARN },

        { "process-only", process_only_for_reason, PROCESS_REASON, ANSWER_WARN },
        { "process-only", process_only, "{process_advice}", ANSWER_WARN },
        { "rises", rises_outside, FOREIGN ELSE, ANSWER_WARN },
        { "rises", rises_unseen, "Take a census to see what rises: heapwatch ctl census {target}" ELSE, ANSWER_WARN },
        { "rises", rises_watched, "See what keeps it: heapwatch why {target} --brief; what changed when it began?" ELSE,
          ANSWER_WARN },
        { "rises", rises, "See what changed when it began" ELSE, ANSWER_WARN },
        { "few-collections", few_collections_of_agent, AGENTS_BUDGET, ANSWER_WARN },
        { "few-collections", few_collections_from_outside,
          "Let it run for longer: a verdict takes more major collections, which the program makes rarely by itself",
          ANSWER_WARN },
        { "few-collections", few_collections_profiled,
          "Let it run for longer, or take censuses more often: each is a major collection that shows what is live",
          ANSWER_WARN },
        { "few-collections", few_collections,
          "Let it run for longer, or collect more often: a heap profile does at each census (+RTS -hT -i1), "
          "performMajorGC too",
          ANSWER_WARN },
        { "too-short", too_short_log,
          "For a verdict judge in shorter steps: heapwatch trend LOG --resolution {shorter_step}", ANSWER_WARN },
        { "too-short", too_short_run,
          "For a verdict judge the next run in shorter steps: heapwatch run --resolution {shorter_step}", ANSWER_WARN },
        { "too-short", too_short,
          "Let it run for longer: a verdict takes {least_run} at least, with collections in most of that time",
          ANSWER_WARN },
        { "verdict-comes", climbs, "See in the charts whether it still rises; a few more major collections settle it",
          ANSWER_WARN },
        { "verdict-comes", may_grow,
          "See in the charts whether it still grows; that is settled in {verdict_in}[ to {verdict_by}]", ANSWER_WARN },
        { "verdict-comes", much_is_used,
          "See in the charts whether it still rises: {limited} has {used} of its limit already" JUDGED_IN,
          ANSWER_WARN },
        { "verdict-comes", steady_so_far, "Nothing: a rise is reported within seconds to minutes" JUDGED_IN,
          ANSWER_WARN },
        { "verdict-comes", verdict_comes,
          "Let it run: a rise shows after {least_samples} measurements of live data" JUDGED_IN, ANSWER_WARN },
        { "no-live-yet", no_live_yet,
          "Wait for a major collection: a heap profile makes one at each census (+RTS -hT -i10)", ANSWER_WARN },
        { "advice", has_advice, "{first_advice}", ANSWER_WARN },
        { "kept", kept, "Nothing. It stays as it ended; to remove it: heapwatch remove {target}", ANSWER_DIM },
        { "nothing", NULL, "Nothing", ANSWER_DIM },
        { .key = NULL },
};

WHEN(runs_again, (e->grows || e->rise) && e->ending >= ENDED_BADLY && e->ending <= LOST)
WHEN(goes_on, e->verdict == HW__VERDICT__VERDICT_GROWING && !e->over)

static const struct phrase_row conditions[] = {
        { "runs-again", runs_again, "Before it runs again: ", 0 },
        { "goes-on", goes_on, "If it goes on: ", 0 },
        { .key = NULL },
};

void answer_next(struct target_answer *a, const struct evidence *e)
{
        (void)append_sentence(a, e, conditions);
        const size_t n = strlen(a->text);
        const struct phrase_row *row = append_sentence(a, e, sentences_next);

        if (n)
                a->text[n] = (char)tolower((unsigned char)a->text[n]);
        a->key = row->key;
        a->tone = (enum answer_tone)row->tone;
}

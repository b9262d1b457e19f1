/* SPDX-License-Identifier: BSD-3-Clause */
/* next_wait.c - what to do next: what is missing for a verdict, or nothing. */
#include "client/answers/advice.h"

#include "heapwatch/text.h"

CONDITION(too_few_collections,
          !e->verdict && e->trend && e->trend->verdict == HW__VERDICT__VERDICT_UNKNOWN && !e->trend->has_verdict_in_ns)

static void append_too_few_collections(char *text, const struct evidence *e)
{
        if (append_agents_budget(text, e))
                return;
        append_text(text,
                    world_from_outside(e->t)
                            ? "Let it run for longer: a verdict takes more major collections, which the program makes "
                              "rarely by itself"
                    : has_profile(e)
                            ? "Let it run for longer, or take censuses more often: each is a major collection that "
                              "shows what is live"
                            : "Let it run for longer, or collect more often: a heap profile does at each census "
                              "(+RTS -hT -i1), performMajorGC too");
}

CONDITION(too_short, e->over && !e->verdict)

static void append_too_short(char *text, const struct evidence *e)
{
        const char *step = shorter_step(e);

        if (step && !e->live) {
                append_text(text, "For a verdict judge in shorter steps: heapwatch trend LOG --resolution %s", step);
        } else if (step) {
                append_text(text, "For a verdict judge the next run in shorter steps: heapwatch run --resolution %s",
                            step);
        } else {
                append_text(text, "Let it run for longer: a verdict takes ");
                append_duration(text, SURE_STEPS * LIMIT_RESOLUTION_LEAST_NS);
                append_text(text, " at least, with collections in most of that time");
        }
}

CONDITION(verdict_comes, !e->over && !e->verdict && e->trend && e->trend->has_verdict_in_ns)

static void append_verdict_comes(char *text, const struct evidence *e)
{
        char share[HW_NUMBER_MAX];
        const char *name;
        double used;

        if (e->climbs) {
                append_text(text, "See in the charts whether it still rises; a few more major collections settle it");
                return;
        }
        if (e->may_grow)
                append_text(text, "See in the charts whether it still grows");
        else if (share_of_limit(e, &name, &used) && used >= MUCH_OF_LIMIT)
                append_text(text, "See in the charts whether it still rises: %s has %s of its limit already", name,
                            hw_share_text(share, sizeof(share), used));
        else if (e->steady_so_far)
                append_text(text, "Nothing: a rise is reported within seconds to minutes");
        else
                append_text(text, "Let it run: a rise shows after %u measurements of live data", RISE_SAMPLES);
        append_text(text, e->may_grow ? "; that is settled in " : "; slow growth is judged in ");
        append_verdict_in(text, e->trend);
}

CONDITION(no_live_yet, !e->over && !e->verdict && !e->trend)

CONDITION(has_advice, e->t->health && e->t->health->n_advice && e->t->health->advice[0]->text)

static void append_advice(char *text, const struct evidence *e)
{
        append_text(text, "%.480s", e->t->health->advice[0]->text);
}

CONDITION(kept, e->live && e->over && e->t->target->has_kept && e->t->target->kept)

static void append_kept(char *text, const struct evidence *e)
{
        append_text(text, "Nothing. It stays as it ended; to remove it: heapwatch remove %s", e->t->name);
}

static bool is_always(const struct evidence *e)
{
        (void)e;
        return true;
}

static void append_nothing(char *text, const struct evidence *e)
{
        (void)e;
        append_text(text, "Nothing");
}

CONDITION(process_only, e->process_only)

void append_process_only(char *text, const struct evidence *e)
{
        const char *reason = e->t->target->process_only_reason;

        if (reason && reason[0])
                append_text(text, "Only its process is watched: %.440s", reason);
        else
                append_text(text, "%s", hw_advice_text(HW_ADVICE_PROCESS_ONLY));
}

CONDITION(rises, e->early != NULL)

/* Until when there is time for an orderly end, where that is known: the earliest that the limit may be met. */
static void append_restart(char *text, const struct evidence *e)
{
        uint64_t unused;

        if (e->over || !early_limit_ns(e->early, &unused))
                return;
        append_text(text, "; if it is not found, restart it within ");
        append_duration(text, e->early->soonest_ns);
}

static void append_rise_advice(char *text, const struct evidence *e)
{
        const char *name = e->t->name;
        const bool runs_out = early_runs_out(e->early);

        if (runs_out)
                append_text(text, "Prepare an orderly restart now, and keep what grows: ");
        if (early_is_foreign(e->early))
                append_foreign_advice(text, e);
        else if (runs_out)
                append_text(text, "heapwatch ctl census %s, then heapwatch recording dump %s", name, name);
        else if (e->early->n_bands == 0)
                append_text(text, "Take a census to see what rises: heapwatch ctl census %s", name);
        else if (e->live && !e->process_only)
                append_text(text, "See what keeps it: heapwatch why %s --brief; what changed when it began?", name);
        else
                append_text(text, "See what changed when it began");
        if (!runs_out)
                append_restart(text, e);
}

const struct advice advice_of_waiting[] = {
        { "process-only", process_only, .append = append_process_only },
        { "rises", rises, .append = append_rise_advice },
        { "few-collections", too_few_collections, .append = append_too_few_collections },
        { "too-short", too_short, .append = append_too_short },
        { "verdict-comes", verdict_comes, .append = append_verdict_comes },
        { "no-live-yet", no_live_yet,
          .text = "Wait for a major collection: a heap profile makes one at each census (+RTS -hT -i10)" },
        { "advice", has_advice, .append = append_advice },
        { "kept", kept, .append = append_kept },
        { "nothing", is_always, .append = append_nothing },
        { .name = NULL },
};

bool is_nothing(const struct advice *a)
{
        return a->append == append_kept || a->append == append_nothing;
}

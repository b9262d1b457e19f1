/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * why.c - why what grows is kept: what the action `why` of an alert has found out, or which command does. Empty while
 * nothing grows among live data.
 */
#include "client/answers/evidence.h"

static bool is_local(const Hw__Run *run)
{
        return run && run->has_local && run->local;
}

static void answer_result(struct target_answer *a, const struct evidence *e, const Hw__ActionResult *r)
{
        const Hw__Run *run = e->t->target ? e->t->target->run_info : NULL;

        if (!r->has_ok) {
                append_text(a->text, "Being found out: the program's memory is read from outside");
                return;
        }
        append_text(a->text, "%s%.400s", r->ok ? "" : "Not known: ", r->detail ? r->detail : "no reason is given");
        if (!r->ok) {
                if (is_local(run) && !e->over && !e->foreign && !early_is_foreign(e->early))
                        append_text(a->text, "; by hand: heapwatch why %s", e->t->name);
        } else if (r->has_wall_ns && run && run->has_start_wall_ns) {
                append_text(a->text, "; read at ");
                a->has_time = true;
                a->time_ns = r->wall_ns - run->start_wall_ns;
        }
}

void answer_why(struct target_answer *a, const struct evidence *e)
{
        const Hw__ActionResult *r = e->t->target ? e->t->target->why : NULL;
        const bool rises = early_rises(e->early) && !early_is_foreign(e->early);

        if (r)
                answer_result(a, e, r);
        else if ((live_grows(e) || rises) && e->live && !e->over && !e->process_only &&
                 is_local(e->t->target ? e->t->target->run_info : NULL))
                append_text(a->text, "heapwatch why %s answers it; it stops the program for at most 1 s", e->t->name);
}

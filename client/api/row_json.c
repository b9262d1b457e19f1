/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/api/row_json.h"

Hw__Update row_frame(const struct world_target *t)
{
        Hw__Update u = HW__UPDATE__INIT;

        u.target = (char *)t->name;
        u.has_run = t->run > 0;
        u.run = t->run;
        u.has_event_time_ns = t->event_time_ns > 0;
        u.event_time_ns = t->event_time_ns;
        u.has_published_wall_ns = t->published_wall_ns > 0;
        u.published_wall_ns = t->published_wall_ns;
        return u;
}

void row_print_target(struct json_out *j, const struct world_target *t, const Hw__Run *run)
{
        Hw__Target target = *t->target;

        target.n_heads = 0;
        target.run_info = (Hw__Run *)run;
        PRINT_BODY(j, t, TARGET_STATE, target_state, &target);
}

void row_print_alerts(struct json_out *j, const struct world_target *t)
{
        if (t->alerts)
                PRINT_BODY(j, t, ALERTS, alerts, t->alerts);
}

/* ------------------------------------------------------------------ a few fields */

#define COPY(to, from, field) ((to)->has_##field = (from)->has_##field, (to)->field = (from)->field)

static void print_state(struct json_out *j, const struct world_target *t)
{
        const Hw__Run *from = t->target->run_info;
        Hw__Run run = HW__RUN__INIT;

        if (from) {
                run.program = from->program;
                COPY(&run, from, start_wall_ns);
                COPY(&run, from, max_heap_bytes);
        }
        row_print_target(j, t, from ? &run : NULL);
}

static void print_heap(struct json_out *j, const struct world_target *t)
{
        const Hw__Process *from = t->heap->process;
        Hw__Process process = HW__PROCESS__INIT;
        Hw__Heap heap = HW__HEAP__INIT;

        COPY(&heap, t->heap, live_bytes);
        COPY(&heap, t->heap, heap_size_bytes);
        if (from) {
                COPY(&process, from, rss_bytes);
                COPY(&process, from, cgroup_max_bytes);
                heap.process = &process;
        }
        PRINT_BODY(j, t, HEAP, heap, &heap);
}

static void print_gc(struct json_out *j, const struct world_target *t)
{
        Hw__Gc gc = HW__GC__INIT;

        COPY(&gc, t->gc, gc_share);
        COPY(&gc, t->gc, gc_share_run);
        PRINT_BODY(j, t, GC, gc, &gc);
}

static void print_limit(struct json_out *j, const struct world_target *t)
{
        Hw__Trends trends = HW__TRENDS__INIT;

        COPY(&trends, t->trend_state, limit_bytes);
        COPY(&trends, t->trend_state, limit_source);
        if (trends.has_limit_bytes)
                PRINT_BODY(j, t, TRENDS, trends, &trends);
}

void row_print(struct json_out *j, const struct world_target *t)
{
        if (t->target)
                print_state(j, t);
        if (t->heap)
                print_heap(j, t);
        if (t->gc)
                print_gc(j, t);
        if (t->trend_state)
                print_limit(j, t);
        row_print_alerts(j, t);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: messages that are one piece: full state of a kind, or one census.
 * The update itself lives on the stack, everything below it in the encoder.
 */
#include "daemon/publish/send.h"
#include "daemon/judge/trend/tracker.h"
#include "proto/base/process.h"

/* What is published after it is news also to a late joiner who has parts that were made later: rows are absolute. */
static uint64_t sequence_of(const struct publisher *p, Hw__Kind kind, struct snapshot *to)
{
        if (!(to->begun & 1u << kind))
                to->sequences[kind] = p->sequences[kind];
        to->begun |= 1u << kind;
        return to->sequences[kind];
}

bool may_make_part(struct snapshot *to)
{
        if (!to)
                return true;
        to->full = to->is_over && to->is_over(to->ctx);
        return !to->full;
}

bool send_update(struct publisher *p, Hw__Update *update, struct snapshot *to)
{
        Hw__Kind kind = hw_update_kind(update);
        bool good = !p->encoder->failed;

        if (good) {
                PUT(update, epoch, p->epoch);
                if (!to) {
                        p->sequences[kind]++;
                        p->sent |= 1u << kind;
                }
                PUT(update, sequence, to ? sequence_of(p, kind, to) : p->sequences[kind]);
                update->target = p->target;
                if (p->run) {
                        PUT(update, run, p->run);
                        if (!update->has_event_time_ns)
                                PUT(update, event_time_ns, model_time_ns(p->model));
                }
                PUT_U64(update, published_wall_ns, p->wall_ns);
                if (to) {
                        to->full = !to->each(to->ctx, update);
                        good = !to->full;
                } else if (!p->error) {
                        p->error = p->sink.send(p->sink.ctx, update);
                }
        }
        encoder_reset(p->encoder);
        return good;
}

void send_gap(struct publisher *p, Hw__Kind kind)
{
        p->sequences[kind]++;
}

/* ------------------------------------------------------------- target */

/* The limit that ended the program, by its exit status and the kernel's account; LIMIT_SOURCE_UNKNOWN: none did. */
static enum limit_source limit_that_ended(const struct publisher *p, const Hw__Target *t)
{
        bool reserved;

        if (t->oom_killed)
                return LIMIT_SOURCE_CGROUP;
        if (!t->has_exit_status || t->exit_status != EXIT_HEAP_EXHAUSTED ||
            heap_own_limit(model_run(p->model), model_heap(p->model), &reserved) == UNKNOWN_U64)
                return LIMIT_SOURCE_UNKNOWN;
        return reserved ? LIMIT_SOURCE_RESERVED : LIMIT_SOURCE_MAX_HEAP;
}

bool send_target(struct publisher *p, struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;
        Hw__Target *out = encoder_message(p->encoder, &hw__target__descriptor);
        size_t n = 0;

        update.body_case = HW__UPDATE__BODY_TARGET_STATE;
        update.target_state = out;
        if (!out)
                return send_update(p, &update, to);
        p->messages.target(p->messages.ctx, p->encoder, out);
        if (!to) {
                /* What else is published anew because of the target's state. */
                const bool stopped = out->state == HW__TARGET__STATE__STATE_STOPPED;
                const enum limit_source ended_by = limit_that_ended(p, out);

                if (stopped != p->stopped) /* verdicts, rates and countdowns are not of a program that stands still */
                        p->changes |= MODEL_HEAP | MODEL_GC;
                p->trends_changed |= stopped != p->stopped || ended_by != p->ended_by;
                p->stopped = stopped;
                p->ended_by = ended_by;
        }
        if (out->run_info)
                PUT_U64(out->run_info, first_time_ns, model_first_time_ns(p->model));
        PUT_ROWS(p->encoder, out, heads, &hw__topic_head__descriptor, KINDS);
        for (unsigned kind = 0; kind < out->n_heads; kind++) {
                if (!p->sequences[kind] || kind == HW__KIND__KIND_TARGET) /* its own is in the update */
                        continue;
                Hw__TopicHead *head = out->heads[n++];
                PUT(head, kind, (Hw__Kind)kind);
                PUT(head, sequence, p->sequences[kind]);
        }
        out->n_heads = n;
        return send_update(p, &update, to);
}

bool send_health(struct publisher *p, struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;

        update.body_case = HW__UPDATE__BODY_HEALTH;
        update.health = encoder_message(p->encoder, &hw__health__descriptor);
        if (update.health)
                p->messages.health(p->messages.ctx, p->encoder, update.health);
        return send_update(p, &update, to);
}

/* --------------------------------------------------------------- heap */

static void put_samples(struct publisher *p, Hw__Heap *heap)
{
        size_t n = 0;

        PUT_ROWS(p->encoder, heap, samples, &hw__samples__descriptor, SERIES_COUNT);
        for (unsigned i = 0; i < heap->n_samples; i++) {
                struct gathered_samples *gathered = &p->gathered.samples[i];
                if (!gathered->n && !gathered->dropped)
                        continue;
                Hw__Samples *out = heap->samples[n++];
                PUT(out, series, (Hw__Series)i);
                out->n_times_ns = out->n_values = gathered->n;
                out->times_ns = gathered->times_ns;
                out->values = gathered->values;
                if (gathered->dropped)
                        PUT(out, dropped, gathered->dropped);
        }
        heap->n_samples = n;
}

/* Of a run that is over live data and heap are the program's last, not what its shutdown left. */
bool send_heap(struct publisher *p, struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;
        struct heap heap = *model_heap(p->model);

        update.body_case = HW__UPDATE__BODY_HEAP;
        if (p->tracker && tracker_has_last_values(p->tracker)) {
                struct standing last;

                tracker_standing(p->tracker, &last);
                heap.live_bytes = last.live_bytes;
                heap.live_time_ns = last.live_time_ns;
                heap.heap_size_bytes = last.heap_bytes;
        }
        update.heap = encode_heap(p->encoder, model_run(p->model), &heap);
        if (update.heap && p->stopped)
                update.heap->has_allocation_rate_bps = false;
        if (update.heap && !to)
                put_samples(p, update.heap);
        if (!send_update(p, &update, to))
                return false;
        if (!to)
                gathered_samples_sent(&p->gathered);
        return true;
}

/* ----------------------------------------------------------------- gc */

bool send_gc(struct publisher *p, struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;

        update.body_case = HW__UPDATE__BODY_GC;
        update.gc = encode_gc(p->encoder, model_gc(p->model));
        if (update.gc && p->stopped)
                update.gc->has_gc_share = false;
        if (update.gc && !to) {
                const struct gathered_collections *gathered = &p->gathered.collections;
                PUT_ROWS(p->encoder, update.gc, collections, &hw__collection__descriptor, gathered->n);
                for (size_t i = 0; i < update.gc->n_collections; i++)
                        put_collection(update.gc->collections[i], &gathered->rows[i]);
                if (gathered->dropped)
                        PUT(update.gc, collections_dropped, gathered->dropped);
        }
        if (!send_update(p, &update, to))
                return false;
        if (!to)
                gathered_collections_sent(&p->gathered);
        return true;
}

/* ------------------------------------------------------ sched, census */

bool send_sched(struct publisher *p, struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;

        update.body_case = HW__UPDATE__BODY_SCHED;
        update.sched = encode_sched(p->encoder, model_sched(p->model));
        return send_update(p, &update, to);
}

bool send_census(struct publisher *p, const struct census *census, struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;

        update.body_case = HW__UPDATE__BODY_CENSUS;
        update.census = encode_census(p->encoder, census);
        PUT(&update, event_time_ns, census->time_ns);
        return send_update(p, &update, to);
}

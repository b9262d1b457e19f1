/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a ring of `capacity` buckets. `from..newest` are the indices whose
 * slots have been made; a slot is emptied when its index enters that range:
 *
 *      index   from              newest
 *                v                 v
 *      ----------[#][ ][#][#][ ][#]--------->  time / width
 *      below from: late, made on demand while within capacity of newest
 *      above newest: the ring advances; at most `capacity` slots are emptied
 *
 * So memory need not be zeroed, clearing costs nothing, and a jump of any
 * length, from hostile or from forked clocks, costs one pass at most.
 */
#include "daemon/model/window.h"

void moments_add(struct moments *m, double t_s, double v)
{
        double part = 1 / (double)++m->n;
        double dt = t_s - m->t_mean, dv = v - m->v_mean;

        m->t_mean += dt * part;
        m->v_mean += dv * part;
        m->m_tt += dt * (t_s - m->t_mean);
        m->m_tv += dt * (v - m->v_mean);
        m->m_vv += dv * (v - m->v_mean);
}

void moments_merge(struct moments *m, const struct moments *other)
{
        if (!other->n)
                return;
        if (!m->n) {
                *m = *other;
                return;
        }
        double a = (double)m->n, b = (double)other->n, n = a + b;
        double dt = other->t_mean - m->t_mean, dv = other->v_mean - m->v_mean, weight = a * (b / n);
        m->n += other->n;
        m->t_mean += dt * (b / n);
        m->v_mean += dv * (b / n);
        m->m_tt += other->m_tt + dt * dt * weight;
        m->m_tv += other->m_tv + dt * dv * weight;
        m->m_vv += other->m_vv + dv * dv * weight;
}

void bucket_add(struct bucket *b, uint64_t time_ns, double value)
{
        bucket_add_at(b, time_ns, (double)time_ns / 1e9, value);
}

void bucket_add_at(struct bucket *b, uint64_t time_ns, double t_s, double value)
{
        if (!b->moments.n) {
                b->min = b->max = b->last = value;
                b->last_time_ns = time_ns;
        }
        moments_add(&b->moments, t_s, value);
        if (value < b->min)
                b->min = value;
        if (value > b->max)
                b->max = value;
        if (time_ns >= b->last_time_ns) {
                b->last = value;
                b->last_time_ns = time_ns;
        }
}

void bucket_merge(struct bucket *b, const struct bucket *other)
{
        if (!other->moments.n)
                return;
        if (!b->moments.n) {
                *b = *other;
                return;
        }
        moments_merge(&b->moments, &other->moments);
        if (other->min < b->min)
                b->min = other->min;
        if (other->max > b->max)
                b->max = other->max;
        if (other->last_time_ns >= b->last_time_ns) {
                b->last = other->last;
                b->last_time_ns = other->last_time_ns;
        }
}

void window_init(struct window *w, struct bucket *buckets, uint32_t capacity, uint64_t width_ns)
{
        *w = (struct window){ .buckets = buckets, .width_ns = width_ns, .capacity = capacity, .empty = true };
}

void window_clear(struct window *w)
{
        w->empty = true;
        w->rolled = false;
}

static struct bucket *slot(const struct window *w, uint64_t index)
{
        return &w->buckets[index % w->capacity];
}

void window_move(struct window *w, struct bucket *buckets, uint32_t capacity)
{
        for (uint64_t i = w->from; !w->empty && i <= w->newest; i++)
                buckets[i % capacity] = *slot(w, i);
        w->buckets = buckets;
        w->capacity = capacity;
}

static void make(struct window *w, uint64_t index)
{
        slot(w, index)->moments = (struct moments){ 0 };
}

uint64_t window_oldest(const struct window *w)
{
        if (w->empty || w->newest < w->capacity)
                return 0;
        return w->newest - w->capacity + 1;
}

static void begin(struct window *w, uint64_t index)
{
        w->from = w->newest = index;
        w->empty = false;
        make(w, index);
}

static void advance(struct window *w, uint64_t index)
{
        if (index - w->newest >= w->capacity) {
                w->rolled = true;
                w->from = w->newest = index;
                make(w, index);
                return;
        }
        while (w->newest < index)
                make(w, ++w->newest);
        uint64_t oldest = window_oldest(w);
        if (w->from < oldest) {
                w->rolled = true;
                w->from = oldest;
        }
}

bool window_add(struct window *w, uint64_t time_ns, double value)
{
        uint64_t index = time_ns / w->width_ns;

        if (w->empty)
                begin(w, index);
        else if (index > w->newest)
                advance(w, index);
        else if (w->newest - index >= w->capacity)
                return false;
        while (w->from > index)
                make(w, --w->from);
        bucket_add(slot(w, index), time_ns, value);
        return true;
}

const struct bucket *window_at(const struct window *w, uint64_t index)
{
        if (w->empty || index < w->from || index > w->newest)
                return NULL;
        const struct bucket *b = slot(w, index);
        return b->moments.n ? b : NULL;
}

uint64_t window_first(const struct window *w, uint64_t time_ns)
{
        return time_ns / w->width_ns + (time_ns % w->width_ns != 0);
}

void window_add_up(const struct window *w, uint64_t from, uint64_t end, struct bucket *ret)
{
        if (w->empty)
                return;
        if (from < w->from)
                from = w->from;
        for (uint64_t i = from; i < end && i <= w->newest; i++)
                bucket_merge(ret, slot(w, i));
}

void window_merge(const struct window *w, uint64_t from_ns, uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        window_add_up(w, window_first(w, from_ns), window_first(w, to_ns), ret);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a rule remembers its newest `count` actions in a ring, which is
 * enough: it may act again when the oldest of them is outside the window, and
 * an alert's own actions are counted among them.
 */
#include "client/out/notify/dispatcher.h"
#include "proto/base/array.h"

#include <stdlib.h>

struct action {
        uint64_t fingerprint, wall_ns;
};

struct rule_memory {
        uint64_t rule, newest_wall_ns;
        struct action *ring;
        uint32_t capacity, n, next;
};

struct limit_table {
        struct rule_memory *rules;
        size_t n, capacity;
};

struct limit_table *limit_table_new(void)
{
        return calloc(1, sizeof(struct limit_table));
}

void limit_table_destroy(struct limit_table **tp)
{
        struct limit_table *t = *tp;

        *tp = NULL;
        if (!t)
                return;
        for (size_t i = 0; i < t->n; i++)
                free(t->rules[i].ring);
        free(t->rules);
        free(t);
}

static struct rule_memory *find(const struct limit_table *t, uint64_t rule)
{
        for (size_t i = 0; i < t->n; i++)
                if (t->rules[i].rule == rule)
                        return &t->rules[i];
        return NULL;
}

/* Whether it is inside the window that ends now; if the clock was set back, it is. */
static bool is_recent(const struct action *a, const struct action_limits *limits, uint64_t now_wall_ns)
{
        return a->wall_ns > now_wall_ns || now_wall_ns - a->wall_ns < limits->window_ns;
}

enum limit_answer limit_check(const struct limit_table *t, const struct action_limits *limits, uint64_t rule,
                              uint64_t fingerprint, uint64_t now_wall_ns)
{
        const struct rule_memory *m = find(t, rule);
        uint32_t of_rule = 0, of_alert = 0;

        for (uint32_t i = 0; m && i < m->n; i++) {
                if (!is_recent(&m->ring[i], limits, now_wall_ns))
                        continue;
                of_rule++;
                of_alert += m->ring[i].fingerprint == fingerprint;
        }
        if (of_alert >= limits->per_alert)
                return LIMIT_ALERT;
        return of_rule >= limits->count ? LIMIT_RULE : LIMIT_FREE;
}

static struct rule_memory *add(struct limit_table *t, uint64_t rule)
{
        if (t->n == LIMITS_RULES_MAX) {
                struct rule_memory *m = t->rules; /* the oldest */
                for (size_t i = 1; i < t->n; i++)
                        if (t->rules[i].newest_wall_ns < m->newest_wall_ns)
                                m = &t->rules[i];
                free(m->ring);
                *m = (struct rule_memory){ .rule = rule };
                return m;
        }
        if (!ARRAY_RESERVE(t->rules, t->capacity, t->n + 1))
                return NULL;
        t->rules[t->n] = (struct rule_memory){ .rule = rule };
        return &t->rules[t->n++];
}

/* A ring of another size, keeping the newest actions. */
static bool resize(struct rule_memory *m, uint32_t capacity)
{
        struct action *ring = capacity == m->capacity ? m->ring : calloc(capacity, sizeof(*ring));
        uint32_t keep = m->n < capacity ? m->n : capacity;

        if (ring == m->ring || !ring)
                return ring;
        for (uint32_t i = 0; i < keep; i++)
                ring[i] = m->ring[(m->next + m->capacity - keep + i) % m->capacity];
        free(m->ring);
        m->ring = ring;
        m->capacity = capacity;
        m->n = keep;
        m->next = keep % capacity;
        return true;
}

void limit_note(struct limit_table *t, const struct action_limits *limits, uint64_t rule, uint64_t fingerprint,
                uint64_t now_wall_ns)
{
        struct rule_memory *m = find(t, rule);

        if (!m)
                m = add(t, rule);
        if (!m || !resize(m, limits->count))
                return;
        m->newest_wall_ns = now_wall_ns;
        m->ring[m->next] = (struct action){ .fingerprint = fingerprint, .wall_ns = now_wall_ns };
        m->next = (m->next + 1) % m->capacity;
        m->n += m->n < m->capacity;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - an array, searched from its newest end: alerts are few, and looked up only when they change. */
#include "client/out/notify/record.h"

#include <string.h>

static struct record_entry *find(struct record *r, uint64_t fingerprint, uint64_t fired_wall_ns)
{
        for (size_t i = r->n; i-- > 0;)
                if (r->items[i].fingerprint == fingerprint && r->items[i].fired_wall_ns == fired_wall_ns)
                        return &r->items[i];
        return NULL;
}

const struct record_entry *record_find(const struct record *r, uint64_t fingerprint, uint64_t fired_wall_ns)
{
        return find((struct record *)r, fingerprint, fired_wall_ns);
}

void record_add(struct record *r, const struct record_entry *entry)
{
        struct record_entry *known = find(r, entry->fingerprint, entry->fired_wall_ns);

        if (known) {
                known->fired_over |= entry->fired_over;
                known->resolved |= entry->resolved;
                known->resolved_over |= entry->resolved_over;
                return;
        }
        if (r->n == RECORD_MAX) {
                memmove(r->items, r->items + 1, (RECORD_MAX - 1) * sizeof(*r->items));
                r->n--;
        }
        r->items[r->n++] = *entry;
}

/* Whether its time is valid: an alert without one, or with nonsense from a log, is not recorded. */
static bool can_be_remembered(const struct alert_event *e)
{
        return e->fired_wall_ns > 0 && e->fired_wall_ns <= INT64_MAX;
}

static struct record_entry *entry_of(struct record *r, const struct alert_event *e)
{
        return can_be_remembered(e) ? find(r, e->fingerprint, e->fired_wall_ns) : NULL;
}

void record_begin(struct record *r, const struct alert_event *e)
{
        struct record_entry *entry = entry_of(r, e);
        const struct record_entry fresh = { .fingerprint = e->fingerprint, .fired_wall_ns = e->fired_wall_ns };

        if (!can_be_remembered(e))
                return;
        if (entry)
                entry->resolved |= e->resolved;
        else
                record_add(r, &fresh);
}

void record_over(struct record *r, const struct alert_event *e)
{
        struct record_entry *entry = entry_of(r, e);

        if (!entry)
                return;
        if (e->resolved)
                entry->resolved_over = true;
        else
                entry->fired_over = true;
        r->changes++;
}

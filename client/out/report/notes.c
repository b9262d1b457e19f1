/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c - notes as the JSON that they become. */
#include "client/out/report/compose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/wire.h"

struct kept_note {
        struct kept_note *next;
        char target[WORLD_NAME_MAX + 1];
        uint32_t run;
        char text[];
};

struct share {
        size_t n, bytes;
};

struct dropped {
        struct dropped *next;
        char target[WORLD_NAME_MAX + 1];
        uint32_t run;
        uint64_t n;
};

struct report_notes {
        struct kept_note *first, **last;
        struct share messages, others;
        struct dropped *dropped;
};

struct report_notes *report_notes_new(void)
{
        struct report_notes *n = calloc(1, sizeof(*n));

        if (n)
                n->last = &n->first;
        return n;
}

void report_notes_destroy(struct report_notes **n)
{
        if (!*n)
                return;
        while ((*n)->first) {
                struct kept_note *k = (*n)->first;

                (*n)->first = k->next;
                free(k);
        }
        while ((*n)->dropped) {
                struct dropped *d = (*n)->dropped;

                (*n)->dropped = d->next;
                free(d);
        }
        free(*n);
        *n = NULL;
}

static int count_dropped(struct report_notes *n, const Hw__Update *u)
{
        struct dropped *d = n->dropped;

        while (d && (strcmp(d->target, u->target) || d->run != u->run))
                d = d->next;
        if (!d) {
                d = calloc(1, sizeof(*d));
                if (!d)
                        return -ENOMEM;
                (void)snprintf(d->target, sizeof(d->target), "%s", u->target);
                d->run = u->run;
                d->next = n->dropped;
                n->dropped = d;
        }
        d->n++;
        return 0;
}

static int keep_note(struct report_notes *n, const Hw__Update *u, const Hw__Note *note)
{
        struct share *share = note->what == HW__NOTE__WHAT__WHAT_MESSAGE ? &n->messages : &n->others;
        struct kept_note *k;
        size_t size;
        char *text;

        if (share->n >= REPORT_NOTES || share->bytes >= REPORT_NOTES_BYTES)
                return count_dropped(n, u);
        text = hw_json(&note->base, false);
        size = text ? strlen(text) : 0;
        k = text ? calloc(1, sizeof(*k) + size + 1) : NULL;
        if (!k) {
                free(text);
                return -ENOMEM;
        }
        memcpy(k->text, text, size + 1);
        free(text);
        (void)snprintf(k->target, sizeof(k->target), "%s", u->target);
        k->run = u->run;
        *n->last = k;
        n->last = &k->next;
        share->n++;
        share->bytes += size;
        return 0;
}

int report_notes_add(struct report_notes *n, const Hw__Update *u)
{
        if (u->body_case != HW__UPDATE__BODY_NOTES || !u->target)
                return 0;
        for (size_t i = 0; i < u->notes->n_notes; i++) {
                if (keep_note(n, u, u->notes->notes[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static bool is_of(const char *target, uint32_t run, const struct world_target *t)
{
        return !strcmp(target, t->name) && run == t->run;
}

/* Up to the list of notes. */
static void open_update(struct json_out *j, const struct world_target *t)
{
        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "daemon", t->daemon);
        json_member_open(j, "update", '{');
        json_member_text(j, "target", t->name);
        json_member_u64(j, "run", t->run);
        json_member_open(j, "notes", '{');
        json_member_open(j, "notes", '[');
}

void report_notes_put(void *notes, struct json_out *j, const struct world_target *t)
{
        const struct report_notes *n = notes;
        uint64_t dropped = 0;
        bool any = false;

        for (const struct dropped *d = n->dropped; d; d = d->next)
                dropped += is_of(d->target, d->run, t) ? d->n : 0;
        for (const struct kept_note *k = n->first; k; k = k->next) {
                if (!is_of(k->target, k->run, t))
                        continue;
                if (!any)
                        open_update(j, t);
                any = true;
                json_line(j);
                json_raw(j, k->text);
        }
        if (!any)
                return;
        json_close(j, ']');
        if (dropped)
                json_member_u64_string(j, "dropped", dropped);
        for (int i = 0; i < 3; i++)
                json_close(j, '}');
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * update_batch.c - a list of printed updates.
 *
 * DESIGN: each update is printed once for all browsers: an entry holds the text
 * and what decides who gets it. An answer makes two entries, the whole and a
 * brief one; each browser gets one of them.
 */
#include "client/web/server.h"

#include <stdlib.h>
#include <string.h>

/* One printed update. */
struct batched_update {
        struct batched_update *next;
        size_t daemon;
        Hw__Kind kind;
        bool instead; /* for browsers that do not want this target's details */
        char target[WORLD_NAME_MAX + 1];
        size_t size;
        char text[];
};

void update_batch_init(struct update_batch *p)
{
        p->first = NULL;
        p->last = &p->first;
        p->bytes = 0;
}

void update_batch_clear(struct update_batch *p)
{
        while (p->first) {
                struct batched_update *next = p->first->next;

                free(p->first);
                p->first = next;
        }
        update_batch_init(p);
}

static bool add_text(struct update_batch *all, const struct batched_update *of, const char *text, size_t size)
{
        struct batched_update *p = calloc(1, sizeof(*p) + size);

        if (!p)
                return false;
        *p = *of;
        p->size = size;
        memcpy(p->text, text, size);
        *all->last = p;
        all->last = &p->next;
        all->bytes += size;
        return true;
}

/* Stands for all kinds of details, which a browser either wants or does not. */
bool update_batch_add_text(struct update_batch *p, size_t daemon, const char *target, const char *text, size_t size,
                           bool instead)
{
        struct batched_update of = { .daemon = daemon, .kind = HW__KIND__KIND_BAND, .instead = instead };

        (void)snprintf(of.target, sizeof(of.target), "%s", target);
        return add_text(p, &of, text, size);
}

bool update_batch_add(struct update_batch *p, size_t daemon, const Hw__Update *u)
{
        struct batched_update of = { .daemon = daemon, .kind = hw_update_kind(u) };
        struct document d;

        (void)snprintf(of.target, sizeof(of.target), "%s", u->target ? u->target : "");
        document_open(&d);
        if (d.to)
                state_print_update(&(struct json_out){ .to = d.to }, daemon, u);
        const bool good = document_close(&d) && add_text(p, &of, d.text, d.size);
        document_done(&d);
        return good;
}

bool update_batch_print(const struct update_batch *all, struct json_out *j, const struct detail *detail,
                        const struct world *world)
{
        bool any = false;

        for (const struct batched_update *p = all->first; p; p = p->next) {
                if (detail_wants(detail, world, p->daemon, p->target, p->kind) == p->instead)
                        continue;
                if (!any)
                        json_open(j, '[');
                any = true;
                json_line(j);
                json_raw_bytes(j, p->text, p->size);
        }
        if (any)
                json_close(j, ']');
        return any;
}

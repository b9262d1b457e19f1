/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/waiting.h"

#define TIMES_FREE        2u
#define SMALL_REPLY_BYTES (64u << 10)

struct waiting_client *waiting_find(struct waiting *w, uint64_t client)
{
        struct waiting_client *free_place = NULL;

        for (unsigned i = 0; i < WAITING_CLIENTS; i++) {
                struct waiting_client *c = &w->of[i];
                if (c->client == client)
                        return c;
                if (!free_place && atomic_load(&c->bytes) == 0)
                        free_place = c;
        }
        if (!free_place)
                return &w->of[client % WAITING_CLIENTS];
        free_place->client = client;
        return free_place;
}

bool waiting_is_ready(const struct waiting *w, const struct waiting_client *c, size_t room)
{
        const size_t all = atomic_load(&w->bytes), own = atomic_load(&c->bytes);

        return all < room && own <= (room - all) / 2;
}

bool waiting_may(const struct waiting *w, const struct waiting_client *c, size_t size, size_t room)
{
        const size_t all = atomic_load(&w->bytes), own = atomic_load(&c->bytes);

        if (waiting_is_ready(w, c, room) || (own == 0 && size <= SMALL_REPLY_BYTES && all / 2 < room))
                return true;
        return all < room && size <= room - all && own + size <= TIMES_FREE * (room - all);
}

void waiting_take(struct waiting *w, struct waiting_client *c, size_t size)
{
        atomic_fetch_add(&c->bytes, size);
        atomic_fetch_add(&w->bytes, size);
}

void waiting_give_back(struct waiting *w, struct waiting_client *c, size_t size)
{
        atomic_fetch_sub(&c->bytes, size);
        atomic_fetch_sub(&w->bytes, size);
}

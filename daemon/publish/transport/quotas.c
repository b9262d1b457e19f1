/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/publish/transport/quotas.h"

#include "daemon/publish/transport/limits.h"
#include "proto/base/process.h"
#include "proto/base/time.h"

#define TIMES_FREE        2u
#define SMALL_REPLY_BYTES (64u << 10)

/* ---------------------------------------------------------------- memory */

static uint64_t clamp_u64(uint64_t least, uint64_t value, uint64_t most)
{
        return value < least ? least : value > most ? most : value;
}

struct client_memory client_memory_of(uint64_t given, unsigned mark)
{
        const uint64_t budget = given ? given : UNKNOWN_U64;
        const uint64_t queue = budget / 4 / LEAST_CONNECTIONS / QUEUED_MESSAGE_BYTES;
        const unsigned held = (unsigned)clamp_u64(LEAST_QUEUED < mark ? LEAST_QUEUED : mark, queue, mark);

        return (struct client_memory){
                .replies = clamp_u64(LEAST_REPLIES_WAITING_BYTES, budget / 8, LIMIT_REPLIES_WAITING_BYTES),
                .updates = clamp_u64(LEAST_UPDATES_WAITING_BYTES, budget / 32, LIMIT_UPDATES_WAITING_BYTES),
                .mark = held,
                .subscribers = (unsigned)clamp_u64(
                        LEAST_CONNECTIONS, budget / 4 / ((uint64_t)held * QUEUED_MESSAGE_BYTES), LIMIT_CONNECTIONS),
                .requesters = (unsigned)clamp_u64(LEAST_CONNECTIONS, budget / 16 / CONNECTION_BYTES, LIMIT_CONNECTIONS),
                .subscriptions =
                        (unsigned)clamp_u64(LEAST_SUBSCRIPTIONS, budget / 16 / SUBSCRIPTION_BYTES, LIMIT_SUBSCRIPTIONS),
                .unread = clamp_u64(LEAST_UNREAD_BYTES, budget / 16 / UNREAD_GROWS, MOST_UNREAD_BYTES),
        };
}

/* ----------------------------------------------------------------- peers */

/* Linear search: once per request, and once per 8 KiB that subscribers send. */
struct peer *peers_find(struct peers *p, uint64_t who, uint64_t now_ns)
{
        struct peer *found = &p->of[0];

        for (unsigned i = 0; i < PEERS_MAX && found->who != who; i++)
                if (p->of[i].who == who || p->of[i].active_ns < found->active_ns)
                        found = &p->of[i];
        if (found->who != who)
                *found = (struct peer){ .who = who };
        found->active_ns = now_ns;
        return found;
}

static uint64_t full_after(uint64_t full_ns, uint64_t now_ns, uint64_t cost_ns)
{
        return (full_ns > now_ns ? full_ns : now_ns) + cost_ns;
}

/* How long until this cost could be taken from the bucket; 0: now. */
static uint64_t bucket_wait(uint64_t full_ns, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns)
{
        const uint64_t then_ns = full_after(full_ns, now_ns, cost_ns);

        return then_ns > now_ns + burst_ns ? then_ns - now_ns - burst_ns : 0;
}

/* Takes from a bucket; what it does not have it owes. */
static void bucket_spend(uint64_t *full_ns, uint64_t now_ns, uint64_t cost_ns)
{
        *full_ns = full_after(*full_ns, now_ns, cost_ns);
}

/* Takes from a bucket; what it does not have is forgiven. False: it had less. */
static bool bucket_charge(uint64_t *full_ns, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns)
{
        const bool enough = bucket_wait(*full_ns, now_ns, cost_ns, burst_ns) == 0;

        *full_ns = enough ? full_after(*full_ns, now_ns, cost_ns) : now_ns + burst_ns;
        return enough;
}

/* -------------------------------------------------------------- requests */

uint64_t request_quota_acquire(struct peers *clients, uint64_t client, uint64_t now_ns, enum request_quota_why *ret_why)
{
        const uint64_t request_ns = NS_PER_S / LIMIT_REQUESTS_PER_S;
        uint64_t *full_ns = peers_find(clients, client, now_ns)->full_ns;
        const uint64_t by_rate =
                bucket_wait(full_ns[REQUEST_QUOTA_RATE], now_ns, request_ns, LIMIT_REQUESTS_BURST * request_ns);
        const uint64_t by_cost =
                bucket_wait(full_ns[REQUEST_QUOTA_COST], now_ns, 0, LIMIT_COST_BURST_NS * 100 / LIMIT_COST_PERCENT);

        *ret_why = by_cost > by_rate ? REQUEST_QUOTA_COST : REQUEST_QUOTA_RATE;
        if (by_rate == 0 && by_cost == 0)
                bucket_spend(&full_ns[REQUEST_QUOTA_RATE], now_ns, request_ns);
        return by_cost > by_rate ? by_cost : by_rate;
}

void request_quota_spend(struct peers *clients, uint64_t client, uint64_t now_ns, uint64_t cost_ns)
{
        bucket_spend(&peers_find(clients, client, now_ns)->full_ns[REQUEST_QUOTA_COST], now_ns,
                     cost_ns * 100 / LIMIT_COST_PERCENT);
}

/* --------------------------------------------------------- subscriptions */

static uint64_t time_of(uint64_t bytes, uint64_t bytes_per_s)
{
        return bytes * NS_PER_S / bytes_per_s;
}

static bool is_small(uint64_t full_ns, uint64_t now_ns)
{
        return full_ns <= now_ns + time_of(SUBSCRIBER_SMALL_BYTES, SUBSCRIBER_BYTES_PER_S);
}

bool subscriber_quota_charge(struct subscriber_quota *q, uint64_t peer, uint64_t now_ns, size_t bytes)
{
        uint64_t *own_ns = &peers_find(&q->peers, peer, now_ns)->full_ns[0];
        const uint64_t size = bytes < SUBSCRIBER_ALL_BURST_BYTES ? bytes : SUBSCRIBER_ALL_BURST_BYTES;
        const bool of_all = bucket_charge(&q->full_ns, now_ns, time_of(size, SUBSCRIBER_ALL_BYTES_PER_S),
                                          time_of(SUBSCRIBER_ALL_BURST_BYTES, SUBSCRIBER_ALL_BYTES_PER_S));
        const bool own = bucket_charge(own_ns, now_ns, time_of(size, SUBSCRIBER_BYTES_PER_S),
                                       time_of(SUBSCRIBER_BURST_BYTES, SUBSCRIBER_BYTES_PER_S));

        return own && (of_all || is_small(*own_ns, now_ns));
}

bool subscriber_quota_admit(struct subscriber_quota *q, uint64_t peer, uint64_t now_ns)
{
        return subscriber_quota_charge(q, peer, now_ns, SUBSCRIBER_CONNECTION_BYTES);
}

/* --------------------------------------------------------------- replies */

struct backlog_client *backlog_find(struct backlog *b, uint64_t client)
{
        struct backlog_client *free_place = NULL;

        for (unsigned i = 0; i < BACKLOG_CLIENTS; i++) {
                struct backlog_client *c = &b->of[i];
                if (c->client == client)
                        return c;
                if (!free_place && atomic_load(&c->bytes) == 0)
                        free_place = c;
        }
        if (!free_place)
                return &b->of[client % BACKLOG_CLIENTS];
        free_place->client = client;
        return free_place;
}

bool backlog_is_ready(const struct backlog *b, const struct backlog_client *c, size_t room)
{
        const size_t all = atomic_load(&b->bytes), own = atomic_load(&c->bytes);

        return all < room && own <= (room - all) / 2;
}

bool backlog_accepts(const struct backlog *b, const struct backlog_client *c, size_t size, size_t room)
{
        const size_t all = atomic_load(&b->bytes), own = atomic_load(&c->bytes);

        if (backlog_is_ready(b, c, room) || (own == 0 && size <= SMALL_REPLY_BYTES && all / 2 < room))
                return true;
        return all < room && size <= room - all && own + size <= TIMES_FREE * (room - all);
}

void backlog_add(struct backlog *b, struct backlog_client *c, size_t size)
{
        atomic_fetch_add(&c->bytes, size);
        atomic_fetch_add(&b->bytes, size);
}

void backlog_remove(struct backlog *b, struct backlog_client *c, size_t size)
{
        atomic_fetch_sub(&c->bytes, size);
        atomic_fetch_sub(&b->bytes, size);
}

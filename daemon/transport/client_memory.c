/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/client_memory.h"

#include "daemon/transport/limits.h"
#include "proto/base/process.h"

static uint64_t between(uint64_t least, uint64_t value, uint64_t most)
{
        return value < least ? least : value > most ? most : value;
}

struct client_memory client_memory_of(uint64_t given, unsigned mark)
{
        const uint64_t budget = given ? given : UNKNOWN_U64;
        const uint64_t queue = budget / 4 / LEAST_CONNECTIONS / QUEUED_MESSAGE_BYTES;
        const unsigned held = (unsigned)between(LEAST_QUEUED < mark ? LEAST_QUEUED : mark, queue, mark);

        return (struct client_memory){
                .replies = between(LEAST_REPLIES_WAITING_BYTES, budget / 8, LIMIT_REPLIES_WAITING_BYTES),
                .updates = between(LEAST_UPDATES_WAITING_BYTES, budget / 32, LIMIT_UPDATES_WAITING_BYTES),
                .mark = held,
                .subscribers = (unsigned)between(
                        LEAST_CONNECTIONS, budget / 4 / ((uint64_t)held * QUEUED_MESSAGE_BYTES), LIMIT_CONNECTIONS),
                .requesters = (unsigned)between(LEAST_CONNECTIONS, budget / 16 / CONNECTION_BYTES, LIMIT_CONNECTIONS),
                .subscriptions =
                        (unsigned)between(LEAST_SUBSCRIPTIONS, budget / 16 / SUBSCRIPTION_BYTES, LIMIT_SUBSCRIPTIONS),
                .unread = between(LEAST_UNREAD_BYTES, budget / 16 / UNREAD_GROWS, MOST_UNREAD_BYTES),
        };
}

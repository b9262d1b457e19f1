/* SPDX-License-Identifier: BSD-3-Clause */
/* What subscribers may send, with simulated clocks; and what clients get of the memory. */
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/publish/transport/quotas.h"
#include "daemon/publish/transport/limits.h"
#include "proto/base/process.h"

#define SECOND UINT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)

static struct subscriber_quota f;
static struct backlog w;

/* How many bytes of `peer` are taken, in pieces of 1 KiB, evenly over the time. */
static size_t sent(uint64_t peer, uint64_t from_ns, uint64_t for_ns, unsigned kib)
{
        size_t taken = 0;

        for (unsigned i = 0; i < kib; i++)
                taken += 1024u * subscriber_quota_charge(&f, peer, from_ns + for_ns * i / kib, 1024);
        return taken;
}

TEST(a_burst_then_the_rate)
{
        memset(&f, 0, sizeof(f));
        assert_int_equal(sent(1, SECOND, 0, 1000), SUBSCRIBER_BURST_BYTES);
        assert_false(subscriber_quota_admit(&f, 1, SECOND));
        assert_true(subscriber_quota_admit(&f, 2, SECOND)); /* somebody else */
        assert_true(subscriber_quota_admit(&f, 1, 2 * SECOND));
        assert_int_equal(sent(1, 3 * SECOND, 10 * SECOND, 200), 200 * 1024); /* slower than the rate */
        assert_in_range(sent(1, 20 * SECOND, 10 * SECOND, 4000), 1024,
                        SUBSCRIBER_BURST_BYTES + 10 * SUBSCRIBER_BYTES_PER_S);
        assert_true(sent(1, 100 * SECOND, 0, 1000) == SUBSCRIBER_BURST_BYTES); /* full again */
}

/* Many peers, none of which sends too much alone: all of them are limited, but not those who send little. */
TEST(all_together)
{
        size_t taken = 0;

        memset(&f, 0, sizeof(f));
        for (uint64_t peer = 1; peer <= 20; peer++)
                taken += sent(peer, SECOND, 0, SUBSCRIBER_BURST_BYTES / 1024);
        assert_in_range(taken, SUBSCRIBER_ALL_BURST_BYTES,
                        SUBSCRIBER_ALL_BURST_BYTES + 20 * (SUBSCRIBER_SMALL_BYTES + 1024));
        assert_true(subscriber_quota_admit(&f, 99, SECOND));
        assert_int_equal(sent(99, SECOND, 0, 4), 4096);
}

/* One piece that is larger than everything allowed. */
TEST(a_huge_piece)
{
        memset(&f, 0, sizeof(f));
        assert_false(subscriber_quota_charge(&f, 1, SECOND, SIZE_MAX));
        assert_true(subscriber_quota_charge(&f, 2, 1000 * SECOND, 1024));
}

TEST(more_peers_than_are_remembered)
{
        memset(&f, 0, sizeof(f));
        for (uint64_t i = 1; i <= 10 * PEERS_MAX; i++)
                assert_true(subscriber_quota_charge(&f, i, i * SECOND, 1024));
        assert_int_equal(f.peers.of[0].who % PEERS_MAX, 1); /* in turn */
}

/* As much as it may have waiting. */
static size_t fill(uint64_t client, size_t room)
{
        struct backlog_client *c = backlog_find(&w, client);
        size_t n = 0;

        for (; backlog_accepts(&w, c, 1024, room); n += 1024)
                backlog_add(&w, c, 1024);
        return n;
}

TEST(one_leaves_room_for_others)
{
        const size_t room = 30 * MIB;

        memset(&w, 0, sizeof(w));
        assert_in_range(fill(1, room), 19 * MIB, 20 * MIB);
        assert_in_range(fill(2, room), 6 * MIB, 7 * MIB);
        assert_in_range(fill(3, room), 2 * MIB, 3 * MIB);
        assert_true(fill(4, room) > 0);
        backlog_remove(&w, backlog_find(&w, 1), 10 * MIB);
        assert_in_range(fill(5, room), 6 * MIB, 8 * MIB);
}

TEST(first_reply_may_be_large)
{
        memset(&w, 0, sizeof(w));
        (void)fill(1, 4 * MIB);
        assert_true(backlog_accepts(&w, backlog_find(&w, 2), 16 * MIB, 4 * MIB));
}

/* A place is another client's when nothing of the first waits any more. */
TEST(places_are_used_again)
{
        memset(&w, 0, sizeof(w));
        for (uint64_t i = 1; i <= BACKLOG_CLIENTS; i++)
                backlog_add(&w, backlog_find(&w, i), 1);
        assert_int_equal(backlog_find(&w, 5)->client, 5);
        assert_ptr_equal(backlog_find(&w, 1000 * BACKLOG_CLIENTS + 7), &w.of[7]); /* shared */
        backlog_remove(&w, backlog_find(&w, 5), 1);
        assert_int_equal(backlog_find(&w, 5000)->client, 5000);
        assert_int_equal(atomic_load(&w.bytes), BACKLOG_CLIENTS - 1);
}

TEST(rooms)
{
        const struct client_memory none = client_memory_of(UNKNOWN_U64, 4096), unit = client_memory_of(256 * MIB, 4096),
                                   small = client_memory_of(40 * MIB, 4096), tiny = client_memory_of(1, 4096);

        assert_int_equal(none.replies, LIMIT_REPLIES_WAITING_BYTES);
        assert_int_equal(none.subscribers, LIMIT_CONNECTIONS);
        assert_int_equal(unit.replies, 32 * MIB);
        assert_int_equal(unit.updates, 8 * MIB);
        assert_int_equal(unit.subscribers, 128);
        assert_int_equal(unit.subscriptions, 256 * MIB / 16 / SUBSCRIPTION_BYTES);
        assert_true(unit.replies + unit.updates + (uint64_t)unit.subscribers * 4096 * QUEUED_MESSAGE_BYTES +
                            (uint64_t)unit.subscriptions * SUBSCRIPTION_BYTES +
                            (uint64_t)unit.requesters * CONNECTION_BYTES + 2 * UNREAD_GROWS * (uint64_t)unit.unread <=
                    21 * 8 * MIB);
        assert_int_equal(unit.mark, 4096);
        assert_int_equal(client_memory_of(1, 100).mark, 100);
        assert_true((uint64_t)small.mark * small.subscribers * QUEUED_MESSAGE_BYTES <= 10 * MIB);
        assert_int_equal(tiny.mark, LEAST_QUEUED);
        assert_int_equal(tiny.subscribers, LEAST_CONNECTIONS);
        assert_int_equal(tiny.subscriptions, LEAST_SUBSCRIPTIONS);
        assert_int_equal(tiny.unread, LEAST_UNREAD_BYTES);
}

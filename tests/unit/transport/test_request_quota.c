/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate limit of one client, with simulated clocks. */
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/publish/transport/quotas.h"
#include "daemon/publish/transport/limits.h"

#define SECOND UINT64_C(1000000000)

static struct peers a;
static enum request_quota_why why;

/* How many of n requests, evenly over the time, are answered. */
static unsigned asked(uint64_t client, uint64_t from_ns, uint64_t for_ns, unsigned n)
{
        unsigned answered = 0;

        for (unsigned i = 0; i < n; i++)
                answered += request_quota_acquire(&a, client, from_ns + for_ns * i / n, &why) == 0;
        return answered;
}

TEST(a_burst_then_the_rate)
{
        memset(&a, 0, sizeof(a));
        assert_int_equal(asked(1, SECOND, 0, 5000), LIMIT_REQUESTS_BURST);
        assert_int_equal(why, REQUEST_QUOTA_RATE);
        assert_in_range(asked(1, SECOND, 10 * SECOND, 50000), 10 * LIMIT_REQUESTS_PER_S - 2,
                        10 * LIMIT_REQUESTS_PER_S + 2);
        assert_int_equal(asked(1, 100 * SECOND, 0, 5000), LIMIT_REQUESTS_BURST); /* full again */
}

/* The delay that it is given is sufficient, and no less is. */
TEST(the_wait_is_right)
{
        uint64_t wait;

        memset(&a, 0, sizeof(a));
        (void)asked(1, SECOND, 0, LIMIT_REQUESTS_BURST);
        wait = request_quota_acquire(&a, 1, SECOND, &why);
        assert_true(wait > 0);
        assert_true(request_quota_acquire(&a, 1, SECOND + wait - 1, &why) > 0);
        assert_int_equal(request_quota_acquire(&a, 1, SECOND + wait, &why), 0);
}

/* An expensive request is answered whatever it costs; afterwards its client waits accordingly. */
TEST(cost_counts)
{
        memset(&a, 0, sizeof(a));
        assert_int_equal(request_quota_acquire(&a, 1, SECOND, &why), 0);
        request_quota_spend(&a, 1, SECOND, LIMIT_COST_BURST_NS + SECOND / 10);
        uint64_t wait = request_quota_acquire(&a, 1, SECOND, &why);
        assert_int_equal(wait, SECOND / 10 * 100 / LIMIT_COST_PERCENT);
        assert_int_equal(why, REQUEST_QUOTA_COST);
        assert_int_equal(request_quota_acquire(&a, 1, SECOND + wait, &why), 0);
}

TEST(clients_do_not_know_each_other)
{
        memset(&a, 0, sizeof(a));
        (void)asked(1, SECOND, 0, 5000);
        assert_int_equal(asked(2, SECOND, 0, 10), 10);
        for (uint64_t c = 3; c < 3 + 2 * PEERS_MAX; c++) /* more than there are places for */
                assert_int_equal(asked(c, 2 * SECOND + c, 0, 10), 10);
}

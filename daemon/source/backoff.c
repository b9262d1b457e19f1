/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/source/backoff.h"

#include <event2/util.h>

uint32_t backoff_next_ms(struct backoff *b, uint32_t random)
{
        uint32_t ceiling = BACKOFF_FIRST_MS;

        for (uint32_t i = 0; i < b->attempts && ceiling < BACKOFF_MAX_MS; i++)
                ceiling *= 2;
        if (ceiling > BACKOFF_MAX_MS)
                ceiling = BACKOFF_MAX_MS;
        if (b->attempts < UINT32_MAX)
                b->attempts++;
        return ceiling - random % (ceiling / 2 + 1);
}

struct timeval backoff_next(struct backoff *b)
{
        uint32_t random = 0, ms;

        evutil_secure_rng_get_bytes(&random, sizeof(random));
        ms = backoff_next_ms(b, random);
        return (struct timeval){ .tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000 };
}

void backoff_reset(struct backoff *b)
{
        b->attempts = 0;
}

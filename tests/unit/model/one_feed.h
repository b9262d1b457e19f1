/* SPDX-License-Identifier: BSD-3-Clause */
/* one_feed.h - a feed `f` that is new for each FEED_TEST of a file. */
#pragma once

#include "tests/unit/model/events.h"
#include "tests/unit/test.h"

static struct feed f;

static int open_feed(void **unused)
{
        feed_open(&f);
        return 0;
}

static int close_feed(void **unused)
{
        feed_close(&f);
        return 0;
}

#define FEED_TEST(name) TEST_WITH(name, open_feed, close_feed)

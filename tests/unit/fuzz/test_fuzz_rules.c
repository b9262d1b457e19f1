/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_rules.c"

#include "tests/unit/fuzz/replay.h"
#include "tests/unit/test.h"

TEST(test_corpus)
{
        replay("rules");
}

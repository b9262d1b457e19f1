/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a bundle is made: of each target and reason apart, and of each reason a few a day. */
#include <stdlib.h>

#include "tests/unit/test.h"

#include "client/commands/bundles.h"
#include "proto/base/time.h"

#define NOW (UINT64_C(1700000000) * NS_PER_S)

static char directory[] = "/tmp/bundles-XXXXXX";

/* Makes one; NULL, or the sentence of the limit. */
static const char *make(const char *target, uint64_t wall_ns)
{
        static struct error error;
        const struct bundle_limits limits = { .per_day = 3, .apart_ns = 2 * NS_PER_HOUR };
        char path[RECORDED_PATH_MAX];
        bool limited;

        if (bundle_begin(directory, target, "crashed", &limits, wall_ns, path, &limited, &error)) {
                assert_true(bundle_end(path, &error));
                return NULL;
        }
        assert_true(limited);
        return error.text;
}

TEST(each_target_has_its_own_and_a_day_a_few)
{
        assert_non_null(mkdtemp(directory));
        assert_null(make("api", NOW));
        assert_string_equal(make("api", NOW + NS_PER_MINUTE),
                            "not done: the bundle 20231114T221320Z-api-crashed is less than 2h 00m old");
        assert_null(make("old-api", NOW + 2 * NS_PER_MINUTE)); /* another service, whose name ends the same */
        assert_null(make("api", NOW + 3 * NS_PER_HOUR));
        assert_string_equal(make("web", NOW + 4 * NS_PER_HOUR),
                            "not done: 3 bundles of 'crashed' were made within a day");
        bundle_remove(directory);
}

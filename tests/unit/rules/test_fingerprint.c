/* SPDX-License-Identifier: BSD-3-Clause */
/* The fingerprint of an alert: the same for the same alert, another for any other. */
#include <stdlib.h>

#include "tests/unit/test.h"

#include "daemon/judge/rules/alerts.h"

TEST(fingerprint_tells_alerts_apart)
{
        uint64_t a = alert_fingerprint("g", "leak", "api", "Main.x", NULL);

        assert_int_equal(a, alert_fingerprint("g", "leak", "api", "Main.x", NULL));
        assert_int_not_equal(a, alert_fingerprint("g", "leak", "api", "Main.x", "sat_info"));
        assert_int_not_equal(a, alert_fingerprint("g", "leak", "api", "Main.y", NULL));
        assert_int_not_equal(a, alert_fingerprint("g", "leak", "api", NULL, NULL));
        assert_int_not_equal(alert_fingerprint("g", "leak", "api", NULL, NULL),
                             alert_fingerprint("g", "leak", "api", "", NULL));
        assert_int_not_equal(alert_fingerprint("g", "ab", "c", NULL, NULL),
                             alert_fingerprint("g", "a", "bc", NULL, NULL));
        assert_int_not_equal(alert_fingerprint("g", "a", "b", NULL, NULL),
                             alert_fingerprint("g", "b", "a", NULL, NULL));
}

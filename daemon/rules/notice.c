/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/rules/notice.h"

#include "proto/base/hash.h"

uint64_t notice_fingerprint(const char *group, const char *rule, const char *target, const char *band,
                            const char *band_name)
{
        const char *const texts[] = { group, rule, target, band, band_name };
        uint64_t hash = 0;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                hash = hash_text(texts[i], hash);
        return hash;
}

/* ------------------------------------------------------------------- words */

const char *notice_state_name(enum notice_state state)
{
        static const char *const names[] = { "inactive", "pending", "firing", "resolved" };

        return names[state];
}

const char *notice_severity_name(enum notice_severity severity)
{
        static const char *const names[] = { "info", "warning", "critical" };

        return names[severity];
}

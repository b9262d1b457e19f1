/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/reach.h"

#define DOUBT_PARTS 10u                 /* less than one part in so many may be in doubt, */
#define DOUBT_BYTES (UINT64_C(1) << 16) /* and so much: what is young */
#define SLACK_PARTS 20u                 /* what a collection may leave beyond what is expected, */
#define SLACK_BYTES (UINT64_C(4) << 20) /* and what is large and came just before it */

bool reached_add(struct reached *r, const struct reach_result *found)
{
        const uint64_t least = found->least_bytes, most = found->most_bytes;

        if (r->is_wrong || least == 0 || least > most || most - least >= most / DOUBT_PARTS + DOUBT_BYTES)
                return false;
        r->is_known = true;
        r->newest = *found;
        return true;
}

bool reached_compare(struct reached *r, uint32_t nth, uint64_t live_bytes, uint64_t held_bytes)
{
        const struct reach_result *n = &r->newest;
        const uint64_t came = held_bytes > n->held_bytes ? held_bytes - n->held_bytes : 0;
        const uint64_t most = n->most_bytes + n->nursery_bytes + came;

        r->is_wrong |=
                r->is_known && nth == n->major_collections + 1 && live_bytes > most + most / SLACK_PARTS + SLACK_BYTES;
        r->is_known = false;
        return !r->is_wrong;
}

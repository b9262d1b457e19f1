/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/act/withdrawal.h"

#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"

struct notice *withdrawal_new(const struct notice *firing, const struct silence *silence, uint64_t now_wall_ns)
{
        struct notice_pair annotations[LIMIT_NOTICE_PAIRS];
        struct notice end = *firing;
        char until[HW_NUMBER_MAX], words[sizeof(silence->why) + HW_NUMBER_MAX + 16];
        size_t n = firing->n_annotations < LIMIT_NOTICE_PAIRS ? firing->n_annotations : LIMIT_NOTICE_PAIRS - 1;

        (void)snprintf(words, sizeof(words), "until %s%s%s", hw_time_text(until, sizeof(until), silence->until_wall_ns),
                       silence->why[0] ? ": " : "", silence->why);
        if (n > 0)
                memcpy(annotations, firing->annotations, n * sizeof(*annotations));
        annotations[n] = (struct notice_pair){ "silenced", words };
        end.annotations = annotations;
        end.n_annotations = n + 1;
        end.state = NOTICE_RESOLVED;
        end.wall_ns = now_wall_ns;
        return notice_copy(&end);
}

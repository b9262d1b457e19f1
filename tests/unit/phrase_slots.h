/* SPDX-License-Identifier: BSD-3-Clause */
/* phrase_slots.h - each {slot} of sentences is one that there is: another would be left out, or be "?". */
#pragma once

#include <string.h>

#include "proto/base/phrase.h"

static inline bool is_slot(const char *const *names, const char *name, size_t n)
{
        while (*names && (strlen(*names) != n || memcmp(*names, name, n) != 0))
                names++;
        return *names != NULL;
}

/* Both end with NULL. */
static inline void assert_slots_exist(const struct phrase_row *rows, const char *const *names)
{
        for (; rows->key; rows++)
                for (const char *p = rows->text; (p = strchr(p, '{')); p++) {
                        const size_t n = strcspn(p + 1, "}");

                        if (!memchr(p + 1, '|', n) && !is_slot(names, p + 1, n))
                                fail_msg("%s: no slot %.*s", rows->key, (int)n, p + 1);
                }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: both slashes end a word, so that a subscription to "hw1/heap/api-1/"
 * does not match target api-10. Names have no slash, so a topic is unambiguous.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "proto/wire/limits.h"
#include "heapwatch/wire.h"

static_assert(sizeof("hw1/profile//") + LIMIT_TARGET_NAME_BYTES <= HW_TOPIC_MAX, "the longest topic fits");

bool hw_target_name_valid(const char *name)
{
        size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-~");

        return n > 0 && n <= LIMIT_TARGET_NAME_BYTES && name[n] == '\0';
}

size_t hw_topic(char ret_topic[HW_TOPIC_MAX], Hw__Kind kind, const char *target)
{
        const char *name = hw_kind_name(kind);
        int n;

        assert(name && (*target == '\0' || hw_target_name_valid(target)));
        n = snprintf(ret_topic, HW_TOPIC_MAX, "hw1/%s/%s/", name ? name : "none", target);
        return n > 0 && n < HW_TOPIC_MAX ? (size_t)n : strlen(ret_topic);
}

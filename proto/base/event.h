/* SPDX-License-Identifier: BSD-3-Clause */
/* event.h - what both programs do with libevent's events. */
#pragma once

#include <event2/event.h>
#include <stdint.h>

#include "proto/base/time.h"

/* Frees an event that may never have been made (NULL). */
static inline void free_event(struct event **event)
{
        if (*event)
                event_free(*event);
        *event = NULL;
}

/* A span of time as libevent takes it; parts of a microsecond are cut. */
static inline struct timeval timeval_of_ns(uint64_t ns)
{
        return (struct timeval){ .tv_sec = (time_t)(ns / NS_PER_S),
                                 .tv_usec = (suseconds_t)(ns % NS_PER_S / NS_PER_US) };
}

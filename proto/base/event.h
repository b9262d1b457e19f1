/* SPDX-License-Identifier: BSD-3-Clause */
/* event.h - what both programs do with libevent's events. */
#ifndef HW_PROTO_BASE_EVENT_H
#define HW_PROTO_BASE_EVENT_H

#include <event2/event.h>

/* Frees an event that may never have been made (NULL). */
static inline void free_event(struct event **event)
{
        if (*event)
                event_free(*event);
        *event = NULL;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acting.h - acts on the alerts of one daemon.
 *
 *      daemon ──lists, plans──▶ dispatcher (what, when) ─▶ executor (how)
 *        ▲                                                   │
 *        └--------------------- outcomes --------------------┘
 *
 * One thread, one libevent loop: the subscriber and the requester of libheapwatch
 * are descriptors in it, as are libcurl's sockets and the pipes of programs.
 *
 * Lists are processed once the plans of the same rules_generation are there; a list of other
 * rules is dropped, the plans are requested, and the next list (at most a second later)
 * repeats its content. While the daemon is silent nothing is decided and nothing is sent to
 * an Alertmanager again; running actions continue.
 */
#ifndef HW_CLIENT_NOTIFY_ACTING_H
#define HW_CLIENT_NOTIFY_ACTING_H

#include <stdbool.h>
#include <stdint.h>

struct acting;
struct event_base;

struct acting_options {
        struct event_base *base;
        const char *endpoint;      /* of the daemon: where it publishes */
        uint64_t id;               /* not 0; given by the daemon that started this program */
        const char *record_path;   /* where the record is stored; NULL: nowhere */
        const char *record_before; /* see record_read() */
        bool attached;             /* the daemon started this program, and is gone when this one ends */
};

/* Starts. NULL with errno: ENOMEM, EINVAL (a malformed endpoint). */
struct acting *acting_new(const struct acting_options *options);

/* Ends all actions, writes the record, reports to the daemon. Waits for what cannot be killed, two seconds each. */
void acting_destroy(struct acting **a);

#endif

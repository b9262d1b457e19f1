/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - what the tests of the publish stage share: private directories, deadlines, plain sockets, updates. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>
#include <zmq.h>

#include "proto/base/clock.h"
#include "heapwatch/wire.h"

#define DEADLINE_MS 120000

/* A directory of mode 0700 under TMPDIR or /tmp; rm_dir removes it when it is empty. */
static inline void make_dir(char path[64])
{
        (void)snprintf(path, 64, "/tmp/hw-publish-XXXXXX");
        assert_non_null(mkdtemp(path));
}

/* Turns the loop until *done or the deadline; fails then. */
#define TURN_UNTIL(base, condition)                                                                                    \
        do {                                                                                                           \
                uint64_t end_ms_ = clock_mono_ms() + DEADLINE_MS;                                                      \
                while (!(condition)) {                                                                                 \
                        assert_true(clock_mono_ms() < end_ms_);                                                        \
                        (void)event_base_loop((base), EVLOOP_NONBLOCK);                                                \
                        struct timespec pause_ = { .tv_nsec = 200000 };                                                \
                        (void)nanosleep(&pause_, NULL);                                                                \
                }                                                                                                      \
        } while (0)

static inline void set_socket_int(void *socket, int option, int value)
{
        assert_int_equal(zmq_setsockopt(socket, option, &value, sizeof(value)), 0);
}

static inline void *new_socket(void *context, int type, const char *endpoint)
{
        void *s = zmq_socket(context, type);

        assert_non_null(s);
        set_socket_int(s, ZMQ_LINGER, 0);
        set_socket_int(s, ZMQ_RCVTIMEO, DEADLINE_MS);
        if (endpoint)
                assert_int_equal(zmq_connect(s, endpoint), 0);
        return s;
}

/* A heap update of `bytes` live bytes on target "t". */
struct test_update {
        Hw__Update update;
        Hw__Heap heap;
};

static inline const Hw__Update *test_update(struct test_update *u, uint64_t sequence, uint64_t live_bytes)
{
        hw__update__init(&u->update);
        hw__heap__init(&u->heap);
        u->update.target = (char *)"t";
        u->update.has_sequence = 1;
        u->update.sequence = sequence;
        u->update.body_case = HW__UPDATE__BODY_HEAP;
        u->update.heap = &u->heap;
        u->heap.has_live_bytes = 1;
        u->heap.live_bytes = live_bytes;
        return &u->update;
}

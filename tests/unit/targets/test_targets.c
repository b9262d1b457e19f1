/* SPDX-License-Identifier: BSD-3-Clause */
/* Targets come and go by name, up to a limit, and the daemon says which there are. */
#include "tests/unit/publish/support.h"

#include <errno.h>

#include "daemon/log.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/source/loop/memory.h"
#include "proto/base/process.h"
#include "proto/base/descriptors.h"
#include "daemon/watch/targets/targets.h"
#include "proto/base/limits.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

struct fixture {
        struct event_base *base;
        struct bus *bus;
        struct targets *targets;
        char dir[64], publish[96], request[96];
        struct error error;
};

static void no_request(void *ctx, const Hw__Request *request, struct bus_client *client)
{
}

static int set_up(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct bus_handler handler = { .request = no_request };
        struct targets_options options = { .trend = tracker_config_scaled(TREND_MINUTE_NS) };

        *state = f;
        log_set_level(LOG_ERROR);
        make_dir(f->dir);
        (void)snprintf(f->publish, sizeof(f->publish), "ipc://%s/publish", f->dir);
        (void)snprintf(f->request, sizeof(f->request), "ipc://%s/request", f->dir);
        struct bus_options endpoints = { .publish_endpoint = f->publish, .request_endpoint = f->request };
        f->base = event_base_new();
        assert_int_equal(event_base_priority_init(f->base, 2), 0);
        f->bus = bus_new(f->base, &endpoints, &handler, &f->error);
        assert_non_null(f->bus);
        f->targets = targets_new(f->base, f->bus, &options);
        assert_non_null(f->targets);
        return 0;
}

static int tear_down(void **state)
{
        struct fixture *f = *state;

        targets_destroy(&f->targets);
        assert_null(f->targets);
        targets_destroy(&f->targets); /* nothing to destroy */
        bus_destroy(&f->bus);
        event_base_free(f->base);
        assert_int_equal(rmdir(f->dir), 0);
        free(f);
        return 0;
}

static int add(struct fixture *f, const char *name, const char *uri)
{
        struct source_uri parsed;

        assert_true(source_uri_parse(uri, &parsed, &f->error));
        f->error.text[0] = '\0';
        return targets_add(f->targets, name, &parsed, &(struct target_wish){ 0 }, NULL, &f->error);
}

/* The names in the daemon's state, each after a blank. */
static const char *names(struct fixture *f)
{
        static char text[512];
        const Hw__DaemonState *state = targets_daemon_state(f->targets)->daemon;
        size_t n = 0;

        text[0] = '\0';
        for (size_t i = 0; i < state->n_targets; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", state->targets[i]);
        return text;
}

TEST_WITH(come_and_go, set_up, tear_down)
{
        struct fixture *f = *state;

        assert_string_equal(names(f), "");
        assert_null(targets_find(f->targets, "a"));
        assert_int_equal(targets_remove(f->targets, "a"), -ENOENT);
        assert_int_equal(add(f, "a", "file:/nowhere/a"), 0);
        assert_int_equal(add(f, "b", "file:/nowhere/b"), 0);
        assert_int_equal(add(f, "c", "file:/nowhere/b"), 0); /* the same source twice is no mistake */
        assert_string_equal(names(f), " a b c");
        assert_int_equal(targets_count(f->targets), 3);
        assert_string_equal(pipeline_name(targets_get(f->targets, 1)), "b");
        assert_ptr_equal(targets_find(f->targets, "b"), targets_get(f->targets, 1));
        assert_null(targets_find(f->targets, "B"));
        assert_int_equal(targets_remove(f->targets, "b"), 0);
        assert_string_equal(names(f), " a c");
        assert_int_equal(targets_remove(f->targets, "b"), -ENOENT);
        assert_int_equal(add(f, "b", "file:/nowhere/b"), 0); /* the name is free again */
        assert_string_equal(names(f), " a c b");
        assert_int_equal(targets_remove(f->targets, "a"), 0);
        assert_int_equal(targets_remove(f->targets, "b"), 0);
        assert_int_equal(targets_remove(f->targets, "c"), 0);
        assert_int_equal(targets_count(f->targets), 0);
}

TEST_WITH(a_name_is_used_once, set_up, tear_down)
{
        struct fixture *f = *state;

        assert_int_equal(add(f, "a", "file:/nowhere/a"), 0);
        struct pipeline *first = targets_find(f->targets, "a");
        assert_int_equal(add(f, "a", "file:/nowhere/b"), -EEXIST);
        assert_string_equal(f->error.text, "there is already a target 'a'; remove it or give another name");
        assert_int_equal(targets_count(f->targets), 1);
        assert_ptr_equal(targets_find(f->targets, "a"), first);
}

/* What can never be a source is refused with a reason and leaves nothing behind. */
TEST_WITH(a_source_that_cannot_work, set_up, tear_down)
{
        struct fixture *f = *state;

        assert_int_equal(add(f, "one", "stdin:"), 0);
        assert_int_equal(add(f, "two", "stdin:"), -EINVAL);
        assert_string_equal(f->error.text, "standard input is already read by another target");
        assert_null(targets_find(f->targets, "two"));
        assert_string_equal(names(f), " one");
        assert_int_equal(targets_remove(f->targets, "one"), 0);
        assert_int_equal(add(f, "two", "stdin:"), 0);
}

TEST_WITH(no_more_than_the_limit, set_up, tear_down)
{
        struct fixture *f = *state;
        char name[32];

        descriptors_raise();
        for (unsigned i = 0; i < LIMIT_TARGETS; i++) {
                (void)snprintf(name, sizeof(name), "t%u", i);
                assert_int_equal(add(f, name, "file:/nowhere/x"), 0);
        }
        assert_int_equal(add(f, "t0", "file:/nowhere/x"), -EEXIST);
        assert_int_equal(add(f, "more", "file:/nowhere/x"), -ENOSPC);
        assert_non_null(strstr(f->error.text, "1000 targets"));
        assert_null(targets_find(f->targets, "more"));
        assert_int_equal(targets_remove(f->targets, "t500"), 0);
        assert_int_equal(add(f, "more", "file:/nowhere/x"), 0);
        assert_int_equal(targets_count(f->targets), LIMIT_TARGETS);
}

TEST_WITH(none_is_added_without_memory, set_up, tear_down)
{
        struct fixture *f = *state;

        memory_set_budget(UINT64_C(100) << 20);
        memory_update_usage(UINT64_C(99) << 20, 0);
        assert_int_equal(add(f, "a", "file:/nowhere/x"), -ENOMEM);
        assert_non_null(strstr(f->error.text, "99.0 MiB of its 100 MiB of memory is in use"));
        assert_non_null(strstr(f->error.text, "--memory"));
        assert_string_equal(targets_daemon_state(f->targets)->daemon->memory_pressure, memory_words());
        memory_update_usage(UINT64_C(10) << 20, 0);
        assert_int_equal(add(f, "a", "file:/nowhere/x"), 0);
        assert_null(targets_daemon_state(f->targets)->daemon->memory_pressure);
        memory_set_budget(UNKNOWN_U64);
}

/* What distinguishes daemons for subscribers, and what `status` shows. */
TEST_WITH(the_daemon_says_how_it_is, set_up, tear_down)
{
        struct fixture *f = *state;
        const Hw__Update *u = targets_daemon_state(f->targets);

        assert_true(u->has_epoch && u->epoch != 0);
        assert_true(u->epoch == targets_epoch(f->targets));
        assert_string_equal(u->target, "");
        assert_int_equal(u->body_case, HW__UPDATE__BODY_DAEMON);
        assert_string_equal(u->daemon->version, HEAPWATCH_VERSION);
        assert_int_equal(u->daemon->pid, getpid());
        assert_true(u->daemon->started_wall_ns <= u->published_wall_ns);
        assert_true(u->daemon->has_requests && u->daemon->requests == 0);
}

/* Once a second, numbered without gaps; each target repeats its state. */
TEST_WITH(heartbeats, set_up, tear_down)
{
        struct fixture *f = *state;
        void *context = zmq_ctx_new(), *socket = new_socket(context, ZMQ_SUB, f->publish);
        unsigned beats = 0, states = 0;
        uint64_t last = 0;

        assert_int_equal(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0), 0);
        TURN_UNTIL(f->base, bus_stats(f->bus)->clients.subscriptions == 1);
        assert_int_equal(add(f, "a", "file:/nowhere/a"), 0);
        while (beats < 2 || states < 2) {
                uint8_t bytes[4096];
                zmq_pollitem_t item = { .socket = socket, .events = ZMQ_POLLIN };
                TURN_UNTIL(f->base, zmq_poll(&item, 1, 0) == 1);
                assert_true(zmq_recv(socket, bytes, sizeof(bytes), 0) > 0); /* the topic */
                int n = zmq_recv(socket, bytes, sizeof(bytes), 0);
                assert_in_range(n, 1, sizeof(bytes));
                Hw__Update *u = hw__update__unpack(NULL, (size_t)n, bytes);
                assert_non_null(u);
                assert_true(u->epoch == targets_epoch(f->targets));
                if (u->body_case == HW__UPDATE__BODY_DAEMON) {
                        assert_true(beats == 0 || u->sequence == last + 1);
                        last = u->sequence;
                        beats++;
                } else if (u->body_case == HW__UPDATE__BODY_TARGET_STATE) {
                        assert_string_equal(u->target, "a");
                        states++;
                }
                hw__update__free_unpacked(u, NULL);
        }
        zmq_close(socket);
        zmq_ctx_term(context);
}

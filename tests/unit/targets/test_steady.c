/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steady state allocates nothing: logs are played repeatedly through
 * decoder, model and publisher, messages packed, and once everything has its
 * size, thousands of events need no memory. Linked with --wrap for the
 * allocating functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/watch/targets/pipeline.h"
#include "tests/bench/repeat.h"
#include "tests/unit/base/short_memory.h"
#include "proto/base/error.h"

#define WARM_UP  550u /* repetitions: each has a note at least, and the ring of 512 notes has wrapped */
#define MEASURED 50u

struct said {
        uint64_t messages, censuses, collections, notes, stacks;
};

static int hear(void *ctx, const Hw__Update *u)
{
        static uint8_t packed[1u << 20];
        struct said *s = ctx;

        assert_true(hw__update__get_packed_size(u) <= sizeof(packed));
        hw__update__pack(u, packed);
        s->messages++;
        s->censuses += u->body_case == HW__UPDATE__BODY_CENSUS;
        s->collections += u->body_case == HW__UPDATE__BODY_GC ? u->gc->n_collections : 0;
        s->notes += u->body_case == HW__UPDATE__BODY_NOTES ? u->notes->n_notes : 0;
        s->stacks += u->body_case == HW__UPDATE__BODY_PROFILE ? u->profile->n_stacks : 0;
        return 0;
}

static struct pipeline *new_pipeline(const char *path, struct said *said)
{
        struct error error;
        struct source_uri uri;
        struct pipeline_options options = { .name = "steady", .uri = &uri, .epoch = 1, .sink = { said, hear } };

        assert_true(source_uri_parse(path, &uri, &error));
        struct pipeline *p = pipeline_new(&options, &error);
        assert_non_null(p);
        return p;
}

/* Plays the log repeatedly; what is published in the measured part goes to *said. */
static void check(const char *run, struct said *said)
{
        static uint8_t bytes[1u << 20];
        char path[128];
        struct repeat r;

        (void)snprintf(path, sizeof(path), "tests/data/logs/%s/run.eventlog", run);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t size = fread(bytes, 1, sizeof(bytes), f);
        fclose(f);
        assert_true(repeat_init(&r, bytes, size));
        counting = true; /* none is to fail */
        struct pipeline *p = new_pipeline(path, said);
        assert_true(calls > 0);
        assert_int_equal(pipeline_bytes(p, r.bytes, r.first), 0);
        for (unsigned i = 0; i < WARM_UP + MEASURED; i++) {
                if (i == WARM_UP) {
                        memset(said, 0, sizeof(*said));
                        calls = 0;
                }
                assert_int_equal(pipeline_bytes(p, r.bytes + r.first, r.end - r.first), 0);
                repeat_shift(&r);
        }
        unsigned long counted = calls;
        counting = false;
        print_message("%s: %lu allocations for %zu events, %lu messages\n", run, counted, MEASURED * r.n_times,
                      (unsigned long)said->messages);
        assert_true(said->messages > 0);
        /* A ring may double once more, and so may the sparse histogram of a new slice of time. */
        assert_true(counted * 2000 <= MEASURED * r.n_times);
        pipeline_destroy(&p);
        repeat_done(&r);
}

TEST(test_collections)
{
        struct said said;

        check("steady-gc-ghc9103", &said);
        assert_true(said.collections > 0);
}

TEST(test_censuses)
{
        struct said said;

        check("leaky-hT-ghc9103", &said);
        assert_true(said.censuses > 0 && said.notes > 0);
        check("cc-hc-ghc966", &said);
        assert_true(said.censuses > 0);
}

TEST(test_time_profile)
{
        struct said said;

        check("cc-p-ghc9103", &said);
        assert_true(said.stacks > 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out of memory in the whole chain, decoder, model and publisher together: a
 * log is played repeatedly, and each time another allocation fails (and, in a
 * second sweep, all after it too). Nothing may crash or leak; what was
 * published is true, and what was not shows by an error or a gap. Linked
 * with --wrap for the three allocating functions.
 */
#include "tests/unit/targets/play.h"
#include "tests/unit/base/short_memory.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

struct outcome {
        bool made;     /* a pipeline at all */
        int error;     /* of its last call */
        uint64_t gaps; /* in sequences, of all topics */
        uint64_t sequences[32];
        uint64_t events, counted, censuses, collections;
        Hw__Target__State state;
};

/* What the rows of a census add up to. They are packed already, so the message is read as a subscriber reads it. */
static uint64_t sum_of_rows(const Hw__Update *u)
{
        bool before = counting;

        counting = false;
        size_t size = hw__census__get_packed_size(u->census);
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        (void)hw__census__pack(u->census, bytes);
        Hw__Census *census = hw__census__unpack(NULL, size, bytes);
        assert_non_null(census);
        uint64_t sum = 0;
        for (size_t i = 0; i < census->n_bytes; i++)
                sum += census->bytes[i];
        assert_int_equal(census->n_bytes, census->n_band);
        hw__census__free_unpacked(census, NULL);
        free(bytes);
        counting = before;
        return sum;
}

/* Takes messages without allocating anything that counts. */
static int take(void *ctx, const Hw__Update *u)
{
        struct outcome *o = ctx;
        unsigned kind = (unsigned)hw_update_kind(u);

        assert_true(kind < 32 && u->sequence > o->sequences[kind]);
        o->gaps += u->sequence - o->sequences[kind] - 1;
        o->sequences[kind] = u->sequence;
        if (u->body_case == HW__UPDATE__BODY_EVENTS) {
                o->events += u->events->n_type;
                for (size_t i = 0; i < u->events->n_types; i++)
                        o->counted += u->events->types[i]->count;
        }
        if (u->body_case == HW__UPDATE__BODY_CENSUS) {
                /* Nothing is lost silently. */
                assert_int_equal(u->census->total_bytes, u->census->bytes_left_out + sum_of_rows(u));
                o->censuses++;
        }
        if (u->body_case == HW__UPDATE__BODY_GC)
                o->collections += u->gc->n_collections + u->gc->collections_dropped;
        if (u->body_case == HW__UPDATE__BODY_TARGET_STATE)
                o->state = u->target_state->state;
        return 0;
}

static struct outcome play_short(const struct log *l, unsigned long fail, bool after, enum event_wish wish)
{
        struct outcome o = { .made = false };
        struct source_uri uri;
        struct error error = { "" };

        log_set_level(LOG_ERROR);
        assert_true(source_uri_parse("file:/log", &uri, &error));
        struct pipeline_options options = {
                .name = "log",
                .uri = &uri,
                .epoch = 1,
                .sink = { .ctx = &o, .send = take },
                .events = wish,
        };
        calls = 0;
        fail_at = fail;
        ever_after = after;
        counting = true;
        struct pipeline *p = pipeline_new(&options, &error);
        if (p) {
                o.made = true;
                o.error = pipeline_bytes(p, l->bytes, l->size);
                if (o.error == 0)
                        o.error = pipeline_finish(p, NULL, false);
        } else {
                assert_string_equal(error.text, "out of memory");
        }
        pipeline_destroy(&p);
        counting = false;
        return o;
}

static void sweep(const struct log *l, enum event_wish wish)
{
        struct outcome all = play_short(l, 0, false, wish);
        unsigned long n = calls;

        assert_true(all.made && all.error == 0 && all.gaps == 0 && all.censuses > 0 && all.collections > 0);
        for (unsigned after = 0; after < 2; after++) {
                for (unsigned long i = 1; i <= n; i++) {
                        struct outcome o = play_short(l, i, after, wish);
                        if (!o.made || o.error)
                                continue;
                        /* Played to its end: every collection and event is there or counted, or its loss is a gap. */
                        assert_true(o.collections == all.collections || o.gaps > 0 || after);
                        assert_true(o.censuses == all.censuses || o.gaps > 0 || after);
                        if (wish == EVENTS_FULL)
                                assert_true(o.events == all.events && o.counted == all.counted);
                        assert_true(after || o.state == all.state);
                }
        }
        print_message("%lu allocations\n", n);
}

TEST(test_every_allocation_fails)
{
        struct log l = log_of("cc-hc-ghc9103"); /* definitions, censuses, collections, notes */

        sweep(&l, EVENTS_OFF);
        sweep(&l, EVENTS_FULL);
        free(l.bytes);
}

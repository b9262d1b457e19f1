/* SPDX-License-Identifier: BSD-3-Clause */
/* A census that another process gives: it is written when the log has come further; anything else is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "agent/limits.h"
#include "agent/preamble.h"
#include "agent/reader.h"
#include "proto/base/array.h"
#include "proto/base/bytes.h"
#include "proto/base/outside_census.h"

#define MOST 4096

struct census {
        uint8_t bytes[MOST];
        size_t n;
};

static uint8_t *event(struct census *c, unsigned type, size_t payload)
{
        uint8_t *at = c->bytes + c->n;

        put_be(at, type, 2);
        put_be(at + 2, 7, 8);
        memset(at + 10, 0, payload);
        c->n += 10 + payload;
        return at + 10;
}

static void band(struct census *c, const char *name, uint64_t bytes)
{
        const size_t n = 9 + strlen(name) + 1;
        uint8_t *at = event(c, EVENT_BAND, 2 + n);

        put_be(at, n, 2);
        put_be(at + 3, bytes, 8);
        memcpy(at + 11, name, strlen(name));
}

static void message(struct census *c, const char *text)
{
        const size_t n = strlen(text) + 1;
        uint8_t *at = event(c, EVENT_MESSAGE, 2 + n);

        put_be(at, n, 2);
        memcpy(at + 2, text, n);
}

static struct census some_census(void)
{
        struct census c = { .n = 0 };

        event(&c, EVENT_CENSUS, 8);
        band(&c, "Main.Record", 1000);
        band(&c, "ARR_WORDS", 10);
        event(&c, EVENT_CENSUS_END, 8);
        return c;
}

static bool is_one(const struct census *c)
{
        struct error error = { "" };
        uint8_t *exact = malloc(c->n ? c->n : 1); /* valgrind sees what is read behind it */

        memcpy(exact, c->bytes, c->n);
        const bool good = given_check(exact, c->n, &error);
        free(exact);
        assert_true(good == !error.text[0]);
        return good;
}

static struct given begun(const char *line)
{
        struct given g = { 0 };

        assert_int_equal(given_begin(&g, line), GIVEN_BEGUN);
        return g;
}

static void send_census_at(const struct census *c, uint64_t now_ns)
{
        char line[64];

        (void)snprintf(line, sizeof(line), "7 given %zu", c->n);
        struct given g = begun(line);
        for (size_t i = 0; i < c->n; i++) { /* byte by byte */
                *given_place(&g) = c->bytes[i];
                given_add(&g, 1, now_ns);
        }
        assert_true(g.left == 0 && !g.chunk);
}

static void send_census(const struct census *c)
{
        send_census_at(c, 0);
}

TEST(test_one_census_is_one)
{
        struct census c = some_census();

        assert_true(is_one(&c));
        c.n = 0;
        event(&c, EVENT_CENSUS, 8);
        event(&c, EVENT_CENSUS_END, 8);
        assert_true(is_one(&c));
}

/* Messages that tell more of it belong to it; no others. */
TEST(test_messages_of_a_census)
{
        static const char text[] = OUTSIDE_SAYS_THREADS "41 39000 threads blocked on an MVar";
        static const char *const texts[] = { text,
                                             text + 1,
                                             text,
                                             OUTSIDE_SAYS_CLOSURES "41 7",
                                             OUTSIDE_SAYS_CONTENTS "0 8 [Int]",
                                             "heapwatch others 1" };

        for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct census c = { .n = 0 };
                event(&c, EVENT_CENSUS, 8);
                message(&c, texts[i]);
                const size_t at = 18;
                if (i == 2)
                        put_be(c.bytes + at + 10, 0xfff, 2); /* longer than all of it */
                band(&c, "Main.Record", 1000);
                event(&c, EVENT_CENSUS_END, 8);
                assert_true(is_one(&c) == (i == 0 || i == 3 || i == 4));
                if (i > 0)
                        continue;
                send_census(&c);
                assert_null(given_make_block(500));
                struct chunk *chunk = given_make_block(600);
                const uint8_t *said = chunk->bytes + BLOCK_MARKER_BYTES + at;
                assert_true(be16(said) == EVENT_MESSAGE && be64(said + 2) == 600);
                assert_string_equal((const char *)said + 12, text);
                chunk_release(chunk);
        }
}

TEST(test_cut_anywhere_it_is_none)
{
        struct census c = some_census();

        while (c.n-- > 0)
                assert_false(is_one(&c));
}

TEST(test_nothing_else_comes_into_the_log)
{
        struct census c = some_census();
        const size_t n = c.n;

        event(&c, EVENT_CENSUS, 8); /* a second one */
        event(&c, EVENT_CENSUS_END, 8);
        assert_false(is_one(&c));
        c = some_census();
        put_be(c.bytes + n - 18, 10, 2); /* the end of a collection */
        assert_false(is_one(&c));
        c = some_census();
        put_be(c.bytes, EVENT_BAND, 2); /* it does not begin */
        assert_false(is_one(&c));
        c = some_census();
        put_be(c.bytes + 18 + 10, 0xffff, 2); /* longer than all of it */
        assert_false(is_one(&c));
        put_be(c.bytes + 18 + 10, 9, 2); /* without a name */
        assert_false(is_one(&c));
        c = some_census();
        c.bytes[18 + 12] = 1; /* of another profile */
        assert_false(is_one(&c));
        c = some_census();
        c.bytes[18 + 12 + 9 + 4] = '\0'; /* a name within the name */
        assert_false(is_one(&c));
        c = some_census();
        for (size_t i = 0; i < n; i++) { /* whatever it is, it is read within its bounds */
                c.bytes[i] ^= 0xff;
                (void)is_one(&c);
                c.bytes[i] ^= 0xff;
        }
}

TEST(test_lines)
{
        struct given g = { 0 };
        char line[64];

        assert_int_equal(given_begin(&g, "7 census"), GIVEN_OTHER);
        assert_int_equal(given_begin(&g, "7 givens 5"), GIVEN_OTHER);
        assert_int_equal(given_begin(&g, "given 5"), GIVEN_OTHER);
        assert_int_equal(given_begin(&g, "7 given 0"), GIVEN_BAD);
        assert_int_equal(given_begin(&g, "7 given -5"), GIVEN_BAD);
        assert_int_equal(given_begin(&g, "7 given 5 5"), GIVEN_BAD);
        (void)snprintf(line, sizeof(line), "7 given %u", AGENT_GIVEN_BYTES + 1);
        assert_int_equal(given_begin(&g, line), GIVEN_BAD);
        g = begun("7 given 5");
        assert_int_equal(g.left, 5);
        given_forget(&g);
        assert_null(g.chunk);
}

TEST(test_it_is_written_when_the_log_has_come_further)
{
        struct census c = some_census();

        assert_null(given_make_block(100));
        send_census(&c);
        assert_null(given_make_block(500));
        assert_null(given_make_block(500));
        struct chunk *chunk = given_make_block(600);
        assert_non_null(chunk);
        assert_int_equal(chunk->size, BLOCK_MARKER_BYTES + c.n);
        assert_int_equal(be16(chunk->bytes), BLOCK_MARKER);
        assert_int_equal(be64(chunk->bytes + 2), 600);
        assert_int_equal(be32(chunk->bytes + 10), chunk->size);
        const uint8_t *at = chunk->bytes + BLOCK_MARKER_BYTES;
        assert_true(be64(at + 2) == 600 && be64(at + 10) == OUTSIDE_CENSUS);
        assert_true(be16(at + 18) == EVENT_BAND && be64(at + 20) == 600 && be64(at + 31) == 1000);
        assert_string_equal((const char *)at + 39, "Main.Record");
        chunk_release(chunk);
        assert_null(given_make_block(700)); /* once */
}

/* At the moment when the heap was read, between the block that the log had then and the one before it is written. */
TEST(test_its_time_is_when_it_was_read)
{
        static const struct {
                uint64_t now_ns, age_ns, time_ns;
        } cases[] = { { 590, 40, 550 }, { 590, 140, 500 }, { 620, 10, 600 }, { 0, 40, 600 }, { 590, UINT64_MAX, 600 } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct census c = some_census();
                put_be(c.bytes + 2, cases[i].age_ns, 8);
                send_census_at(&c, cases[i].now_ns);
                assert_null(given_make_block(500));
                struct chunk *chunk = given_make_block(600);
                assert_int_equal(be64(chunk->bytes + BLOCK_MARKER_BYTES + 2), cases[i].time_ns);
                chunk_release(chunk);
        }
}

/* A sample's number says how good it is; any other one is of a whole census. */
TEST(test_its_number)
{
        const uint64_t sample = outside_census_number(0.05), numbers[] = { sample, OUTSIDE_CENSUS, 0, UINT32_MAX };

        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                struct census c = some_census();
                put_be(c.bytes + 10, numbers[i], 8);
                send_census(&c);
                assert_null(given_make_block(500));
                struct chunk *chunk = given_make_block(600);
                const uint8_t *at = chunk->bytes + BLOCK_MARKER_BYTES;
                const uint64_t wanted = i == 0 ? sample : OUTSIDE_CENSUS;
                assert_true(be64(at + 10) == wanted && be64(at + c.n - 8) == wanted);
                chunk_release(chunk);
        }
}

TEST(test_the_newest_one_waits)
{
        struct census older = some_census(), newer = some_census();

        put_be(newer.bytes + 31, 2000, 8);
        send_census(&older);
        assert_null(given_make_block(500));
        send_census(&newer);
        assert_null(given_make_block(600));
        struct chunk *chunk = given_make_block(700);
        assert_int_equal(be64(chunk->bytes + BLOCK_MARKER_BYTES + 31), 2000);
        chunk_release(chunk);
        assert_null(given_make_block(800));
}

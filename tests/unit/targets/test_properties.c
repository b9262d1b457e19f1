/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What holds for any log, of the whole chain from bytes to messages:
 *
 *   - any split of its bytes gives the same messages;
 *   - cut anywhere, everything before the cut is published and the run is
 *     unfinished;
 *   - the order of blocks of different buffers does not change the final state;
 *   - what is damaged is lost, counted and located, and nothing else is.
 *
 * Inputs are the recorded logs, changed in ways that a seed determines.
 */
#include <glob.h>

#include "daemon/publish/limits.h"
#include "proto/base/ckd.h"
#include "tests/unit/targets/play.h"
#include "tests/unit/thin.h"
#include "tests/unit/test.h"

static uint64_t the_seed = 20260721;

static size_t below(size_t n)
{
        return (size_t)(random_u64(&the_seed) % n);
}

static void each_log(void (*test)(const char *path, const struct log *l))
{
        glob_t g;

        assert_int_equal(glob(LOGS "*/*.eventlog", 0, NULL, &g), 0);
        assert_true(g.gl_pathc >= 54);
        for (size_t i = 0; i < g.gl_pathc; i++) {
                struct log l = log_read(g.gl_pathv[i]);
                test(g.gl_pathv[i], &l);
                free(l.bytes);
        }
        globfree(&g);
}

/* Where the events begin. */
static size_t header_size(const struct log *l)
{
        return (size_t)((const uint8_t *)memmem(l->bytes, l->size, "hdredatb", 8) - l->bytes) + 8;
}

/* --------------------------------------------------------------- splits */

static void split_at_random(const char *path, const struct log *l)
{
        for (unsigned told = 0; told < 2; told++) {
                struct said (*player)(const uint8_t *, size_t, size_t (*)(void *), void *) = told ? play_events : play;
                struct said whole = player(l->bytes, l->size, one_piece, NULL);
                for (unsigned i = 0; i < 1; i++) {
                        uint64_t x = random_u64(&the_seed);
                        struct said split = player(l->bytes, l->size, random_pieces, &x);
                        assert_same(&whole, &split);
                        said_done(&split);
                }
                said_done(&whole);
        }
}

TEST(test_random_splits_of_all_logs)
{
        each_log(split_at_random);
}

TEST(test_split_at_every_offset_with_events)
{
        struct log l = log_of("leaky-useronly-ghc9103");
        struct said whole = play_events(l.bytes, l.size, one_piece, NULL);

        assert_true(whole.n_events > 20);
        size_t step = thin(1, "splits with events");
        for (size_t at = header_size(&l); at < l.size; at += step) {
                size_t first = at;
                struct said split = play_events(l.bytes, l.size, two_pieces, &first);
                assert_same(&whole, &split);
                said_done(&split);
        }
        said_done(&whole);
        free(l.bytes);
}

/* ----------------------------------------------------------------- cuts */

/* The whole log's events that end before the cut are published unchanged, and so is the state from them. */
static void assert_all_before(const struct said *whole, const struct said *cut, size_t size)
{
        uint64_t notes = 0, collections = 0, begun = 0, ended = 0;
        size_t n = 0;

        for (; n < whole->n_events; n++) {
                const struct told_event *e = &whole->events[n];
                uint64_t end = n + 1 < whole->n_events ? whole->events[n + 1].offset : UINT64_MAX;
                if (end > size)
                        break; /* the next one begins after the cut: this one may not be complete */
                notes += e->is_note;
                collections += e->id == HW_GC_STATS_GHC;
                begun += e->id == HW_HEAP_PROF_SAMPLE_BEGIN || e->id == HW_HEAP_BIO_PROF_SAMPLE_BEGIN;
                ended += e->id == HW_HEAP_PROF_SAMPLE_END;
        }
        assert_in_range(cut->n_events, n, n + 1);
        for (size_t i = 0; i < n; i++) {
                assert_true(cut->events[i].hash == whole->events[i].hash);
                assert_int_equal(cut->events[i].capability, whole->events[i].capability);
        }
        if (cut->n_events > n) { /* the last one ended just at the cut, or only the end marker is missing */
                const struct told_event *e = &cut->events[n];
                assert_true(e->hash == whole->events[n].hash);
                notes += e->is_note;
                collections += e->id == HW_GC_STATS_GHC;
                begun += e->id == HW_HEAP_PROF_SAMPLE_BEGIN || e->id == HW_HEAP_BIO_PROF_SAMPLE_BEGIN;
                ended += e->id == HW_HEAP_PROF_SAMPLE_END;
        }
        assert_int_equal(cut->counted, cut->n_events);
        assert_int_equal(cut->notes, notes);
        assert_int_equal(cut->collections, collections);
        assert_int_equal(cut->censuses - cut->unfinished, ended);
        assert_int_equal(cut->unfinished, begun - ended);
        assert_int_equal(cut->resyncs + cut->lost_bytes, 0);
}

static void cut_at(const struct log *l, const struct said *whole, size_t size)
{
        struct said cut = play_events(l->bytes, size, one_piece, NULL);

        assert_all_before(whole, &cut, size);
        if (cut.runs) {
                assert_int_equal(cut.state, HW__TARGET__STATE__STATE_LOST);
                assert_non_null(strstr(cut.detail, "without an end marker"));
        }
        said_done(&cut);
}

TEST(test_cut_at_every_byte)
{
        static const char *const runs[] = { "leaky-useronly-ghc902", "parallel-ghc9103" };
        static const size_t steps[] = { 1, 7 };

        for (size_t i = 0; i < 2; i++) {
                struct log l = log_of(runs[i]);
                struct said whole = play_events(l.bytes, l.size, one_piece, NULL);
                assert_int_equal(whole.state, HW__TARGET__STATE__STATE_ENDED);
                size_t step = thin(steps[i], "cuts");
                for (size_t size = 1; size < l.size; size += size < header_size(&l) ? 31 : step)
                        cut_at(&l, &whole, size);
                said_done(&whole);
                free(l.bytes);
        }
}

static void cut_at_random(const char *path, const struct log *l)
{
        if (strstr(path, "torn")) /* damage is judged by what follows it, which a cut may take away */
                return;
        struct said whole = play_events(l->bytes, l->size, one_piece, NULL);
        for (unsigned i = 0; i < 3; i++)
                cut_at(l, &whole, 1 + below(l->size - 1));
        said_done(&whole);
}

TEST(test_cut_all_logs_at_random)
{
        each_log(cut_at_random);
}

/* ------------------------------------------------------- order of blocks */

#define BUFFERS      4 /* no capability, and three */
#define BLOCKS       4000
#define MARKER_BYTES 24u

struct block {
        size_t at, size;
};

static struct block blocks[BUFFERS][BLOCKS];
static size_t n_blocks[BUFFERS];

/* Finds the chain of blocks; returns where the first begins. What follows the last one is `*ret_rest`. */
static size_t find_blocks(const struct log *l, size_t *ret_rest)
{
        const uint8_t *data = memmem(l->bytes, l->size, "hdredatb", 8);
        size_t first = (size_t)(data - l->bytes) + 8, at = first;

        memset(n_blocks, 0, sizeof(n_blocks));
        while (l->size - at >= MARKER_BYTES && l->bytes[at] == 0 && l->bytes[at + 1] == HW_BLOCK_MARKER) {
                const uint8_t *p = l->bytes + at + 10;
                size_t size = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
                unsigned buffer = (uint16_t)((p[12] << 8 | p[13]) + 1);
                assert_true(buffer < BUFFERS && n_blocks[buffer] < BLOCKS && size <= l->size - at);
                blocks[buffer][n_blocks[buffer]++] = (struct block){ at, size };
                at += size;
        }
        *ret_rest = at;
        return first;
}

static bool ends_the_log(const struct log *l, const struct block *b)
{
        return b->size > 2 && l->bytes[b->at + b->size - 1] == 0xff && l->bytes[b->at + b->size - 2] == 0xff;
}

/* The log with its blocks in another order; those of one buffer stay in theirs, the one with the end comes last. */
static struct log reordered(const struct log *l)
{
        struct log out = { malloc(l->size), 0 };
        size_t rest, first = find_blocks(l, &rest), at[BUFFERS] = { 0 }, left = 0;
        struct block last = { 0 };

        assert_non_null(out.bytes);
        memcpy(out.bytes, l->bytes, first);
        out.size = first;
        if (n_blocks[0] && ends_the_log(l, &blocks[0][n_blocks[0] - 1]))
                last = blocks[0][--n_blocks[0]];
        for (size_t b = 0; b < BUFFERS; b++)
                left += n_blocks[b];
        while (left) {
                size_t b = below(BUFFERS);
                for (size_t n = below(5); n && at[b] < n_blocks[b]; n--, left--) {
                        const struct block *block = &blocks[b][at[b]++];
                        memcpy(out.bytes + out.size, l->bytes + block->at, block->size);
                        out.size += block->size;
                }
        }
        memcpy(out.bytes + out.size, l->bytes + last.at, last.size);
        out.size += last.size;
        memcpy(out.bytes + out.size, l->bytes + rest, l->size - rest);
        out.size += l->size - rest;
        assert_int_equal(out.size, l->size);
        return out;
}

TEST(test_order_of_blocks_does_not_matter)
{
        static const char *const runs[] = { "parallel-ghc902",  "parallel-full-ghc9103", "leaky-hc-ghc902",
                                            "leaky-hc-ghc9103", "steady-hT-thr-ghc9103", "steady-hT-thr-ghc902" };

        for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
                struct log l = log_of(runs[i]);
                struct said whole = play_events(l.bytes, l.size, one_piece, NULL);
                assert_true(whole.collections > 0);
                for (unsigned n = 0; n < 4; n++) {
                        struct log other = reordered(&l);
                        struct said s = play_events(other.bytes, other.size, one_piece, NULL);
                        assert_int_equal(s.state, HW__TARGET__STATE__STATE_ENDED);
                        assert_int_equal(s.resyncs + s.lost_bytes + s.time_anomalies + s.late_samples, 0);
                        assert_int_equal(s.n_events, whole.n_events);
                        assert_int_equal(s.collections, whole.collections);
                        assert_int_equal(s.censuses, whole.censuses);
                        assert_true(s.census_hash == whole.census_hash);
                        assert_int_equal(s.notes, whole.notes);
                        assert_true(s.notes_hash == whole.notes_hash);
                        assert_true(s.state_hash == whole.state_hash);
                        said_done(&s);
                        free(other.bytes);
                }
                said_done(&whole);
                free(l.bytes);
        }
}

/* --------------------------------------------------------------- damage */

#define STATE_MAX (16u << 20)

/*
 * How many of `want` are not in `got`, which has them in the same order. The
 * capability is not compared: where a block was broken it is unknown up to the
 * next block, and published as none.
 */
static size_t missing(const struct said *want, const struct said *got)
{
        size_t at = 0, n = 0;

        for (size_t i = 0; i < want->n_events; i++) {
                size_t k = at;
                while (k < got->n_events && got->events[k].hash != want->events[i].hash)
                        k++;
                if (k < got->n_events)
                        at = k + 1;
                else
                        n++;
        }
        return n;
}

/* What any damaged log must show: loss is counted and its newest places sum up to no more than it. */
static void assert_honest(const struct said *s, size_t size)
{
        uint64_t sum = 0;

        assert_true(s->state_bytes < STATE_MAX);
        assert_true(s->lost_bytes <= size);
        assert_int_equal(s->n_damages, s->resyncs < LIMIT_DAMAGES ? s->resyncs : LIMIT_DAMAGES);
        for (size_t i = 0; i < s->n_damages; i++) {
                assert_true(s->damages[i].offset <= size && s->damages[i].lost_bytes <= size - s->damages[i].offset);
                sum += s->damages[i].lost_bytes;
        }
        assert_true(s->resyncs > LIMIT_DAMAGES ? sum <= s->lost_bytes : sum == s->lost_bytes);
        assert_int_equal(s->counted, s->n_events);
}

/* Every byte of a small log, in several ways. */
TEST(test_every_byte_changed)
{
        enum { CHANGES = 4 };
        static const uint8_t changes[CHANGES] = { 0x01, 0x80, 0x10, 0xff };
        struct log l = log_of("leaky-useronly-ghc9103");
        struct said whole = play_events(l.bytes, l.size, one_piece, NULL);
        size_t header = header_size(&l), worst = 0, step = thin(1, "bytes changed"), n = 0;
        uint64_t total = 0;

        for (size_t at = 0; at < l.size; at += step) {
                for (size_t i = at < header ? CHANGES - 1 : 0; i < CHANGES; i++) {
                        l.bytes[at] ^= changes[i];
                        struct said s = play_events(l.bytes, l.size, one_piece, NULL);
                        l.bytes[at] ^= changes[i];
                        assert_honest(&s, l.size);
                        if (at >= header) {
                                size_t lost = missing(&whole, &s);
                                assert_true(s.lost_bytes <= 1024);
                                if (s.lost_bytes == 0)
                                        worst = lost > worst ? lost : worst;
                                total += lost;
                                n++;
                        }
                        said_done(&s);
                }
        }
        print_message("silently lost at most %zu of %zu events, mean of all %.2f\n", worst, whole.n_events,
                      (double)total / (double)n);
        assert_true(worst <= 12); /* a short text's length may lead to a later event's first byte: not to be seen */
        assert_true(total < 2 * n);
        said_done(&whole);
        free(l.bytes);
}

enum junk { ZERO, ONES, NOISE, HUGE_BLOCKS, TEXT, OTHER_LOG, JUNKS };

/* Fills `out` with bytes as in a broken stream. */
static void make_junk(enum junk kind, uint8_t *out, size_t size, const struct log *other)
{
        static const uint8_t marker[MARKER_BYTES] = {
                [1] = HW_BLOCK_MARKER, [10] = 0x7f, [11] = 0xff, [12] = 0xff, [13] = 0xff, [14] = 0xff, [23] = 1
        };

        for (size_t i = 0; i < size; i++) {
                if (kind == HUGE_BLOCKS)
                        out[i] = marker[i % MARKER_BYTES];
                else if (kind == OTHER_LOG)
                        out[i] = other->bytes[(other->size / 2 + i) % other->size];
                else if (kind == TEXT)
                        out[i] = (uint8_t)(' ' + i % 90);
                else
                        out[i] = kind == ZERO ? 0 : kind == ONES ? 0xff : (uint8_t)below(256);
        }
}

/* Junk between two bytes, or in place of some: what is far from it is decoded as before, and the loss is placed. */
static void junk_at(const struct log *l, const struct said *whole, size_t at, const uint8_t *junk, size_t size,
                    bool insert)
{
        size_t total = insert ? l->size + size : l->size;
        uint8_t *torn = malloc(total);

        assert_non_null(torn);
        memcpy(torn, l->bytes, insert ? at : l->size);
        memcpy(torn + at, junk, size);
        if (insert)
                memcpy(torn + at + size, l->bytes + at, l->size - at);
        struct said s = play_events(torn, total, one_piece, NULL);
        assert_honest(&s, total);
        assert_int_equal(s.runs, 1);
        /* Only the last event and the end marker with it can be lost: where a block's end has moved. */
        if (s.state != HW__TARGET__STATE__STATE_ENDED)
                assert_int_equal(s.damages[s.n_damages - 1].offset + s.damages[s.n_damages - 1].lost_bytes, total);
        /*
         * Bytes of the events that the junk is in, and of the longest event: where the junk has moved a block's end,
         * the event there is lost.
         */
        size_t hit = 0, longest = 0;
        for (size_t i = 0; i < whole->n_events; i++) {
                uint64_t begin = whole->events[i].offset;
                uint64_t end = i + 1 < whole->n_events ? whole->events[i + 1].offset : l->size;
                if (begin < at + (insert ? 1 : size) && end > at)
                        hit += end - begin;
                longest = end - begin > longest ? end - begin : longest;
        }
        assert_true(s.lost_bytes <= size + hit + longest + 1024);
        if (s.n_damages && s.resyncs <= LIMIT_DAMAGES) /* the first place: an event may have begun before it */
                assert_in_range(at, sub_sat(s.damages[0].offset, size + 64), s.damages[0].offset + HW_EVENT_MAX_BYTES);
        said_done(&s);
        free(torn);
}

TEST(test_junk_anywhere)
{
        static const char *const runs[] = { "parallel-full-ghc9103", "cc-hc-ghc9103",  "leaky-hi-ghc966",
                                            "cc-p-ghc902",           "binmsg-ghc9103", "nonmoving-census-ghc9103" };
        static const size_t sizes[] = { 3, 64, 5000, 100000 };
        struct log other = log_of("steady-gc-ghc902");
        uint8_t *junk = malloc(100000);

        assert_non_null(junk);
        for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
                struct log l = log_of(runs[i]);
                struct said whole = play_events(l.bytes, l.size, one_piece, NULL);
                size_t from = header_size(&l) + MARKER_BYTES;
                for (unsigned kind = 0; kind < JUNKS; kind++) {
                        for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
                                make_junk(kind, junk, sizes[k], &other);
                                junk_at(&l, &whole, from + below(l.size - from - 400), junk, sizes[k], true);
                        }
                        size_t size = 1 + below(300);
                        make_junk(kind, junk, size, &other);
                        junk_at(&l, &whole, from + below(l.size - from - 700), junk, size, false);
                }
                said_done(&whole);
                free(l.bytes);
        }
        free(junk);
        free(other.bytes);
}

/* Not a log at all: nothing is accepted or kept, and this is reported. */
TEST(test_only_junk)
{
        struct log other = log_of("steady-gc-ghc902");
        uint8_t *junk = malloc(300000);

        assert_non_null(junk);
        for (unsigned kind = 0; kind < JUNKS; kind++) {
                make_junk(kind, junk, 100000, &other);
                struct said s = play_events(junk, 100000, one_piece, NULL);
                assert_int_equal(s.runs, 0);
                assert_int_equal(s.n_events, 0);
                assert_int_equal(s.state, HW__TARGET__STATE__STATE_UNREADABLE);
                assert_true(s.detail[0] && s.lost_bytes == 100000 && s.state_bytes < 1u << 20);
                said_done(&s);
        }
        free(junk);
        free(other.bytes);
}

/* Torn by the runtime itself: at most 1 KiB for each place, every place reported. */
TEST(test_torn_logs)
{
        static const char *const runs[] = { "torn-9103-10", "torn-966-10" };

        for (size_t i = 0; i < 2; i++) {
                struct log l = log_of(runs[i]);
                struct said s = play_events(l.bytes, l.size, one_piece, NULL);
                assert_true(s.resyncs > 0 && s.resyncs <= LIMIT_DAMAGES);
                assert_honest(&s, l.size);
                for (size_t k = 0; k < s.n_damages; k++)
                        assert_true(s.damages[k].lost_bytes <= 1024);
                said_done(&s);
                free(l.bytes);
        }
}

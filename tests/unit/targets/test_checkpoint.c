/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A target that is saved anywhere in its log and restored continues as if nothing had happened: everything it publishes
 * at the end is the same. And whatever is wrong with a checkpoint, it is refused or does no harm.
 */
#include "tests/unit/targets/play.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <unistd.h>

#include "daemon/record/checkpoint/store.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "daemon/watch/targets/pipeline_checkpoint.h"
#include "proto/base/outside_census.h"
#include "proto/eventlog/writer.h"
#include "tests/unit/thin.h"
#include "tests/unit/test.h"

static struct ruleset *rules;

static int ignore(void *ctx, const Hw__Update *u)
{
        return 0;
}

static struct pipeline *make(const struct checkpoint *checkpoint)
{
        struct source_uri uri;
        struct error error;

        assert_true(source_uri_parse("file:/log", &uri, &error));
        struct pipeline_options options = {
                .name = "log",
                .uri = &uri,
                .epoch = 1,
                .sink = { .send = ignore },
                .rules = rules,
                .checkpoint = checkpoint,
        };
        struct pipeline *p = pipeline_new(&options, &error);
        assert_non_null(p);
        return p;
}

static void complain(void *ctx, const char *text)
{
}

static const struct error_sink diagnostics = { .say = complain };

struct saying {
        uint64_t hash[32];
        unsigned n;
};

static bool listen_in(void *ctx, const Hw__Update *u)
{
        struct saying *s = ctx;
        Hw__Update copy = *u;

        copy.has_sequence = copy.has_published_wall_ns = false;
        if (u->body_case == HW__UPDATE__BODY_HEALTH)
                return true;
        if (u->body_case == HW__UPDATE__BODY_TARGET_STATE)
                copy.target_state->n_heads = 0;
        s->hash[u->body_case % 32] = hash_message(s->hash[u->body_case % 32], &copy.base);
        s->n++;
        return true;
}

/* Everything that a late joiner receives, as numbers by kind of message. */
static struct saying say(struct pipeline *p)
{
        struct saying s = { .n = 0 };
        struct snapshot snapshot = { .each = listen_in, .ctx = &s };

        assert_int_equal(pipeline_snapshot(p, &snapshot), 0);
        return s;
}

static void feed(struct pipeline *p, const struct log *l, size_t from, size_t to)
{
        while (from < to) {
                size_t step = to - from < 4097 ? to - from : 4097;
                (void)pipeline_bytes(p, l->bytes + from, step);
                from += step;
        }
}

static struct checkpoint write_down(struct pipeline *p)
{
        struct checkpoint c = { 0 };

        c.image = pipeline_checkpoint(p, true, &c.n);
        assert_non_null(c.image);
        return c;
}

static void check_log(struct log l, const char *path)
{
        struct pipeline *whole = make(NULL);

        feed(whole, &l, 0, l.size);
        struct saying want = say(whole);
        pipeline_destroy(&whole);
        for (unsigned i = 1; i < 4; i++) {
                size_t cut = l.size * i / 4 + i;
                struct pipeline *before = make(NULL);
                feed(before, &l, 0, cut);
                struct checkpoint c = write_down(before);
                pipeline_destroy(&before);
                struct pipeline *after = make(&c);
                free(c.image);
                c = write_down(after); /* and once more */
                pipeline_destroy(&after);
                after = make(&c);
                free(c.image);
                feed(after, &l, cut, l.size);
                struct saying got = say(after);
                for (unsigned k = 0; k < 32; k++) {
                        if (got.hash[k] != want.hash[k])
                                print_message("%s cut at %zu: messages of kind %u differ\n", path, cut, k);
                        assert_int_equal(got.hash[k], want.hash[k]);
                }
                assert_int_equal(got.n, want.n);
                pipeline_destroy(&after);
        }
        free(l.bytes);
}

TEST(test_all_logs)
{
        glob_t logs;

        assert_int_equal(glob(LOGS "*/run.eventlog", 0, NULL, &logs), 0);
        assert_true(logs.gl_pathc > 40);
        for (size_t i = 0; i < logs.gl_pathc; i += thin(1, "logs"))
                check_log(log_read(logs.gl_pathv[i]), logs.gl_pathv[i]);
        globfree(&logs);
}

static void put_text(struct eventlog_writer *w, uint16_t event, uint64_t at, uint64_t bytes, const char *text)
{
        writer_event(w, event, at);
        const size_t length = writer_length_begin(w);
        if (event == HW_HEAP_PROF_SAMPLE_STRING) {
                writer_number(w, 0, 1);
                writer_number(w, bytes, 8);
        }
        writer_string(w, text);
        writer_length_end(w, length, 0);
}

/* Also within and after censuses that were read from outside, with what messages tell of them. */
TEST(test_censuses_from_outside)
{
        static struct eventlog_writer w;
        static const uint16_t types[][2] = { { HW_LOG_MSG, WRITER_VARIABLE },
                                             { HW_BLOCK_MARKER, 14 },
                                             { HW_HEAP_PROF_SAMPLE_BEGIN, 8 },
                                             { HW_HEAP_PROF_SAMPLE_STRING, WRITER_VARIABLE },
                                             { HW_HEAP_PROF_SAMPLE_END, 8 } };

        w.n = 0;
        writer_header_begin(&w);
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
                writer_type(&w, types[i][0], types[i][1], "");
        writer_header_end(&w);
        for (uint64_t s = 1; s <= 9; s++) {
                writer_block_begin(&w, s * 1000000000u, s * 1000000000u, 0xffff);
                writer_event(&w, HW_HEAP_PROF_SAMPLE_BEGIN, s * 1000000000u);
                writer_number(&w, OUTSIDE_CENSUS, 8);
                put_text(&w, HW_LOG_MSG, s * 1000000000u, 0, OUTSIDE_SAYS_THREADS "40");
                put_text(&w, HW_LOG_MSG, s * 1000000000u, 0, OUTSIDE_SAYS_THREADS "40 39000 threads of one place");
                put_text(&w, HW_HEAP_PROF_SAMPLE_STRING, s * 1000000000u, 500 * s, "GHC.Types.:");
                put_text(&w, HW_HEAP_PROF_SAMPLE_STRING, s * 1000000000u, 50000, "STACK");
                put_text(&w, HW_LOG_MSG, s * 1000000000u, 0, OUTSIDE_SAYS_CLOSURES "20 40");
                for (uint64_t i = 0; i < 5 * s; i++) /* more than are kept, at last */
                        put_text(&w, HW_LOG_MSG, s * 1000000000u, 0, OUTSIDE_SAYS_CONTENTS "0 490 [Session]");
                writer_event(&w, HW_HEAP_PROF_SAMPLE_END, s * 1000000000u);
                writer_number(&w, OUTSIDE_CENSUS, 8);
                writer_block_end(&w);
        }
        assert_false(w.failed);
        for (unsigned cut = 0; cut < 40; cut++) { /* the last census has no end, at some point */
                struct log l = { malloc(w.n), w.n - cut * 7 };
                assert_non_null(l.bytes);
                memcpy(l.bytes, w.data, l.size);
                check_log(l, "of censuses from outside");
        }
}

static uint64_t next(uint64_t *random)
{
        *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return *random >> 16;
}

/* Restores what is in `c`, and if that is taken, goes on with the log. */
static bool try(const struct checkpoint *c, const struct log *l, size_t cut)
{
        struct source_uri uri;
        struct error error;
        struct pipeline *p = make(NULL);

        assert_true(source_uri_parse("file:/log", &uri, &error));
        bool exact, taken = pipeline_restore(p, c->image, c->n, &exact, &error);
        if (taken)
                feed(p, l, cut, l->size);
        else
                assert_true(error.text[0]);
        pipeline_destroy(&p);
        return taken;
}

TEST(test_cut_anywhere)
{
        struct log l = log_of("leaky-hi-ghc9103");
        size_t cut = l.size / 2;
        struct pipeline *p = make(NULL);

        feed(p, &l, 0, cut);
        struct checkpoint c = write_down(p);
        pipeline_destroy(&p);
        assert_true(try(&c, &l, cut));
        size_t step = thin(997, "lengths");
        for (size_t n = 0; n < c.n; n += step) {
                uint8_t *part = malloc(n ? n : 1); /* so that reading beyond it is noticed */
                assert_non_null(part);
                memcpy(part, c.image, n);
                assert_false(try(&(struct checkpoint){ .image = part, .n = n }, &l, cut));
                free(part);
        }
        free(c.image);
        free(l.bytes);
}

/* The next name of a type or a member from `at` on; SIZE_MAX: none. */
static size_t next_name(const struct checkpoint *c, size_t at, size_t *ret_size)
{
        for (size_t size = 0; at < c->n; at++) {
                if (islower(c->image[at]) || c->image[at] == '_') {
                        size++;
                        continue;
                }
                *ret_size = size;
                if (c->image[at] == '\0' && size >= 4)
                        return at - size;
                size = 0;
        }
        return SIZE_MAX;
}

/*
 * A name that differs is a member that the writer had and the reader has not, and one that the reader alone has: as if
 * a version had one more, and one less. Most of these are numbers, and the rest is taken without them.
 */
TEST(test_another_version)
{
        struct log l = log_of("leaky-hi-ghc9103");
        size_t cut = l.size / 2, size;
        unsigned taken = 0, all = 0, step = (unsigned)thin(1, "names");
        struct pipeline *p = make(NULL);
        uint64_t at;

        feed(p, &l, 0, cut);
        struct checkpoint c = write_down(p);
        pipeline_destroy(&p);
        memcpy(&at, c.image, sizeof(at)); /* where the definitions begin */
        for (unsigned i = 0; (at = next_name(&c, at, &size)) != SIZE_MAX; at += size, i++) {
                if (i % step)
                        continue;
                c.image[at] ^= 1;
                taken += try(&c, &l, cut);
                c.image[at] ^= 1;
                all++;
        }
        assert_true(all > 300 / step);
        if (taken < all / 2)
                print_message("%u of %u\n", taken, all);
        assert_true(taken >= all / 2);
        free(c.image);
        free(l.bytes);
}

/* Exchanges two names of the same length, wherever they are. */
static void exchange(const struct checkpoint *c, const char *one, const char *other)
{
        const size_t size = strlen(one) + 1;
        unsigned found = 0;

        for (size_t at = 0; at + size <= c->n; at++) {
                const bool is_one = !memcmp(c->image + at, one, size);
                if (is_one || !memcmp(c->image + at, other, size)) {
                        memcpy(c->image + at, is_one ? other : one, size);
                        found++;
                }
        }
        assert_true(found >= 4); /* in the model, and in the tracker */
}

/* A series that the version before judged, and one that it did not. */
TEST(test_another_version_judges_other_series)
{
        struct log l = log_of("leaky-hi-ghc9103");
        struct pipeline *p = make(NULL);

        feed(p, &l, 0, l.size / 2);
        struct checkpoint c = write_down(p);
        pipeline_destroy(&p);
        exchange(&c, "SERIES_LIVE", "SERIES_SLOP");
        assert_true(try(&c, &l, l.size / 2));
        free(c.image);
        free(l.bytes);
}

static void refuses_or_is_well(const struct checkpoint *c, const char *why)
{
        struct error error;
        struct pipeline *p = make(NULL);
        bool exact;

        assert_false(pipeline_restore(p, c->image, c->n, &exact, &error));
        assert_non_null(strstr(error.text, why));
        pipeline_destroy(&p);
}

TEST(test_other_targets_are_refused)
{
        struct pipeline *p = make(NULL);
        struct checkpoint_target head;

        struct checkpoint c = write_down(p);
        pipeline_destroy(&p);
        assert_true(checkpoint_target_read(c.image, c.n, &head));
        assert_string_equal(head.name, "log");
        assert_string_equal(head.uri, "file:/log");
        char *uri = memmem(c.image, c.n, head.uri, strlen(head.uri) + 1);
        assert_non_null(uri);
        memcpy(uri, "file:/lag", strlen(head.uri));
        refuses_or_is_well(&c, "another source, file:/lag");
        free(c.image);
}

/* The program's arguments, other than RTS options, are not in it. */
TEST(test_arguments_are_left_out)
{
        struct log l = log_of("leaky-hi-ghc9103");
        struct pipeline *p = make(NULL);

        feed(p, &l, 0, l.size);
        const struct run *run = model_run(pipeline_model(p));
        struct checkpoint c = write_down(p);
        unsigned others = 0, options = 0;
        for (uint32_t i = 1; i < run->n_args; i++) {
                bool is_option = run->args[i][0] == '-' || run->args[i][0] == '+';
                if (strlen(run->args[i]) < 3)
                        continue; /* by chance, anywhere */
                bool inside = memmem(c.image, c.n, run->args[i], strlen(run->args[i]) + 1) != NULL;
                assert_int_equal(inside, is_option);
                options += is_option;
                others += !is_option;
        }
        assert_true(options > 0 && others > 0);
        assert_true(memmem(c.image, c.n, run->program, strlen(run->program) + 1) != NULL);
        pipeline_destroy(&p);
        free(c.image);
        free(l.bytes);
}

TEST(test_files)
{
        char directory[] = "/tmp/hw-checkpoint-XXXXXX", path[64];
        uint8_t image[5000];
        struct checkpoint c = { 12345, image, sizeof(image) }, got;
        struct error error;
        uint64_t random = 1;

        for (size_t i = 0; i < sizeof(image); i++)
                image[i] = (uint8_t)next(&random);
        assert_non_null(mkdtemp(directory));
        assert_int_equal(checkpoint_read(directory, "t", &got, &error), -ENOENT);
        assert_int_equal(checkpoint_write(directory, "t", &c), 0);
        assert_int_equal(checkpoint_read(directory, "t", &got, &error), 0);
        assert_int_equal(got.wall_ns, 12345);
        assert_int_equal(got.n, sizeof(image));
        assert_memory_equal(got.image, image, sizeof(image));
        free(got.image);
        struct log file = log_read((snprintf(path, sizeof(path), "%s/t" CHECKPOINT_SUFFIX, directory), path));
        for (size_t at = 0; at < file.size; at += 61) { /* the wall clock alone may be anything */
                FILE *f = fopen(path, "wb");
                assert_non_null(f);
                file.bytes[at] ^= 0x10;
                assert_int_equal(fwrite(file.bytes, 1, file.size, f), file.size);
                fclose(f);
                file.bytes[at] ^= 0x10;
                int r = checkpoint_read(directory, "t", &got, &error);
                assert_true(r == -EBADMSG || (at >= 8 && at < 16) || r == -ENOMEM);
                free(got.image);
        }
        checkpoint_remove(directory, "t");
        assert_int_equal(checkpoint_read(directory, "t", &got, &error), -ENOENT);
        assert_int_equal(rmdir(directory), 0);
        free(file.bytes);
}

static int begin_tests(void **state)
{
        log_set_level(LOG_ERROR);
        rules = rules_load(NULL, 0, &diagnostics);
        return 0;
}

static int end_tests(void **state)
{
        ruleset_destroy(&rules);
        return 0;
}

TEST_GROUP(begin_tests, end_tests)

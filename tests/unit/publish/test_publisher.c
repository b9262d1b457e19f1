/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The publisher behind the real model. A follower takes every update as bytes,
 * checks its sequence and keeps the state; at the end a late joiner who got the
 * snapshot must have the same state.
 */
#include "daemon/model/limits.h"
#include "daemon/publish/limits.h"
#include "tests/unit/publish/support.h"

#include <errno.h>

#include "heapwatch/eventlog.h"
#include "daemon/model/model.h"
#include "daemon/publish/encode.h"
#include "daemon/publish/publisher.h"
#include "tests/unit/test.h"

#define KINDS    (HW__KIND__KIND_ALERT + 1)
#define MAX_ROWS 4096
#define MAX_HELD 8192

struct bytes {
        uint8_t *p;
        size_t n;
};

struct follower {
        bool late_joiner; /* gets a snapshot: sequences stand still */
        uint64_t sequences[KINDS], updates[KINDS];
        struct bytes state[KINDS]; /* heap, gc, sched, census: newest body without what is gathered */
        struct bytes bands[MAX_ROWS], stacks[MAX_ROWS], ticky[MAX_ROWS], notes[MAX_ROWS];
        uint64_t samples[16], collections, dropped, ticks;
        Hw__Update *heap, *target; /* newest, owned */
        size_t largest;            /* message, in bytes */
        int result;                /* of the sink */
        struct publisher *p;
        struct model *m;
        struct snapshot snapshot; /* of a late joiner: how far it has come */
        unsigned room;            /* messages of it that are taken now */
        struct follower *joiner;  /* gets a snapshot, a message at a time, and holds what is published meanwhile: */
        Hw__Update *held[MAX_HELD];
        size_t n_held;
};

static void keep(struct bytes *b, const ProtobufCMessage *message)
{
        free(b->p);
        b->n = protobuf_c_message_get_packed_size(message);
        b->p = malloc(b->n + 1);
        protobuf_c_message_pack(message, b->p);
}

static void keep_row(struct bytes rows[MAX_ROWS], uint64_t id, const ProtobufCMessage *message)
{
        assert_in_range(id, 1, MAX_ROWS - 1);
        keep(&rows[id], message);
}

static void follow_rows(struct follower *f, const Hw__Update *u)
{
        if (u->body_case == HW__UPDATE__BODY_BANDS)
                for (size_t i = 0; i < u->bands->n_bands; i++) {
                        assert_int_equal(u->bands->bands[i]->has_first_bytes, f->late_joiner);
                        u->bands->bands[i]->has_first_bytes = false; /* others have it from the first census */
                        keep_row(f->bands, u->bands->bands[i]->id, &u->bands->bands[i]->base);
                }
        if (u->body_case == HW__UPDATE__BODY_NOTES)
                for (size_t i = 0; i < u->notes->n_notes; i++)
                        keep_row(f->notes, u->notes->notes[i]->number, &u->notes->notes[i]->base);
        if (u->body_case == HW__UPDATE__BODY_TICKY)
                for (size_t i = 0; i < u->ticky->n_counters; i++)
                        keep_row(f->ticky, u->ticky->counters[i]->id % 4095 + 1, &u->ticky->counters[i]->base);
        if (u->body_case != HW__UPDATE__BODY_PROFILE)
                return;
        f->ticks = u->profile->ticks;
        for (size_t i = 0; i < u->profile->n_stacks; i++)
                keep_row(f->stacks, u->profile->stacks[i]->id, &u->profile->stacks[i]->base);
}

static void replace(Hw__Update **kept, Hw__Update *u)
{
        if (*kept)
                hw_update_unref(*kept);
        *kept = u;
}

/* Takes ownership. */
static void follow(struct follower *f, Hw__Update *u)
{
        Hw__Kind kind = hw_update_kind(u);

        f->updates[kind]++;
        assert_int_equal(u->epoch, 77);
        assert_string_equal(u->target, "t");
        if (f->late_joiner)
                f->sequences[kind] = u->sequence;
        else
                assert_int_equal(u->sequence, ++f->sequences[kind]);
        if (u->body_case == HW__UPDATE__BODY_HEAP) {
                Hw__Heap *heap = u->heap;
                size_t n = heap->n_samples;

                for (size_t i = 0; i < n; i++) {
                        assert_int_equal(heap->samples[i]->n_times_ns, heap->samples[i]->n_values);
                        assert_in_range(heap->samples[i]->n_values, 1, LIMIT_SAMPLES_PER_UPDATE);
                        f->samples[heap->samples[i]->series] += heap->samples[i]->n_values;
                        f->dropped += heap->samples[i]->dropped;
                }
                heap->n_samples = 0;
                keep(&f->state[HW__KIND__KIND_HEAP], &heap->base);
                heap->n_samples = n;
        }
        if (u->body_case == HW__UPDATE__BODY_GC) {
                Hw__Gc *gc = u->gc;
                size_t n = gc->n_collections;

                assert_in_range(n, 0, LIMIT_COLLECTIONS_PER_UPDATE);
                f->collections += n;
                f->dropped += gc->collections_dropped;
                gc->n_collections = 0;
                keep(&f->state[HW__KIND__KIND_GC], &gc->base);
                gc->n_collections = n;
        }
        if (u->body_case == HW__UPDATE__BODY_CENSUS) {
                Hw__Census *census = u->census;
                for (size_t i = 0; i < census->n_band; i++)
                        assert_true(census->band[i] < MAX_ROWS && f->bands[census->band[i]].p); /* was defined before */
                keep(&f->state[HW__KIND__KIND_CENSUS], &census->base);
        }
        if (u->body_case == HW__UPDATE__BODY_SCHED)
                keep(&f->state[kind], &u->sched->base);
        follow_rows(f, u);
        if (kind == HW__KIND__KIND_HEAP)
                replace(&f->heap, u);
        else if (kind == HW__KIND__KIND_TARGET)
                replace(&f->target, u);
        else
                hw_update_unref(u);
}

/* Over the wire: packed, checked, unpacked, and packed again to the same bytes. */
static int on_send(void *ctx, const Hw__Update *update)
{
        struct follower *f = ctx;
        size_t n = hw__update__get_packed_size(update);
        uint8_t *p = malloc(n), *again = malloc(n);
        const char *reason = "";

        if (n > f->largest)
                f->largest = n;
        hw__update__pack(update, p);
        Hw__Update *u = hw_update_unpack(p, n, &reason);
        assert_non_null(u);
        assert_int_equal(hw__update__get_packed_size(u), n);
        hw__update__pack(u, again);
        if (u->body_case != HW__UPDATE__BODY_BANDS && u->body_case != HW__UPDATE__BODY_CENSUS)
                assert_memory_equal(p, again, n); /* those are packed by hand, their fields in another order */
        if (f->joiner) {
                assert_true(f->joiner->n_held < MAX_HELD);
                f->joiner->held[f->joiner->n_held++] = hw_update_unpack(p, n, &reason);
        }
        free(p);
        free(again);
        follow(f, u);
        return f->result;
}

static bool on_snapshot(void *ctx, const Hw__Update *update)
{
        struct follower *n = ctx;

        if (n->room == 0)
                return false;
        n->room--;
        (void)on_send(n, update);
        return true;
}

/* A turn is one message. */
static bool is_turn_over(void *ctx)
{
        const struct follower *n = ctx;

        return n->room < UINT_MAX;
}

static struct follower *new_late_joiner(void)
{
        struct follower *n = calloc(1, sizeof(*n));

        n->late_joiner = true;
        n->snapshot = (struct snapshot){ .each = on_snapshot, .ctx = n };
        return n;
}

static void free_follower(struct follower *f)
{
        struct bytes *tables[] = { f->bands, f->stacks, f->ticky, f->notes };

        for (size_t t = 0; t < 4; t++)
                for (size_t i = 0; i < MAX_ROWS; i++)
                        free(tables[t][i].p);
        for (size_t i = 0; i < KINDS; i++)
                free(f->state[i].p);
        replace(&f->heap, NULL);
        replace(&f->target, NULL);
        free(f);
}

static bool show_arguments;

static void fill_target(void *ctx, struct encoder *e, Hw__Target *out)
{
        const struct follower *f = ctx;

        PUT(out, state, HW__TARGET__STATE__STATE_RUNNING);
        if (model_run(f->m)->ordinal)
                out->run_info = encode_run(e, model_run(f->m), show_arguments, false);
}

static void fill_health(void *ctx, struct encoder *e, Hw__Health *out)
{
        PUT(out, bytes, 1);
}

static struct follower *open_publisher(void)
{
        struct follower *f = calloc(1, sizeof(*f));
        struct update_sink out = { f, on_send };

        f->p = publisher_new("t", 77, &out);
        assert_non_null(f->p);
        struct model_sink sink = publisher_sink(f->p);
        f->m = model_new(&sink);
        assert_non_null(f->m);
        publisher_attach(f->p, f->m, NULL, &(const struct target_messages){ f, fill_target, fill_health });
        return f;
}

static void begin_run(struct follower *f, uint32_t ordinal)
{
        model_begin_run(f->m, ordinal);
        publisher_begin_run(f->p, 1000);
}

static void close_publisher(struct follower *f)
{
        assert_int_equal(f->dropped, 0);
        publisher_destroy(&f->p);
        assert_null(f->p);
        model_destroy(&f->m);
        free_follower(f);
}

static void expect_same(const struct bytes *a, const struct bytes *b)
{
        assert_int_equal(a->n, b->n);
        assert_int_equal(a->p != NULL, b->p != NULL);
        if (a->p)
                assert_memory_equal(a->p, b->p, a->n);
}

/* 0 when it is whole. */
static int take_messages(struct follower *f, struct follower *n, unsigned room)
{
        n->room = room;
        return publisher_snapshot(f->p, 3000, &n->snapshot);
}

static void expect_same_state(const struct follower *f, const struct follower *n)
{
        for (unsigned kind = 0; kind < KINDS; kind++) {
                expect_same(&f->state[kind], &n->state[kind]);
                if (n->updates[kind])
                        assert_int_equal(n->sequences[kind], f->sequences[kind]);
        }
        for (unsigned i = 0; i < MAX_ROWS; i++) {
                expect_same(&f->bands[i], &n->bands[i]);
                expect_same(&f->stacks[i], &n->stacks[i]);
                expect_same(&f->ticky[i], &n->ticky[i]);
                if (n->notes[i].p) /* the newest LIMIT_NOTES */
                        expect_same(&f->notes[i], &n->notes[i]);
        }
        assert_int_equal(f->ticks, n->ticks);
}

/*
 * A late joiner's state is that of the one who saw everything, and goes on with the same sequence numbers; also when it
 * takes a message at a time, or has a turn for each.
 */
static void expect_snapshot_equals(struct follower *f)
{
        struct follower *whole = new_late_joiner(), *parts = new_late_joiner(), *turns = new_late_joiner();
        unsigned n_turns = 1;

        assert_int_equal(take_messages(f, whole, UINT_MAX), 0);
        expect_same_state(f, whole);
        assert_int_equal(whole->updates[HW__KIND__KIND_TARGET], 1);
        assert_int_equal(whole->updates[HW__KIND__KIND_HEALTH], 1);
        assert_int_equal(take_messages(f, parts, 3), -EAGAIN); /* what there is before the first run is one part */
        while (take_messages(f, parts, 1) != 0)
                assert_int_equal(parts->room, 0);
        expect_same_state(f, parts);
        for (turns->snapshot.is_over = is_turn_over; take_messages(f, turns, UINT_MAX) != 0; n_turns++)
                assert_true(turns->room < UINT_MAX);
        expect_same_state(f, turns);
        if (bands_count(model_bands(f->m)) > 0)
                assert_true(n_turns > 1);
        free_follower(turns);
        free_follower(whole);
        free_follower(parts);
}

/* ---------------------------------------------------------------- logs */

static void replay(struct follower *f, const char *run, size_t flush_every)
{
        static uint8_t data[8u << 20];
        struct hw_event events[64];
        char path[128];
        size_t n, count, size, calls = 0;
        struct hw_eventlog *log = hw_eventlog_new();
        enum hw_eventlog_status s;

        (void)snprintf(path, sizeof(path), "tests/data/logs/%s/run.eventlog", run);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size = fread(data, 1, sizeof(data), file);
        fclose(file);
        hw_eventlog_input(log, data, size);
        for (n = 0; (s = hw_eventlog_read(log, events, 64, &count)) != HW_EVENTLOG_NEED_MORE || count; n += count) {
                model_events(f->m, events, count);
                if (s == HW_EVENTLOG_RUN)
                        begin_run(f, 1);
                if (flush_every && ++calls % flush_every == 0)
                        publisher_flush(f->p, 2000);
                if (f->joiner && f->joiner->late_joiner && calls >= 4 && take_messages(f, f->joiner, 3) == 0)
                        f->joiner->late_joiner = false; /* it has all */
        }
        model_end_run(f->m, true);
        publisher_state(f->p, true, 2500);
        publisher_flush(f->p, 2500);
        assert_false(publisher_pending(f->p));
        hw_eventlog_destroy(&log);
        assert_true(n > 0);
}

TEST(test_logs)
{
        static const char *const runs[] = {
                "cc-hc-ghc902",     "cc-hr-ghc902",     "cc-p-ghc902",
                "leaky-hT-ghc9103", "leaky-hi-ghc9103", "leaky-nonmoving-ghc9103",
                "parallel-ghc9103", "ticky-ghc902",     "binmsg-ghc9103",
        };

        for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
                for (size_t every = 0; every < 3; every++) {
                        struct follower *f = open_publisher();
                        replay(f, runs[i], every * 7);
                        uint64_t live = model_heap(f->m)->live_samples;
                        assert_int_equal(f->samples[SERIES_LIVE], live);
                        assert_int_equal(f->collections, model_gc(f->m)->collections);
                        assert_int_equal(f->ticks, profile_ticks(model_profile(f->m)));
                        expect_snapshot_equals(f);
                        close_publisher(f);
                }
        }
}

/* ---------------------------------------------------------- by hand */

static void event(struct follower *f, uint16_t id, uint64_t time_ns, const void *payload, size_t size)
{
        struct hw_event e = { .time_ns = time_ns, .payload = payload, .size = (uint32_t)size, .id = id, .cap = 0 };

        model_events(f->m, &e, 1);
}

static void live(struct follower *f, uint64_t time_ns, uint64_t bytes)
{
        uint8_t payload[12] = { 0 };

        for (int i = 0; i < 8; i++)
                payload[4 + i] = (uint8_t)(bytes >> (56 - 8 * i));
        event(f, HW_HEAP_LIVE, time_ns, payload, sizeof(payload));
}

/* Far more than a message holds, and no flush: sent early, nothing lost, nothing twice. */
TEST(test_full_messages_are_sent_early)
{
        enum { N = 3000 };
        struct follower *f = open_publisher();

        begin_run(f, 1);
        for (uint64_t i = 1; i <= N; i++) {
                char text[32];
                live(f, i * 1000, i);
                int n = snprintf(text, sizeof(text), "note %u", (unsigned)i);
                event(f, HW_USER_MSG, i * 1000, text, (size_t)n);
        }
        assert_in_range(f->samples[SERIES_LIVE], N - LIMIT_SAMPLES_PER_UPDATE, N - 1);
        assert_true(publisher_pending(f->p));
        publisher_flush(f->p, 2000);
        assert_int_equal(f->samples[SERIES_LIVE], N);
        for (unsigned i = 1; i <= N; i++)
                assert_non_null(f->notes[i].p);
        assert_int_equal(f->heap->heap->live_bytes, N);
        uint64_t before = f->updates[HW__KIND__KIND_HEAP];
        assert_false(publisher_pending(f->p));
        publisher_flush(f->p, 2100);
        assert_int_equal(f->updates[HW__KIND__KIND_HEAP], before);
        expect_snapshot_equals(f);
        close_publisher(f);
}

/* Where only the last notes are read, those that are kept when the run ends are sent, and no others. */
TEST(test_last_notes_alone)
{
        static const struct update_wish last = { .last_notes = true, .ends_alone = true };
        enum { N = 2 * LIMIT_NOTES + 7 };
        struct follower *f = open_publisher();

        publisher_set_wish(f->p, &last);
        begin_run(f, 1);
        for (uint64_t i = 1; i <= N; i++)
                event(f, HW_USER_MSG, i * 1000, "note", 4);
        assert_int_equal(f->updates[HW__KIND__KIND_NOTE], 0);
        publisher_flush(f->p, 2000);
        for (unsigned i = 1; i <= N; i++)
                assert_int_equal(f->notes[i].p != NULL, i > N - LIMIT_NOTES);
        close_publisher(f);
}

/* Pages are counted more rarely than RSS is read, and live data measured more rarely still: the text says how old. */
TEST(test_an_old_account_of_rss_says_so)
{
        struct follower *f = open_publisher();
        struct heap heap = *model_heap(f->m);
        struct encoder e;

        encoder_init(&e);
        resident_clear(&heap.resident);
        heap.resident.rss_bytes = UINT64_C(208) << 20;
        heap.resident.wall_ns = heap.resident.time_ns = 10000000000u;
        heap.process.rss_bytes = UINT64_C(222) << 20;
        heap.process.wall_ns = 13050000000u;
        const Hw__Heap *out = encode_heap(&e, model_run(f->m), &heap);
        assert_int_equal(strncmp(out->resident->text, "RSS 208 MiB: ", 13), 0);
        assert_non_null(strstr(out->resident->text, " (counted 3.05 s before the newest RSS, 222 MiB)"));
        heap.resident.parts[RESIDENT_LIVE] = heap.live_bytes = 1 << 20;
        heap.resident.live_time_ns = 0;
        out = encode_heap(&e, model_run(f->m), &heap);
        assert_null(strstr(out->resident->text, "measured"));
        heap.resident.time_ns = 36000000000u;
        out = encode_heap(&e, model_run(f->m), &heap);
        assert_non_null(strstr(out->resident->text,
                               " (counted 3.05 s before the newest RSS, 222 MiB; live data measured "
                               "36.0 s before that count)"));
        heap.process.rss_bytes = heap.resident.rss_bytes;
        out = encode_heap(&e, model_run(f->m), &heap);
        assert_non_null(strstr(out->resident->text, " (live data measured 36.0 s before that count)"));
        heap.resident.live_time_ns = 31000000000u;
        out = encode_heap(&e, model_run(f->m), &heap);
        assert_null(strstr(out->resident->text, "measured"));
        heap.live_bytes = 2 << 20; /* and what is shown beside it is another */
        out = encode_heap(&e, model_run(f->m), &heap);
        assert_non_null(strstr(out->resident->text, " (live data measured 5.00 s before that count)"));
        encoder_done(&e);
        close_publisher(f);
}

TEST(test_unknown_is_absent)
{
        struct follower *f = open_publisher();

        begin_run(f, 3);
        live(f, 5000, 123);
        publisher_flush(f->p, 2000);
        publisher_state(f->p, true, 2000);
        const Hw__Heap *heap = f->heap->heap;
        assert_int_equal(f->heap->run, 3);
        assert_int_equal(f->heap->published_wall_ns, 2000);
        assert_true(heap->has_live_bytes && heap->live_bytes == 123 && heap->live_time_ns == 5000);
        assert_false(heap->has_heap_size_bytes || heap->has_blocks_size_bytes || heap->has_allocated_bytes);
        assert_false(heap->has_allocation_rate_bps || heap->has_megablocks_held || heap->process);
        const Hw__Target *target = f->target->target_state;
        assert_false(target->run_info->has_pid || target->run_info->has_start_wall_ns ||
                     target->run_info->has_max_heap_bytes || target->run_info->has_breakdown);
        assert_null(target->run_info->program);
        assert_int_equal(target->n_heads, 1);
        assert_int_equal(target->heads[0]->kind, HW__KIND__KIND_HEAP);
        close_publisher(f);
}

/* Program arguments are published only when requested, RTS options always; the environment never. */
TEST(test_arguments_are_kept_back)
{
        static const char args[] = "\0\0\0\1prog\0--password=x\0+RTS\0-hT\0-RTS";
        static const char env[] = "\0\0\0\1SECRET=y";
        struct follower *f = open_publisher();

        begin_run(f, 1);
        event(f, HW_PROGRAM_ARGS, 1, args, sizeof(args));
        event(f, HW_PROGRAM_ENV, 1, env, sizeof(env));
        assert_true(publisher_run_changed(f->p));
        publisher_state(f->p, true, 2000);
        assert_false(publisher_run_changed(f->p));
        const Hw__Run *run = f->target->target_state->run_info;
        assert_int_equal(run->n_arguments, 0);
        assert_int_equal(run->n_rts_options, 1);
        assert_string_equal(run->rts_options[0], "-hT");
        assert_string_equal(run->program, "prog");
        show_arguments = true;
        publisher_state(f->p, true, 2000);
        run = f->target->target_state->run_info;
        assert_int_equal(run->n_arguments, 5);
        assert_string_equal(run->arguments[1], "--password=x");
        close_publisher(f);
}

/* A new run: sequences go on, the previous run's data is gone. */
TEST(test_new_run)
{
        struct follower *f = open_publisher();

        begin_run(f, 1);
        live(f, 1000, 1);
        event(f, HW_USER_MSG, 1000, "one", 3);
        publisher_flush(f->p, 2000);
        begin_run(f, 2);
        event(f, HW_USER_MSG, 500, "a\0b\xff", 4);
        publisher_flush(f->p, 2000);
        assert_int_equal(f->sequences[HW__KIND__KIND_NOTE], 2);
        Hw__Note *note = hw__note__unpack(NULL, f->notes[1].n, f->notes[1].p);
        assert_string_equal(note->text,
                            "a\xef\xbf\xbd"
                            "b\xef\xbf\xbd");
        hw__note__free_unpacked(note, NULL);
        struct follower *n = new_late_joiner();
        assert_int_equal(take_messages(f, n, UINT_MAX), 0);
        assert_int_equal(n->updates[HW__KIND__KIND_NOTE], 1);
        assert_int_equal(n->updates[HW__KIND__KIND_CENSUS] + n->updates[HW__KIND__KIND_BAND], 0);
        free_follower(n);
        close_publisher(f);
}

TEST(test_sink_error_stays)
{
        struct follower *f = open_publisher();

        begin_run(f, 1);
        live(f, 1000, 1);
        f->result = -EPIPE;
        publisher_flush(f->p, 2000);
        assert_int_equal(publisher_error(f->p), -EPIPE);
        f->result = 0;
        live(f, 2000, 2);
        publisher_flush(f->p, 2000);
        assert_int_equal(f->updates[HW__KIND__KIND_HEAP], 1); /* a closed sink is not tried again */
        assert_int_equal(publisher_error(f->p), -EPIPE);
        close_publisher(f);
}

/* Takes a snapshot in parts while the program goes on, then what was published meanwhile: no number is skipped. */
TEST(test_a_snapshot_in_parts_meanwhile)
{
        static const char *const runs[] = { "cc-hc-ghc902", "cc-p-ghc902", "leaky-hT-ghc9103" };

        for (unsigned i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
                struct follower *f = open_publisher(), *n = new_late_joiner();
                size_t replayed = 0;
                f->joiner = n;
                replay(f, runs[i], 2);
                while (n->late_joiner)
                        n->late_joiner = take_messages(f, n, 3) != 0;
                f->joiner = NULL;
                for (size_t j = 0; j < n->n_held; j++) {
                        Hw__Update *u = n->held[j];
                        if (u->sequence <= n->sequences[hw_update_kind(u)]) {
                                hw_update_unref(u);
                                continue;
                        }
                        replayed++;
                        follow(n, u);
                }
                assert_true(replayed > 0);
                expect_same_state(f, n);
                free_follower(n);
                close_publisher(f);
        }
}

static void census_of(struct follower *f, uint64_t time_ns, char label)
{
        const uint8_t row[] = { [8] = 1, [9] = (uint8_t)label, [10] = 0 };

        event(f, HW_HEAP_PROF_SAMPLE_BEGIN, time_ns, (uint8_t[8]){ 0 }, 8);
        event(f, HW_HEAP_PROF_SAMPLE_STRING, time_ns + 1, row, sizeof(row));
        event(f, HW_HEAP_PROF_SAMPLE_END, time_ns + 2, (uint8_t[8]){ 0 }, 8);
}

/* The newest census has a band that came after the part with the bands: the follower checks that it knows all. */
TEST(test_bands_come_before_their_census)
{
        struct follower *f = open_publisher(), *n = new_late_joiner();

        begin_run(f, 1);
        census_of(f, 1000, 'a');
        publisher_flush(f->p, 2000);
        while (n->updates[HW__KIND__KIND_BAND] == 0)
                assert_int_equal(take_messages(f, n, 3), -EAGAIN);
        assert_int_equal(n->updates[HW__KIND__KIND_CENSUS], 0);
        census_of(f, 3000, 'b');
        assert_int_equal(take_messages(f, n, UINT_MAX), 0);
        assert_int_equal(n->updates[HW__KIND__KIND_CENSUS], 1);
        free_follower(n);
        close_publisher(f);
}

/* The program is started again while a snapshot is under way: what came of the old run is not taken for the new one. */
TEST(test_a_new_run_begins_a_snapshot_anew)
{
        struct follower *f = open_publisher(), *n = new_late_joiner();

        begin_run(f, 1);
        live(f, 1000, 1);
        event(f, HW_USER_MSG, 1000, "one", 3);
        assert_int_equal(take_messages(f, n, 3), -EAGAIN);
        begin_run(f, 2);
        live(f, 1000, 7);
        assert_int_equal(take_messages(f, n, UINT_MAX), 0);
        assert_int_equal(n->target->run, 2);
        assert_int_equal(n->heap->run, 2);
        assert_int_equal(n->updates[HW__KIND__KIND_NOTE], 0);
        free_follower(n);
        close_publisher(f);
}

/*
 * A census of bands with the longest labels an event can have, of bytes that are not UTF-8: each would triple. No
 * message of one program may grow so large that readers of all programs refuse it.
 */
TEST(test_long_labels_make_no_large_message)
{
        enum { BANDS = 300, LABEL = 65000 };
        static uint8_t row[9 + LABEL];
        struct follower *f = open_publisher();

        begin_run(f, 1);
        event(f, HW_HEAP_PROF_SAMPLE_BEGIN, 1000, (uint8_t[8]){ 0 }, 8);
        for (unsigned i = 0; i < BANDS; i++) {
                memset(row, 0xff, sizeof(row));
                memset(row, 0, 9);
                row[8] = 1;
                row[sizeof(row) - 2] = (uint8_t)('A' + i / 26); /* they differ at their end only */
                row[sizeof(row) - 1] = (uint8_t)('A' + i % 26);
                event(f, HW_HEAP_PROF_SAMPLE_STRING, 1001 + i, row, sizeof(row));
        }
        event(f, HW_HEAP_PROF_SAMPLE_END, 2000, (uint8_t[8]){ 0 }, 8);
        publisher_flush(f->p, 3000);
        assert_in_range(f->largest, 100000, 1u << 20);
        for (unsigned i = 1; i <= BANDS; i++) {
                Hw__Band *band = hw__band__unpack(NULL, f->bands[i].n, f->bands[i].p);
                assert_non_null(band);
                assert_in_range(strlen(band->label), LIMIT_PUBLISHED_TEXT_BYTES - 80, LIMIT_PUBLISHED_TEXT_BYTES);
                assert_non_null(strstr(band->label, "... (65000 bytes, "));
                hw__band__free_unpacked(band, NULL);
                assert_true(i == 1 || f->bands[i].n != f->bands[i - 1].n ||
                            memcmp(f->bands[i].p + 8, f->bands[i - 1].p + 8, f->bands[i].n - 8) != 0);
        }
        expect_snapshot_equals(f);
        assert_in_range(f->largest, 100000, 1u << 20);
        close_publisher(f);
}

/* Of a finished log no kind is made that is not read, and no single samples where none are. */
TEST(test_only_what_is_wanted)
{
        static const struct update_wish censuses = { .kinds = WISH(BAND) | WISH(CENSUS) },
                                        totals = { .kinds = WISH(HEAP) | WISH(GC), .no_samples = true };
        const struct update_wish *const wishes[] = { &censuses, &totals };

        for (unsigned i = 0; i < 2; i++) {
                struct follower *f = open_publisher();
                publisher_set_wish(f->p, wishes[i]);
                replay(f, "leaky-hT-ghc9103", 7);
                for (unsigned kind = 0; kind < KINDS; kind++)
                        if (kind != HW__KIND__KIND_TARGET && kind != HW__KIND__KIND_HEALTH)
                                assert_true((f->updates[kind] > 0) == (wishes[i]->kinds >> kind & 1));
                assert_int_equal(f->collections + f->samples[SERIES_LIVE], 0);
                close_publisher(f);
        }
}

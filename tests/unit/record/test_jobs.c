/* SPDX-License-Identifier: BSD-3-Clause */
/* What was read one piece after the other is handed over as one job; the queue's bound holds; nothing stays behind. */
#include "daemon/record/jobs.h"

#include <stdlib.h>

#include "tests/unit/test.h"

#include "daemon/source/buffer/read_buffer.h"
#include "daemon/record/limits.h"
#include "proto/base/clock.h"

#define RUN(n) ((struct shared_run *)(uintptr_t)(n))

struct stream {
        struct shared_run *run;
        uint64_t offset;
};

/* As the reading thread: a piece of that size. False: it was refused. */
static bool read_on(struct jobs *q, struct stream *s, size_t size)
{
        struct job job = { .run = s->run, .kind = JOB_EVENTS };

        job.span.bytes = read_buffer_room(&job.buffer);
        job.span.size = size;
        job.span.offset = s->offset;
        const uint8_t *end = job.span.bytes + size;
        s->offset += size;
        if (!read_buffer_extend(job.buffer, end, QUEUE_BUFFERS))
                return false;
        if (jobs_continue(q, &job))
                return true;
        if (!read_buffer_keep(job.buffer, end, QUEUE_BUFFERS))
                return false;
        if (jobs_add(q, &job))
                return true;
        read_buffer_release(job.buffer);
        return false;
}

/* The next job is of that run and size; 0: none waits. */
static void expect(struct jobs *q, const struct shared_run *run, size_t size)
{
        struct job *job = jobs_next(q);

        assert_true(size > 0 ? job != NULL : job == NULL);
        if (!job)
                return;
        assert_ptr_equal(job->run, run);
        assert_int_equal(job->span.size, size);
        jobs_did(q, job);
}

TEST(test_pieces_of_one_stream_are_one_job)
{
        struct stream a = { .run = RUN(1) }, b = { .run = RUN(2) };
        uint64_t done;
        struct jobs q;

        jobs_init(&q);
        for (int i = 0; i < 5; i++)
                assert_true(read_on(&q, &a, 1000));
        expect(&q, NULL, 0);
        assert_true(read_on(&q, &b, 77));
        expect(&q, RUN(1), 5000);
        expect(&q, NULL, 0);
        assert_int_equal(jobs_tick(&q, &done), 1);
        expect(&q, RUN(2), 77);
        assert_int_equal(jobs_written(&q), jobs_added(&q));
        assert_true(read_on(&q, &b, 5)); /* continues what was handed over: a job of its own */
        assert_true(jobs_add(&q, &(struct job){ .run = RUN(2), .kind = JOB_SEAL }));
        expect(&q, RUN(2), 5);
        struct job *seal = jobs_next(&q);
        assert_int_equal(seal->kind, JOB_SEAL);
        jobs_did(&q, seal);
        assert_int_equal(jobs_written(&q), jobs_added(&q));
        jobs_done(&q);
        assert_int_equal(read_buffers_in_use(), 1);
}

TEST(test_what_does_not_follow_is_another_job)
{
        struct stream a = { .run = RUN(1) };
        struct jobs q;

        jobs_init(&q);
        assert_true(read_on(&q, &a, 100));
        a.offset++; /* something between them was left out */
        assert_true(read_on(&q, &a, 50));
        expect(&q, RUN(1), 100);
        jobs_done(&q); /* with an open job */
        assert_int_equal(read_buffers_in_use(), 1);
}

TEST(test_the_queue_holds_what_it_may_and_no_more)
{
        struct stream a = { .run = RUN(1) };
        size_t bytes = 0;
        struct job *job;
        struct jobs q;

        jobs_init(&q);
        while (read_on(&q, &a, READ_PIECE_BYTES))
                assert_true((bytes += READ_PIECE_BYTES) <= QUEUE_BYTES);
        assert_true(bytes > QUEUE_BYTES / 4 * 3);
        assert_true(read_buffers_in_use() <= QUEUE_BUFFERS);
        assert_false(jobs_has_room(&q));
        /* what ends a run fits always */
        assert_true(jobs_add(&q, &(struct job){ .run = RUN(1), .kind = JOB_END }));
        while ((job = jobs_next(&q))) {
                bytes -= job->span.size;
                jobs_did(&q, job);
        }
        assert_int_equal(bytes, 0);
        assert_int_equal(q.bytes, 0);
        assert_int_equal(q.n, 0);
        assert_true(jobs_has_room(&q));
        assert_true(read_on(&q, &a, 10));
        jobs_done(&q);
}

static void *do_all(void *ctx)
{
        struct jobs *q = ctx;
        struct job *job;

        do
                while ((job = jobs_next(q)))
                        jobs_did(q, job);
        while (jobs_sleep(q, 60));
        return NULL;
}

TEST(test_another_thread_waits_for_a_job)
{
        pthread_t thread;
        struct jobs q;

        jobs_init(&q);
        assert_true(jobs_add(&q, &(struct job){ .run = RUN(1), .kind = JOB_SEAL }));
        jobs_wait(&q, 1, clock_mono_ns()); /* nobody does it: until that time */
        assert_int_equal(jobs_written(&q), 0);
        assert_int_equal(pthread_create(&thread, NULL, do_all, &q), 0);
        for (int i = 0; i < 1000; i++) {
                assert_true(jobs_add(&q, &(struct job){ .run = RUN(1), .kind = JOB_SEAL }));
                jobs_wait(&q, jobs_added(&q), UINT64_MAX);
                assert_int_equal(jobs_written(&q), jobs_added(&q));
        }
        jobs_stop(&q);
        assert_int_equal(pthread_join(thread, NULL), 0);
        jobs_done(&q);
}

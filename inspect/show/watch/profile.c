/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a sample stands for the CPU time that its thread has used since its last one, not for a moment: a thread
 * that runs now and then is found running now and then, and what it used in between is not lost. Only what runs is
 * stopped: a thread that waits in the kernel has used nothing, and would be woken up. The time between two samples is
 * jittered, so that work in step with a clock is not always met at the same place.
 *
 * For what it allocates a thread that runs Haskell is stopped again after WINDOW_NS: samples of a stack stand for what
 * it would have allocated in their CPU time as quickly as in such windows (inspect/ghc/stack_profile.c). What it has
 * allocated since the sample before would go to where it happens to be now: functions that alternate more quickly than
 * samples come would share it by CPU time, and threads that live shortly would have no sample before.
 *
 * Threads that wait are read while they do: a few, ten times a second; many, less often, so that it costs no more. Each
 * stands for the time since the reading before.
 */
#include "inspect/show/watch/watch.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "inspect/ghc/rts_counters.h"
#include "inspect/process/stop.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"

#define LIST_NS            UINT64_C(250000000)  /* between two lists of threads, */
#define LIST_PARTS         50u                  /* and of a processor, at most one part in so many, */
#define LIST_MOST_NS       UINT64_C(2000000000) /* but no longer than that */
#define IDLE_PASSES        16u                  /* a thread that does not run is read once in so many */
#define STACK_WORDS_COPIED 8192u                /* 64 KiB */
#define RUN_US             500000
#define READING_NS         UINT64_C(100000000) /* between two readings of those that wait, */
#define READING_PARTS      300u                /* and of a processor, at most one part in so many */
#define READING_THREADS    1000u
#define READING_WORDS      2048u /* of each stack: 16 KiB */
#define REPORT_NS          UINT64_C(1000000000)
#define WINDOW_NS          UINT64_C(100000)
#define WINDOW_BYTES_MOST  (UINT64_C(1) << 36) /* more, or less than none: the program has set a limit */

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal)
{
        is_interrupted = 1;
}

struct sampler {
        struct stack_profile *to;
        struct ghc *ghc;
        pid_t pid;
        const struct profiling *how;
        struct os_threads system;
        struct runtime runtime;
        struct threads threads; /* the one that was stopped last */
        struct threads after;   /* that one, at the end of the window */
        struct threads waiting; /* those that waited when they were read last */
        uint64_t random, reading_ns;
        uint64_t pass;
        uint64_t begin_cpu_ns; /* of the program */
        struct rts_counters_search search;
        bool has_counters;
        uint64_t begin_bytes, begin_weight; /* of the program and of samples, when counters were first known */
};

/*
 * How long it was stopped: of the time since the stop was requested, what it waited for a processor is not of it. That
 * wait may have begun before, so what came after it was seen to stop is the least.
 */
static uint64_t stop_duration(uint64_t all_ns, uint64_t seen_ns, uint64_t waited_ns)
{
        const uint64_t rest = all_ns > waited_ns ? all_ns - waited_ns : 0;

        return rest > seen_ns ? rest : seen_ns;
}

/*
 * A thread stays stopped until we get a processor: where we may, we get it before others. The profile needs a hundredth
 * of one; what would need more than RUN_US in one go is not right, and ends by SIGXCPU.
 */
static void set_priority(bool real_time)
{
        const struct rlimit most = { RUN_US, RUN_US };
        const struct sched_param priority = { real_time };

        if (real_time && setrlimit(RLIMIT_RTTIME, &most) < 0)
                return;
        (void)sched_setscheduler(0, real_time ? SCHED_RR : SCHED_OTHER, &priority);
}

static void sleep_until(uint64_t ns)
{
        const struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* A thread that runs Haskell, at the begin of a window or at its end. */
struct allocating {
        struct thread_times times;
        uint64_t bytes;
        struct registers registers;
        bool runs; /* Haskell, with its stack: at the end of the window it may wait, or collect garbage */
};

/*
 * Its times and what `h` has allocated, of one moment, and its stack. One that waits in the kernel stands still by
 * itself.
 */
static bool read_allocated(struct sampler *s, struct os_thread *t, const struct haskell_thread *h,
                           struct allocating *ret)
{
        ret->runs = false;
        if (!os_thread_is_running(t))
                return os_thread_times(t, &ret->times) && thread_allocated(s->ghc, h, NULL, &ret->bytes);
        if (stop_thread(s->pid, t->tid, s->how->max_stop_ns, &ret->registers) != STOPPED)
                return false;
        ret->runs = threads_copy_running(&s->after, s->ghc, &s->runtime, &ret->registers, STACK_WORDS_COPIED) ==
                            ACTIVITY_HASKELL &&
                    s->after.n > 0 && s->after.items[0].id == h->id;
        const bool good = os_thread_times(t, &ret->times) &&
                          thread_allocated(s->ghc, h, &ret->registers, &ret->bytes) && !stop_is_over();
        stack_profile_add_stop(s->to, stop_end());
        if (ret->runs)
                threads_unwind(&s->after, s->ghc, &s->runtime, &ret->registers);
        return good;
}

/* A sample by what its thread allocates in the window after it. */
static bool add_allocating(struct sampler *s, struct os_thread *t, const struct allocating *begin, uint64_t cpu_ns)
{
        struct allocating end;

        sleep_until(clock_mono_ns() + WINDOW_NS);
        if (!read_allocated(s, t, &s->threads.items[0], &end) || end.times.cpu_ns <= begin->times.cpu_ns ||
            end.bytes - begin->bytes > WINDOW_BYTES_MOST)
                return false;
        const struct allocated after = { end.bytes - begin->bytes, end.times.cpu_ns - begin->times.cpu_ns };
        stack_profile_add_allocating(s->to, s->ghc, &s->threads, begin->registers.pc, cpu_ns, &after,
                                     end.runs ? &s->after : NULL, end.registers.pc);
        return true;
}

static enum stopped sample_thread(struct sampler *s, struct os_thread *t, const struct thread_times *before)
{
        struct allocating now = { .times = *before }; /* while it is stopped they are exact */
        const enum stopped stopped = stop_thread(s->pid, t->tid, s->how->max_stop_ns, &now.registers);

        if (stopped != STOPPED) {
                if (stopped == STOPPED_NOT)
                        *(stop_is_over() ? &s->to->expired : &s->to->busy) += 1;
                return stopped;
        }
        const uint64_t seen_ns = clock_mono_ns();
        const enum activity activity =
                threads_copy_running(&s->threads, s->ghc, &s->runtime, &now.registers, STACK_WORDS_COPIED);
        now.runs = activity == ACTIVITY_HASKELL && s->threads.n > 0;
        const bool allocates = s->how->by_allocation && now.runs;
        const bool good = os_thread_times(t, &now.times) &&
                          (!allocates || thread_allocated(s->ghc, &s->threads.items[0], &now.registers, &now.bytes)) &&
                          !stop_is_over();
        const uint64_t all_ns = stop_end();
        stack_profile_add_stop(
                s->to, stop_duration(all_ns, clock_mono_ns() - seen_ns, now.times.waited_ns - before->waited_ns));
        if (!good) {
                s->to->expired++;
                return STOPPED_NOT;
        }
        threads_unwind(&s->threads, s->ghc, &s->runtime, &now.registers);
        const uint64_t cpu_ns = now.times.cpu_ns - t->sampled.cpu_ns;
        if (allocates && !add_allocating(s, t, &now, cpu_ns)) {
                s->to->unweighed++; /* the next sample stands for its time */
                return STOPPED;
        }
        if (!allocates)
                stack_profile_add(s->to, s->ghc, &s->threads, activity, now.registers.pc,
                                  s->how->by_allocation ? 0 : cpu_ns);
        s->to->waited_ns += now.times.waited_ns - t->sampled.waited_ns;
        t->sampled = now.times;
        return STOPPED;
}

/* Each thread that has just run and is running: most do not, and that is cheaper to find out by their times. */
static enum stopped sample_all(struct sampler *s)
{
        enum stopped result = STOPPED;

        s->pass++;
        for (size_t i = 0; i < s->system.n && result != STOPPED_REFUSED; i++) {
                struct os_thread *t = &s->system.items[i];
                struct thread_times now;
                const unsigned idle = t->idle < IDLE_PASSES ? t->idle + 1 : IDLE_PASSES;
                if ((s->pass + i) % idle != 0 || !os_thread_times(t, &now))
                        continue;
                t->idle = now.cpu_ns == t->seen_cpu_ns ? t->idle + 1 : 0;
                t->seen_cpu_ns = now.cpu_ns;
                if (t->idle == 0 && os_thread_is_running(t))
                        result = sample_thread(s, t, &now);
        }
        return result;
}

/*
 * Returns when the next reading is due. One that fails leaves its time to the next. It may last for milliseconds, in
 * which the program is not to wait for us.
 */
static uint64_t read_waiting(struct sampler *s)
{
        const uint64_t begin_ns = clock_mono_ns(), begin_cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
        struct waiting_profile *to = &s->to->waits;
        struct waiting_threads w = { .most = READING_THREADS,
                                     .words_most = READING_WORDS,
                                     .random = s->random,
                                     .with_labels = s->to->by_thread };

        set_priority(false);
        if (threads_copy_waiting(&s->waiting, s->ghc, &w)) {
                const uint64_t ns = begin_ns - s->reading_ns;
                s->reading_ns = begin_ns;
                to->readings++;
                to->listed += w.listed;
                to->read += w.read;
                to->changed += w.changed;
                to->ns += ns;
                to->thread_ns += (double)w.listed * (double)ns;
                if (w.read)
                        stack_profile_add_waiting(s->to, s->ghc, &s->waiting,
                                                  (uint64_t)((double)ns * (double)w.listed / (double)w.read));
        } else {
                to->failed++;
        }
        const uint64_t least_ns = READING_PARTS * (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns);
        set_priority(true);
        return begin_ns + stack_profile_delay_ns(&s->random, least_ns > READING_NS ? least_ns : READING_NS);
}

/* Nothing is known once it has ended: then what is known is from shortly before. */
static void read_cpu(struct sampler *s)
{
        const uint64_t ns = os_process_cpu_ns(s->pid);

        if (ns > s->begin_cpu_ns)
                s->to->program_ns = ns - s->begin_cpu_ns;
}

/* Up to the newest collection. A program without symbols shows where its counters are by further collections. */
static void read_counters(struct sampler *s)
{
        struct rts_counters now;

        if (!s->how->by_allocation || !generations_read(&s->ghc->generations, s->ghc->program) ||
            !rts_counters_read(&s->search, s->ghc->program, &s->ghc->generations, &now))
                return;
        stack_profile_sum(s->to);
        const uint64_t weight = time_tree_weight(&s->to->running);
        if (!s->has_counters) {
                s->has_counters = true;
                s->begin_bytes = now.allocated_bytes;
                s->begin_weight = weight;
        }
        s->to->program_bytes = now.allocated_bytes - s->begin_bytes;
        s->to->bytes_meanwhile = weight > s->begin_weight ? weight - s->begin_weight : 0;
}

/* It may last longer than RUN_US, with thousands of threads. Returns until when it suffices; 0: see errno. */
static uint64_t list_threads_behind(struct sampler *s, uint64_t now_ns)
{
        const uint64_t begin_cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

        set_priority(false);
        const bool good = os_threads_list(&s->system);
        const int why = errno;
        const uint64_t rest_ns = LIST_PARTS * (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns);
        set_priority(true);
        errno = why;
        return !good ? 0 : now_ns + (rest_ns < LIST_NS ? LIST_NS : rest_ns < LIST_MOST_NS ? rest_ns : LIST_MOST_NS);
}

/* By errno. */
static enum stopped report_unlisted(const struct sampler *s, struct error *error)
{
        (void)error_set(error, "the CPU time of the threads of process %ld cannot be read: %s%s", (long)s->pid,
                        strerror(errno),
                        errno == EMFILE ? "; `ulimit -Hn` must allow two descriptors for each of its threads" : "");
        return STOPPED_NOT;
}

static enum stopped run_sampler(struct sampler *s, struct error *error)
{
        const uint64_t begin_ns = clock_mono_ns();
        uint64_t now_ns = begin_ns, next_ns = begin_ns, list_ns = begin_ns, report_ns = begin_ns + REPORT_NS;
        uint64_t reading_ns = UINT64_MAX;
        enum stopped result = STOPPED;

        s->to->began_wall_ns = clock_wall_ns();
        s->random = s->reading_ns = begin_ns;
        if (s->how->with_waiting)
                reading_ns = begin_ns + stack_profile_delay_ns(&s->random, READING_NS);

        while (result != STOPPED_REFUSED && !is_interrupted && now_ns - begin_ns < s->how->for_ns) {
                if (now_ns >= list_ns) {
                        if (!(list_ns = list_threads_behind(s, now_ns))) {
                                s->to->has_ended = errno == ENOENT || errno == ESRCH;
                                if (s->to->has_ended)
                                        break;
                                return report_unlisted(s, error);
                        }
                        read_cpu(s);
                        read_counters(s);
                }
                result = sample_all(s);
                if (now_ns >= reading_ns)
                        reading_ns = read_waiting(s);
                if (s->how->report && now_ns >= report_ns) {
                        s->to->elapsed_ns = now_ns - begin_ns;
                        /* It may wait for who reads it, and is not to be before others meanwhile. */
                        set_priority(false);
                        stack_profile_sum(s->to);
                        s->how->report(s->how->ctx, s->to);
                        set_priority(true);
                        report_ns = now_ns + REPORT_NS;
                }
                next_ns += stack_profile_delay_ns(&s->random, 1000000000u / s->how->hz);
                now_ns = clock_mono_ns();
                if (next_ns < now_ns)
                        next_ns = now_ns; /* what was missed is not made up for */
                else
                        sleep_until(next_ns);
                now_ns = clock_mono_ns();
        }
        read_cpu(s);
        read_counters(s);
        s->to->elapsed_ns = now_ns - begin_ns;
        s->to->is_interrupted = is_interrupted;
        s->to->is_suspended = s->system.n > 0 && os_thread_is_suspended(&s->system.items[0]);
        if (result == STOPPED_REFUSED)
                (void)error_set(error, "process %ld may not be stopped: %s", (long)s->pid, strerror(EPERM));
        return result == STOPPED_REFUSED ? result : STOPPED;
}

enum stopped profile_process(struct stack_profile *ret, struct ghc *g, pid_t pid, const struct profiling *how,
                             struct error *error)
{
        const struct sigaction act = { .sa_handler = on_interrupt };
        struct sampler s = { .to = ret,
                             .ghc = g,
                             .pid = pid,
                             .how = how,
                             .system = { .pid = pid },
                             .begin_cpu_ns = os_process_cpu_ns(pid) };

        (void)sigaction(SIGINT, &act, NULL);
        (void)sigaction(SIGTERM, &act, NULL);
        descriptors_raise(); /* two for each thread of the program */
        runtime_find(&s.runtime, g);
        if ((s.runtime.unwinder = unwinder_new(g->program)) != NULL)
                unwinder_load(s.runtime.unwinder);
        ret->by_allocation = how->by_allocation;
        ret->with_waiting = how->with_waiting;
        set_priority(true);
        const enum stopped result = run_sampler(&s, error);
        set_priority(false);
        stack_profile_sum(ret);
        if (!ret->by_allocation && ret->program_ns && ret->program_ns < time_tree_weight(&ret->running))
                ret->program_ns = time_tree_weight(&ret->running); /* it has ended, and was read before */
        unwinder_destroy(&s.runtime.unwinder);
        runtime_done(&s.runtime);
        threads_done(&s.waiting);
        threads_done(&s.after);
        threads_done(&s.threads);
        os_threads_done(&s.system);
        return result;
}

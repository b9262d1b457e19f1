/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - facts about GHC's runtime that this rests on, measured with 9.0.2,
 * 9.6.6 and 9.10.3 (docs/AGENT.md):
 *
 * Flushing, 9.2 and later: flushEventLog(&cap), with a capability of our own in
 * hand. Never flushEventLog(NULL): it waits for sync_finished_cond, which is
 * signalled without its mutex, so the wakeup can be missed; and a forkProcess
 * at that moment leaves the child a pending sync that nobody ends.
 *
 * Flushing, before 9.2: there is no function. The buffers are written out as
 * printAndClearEventBuf does it, with all capabilities stopped as performGC_
 * stops them.
 *
 * rts_lock before the start is over ends the program ("RTS is not
 * initialised"); end_init_elapsed is the last thing the start sets.
 *
 * performHeapProfile = 1 is what requestHeapCensus does.
 */
#include "agent/runtime.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/descriptor.h"
#include "agent/writer.h"
#include "proto/base/agent_socket.h"
#include "proto/base/bytes.h"

struct runtime_kind runtime_kind;

#define SYNC_OTHER 0

#define PROFILE_BY_CLOSURE_TYPE 8u
#define PROFILE_BY_INFO_TABLE   9u

/* The runtime's functions as it declares them; capability and task are opaque here. */
#define CALL(type, symbol) ((type)(uintptr_t)rts.symbol.address)
typedef void *capability;
typedef void *task;

static bool is_threaded(const struct rts_symbols *symbols)
{
        if (symbols->rts_isThreaded.address)
                return ((int (*)(void))(uintptr_t)symbols->rts_isThreaded.address)() != 0;
        if (symbols->rtsSupportsBoundThreads.address)
                return (((uint64_t(*)(void))(uintptr_t)symbols->rtsSupportsBoundThreads.address)() & 1) != 0;
        return symbols->pending_sync.address != NULL; /* which that way of the runtime alone has */
}

bool runtime_classify(const struct rts_symbols *symbols, struct runtime_kind *ret, struct error *error)
{
        struct runtime_kind k = { .threaded = is_threaded(symbols) };
        bool stop = symbols->newBoundTask.address && symbols->boundTaskExiting.address &&
                    symbols->waitForCapability.address && symbols->releaseCapability.address &&
                    symbols->stopAllCapabilitiesWith.address && symbols->releaseAllCapabilities.address &&
                    symbols->n_capabilities.address;

        if (!symbols->end_init_elapsed.address || !symbols->rts_shutdown.address)
                return error_set(error, "%s", symbols_runtime_is_shared() ? RUNTIME_SHARED : RUNTIME_STRIPPED);
        k.profiled =
                symbols->rts_isProfiled.address && ((int (*)(void))(uintptr_t)symbols->rts_isProfiled.address)() != 0;
        k.recent = symbols->rts_pause.address && symbols->rts_resume.address;
        k.log = symbols->startEventLogging.address && symbols->eventlog_enabled.address && symbols->TRACE_gc.address;
        k.buffers = symbols->capEventBuf.address && symbols->eventBuf.address && symbols->stat_getElapsedTime.address;
        if (k.recent)
                k.flush = symbols->flushEventLog.address &&
                          (!k.threaded || (symbols->rts_lock.address && symbols->rts_unlock.address));
        else
                k.flush = k.buffers && (!k.threaded || stop);
        if (!k.recent && k.threaded && !stop)
                k.log = false;
        *ret = k;
        return true;
}

static bool forked_up; /* in the child of forkProcess, which clears that time */

bool runtime_up(void)
{
        return forked_up || rts_int64(&rts.end_init_elapsed, 0) != 0;
}

/* From proc(5): the kernel's flags of this process, and its start in ticks since boot. */
static bool read_own_stat(unsigned long *ret_flags, unsigned long long *ret_start)
{
        char text[1024];
        const char *after_name = read_proc_file("/proc/self/stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;

        return after_name &&
               sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                      ret_flags, ret_start) == 2;
}

/*
 * PF_FORKNOEXEC. Before the runtime's start no agent is asked: a threaded program is attached to through the runtime's
 * ticker, another one where it waits for its Haskell threads.
 */
bool runtime_assume_forked(void)
{
        unsigned long flags;
        unsigned long long start;

        forked_up |= read_own_stat(&flags, &start) && (flags & 0x40) != 0;
        return forked_up;
}

/* forkProcess resets the capabilities before it starts the ticker; until then no thread may wait for one. */
bool runtime_up_after_fork(void)
{
        const unsigned ours_and_first = 3;
        struct stat st;

        return runtime_up() &&
               (!runtime_kind.threaded || (stat("/proc/self/task", &st) == 0 && st.st_nlink - 2 > ours_and_first));
}

bool runtime_logs(void)
{
        return rts_flag(&rts.eventlog_enabled, false);
}

bool runtime_logs_to_file(void)
{
        const struct event_log_writer *file = rts.FileEventLogWriter.address;

        if (!runtime_logs() || !file || !file->flush || !rts.event_log_writer.address ||
            *(void **)rts.event_log_writer.address != rts.FileEventLogWriter.address)
                return false;
        file->flush();
        return true;
}

uint64_t runtime_elapsed_ns(void)
{
        return rts.stat_getElapsedTime.address ? (uint64_t)CALL(int64_t(*)(void), stat_getElapsedTime)() : 0;
}

/*
 * A thread that requested a stop of everything while all was stopped for
 * forkProcess is not in the child, which would wait for that stop for ever.
 */
void runtime_fork_child(void)
{
        forked_up = runtime_up();
        if (runtime_kind.threaded && rts.pending_sync.address && rts.pending_sync.size == sizeof(void *))
                *(void *volatile *)rts.pending_sync.address = NULL;
}

/* ------------------------------------------------------ everything stopped */

static void stopped_by_hand(void (*act)(void))
{
        capability cap = NULL;
        task t = CALL(task(*)(void), newBoundTask)();

        CALL(void (*)(capability *, task), waitForCapability)(&cap, t);
        CALL(void (*)(capability *, task, int), stopAllCapabilitiesWith)(&cap, t, SYNC_OTHER);
        act();
        CALL(void (*)(uint32_t, capability, task), releaseAllCapabilities)
        (*(uint32_t *)rts.n_capabilities.address, cap, t);
        CALL(void (*)(capability), releaseCapability)(cap);
        CALL(void (*)(task), boundTaskExiting)(t);
}

void runtime_stopped(void (*act)(void))
{
        if (!runtime_kind.threaded) {
                act();
        } else if (runtime_kind.recent) {
                void *token = CALL(void *(*)(void), rts_pause)();
                act();
                CALL(void (*)(void *), rts_resume)(token);
        } else {
                stopped_by_hand(act);
        }
}

/* -------------------------------------------------------------------- flush */

/* Of the capabilities; NULL: they are not as known. *ret_n: how many capabilities there are. */
static struct event_buffer *capability_buffers(uint32_t *ret_n)
{
        struct event_buffer *buffers =
                rts.capEventBuf.address ? *(struct event_buffer **)rts.capEventBuf.address : NULL;

        *ret_n = rts.n_capabilities.address ? *(uint32_t *)rts.n_capabilities.address : 1;
        return layout_buffers_known(buffers) ? buffers : NULL;
}

/*
 * The child's log would begin as long after its start as the machine is up, and no reader would find the process. Where
 * forkProcess has cleared both times, they are set to the start of the process.
 */
void runtime_correct_clock_of_child(void)
{
        int64_t *start_ns = rts.start_init_elapsed.address, *end_ns = rts.end_init_elapsed.address, now_ns, age_ns;
        unsigned long flags;
        unsigned long long start_ticks;
        struct timespec boot;
        uint32_t n;
        struct event_buffer *buffers = capability_buffers(&n);

        if (!start_ns || rts.start_init_elapsed.size != sizeof(*start_ns) || *start_ns != 0 || *end_ns != 0 ||
            !rts.stat_getElapsedTime.address || !read_own_stat(&flags, &start_ticks) ||
            clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
                return;
        now_ns = (int64_t)runtime_elapsed_ns();
        age_ns = (int64_t)boot.tv_sec * 1000000000 + boot.tv_nsec -
                 (int64_t)((double)start_ticks / (double)sysconf(_SC_CLK_TCK) * 1e9);
        if (age_ns < 0 || age_ns >= now_ns)
                return;
        *start_ns = *end_ns = now_ns - age_ns;
        for (uint32_t i = 0; buffers && i < n && buffers[i].capability == i; i++)
                if (buffers[i].marker) /* a block that has begun by the old time */
                        block_marker_write(buffers[i].marker, (uint64_t)age_ns, 0, 0, buffers[i].capability);
}

static void write_out(struct event_buffer *b)
{
        uint64_t now = (uint64_t)CALL(int64_t(*)(void), stat_getElapsedTime)();

        if (!b->begin || b->position == b->begin)
                return;
        if (b->marker)
                block_marker_close(b->marker, (size_t)(b->position - b->marker), now);
        (void)writer.write(b->begin, (size_t)(b->position - b->begin));
        b->marker = b->position = b->begin;
        block_marker_write(b->position, now, 0, 0, b->capability);
        b->position += BLOCK_MARKER_BYTES;
}

static void flush_by_hand(void)
{
        uint32_t n;
        struct event_buffer *buffers = capability_buffers(&n);

        if (!runtime_logs() || !buffers)
                return;
        if (rts.eventBufMutex.address)
                pthread_mutex_lock(rts.eventBufMutex.address);
        write_out(rts.eventBuf.address);
        if (rts.eventBufMutex.address)
                pthread_mutex_unlock(rts.eventBufMutex.address);
        for (uint32_t i = 0; i < n && buffers[i].capability == i; i++)
                write_out(&buffers[i]);
}

void runtime_flush(void)
{
        if (!runtime_kind.flush) {
                return;
        } else if (!runtime_kind.recent) {
                runtime_stopped(flush_by_hand);
        } else if (!runtime_kind.threaded) {
                CALL(void (*)(capability *), flushEventLog)(NULL); /* nothing to wait for there */
        } else {
                capability cap = CALL(capability(*)(void), rts_lock)();
                CALL(void (*)(capability *), flushEventLog)(&cap);
                CALL(void (*)(capability), rts_unlock)(cap);
        }
}

void runtime_census(void)
{
        rts_set_flag(&rts.performHeapProfile, true);
}

/* ---------------------------------------------------------- start and stop */

static void set_class(const struct rts_symbol *s, bool on)
{
        if (s->address && s->size == 4)
                *(volatile uint32_t *)s->address = on;
        else if (s->address)
                *(volatile uint8_t *)s->address = on;
}

void runtime_set_classes(const char *classes)
{
        set_class(&rts.TRACE_sched, strchr(classes, 's'));
        set_class(&rts.TRACE_gc, strchr(classes, 'g'));
        set_class(&rts.TRACE_nonmoving_gc, strchr(classes, 'n'));
        set_class(&rts.TRACE_spark_sampled, strchr(classes, 'p'));
        set_class(&rts.TRACE_spark_full, strchr(classes, 'f'));
        set_class(&rts.TRACE_user, strchr(classes, 'u'));
        set_class(&rts.TRACE_cap, classes[0] != '\0');
}

/* setNumCapabilities does not grow them while there is no log. */
static bool buffers_for_all(struct error *error)
{
        uint32_t n;
        struct event_buffer *buffers = capability_buffers(&n);

        if (!buffers)
                return error_set(error, "the runtime's event buffers are not as known");
        const size_t have = malloc_usable_size(buffers) / sizeof(*buffers);
        if (have >= n)
                return true;
        if (!rts.moreCapEventBufs.address)
                return error_set(error,
                                 "the program has set its number of capabilities since it began, and this "
                                 "runtime cannot be made to log them");
        CALL(void (*)(uint32_t, uint32_t), moreCapEventBufs)((uint32_t)have, n);
        return true;
}

bool runtime_start_log(const char *classes, struct error *error)
{
        if (!runtime_kind.log) {
                return error_set(error, "this runtime has no eventlog");
        }
        if (runtime_logs() || (rts.event_log_writer.address && *(void **)rts.event_log_writer.address)) {
                return error_set(error, "the program writes an eventlog itself: watch that file");
        }
        if (!buffers_for_all(error))
                return false;
        runtime_set_classes(classes);
        writer_replace_file(&rts.FileEventLogWriter);
        if (CALL(bool (*)(const struct event_log_writer *), startEventLogging)(&writer))
                return true;
        runtime_set_classes("");
        writer_give_back_file();
        return error_set(error, "the runtime did not start its eventlog");
}

/*
 * Does what the end of endEventLogging does, without its flush (see above). A flush leaves a block's beginning in each
 * buffer; a log that is started again must begin with its header.
 */
void runtime_stop_log(void)
{
        uint8_t end[2] = { 0xff, 0xff };
        uint32_t n;
        struct event_buffer *buffers = capability_buffers(&n), *of_all = rts.eventBuf.address;

        if (!runtime_logs())
                return;
        runtime_set_classes("");
        rts_set_flag(&rts.eventlog_enabled, false);
        if (rts.event_log_writer.address)
                *(void **)rts.event_log_writer.address = NULL;
        (void)writer.write(end, sizeof(end));
        if (buffers && of_all) {
                of_all->position = of_all->begin;
                of_all->marker = NULL;
                for (uint32_t i = 0; i < n && buffers[i].capability == i; i++) {
                        buffers[i].position = buffers[i].begin;
                        buffers[i].marker = NULL;
                }
        }
        writer_give_back_file();
}

/* ------------------------------------------------------------ heap profile */

static struct flags_layout flags_found; /* found while the flags had their default values; 0: not */

void runtime_read_defaults(void)
{
        if (!layout_flags(rts.RtsFlags.address, rts.RtsFlags.size, true, &flags_found))
                flags_found.heap_profile = 0;
}

static bool profile_flags(uint8_t **ret_flags, struct flags_layout *ret, struct error *error)
{
        *ret_flags = rts.RtsFlags.address;
        *ret = flags_found;
        if (ret->heap_profile > 0 || layout_flags(*ret_flags, rts.RtsFlags.size, false, ret))
                return true;
        return error_set(error, "the flags of this release of the runtime are not known: no heap profile");
}

static bool profile_file_ours; /* the runtime's open profile is one that we began */

bool runtime_start_profile(char letter, struct error *error)
{
        struct flags_layout layout;
        uint8_t *flags;
        uint32_t kind = letter == 'i' ? PROFILE_BY_INFO_TABLE : PROFILE_BY_CLOSURE_TYPE, none = 0, now;
        const uint64_t logged_period = AGENT_CENSUS_PERIOD_NS, period = 1000000000;

        if (!rts.initHeapProfiling.address || !rts.performHeapProfile.address || !rts.hp_file.address) {
                return error_set(error, "this runtime's heap profiler cannot be found");
        }
        if (!profile_flags(&flags, &layout, error))
                return false;
        memcpy(&now, flags + layout.heap_profile, sizeof(now));
        if (now != 0 && !profile_file_ours) {
                return error_set(error, "a heap profile is already being made");
        }
        if (!profile_file_divert(error))
                return false;
        memcpy(flags + layout.heap_profile, &kind, sizeof(kind));
        memcpy(flags + layout.interval, &logged_period, sizeof(logged_period));
        /* Censuses are requested. The scheduler keeps starting the timer for them, unless this is 0. */
        memcpy(flags + layout.ticks, &none, sizeof(none));
        FILE **file = rts.hp_file.address, *before = profile_file_ours ? *file : NULL;
        CALL(void (*)(void), initHeapProfiling)();
        memcpy(flags + layout.interval, &period, sizeof(period)); /* anything but 0 */
        profile_file_ours = true;
        if (before && before != *file)
                (void)fclose(before); /* of an earlier profile of ours */
        profile_file_restore(file);
        if (rts.stopHeapProfTimer.address) /* it may have been started when the profile was */
                CALL(void (*)(void), stopHeapProfTimer)();
        memcpy(&now, flags + layout.heap_profile, sizeof(now));
        if (now != kind)
                error_set(error, "the runtime did not start its heap profile");
        return now == kind;
}

/*
 * The kind of profile stays: a collection that was decided on before everything
 * stopped may still take its census, and without a kind the runtime would end
 * the program. Nothing requests another one.
 */
void runtime_stop_profile(void)
{
        rts_set_flag(&rts.performHeapProfile, false);
}

void runtime_hold_leaving_threads(void)
{
        pthread_mutex_t *lock = rts.all_tasks_mutex.address;
        int r = lock && rts.all_tasks_mutex.size == sizeof(*lock) ? pthread_mutex_trylock(lock) : EBUSY;

        if (r == EINVAL) { /* what glibc says of one that was destroyed */
                pthread_mutex_init(lock, NULL);
                pthread_mutex_lock(lock);
        } else if (r == 0) {
                pthread_mutex_unlock(lock);
        }
}

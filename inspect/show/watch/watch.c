/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - three readings, each with a pace of its own. The generations and the runtime's counters are some hundred
 * bytes: they are read often, because live data is known only right after a major collection. The size of the heap
 * takes a read of each megablock, a census all of its memory: after each follows a rest that keeps its share of a
 * processor small.
 *
 * Where the runtime's counters are found, they have the live data of a major collection exactly: of the newest of all
 * collections, or what the sum of all major ones has grown by, where there was one.
 *
 * A census is of the time between two major collections, in which closures of the oldest generation stay where they
 * are. It is copied without any collection meanwhile where that can be. Else what minor collections promote is not in
 * it, and of the youngest closures, which they move, some may be missing: it is checked against the generations' own
 * sizes, as they were when nothing was collected; one that does not fit is no census.
 *
 * When no major collection has come for some time, a census is of what roots reach, and that is also what live data
 * are then. For this the heap is read twice without any collection meanwhile, because the program moves pointers from
 * where is still to be read to where was read already; whether it is believed is reached.c's matter.
 *
 * For the agent a census is of the moment after a major collection, as those are that the runtime makes: what minor
 * collections promote later on may be garbage by then. So it begins at the first reading that shows that the
 * collection is over. While none is due nothing is read.
 */
#include "inspect/show/watch/watch.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/census.h"
#include "inspect/ghc/reach.h"
#include "inspect/ghc/sample.h"
#include "inspect/ghc/snapshot.h"
#include "inspect/ghc/rts_counters.h"
#include "inspect/ghc/threads.h"
#include "inspect/process/live.h"
#include "inspect/show/show.h"
#include "proto/base/agent_socket.h"
#include "proto/base/clock.h"
#include "proto/base/process.h"

#define BUSY_MS         20  /* between two readings of the generations while it collects */
#define IDLE_MS         100 /* when it has not for IDLE_AFTER_NS */
#define IDLE_AFTER_NS   UINT64_C(1000000000)
#define UNREADABLE_MOST 50 /* readings in turn: then it is another program */
#define SIZE_LEAST_NS   UINT64_C(1000000000)
#define SIZE_PARTS      500u                /* a reading of the size has one part in so many of the time */
#define COUNTS_NS       UINT64_C(250000000) /* between two that are written */
#define CENSUS_LEAST_NS UINT64_C(1000000000)
#define CENSUS_PARTS    50u
#define GIVEN_LEAST_NS  UINT64_C(5000000000)  /* between two for an agent: all are in the program's log, and are kept */
#define CENSUS_QUARTERS 5u                    /* memory that a byte of heap needs */
#define LATER_NS        UINT64_C(60000000000) /* after a census for which there is not enough memory */
#define MISFIT_BYTES    (UINT64_C(4) << 20)   /* the youngest closures, which may be counted or not */
#define MISFIT_PARTS    20u                   /* and one part in so many of the heap */
#define OLD_NS          UINT64_C(10000000000) /* live data of a major collection: then what roots reach is found */
#define REACH_NEEDED    7u                    /* quarters: what is reached, beside the copy */
#define REACH_MOST      (UINT64_C(512) << 20) /* bytes of heap: nothing else is read while it is gone through */
#define MISSED_MOST     3u                    /* then what is reached is not known any more, */
#define WAIT_MOST       15u                   /* and searched for once in so many censuses at least */
#define WHOLE_TRIES     3u
#define MOMENT_TRIES    3u
#define MOMENT_WAIT_MS  1
#define WHOLE_BYTES     UINT64_C(65536) /* sizes of a heap that nothing has moved differ by so much, */
#define WHOLE_PARTS     50u             /* and one part in so many */

struct watching {
        struct ghc *ghc;
        pid_t pid;
        uint64_t memory_bytes;
        struct live_data live;
        struct reached reached;
        unsigned missed,
                wait;     /* searches in turn for what roots reach that gave nothing; censuses until the next one */
        uint64_t live_ns; /* when live data of a major collection came last */
        uint64_t held_before_bytes; /* by the generations, just before the newest major collection */
        struct rts_counters_search search;
        struct rts_counters counters; /* the newest that were known */
        uint32_t counters_major;      /* major collections that they are of */
        bool has_counters;
        struct generations counted; /* between two collections, when they were read last */
        uint64_t counts_due_ns;
        bool has_new_counts, has_new_counters;
        unsigned unreadable;
        uint64_t collections, collected_ns; /* how many there were, and when that last changed */
        uint64_t size_bytes;                /* of the heap, when it was last read */
        uint64_t size_due_ns, census_due_ns;
        uint64_t census_collections; /* how many there were before the newest census */
        bool has_census, is_nonmoving, is_too_large, is_sampled;
        uint64_t copied_ns;  /* when the heap of the newest census was */
        int agent_fd;        /* -1: it is not for an agent */
        uint64_t accepts_at; /* where the agent says which censuses it accepts */
        uint32_t accepts;
        bool is_after_major; /* the newest reading is the first one after a major collection */
        bool is_agent_gone;
};

static uint64_t cpu_ns(void)
{
        return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t rest_ns(uint64_t began_cpu_ns, unsigned parts, uint64_t least_ns)
{
        const uint64_t ns = (cpu_ns() - began_cpu_ns) * parts;

        return ns > least_ns ? ns : least_ns;
}

static uint32_t major_collections(const struct generations *g)
{
        return g->items[g->n - 1].collections;
}

/* ------------------------------------------------------------------- size and live data */

/* Its mappings are read again: the heap grows. */
static void read_size(struct watching *w, uint64_t now_ns)
{
        const uint64_t began = cpu_ns();
        bool nonmoving;

        if (live_remap(w->ghc->program, w->pid)) {
                const uint64_t n = blocks_megablocks(w->ghc->program, &nonmoving);
                w->is_nonmoving |= nonmoving;
                w->size_bytes = n * MEGABLOCK_BYTES;
                if (n > 0)
                        log_heap_size(w->size_bytes);
        }
        w->size_due_ns = now_ns + rest_ns(began, SIZE_PARTS, SIZE_LEAST_NS);
}

static void write_live(struct watching *w, uint64_t now_ns, uint64_t bytes)
{
        if (bytes > w->size_bytes)
                read_size(w, now_ns); /* the one that is known is from before it grew */
        log_live(bytes);
}

/* Of a major collection. */
static void write_left(struct watching *w, uint64_t now_ns, uint64_t bytes)
{
        const bool was_wrong = w->reached.is_wrong;

        if (!reached_compare(&w->reached, major_collections(&w->counted), bytes, w->held_before_bytes) && !was_wrong)
                log_message(
                        "a major collection has left more than was reached from the roots that are known: from "
                        "now on live data is known after major collections alone");
        w->live_ns = now_ns;
        write_live(w, now_ns, bytes);
}

/* What the newest major collection has left. The sum may not have it yet: then it is not known. */
static bool is_live_known(const struct watching *w, const struct rts_counters *now, uint32_t major, uint64_t *ret_bytes)
{
        const uint64_t grown = now->live_sum_bytes - w->counters.live_sum_bytes;
        const uint32_t n = major - w->counters_major;

        *ret_bytes = now->newest_is_major ? now->newest_live_bytes : grown;
        return n == 1 ? grown == *ret_bytes : now->newest_is_major && grown > *ret_bytes;
}

static void read_counters(struct watching *w, uint64_t now_ns)
{
        const struct generations *g = &w->ghc->generations;
        const uint32_t major = major_collections(g);
        struct rts_counters now;
        uint64_t bytes;

        if (!rts_counters_read(&w->search, w->ghc->program, g, &now))
                return;
        /* once for each collection, also for one from before they were known */
        const bool is_new = w->has_counters ? major != w->counters_major : w->live.known == 0 && !w->reached.is_known;
        if (is_new && is_live_known(w, &now, major, &bytes)) {
                if (w->has_counters)
                        write_left(w, now_ns, bytes);
                else /* it may have been long ago */
                        write_live(w, now_ns, bytes);
        }
        w->has_new_counters |= !w->has_counters || now.allocated_bytes != w->counters.allocated_bytes;
        w->has_new_counts |= w->has_new_counters;
        w->counters = now;
        w->counters_major = major;
        w->has_counters = true;
}

/* The runtime's counters as they were read last. */
static void write_counts(struct watching *w, uint64_t now_ns)
{
        const struct generations *g = &w->counted;

        for (unsigned i = 0; i < g->n; i++) {
                const struct heap_generation *of = &g->items[i];
                const bool known = of->parallel_collections <= of->collections;
                log_generation(i, g->n, of->collections, known ? of->parallel_collections : RTS_COUNTER_UNKNOWN);
        }
        if (w->has_new_counters) {
                log_collections(w->counters.copied_bytes, w->counters.collecting_ns);
                log_allocated(w->counters.allocated_bytes);
        }
        w->has_new_counts = w->has_new_counters = false;
        w->counts_due_ns = now_ns + COUNTS_NS;
}

/* False: they cannot be read any more. */
static bool read_generations(struct watching *w, uint64_t now_ns)
{
        struct generations *g = &w->ghc->generations;
        uint64_t bytes;
        bool readable;

        if (!live_data_read(g, w->ghc->program, &readable)) {
                w->unreadable = readable ? 0 : w->unreadable + 1;
                return w->unreadable < UNREADABLE_MOST;
        }
        const bool was_pending = w->live.pending, is_logged = w->agent_fd < 0;
        w->unreadable = 0;
        w->has_new_counts |= !w->live.begun;
        if (generations_collections(g) != w->collections) {
                w->collections = generations_collections(g);
                w->collected_ns = now_ns;
                w->has_new_counts = true;
        }
        if (is_logged) {
                if (w->live.begun && major_collections(g) != major_collections(&w->counted))
                        w->held_before_bytes = live_data_held_bytes(&w->counted);
                w->counted = *g;
                read_counters(w, now_ns);
        }
        /* the non-moving collector has sizes of its own, which it computes while the program runs */
        if (live_data_update(&w->live, g, &bytes) && is_logged && !w->is_nonmoving && !w->search.is_found)
                write_left(w, now_ns, bytes);
        w->is_after_major = was_pending && !w->live.pending;
        return true;
}

/* ----------------------------------------------------------------------------- censuses */

/*
 * In which nothing is collected: only then do the generations tell what they hold, which a census must fit. Their
 * memory is looked up after them: a collection adds to it.
 */
static bool find_moment(const struct watching *w, struct heap_moment *m)
{
        for (unsigned tries = 0; tries < MOMENT_TRIES; tries++) {
                if (generations_read(&m->generations, m->program) && !generations_collecting(&m->generations))
                        return live_remap(w->ghc->program, w->pid);
                (void)poll(NULL, 0, MOMENT_WAIT_MS);
        }
        return false;
}

/* A copy of the heap between two major collections. */
struct copy {
        struct heap_snapshot snapshot;
        struct heap_sample sample; /* in place of all of it, with `is_sample` */
        bool is_sample;
        bool reaches;  /* what roots reach is to be searched for */
        bool is_whole; /* for that: read twice, and nothing was moved meanwhile */
};

/* Between two collections: a program that has just collected does not do it again at once. */
static bool copy_whole(const struct watching *w, struct heap_snapshot *n)
{
        struct heap_moment m = { w->ghc->program, w->ghc->generations };
        struct error unused;

        for (unsigned tries = 0; tries < WHOLE_TRIES; tries++) {
                snapshot_clear(n);
                if (find_moment(w, &m) && snapshot_copy(n, true, heap_moment_is_over, &m, &unused) &&
                    !heap_moment_is_over(&m) && snapshot_reread(n, heap_moment_is_over, &m) && !heap_moment_is_over(&m))
                        return true;
                (void)poll(NULL, 0, MOMENT_WAIT_MS);
        }
        return false;
}

/* Once, unless this is over meanwhile. */
static bool copy_once(const struct watching *w, struct copy *c, bool (*over)(void *moment), struct error *error)
{
        struct heap_moment m = { w->ghc->program, w->ghc->generations };

        snapshot_clear(&c->snapshot);
        return find_moment(w, &m) && snapshot_copy(&c->snapshot, false, over, &m, error) &&
               (!c->is_sample || heap_sample_copy(&c->sample, &c->snapshot, over, &m, error)) && !over(&m);
}

/* Of a heap that is soon copied none of the youngest closures need be missing. */
static bool copy_heap_once(struct watching *w, struct copy *c, struct error *error)
{
        c->is_whole = c->reaches && copy_whole(w, &c->snapshot);
        if ((c->is_whole || (!c->is_sample && copy_once(w, c, heap_moment_is_over, error))) &&
            snapshot_index(&c->snapshot) && c->snapshot.lost_links == 0)
                return true;
        c->is_whole = false;
        return copy_once(w, c, heap_moment_is_past_major, error) && snapshot_index(&c->snapshot);
}

/* Whether the census has about what the generations say that they hold, before or after it was taken. */
static bool is_consistent(const struct heap_census *c, const struct generations *before,
                          const struct generations *after)
{
        const uint64_t counted = c->total_bytes + c->rest.unused_bytes + c->rest.unknown_bytes;
        const uint64_t least = live_data_held_bytes(before), most = live_data_held_bytes(after);

        return counted + counted / MISFIT_PARTS + MISFIT_BYTES >= least &&
               counted <= most + most / MISFIT_PARTS + MISFIT_BYTES;
}

/* Whether it has all that generations hold, and no more. */
static bool is_whole(const struct copy *c, const struct heap_census *all)
{
        const uint64_t counted = all->total_bytes + all->rest.unused_bytes + all->rest.unknown_bytes;
        const uint64_t held = live_data_held_bytes(&c->snapshot.generations);
        const uint64_t slack = held / WHOLE_PARTS + WHOLE_BYTES;

        return c->is_whole && c->snapshot.lost_links == 0 && counted + slack >= held && counted <= held + slack;
}

/* Puts what roots reach in place of all. False: that is not known. `contents`: empty, of what is reached. */
static bool count_reached(struct watching *w, struct copy *c, struct heap_census *all, struct heap_contents *contents)
{
        struct heap_snapshot *n = &c->snapshot;
        struct heap_census reached = { .contents = contents };
        struct reach_result found = { .held_bytes = live_data_held_bytes(&n->generations),
                                      .major_collections = major_collections(&n->generations) };

        for (size_t i = 0; i < n->n_groups; i++)
                if (n->groups[i].kind == GROUP_YOUNG || n->groups[i].kind == GROUP_NURSERY)
                        found.nursery_bytes += (uint64_t)n->groups[i].blocks * BLOCK_BYTES;
        bool good = is_whole(c, all) && reach_census(&reached, n, &found.most_bytes);
        found.least_bytes = reached.total_bytes + reached.rest.unused_bytes;
        good = good && reached_add(&w->reached, &found);
        if (!good) {
                heap_census_done(&reached);
                return false;
        }
        heap_census_done(all);
        *all = reached;
        return true;
}

/* What the agent gets is as the runtime's censuses are: threads are told beside its bands. `n`: NULL of a sample. */
static bool send_to_agent(struct watching *w, struct heap_bands *b, const struct heap_census *c,
                          const struct heap_snapshot *n, double spread)
{
        struct census_threads threads = { .all = 0 };
        const bool tells =
                n && w->accepts >= AGENT_ACCEPTS_THREADS && heap_bands_of_threads(&threads.groups, c, n, &threads.all);

        heap_bands_pinned_as_runtime(b, c, w->ghc);
        w->is_agent_gone = !log_give(w->agent_fd, b, tells ? &threads : NULL, spread, clock_mono_ns() - w->copied_ns);
        heap_bands_done(&threads.groups);
        return !w->is_agent_gone;
}

/*
 * What closures hold may be outside of the heap, in memory that was read later than the heap. Threads have bands of
 * their own in a log of our own.
 */
static bool write_bands(struct watching *w, const struct heap_census *c, const struct heap_snapshot *n)
{
        struct heap_moment copied = { w->ghc->program, n->generations };
        struct heap_bands b = { NULL, 0 };
        uint64_t threads;
        bool good = heap_bands_of(&b, c, w->ghc, true) && (!c->contents || heap_moment_is_past_major(&copied) ||
                                                           heap_bands_add_contents(&b, c, w->ghc, true));

        if (good && w->agent_fd >= 0)
                good = send_to_agent(w, &b, c, n, 0);
        else if (good)
                good = heap_bands_split_threads(&b, c, n, &threads) && log_send() && log_census(&b, 0, threads);
        heap_bands_done(&b);
        return good;
}

/* Threads are not counted by place: their stacks may not be in the sample. That it is one is said once. */
static bool put_sample(struct watching *w, const struct heap_sample *x, struct heap_bands *b,
                       const struct heap_census *c)
{
        const double spread = heap_sample_spread(x, b);
        char text[256];

        if (w->agent_fd >= 0)
                return send_to_agent(w, b, c, NULL, spread);
        if (!w->is_sampled) {
                (void)snprintf(text, sizeof(text),
                               "bands are estimated from %s of the heap at random: it is too large to be copied "
                               "(heapwatchd --census-memory); threads are not counted",
                               BYTES_TEXT(x->read_bytes));
                log_message(text);
                w->is_sampled = true;
        }
        return log_send() && log_census(b, spread, UNKNOWN_U64);
}

static bool count_sample(struct watching *w, struct copy *of)
{
        const struct generations *before = &of->snapshot.generations;
        struct generations after = *before;
        struct heap_census c = { .n = 0 };
        struct heap_bands b = { NULL, 0 };
        struct error unused;
        const bool good = heap_sample_count(&of->sample, &of->snapshot, true, &c, &b) &&
                          is_understood(NULL, &c, &unused) && generations_read(&after, w->ghc->program) &&
                          is_consistent(&c, before, &after) && put_sample(w, &of->sample, &b, &c);

        heap_bands_done(&b);
        heap_census_done(&c);
        return good;
}

/* A program that collects too often for it, or whose roots are in doubt, is like that for some time. */
static void note_reached(struct watching *w, bool is_reached)
{
        w->missed = is_reached ? 0 : w->missed + 1;
        if (w->missed < MISSED_MOST)
                return;
        w->reached.is_known = false;
        w->wait = w->missed < WAIT_MOST ? w->missed : WAIT_MOST;
}

/* What is reached and all are not mixed, as long as the one is known and until the next major collection. */
static bool count_whole(struct watching *w, struct copy *of, uint64_t now_ns)
{
        struct heap_contents of_all = { .snapshot = &of->snapshot, .only_matter = true };
        struct heap_contents of_reached = { .snapshot = &of->snapshot, .only_matter = true };
        struct heap_census c = { .contents = of->reaches && w->reached.is_known ? NULL : &of_all };
        const struct generations *before = &of->snapshot.generations;
        struct generations after = *before;
        struct error unused;
        bool good = false;

        memory_expire(w->ghc->program->memory);
        heap_census_count(&c, &of->snapshot);
        if (is_understood(NULL, &c, &unused) && generations_read(&after, w->ghc->program) &&
            is_consistent(&c, before, &after)) {
                const bool is_reached = of->reaches && count_reached(w, of, &c, &of_reached);
                if (of->reaches)
                        note_reached(w, is_reached);
                else
                        w->reached.is_known = false;
                if (is_reached)
                        write_live(w, now_ns, c.total_bytes + c.rest.unused_bytes);
                good = is_reached == w->reached.is_known && write_bands(w, &c, &of->snapshot);
        }
        heap_census_done(&c);
        heap_contents_done(&of_all);
        heap_contents_done(&of_reached);
        return good;
}

/*
 * Makes room for a copy, if there is enough memory also for what is reached in it, when live data is old. Else for a
 * sample: each of other parts of the heap, so that their errors differ.
 */
static bool prepare_copy(struct watching *w, struct copy *c, uint64_t now_ns, struct error *error)
{
        const uint64_t available = available_bytes(), most = available < w->memory_bytes ? available : w->memory_bytes;
        struct error unused;

        *c = (struct copy){ .reaches = w->agent_fd < 0 && !w->is_nonmoving && !w->reached.is_wrong &&
                                       w->size_bytes <= REACH_MOST && (!w->live_ns || now_ns - w->live_ns > OLD_NS) &&
                                       w->wait == 0 };
        w->wait -= w->wait > 0;
        if (c->reaches && snapshot_prepare(&c->snapshot, w->ghc, most, REACH_NEEDED, error))
                return true;
        c->reaches = false;
        if (snapshot_prepare(&c->snapshot, w->ghc, most, CENSUS_QUARTERS, error)) {
                w->is_sampled = false;
                return true;
        }
        if (w->agent_fd >= 0 && w->accepts < AGENT_ACCEPTS_SAMPLES)
                return false;
        c->sample.seed = now_ns;
        c->is_sample = heap_sample_prepare(&c->sample, &c->snapshot, w->ghc, heap_sample_share(most), most, &unused);
        return c->is_sample ||
               error_set(error,
                         "bands are not known: %s of memory is too little even for a sample of the heap (heapwatchd "
                         "--census-memory allows more)",
                         BYTES_TEXT(most));
}

static void read_census(struct watching *w, uint64_t now_ns)
{
        const uint64_t began = cpu_ns();
        struct copy c;
        struct error error = { "" };

        if (!live_remap(w->ghc->program, w->pid))
                return;
        if (!prepare_copy(w, &c, now_ns, &error)) {
                if (!w->is_too_large && w->agent_fd < 0)
                        log_message(error.text);
                w->is_too_large = true;
                w->census_due_ns = now_ns + LATER_NS;
                return;
        }
        w->is_too_large = false;
        const bool is_copied = copy_heap_once(w, &c, &error);
        w->copied_ns = clock_mono_ns();
        if (is_copied && (c.is_sample ? count_sample(w, &c) : count_whole(w, &c, now_ns))) {
                w->has_census = true;
                w->census_collections = generations_collections(&c.snapshot.generations);
        }
        snapshot_done(&c.snapshot);
        heap_sample_done(&c.sample);
        w->census_due_ns = now_ns + rest_ns(began, CENSUS_PARTS, w->agent_fd < 0 ? CENSUS_LEAST_NS : GIVEN_LEAST_NS);
}

/* ------------------------------------------------------------------------------ the loop */

/* False: it has ended, or nobody reads. */
static bool wait_ms(int process, int fd, int ms)
{
        struct pollfd fds[] = { { process, POLLIN, 0 }, { fd, 0, 0 }, { STDIN_FILENO, 0, 0 } };

        return poll(fds, 3, ms) >= 0 ? !fds[0].revents && !fds[1].revents && !fds[2].revents : errno == EINTR;
}

static int pause_ms(const struct watching *w, uint64_t now_ns)
{
        return now_ns - w->collected_ns < IDLE_AFTER_NS ? BUSY_MS : IDLE_MS;
}

/* It may just be ending. */
static bool cannot_read(const struct watching *w, int process, int fd, struct error *error)
{
        return !wait_ms(process, fd, 0) ||
               error_set(error, "the heap of process %ld cannot be read any more", (long)w->pid);
}

static bool watch_process(struct watching *w, int process, int fd, struct error *error)
{
        uint64_t now_ns;
        bool good = true;

        do {
                now_ns = clock_mono_ns();
                if (!read_generations(w, now_ns)) {
                        good = cannot_read(w, process, fd, error);
                        break;
                }
                if (w->has_new_counts && now_ns >= w->counts_due_ns)
                        write_counts(w, now_ns);
                if (now_ns >= w->size_due_ns)
                        read_size(w, now_ns);
                /* without a collection in between it would be the same once more */
                if (now_ns >= w->census_due_ns && (!w->has_census || w->census_collections != w->collections))
                        read_census(w, now_ns);
                if (!log_send())
                        return true;
        } while (wait_ms(process, fd, pause_ms(w, now_ns)));
        if (w->has_new_counts)
                write_counts(w, now_ns);
        (void)log_send();
        return good;
}

static bool make_censuses(struct watching *w, int process, struct error *error)
{
        int ms;

        do {
                const uint64_t now_ns = clock_mono_ns();
                ms = pause_ms(w, now_ns);
                if (now_ns >= w->census_due_ns &&
                    (!memory_read(w->ghc->program->memory, w->accepts_at, &w->accepts, sizeof(w->accepts)) ||
                     !w->accepts))
                        w->census_due_ns = now_ns + CENSUS_LEAST_NS;
                if (now_ns < w->census_due_ns) {
                        w->live.begun = w->live.pending = false; /* the next reading is of another time */
                        ms = (int)((w->census_due_ns - now_ns) / 1000000u) + 1;
                } else if (!read_generations(w, now_ns)) {
                        return cannot_read(w, process, w->agent_fd, error);
                } else if (w->is_after_major) {
                        read_census(w, now_ns);
                        ms = 0;
                }
        } while (!w->is_agent_gone && wait_ms(process, w->agent_fd, ms));
        return true;
}

static int open_process(pid_t pid, struct error *error)
{
        const int process = (int)syscall(SYS_pidfd_open, pid, 0);

        if (process < 0)
                (void)error_set(error, "process %ld cannot be watched: %s", (long)pid, strerror(errno));
        return process;
}

bool watch_heap(int fd, pid_t pid, struct ghc *g, uint64_t memory_bytes, struct error *error)
{
        struct watching w = { .ghc = g, .pid = pid, .memory_bytes = memory_bytes, .agent_fd = -1 };
        const int process = open_process(pid, error);

        if (process < 0)
                return false;
        const bool good = log_begin(fd, pid, error) && watch_process(&w, process, fd, error);
        (void)close(process);
        return good;
}

bool watch_for_agent(int fd, pid_t pid, struct ghc *g, uint64_t memory_bytes, struct error *error)
{
        struct watching w = { .ghc = g, .pid = pid, .memory_bytes = memory_bytes, .agent_fd = fd };

        if (!(w.accepts_at = program_variable(g->program, AGENT_ACCEPTS_CENSUSES)))
                return error_set(error, "process %ld has no agent of heapwatch that accepts censuses", (long)pid);
        const int process = open_process(pid, error);
        if (process < 0)
                return false;
        const bool good = make_censuses(&w, process, error);
        (void)close(process);
        return good;
}

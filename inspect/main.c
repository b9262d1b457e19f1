/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c - heapwatch-inspect: what `heapwatch threads` and its like start, and the daemon for a source outside:PID. It
 * reads another program's memory, which may hold anything, in a process of its own with limits of memory and time:
 * whatever happens to it, happens to nobody else.
 */
#include <errno.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/number_text.h"
#include "inspect/process/code/known_code.h"
#include "inspect/ghc/reach.h"
#include "inspect/ghc/threads.h"
#include "inspect/ghc/graph/graph.h"
#include "inspect/process/files.h"
#include "inspect/process/live.h"
#include "inspect/process/stop.h"
#include "inspect/show/out_file.h"
#include "inspect/show/request.h"
#include "inspect/show/show.h"
#include "inspect/show/watch/watch.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/document.h"
#include "proto/base/error.h"
#include "proto/base/permission.h"
#include "proto/base/sibling.h"
#include "proto/base/whole_file.h"
#include "proto/cli/command.h"
#include "proto/cli/options.h"
#include "proto/cli/version.h"

#define FIND_TRIES      100 /* while a collection moves what is to be found, or the program is just beginning */
#define FIND_NS         5000000L
#define MOVING_TRIES    2000 /* of these, during one that takes long */
#define QUIET_TRIES     40   /* until no collection is under way */
#define BACKGROUND_NICE 10
#define SEED_MOST       1000000000u
#define NS_A_BYTE       1.0 /* of a copy, on a machine that is not busy */
#define COPY_TRIES      400u
#define COPY_MOST_NS    UINT64_C(45000000000) /* until a copy is given up */
#define STOPS_MOST      5u                    /* that give nothing: then it is not stopped any more */
#define SAMPLE_LEAST    (33 * PIECE_BYTES)
#define WHOLE_TRIES     4u                  /* to copy all of the heap while it runs; then a sample */
#define MEMORY_LEAST    (UINT64_C(4) << 30) /* address space, of which a program's files take much */
#define KEPT_MOST       ((size_t)16 << 20)  /* bytes of a profile that is kept: what is read of one later */

struct words {
        const char *what;
        struct inspect_request request;
        uint64_t pid;
        uint64_t time_ns; /* CPU time that the inspection may need */
        struct text_list libraries;
};

static const struct command command;

static bool is_late(void *ctx)
{
        return stop_is_over();
}

static void pause_briefly(void)
{
        const struct timespec t = { 0, FIND_NS };

        (void)nanosleep(&t, NULL);
}

/* ----------------------------------------------------------------------- commands */

/* Stopped between two collections if that can be had, else during one: then lists lead to both old and new places. */
static int copy_threads(struct inspect_subject *s, struct threads *t, struct error *error)
{
        bool stops = !s->request->no_stop;
        enum stopped stopped = STOPPED;

        for (int tries = 0; tries < QUIET_TRIES; tries++) {
                if (stops)
                        stopped = stop_begin(s->pid, s->request->max_pause_ns, s->program, error);
                if (stopped != STOPPED && !stop_is_over())
                        return stopped == STOPPED_REFUSED ? INSPECT_REFUSED : EXIT_USAGE;
                stops &= stopped == STOPPED; /* else the machine is busy, or its control group frozen: read as it is */
                const bool wait = generations_read(&s->ghc->generations, s->program) &&
                                  generations_collecting(&s->ghc->generations) && tries + 1 < QUIET_TRIES;
                if (!wait)
                        threads_copy(t, s->ghc, stops ? is_late : NULL, NULL);
                if (stops) {
                        s->late = stop_is_over();
                        s->stopped_ns = stop_end();
                }
                if (!wait)
                        break;
                pause_briefly();
        }
        const uint32_t before = s->ghc->generations.items[0].collections;
        s->torn = !stops && (!generations_read(&s->ghc->generations, s->program) ||
                             s->ghc->generations.items[0].collections != before);
        return EXIT_OK;
}

static int answer_threads(struct inspect_subject *s, struct error *error)
{
        struct threads t = { 0 };
        int status = EXIT_OK;

        if (s->request->core || !s->request->no_stop) /* before a stop: makes room, and knows the tables afterwards */
                threads_copy(&t, s->ghc, NULL, NULL);
        if (!s->request->core)
                status = copy_threads(s, &t, error);
        if (status == EXIT_OK) {
                threads_walk(&t, s->ghc);
                s->late |= t.out_of_time;
                status = show_threads(s, &t) ? EXIT_OK : EXIT_USAGE;
        }
        threads_done(&t);
        return status;
}

/* NULL: there must be none. */
static bool is_sample(const struct heap_sample *x)
{
        return x && x->buffer;
}

/* About what snapshot_copy() and heap_sample_copy() will read. */
static uint64_t bytes_to_copy(const struct heap_snapshot *n, const struct heap_sample *x)
{
        return is_sample(x) ? heap_sample_bytes(x, n) : n->before ? n->left_bytes : n->heap_bytes;
}

/* One try; the program is stopped or not. True: *n is of one moment. */
static bool copy_moment(struct inspect_subject *s, struct heap_snapshot *n, struct heap_sample *x, bool stops,
                        bool with_written, struct error *error)
{
        bool (*const expired)(void *ctx) = s->request->core ? NULL : stops ? is_late : heap_moment_is_over;
        struct heap_moment m = { s->program, s->ghc->generations };
        /* until the stop, a collection may have added memory to the heap, and moved what is to be found there */
        bool good = (!stops || live_remap(s->program, s->pid)) && generations_read(&m.generations, s->program) &&
                    (s->request->core || !generations_collecting(&m.generations));

        good = good && snapshot_copy(n, with_written, expired, &m, error) &&
               (!is_sample(x) || heap_sample_copy(x, n, expired, &m, error)) &&
               (s->request->core || !heap_moment_is_over(&m));
        if (stops)
                s->stopped_ns = stop_end();
        if (!good || !snapshot_index(n))
                return false;
        s->damaged = s->request->core && n->lost_links > 0;
        return s->request->core || n->lost_links == 0;
}

static void release_copies(struct heap_snapshot *n, struct heap_sample *x)
{
        snapshot_done(n);
        if (x)
                heap_sample_done(x);
}

/* A sample, if it is wanted and is not all of the heap. */
static bool prepare_sample(const struct inspect_subject *s, struct heap_snapshot *n, struct heap_sample *x,
                           uint64_t sample_bytes, uint64_t most_bytes, struct error *error)
{
        return x && sample_bytes && sample_bytes < snapshot_heap_bytes(s->ghc) &&
               heap_sample_prepare(x, n, s->ghc, sample_bytes, most_bytes, error);
}

/*
 * Makes room, of what there is: for all of the heap, or for a sample (NULL: not for that) of `sample` bytes. What an
 * earlier try had is used again: to touch as much memory as the heap takes as long as to copy it.
 */
static bool prepare_snapshot(const struct inspect_subject *s, struct heap_snapshot *n, struct heap_sample *x,
                             uint64_t sample, unsigned quarters, struct error *error)
{
        const uint64_t allowed = s->request->memory_bytes, available = available_bytes();
        const uint64_t most = available < allowed ? available : allowed;
        struct error why, unused;

        if (x)
                heap_sample_clear(x);
        if (n->reserve && snapshot_prepare_again(n))
                return true;
        release_copies(n, x);
        if (prepare_sample(s, n, x, sample, most, &unused) ||
            (s->request->arrays ? snapshot_prepare : snapshot_prepare_packed)(n, s->ghc, most, quarters, &why))
                return true;
        const uint64_t needed = snapshot_needed_bytes(n, quarters), enough = needed + needed / 8; /* it grows */
        if (prepare_sample(s, n, x, heap_sample_share(most), most, &unused)) {
                x->whole_bytes = enough <= available ? enough : 0;
                return true;
        }
        if (enough <= available)
                return error_set(error, "%.600s, more than allowed: --memory %" PRIu64 "MiB", why.text,
                                 enough / (UINT64_C(1) << 20) + 1);
        return error_set(error,
                         "%.600s, of which %s are available here: inspect its core file (gcore) on a larger machine",
                         why.text, BYTES_TEXT(available));
}

/* How a heap is being copied. */
struct attempt {
        bool may_stop, is_refused; /* refused: to stop it; it can be read all the same */
        unsigned tries, stops;     /* stops that gave nothing */
        double ns_a_byte;          /* that a copy takes here at present, as far as it is known */
        uint64_t until_ns;         /* by clock_mono_ns() */
        struct heap_moment major;  /* since which nothing of the oldest generation has moved */
        uint64_t collecting_ns;    /* how long one collection had lasted by until_ns; 0: not for most of the time */
};

static uint64_t copy_ns(const struct attempt *a, uint64_t bytes)
{
        return u64_sat((double)bytes * a->ns_a_byte);
}

/* Half of the time that there is: the rest is for what is done with the copy. */
static bool is_worth_a_try(const struct attempt *a)
{
        struct rlimit cpu;

        return a->tries == 0 ||
               (a->tries < COPY_TRIES && clock_mono_ns() < a->until_ns &&
                (getrlimit(RLIMIT_CPU, &cpu) != 0 || (uint64_t)clock() / CLOCKS_PER_SEC < cpu.rlim_cur / 2));
}

/* Until no collection is under way, or the time is over: a major one of a large heap takes seconds. */
static void wait_for_moment(const struct inspect_subject *s, struct attempt *a)
{
        struct generations now = s->ghc->generations;
        const uint64_t began = clock_mono_ns();
        uint64_t n = 0;
        bool is_one = true;

        while (clock_mono_ns() < a->until_ns && generations_read(&now, s->program) && generations_collecting(&now)) {
                is_one = is_one && (!n || n == generations_collections(&now));
                n = generations_collections(&now);
                pause_briefly();
        }
        if (is_one && clock_mono_ns() >= a->until_ns && a->until_ns - began > COPY_MOST_NS / 2)
                a->collecting_ns = a->until_ns - began;
}

/* What is said before it lasts, on a line that `heapwatch` passes on at once (INSPECT_NOTE). */
static void announce_copy(const struct attempt *a, const struct heap_snapshot *n, const struct inspect_request *r)
{
        (void)fprintf(stderr,
                      INSPECT_NOTE
                      "%s of heap: a copy would stop the program for about %s, longer than --max-pause (%s); "
                      "most of it is copied while the program runs\n",
                      BYTES_TEXT(n->heap_bytes), DURATION_TEXT(copy_ns(a, n->heap_bytes)),
                      DURATION_TEXT(r->max_pause_ns));
}

/*
 * Sets aside what a stop need not read again. Twice: what has changed while all of the heap was read is soon read.
 * False: a major collection has moved it all, and nothing is set aside.
 */
static bool copy_while_it_runs(struct inspect_subject *s, struct heap_snapshot *n, struct attempt *a,
                               struct error *error)
{
        const bool is_first = !n->before;
        const uint64_t began = clock_mono_ns();

        n->is_packed = false;
        if (is_first)
                a->major = (struct heap_moment){ s->program, s->ghc->generations };
        bool good = !is_first || (generations_read(&a->major.generations, s->program) &&
                                  !a->major.generations.items[a->major.generations.n - 1].collecting);
        for (unsigned i = 0; i < (is_first ? 2 : 1) && good; i++) {
                good = live_remap(s->program, s->pid) &&
                       snapshot_copy(n, false, heap_moment_is_past_major, &a->major, error);
                if (i == 0 && is_first && good)
                        a->ns_a_byte = fmax(a->ns_a_byte, (double)(clock_mono_ns() - began) / (double)(n->bytes + 1));
                good = good && !heap_moment_is_past_major(&a->major) && snapshot_settle(n);
        }
        if (!good)
                snapshot_clear(n);
        return good;
}

/* What would do it, as a command. */
static int explain_no_copy(const struct inspect_subject *s, const struct attempt *a, uint64_t heap_bytes,
                           struct error *error)
{
        const uint64_t ns = copy_ns(a, heap_bytes);
        char advice[PAUSE_COMMAND_BYTES];

        if (a->is_refused)
                return INSPECT_REFUSED;
        if (a->collecting_ns)
                (void)error_set(error, "process %ld has been in one collection for %s; try again later", (long)s->pid,
                                DURATION_TEXT(a->collecting_ns));
        else if (a->stops >= STOPS_MOST)
                (void)error_set(error,
                                "%u stops of process %ld were too short to copy its heap (%s) and what may lead to it: "
                                "--max-pause is %s. Try: %s",
                                a->stops, (long)s->pid, BYTES_TEXT(heap_bytes), DURATION_TEXT(s->request->max_pause_ns),
                                head_pause_command(advice, s, u64_sat(2 * (double)s->request->max_pause_ns)));
        else
                (void)error_set(
                        error,
                        "process %ld moves its heap (%s) in collections before it is copied while it runs, and at "
                        "present a copy would stop it for about %s (--max-pause is %s). Try: %s",
                        (long)s->pid, BYTES_TEXT(heap_bytes), DURATION_TEXT(ns),
                        DURATION_TEXT(s->request->max_pause_ns), head_pause_command(advice, s, ns));
        return EXIT_USAGE;
}

/* Of one moment, between two collections: stopped, if that is short enough, else while it runs. */
static bool try_copy(struct inspect_subject *s, struct heap_snapshot *n, struct heap_sample *x, bool with_written,
                     struct attempt *a, struct error *error)
{
        const bool stops = a->may_stop && !a->is_refused && copy_ns(a, bytes_to_copy(n, x)) <= s->request->max_pause_ns;
        const enum stopped stopped = stops ? stop_begin(s->pid, s->request->max_pause_ns, s->program, error) : STOPPED;
        struct heap_moment major = a->major;

        a->is_refused |= stopped == STOPPED_REFUSED;
        if (stopped == STOPPED && copy_moment(s, n, x, stops, with_written, error)) {
                s->copied = is_sample(x) ? n->bytes + x->read_bytes : n->heap_bytes;
                return true;
        }
        if (stops && (stopped == STOPPED_NOT || n->expired)) { /* the machine is busier than it was */
                a->ns_a_byte *= 2;
                a->may_stop = ++a->stops < STOPS_MOST;
        }
        /* what was read may still be set aside */
        if (!s->request->core && (n->before || (n->n_megablocks > 0 && major.program)) &&
            (heap_moment_is_past_major(&major) || (!n->before && !snapshot_settle(n))))
                snapshot_clear(n);
        return false;
}

/*
 * The heap, between two collections: in one stop where that is short, else most of it while the program runs. Where
 * major collections come too often for that, a sample (NULL: it would not do) that is soon copied.
 */
static int try_copies(struct inspect_subject *s, struct heap_snapshot *n, struct heap_sample *x, bool with_written,
                      struct error *error)
{
        const struct inspect_request *r = s->request;
        const bool lives = s->pid && !r->core;
        struct attempt a = { .may_stop = lives && !r->no_stop,
                             .ns_a_byte = NS_A_BYTE,
                             .until_ns = clock_mono_ns() + COPY_MOST_NS };
        uint64_t sample = r->sample_bytes, heap_bytes = 0;

        for (; is_worth_a_try(&a); a.tries++) {
                if (lives && !live_remap(s->program, s->pid))
                        return error_set(error, "process %ld has ended, or its memory map cannot be read",
                                         (long)s->pid),
                               EXIT_USAGE;
                const uint64_t began = clock_mono_ns();
                if (!n->before && !prepare_snapshot(s, n, x, sample, with_written ? REACH_QUARTERS : 5, error))
                        return EXIT_USAGE;
                if (heap_bytes == 0) /* to make room takes as long as to copy, of which a packed copy has half ready */
                        a.ns_a_byte = fmax(a.ns_a_byte, (double)(clock_mono_ns() - began) * (n->is_packed ? 2 : 1) /
                                                                (double)(bytes_to_copy(n, x) + 1));
                const bool is_first = heap_bytes == 0;
                heap_bytes = n->heap_bytes;
                const bool can_stop = a.may_stop && !a.is_refused;
                if (lives)
                        wait_for_moment(s, &a);
                if (lives && !n->before && !is_sample(x) &&
                    (copy_ns(&a, heap_bytes) > r->max_pause_ns || (!can_stop && !is_first))) {
                        if (is_first && !r->no_stop && !r->brief)
                                announce_copy(&a, n, r);
                        if (!copy_while_it_runs(s, n, &a, error)) {
                                if (x && a.tries >= WHOLE_TRIES) { /* its moments are too short for all of it */
                                        s->whole_ns = copy_ns(&a, heap_bytes);
                                        sample = u64_sat((double)r->max_pause_ns / a.ns_a_byte / 4) + SAMPLE_LEAST;
                                        snapshot_done(n);
                                }
                                pause_briefly();
                                continue;
                        }
                }
                if (try_copy(s, n, x, with_written, &a, error))
                        return EXIT_OK;
                if (!lives)
                        return EXIT_USAGE;
                if (is_sample(x) && n->expired) { /* a smaller one */
                        sample = (x->n_buffer * PIECE_BYTES + SAMPLE_LEAST) / 2;
                        release_copies(n, x);
                }
                pause_briefly();
                if (n->before)
                        (void)copy_while_it_runs(s, n, &a, error);
        }
        return explain_no_copy(s, &a, heap_bytes, error);
}

/* Unless EXIT_OK, there is nothing to be released. */
static int copy_heap(struct inspect_subject *s, struct heap_snapshot *n, struct heap_sample *x, bool with_written,
                     struct error *error)
{
        *n = (struct heap_snapshot){ .ghc = s->ghc };
        const int status = try_copies(s, n, x, with_written, error);

        if (status != EXIT_OK)
                release_copies(n, x);
        return status;
}

/* Of a heap that is too large, or if that is wanted, of a sample of it; what closures hold is not in a sample. */
static int answer_census(struct inspect_subject *s, struct error *error)
{
        const struct inspect_request *r = s->request;
        struct heap_snapshot n;
        struct heap_sample x = { .seed = r->seed ? r->seed : clock_wall_ns() / 1000u % SEED_MOST + 1 };
        int status = copy_heap(s, &n, r->arrays || r->by == BY_CONTENTS ? NULL : &x, false, error);

        if (status == EXIT_OK) {
                s->sample = is_sample(&x) ? &x : NULL;
                status = (r->arrays   ? show_arrays(s, &n, error)
                          : s->sample ? show_heap_sample(s, &n, &x, error)
                                      : show_heap(s, &n, error))
                                 ? EXIT_OK
                                 : EXIT_USAGE;
                snapshot_done(&n);
        }
        heap_sample_done(&x);
        return status;
}

/* With the bands of all that is in it, young closures too. */
static bool make_graph(struct heap_graph *g, struct inspect_subject *s, struct heap_snapshot *n, struct error *error)
{
        struct heap_contents contents = { .snapshot = n, .wanted = s->request->band };
        struct heap_census c = { .n = 0 }, all = { .contents = &contents };
        bool good;

        heap_census_count(&c, n);
        good = is_understood(s, &c, error) &&
               ((reach_all(g, n, &all) && !all.out_of_memory && heap_bands_of(&g->bands, &all, s->ghc, false) &&
                 heap_bands_add_contents(&g->bands, &all, s->ghc, false)) ||
                error_set(error, "out of memory; --memory gives it more"));
        heap_bands_sort_by_name(&g->bands);
        heap_contents_done(&contents);
        heap_census_done(&all);
        heap_census_done(&c);
        head_origin(&g->origin, s);
        return good;
}

/* heap_graph_done() in any case. */
static bool read_graph_file(struct heap_graph *g, const char *path, uint64_t most_bytes, struct error *error)
{
        struct error why = { "" };
        size_t size;
        uint8_t *bytes =
                files_read_whole(path, most_bytes, "it is larger than the inspection may be (--memory)", &size, &why);

        heap_graph_init(g);
        const bool good = bytes && graph_file_decode(g, bytes, size, most_bytes, &why);
        free(bytes);
        return good || error_set(error, "%.500s: %.600s", path, why.text);
}

/* What heap says of one. */
static bool answer_retained(const struct graph_subject *s, struct error *error)
{
        const struct inspect_request *r = s->request;

        return (r->by != BY_CONTENTS || error_set(error,
                                                  "--by contents is for a census: without a graph, --retained, "
                                                  "--since and --output")) &&
               show_graph(s, error) && (!r->output || graph_file_write(r->output, s->graph, error));
}

/* Also of the older graph that the request names. */
static bool answer_of_graph(const struct graph_subject *s,
                            bool (*answer)(const struct graph_subject *s, struct error *error), struct error *error)
{
        const char *path = s->request->since;
        struct graph_subject beside = *s;
        struct heap_graph since;

        heap_graph_init(&since);
        beside.since = path ? &since : NULL;
        const bool good =
                (!path || read_graph_file(&since, path, s->request->memory_bytes / 2, error)) && answer(&beside, error);
        heap_graph_done(&since);
        return good;
}

/* A verb's answer of a process or core file, by its graph. */
static int with_graph(struct inspect_subject *s, bool (*answer)(const struct graph_subject *s, struct error *error),
                      struct error *error)
{
        struct heap_snapshot n;
        struct heap_graph g;
        const struct graph_subject of = { .request = s->request, .graph = &g, .inspected = s };
        int status = copy_heap(s, &n, NULL, true, error);

        if (status != EXIT_OK)
                return status;
        heap_graph_init(&g);
        (void)setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE); /* the program runs, and may need the processor */
        const bool made = make_graph(&g, s, &n, error);
        snapshot_done(&n);
        status = made && answer_of_graph(&of, answer, error) ? EXIT_OK : EXIT_USAGE;
        heap_graph_done(&g);
        return status;
}

/* With `--once` it only finds out whether it can be watched. */
static int watch_process(struct inspect_subject *s, struct error *error)
{
        const struct inspect_request *r = s->request;

        if (r->once)
                return EXIT_OK;
        if (r->for_agent)
                (void)setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE); /* the program runs, and may need the processor */
        return (r->for_agent ? watch_for_agent : watch_heap)(STDOUT_FILENO, s->pid, s->ghc, r->memory_bytes, error)
                       ? EXIT_OK
                       : EXIT_USAGE;
}

static void report_profile(void *ctx, const struct stack_profile *so_far)
{
        (void)show_profile(ctx, so_far);
        (void)fflush(stdout);
}

/* As other programs read it, whatever is printed. */
static bool keep_profile(const struct inspect_subject *s, const struct stack_profile *p, struct error *error)
{
        struct inspect_request rows = *s->request;
        struct inspect_subject as_rows = *s;
        struct document d;

        document_open(&d);
        rows.rows = true;
        rows.json = false;
        rows.to = d.to;
        as_rows.request = &rows;
        const bool shown = d.to && show_profile(&as_rows, p);
        const int r = !document_close(&d) || !shown ? -ENOMEM
                      : d.size > KEPT_MOST          ? -EFBIG
                                                    : whole_file_write(rows.keep, d.text, d.size);
        document_done(&d);
        return r == 0 || error_set(error, "%.500s: the profile cannot be kept: %s", rows.keep, strerror(-r));
}

static int profile_of_process(struct inspect_subject *s, struct error *error)
{
        const struct inspect_request *r = s->request;
        const struct profiling how = { r->for_ns,  r->hz,           r->allocation,
                                       r->waiting, r->max_pause_ns, r->rows ? report_profile : NULL,
                                       s };
        struct stack_profile p;

        if (r->output && !profile_file_check(r->output, error))
                return EXIT_USAGE;
        stack_profile_init(&p);
        p.by_thread = r->by_thread;
        const enum stopped end = profile_process(&p, s->ghc, s->pid, &how, error);
        const bool good = end == STOPPED && show_profile(s, &p) && (!r->keep || keep_profile(s, &p, error)) &&
                          (!r->output || profile_file_write(r->output, &p, program_own_file(s->program), error));
        stack_profile_done(&p);
        return end == STOPPED_REFUSED ? INSPECT_REFUSED : good ? EXIT_OK : EXIT_USAGE;
}

static const struct verb {
        const char *name;
        int (*answer)(struct inspect_subject *s, struct error *error);     /* NULL: by a graph, always */
        bool (*graph)(const struct graph_subject *s, struct error *error); /* NULL: it needs the program */
        const char *not_of_core;                                           /* why; NULL: it is of a core file, too */
} verbs[] = {
        { "threads", answer_threads, NULL, NULL },
        { "heap", answer_census, answer_retained, NULL },
        { "why", NULL, show_why, NULL },
        { "profile", profile_of_process, NULL,
          "a core file uses no CPU time; `heapwatch threads` has where its threads were" },
        { "watch", watch_process, NULL, "a core file does not change; `heapwatch heap` has what is in it" },
};

/* ------------------------------------------------------------------------- subjects */

static bool is_collecting(const struct program *p)
{
        struct generations now;
        struct error unused;

        return generations_find(&now, p, &unused) && generations_collecting(&now);
}

/* A program that runs (`pid`; 0: a core file) is tried several times: what is to be found may be moving, or to come. */
static bool find_heap(struct ghc *g, struct program *p, const char *what, pid_t pid, struct error *error)
{
        struct error why = { "" };

        for (int tries = 0, moving = 0; !ghc_find(g, p, &why);) {
                if (pid && moving < MOVING_TRIES && is_collecting(p))
                        moving++;
                else if (!pid || tries++ == FIND_TRIES)
                        return error_set(error, "%.300s: %.600s", what, why.text);
                pause_briefly();
                if (!live_remap(p, pid))
                        return error_set(error, "%.300s has ended, or its memory map cannot be read", what);
        }
        return true;
}

/* Of an opened process or core file, which `what` names. */
static int inspect_program(struct inspect_subject *s, const struct verb *v, const char *what, struct error *error)
{
        const struct inspect_request *r = s->request;
        struct known_code known;
        struct ghc g;
        int status = EXIT_USAGE;

        known_code_read(&known, s->program);
        if (find_heap(&g, s->program, what, r->pid, error)) {
                s->ghc = &g;
                status = v->graph && (!v->answer || r->retained || r->output || r->since)
                                 ? with_graph(s, v->graph, error)
                                 : v->answer(s, error);
                s->ghc = NULL;
                ghc_done(&g);
        }
        known_code_done(&known);
        return status;
}

static int inspect_core(const struct inspect_request *r, const struct verb *v, struct error *error)
{
        struct core c;
        int status = EXIT_USAGE;

        if (!core_open(&c, r->core, error))
                return EXIT_USAGE;
        struct inspect_subject s = {
                .request = r, .verb = v->name, .program = &c.program, .pid = c.pid, .missing = c.missing
        };
        if (v->not_of_core)
                (void)error_set(error, "%s", v->not_of_core);
        else
                status = inspect_program(&s, v, r->core, error);
        if (status != EXIT_OK && c.missing) {
                const struct error why = *error;
                (void)error_set(error, "%.700s; it was cut off, %s is missing", why.text, BYTES_TEXT(c.missing));
        }
        core_close(&c);
        return status;
}

static int inspect_process(const struct inspect_request *r, const struct verb *v, struct error *error)
{
        struct live l;
        const enum opened opened = live_open(&l, r->pid, error);
        struct inspect_subject s = { .request = r, .verb = v->name, .program = &l.program, .pid = r->pid };
        char name[32];

        if (opened != OPENED)
                return opened == OPENED_REFUSED ? INSPECT_REFUSED : EXIT_USAGE;
        (void)snprintf(name, sizeof(name), "process %ld", (long)r->pid);
        const int status = inspect_program(&s, v, name, error);
        live_close(&l);
        return status;
}

static bool inspect_graph(const struct inspect_request *r, const struct verb *v, struct error *error)
{
        struct heap_graph g;
        const struct graph_subject s = { .request = r, .graph = &g };

        if (r->arrays)
                return error_set(error, "%.300s has no contents to compare: --arrays needs the program, or a core file",
                                 r->core);
        if (!v->graph)
                return error_set(error, "%.300s is a heap graph: `heapwatch heap` and `why` read it", r->core);
        const bool good =
                read_graph_file(&g, r->core, r->memory_bytes / 2, error) && answer_of_graph(&s, v->graph, error);
        heap_graph_done(&g);
        return good;
}

/* ---------------------------------------------------------------------------- main */

static void set_limits(const struct words *w)
{
        const uint64_t ns = w->time_ns + (strcmp(w->what, "profile") ? 0 : w->request.for_ns);
        const rlim_t seconds = (rlim_t)(ns / 1000000000u) + 1;
        const struct rlimit memory = { w->request.memory_bytes, w->request.memory_bytes };
        const struct rlimit cpu = { seconds, seconds + 1 }, none = { 0, 0 };

        if (strcmp(w->what, "watch") != 0) /* which lasts as long as the program, and rests by itself */
                (void)setrlimit(RLIMIT_CPU, &cpu);
        available_yield();
        (void)setrlimit(RLIMIT_CORE, &none); /* it holds another program's data */
        (void)prctl(PR_SET_DUMPABLE, 0);
#if !defined(__SANITIZE_ADDRESS__)
        (void)setrlimit(RLIMIT_AS, &memory);
#else
        (void)memory; /* its shadow is larger than any limit */
#endif
}

static int run_verb(void *filled)
{
        struct words *w = filled;
        struct error error = { "" };
        const struct verb *v = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
                if (!strcmp(verbs[i].name, w->what))
                        v = &verbs[i];
        const bool makes = !strcmp(w->what, "signatures"), finds = !strcmp(w->what, "symbols");
        if (makes && (w->pid || w->request.core || w->libraries.n == 0))
                return command_usage_error(&command, "expected libraries after `signatures`");
        if (makes && !w->request.output)
                return command_usage_error(&command, "--output is missing: the file that has the signatures then");
        if (finds && (w->pid || !w->request.core || w->libraries.n == 0))
                return command_usage_error(&command, "expected --file PROGRAM, and names after `symbols`");
        if (!makes && !finds && (!v || !!w->pid == !!w->request.core || w->libraries.n > 0))
                return command_usage_error(&command, "expected a verb, and --pid or --file");
        if (w->request.allocation && w->request.waiting)
                return command_usage_error(&command, "--allocation does not go with --waiting");
        w->request.pid = (pid_t)w->pid;
        w->request.to = stdout;
        if (!w->request.memory_bytes) {
                w->request.memory_bytes = available_bytes();
                if (w->request.memory_bytes < MEMORY_LEAST)
                        w->request.memory_bytes = MEMORY_LEAST;
        }
        set_limits(w);
        const struct inspect_request *r = &w->request;
        bool good = true;
        int status = EXIT_OK;
        if (makes)
                good = make_signatures(r->output, w->libraries.items, w->libraries.n, &error);
        else if (finds)
                good = show_symbols(r->core, w->libraries.items, w->libraries.n, stdout, &error);
        else if (r->output && v->graph && !graph_file_check(r->output, &error))
                good = false;
        else if (r->core && graph_file_is(r->core))
                good = inspect_graph(r, v, &error);
        else
                status = r->core ? inspect_core(r, v, &error) : inspect_process(r, v, &error);
        status = good ? status : EXIT_USAGE;
        if (status == INSPECT_REFUSED)
                permission_refused(r->pid, &error);
        if (status != EXIT_OK)
                (void)fprintf(stderr, "%s\n", error.text[0] ? error.text : "out of memory");
        return status;
}

static const char *const groupings[] = { "name", "type", "contents", NULL };

static const struct option options[] = {
        OPERAND_TEXT("threads|heap|why|profile|watch|signatures|symbols", struct words, what, COMPLETE_NOTHING, NULL),
        OPERAND_LIST("LIBRARY|NAME", 0, struct words, libraries, COMPLETE_FILE, NULL),
        OPTION_NUMBER("pid", 0, uint64_t, struct words, pid, 1, INT32_MAX, "a process of this machine"),
        OPTION_TEXT("file", 0, "FILE", struct words, request.core, COMPLETE_FILE,
                    "a core file, or a graph that heap has written"),
        OPTION_TEXT("since", 0, "FILE", struct words, request.since, COMPLETE_FILE, "of heap and why: an older graph"),
        OPTION_FLAG("retained", 0, struct words, request.retained, "of heap: what would go with each type"),
        OPTION_BYTES("sample", 0, struct words, request.sample_bytes, 16 << 20,
                     "of heap: read no more of the heap, and estimate the rest; by itself where it is too large"),
        OPTION_NUMBER("seed", 0, uint64_t, struct words, request.seed, 1, UINT32_MAX, "of heap: of the sample"),
        OPTION_FLAG("arrays", 0, struct words, request.arrays, "of heap: byte arrays by size, and which are equal"),
        OPTION_FLAG("show-values", 0, struct words, request.show_values,
                    "of heap with --arrays, as text: also what equal arrays begin with"),
        OPTION_JSON(struct words, request.json, "text (default), or one object"),
        OPTION_FLAG("all", 'a', struct words, request.all, "one by one"),
        OPTION_FLAG("brief", 0, struct words, request.brief,
                    "of why: one sentence; of threads: the largest groups, few members of each"),
        OPTION_FLAG("no-stop", 0, struct words, request.no_stop, "read the program while it runs"),
        OPTION_FLAG("by-thread", 0, struct words, request.by_thread, "of profile: stacks begin with their thread"),
        OPTION_FLAG("allocation", 0, struct words, request.allocation,
                    "of profile: by bytes that Haskell threads allocate, in place of CPU time; without --waiting"),
        OPTION_FLAG("waiting", 0, struct words, request.waiting,
                    "of profile: also what Haskell threads wait for, as a tree of its own"),
        OPTION_FLAG("rows", 0, struct words, request.rows,
                    "of profile: the tree as rows, each second, for other programs"),
        OPTION_TEXT("keep", 0, "FILE", struct words, request.keep, COMPLETE_FILE,
                    "of profile: also write it as --rows has it"),
        OPTION_FLAG("once", 0, struct words, request.once, "of watch: only find out whether it can be watched"),
        OPTION_FLAG("for-agent", 0, struct words, request.for_agent,
                    "of watch: only censuses, given to the agent in the program, on whose socket standard output is"),
        OPTION_NUMBER("frames", 0, unsigned, struct words, request.frames, 0, THREAD_FRAMES, "frames of each stack"),
        OPTION_TEXT("band", 0, "NAME", struct words, request.band, COMPLETE_NOTHING, "of why: the type in question"),
        OPTION_BYTES("band-bytes", 0, struct words, request.band_bytes, 1,
                     "of why with --brief: what the last census had of it; a tenth of that is no answer"),
        OPTION_CHOICE("by", 0, "name|type|contents", unsigned, struct words, request.by, groupings, "what a band is"),
        OPTION_NUMBER("top", 0, unsigned, struct words, request.top, 1, 100000, "bands shown"),
        OPTION_DURATION("for", 0, struct words, request.for_ns, 100000000, UINT64_C(3600000000000),
                        "of profile: how long samples are taken"),
        OPTION_NUMBER("hz", 0, unsigned, struct words, request.hz, 1, 1000, "of profile: samples a second"),
        OPTION_TEXT("output", 0, "FILE", struct words, request.output, COMPLETE_FILE,
                    "of profile and heap: also write it; the suffix is the format; of signatures: what is written"),
        OPTION_DURATION("max-pause", 0, struct words, request.max_pause_ns, 1000000, INSPECT_PAUSE_MOST_NS,
                        "how long the program may be stopped"),
        OPTION_BYTES("memory", 0, struct words, request.memory_bytes, 64 << 20,
                     "address space that may be needed (default: what is available, at least 4GiB)"),
        OPTION_DURATION("time", 0, struct words, time_ns, 1000000000, UINT64_C(3600000000000),
                        "CPU time that may be needed"),
        OPTIONS_END,
};

static const struct command command = {
        .program = "heapwatch-inspect",
        .summary = "reads the memory of a GHC-compiled program from outside; `heapwatch threads` starts it",
        .usage = (const char *const[]){ "threads|heap|why|profile --pid N|--file CORE [OPTION]...",
                                        "heap|why --file GRAPH [OPTION]...", "watch --pid N [OPTION]...",
                                        "signatures --output FILE LIBRARY...", "symbols --file PROGRAM NAME...", NULL },
        .options = options,
        .size = sizeof(struct words),
        .defaults = &(const struct words){ .request = { .frames = 12,
                                                        .top = 25,
                                                        .max_pause_ns = 1000000000,
                                                        .for_ns = UINT64_C(30000000000),
                                                        .hz = 99 },
                                           .time_ns = UINT64_C(300000000000) },
        .run = run_verb,
};

static void print_version_details(FILE *to)
{
        const struct library_version libc = { "libc", gnu_get_libc_version() };

        version_print_details(to, &(struct version_details){ .commit = HEAPWATCH_COMMIT,
                                                             .libraries = &libc,
                                                             .n_libraries = 1,
                                                             .ghc = "heaps of " GHC_RELEASES });
}

int main(int argc, char **argv)
{
        command_standard_descriptors();
        command_set_up();
        version_print_more = print_version_details;
        if (argc > 1 && !strcmp(argv[1], "--man")) { /* the options in heapwatch-inspect(1) */
                help_print_man(stdout, &command);
                return command_exit("heapwatch-inspect", EXIT_OK);
        }
        return command_exit("heapwatch-inspect", command_main(&command, argc, argv));
}

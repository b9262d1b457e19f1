/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspect.c - `heapwatch threads`, `heap`, `why` and `profile`: what another program has in memory and does, read by
 * heapwatch-inspect.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "client/cli/inspecting.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/commands/inspect_subject.h"
#include "client/world/feed/locate.h"
#include "proto/base/number_text.h"
#include "proto/base/clock.h"
#include "proto/base/sibling.h"

#define ARGUMENTS_MOST 32
#define NUMBER_BYTES   24
#define SPARE_NS       UINT64_C(120000000000) /* by the clock, beside the CPU time: the machine may be busy */

#define BY_CONTENTS 2 /* of groupings */

static const char *const groupings[] = { "name", "type", "contents", NULL }, *const roots[] = { "function", "thread",
                                                                                                NULL };

struct request {
        const struct command *command;
        const char *what, *band, *endpoint;
        bool json, brief, all, no_stop, by_thread;
        unsigned by;                                               /* of groupings */
        uint64_t frames, top, max_pause_ns, memory_bytes, time_ns; /* memory: 0 for what is available */
        uint64_t sample_bytes, seed;                               /* 0: none is wanted */
        uint64_t for_ns, hz;                                       /* 0: not of this command */
        const char *output, *since;
        bool retained, arrays, show_values, allocation, waiting, keep;
        char kept[RECORDED_PATH_MAX]; /* the file of a profile that is kept */
};

#define OPERAND_SUBJECT OPERAND_TEXT("TARGET|PID|CORE", struct request, what, COMPLETE_TARGET_OR_FILE, NULL)

#define OPTIONS_OF_LIMITS                                                                                              \
        OPTION_DURATION("max-pause", 0, struct request, max_pause_ns, 1000000, INSPECT_PAUSE_MOST_NS,                  \
                        "stop it for no longer; a heap that needs more is read while it runs (default 1s)"),           \
                OPTION_FLAG("no-stop", 0, struct request, no_stop, "read while it runs, and check what was read"),     \
                OPTION_BYTES("memory", 0, struct request, memory_bytes, 64 << 20,                                      \
                             "most that the inspection may need (default: what is available)"),                        \
                OPTION_DURATION("time", 0, struct request, time_ns, 1000000000, UINT64_C(3600000000000),               \
                                "most CPU time that the inspection may need (default 5m)"),                            \
                OPTION_CONNECT_ONE(struct request, endpoint, "the daemon that has TARGET")

#define STATUS "0, 2 when the program cannot be inspected."

/* What these commands have in common; `c` shows `t` rows. */
#define COMMAND_OF(c, t)                                                                                               \
        .status = STATUS, .size = sizeof(struct request), .run = run_inspect, .defaults = &(const struct request)      \
        {                                                                                                              \
                .command = &(c), .frames = 12, .top = (t), .max_pause_ns = 1000000000,                                 \
                .time_ns = UINT64_C(300000000000)                                                                      \
        }

/* ------------------------------------------------------------------- its arguments */

struct arguments {
        const char *items[ARGUMENTS_MOST];
        char numbers[ARGUMENTS_MOST][NUMBER_BYTES];
        size_t n;
};

static void add_argument(struct arguments *a, const char *text)
{
        if (a->n + 1 < ARGUMENTS_MOST)
                a->items[a->n++] = text;
}

static void add_number(struct arguments *a, const char *option, uint64_t value, const char *unit)
{
        add_argument(a, option);
        (void)snprintf(a->numbers[a->n], NUMBER_BYTES, "%" PRIu64 "%s", value, unit);
        add_argument(a, a->numbers[a->n]);
}

/* NULL: it was not given. */
static void add_text(struct arguments *a, const char *option, const char *text)
{
        if (!text)
                return;
        add_argument(a, option);
        add_argument(a, text);
}

static void add_flag(struct arguments *a, const char *option, bool given)
{
        if (given)
                add_argument(a, option);
}

static void fill_arguments(struct arguments *a, const struct request *r, const struct inspectee *s)
{
        add_argument(a, "heapwatch-inspect");
        add_argument(a, r->command->name);
        if (s->file)
                add_text(a, "--file", s->file);
        else
                add_number(a, "--pid", (uint64_t)s->pid, "");
        add_text(a, "--format", r->json ? "json" : "text");
        add_flag(a, "--all", r->all);
        add_flag(a, "--no-stop", r->no_stop);
        add_flag(a, "--brief", r->brief);
        add_number(a, "--frames", r->frames, "");
        add_number(a, "--top", r->top, "");
        add_text(a, "--by", groupings[r->by]);
        add_text(a, "--band", r->band ? r->band : s->band[0] ? s->band : NULL);
        if (r->brief && !r->band && s->band_bytes)
                add_number(a, "--band-bytes", s->band_bytes, "");
        if (r->for_ns) {
                add_number(a, "--for", r->for_ns / 1000000, "ms");
                add_number(a, "--hz", r->hz, "");
        }
        add_flag(a, "--by-thread", r->by_thread);
        add_flag(a, "--allocation", r->allocation);
        add_flag(a, "--waiting", r->waiting);
        add_text(a, "--keep", r->keep ? r->kept : NULL);
        add_text(a, "--output", r->output);
        add_text(a, "--since", r->since);
        add_flag(a, "--retained", r->retained);
        add_flag(a, "--arrays", r->arrays);
        add_flag(a, "--show-values", r->show_values);
        if (r->sample_bytes)
                add_number(a, "--sample", r->sample_bytes, "");
        if (r->seed)
                add_number(a, "--seed", r->seed, "");
        add_number(a, "--max-pause", r->max_pause_ns / 1000000, "ms");
        if (r->memory_bytes)
                add_number(a, "--memory", r->memory_bytes, "");
        add_number(a, "--time", r->time_ns / 1000000, "ms");
}

/* What a census cannot show is most of its memory: that comes first. */
static void print_foreign(const struct request *r, const struct inspectee *s)
{
        if (r->command != &command_heap || r->json || s->foreign_bytes <= s->resident_bytes / 2)
                return;
        printf("%s of %s resident is foreign memory (malloc, C code, mmap), which is not in its heap: heaptrack or "
               "bpftrace shows who allocates it\n\n",
               BYTES_TEXT(s->foreign_bytes), BYTES_TEXT(s->resident_bytes));
        (void)fflush(stdout); /* the census comes from another process */
}

static int run_inspect(void *filled)
{
        struct request *r = filled;
        struct arguments a = { .n = 0 };
        struct inspectee s;
        struct error error = { "" };
        enum inspector_end end = INSPECTOR_FAILED;

        if (r->arrays && (r->retained || r->since || r->output || r->by))
                return command_usage_error(r->command,
                                           "--arrays is for arrays alone, without --retained, --since, --output and "
                                           "--by");
        if (r->show_values && (!r->arrays || r->json || !isatty(STDOUT_FILENO)))
                return command_usage_error(r->command,
                                           "--show-values shows data of the program, on a terminal alone: with "
                                           "--arrays, as text, and not into a file or a pipe");
        if (r->by == BY_CONTENTS && (r->retained || r->since || r->output))
                return command_usage_error(r->command,
                                           "--by contents is for a census, without --retained, --since and "
                                           "--output");
        if (r->sample_bytes && (r->by == BY_CONTENTS || r->arrays || r->retained || r->since || r->output))
                return command_usage_error(r->command,
                                           "--sample is for bytes and closures of types, without --by contents, "
                                           "--arrays, --retained, --since and --output");
        if (r->allocation && r->waiting)
                return command_usage_error(r->command,
                                           "--allocation shows bytes and --waiting time: make a profile for each");
        signals_catch(false);
        bool found = subject_find(&s, r->what, r->endpoint, &error);
        if (found && r->command == &command_threads && s.labels[0])
                (void)setenv(INSPECT_LABELS, s.labels, true); /* arguments are shown to every user of the machine */
        if (found && r->command == &command_why && !r->band && s.foreign)
                found = error_set(&error,
                                  "memory outside its heap grows, which no type of the heap keeps: C code that the "
                                  "program calls allocates it");
        if (found && r->keep)
                found = locate_new_profile(&(struct locate){ .endpoint = r->endpoint }, r->what, clock_wall_ns(),
                                           r->kept, &error);
        if (found) {
                fill_arguments(&a, r, &s);
                print_foreign(r, &s);
                if (r->for_ns && isatty(STDERR_FILENO))
                        (void)fprintf(stderr, "taking samples for %s; Ctrl-C ends it before\n",
                                      DURATION_TEXT(r->for_ns));
                end = inspector_run(&(struct inspection){ .arguments = a.items,
                                                          .most_ns = r->time_ns + r->for_ns + SPARE_NS,
                                                          .may_finish = r->for_ns > 0,
                                                          .to = stdout },
                                    &error);
        }
        if (end != INSPECTOR_GOOD)
                command_error(r->command, "%s", error.text);
        else if (r->keep && isatty(STDERR_FILENO))
                (void)fprintf(stderr, "kept: heapwatch report recording:%s\n", r->what);
        (void)fflush(stdout); /* what an interrupted profile has */
        signals_die();
        return end == INSPECTOR_GOOD ? EXIT_OK : EXIT_USAGE;
}

/* ------------------------------------------------------------------------- commands */

static const struct option options_of_threads[] = {
        OPERAND_SUBJECT,
        OPTION_JSON(struct request, json, "text (default), or one object"),
        OPTION_FLAG("all", 'a', struct request, all, "one by one, in the order of their numbers"),
        OPTION_NUMBER("frames", 'n', uint64_t, struct request, frames, 0, 64, "frames shown of a stack (default 12)"),
        OPTIONS_OF_LIMITS,
        OPTIONS_END,
};

const struct command command_threads = {
        .name = "threads",
        .summary = "what the threads of a running program wait for, and where",
        .usage = TEXTS("TARGET|PID|CORE [OPTION]..."),
        .about = "Shows the Haskell threads of a program that was not prepared for it: what each does or waits "
                 "for, how deep its stack is, and the functions on top of it, those of C first where it is in a "
                 "foreign call. Threads with the same state and stack are one group; the main thread comes first, then "
                 "the largest group. TARGET "
                 "is the name of a GHC-compiled program that "
                 "runs here, or of a target of your daemon; CORE the core file of one that crashed, also compressed "
                 "by gzip or zstd, or coredump:PROGRAM or coredump:PID of what systemd keeps.\n\n"
                 "The program is stopped for the few milliseconds in which its stacks are copied, and continues "
                 "whatever happens to this command. Labels are of the program (GHC 9.6 and later) or of a target's "
                 "log. docs/INSIDE.md says what "
                 "is needed and how true it is.",
        .options = options_of_threads,
        .examples = TEXTS("heapwatch threads my-server", "heapwatch threads 4711 --all --frames 40",
                          "heapwatch threads core.4711", "heapwatch threads coredump:my-server",
                          "heapwatch threads my-server --format json | jq '.groups[0]'"),
        COMMAND_OF(command_threads, 25),
};

#define OPERAND_SUBJECT_OR_GRAPH                                                                                       \
        OPERAND_TEXT("TARGET|PID|CORE|GRAPH", struct request, what, COMPLETE_TARGET_OR_FILE, NULL)

static const struct option options_of_heap[] = {
        OPERAND_SUBJECT_OR_GRAPH,
        OPTION_FLAG("retained", 'r', struct request, retained, "sort by what would go with each type, and show roots"),
        OPTION_FLAG("arrays", 0, struct request, arrays,
                    "instead of types: byte arrays (ByteString, Text, unboxed arrays) by size, and how many are equal"),
        OPTION_FLAG(
                "show-values", 0, struct request, show_values,
                "with --arrays: also what equal arrays begin with; only on a terminal, for it is the program's data"),
        OPTION_TEXT("since", 0, "GRAPH", struct request, since, COMPLETE_FILE,
                    "show what each type has gained since this file was written"),
        OPTION_TEXT("output", 'o', "FILE", struct request, output, COMPLETE_FILE,
                    "also write who holds what, as FILE.heapgraph, or .heapsnapshot for Chromium's developer tools"),
        OPTION_BYTES(
                "sample", 0, struct request, sample_bytes, 16 << 20,
                "read no more of a larger heap, chosen at random, and estimate the rest, with 95 % intervals (default: "
                "256MiB where --memory is not enough for all)"),
        OPTION_NUMBER("seed", 0, uint64_t, struct request, seed, 1, UINT32_MAX,
                      "choose the sample that was chosen with this number"),
        OPTION_JSON(struct request, json, "text (default), or one object with all bands"),
        OPTION_CHOICE("by", 0, "name|type|contents", unsigned, struct request, by, groupings,
                      "functions and thunks by name (default), or as -hT has them; or each by what it holds, such as "
                      "[Session], Map Text Session"),
        OPTION_NUMBER("top", 'n', uint64_t, struct request, top, 1, 100000, "bands shown (default 25)"),
        OPTIONS_OF_LIMITS,
        OPTIONS_END,
};

const struct command command_heap = {
        .name = "heap",
        .summary = "what is in the heap of a running program, by type",
        .usage = TEXTS("TARGET|PID|CORE|GRAPH [OPTION]..."),
        .about =
                "Takes a census of the heap of a program that was not prepared for it: bytes and closures of each "
                "type, the largest first, with the full names of constructors also where the program is stripped; "
                "and what pinned blocks hold. TARGET is the name of a GHC-compiled program that runs here, or of "
                "a target of your daemon; CORE the core file of one that crashed, also compressed by gzip or zstd, or "
                "coredump:PROGRAM or coredump:PID of what systemd keeps.\n\n"
                "With --retained, --since or --output it also finds out who holds what: RETAINS is what would go "
                "with all closures of a type, UNREACHED what no root holds. GRAPH is a file that --output has "
                "written; `heapwatch why` reads it, too. --arrays finds what is there more than once, such as equal "
                "strings.\n\n"
                "The program is stopped while its heap is copied, some 100 ms for 100 MB, or not at all with "
                "--no-stop; the inspection needs as much memory as the heap, and three times as much to "
                "find out who holds what. A heap that is too large for that is estimated from a sample of its blocks, "
                "chosen at random, with 95 % intervals. No contents are shown without --show-values, and none are ever "
                "written. docs/INSIDE.md says what is needed and how true it is.",
        .options = options_of_heap,
        .examples =
                TEXTS("heapwatch heap my-server", "heapwatch heap my-server --retained",
                      "heapwatch heap my-server --by contents", "heapwatch heap my-server --arrays",
                      "heapwatch heap my-server --sample 1GiB", "heapwatch heap my-server -o monday.heapgraph",
                      "heapwatch heap my-server --since monday.heapgraph",
                      "heapwatch heap my-server -o my-server.heapsnapshot", "heapwatch heap 4711 --no-stop --top 50",
                      "heapwatch heap core.4711 --by type", "heapwatch heap my-server --format json | jq '.bands[0]'"),
        COMMAND_OF(command_heap, 25),
};

static const struct option options_of_why[] = {
        OPERAND_SUBJECT_OR_GRAPH,
        OPERAND(OPTION_IS_TEXT, "BAND", const char *, 0, 1, struct request, band, COMPLETE_NOTHING, NULL),
        OPTION_JSON(struct request, json, "text (default), or one object"),
        OPTION_FLAG("brief", 0, struct request, brief, "one sentence: the largest holder, its share, its path"),
        OPTION_NUMBER("top", 'n', uint64_t, struct request, top, 1, 100000, "paths shown (default 10)"),
        OPTION_TEXT("since", 0, "GRAPH", struct request, since, COMPLETE_FILE,
                    "show what each path and root has gained since this file was written"),
        OPTIONS_OF_LIMITS,
        OPTIONS_END,
};

const struct command command_why = {
        .name = "why",
        .summary = "what keeps a type of a program's heap alive",
        .usage = TEXTS("TARGET|PID|CORE|GRAPH [BAND] [OPTION]..."),
        .about = "Shows why closures of a type are kept: the shortest paths from them to the roots, as paths of "
                 "types, with the share of the type that is kept on each; the roots, which are top-level values "
                 "(CAFs) by name, threads and stable pointers; and for the largest roots what nothing else "
                 "holds, and how much would go with each. BAND is a type as `heapwatch heap` has it, or a part of "
                 "its name, or what `heapwatch heap --by contents` calls a part of it, such as '[Session]'; the "
                 "default is what grows most where the daemon knows that, else the largest. TARGET "
                 "is the name of a target of your daemon, or of a GHC-compiled program that runs here; CORE the core "
                 "file of one that crashed; GRAPH a file that `heapwatch heap -o FILE.heapgraph` has written.\n\n"
                 "Of byte arrays (ARR_WORDS) it also says how many slices of ByteString and Text use less than half of "
                 "the arrays that they keep.\n\n"
                 "The program is stopped while its heap is copied, as by `heapwatch heap`; the inspection needs "
                 "three times as much memory as the heap. docs/INSIDE.md says what is needed and how true "
                 "it is.",
        .options = options_of_why,
        .examples = TEXTS("heapwatch why my-server", "heapwatch why my-server Session",
                          "heapwatch why my-server '[Session]'", "heapwatch why my-server --brief --max-pause 50ms",
                          "heapwatch why core.4711 ByteArray#", "heapwatch why monday.heapgraph Session",
                          "heapwatch why my-server Session --since monday.heapgraph"),
        COMMAND_OF(command_why, 10),
};

static const struct option options_of_profile[] = {
        OPERAND_TEXT("TARGET|PID", struct request, what, COMPLETE_TARGET, NULL),
        OPTION_DURATION("for", 0, struct request, for_ns, 100000000, UINT64_C(3600000000000),
                        "how long samples are taken (default 30s); Ctrl-C ends it before"),
        OPTION_CHOICE("by", 0, "function|thread", bool, struct request, by_thread, roots,
                      "stacks begin with the outermost function (default), or with their thread"),
        OPTION_FLAG("allocation", 0, struct request, allocation,
                    "by the bytes that Haskell threads allocate, in place of CPU time; without --waiting"),
        OPTION_FLAG("waiting", 'w', struct request, waiting,
                    "also what Haskell threads wait for, and where, apart from CPU time"),
        OPTION_NUMBER("hz", 0, uint64_t, struct request, hz, 1, 1000,
                      "samples a second of each OS thread that runs (default 99)"),
        OPTION_TEXT("output", 'o', "FILE", struct request, output, COMPLETE_FILE,
                    "also write the profile, as FILE.collapsed, .speedscope.json, .svg or .pb.gz says"),
        OPTION_FLAG("keep", 'k', struct request, keep,
                    "also keep it with the recording of TARGET's run, for `heapwatch report recording:TARGET`"),
        OPTION_JSON(struct request, json, "text (default), or one object with all functions and the tree"),
        OPTION_NUMBER("top", 'n', uint64_t, struct request, top, 1, 100000, "functions shown (default 20)"),
        OPTION_DURATION("max-pause", 0, struct request, max_pause_ns, 1000000, INSPECT_PAUSE_MOST_NS,
                        "let a thread run again after this time, without a sample (default 5ms)"),
        OPTION_BYTES("memory", 0, struct request, memory_bytes, 64 << 20,
                     "most that the inspection may need (default: what is available)"),
        OPTION_CONNECT_ONE(struct request, endpoint, "the daemon that has TARGET"),
        OPTIONS_END,
};

const struct command command_profile = {
        .name = "profile",
        .summary = "which functions of a running program use CPU time, or allocate",
        .usage = TEXTS("TARGET|PID [OPTION]..."),
        .about =
                "Takes samples of the stacks of a program that was not prepared for it, each weighted by the CPU time "
                "that its thread used since the one before, and shows the functions by their own time and the tree of "
                "their callers. TARGET is the name of a GHC-compiled program that runs here, or of a target of your "
                "daemon.\n\n"
                "For a sample one thread is stopped for some 50 us; one that waits is not. What is in garbage "
                "collection or in C code outside of Haskell is shown as such; C functions that Haskell calls are below "
                "their callers. A function without a symbol is shown by its module and the function behind it in the "
                "file, in a stripped program by its place. "
                "docs/INSIDE.md says what is needed and how true it is.\n\n"
                "--waiting shows what Haskell threads wait for, and in which functions, as a tree of its own, with the "
                "number of threads on average. They are read while they wait: nothing is stopped for it.\n\n"
                "--allocation shows which functions allocate. A sampled thread is stopped again after 0.1 ms, and the "
                "sample is weighted by what it allocated in between: functions that take turns more quickly than that "
                "share it by their CPU time.",
        .options = options_of_profile,
        .examples = TEXTS("heapwatch profile my-server", "heapwatch profile 4711 --for 10s -o my-server.svg",
                          "heapwatch profile my-server -o my-server.speedscope.json",
                          "heapwatch profile my-server --by thread",
                          "heapwatch profile my-server --allocation -o my-server.svg",
                          "heapwatch profile my-server --keep && heapwatch report recording:my-server",
                          "heapwatch profile my-server --waiting -o my-server.pb.gz",
                          "heapwatch profile my-server --format json | jq '.functions[:5]'"),
        .status = STATUS,
        .size = sizeof(struct request),
        .run = run_inspect,
        .defaults = &(const struct request){ .command = &command_profile,
                                             .top = 20,
                                             .for_ns = UINT64_C(30000000000),
                                             .hz = 99,
                                             .max_pause_ns = 5000000,
                                             .time_ns = UINT64_C(60000000000) },
};

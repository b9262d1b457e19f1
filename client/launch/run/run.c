/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heapwatch run - the command: options, then in order: choose the way of
 * watching (the agent; else from outside; else the process alone), find the
 * daemon, add the target, run, sum up. A program that cannot be watched runs as
 * if it had been started without us: after one sentence that says why, it
 * replaces this process. Nothing waits for standard error to be read; only why a
 * program does not start is written as other commands write it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "client/launch/program/agent_fit.h"
#include "client/launch/program/inquire.h"
#include "client/launch/run/run_private.h"
#include "client/launch/run/session.h"
#include "proto/base/agent_socket.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/labels.h"
#include "proto/base/run_life.h"

#define WAIT_MS 1000 /* for the daemon, while the program waits to be started */
#define READ_MS 1000 /* for somebody to read the last notices, when the program has ended */

/* ---------------------------------------------------------------- options */

static bool name_valid(const char *name)
{
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
        size_t n = strlen(name);

        return n > 0 && n < DAEMON_NAME_MAX && strspn(name, letters) == n && name[0] != '.' && name[0] != '-';
}

static const struct option options[] = {
        OPERAND_REST("PROGRAM [ARGUMENT]...", struct run_options, program, COMPLETE_PROGRAM, NULL),
        OPTION_TEXT("name", 0, "NAME", struct run_options, name, COMPLETE_NOTHING,
                    "name of the target (default: PROGRAM's file name, or that of the program below a wrapper)"),
        OPTION_FLAG("no-top", 0, struct run_options, no_top,
                    "no screen: standard input, output and error stay PROGRAM's own; so it is, without --plain, where "
                    "standard input or output is not a terminal"),
        OPTION_FLAG("plain", 0, struct run_options, plain, "the screen as lines of text, not as a full screen"),
        OPTION_FLAG("close", 0, struct run_options, close, "close the screen when PROGRAM ends"),
        OPTION_TEXT(
                "heap-profile", 0, "KIND", struct run_options, heap_profile, COMPLETE_NOTHING,
                "break the heap down by KIND, as in +RTS -hKIND: T closure type, c cost centre, i info table ... or "
                "none (default: T, unless PROGRAM's own flags choose one)"),
        OPTION_TEXT("rts", 0, "\"FLAGS\"", struct run_options, extra, COMPLETE_NOTHING,
                    "more RTS flags; they win over ours, and need the agent"),
        OPTION_FLAG("no-record", 0, struct run_options, wish.no_record,
                    "do not record PROGRAM; a daemon that is started for it keeps no checkpoints and no recordings"),
        OPTION_FLAG("no-agent", 0, struct run_options, no_agent,
                    "do not watch PROGRAM from inside: read its memory from outside; its pauses are not known"),
        OPTION_FLAG("follow", 0, struct run_options, follow,
                    "watch the GHC-compiled programs that PROGRAM starts, too, and the daemon that it becomes, each as "
                    "a target "
                    "named after its file; each may end up to a second later because of it"),
        OPTION_SECONDS("end-hung", 0, "SECONDS", struct run_options, end_hung_ns, 0, UINT64_C(86400000000000),
                       "end PROGRAM when it hangs this long: each thread waits for another one, which the flush "
                       "interval can cause at exit"),
        OPTION_DURATION("resolution", 0, struct run_options, wish.resolution_ns, LIMIT_RESOLUTION_LEAST_NS,
                        LIMIT_RESOLUTION_MOST_NS,
                        "step in which growth is judged, 100ms to 1h (default: the daemon's, 1m): a short run needs a "
                        "short one, and collections in most steps"),
        OPTIONS_OF_CENSUSES(struct run_options, censuses),
        OPTION_LIST(
                "label", 'l', "NAME=VALUE", struct run_options, labels, COMPLETE_NOTHING,
                "a label of this run, such as version=1.4.2, for `heapwatch archive`, `diff` and every screen; may be "
                "repeated"),
        OPTIONS_END,
};

static int check_request(void *filled)
{
        struct run_options *o = filled;
        const char *kind = o->heap_profile;
        char labels[LABELS_SIZE];
        struct error error;

        if (o->name && !name_valid(o->name))
                return command_usage_error(&command_run,
                                           "--name: expected 1 to 64 of A-Z a-z 0-9 . _ -, not starting "
                                           "with . or -");
        if (kind && (!*kind || strlen(kind) > 32 || strpbrk(kind, " \t\n\r\v\f")))
                return command_usage_error(&command_run, "--heap-profile: expected what follows -h, or none");
        if (kind && o->censuses.max_pause_ns && !inside_makes_profile(kind))
                return command_usage_error(&command_run,
                                           "--max-pause holds for the heap profiles that the agent makes: "
                                           "--heap-profile T, i or none");
        if (!labels_join(o->labels.items, o->labels.n, labels, &error))
                return command_usage_error(&command_run, "%s", error.text);
        if (census_options_check(&command_run, &o->censuses))
                return EXIT_USAGE;
        o->wish.labels = &o->labels;
        /* In a pipe, a script or a unit the program's input and output are somebody's. */
        o->no_top |= !o->plain && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO));
        return 0;
}

/* ------------------------------------------------------------ preparation */

/* Says why the program is not watched. Always false. */
static bool report_unwatched(struct program_run *r, const char *reason)
{
        notices_print(&r->notices, "%s runs unwatched: %s", r->o.program[0], reason);
        return false;
}

/*
 * Without the agent: from outside once it runs (session.c), or else by its process alone. Stores the reason, with its
 * remedy. False: a mistake of the user's, who requests what only the agent does.
 */
static bool plan_outside(struct program_run *r, const char *reason)
{
        if (r->o.extra[0] || (r->o.heap_profile && strcmp(r->o.heap_profile, "T") != 0)) {
                command_error(&command_run,
                              "%s needs the agent, which is not in %s: %s; leave it out, or set GHCRTS yourself",
                              r->o.extra[0] ? "--rts" : "--heap-profile", r->o.program[0], reason);
                r->mistaken = true;
                return false;
        }
        obstacle_sentence(r->inside.obstacle, reason, r->process_reason, sizeof(r->process_reason));
        if (!r->is_haskell) /* else outside is tried once it runs, and then it is said */
                notices_print(&r->notices, "of %s only the process is watched, not its heap: %s", r->o.program[0],
                              r->process_reason);
        return true;
}

/* A private directory for this run. */
static bool make_directory(struct program_run *r)
{
        struct error error;

        snprintf(r->directory, sizeof(r->directory), "%s/" RUN_LIFE_DIRECTORY, r->link.directory);
        if (mkdtemp(r->directory) == NULL) {
                error_set(&error, "cannot make the directory %s: %s", r->directory, strerror(errno));
                r->directory[0] = '\0';
                return report_unwatched(r, error.text);
        }
        run_life_sweep(r->link.directory);
        r->life = run_life_begin(r->directory); /* without it, the daemon does not know whether this run lives */
        snprintf(r->agent, sizeof(r->agent), "%s/" AGENT_SOCKET_OF_RUN, r->directory);
        snprintf(r->output, sizeof(r->output), "%s/output", r->directory);
        return true;
}

/* Finds the daemon, which may be started for this run: what it keeps is said. With `adds` it gets the target. */
static enum daemon_outcome find_daemon(struct program_run *r, bool adds, struct error *error)
{
        struct daemon_link impatient = r->link;
        char name[DAEMON_NAME_MAX], started[OWN_DAEMON_TEXT];

        impatient.wait_ms = WAIT_MS;
        daemon_name_of(r->path, name);
        if (r->o.name)
                snprintf(name, sizeof(name), "%s", r->o.name);
        enum daemon_outcome outcome = daemon_ensure(&impatient, WAIT_MS, started, error);
        if (started[0])
                notices_print(&r->notices, "%s", started);
        r->daemon_started_ns =
                daemon_started_ns(&impatient); /* before: if the next one takes its place meanwhile, that shows later */
        if (adds && outcome == DAEMON_OK)
                outcome = daemon_add(&impatient, name, r->o.name != NULL, r->uri, &r->o.wish, r->target, error);
        if (!adds || outcome == DAEMON_SILENT)
                memcpy(r->target, name, sizeof(name));
        return outcome;
}

/* The program is not held up by a daemon that is slow to answer: it is watched from the moment that it does. */
static bool connect_daemon(struct program_run *r)
{
        struct error error;
        enum daemon_outcome outcome;

        snprintf(r->uri, sizeof(r->uri), "unix:%s", r->agent);
        r->unnamed = r->from_inside && r->inside.wrapper && !r->o.name;
        const bool later = !r->from_inside || r->unnamed; /* when its process, or the program below, is there */
        outcome = find_daemon(r, !later, &error);
        if (outcome == DAEMON_REFUSES)
                return report_unwatched(r, error.text);
        r->silent = outcome == DAEMON_SILENT;
        r->late = r->silent || later;
        if (r->unnamed && !r->o.no_top)
                notices_print(&r->notices, "the screen opens when a GHC-compiled program is there below %s",
                              r->o.program[0]);
        if (r->silent)
                notices_print(&r->notices, "%s; %s starts, and watching begins as soon as the daemon answers",
                              error.text, r->o.program[0]);
        r->watched = true;
        return true;
}

/* Whether there is a program to run. Haskell source, executable or not, is none. */
static bool find_program(struct program_run *r)
{
        const char *program = r->o.program[0], *dot = strrchr(program, '.');
        struct stat st;

        if (dot && (!strcmp(dot, ".hs") || !strcmp(dot, ".lhs")) && stat(program, &st) == 0 && S_ISREG(st.st_mode))
                command_error(&command_run,
                              "%s is a source file; compile it first, e.g. ghc -threaded %s, and run the program",
                              program, program);
        else if (!inquire_find(program, r->path, sizeof(r->path)))
                command_error(&command_run, "there is no executable program %s", program);
        else
                return true;
        return false;
}

/* Everything before the program starts. False: it runs unwatched, and the reason was reported. */
static bool prepare_run(struct program_run *r)
{
        struct error error = { "" };
        struct agent_fit fit;

        if (!descriptors_suffice(&error) || !daemon_link_init(&r->link, &error))
                return report_unwatched(r, error.text);
        r->link.no_record = r->o.wish.no_record;
        if (!make_directory(r))
                return false;
        if (!r->o.no_agent) {
                const struct inside_wish wish = { r->o.heap_profile, r->o.extra, r->o.follow, &r->o.censuses };

                r->from_inside = inside_plan(&r->inside, r->path, r->agent, &wish, &error);
        }
        if (!r->from_inside) {
                r->is_haskell = agent_fit_check(r->path, &fit, r->o.no_agent ? &error : NULL) && fit.ghc;
                if (r->o.no_agent && r->is_haskell)
                        error_set(&error, "--no-agent was given");
                if (!plan_outside(r, error.text))
                        return false;
        }
        return connect_daemon(r);
}

/* ---------------------------------------------------------------- the run */

static int start_program(struct program_run *r)
{
        struct session_result result;

        if (!r->from_inside)
                r->o.wish.process_only_reason = r->process_reason;
        if (!r->o.no_top) {
                r->output_fd = open(r->output, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
                if (r->output_fd < 0)
                        return command_error(&command_run, "cannot write %s: %s", r->output, strerror(errno));
        }
        int e = session_run(r, &result);
        if (e < 0)
                return command_error(&command_run, "cannot start %s: %s", r->path, strerror(-e));
        r->ran = true;
        r->unreported = result.target[0] != '\0' && !result.is_reported;
        if (result.target[0] != '\0')
                memcpy(r->target, result.target, sizeof(r->target));
        run_sum_up(r, &result);
        if (!r->o.no_top)
                run_print_output(r);
        return WIFSIGNALED(result.wait_status) ? 128 + WTERMSIG(result.wait_status) : WEXITSTATUS(result.wait_status);
}

static int run_program(void *filled)
{
        struct program_run r = { .o = *(const struct run_options *)filled, .output_fd = -1, .life = -1 };

        if (!find_program(&r))
                return EXIT_USAGE;
        notices_open(&r.notices);
        bool watched = prepare_run(&r);
        int status = watched ? start_program(&r) : 0;

        if (r.watched && !r.late && !r.ran)
                (void)daemon_remove(&r.link, r.target);
        close_fd(&r.output_fd);
        if (r.from_inside) {
                inside_clean(r.agent);
                follow_clean(r.agent);
        }
        if (r.directory[0] != '\0' && !r.unreported)
                run_life_remove(r.directory);
        close_fd(&r.life);
        notices_close(&r.notices, r.ran ? READ_MS : 0);
        if (r.mistaken)
                return EXIT_USAGE;
        if (watched)
                return status;
        command_restore();
        execv(r.path, r.o.program); /* as if it had been started without us */
        return command_error(&command_run, "cannot start %s: %s", r.path, strerror(errno));
}

const struct command command_run = {
        .name = "run",
        .summary = "run a program and watch its heap live",
        .usage = TEXTS("[OPTION]... [--] PROGRAM [ARGUMENT]..."),
        .about =
                "Runs a GHC-compiled program, or a shell or script that runs one, and watches its heap from inside: "
                "the agent (docs/AGENT.md) makes its eventlog, the daemon (started when none runs) reads it, and "
                "`heapwatch top` shows it. PROGRAM needs no flag, its own RTS flags are kept, and what it starts is "
                "not touched. The daemon never makes it wait. Heap censuses are read from outside without a pause, "
                "after major collections, where the kernel permits it; the others pause it, each for a major "
                "collection (about 20 ms with 50 MB of live data, 0.2 s with 500 MB), on average for 0.05 % of the "
                "time, while live data rises for up to 1 %: --budget, --max-pause. If the daemon dies, PROGRAM goes on "
                "unharmed, and the daemon is started again. The variables of a stripped program's runtime are found by "
                "signatures of GHC's libraries, which needs up to some seconds before it starts. A program that cannot "
                "be watched so, such as a stripped one of another build of GHC, is watched from outside: live data, "
                "heap size, allocation and bands are read from its memory "
                "(docs/INSIDE.md). Where that cannot be either, only its process is: memory, faults, processor time "
                "and limits are "
                "known, its heap is not. One sentence says which and why.",
        .options = options,
        .notes =
                "With the screen, PROGRAM has no input, and its output goes to a file, which is named at the end. When "
                "PROGRAM has ended, its target "
                "stays as it ended; see --keep-ended in heapwatchd(8).",
        .status = "PROGRAM's; 128 + N after signal N; 2 when it was not started.",
        .examples = TEXTS("ghc -threaded Main.hs", "heapwatch run -- ./Main --port 8080"),
        .size = sizeof(struct run_options),
        .defaults = &(const struct run_options){ .extra = "", .end_hung_ns = UINT64_MAX },
        .check = check_request,
        .run = run_program,
};

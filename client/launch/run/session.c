/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - one poll loop over a signalfd and what waits to be written. Nothing in
 * the loop may wait: requests that have to (adding the target again after the
 * daemon was restarted) are made in a short-lived child.
 *
 * Signals: those of the terminal reach the program directly when it shares our
 * process group, and GHC takes a second SIGINT as "end at once", so only
 * signals that another process sent to us are passed on. With a screen the
 * program has a process group of its own and gets everything from here.
 *
 * The screen is `heapwatch top` in a child.
 */
#include "client/launch/run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/launch/program/agent_fit.h"
#include "client/launch/program/own_daemon.h"
#include "client/launch/program/process_uri.h"
#include "client/launch/run/run_private.h"
#include "client/world/state/world.h"
#include "proto/base/array.h"
#include "proto/base/child.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/limits.h"
#include "proto/base/run_life.h"
#include "proto/base/time.h"

#define TICK_MS       500
#define KILL_AFTER_MS 5000  /* from SIGTERM to SIGKILL for a hung program */
#define LATE_MS       1000  /* after the start; a program that appears later is added to the daemon again */
#define LEFT_MS       2000  /* for a program that a wrapper leaves behind */
#define AGAIN_MS      2000  /* until a heap that was not found from outside is looked for again, twice as long each */
#define AGAIN_MOST_MS 64000 /* time */
#define CLAIM_MS      20    /* from one check to the next whether the program below a wrapper, which waits, is there */

/* Of a limit of processor time, which the kernel checks by ticks: what wait4() tells has been less by 0.1 s of 1 s. */
#define CPU_USED_UP(limit_s) (0.9 * (double)(limit_s)-0.1)

/* When the program ends, for those that it has forked to be served: while they sleep, and at most. */
#define FORKED_MS      3000
#define FORKED_MOST_MS 20000
#define FORKED_STEP_MS 10 /* from one look for them to the next, at first */

struct session {
        struct program_run *r;
        int signals; /* signalfd */
        sigset_t old_mask;
        pid_t program, screen; /* 0: not running */
        struct adder adder;
        bool return_due; /* the user is told when the program is watched again */
        bool refusal_reported, hang_reported, termed;
        bool claimed;               /* with `inside`: the agent is there */
        pid_t owner;                /* ... in this process; 0: it is not known yet */
        bool executed;              /* with `inside`: another program, and that was said */
        bool others_reported;       /* below a wrapper, another program than the one that is watched */
        bool gone;                  /* the daemon stopped, and does not have the target again yet */
        uint64_t daemon_started_ns; /* of the daemon that has the target */
        bool late;                  /* the daemon has not had the target yet: it is added meanwhile */
        uint64_t started_ms, term_ms;
        struct hung hung;
        struct follow follow;
        char name[DAEMON_NAME_MAX];     /* under which the target is added; "": the program is not known yet */
        char process[PROCESS_URI_SIZE]; /* its source, if only its process is watched; "": not, or it ended too soon */
        pid_t alone;                    /* below a wrapper: the process of that source */
        enum obstacle alone_obstacle;
        char alone_reason[PROCESS_REASON_SIZE];
        pid_t reported;                    /* the process of which was said how it is watched */
        uint64_t again_ms, again_pause_ms; /* when its heap is looked for again; 0: it is not */
        struct session_result result;
};

static bool is_followed(const struct session *s)
{
        return s->r->from_inside && s->r->o.follow;
}

/* Reports to the user, unless the full screen is up. Whether it did. */
static bool notify_user(struct session *s, const char *text)
{
        if (s->screen > 0 && !s->r->o.plain)
                return false;
        notices_print(&s->r->notices, "%s", text);
        return true;
}

/* ------------------------------------------------------------- processes */

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT };

static int block_signals(struct session *s)
{
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
                sigaddset(&set, forwarded[i]);
        if (sigprocmask(SIG_BLOCK, &set, &s->old_mask) < 0)
                return -errno;
        s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
        return s->signals < 0 ? -errno : 0;
}

/* In a child: restores the signals as we found them. */
static void restore_signals(const struct session *s)
{
        command_restore();
        (void)sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

/* Sockets that a service manager passed to us by our number (sd_listen_fds(3)) are the program's. */
static void pass_sockets(void)
{
        const char *given = getenv("LISTEN_PID");
        char number[24];

        if (!given || strtol(given, NULL, 10) != (long)getppid())
                return;
        (void)snprintf(number, sizeof(number), "%ld", (long)getpid());
        (void)setenv("LISTEN_PID", number, 1);
}

static _Noreturn void become_program(const struct session *s, int report)
{
        const struct program_run *r = s->r;
        int null = -1;

        restore_signals(s);
        pass_sockets();
        if (r->is_haskell && !r->from_inside) /* as the agent does; it outlasts exec, and fails without yama */
                (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        if (!r->o.no_top) {
                (void)setpgid(0, 0);
                null = open("/dev/null", O_RDONLY);
        }
        if ((r->o.no_top ||
             (null >= 0 && dup2(null, 0) >= 0 && dup2(r->output_fd, 1) >= 0 && dup2(r->output_fd, 2) >= 0)) &&
            (!r->from_inside || inside_enter(&r->inside)))
                execv(r->path, r->o.program);
        int error = errno;
        ssize_t n = write(report, &error, sizeof(error));
        _exit(n == sizeof(error) ? 127 : 126);
}

/* Starts the program; a failed exec is reported through a pipe that a good one closes. */
static int start_program(struct session *s)
{
        int report[2], error = 0;

        if (pipe2(report, O_CLOEXEC) < 0)
                return -errno;
        s->program = fork();
        if (s->program == 0)
                become_program(s, report[1]);
        if (s->program < 0)
                error = errno;
        (void)close(report[1]);
        ssize_t n = s->program > 0 ? read(report[0], &error, sizeof(error)) : -1;
        (void)close(report[0]);
        if (n == (ssize_t)sizeof(error) && s->program > 0) {
                (void)child_wait(s->program);
                s->program = 0;
        }
        return -error;
}

static void start_screen(struct session *s)
{
        char name[] = "heapwatch", top[] = "top", plain[] = "--plain";
        char *target = s->result.target;
        char *with_plain[] = { name, top, plain, target, NULL }, *without[] = { name, top, target, NULL };
        const int files[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };

        if (child_spawn(s->r->o.plain ? with_plain : without, files, CHILD_BESIDE, &s->screen) != 0)
                (void)notify_user(s, "the screen could not be started; the program goes on without it");
}

/* To a daemon that came back, or that has not answered before. */
static void add_target(struct session *s, uint64_t now)
{
        const struct program_run *r = s->r;
        struct daemon_wish wish = r->o.wish;

        if (s->alone)
                wish.process_only_reason = s->alone_reason;
        adder_start(&s->adder,
                    &(struct adder_task){
                            .link = &r->link,
                            .name = s->late ? s->name : s->result.target,
                            .uri = !r->from_inside || s->alone ? s->process : r->uri,
                            .former_uri = s->late ? "" : s->result.uri,
                            .exact = r->o.name != NULL,
                            .reopen = !s->late && r->from_inside,
                            .outside = s->alone        ? s->alone
                                       : r->is_haskell ? s->result.program
                                                       : 0,
                            .is_new = s->again_pause_ms == 0,
                            .unreachable = s->claimed && access(r->agent, F_OK) < 0 ? s->owner : 0,
                            .wish = wish,
                            .mask = &s->old_mask,
                    },
                    now);
}

/* How the program ended, unless it is another process than the one that we have started and is watched from outside. */
static void end_target(struct session *s)
{
        struct world *world = NULL;

        if (s->r->inside.wrapper && inside_owner_lives(s->r->agent)) /* the end of its log is another */
                (void)run_await_end(s->r, &s->result, &world);
        world_destroy(&world);
        s->result.is_reported = (s->alone && s->alone != s->result.program) ||
                                daemon_end(&s->r->link, s->result.uri, s->result.program, s->result.wait_status,
                                           s->result.out_of_cpu, s->result.target);
}

static void set_target(struct session *s, const struct adder_answer *answer)
{
        memcpy(s->result.target, answer->name, sizeof(s->result.target));
        memcpy(s->result.uri, answer->uri, sizeof(s->result.uri));
        s->daemon_started_ns = answer->daemon_started_ns;
        s->gone = s->refusal_reported = false;
}

/* Of a program that is not watched by its log: how it is, and why; then what to do for all. Once for each. */
static void report_way(struct session *s, const struct adder_answer *answer)
{
        const pid_t pid = s->alone ? s->alone : s->result.program;
        const char *name = s->alone ? s->result.below.program : s->r->o.program[0];
        const char *reason = s->alone ? s->alone_reason : s->r->o.wish.process_only_reason;
        char text[2 * PROCESS_REASON_SIZE];

        if ((!s->alone && !s->r->is_haskell) || s->reported == pid)
                return;
        s->reported = pid;
        const char *remedy = obstacle_remedy(s->alone ? s->alone_obstacle : s->r->inside.obstacle);
        const size_t remedy_n = remedy[0] ? strlen(OBSTACLE_REMEDY) + strlen(remedy) : 0;
        const int length = (int)(strlen(reason) - remedy_n);
        if (answer->outcome == DAEMON_OK && answer->from_outside)
                (void)snprintf(text, sizeof(text), "%s is watched from outside, its pauses are not known: %.*s", name,
                               length, reason);
        else
                (void)snprintf(text, sizeof(text), "of %s only the process is watched, not its heap: %.*s%s%s", name,
                               length, reason, answer->not_outside[0] ? "; from outside: " : "", answer->not_outside);
        (void)notify_user(s, text);
        if (remedy_n)
                (void)notify_user(s, reason + length + strlen("; "));
}

/* The daemon's first answer to a late target. */
static void on_late_answer(struct session *s, const struct adder_answer *answer)
{
        char text[DAEMON_NAME_MAX + ERROR_TEXT_MAX];

        s->late = false;
        if (answer->outcome != DAEMON_OK && !s->r->from_inside && s->program == 0)
                return; /* it ended before it could be added, which is said at the end */
        if (answer->outcome != DAEMON_OK) {
                snprintf(text, sizeof(text), "the program runs unwatched: %s", answer->reason.text);
        } else {
                set_target(s, answer);
                s->claimed = s->r->from_inside && inside_claimed(s->r->agent);
                snprintf(text, sizeof(text), "the daemon answers now: the program is watched as %s", answer->name);
        }
        if (answer->outcome != DAEMON_OK || (s->r->from_inside && s->r->silent))
                (void)notify_user(s, text);
        if (answer->outcome != DAEMON_OK)
                return;
        if (s->program == 0)
                end_target(s);
        else if (!s->r->o.no_top && s->screen == 0)
                start_screen(s);
}

/* The answer to a target that a daemon had before. What one refuses it may accept later: when its name is free. */
static void on_further_answer(struct session *s, const struct adder_answer *answer)
{
        char text[DAEMON_NAME_MAX + ERROR_TEXT_MAX];

        if (answer->outcome == DAEMON_OK) {
                if (s->return_due && (answer->from_outside || strcmp(answer->name, s->result.target) != 0)) {
                        snprintf(text, sizeof(text), "the daemon is back; the program is watched again, as %s%s",
                                 answer->name, answer->from_outside ? ", from outside" : "");
                        s->return_due = !notify_user(s, text);
                }
                set_target(s, answer);
                if (s->program == 0) /* a daemon that came back when it had ended */
                        end_target(s);
        } else if (answer->outcome == DAEMON_REFUSES && !s->refusal_reported) {
                snprintf(text, sizeof(text), "the program is not watched: %s", answer->reason.text);
                s->refusal_reported = notify_user(s, text);
        }
}

static void on_answer(struct session *s)
{
        struct adder_answer answer;

        adder_ended(&s->adder, &answer);
        const bool found_late = answer.from_outside && s->again_pause_ms > 0;
        const bool is_lost = !answer.from_outside && answer.not_outside[0]; /* its runtime may be still to begin */
        s->again_pause_ms = !is_lost ? 0 : s->again_pause_ms ? 2 * s->again_pause_ms : AGAIN_MS;
        s->again_ms = is_lost && s->again_pause_ms <= AGAIN_MOST_MS ? clock_mono_ms() + s->again_pause_ms : 0;
        if (found_late)
                s->reported = 0;
        if (answer.outcome == DAEMON_OK)
                report_way(s, &answer);
        if (!s->late)
                on_further_answer(s, &answer);
        else if (answer.outcome != DAEMON_SILENT)
                on_late_answer(s, &answer);
}

/* In a child, because requests wait: a program that the watched one has started. False: there is none. */
static bool follow_children(struct session *s)
{
        pid_t pid = follow_next(&s->follow, s->r->agent);

        if (pid == 0)
                return false;
        if ((kill(pid, 0) < 0 && errno == ESRCH) || fork() != 0)
                return true; /* it has ended already, as a program does that becomes a daemon, or is being added */
        restore_signals(s);
        _exit(follow_add(&s->r->link, s->r->agent, pid, &s->r->o.wish) ? 0 : 1);
}

/* Waits for a child that has ended. *ret_out_of_cpu: with SIGKILL, which the kernel sends at that limit. */
static void reap_child(pid_t child, int *ret_status, bool *ret_out_of_cpu)
{
        struct rlimit limit = { 0 };
        struct rusage used = { 0 };
        const bool limited = prlimit(child, RLIMIT_CPU, NULL, &limit) == 0 && limit.rlim_max != RLIM_INFINITY;

        (void)wait4(child, ret_status, 0, &used);
        const double used_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
        *ret_out_of_cpu = limited && WIFSIGNALED(*ret_status) && WTERMSIG(*ret_status) == SIGKILL &&
                          used_s >= CPU_USED_UP(limit.rlim_max);
}

static void reap_children(struct session *s)
{
        siginfo_t ended = { .si_pid = 0 };
        bool out_of_cpu;
        int status;

        while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0) {
                const pid_t pid = ended.si_pid;
                ended.si_pid = 0;
                reap_child(pid, &status, &out_of_cpu);
                if (pid == s->program) {
                        s->program = 0;
                        s->result.wait_status = status;
                        s->result.out_of_cpu = out_of_cpu;
                        s->result.seconds = (double)(clock_mono_ms() - s->started_ms) / 1000;
                } else if (pid == s->screen) {
                        s->screen = 0;
                } else if (pid == s->adder.pid) {
                        on_answer(s);
                }
        }
}

/* ----------------------------------------------------------------- events */

static void on_signals(struct session *s)
{
        struct signalfd_siginfo info;

        while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
                const bool from_terminal = info.ssi_code == SI_KERNEL;
                if (info.ssi_signo == SIGCHLD)
                        reap_children(s);
                else if (s->program > 0 && (!s->r->o.no_top || !from_terminal))
                        (void)kill(s->program, (int)info.ssi_signo); /* it may just have ended */
                else if (s->program == 0 && s->screen > 0 && info.ssi_signo != SIGCONT)
                        (void)kill(s->screen, SIGTERM);
        }
}

/*
 * From inside, the daemon reads the agent's socket by itself. A wrapper may take long until its program is there: the
 * daemon's backoff has grown by then, so the target is added again.
 */
static void watch_inside(struct session *s, uint64_t now)
{
        bool there = daemon_reachable(&s->r->link);
        char text[256];

        if (s->r->from_inside && !s->claimed && !s->r->unnamed && !s->alone && inside_claimed(s->r->agent)) {
                s->claimed = true;
                s->gone |= now - s->started_ms > LATE_MS;
        }
        if (s->claimed && s->owner == 0)
                s->owner = inside_owner(s->r->agent);
        if (s->claimed && !s->executed && !is_followed(s) && inside_has_executed(s->r->agent, s->program)) {
                s->executed = true;
                snprintf(text, sizeof(text),
                         "the program has executed another one in its place, which is not watched: "
                         "`heapwatch attach %d`, or `heapwatch run --follow`",
                         (int)s->program);
                (void)notify_user(s, text);
        }
        if (s->claimed && !s->others_reported && !is_followed(s)) {
                const struct inside_others others = inside_others(s->r->agent);
                snprintf(text, sizeof(text),
                         "%s, started as well, is not watched: `heapwatch attach %d`, or "
                         "`heapwatch run --follow` for all",
                         others.name, (int)others.pid);
                s->others_reported = others.pid > 0 && notify_user(s, text);
        }
        if (!there) {
                s->gone = true;
                if (!s->return_due)
                        s->return_due = notify_user(s,
                                                    "the daemon is gone; the program continues, but is not watched "
                                                    "until heapwatchd is started again");
                if (own_daemon_is_due(s->r->link.publish))
                        add_target(s, now);
                return;
        }
        /* the next daemon may answer before anybody has seen that the one before it is gone */
        if (!s->gone && daemon_started_ns(&s->r->link) != s->daemon_started_ns)
                s->gone = s->return_due = true;
        if (s->gone)
                add_target(s, now);
        else if (s->return_due)
                s->return_due = !notify_user(s, "the daemon is back; the program is watched again");
}

/* The agent is in a program below the wrapper: it is the target, whatever was found before. */
static void watch_owner(struct session *s, uint64_t now)
{
        const pid_t owner = inside_owner(s->r->agent);

        if (owner <= 0 || s->adder.pid > 0)
                return;
        if (s->r->unnamed)
                daemon_name_of_process(owner, s->name);
        s->late |= s->alone != 0 && s->r->unnamed; /* else it takes the place of the other */
        s->alone = 0;
        s->result.alone = false;
        s->claimed = true;
        add_target(s, now);
}

/* Why the agent is not in what runs below the wrapper is known: the system tells of its process. */
static void watch_alone(struct session *s, uint64_t now)
{
        const struct below *b = &s->result.below;

        if (b->pid == s->alone || (s->r->inside.skips && b->is_tool) || s->adder.pid > 0 ||
            !process_uri(b->pid, s->process))
                return; /* what a tool will start is waited for */
        s->alone = b->pid;
        s->result.alone = true;
        s->alone_obstacle = b->obstacle;
        obstacle_sentence(b->obstacle, NULL, s->alone_reason, sizeof(s->alone_reason));
        if (s->r->unnamed)
                daemon_name_of_process(b->pid, s->name);
        add_target(s, now);
}

/* The program itself, or what is below a wrapper: finds it, until the agent is in one. */
static void watch_below(struct session *s)
{
        const uint64_t now = clock_mono_ms();

        if (!inside_claimed(s->r->agent))
                below_search(&s->result.below, getpid(), s->r->inside.skips, now);
        if (inside_claimed(s->r->agent)) {
                if (s->r->unnamed || s->alone)
                        watch_owner(s, now);
        } else if (s->result.below.pid) {
                watch_alone(s, now);
        }
}

static void report_hang(struct session *s)
{
        char text[256];

        if (s->hang_reported)
                return;
        snprintf(text, sizeof(text),
                 "the program hangs: each of its threads waits for another one (a known effect of "
                 "--eventlog-flush-interval at exit); %s",
                 s->r->o.end_hung_ns != UINT64_MAX ? "it will be ended" : "end it yourself, or use --end-hung SECONDS");
        s->hang_reported = notify_user(s, text);
}

static void end_hung(struct session *s, long long stuck_ms, uint64_t now)
{
        if (s->r->o.end_hung_ns == UINT64_MAX || (!s->termed && (uint64_t)stuck_ms < s->r->o.end_hung_ns / NS_PER_MS))
                return;
        if (!s->termed) {
                report_hang(s);
                s->termed = true;
                s->term_ms = now;
                s->result.ended_hung = true;
                (void)kill(s->program, SIGTERM);
        } else if (now - s->term_ms >= KILL_AFTER_MS) {
                (void)kill(s->program, SIGKILL);
        }
}

/*
 * A wrapper that leaves its program to itself, as `sh -c 'PROGRAM &'` does, may end before that has begun: it is waited
 * for, a while.
 */
static void await_left(struct session *s)
{
        const uint64_t until_ms = clock_mono_ms() + LEFT_MS;
        siginfo_t any;

        while (inside_owner(s->r->agent) <= 0 && !s->alone && clock_mono_ms() < until_ms &&
               waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0) {
                (void)poll(NULL, 0, CLAIM_MS);
                reap_children(s);
                if (!s->claimed)
                        watch_below(s);
        }
        if (!s->claimed)
                watch_below(s);
        if (s->late && s->adder.pid > 0) {
                (void)child_wait(s->adder.pid);
                on_answer(s);
        }
}

static void run_turn(struct session *s)
{
        struct pollfd fds[2] = { { s->signals, POLLIN, 0 }, notices_pollfd(&s->r->notices) };
        bool ran = s->program > 0, had_screen = s->screen > 0;
        const bool searches = s->r->from_inside && ran && !s->claimed;
        const bool soon = is_followed(s) || searches;
        if (searches)
                watch_below(s);
        if (poll(fds, 2, searches && s->r->unnamed ? CLAIM_MS : soon ? FOLLOW_MS : TICK_MS) < 0)
                return; /* EINTR */
        if (is_followed(s))
                (void)follow_children(s);
        if (fds[1].revents)
                notices_write(&s->r->notices);
        if (fds[0].revents != 0)
                on_signals(s);
        if (ran && s->program == 0) {
                /* After the program's end: reports its status to the daemon; then the screen may close. */
                if (s->r->from_inside && s->r->inside.wrapper && !s->claimed)
                        await_left(s);
                run_life_ended(s->r->life, s->result.wait_status);
                if (s->result.target[0] != '\0')
                        end_target(s);
                if (s->screen > 0 && (s->r->o.close || s->r->o.plain)) {
                        (void)poll(NULL, 0, 1200); /* for a last frame: top draws once a second */
                        (void)kill(s->screen, SIGTERM);
                }
        }
        if (had_screen && s->screen == 0 && s->program > 0) {
                notices_print(&s->r->notices, "the program continues as process %d, its output in %s; Ctrl-C ends it",
                              (int)s->program, s->r->output);
        }
}

/*
 * A program that becomes a daemon ends before the process that it has forked is served, which takes long on a busy
 * machine. One in between, which forks the daemon and ends, may be served too: each is waited for, a while.
 */
static void follow_forked(struct session *s)
{
        const uint64_t ended_ms = clock_mono_ms();
        uint64_t ran_ms = ended_ms, now_ms;
        int pause_ms = FORKED_STEP_MS;
        enum follow_unserved unserved;

        while ((unserved = follow_unserved(&s->follow, s->r->agent)) != UNSERVED_NONE) {
                now_ms = clock_mono_ms();
                while (follow_children(s))
                        unserved = UNSERVED_RUNS;
                if (unserved == UNSERVED_RUNS)
                        ran_ms = now_ms;
                if (now_ms - ran_ms >= FORKED_MS || now_ms - ended_ms >= FORKED_MOST_MS) {
                        s->result.left_unserved = true;
                        return;
                }
                (void)poll(NULL, 0, pause_ms);
                pause_ms = pause_ms < FOLLOW_MS ? 2 * pause_ms : pause_ms;
        }
}

static void run_loop(struct session *s)
{
        uint64_t tick = clock_mono_ms();

        while (s->program > 0 || s->screen > 0) {
                run_turn(s);
                uint64_t now = clock_mono_ms();
                if (s->program == 0 || now - tick < TICK_MS)
                        continue;
                tick = now;
                if (s->name[0] && (s->late /* else see watch_below() */ || (s->again_ms && now >= s->again_ms)))
                        add_target(s, now);
                else if (s->name[0] && s->result.target[0]) /* "" once the daemon has refused it */
                        watch_inside(s, now);
                if (s->r->from_inside || s->r->is_haskell) {
                        long long stuck = hung_check(&s->hung, "", now);
                        if (stuck >= HUNG_AFTER_MS)
                                report_hang(s);
                        if (stuck > 0 || s->termed)
                                end_hung(s, stuck, now);
                }
        }
        if (is_followed(s))
                follow_forked(s);
}

int session_run(struct program_run *run, struct session_result *ret_result)
{
        struct session s = { .r = run, .signals = -1, .started_ms = clock_mono_ms(), .late = run->late };
        int r = block_signals(&s);

        if (!s.late) {
                snprintf(s.result.target, sizeof(s.result.target), "%s", run->target);
                snprintf(s.result.uri, sizeof(s.result.uri), "%s", run->uri);
                s.daemon_started_ns = run->daemon_started_ns;
        }
        if (!run->unnamed)
                snprintf(s.name, sizeof(s.name), "%s", run->target);

        if (run->from_inside && run->inside.wrapper) /* what it leaves to itself, as podman does, stays below us */
                (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        if (r == 0)
                r = start_program(&s);
        if (r == 0) {
                s.result.program = s.program;
                s.result.below.planned = run->inside.wrapper ? 0 : s.program;
                run_life_started(run->life, s.program);
                hung_init(&s.hung, s.program);
                if (!run->from_inside && process_uri(s.program, s.process))
                        add_target(&s, clock_mono_ms());
                if (!run->o.no_top && !s.late)
                        start_screen(&s);
                run_loop(&s);
                if (s.adder.pid > 0) {
                        (void)child_wait(s.adder.pid); /* bounded by its own request timeout */
                        on_answer(&s);
                }
                if (s.adder.tried_ms)
                        report_way(&s, &(const struct adder_answer){ .outcome = DAEMON_SILENT });
                s.result.claimed = s.claimed;
                *ret_result = s.result;
        }
        close_fd(&s.signals);
        restore_signals(&s);
        return r;
}

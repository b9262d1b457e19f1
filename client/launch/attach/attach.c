/* SPDX-License-Identifier: BSD-3-Clause */
/* heapwatch attach, heapwatch detach - watch a running program from inside; and stop watching it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "client/launch/attach/inject.h"
#include "client/launch/attach/processes.h"
#include "client/cli/command.h"
#include "client/launch/program/agent_fit.h"
#include "client/launch/program/process_uri.h"
#include "client/launch/run/daemon.h"
#include "client/launch/run/inside.h"
#include "heapwatch/text.h"
#include "proto/base/agent_peer.h"
#include "proto/base/kernel_file.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/labels.h"
#include "proto/base/limits.h"
#include "proto/base/process_stat.h"

/* ------------------------------------------------- from outside, and a process alone */

struct process_wish {
        const char *name;       /* of the target; NULL: that of its program */
        enum obstacle obstacle; /* why not from inside; OBSTACLE_NONE: the user wishes it so */
        const char *reason;     /* a better one than the obstacle's; NULL: none */
        bool process_only;      /* and not from outside either: the user wishes that, too */
        struct daemon_wish target;
};

#define PATIENCE_MS 8000 /* for the daemon to answer, also a new one: nobody waits but the user */

/* `why_not`: from outside; "" when that was not wished. */
static void print_watched(pid_t pid, const char *program, const char *target, const struct process_wish *wish,
                          bool from_outside, const char *why_not)
{
        printf(from_outside ? "watching %s, process %ld, from outside" : "watching only the process of %s, %ld",
               program, (long)pid);
        if (wish->obstacle != OBSTACLE_NONE)
                printf(", because %s", wish->reason ? wish->reason : obstacle_reason(wish->obstacle));
        printf(": heapwatch top %s\n", target);
        if (!from_outside && why_not[0])
                printf("its memory cannot be read from outside: %s\n", why_not);
        puts(from_outside
                     ? "live data, heap size, allocation, numbers of collections and threads, and bands are read from "
                       "its memory while it runs; pauses are not known"
                     : "live data, bands and collections are not known");
        if (obstacle_remedy(wish->obstacle)[0])
                printf("to see them, %s\n", obstacle_remedy(wish->obstacle));
        printf("`heapwatch detach %ld` stops watching\n", (long)pid);
}

/*
 * Gives it to the daemon, which is started when none runs, and prints what is watched and why. From outside, or if that
 * cannot be, its process alone. False with an error.
 */
static bool process_attach(pid_t pid, const struct process_wish *wish, struct error *error)
{
        struct daemon_wish target = wish->target;
        struct daemon_link link;
        struct error why_not = { "" };
        char uri[PROCESS_URI_SIZE], outside[PROCESS_URI_SIZE], comm[64], program[64], name[DAEMON_NAME_MAX],
                given[DAEMON_NAME_MAX];
        char reason[PROCESS_REASON_SIZE], started[OWN_DAEMON_TEXT];

        if (!process_uri(pid, uri))
                return error_set(error, "there is no process %ld", (long)pid);
        if (!daemon_link_init(&link, error))
                return false;
        const bool may_outside = !wish->process_only && wish->obstacle != OBSTACLE_NOT_GHC;
        const bool from_outside = may_outside && outside_try(pid, false, &why_not);
        link.wait_ms = PATIENCE_MS;
        if (kernel_file_read(comm, sizeof(comm), "/proc/%ld/comm", (long)pid) < 0)
                comm[0] = '\0'; /* the file may not be readable */
        comm[strcspn(comm, "\n")] = '\0';
        (void)hw_terminal_text(program, sizeof(program), comm[0] ? comm : "process");
        daemon_name_of(program, name);
        process_uri_outside(uri, outside);
        obstacle_sentence(wish->obstacle, wish->reason, reason, sizeof(reason));
        const size_t n = strlen(reason);
        if (why_not.text[0])
                (void)snprintf(reason + n, sizeof(reason) - n, "%sfrom outside: %.300s", n ? "; " : "", why_not.text);
        target.process_only_reason = from_outside ? NULL : reason;
        link.no_record = target.no_record;
        enum daemon_outcome ensured = daemon_ensure(&link, PATIENCE_MS, started, error);
        if (started[0])
                printf("%s\n", started);
        if (ensured != DAEMON_OK || daemon_add(&link, wish->name ? wish->name : name, wish->name != NULL,
                                               from_outside ? outside : uri, &target, given, error) != DAEMON_OK)
                return false;
        print_watched(pid, program, given, wish, from_outside, why_not.text);
        return true;
}

/* Removes such a target of that process; false when there is none. */
static bool process_detach(pid_t pid)
{
        struct daemon_link link;
        struct daemon_target there;
        struct error error;
        char uri[PROCESS_URI_SIZE], outside[PROCESS_URI_SIZE];

        if (!process_uri(pid, uri) || !daemon_link_init(&link, &error))
                return false;
        link.wait_ms = PATIENCE_MS;
        process_uri_outside(uri, outside);
        if ((!daemon_find(&link, outside, &there) || !there.name[0]) &&
            (!daemon_find(&link, uri, &there) || !there.name[0]))
                return false;
        if (!daemon_remove(&link, there.name))
                return false;
        printf("process %ld is no longer watched as %s\n", (long)pid, there.name);
        return true;
}

/* ------------------------------------------------------------------ attach */

#define INJECT_MS 60000 /* to bring the agent in: longer than its steps may take altogether */
#define LOCK_MS   30000 /* for another heapwatch that attaches to the same process */

struct request {
        const char *program, *name, *heap_profile, *classes;
        uint64_t interval_ns;
        struct census_options censuses;
        struct text_list labels;
        uint64_t resolution_ns; /* 0: not given */
        bool outside, process_only;
        bool no_record;
};

static const struct option attach_options[] = {
        OPERAND_TEXT("PID|NAME", struct request, program, COMPLETE_NOTHING,
                     "process, or name of a program's file that runs only once"),
        OPTION_TEXT("name", 0, "NAME", struct request, name, COMPLETE_NOTHING,
                    "name of the target (default: the file's name)"),
        OPTION_TEXT("heap-profile", 0, "KIND", struct request, heap_profile, COMPLETE_NOTHING,
                    "T by closure type, i by info table, or none (default: T)"),
        OPTION_TEXT("classes", 0, "CLASSES", struct request, classes, COMPLETE_NOTHING,
                    "classes of events, as after +RTS -l (default: gu, collections and user events)"),
        OPTION_DURATION("interval", 0, struct request, interval_ns, 10000000, UINT64_C(86400000000000),
                        "wall-clock time from census to census (default: 1s)"),
        OPTIONS_OF_CENSUSES(struct request, censuses),
        OPTION_DURATION("resolution", 0, struct request, resolution_ns, LIMIT_RESOLUTION_LEAST_NS,
                        LIMIT_RESOLUTION_MOST_NS,
                        "step in which growth is judged, 100ms to 1h (default: the daemon's, 1m)"),
        OPTION_FLAG("outside", 0, struct request, outside,
                    "without the agent: nothing is put into it; its memory is read while it runs"),
        OPTION_FLAG("process-only", 0, struct request, process_only,
                    "without the agent: its memory, faults, processor time, threads and limits, as the system knows "
                    "them, of any process; nothing of its heap"),
        OPTION_FLAG("no-record", 0, struct request, no_record,
                    "do not record it; a daemon that is started for it keeps no checkpoints and no recordings"),
        OPTION_LIST("label", 'l', "NAME=VALUE", struct request, labels, COMPLETE_NOTHING,
                    "a label of its runs, such as version=1.4.2; may be repeated"),
        OPTIONS_END,
};

static const struct option detach_options[] = {
        OPERAND_TEXT("PID|NAME", struct request, program, COMPLETE_NOTHING, "as given to attach"),
        OPTIONS_END,
};

/*
 * Whether its agent can have the socket at `own`, in our directory: it is our user's, and sees the same directory
 * there. Otherwise the socket is where its user has one, in its own file system.
 */
static bool is_near(const struct ghc_process *p, const char *own)
{
        char ours[256], its[300];
        struct stat here, there;

        snprintf(ours, sizeof(ours), "%.*s", (int)(strrchr(own, '/') - own), own);
        return p->user == geteuid() && agent_peer_path(p->pid, ours, its, sizeof(its)) && stat(ours, &here) == 0 &&
               stat(its, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* The agent of another user's program serves that user and root, and so must the daemon be one of them. */
static bool may_watch(const struct ghc_process *p, struct error *error)
{
        return p->user == geteuid() || geteuid() == 0 ||
               error_set(error,
                         "it is a process of user %ld, which that user and root alone can watch: sudo heapwatch attach "
                         "%d",
                         (long)p->user, (int)p->pid);
}

/* The library, as the process sees it: in its own file system. */
static bool library_for(const struct ghc_process *p, char *path, size_t size, struct error *error)
{
        char there[4200];

        if (p->fit.agent)
                return true; /* linked: nothing is loaded */
        if (!agent_fit_library(path, size, error))
                return false;
        snprintf(there, sizeof(there), "/proc/%ld/root%s", (long)p->pid, path);
        return access(there, R_OK) == 0 ||
               error_set(error, "it has a file system of its own (a container, a chroot) without %s; copy it there",
                         path);
}

/* A socket in its own file system is for root's daemon alone. */
static bool may_reach(const struct ghc_process *p, const struct daemon_link *link, struct error *error)
{
        char own[256];

        process_socket(link->directory, p->pid, own, sizeof(own));
        return geteuid() == 0 || is_near(p, own) ||
               error_set(error,
                         "it has a file system of its own (a container, a chroot), in which %s is not the directory "
                         "that it is here; root's daemon can watch it: sudo heapwatch attach %d",
                         link->directory, (int)p->pid);
}

/*
 * Attaching, detaching and the questions that they ask the agent are done by one heapwatch at a time: the lock is held
 * until this command ends. Any user can have it, and it leaves no file.
 */
static bool lock_process(const struct ghc_process *p, struct error *error)
{
        static const struct timespec pause = { .tv_nsec = 20000000 };
        uint64_t until = clock_mono_ms() + LOCK_MS;
        char path[64];

        snprintf(path, sizeof(path), "/proc/%ld/status", (long)p->pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return error_set(error, "process %ld has ended", (long)p->pid);
        while (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
                if (clock_mono_ms() >= until) {
                        (void)close(fd);
                        return error_set(error,
                                         "another heapwatch has been attaching to it or detaching from it for %d "
                                         "s; try again when that has ended",
                                         LOCK_MS / 1000);
                }
                (void)nanosleep(&pause, NULL);
        }
        return true;
}

/* The runtime of a program that has just been started is not up yet: that is waited for, for a second. */
static bool inject_when_up(const struct ghc_process *p, const char *library, const char *settings, int *ret, char *said,
                           size_t said_size, struct error *error)
{
        static const struct timespec pause = { .tv_nsec = 100000000 };

        for (int tries = 0;
             inject_library(p->pid, p->fit.threaded, library, settings, INJECT_MS, ret, said, said_size, error);
             tries++) {
                if (*ret != AGENT_NOT_YET || tries == 10)
                        return true;
                (void)nanosleep(&pause, NULL);
        }
        return false;
}

/*
 * Has its log begun, unless it runs; one that was refused is refused again, with the reason. An agent that was just
 * loaded may be slow to answer; one that was already there gets what was given, before its log begins.
 */
static bool start_log(const struct request *q, const char *socket, bool loaded, struct error *error)
{
        char status[512], budget[64], max_pause[64];

        if (!agent_request(socket, "status", ASK_MS, status, sizeof(status), error))
                return loaded;
        snprintf(budget, sizeof(budget), "budget %s", q->censuses.budget ? q->censuses.budget : "");
        snprintf(max_pause, sizeof(max_pause), "max-pause %.6f", (double)q->censuses.max_pause_ns / 1e9);
        if ((!loaded && q->censuses.budget && !agent_request(socket, budget, ASK_MS, NULL, 0, error)) ||
            (!loaded && q->censuses.max_pause_ns && !agent_request(socket, max_pause, ASK_MS, NULL, 0, error)))
                return false;
        return !strstr(status, " log=off ") || agent_request(socket, "start", ASK_MS, NULL, 0, error);
}

/* What the agent in it said of its socket, as the daemon is to name it. Another user's program may say anything. */
static bool understand_path(const struct ghc_process *p, bool near, const char *said, char *socket, size_t size,
                            struct error *error)
{
        char text[1024];

        if (near)
                return (size_t)snprintf(socket, size, "%s", said) < size;
        if (said[0] == '/' && agent_peer_path(p->pid, said, socket, size) && agent_peer_process(socket) == p->pid)
                return true;
        (void)hw_terminal_text(text, sizeof(text), said);
        return error_set(
                error, "its agent has the socket %.200s, where root's daemon cannot know that it is the agent's", text);
}

/* The socket's path in `socket`, AGENT_BEGUN or AGENT_THERE in *ret. `own`: where it is to be, for our user. */
static bool load_agent(const struct request *q, const struct ghc_process *p, const char *library, const char *own,
                       char *socket, size_t size, int *ret, struct error *error)
{
        char settings[4352], censuses[64], said[1024], text[1024];
        bool near = is_near(p, own);
        int n = 0;

        if (near) /* otherwise in its user's directory, which the agent knows */
                n = snprintf(settings, sizeof(settings), "socket=%s;", own);
        snprintf(settings + n, sizeof(settings) - (size_t)n, "%sheap=%s;classes=%s;interval=%.3f;%s",
                 census_options_settings(&q->censuses, censuses, sizeof(censuses)),
                 q->heap_profile ? q->heap_profile : "T", q->classes ? q->classes : "gu", (double)q->interval_ns / 1e9,
                 p->symbols ? p->symbols : "");
        if (!inject_when_up(p, library, settings, ret, said, sizeof(said), error))
                return false;
        if (*ret == AGENT_BEGUN || *ret == AGENT_THERE)
                return understand_path(p, near, said, socket, size, error);
        (void)hw_terminal_text(text, sizeof(text), said);
        return error_set(error, "%s", text);
}

/* The socket of the agent that is in it, where `attach` puts it, or the agent itself in its own file system. */
static bool find_socket(const struct ghc_process *p, const char *own, char *ret, size_t size)
{
        if (!is_near(p, own))
                return process_socket_apart(p->pid, ret, size);
        snprintf(ret, size, "%s", own);
        return !unix_nobody_listens(own);
}

/* As load_agent(), unless the agent is in it and has its socket in a known place; and switches its log on. */
static bool bring_in(const struct request *q, const struct ghc_process *p, const struct daemon_link *link,
                     const char *library, char *socket, size_t size, int *ret, struct error *error)
{
        char own[256];

        process_socket(link->directory, p->pid, own, sizeof(own));
        if (p->agent && find_socket(p, own, socket, size)) {
                *ret = AGENT_THERE;
        } else if (p->fit.agent) {
                return error_set(error,
                                 "the agent is linked into it, but its socket is not %s: give the daemon the one "
                                 "that it has, or start it with the same HEAPWATCH_DIR",
                                 own);
        } else if (!load_agent(q, p, library, own, socket, size, ret, error)) {
                return false;
        }
        return start_log(q, socket, *ret == AGENT_BEGUN, error);
}

/* The agent in it answers nobody before it goes on. */
static bool may_answer(const struct ghc_process *p, struct error *error)
{
        return !p->agent || p->obstacle != OBSTACLE_STOPPED ||
               error_set(error, "the agent is in it, and %s: %s", obstacle_reason(p->obstacle),
                         "let it go on (kill -CONT PID), and try again");
}

static int report_failure(const struct command *command, const char *program, const struct error *error)
{
        return command_error(command, "%s: %s", program, error->text);
}

/* Not from inside, for a reason that may pass or that others can do away with: says what can be done now. */
static int fail_but_process(const struct request *q, struct error *error)
{
        const struct error why = *error;
        struct error unused;
        char uri[PROCESS_URI_SIZE];
        pid_t pid;

        if (!process_number(q->program, &pid, error) || !process_uri(pid, uri))
                *error = why;
        else if (outside_try(pid, false, &unused))
                (void)error_set(error, "%s; it can be watched from outside: heapwatch attach --outside %d", why.text,
                                (int)pid);
        else
                (void)error_set(error, "%s; only its process can be watched: heapwatch attach --process-only %d",
                                why.text, (int)pid);
        return report_failure(&command_attach, q->program, error);
}

/* The daemon does not take it: a log that we began is ended; one that was there may have another reader. */
static int undo_attach(const struct ghc_process *p, const char *socket, int outcome, struct error *error)
{
        struct error why = *error, unused;

        if (outcome != AGENT_BEGUN || !agent_request(socket, "stop", ASK_MS, NULL, 0, &unused))
                error_set(error, "%s; the agent keeps running in it: `heapwatch detach %d` ends that", why.text,
                          (int)p->pid);
        return report_failure(&command_attach, p->name, error);
}

/* Not from inside, because of that obstacle or because the user wishes it so. */
static int attach_process(const struct request *q, pid_t pid, enum obstacle obstacle, const char *reason)
{
        const struct process_wish wish = {
                q->name, obstacle, reason, q->process_only, { q->resolution_ns, &q->labels, NULL, q->no_record }
        };
        struct error error;

        return process_attach(pid, &wish, &error) ? EXIT_OK : report_failure(&command_attach, q->program, &error);
}

/* The agent cannot be used where the program is: from outside, unless something was given that needs it. */
static int attach_without_agent(const struct request *q, const struct ghc_process *p, struct error *error)
{
        char reason[PROCESS_REASON_SIZE];
        struct error unused;

        if ((q->heap_profile && strcmp(q->heap_profile, "T") != 0) || q->classes ||
            !outside_try(p->pid, false, &unused))
                return fail_but_process(q, error);
        (void)snprintf(reason, sizeof(reason), "the agent cannot be used: %.400s", error->text);
        return attach_process(q, p->pid, OBSTACLE_UNREACHABLE, reason);
}

static int run_attach(void *filled)
{
        const struct request *q = filled;
        const struct daemon_wish wish = { q->resolution_ns, &q->labels, NULL, q->no_record };
        struct ghc_process p;
        struct daemon_link link;
        struct daemon_target there;
        struct error error = { "" };
        char labels[LABELS_SIZE], started[OWN_DAEMON_TEXT], library[4096],
                socket[1024] = "", uri[1100], target[DAEMON_NAME_MAX], name[DAEMON_NAME_MAX];
        int outcome = AGENT_NOT_YET; /* until the agent has answered */

        if (!labels_join(q->labels.items, q->labels.n, labels, &error))
                return command_usage_error(&command_attach, "%s", error.text);
        if (census_options_check(&command_attach, &q->censuses))
                return EXIT_USAGE;
        if (q->process_only || q->outside) {
                pid_t pid;
                return process_number(q->program, &pid, &error) ? attach_process(q, pid, OBSTACLE_NONE, NULL)
                                                                : report_failure(&command_attach, q->program, &error);
        }
        if (!process_find(q->program, &p, &error))
                return fail_but_process(q, &error);
        /* Examined once more when no other heapwatch attaches to it any more, which may have brought the agent in. */
        if (!lock_process(&p, &error) || !process_find(q->program, &p, &error))
                return report_failure(&command_attach, q->program, &error);
        process_reveal(&p);
        if (!may_answer(&p, &error))
                return report_failure(&command_attach, q->program, &error);
        if (p.obstacle != OBSTACLE_NONE)
                return attach_process(q, p.pid, p.obstacle, NULL);
        /* No daemon is started for a program that cannot be attached to. */
        if (!may_watch(&p, &error))
                return fail_but_process(q, &error);
        if (!library_for(&p, library, sizeof(library), &error))
                return attach_without_agent(q, &p, &error);
        if (!daemon_link_init(&link, &error))
                return report_failure(&command_attach, q->program, &error);
        if (!may_reach(&p, &link, &error))
                return attach_without_agent(q, &p, &error);
        link.wait_ms = PATIENCE_MS;
        link.no_record = q->no_record;
        enum daemon_outcome ensured = daemon_ensure(&link, PATIENCE_MS, started, &error);
        if (started[0])
                printf("%s\n", started);
        if (ensured != DAEMON_OK)
                return report_failure(&command_attach, q->program, &error);
        if (!bring_in(q, &p, &link, library, socket, sizeof(socket), &outcome, &error))
                return outcome == AGENT_REFUSED ? attach_without_agent(q, &p, &error) : fail_but_process(q, &error);
        snprintf(uri, sizeof(uri), "unix:%s", socket);
        daemon_name_of(p.name, name);
        const bool was_watched = daemon_find(&link, uri, &there) && there.has_run;
        if (daemon_add(&link, q->name ? q->name : name, q->name != NULL, uri, &wish, target, &error) != DAEMON_OK)
                return undo_attach(&p, socket, outcome, &error);
        printf("attached to %s, process %d, GHC %s%s: heapwatch top %s\n", p.name, (int)p.pid, p.fit.version,
               p.fit.eventlog ? "" : " without eventlog, so no threads and no user events", target);
        printf("%s; `heapwatch detach %d` stops watching\n",
               was_watched ? "it was watched before, which is kept" : "what happened before is unknown", (int)p.pid);
        return EXIT_OK;
}

/*
 * The agent of a process: what its target reads or, where the daemon does not know it, where it has its socket. False
 * when the daemon does not answer.
 */
static bool find_agent(const struct daemon_link *link, const struct ghc_process *p, struct daemon_target *target,
                       char *socket, size_t size)
{
        static const char scheme[] = "unix:";
        char own[256];

        process_socket(link->directory, p->pid, own, sizeof(own));
        bool answered = daemon_find(link, strrchr(own, '/'), target);
        if (strncmp(target->uri, scheme, sizeof(scheme) - 1) == 0)
                snprintf(socket, size, "%s", target->uri + sizeof(scheme) - 1);
        else if (!find_socket(p, own, socket, size))
                snprintf(socket, size, "%s", own);
        return answered;
}

/*
 * What `heapwatch run` started has a log that comes from no agent of attach: the target goes, the program is not
 * touched.
 */
static int end_without_agent(struct daemon_link *link, const char *name, bool is_target, const struct error *error)
{
        link->wait_ms = PATIENCE_MS;
        if (!is_target || !daemon_remove(link, name))
                return report_failure(&command_detach, name, error);
        printf("%s is no longer watched; `heapwatch run`, which started it, waits for its end\n", name);
        return EXIT_OK;
}

static int run_detach(void *filled)
{
        const struct request *q = filled;
        struct ghc_process p;
        struct daemon_link link;
        struct daemon_target target;
        struct error error = { "" };
        char socket[512], number[24];
        const char *program = q->program;
        pid_t pid;

        if (!daemon_link_init(&link, &error))
                return report_failure(&command_detach, q->program, &error);
        if (strspn(program, "0123456789") < strlen(program) && (pid = daemon_process_of(&link, program)) > 0) {
                (void)snprintf(number, sizeof(number), "%ld", (long)pid); /* the name of its target */
                program = number;
        }
        const bool named = daemon_has(&link, q->program);
        if (process_number(program, &pid, &error) && process_detach(pid))
                return EXIT_OK;
        const bool found = process_find(program, &p, &error);
        if (found && !p.agent)
                (void)error_set(&error, "the agent is not in it");
        if (!found || !p.agent)
                return end_without_agent(&link, q->program, named, &error);
        if (!may_answer(&p, &error) || !lock_process(&p, &error))
                return report_failure(&command_detach, q->program, &error);
        link.wait_ms = PATIENCE_MS;
        bool answered = find_agent(&link, &p, &target, socket, sizeof(socket));
        if (!agent_request(socket, "stop", ASK_MS, NULL, 0, &error))
                return end_without_agent(&link, q->program, named, &error);
        printf("detached from %s, process %d: the agent's log and censuses have ended; the library stays mapped, its "
               "two threads sleep\n",
               p.name, (int)p.pid);
        if ((answered && (!target.name[0] || daemon_remove(&link, target.name))) || !daemon_reachable(&link))
                return EXIT_OK;
        return command_error(&command_detach,
                             "the daemon does not answer and keeps the target: `heapwatch detach %d` once more",
                             (int)p.pid);
}

const struct command command_attach = {
        .name = "attach",
        .summary = "watch a program that is already running",
        .usage = TEXTS("PID|NAME [OPTION]..."),
        .about = "Loads the agent (docs/AGENT.md) into a GHC-compiled program that runs, whatever flags it was built "
                 "and started with, and gives it to the daemon (started when none runs): collections, live data, and "
                 "bands by closure type, from now on. Heap censuses that are not read from outside pause it, on "
                 "average for 0.05 % of the time, see "
                 "`heapwatch run --help`: --budget, --max-pause. One thread of the program, the runtime's ticker, is "
                 "borrowed for some milliseconds by ptrace(2); that needs a process of yours and "
                 "kernel.yama.ptrace_scope 0, "
                 "or CAP_SYS_PTRACE. Root, with root's daemon, watches the programs of all users. `heapwatch ps` lists "
                 "what can be attached to. A program that cannot be watched from inside, such as "
                 "a stripped one of a build of GHC whose signatures are not installed, or any on another machine than "
                 "x86-64, is watched from outside: its memory is read "
                 "while it runs, for live data, heap size "
                 "and "
                 "bands (docs/INSIDE.md). Where that cannot be either, only its process is watched: memory, faults, "
                 "processor time and limits are known, its heap is not.",
        .options = attach_options,
        .status = "0, or 2 when it could not be attached to: then the program continues as it was.",
        .examples = TEXTS("heapwatch attach Server", "heapwatch attach 1234 --name api-1",
                          "heapwatch attach --outside 1234", "heapwatch attach --process-only 1234"),
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .interval_ns = UINT64_C(1000000000) },
        .run = run_attach,
};

const struct command command_detach = {
        .name = "detach",
        .summary = "end watching a program that was attached to",
        .usage = TEXTS("PID|NAME"),
        .about = "Ends the log and the heap profile in the program, and removes its target from the daemon. The "
                 "agent's library stays mapped, and its threads sleep, until the program ends; `heapwatch attach` "
                 "begins again.",
        .options = detach_options,
        .status = "0, or 2 when the program, its agent or the daemon does not answer.",
        .examples = TEXTS("heapwatch detach Server"),
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .program = NULL },
        .run = run_detach,
};

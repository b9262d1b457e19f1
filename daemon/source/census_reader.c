/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the child's standard output is the connection itself: the daemon sends nothing on it, so whole requests of
 * the child's do not mix with others, and it needs no further connection to the agent. The program is the process that
 * the kernel names as the other side. The child is reaped here by its pid, at a second's notice. One that was killed is
 * started again; one that ends by itself has said why, which does not change while the connection lasts.
 */
#include "daemon/source/census_reader.h"

#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/limits.h"
#include "heapwatch/text.h"
#include "proto/base/child.h"
#include "proto/base/descriptors.h"

static uint64_t memory_bytes = UINT64_C(1) << 30;

void inspector_set_memory(uint64_t bytes)
{
        memory_bytes = bytes;
}

void inspector_print_memory(char ret[INSPECTOR_MEMORY])
{
        (void)snprintf(ret, INSPECTOR_MEMORY, "%" PRIu64, memory_bytes);
}

void inspector_sentence(int err, char ret[INSPECTOR_SENTENCE])
{
        char text[INSPECTOR_SENTENCE];
        const ssize_t n = err >= 0 ? read(err, text, sizeof(text) - 1) : -1;

        text[n > 0 ? n : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        (void)hw_terminal_text(ret, INSPECTOR_SENTENCE, text);
}

/* It is not waited for longer than a moment. */
void inspector_end(pid_t *child)
{
        const struct timespec pause = { .tv_nsec = 1000000 };

        if (*child <= 0)
                return;
        (void)kill(*child, SIGKILL);
        for (int i = 0; i < 100 && waitpid(*child, NULL, WNOHANG) == 0; i++)
                (void)nanosleep(&pause, NULL);
        *child = 0;
}

static unsigned n_readers; /* that have a program */
static bool is_allowed = true;

void census_reader_allow(bool allowed)
{
        is_allowed = allowed;
}

static const struct timeval first_pause = { 2, 0 }, check_pause = { 1, 0 };

static void close_ends(struct census_reader *r)
{
        close_fd(&r->life);
        close_fd(&r->err);
}

/* False: not now. */
static bool start_child(struct census_reader *r)
{
        char pid[16], memory[INSPECTOR_MEMORY];
        char *argv[] = { "heapwatch-inspect", "watch", "--for-agent", "--pid", pid, "--memory", memory, NULL };
        int in[2], err[2];

        (void)snprintf(pid, sizeof(pid), "%ld", (long)r->program);
        inspector_print_memory(memory);
        if (child_pipes(in, 0, err, O_NONBLOCK) < 0)
                return false;
        const int failed = child_spawn(argv, (const int[]){ in[0], r->socket, err[1] }, CHILD_APART, &r->child);
        (void)close(in[0]);
        (void)close(err[1]);
        r->life = in[1];
        r->err = err[0];
        if (failed)
                close_ends(r);
        return !failed;
}

static void try_later(struct census_reader *r)
{
        const struct timeval pause = backoff_next(&r->backoff);

        (void)event_add(r->timer, &pause);
}

static void child_ended(struct census_reader *r, int status)
{
        char said[INSPECTOR_SENTENCE];

        r->child = 0;
        inspector_sentence(r->err, said);
        close_ends(r);
        if (WIFSIGNALED(status)) {
                log_debug("pid=%ld what reads its censuses was ended by signal %d", (long)r->program, WTERMSIG(status));
                try_later(r);
        } else {
                log_debug("pid=%ld its agent makes censuses itself: %s", (long)r->program, said);
        }
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
        struct census_reader *r = ctx;
        int status = 0;

        if (r->child > 0) {
                const pid_t done = waitpid(r->child, &status, WNOHANG);
                if (done == 0)
                        (void)event_add(r->timer, &check_pause);
                else
                        child_ended(r, done == r->child ? status : 0);
        } else if (start_child(r)) {
                (void)event_add(r->timer, &check_pause);
        } else {
                try_later(r);
        }
}

void census_reader_begin(struct census_reader *r, struct event_base *base, int socket)
{
        struct ucred peer = { .pid = 0 };
        socklen_t size = sizeof(peer);

        *r = (struct census_reader){ .socket = socket, .life = -1, .err = -1 };
        if (!is_allowed || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0 ||
            peer.pid == getpid() || n_readers == LIMIT_CENSUS_READERS || !(r->timer = evtimer_new(base, on_timer, r)))
                return;
        n_readers++;
        r->program = peer.pid;
        (void)event_add(r->timer, &first_pause);
}

void census_reader_end(struct census_reader *r)
{
        if (!r->timer)
                return;
        n_readers--;
        event_free(r->timer);
        close_ends(r);
        inspector_end(&r->child);
        *r = (struct census_reader){ .timer = NULL };
}

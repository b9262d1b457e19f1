/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.h - requests, one line each, and the answers to them.
 *
 *      7 census                    ->  heapwatch-agent: answer 7 ok
 *      8 heap i                    ->  heapwatch-agent: answer 8 no this program has no info tables
 *
 * The number is chosen by the client. Answers come as message events in the log
 * (event 16), so that one connection carries both and any eventlog reader can
 * read it. What each request does is in docs/AGENT.md.
 *
 * The server's thread posts lines; the pace thread carries them out, since some
 * need the runtime.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/limits.h"
#include "proto/base/agent_socket.h"
#include "proto/base/error.h"

enum request_verb {
        REQUEST_STATUS,
        REQUEST_CENSUS,
        REQUEST_START,
        REQUEST_STOP,
        REQUEST_HEAP,      /* letter: 'T', 'i', 0 */
        REQUEST_CLASSES,   /* text */
        REQUEST_INTERVAL,  /* ns */
        REQUEST_FLUSH,     /* ns */
        REQUEST_BUDGET,    /* share */
        REQUEST_MAX_PAUSE, /* ns; 0: no limit */
        REQUEST_TRACER,    /* carried out by control_post */
};

struct request {
        uint32_t id;
        enum request_verb verb;
        char letter;
        char text[16];
        int64_t ns;
        double share;
};

/* Pure. False with a reason; *ret has the id if there was one, else 0. */
bool control_parse(const char *line, struct request *ret, struct error *error);

/*
 * From the server: a line without its line feed, and the connection that it came on. Answers at once what needs nothing
 * of the runtime, and what cannot be done.
 */
void control_post(const char *line, int connection);

/* The next request, if there is one. */
bool control_next(struct request *ret);

/* `why`: the result in words, "" for none, or the reason why not. */
void control_reply(const struct request *r, bool ok, const char *why);

/* In the child of a fork: forgets the parent's requests. */
void control_fork_child(void);

/* Called by control_post when there is something to do. */
void control_on_request(void (*wake)(void));

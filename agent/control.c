/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/control.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "agent/server.h"
#include "agent/settings.h"
#include "proto/base/array.h"

static struct {
        pthread_mutex_t lock;
        struct request waiting[AGENT_REQUESTS];
        unsigned first, count;
        void (*wake)(void);
} c = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ------------------------------------------------------------------ parsing */

static const struct {
        const char *name;
        enum request_verb verb;
        const char *setting; /* the setting whose argument it takes; NULL: none */
} verbs[] = {
        { "status", REQUEST_STATUS, NULL },
        { "census", REQUEST_CENSUS, NULL },
        { "start", REQUEST_START, NULL },
        { "stop", REQUEST_STOP, NULL },
        { "heap", REQUEST_HEAP, "heap" },
        { "classes", REQUEST_CLASSES, "classes" },
        { "interval", REQUEST_INTERVAL, "interval" },
        { "flush", REQUEST_FLUSH, "flush" },
        { "budget", REQUEST_BUDGET, "budget" },
        { "max-pause", REQUEST_MAX_PAUSE, "max-pause" },
        { "tracer", REQUEST_TRACER, NULL },
};

/* The argument is checked as that of the setting. */
static bool parse_argument(const char *setting, const char *argument, struct request *r)
{
        struct agent_settings s;
        char text[AGENT_REQUEST_BYTES];

        settings_default(&s);
        if ((size_t)snprintf(text, sizeof(text), "%s=%s", setting, argument) >= sizeof(text) || strchr(argument, ';') ||
            !settings_parse(&s, text, NULL))
                return false;
        r->letter = s.heap;
        memcpy(r->text, s.classes, sizeof(r->text));
        r->ns = r->verb == REQUEST_FLUSH ? s.flush_ns : r->verb == REQUEST_MAX_PAUSE ? s.max_pause_ns : s.interval_ns;
        r->share = s.budget;
        return true;
}

bool control_parse(const char *line, struct request *ret, struct error *error)
{
        char *end;
        unsigned long id = strtoul(line, &end, 10);

        *ret = (struct request){ 0 };
        if (line[0] < '0' || line[0] > '9' || id > UINT32_MAX || *end != ' ') {
                return error_set(error, "expected a number and a request");
        }
        ret->id = (uint32_t)id;
        const char *verb = end + 1;
        size_t n = strcspn(verb, " ");
        const char *argument = verb[n] ? verb + n + 1 : "";
        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
                if (strlen(verbs[i].name) != n || memcmp(verbs[i].name, verb, n) != 0)
                        continue;
                ret->verb = verbs[i].verb;
                if (verbs[i].setting ? parse_argument(verbs[i].setting, argument, ret) : *argument == '\0')
                        return true;
                return error_set(error, "%s does not take '%s'", verbs[i].name, argument);
        }
        error_set(error,
                  "no such request; there are status, census, start, stop, heap, classes, interval, "
                  "flush, budget, max-pause, tracer");
        return false;
}

/* ------------------------------------------------------------------ the queue */

void control_on_request(void (*wake)(void))
{
        c.wake = wake;
}

static bool enqueue_request(const struct request *r)
{
        bool room;

        pthread_mutex_lock(&c.lock);
        room = c.count < AGENT_REQUESTS;
        if (room)
                c.waiting[(c.first + c.count++) % AGENT_REQUESTS] = *r;
        pthread_mutex_unlock(&c.lock);
        return room;
}

void control_fork_child(void)
{
        pthread_mutex_init(&c.lock, NULL);
        c.count = 0;
}

/* Where the kernel has yama and its ptrace_scope is 1, a process says itself who may trace it: one at a time. */
static bool allow_tracer(int connection, struct error *error)
{
        struct ucred peer = { .pid = 0 };
        socklen_t size = sizeof(peer);

        if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0)
                return error_set(error, "who asks is not seen from here: it is outside of this container");
        if (prctl(PR_SET_PTRACER, (unsigned long)peer.pid, 0, 0, 0) < 0)
                return error_set(error, "the kernel has no yama, and nobody to allow to trace");
        return true;
}

void control_post(const char *line, int connection)
{
        struct request r;
        struct error error = { .text = "" };

        if (!control_parse(line, &r, &error))
                control_reply(&r, false, error.text);
        else if (r.verb == REQUEST_TRACER)
                control_reply(&r, allow_tracer(connection, &error), error.text);
        else if (!c.wake || !enqueue_request(&r))
                control_reply(&r, false, "busy");
        else
                c.wake();
}

bool control_next(struct request *ret)
{
        bool some;

        pthread_mutex_lock(&c.lock);
        some = c.count > 0;
        if (some) {
                *ret = c.waiting[c.first];
                c.first = (c.first + 1) % AGENT_REQUESTS;
                c.count--;
        }
        pthread_mutex_unlock(&c.lock);
        return some;
}

void control_reply(const struct request *r, bool ok, const char *why)
{
        server_notify("answer %u %s%s%s", r->id, ok ? "ok" : "no", *why ? " " : "", why);
}

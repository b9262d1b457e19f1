/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.c - form fields into a request, its reply as JSON.
 *
 * Another site's page can make a browser post a form; it cannot add a header of
 * its own without a CORS preflight, which is refused: so the header X-Heapwatch
 * is required.
 */
#include "client/web/server.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/cli/report.h"
#include "client/launch/program/agent_census.h"
#include "client/world/state/world.h"
#include "client/answers/api/state_json.h"
#include "client/out/http/answer.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/utf8.h"
#include "proto/wire/message.h"

#define BODY_MOST 16384
#define FORM_TYPE "application/x-www-form-urlencoded"

#define OBJECT_MOST 200

/* A request that the daemon has, and what the audit says of it. */
struct performed {
        struct evhttp_request *req;
        const char *action; /* static */
        char object[OBJECT_MOST];
        char holder[KEY_NAME_MAX + 1];
};

static void log_performed(const struct performed *p, const char *outcome)
{
        struct evhttp_connection *c = evhttp_request_get_connection(p->req);
        char *address = NULL;
        uint16_t port = 0;

        if (c)
                evhttp_connection_get_peer(c, &address, &port);
        report_info("audit action=%s of='%s' by=%s from=%s outcome=%s", p->action, p->object, p->holder,
                    address && *address ? address : "?", outcome);
}

static void on_reply(void *ctx, int status, const Hw__Reply *reply)
{
        struct performed *p = ctx;
        struct document d;

        log_performed(p, !reply ? hw_reply_error(status) : reply->error ? "refused" : "done");
        if (!reply) {
                answer_error(p->req, 504, "%s", hw_reply_error(status));
        } else if (reply->error) {
                answer_error(p->req, 409, "%s", reply->error);
        } else {
                document_open(&d);
                if (d.to)
                        json_message(&(struct json_out){ .to = d.to }, &reply->base, false);
                answer_document(p->req, &d);
        }
        free(p);
}

static const char *form_field(const struct evkeyvalq *form, const char *name)
{
        return evhttp_find_header(form, name);
}

/* Copies a field of the form, if present, into a text of the request. */
static bool copy_text(char **text, const struct evkeyvalq *form, const char *name)
{
        return hw_request_set_text(text, form_field(form, name)) == 0;
}

static bool make_add(Hw__Request *r, const struct evkeyvalq *form)
{
        Hw__AddTargetRequest *add = r->add_target;

        return copy_text(&add->uri, form, "uri") && copy_text(&add->name, form, "name") && add->uri;
}

static bool make_remove(Hw__Request *r, const struct evkeyvalq *form)
{
        return copy_text(&r->remove_target->name, form, "target") && r->remove_target->name;
}

static bool make_silence(Hw__Request *r, const struct evkeyvalq *form)
{
        const char *length = form_field(form, "for");
        Hw__SilenceRequest *s = r->silence;

        s->has_duration_ns = 1;
        return copy_text(&s->rule, form, "rule") && copy_text(&s->target, form, "target") &&
               copy_text(&s->why, form, "why") && s->rule && length && hw_parse_duration(length, &s->duration_ns);
}

static bool make_unsilence(Hw__Request *r, const struct evkeyvalq *form)
{
        Hw__UnsilenceRequest *u = r->unsilence;

        return copy_text(&u->rule, form, "rule") && copy_text(&u->target, form, "target") && u->rule;
}

/* A request to the target's program, not to the daemon. */
struct program_job {
        struct worker_job job;
        struct agent_place place;
        char target[WORLD_NAME_MAX + 1], endpoint[256];
        const char *action; /* static */
        const struct program_command *command;
};

static bool run_program(struct worker_job *job, struct json_out *to, struct error *error)
{
        struct program_job *p = (struct program_job *)job;
        char said[512];

        if (!program_request(&p->place, p->command, said, sizeof(said), error))
                return false;
        json_open(to, '{');
        json_member_text(to, p->action, said);
        json_close(to, '}');
        return true;
}

static void queue_program(const struct performed *about, const struct control_parts *parts, size_t daemon,
                          const struct evkeyvalq *form)
{
        const char *name = form_field(form, "target"), *text = form_field(form, "command");
        const struct world_target *t = name ? world_find_of(parts->world, daemon, name) : NULL;
        const struct program_command *command = program_command_find(text ? text : "census");
        struct program_job *p = t && command ? calloc(1, sizeof(*p)) : NULL;

        if (!t || !command) {
                log_performed(about, "refused");
                answer_error(about->req, name && command ? 409 : 400,
                             !name     ? "program: expected target"
                             : command ? "there is no target '%.80s'"
                                       : "program: unknown command; /api/state has all as server.commands",
                             name);
                return;
        }
        if (p) {
                p->job.work = run_program;
                p->action = about->action;
                p->command = command;
                p->place.target = p->target;
                p->place.endpoint = p->endpoint;
                (void)snprintf(p->endpoint, sizeof(p->endpoint), "%s", feed_endpoint(parts->feed, daemon));
                p->place.known = true;
                (void)snprintf(p->target, sizeof(p->target), "%s", name);
                (void)snprintf(p->place.uri, sizeof(p->place.uri), "%s",
                               t->target && t->target->uri ? t->target->uri : "");
        }
        log_performed(about, "requested");
        worker_queue(parts->program_worker, p ? &p->job : NULL, about->req);
}

/* What has begun is shown by an address of its own. */
static void answer_started(const struct performed *about, bool good, const struct error *error)
{
        struct document d;

        log_performed(about, good ? "done" : "refused");
        if (!good) {
                answer_error(about->req, 409, "%s", error->text);
                return;
        }
        document_open(&d);
        if (d.to)
                (void)fputs("{}", d.to);
        answer_document(about->req, &d);
}

/* A profile of the target's process by this server, which is on its machine; /api/profile has it. */
static void control_profile(const struct performed *about, const struct control_parts *parts, size_t daemon,
                            const struct evkeyvalq *form)
{
        const char *target = form_field(form, "target"), *length = form_field(form, "for"),
                   *by = form_field(form, "allocation");
        const bool is_stop = !strcmp(about->action, "stop-profile");
        uint64_t for_ns = PROFILE_DEFAULT_NS;
        struct error error;

        if (!target ||
            (length &&
             (!hw_parse_duration(length, &for_ns) || for_ns < PROFILE_LEAST_NS || for_ns > PROFILE_MOST_NS)) ||
            (by && strcmp(by, "0") && strcmp(by, "1"))) {
                answer_error(about->req, 400, "%s: expected target%s", about->action,
                             is_stop ? "" : ", and optionally for, 1s to 60s, and allocation, 0 or 1");
                return;
        }
        answer_started(about,
                       is_stop ? inspections_finish(parts->inspections, daemon, target, &error)
                               : inspections_start(parts->inspections,
                                                   by && !strcmp(by, "1") ? INSPECTING_ALLOCATION : INSPECTING_PROFILE,
                                                   daemon, target, for_ns, &error),
                       &error);
}

/* The memory of the target's process is read: its heap, with or without who holds what, or its threads. */
static void control_inspection(const struct performed *about, const struct control_parts *parts, size_t daemon,
                               const struct evkeyvalq *form)
{
        const char *target = form_field(form, "target"), *retained = form_field(form, "retained");
        const enum inspecting_what what = !strcmp(about->action, "threads")    ? INSPECTING_THREADS
                                          : retained && !strcmp(retained, "1") ? INSPECTING_HELD
                                                                               : INSPECTING_HEAP;
        struct error error;

        if (!target || (retained && strcmp(retained, "0") && strcmp(retained, "1")))
                answer_error(about->req, 400, "%s: expected target%s", about->action,
                             what == INSPECTING_THREADS ? "" : ", and optionally retained, 0 or 1");
        else
                answer_started(about, inspections_start(parts->inspections, what, daemon, target, 0, &error), &error);
}

/* `what`, `make`: a request to the daemon; else it is this server that does it. */
static const struct {
        const char *name, *expected;
        Hw__Request__WhatCase what;
        enum key_role role;
        const char *object; /* the field that says of what */
        bool (*make)(Hw__Request *r, const struct evkeyvalq *form);
        void (*perform)(const struct performed *about, const struct control_parts *parts, size_t daemon,
                        const struct evkeyvalq *form);
} actions[] = {
        { "add", "uri, and optionally name", HW__REQUEST__WHAT_ADD_TARGET, ROLE_CONTROL, "uri", make_add, NULL },
        { "remove", "target", HW__REQUEST__WHAT_REMOVE_TARGET, ROLE_CONTROL, "target", make_remove, NULL },
        { "silence", "rule and for (e.g. 30m), and optionally target and why", HW__REQUEST__WHAT_SILENCE, ROLE_SILENCE,
          "rule", make_silence, NULL },
        { "unsilence", "rule, and target if it was given", HW__REQUEST__WHAT_UNSILENCE, ROLE_SILENCE, "rule",
          make_unsilence, NULL },
        { "census", "target", HW__REQUEST__WHAT__NOT_SET, ROLE_CONTROL, "target", NULL, queue_program },
        { "program", "target and command", HW__REQUEST__WHAT__NOT_SET, ROLE_CONTROL, "target", NULL, queue_program },
        { "profile", "target", HW__REQUEST__WHAT__NOT_SET, ROLE_CONTROL, "target", NULL, control_profile },
        { "stop-profile", "target", HW__REQUEST__WHAT__NOT_SET, ROLE_CONTROL, "target", NULL, control_profile },
        { "heap", "target", HW__REQUEST__WHAT__NOT_SET, ROLE_CONTROL, "target", NULL, control_inspection },
        { "threads", "target", HW__REQUEST__WHAT__NOT_SET, ROLE_CONTROL, "target", NULL, control_inspection },
};

static void send_request(const struct performed *about, struct hw_requester *requester, size_t daemon,
                         Hw__Request *request)
{
        struct performed *p = malloc(sizeof(*p));

        if (!p) {
                answer_error(about->req, 500, "out of memory");
                return;
        }
        *p = *about;
        int r = hw_requester_send(requester, daemon, request, WEB_REQUEST_MS, on_reply, p, NULL);

        if (r < 0)
                on_reply(p, r, NULL);
}

static void perform_request(struct evhttp_request *req, const struct control_parts *parts, size_t daemon,
                            const struct evkeyvalq *form, const struct guard_token *holder)
{
        const char *name = form_field(form, "action"), *object;
        struct performed about = { .req = req };

        for (size_t i = 0; name && i < ARRAY_SIZE(actions); i++) {
                if (strcmp(actions[i].name, name))
                        continue;
                object = form_field(form, actions[i].object);
                about.action = actions[i].name;
                (void)snprintf(about.holder, sizeof(about.holder), "%s", holder->name);
                (void)safe_text(about.object, sizeof(about.object), object);
                if (holder->role < actions[i].role) {
                        log_performed(&about, "forbidden");
                        answer_error(req, 403, "the token '%s' has the role %s; this needs %s", holder->name,
                                     role_name(holder->role), role_name(actions[i].role));
                        return;
                }
                if (actions[i].perform) {
                        actions[i].perform(&about, parts, daemon, form);
                        return;
                }
                Hw__Request *request = hw_request_new(actions[i].what);
                if (!request)
                        answer_error(req, 500, "out of memory");
                else if (actions[i].make(request, form))
                        send_request(&about, parts->requester, daemon, request);
                else
                        answer_error(req, 400, "%s: expected %s", name, actions[i].expected);
                hw_request_destroy(&request);
                return;
        }
        answer_error(req, 400,
                     "unknown action; expected add, remove, silence, unsilence, census, program, profile, "
                     "stop-profile, heap "
                     "or threads");
}

static char *body_text(struct evhttp_request *req)
{
        struct evbuffer *body = evhttp_request_get_input_buffer(req);
        size_t n = evbuffer_get_length(body);
        char *text = n <= BODY_MOST ? malloc(n + 1) : NULL;

        if (!text)
                return NULL;
        n = (size_t)evbuffer_remove(body, text, n);
        text[n] = '\0';
        return text;
}

/* Whether a Content-Type, without its parameters, is that of a form. NULL: it is not. */
static bool is_form(const char *type)
{
        const size_t n = strlen(FORM_TYPE);

        return type && !strncasecmp(type, FORM_TYPE, n) && (!type[n] || strchr("; \t", type[n]));
}

void control_answer(struct evhttp_request *req, const struct control_parts *parts, const struct guard_token *holder)
{
        const struct evkeyvalq *in = evhttp_request_get_input_headers(req);
        struct evkeyvalq form;
        const char *daemon;
        uint64_t index = 0;
        char *text;

        if (!evhttp_find_header(in, "X-Heapwatch")) {
                answer_error(req, 403, "the header 'X-Heapwatch: control' is missing");
                return;
        }
        if (!is_form(evhttp_find_header(in, "Content-Type"))) {
                answer_error(req, 415, "expected Content-Type: " FORM_TYPE);
                return;
        }
        text = body_text(req);
        if (!text) {
                answer_error(req, 413, "the request is longer than %d bytes", BODY_MOST);
                return;
        }
        if (!query_parameters(text, &form)) {
                answer_error(req, 400, "malformed form");
                free(text);
                return;
        }
        daemon = evhttp_find_header(&form, "daemon");
        if (index >= parts->n_daemons || (daemon && !digits_parse(daemon, parts->n_daemons - 1, &index)))
                answer_error(req, 400, "there is no daemon with that number");
        else
                perform_request(req, parts, index, &form, holder);
        evhttp_clear_headers(&form);
        free(text);
}

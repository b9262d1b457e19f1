/* SPDX-License-Identifier: BSD-3-Clause */
/* silence_requests.c - every reply is a list of silences: the new one, the ended one, or all. */
#include "daemon/watch/control/requests.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/publish/encode.h"
#include "daemon/watch/alerting/silence_store.h"
#include "proto/base/nearest.h"
#include "proto/base/clock.h"
#include "heapwatch/text.h"
#include "daemon/log.h"
#include "daemon/judge/rules/rule.h"
#include "proto/base/error.h"

static void fill(Hw__Silence *to, const struct silence *from)
{
        hw__silence__init(to);
        PUT(to, id, from->id);
        PUT(to, until_wall_ns, from->until_wall_ns);
        PUT(to, created_wall_ns, from->created_wall_ns);
        to->rule = (char *)from->rule;
        to->target = (char *)from->target;
        to->why = from->why[0] ? (char *)from->why : NULL;
}

static void answer(const struct silence_store *store, const struct silence *items, size_t n, struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__Silences list = HW__SILENCES__INIT;
        Hw__Silence *messages = calloc(n + 1, sizeof(*messages));
        Hw__Silence **pointers = calloc(n + 1, sizeof(*pointers));

        for (size_t i = 0; i < n && messages && pointers; i++) {
                fill(&messages[i], &items[i]);
                pointers[i] = &messages[i];
        }
        list.silences = pointers;
        list.n_silences = n;
        list.not_kept = (char *)silence_store_not_kept(store);
        reply.what_case = HW__REPLY__WHAT_SILENCES;
        reply.silences = &list;
        if (messages && pointers)
                bus_reply(client, &reply);
        else
                reply_error(client, out_of_memory);
        free(messages);
        free(pointers);
}

/* False: longer than any name or useful pattern. */
static bool copy_pattern(char out[SILENCE_PATTERN_MAX], const char *text)
{
        size_t n = strlen(text);

        if (n >= SILENCE_PATTERN_MAX)
                return false;
        memcpy(out, text, n + 1);
        return true;
}

/* True when it is a pattern, or a rule has this name. False with a sentence that suggests the nearest name. */
static bool names_a_rule(const struct ruleset *rules, const char *name, struct error *error)
{
        struct nearest near = { .typed = name };
        char safe[256];

        if (strpbrk(name, "*?[") || ruleset_find(rules, NULL, name))
                return true;
        for (size_t i = 0; i < rules->n; i++)
                nearest_try(&near, rules->rules[i]->name);
        (void)hw_terminal_text(safe, sizeof(safe), name);
        return error_set(error, "there is no rule '%.100s'%s%s%s", safe, near.found ? "; did you mean '" : "",
                         near.found ? near.found : "; `heapwatch alerts` and `heapwatch rules list` name them",
                         near.found ? "'?" : "");
}

void silence_requests_add(struct silence_store *store, const struct ruleset *rules, const Hw__SilenceRequest *request,
                          struct bus_client *client)
{
        struct silence s = { .id = 0 };
        uint64_t now = clock_wall_ns();
        struct error error;
        char rule[512], target[512];

        if (!request->rule || !request->has_duration_ns) {
                reply_error(client, "silence needs a rule and a duration_ns");
                return;
        }
        if (!copy_pattern(s.rule, request->rule) || !copy_pattern(s.target, request->target ? request->target : "*")) {
                reply_error(client, "the name of a rule or target has at most 256 bytes");
                return;
        }
        if (request->why)
                (void)hw_utf8_clean(s.why, sizeof(s.why), request->why, strlen(request->why));
        s.until_wall_ns = request->duration_ns <= SILENCE_LONGEST_NS ? now + request->duration_ns : UINT64_MAX;
        if (!names_a_rule(rules, s.rule, &error) || !silence_store_add(store, &s, &error)) {
                reply_error(client, error.text);
                return;
        }
        (void)hw_terminal_text(rule, sizeof(rule), s.rule);
        (void)hw_terminal_text(target, sizeof(target), s.target);
        log_info("silence=%llu rule=%s target=%s made", (unsigned long long)s.id, rule, target);
        answer(store, &s, 1, client);
}

static bool is_meant(const struct silence *s, const Hw__UnsilenceRequest *request, const char *target)
{
        return request->has_id ? s->id == request->id : !strcmp(s->rule, request->rule) && !strcmp(s->target, target);
}

void silence_requests_remove(struct silence_store *store, const Hw__UnsilenceRequest *request,
                             struct bus_client *client)
{
        const struct silences *all = silence_store_list(store);
        const char *target = request->target ? request->target : "*";
        struct silence ended;
        size_t i = 0;

        if (!request->rule && !request->has_id) {
                reply_error(client, "unsilence needs an id or a rule");
                return;
        }
        while (i < all->n && !is_meant(&all->items[i], request, target))
                i++;
        if (i == all->n) { /* at most one has an id, and one the same patterns */
                reply_error(client, "there is no such silence; `heapwatch ctl silences` lists them");
                return;
        }
        ended = all->items[i];
        (void)silence_store_remove(store, ended.id, NULL, NULL);
        log_info("silence=%llu ended", (unsigned long long)ended.id);
        answer(store, &ended, 1, client);
}

void silence_requests_list(struct silence_store *store, struct bus_client *client)
{
        const struct silences *all = silence_store_list(store);

        answer(store, all->items, all->n, client);
}

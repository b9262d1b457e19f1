/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctl.c - `heapwatch ctl`: one request to a daemon, its replies printed.
 *
 * Each verb is a row of a table: how many arguments it takes and how it makes
 * its request. print.c does the printing.
 */
#include "client/cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/absent.h"
#include "client/commands/ctl_print.h"
#include "client/cli/options.h"
#include "client/launch/program/agent_census.h"
#include "client/launch/program/process_uri.h"
#include "client/launch/program/program_control.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/error.h"
#include "proto/wire/program_command.h"

struct ctl {
        const struct command *command;
        const char *endpoint; /* NULL: the default */
        bool json;
        uint64_t from_ns, to_ns, step_ns; /* UINT64_MAX: not given */
        const char *why;                  /* of a silence */
        char *source;                     /* of `add` and `remove`: the source or the name */
        struct text_list labels;          /* of a target */
        struct text_list given;
        char *words[4]; /* verb and its arguments */
        int n_words;
        struct print_state print;
};

struct verb {
        const char *name;
        int n_arguments; /* at least */
        int n_optional;  /* and how many more at most */
        int (*ask)(struct ctl *c, const struct verb *v);
};

/* ---------------------------------------------------------------- requests */

/* Sends the request, unless it is NULL, and frees it. EXIT_OK when there were replies. */
static int exchange_request(const struct ctl *c, Hw__Request *request, void (*each)(void *ctx, const Hw__Reply *reply),
                            void *ctx)
{
        struct error error;
        char publish[256], ask[256];
        const char *endpoint = c->endpoint;

        if (!endpoint) {
                if (hw_default_endpoints(publish, ask, sizeof(publish)) < 0)
                        return command_error(c->command, "the default socket's path is too long; give --connect");
                endpoint = publish;
        }
        const bool answered = absent_request(endpoint, request, each, ctx, &error);
        hw_request_destroy(&request);
        return answered ? EXIT_OK : command_error(c->command, "%s", error.text);
}

/* Sends a request and prints its replies. */
static int send_request(struct ctl *c, Hw__Request *request)
{
        int r = exchange_request(c, request, print_reply, &c->print);

        if (r != EXIT_OK)
                return r;
        if (c->print.refused)
                command_error(c->command, "%s", c->print.refusal);
        return c->print.refused ? EXIT_FINDING : EXIT_OK;
}

static int request_targets(struct ctl *c, const struct verb *v)
{
        c->print.targets_only = true;
        return send_request(c, hw_request_new(HW__REQUEST__WHAT_STATUS));
}

/* What is before the first '=' is the name if it looks like one; otherwise all of it is the URI. */
static void split_name(char *text, char **ret_name, char **ret_uri)
{
        size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

        *ret_name = NULL;
        *ret_uri = text;
        if (n > 0 && text[n] == '=') {
                text[n] = '\0';
                *ret_name = text;
                *ret_uri = text + n + 1;
        }
}

/* A relative path means this directory, not the daemon's. NULL when out of memory. */
static char *absolute_uri(const char *uri)
{
        const char *path = uri;
        char *directory, *text = NULL;
        size_t n;

        n = strcspn(uri, ":");
        if (uri[n] == ':') {
                if (!strncmp(uri, "tcp", 3) || !strncmp(uri, "stdin:", 6) || !strncmp(uri, "pid:", 4) ||
                    process_uri_is_outside(uri))
                        return strdup(uri);
                path = uri + n + 1;
        }
        if (*path == '/' || !*path)
                return strdup(uri);
        directory = realpath(".", NULL);
        if (directory && asprintf(&text, "%.*s%s/%s", (int)(path - uri), uri, directory, path) < 0)
                text = NULL;
        free(directory);
        return text;
}

/* Puts texts into a request, unless it is NULL; destroys it when out of memory. */
static Hw__Request *with_texts(Hw__Request *r, char **field, const char *text, char **other, const char *other_text)
{
        if (r && (hw_request_set_text(field, text) < 0 || (other && hw_request_set_text(other, other_text) < 0)))
                hw_request_destroy(&r);
        return r;
}

static int run_add(void *filled)
{
        struct ctl *c = filled;
        Hw__Request *r;
        char *name, *uri;
        int status;

        c->command = &command_add;
        if (!*c->source)
                return command_usage_error(c->command, "the source is empty; expected [NAME=]URI");
        if (*c->source == '=')
                return command_usage_error(c->command,
                                           "no name before '='; expected [NAME=]URI (a file of that name is ./%.200s)",
                                           c->source);
        split_name(c->source, &name, &uri);
        if (!*uri)
                return command_usage_error(c->command, "no source after '='; expected [NAME=]URI");
        uri = absolute_uri(uri);
        r = uri ? hw_request_new(HW__REQUEST__WHAT_ADD_TARGET) : NULL;
        r = r ? with_texts(r, &r->add_target->uri, uri, &r->add_target->name, name) : NULL;
        for (size_t i = 0; r && i < c->labels.n; i++)
                if (hw_request_add_label(r->add_target, c->labels.items[i]) < 0)
                        hw_request_destroy(&r);
        status = send_request(c, r);
        free(uri);
        return status;
}

static int run_remove(void *filled)
{
        struct ctl *c = filled;
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_REMOVE_TARGET);

        c->command = &command_remove;
        return send_request(c, r ? with_texts(r, &r->remove_target->name, c->source, NULL, NULL) : NULL);
}

static int run_status(void *filled)
{
        struct ctl *c = filled;

        c->command = &command_status;
        c->print.json = c->json;
        return send_request(c, hw_request_new(HW__REQUEST__WHAT_STATUS));
}

static int request_reload(struct ctl *c, const struct verb *v)
{
        return send_request(c, hw_request_new(HW__REQUEST__WHAT_RELOAD));
}

static int parse_series(const struct ctl *c, const char *text, Hw__HistoryRequest *h)
{
        static const struct option series = { .nth_word = options_nth_series };
        char meant[512];
        uint64_t id;

        if (strncmp(text, "band:", 5)) {
                h->series = hw_series_parse(text);
                h->has_series = 1;
                if (h->series != HW__SERIES__SERIES_NONE)
                        return 0;
                return command_usage_error(c->command, "unknown series '%s'; %s", text,
                                           option_meant(&series, text, "expected a series, e.g. live, rss or band:3",
                                                        meant, sizeof(meant)));
        }
        if (!digits_parse(text + 5, UINT32_MAX, &id))
                return command_usage_error(c->command,
                                           "'%s': expected band: and its number, e.g. band:3; 0 is the total", text);
        h->has_band = 1;
        h->band = (uint32_t)id;
        return 0;
}

static int request_history(struct ctl *c, const struct verb *v)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_HISTORY);
        Hw__HistoryRequest *h = r ? r->history : NULL;

        if (h && parse_series(c, c->words[2], h)) {
                hw_request_destroy(&r);
                return EXIT_USAGE;
        }
        if (h) {
                h->has_from_ns = c->from_ns != UINT64_MAX;
                h->from_ns = c->from_ns;
                h->has_to_ns = c->to_ns != UINT64_MAX;
                h->to_ns = c->to_ns;
                h->has_step_ns = c->step_ns != UINT64_MAX;
                h->step_ns = c->step_ns;
        }
        return send_request(c, h ? with_texts(r, &h->target, c->words[1], NULL, NULL) : NULL);
}

static int request_silence(struct ctl *c, const struct verb *v)
{
        Hw__Request *r;

        if (silence_parse(c->command, &r, c->words, c->n_words, c->why))
                return EXIT_USAGE;
        return send_request(c, r);
}

/* Finds where the target is read from, then sends the request to the agent there. */
static int request_of_agent(struct ctl *c, const struct verb *v)
{
        struct agent_place place = { .target = c->words[1], .endpoint = c->endpoint };
        char request[128], said[700] = "";
        struct error error;
        bool census = !strcmp(v->name, "census"), good;
        int r = exchange_request(c, hw_request_new(HW__REQUEST__WHAT_STATUS), agent_find, &place);

        if (r != EXIT_OK)
                return r;
        if (census) {
                good = program_request(&place, program_commands, said, sizeof(said), &error);
        } else {
                snprintf(request, sizeof(request), "%s%s%s", c->words[2], c->n_words > 3 ? " " : "",
                         c->n_words > 3 ? c->words[3] : "");
                good = agent_place_request(&place, request, said, sizeof(said), &error);
        }
        if (!good) {
                command_error(c->command, "%s", error.text);
                return EXIT_FINDING;
        }
        print_agent(said, c->json);
        return EXIT_OK;
}

/* A command to a program that serves its log by eventlog-socket. */
static int request_of_program(struct ctl *c, const struct verb *v)
{
        struct agent_place place = { .target = c->words[1], .endpoint = c->endpoint };
        char text[64], said[700] = "";
        struct error error;
        bool seen;

        snprintf(text, sizeof(text), "%s%s%s", c->words[2], c->n_words > 3 ? " " : "",
                 c->n_words > 3 ? c->words[3] : "");
        const struct program_command *command = program_command_find(text);
        if (!command)
                return command_usage_error(c->command,
                                           "unknown command '%s' of a program; expected one of the list in "
                                           "--help, all but census with on or off",
                                           text);
        const int r = exchange_request(c, hw_request_new(HW__REQUEST__WHAT_STATUS), agent_find, &place);
        if (r != EXIT_OK)
                return r;
        if (!program_control(c->endpoint, c->words[1], command, said, sizeof(said), &seen, &error)) {
                command_error(c->command, "%s", error.text);
                return EXIT_FINDING;
        }
        print_agent(said, c->json);
        return seen ? EXIT_OK : EXIT_FINDING;
}

static const struct verb verbs[] = {
        { "targets", 0, 0, request_targets },    { "reload", 0, 0, request_reload },
        { "history", 2, 0, request_history },    { "silence", 2, 1, request_silence },
        { "unsilence", 1, 1, request_silence },  { "silences", 0, 0, request_silence },
        { "census", 1, 0, request_of_agent },    { "agent", 2, 1, request_of_agent },
        { "program", 2, 1, request_of_program },
};

enum { VERBS = ARRAY_SIZE(verbs) };

static const struct term terms[] = {
        { "targets", NULL, "one target per line: name, state, run, source" },
        { "reload", NULL, "read the rule files again; with a mistake in one of them the old rules stay in force" },
        { "history", "TARGET SERIES",
          "the past of a series:"
#define X(number, id, name, ...) " " name
#include "proto/facts/series.def"
#undef X
          ", or band:ID; see --from, --to, --step" },
        { "silence", "RULE [TARGET] TIME",
          "no actions for these alerts for a time: 30m, 2h, 1d; they are shown as before, and resolved in "
          "Alertmanagers that know them. Silences outlive restarts of the daemon. Patterns: 'gc_*', 'api-?'; see "
          "--why" },
        { "silences", NULL, "list silences" },
        { "unsilence", "ID|RULE [TARGET]", "end a silence" },
        { "census", "TARGET",
          "make the target's program take a heap census now, and wait until it was taken: by the agent in it, or by "
          "its "
          "eventlog-socket" },
        { "agent", "TARGET REQUEST [VALUE]",
          "send a request to the agent in the target's program: status; start or stop its log; heap T, i or none; "
          "classes gus; interval, flush, max-pause SECONDS; budget PERCENT" },
        { "program", "TARGET COMMAND [on|off]",
          "send a command to a program that serves its log by the library eventlog-socket (0.1.3 and newer, built with "
          "its flag control):"
#define COMMAND(name, space, code, effect, needs)   " " name needs ";"
#define SWITCH(name, space, on, off, effect, needs) " " name " on, off" needs ";"
#include "proto/wire/program_commands.def"
#undef COMMAND
#undef SWITCH
          " and wait up to 10 s for its effect" },
        { NULL, NULL, NULL },
};

/* ----------------------------------------------------------------- options */

static const struct option options[] = {
        OPERAND(OPTION_IS_LIST, "VERB", struct text_list, 0, 4, struct ctl, given, COMPLETE_VERB, NULL),
        OPTION_CONNECT_ONE(struct ctl, endpoint, "the daemon's publish endpoint"),
        OPTION_JSON(struct ctl, json, "json: each reply as a line of JSON"),
        OPTION_DURATION("from", 0, struct ctl, from_ns, 0, 0,
                        "history from this event time (since the program started): 90s, 5m, 2h"),
        OPTION_DURATION("to", 0, struct ctl, to_ns, 0, 0, "history up to this event time"),
        OPTION_DURATION("step", 0, struct ctl, step_ns, 0, 0, "history with points at least this wide"),
        OPTION_TEXT("why", 0, "TEXT", struct ctl, why, COMPLETE_NOTHING,
                    "reason for a silence, shown wherever the silence is"),
        OPTIONS_END,
};

static int run_ctl(void *filled)
{
        struct ctl *c = filled;

        c->command = &command_ctl;
        if (!c->given.n)
                return command_unknown_verb(c->command, NULL);
        for (size_t i = 0; i < c->given.n; i++)
                c->words[c->n_words++] = (char *)c->given.items[i];
        for (size_t i = 0; i < VERBS; i++) {
                if (strcmp(verbs[i].name, c->words[0]))
                        continue;
                int given = c->n_words - 1 - verbs[i].n_arguments;
                if (given < 0 || given > verbs[i].n_optional)
                        return command_verb_usage(c->command, verbs[i].name);
                c->print.json = c->json;
                return verbs[i].ask(c, &verbs[i]);
        }
        return command_unknown_verb(c->command, c->words[0]);
}

const struct command command_ctl = {
        .name = "ctl",
        .summary = "other requests to a daemon or an agent: history, silence, census, reload",
        .usage = TEXTS("[OPTION]... VERB [ARGUMENT]..."),
        .about = "Sends a request to a daemon, or to the agent in a program that it watches.",
        .sections = (const struct help_section[]){ { "Verbs", terms }, { NULL, NULL } },
        .options = options,
        .verbs = terms,
        .status =
                "0 done, 1 the daemon refused, or a command to a program had no effect that is seen, 2 usage, or no "
                "daemon answered.",
        .examples = TEXTS("heapwatch ctl history api-1 live --from 5m --step 10s",
                          "heapwatch ctl silence leak api-1 2h --why 'known, fix is on its way'",
                          "heapwatch ctl census api-1", "heapwatch ctl program api-1 heap-profile on"),
        .size = sizeof(struct ctl),
        .defaults = &(const struct ctl){ .from_ns = UINT64_MAX, .to_ns = UINT64_MAX, .step_ns = UINT64_MAX },
        .run = run_ctl,
};

const struct command command_status = {
        .name = "status",
        .summary = "the daemon and its targets",
        .usage = TEXTS("[OPTION]..."),
        .about = "Prints what a daemon says of itself and of each target: its state, since when, its source, how it "
                 "ended, and what was lost.",
        .options =
                (const struct option[]){
                        OPTION_CONNECT_ONE(struct ctl, endpoint, "the daemon's publish endpoint"),
                        OPTION_JSON(struct ctl, json, "json: each reply as a line of JSON"),
                        OPTIONS_END,
                },
        .status = "0 done, 1 the daemon refused, 2 usage, or no daemon answered.",
        .examples = TEXTS("heapwatch status", "heapwatch status --format json"),
        .size = sizeof(struct ctl),
        .run = run_status,
};

const struct command command_add = {
        .name = "add",
        .summary = "have the daemon watch one more source",
        .usage = TEXTS("[OPTION]... [NAME=]URI"),
        .about = "A source is a file, fifo:PATH, unix:PATH, tcp:HOST:PORT, unix-listen:PATH, tcp-listen:HOST:PORT, "
                 "pid:PID, a process without a log, or outside:PID, a GHC-compiled program whose memory is read while "
                 "it "
                 "runs. Without NAME= it is named after the file or the address.",
        .options =
                (const struct option[]){
                        OPERAND(OPTION_IS_TEXT, "[NAME=]URI", char *, 1, 1, struct ctl, source, COMPLETE_FILE, NULL),
                        OPTION_CONNECT_ONE(struct ctl, endpoint, "the daemon's publish endpoint"),
                        OPTION_LIST("label", 'l', "NAME=VALUE", struct ctl, labels, COMPLETE_NOTHING,
                                    "a label of its runs, such as version=1.4.2; may be repeated"),
                        OPTIONS_END,
                },
        .status = "0 done, 1 the daemon refused, 2 usage, or no daemon answered.",
        .examples = TEXTS("heapwatch add api-1=/var/tmp/api.eventlog",
                          "heapwatch add late=tcp:127.0.0.1:4242 --label version=1.4.2"),
        .size = sizeof(struct ctl),
        .run = run_add,
};

const struct command command_remove = {
        .name = "remove",
        .summary = "have the daemon forget a target",
        .usage = TEXTS("[OPTION]... TARGET"),
        .about = "Its program continues; `heapwatch detach` ends what the agent does in it. What was recorded stays.",
        .options =
                (const struct option[]){
                        OPERAND(OPTION_IS_TEXT, "TARGET", char *, 1, 1, struct ctl, source, COMPLETE_TARGET, NULL),
                        OPTION_CONNECT_ONE(struct ctl, endpoint, "the daemon's publish endpoint"),
                        OPTIONS_END,
                },
        .status = "0 done, 1 the daemon refused, 2 usage, or no daemon answered.",
        .examples = TEXTS("heapwatch remove api-1"),
        .size = sizeof(struct ctl),
        .run = run_remove,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctl.c - `heapwatch ctl`: one request to a daemon, its replies printed.
 *
 * Each verb is a line of a table: how many arguments it takes and how it makes
 * its request. Printing is print.c's.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ctl/print.h"
#include "client/ctl/silence.h"
#include "proto/base/nearest.h"
#include "client/cli/options.h"
#include "heapwatch/requester.h"

#define TIMEOUT_MS 5000

struct ctl {
        const char *endpoint; /* NULL: the default */
        bool json;
        bool has_from, has_to, has_step;
        uint64_t from_ns, to_ns, step_ns;
        const char *why; /* of a silence */
        char *words[4];  /* verb and its arguments */
        int n_words;
        struct print_state print;
};

struct verb {
        const char *name, *arguments;
        int n_arguments; /* at least; */
        int n_optional;  /* and so many more */
        int (*ask)(struct ctl *c, const struct verb *v);
};

static const char help[] =
        "usage: heapwatch ctl [--connect EP] [--format text|json] VERB [ARGUMENT]...\n"
        "\n"
        "  status                    the daemon and its targets\n"
        "  targets                   one target a line: name, state, run, source\n"
        "  add [NAME=]URI            watch a source: a file, fifo:PATH, unix:PATH,\n"
        "                            tcp:HOST:PORT, unix-listen:PATH, tcp-listen:HOST:PORT\n"
        "  remove NAME               watch it no more\n"
        "  reload                    read the rule files again; with a mistake in one of\n"
        "                            them the old rules go on\n"
        "  history TARGET SERIES     the past of a series: live heap_size blocks_size\n"
        "                            allocated gc_pause copied slop fragmentation rss pss\n"
        "                            swap cpu cgroup census_total\n"
        "  history TARGET band:ID    the past of a band\n"
        "      --from T --to T       event time, since the program started: 90s, 5m, 2h\n"
        "      --step T              least width of a point\n"
        "  silence RULE [TARGET] T   no actions for these alerts for a time: 30m, 2h, 1d;\n"
        "                            they are shown as before. Patterns: 'gc_*', 'api-?'\n"
        "      --why TEXT            shown wherever the silence is\n"
        "  silences                  those there are\n"
        "  unsilence ID              ends one; also: unsilence RULE [TARGET]\n"
        "\n"
        "  --connect EP              the daemon's publish endpoint (ipc://PATH or\n"
        "                            tcp://HOST:PORT); default: your own daemon\n"
        "  --format json             each reply as a line of JSON\n"
        "\n"
        "Exit status: 0 done, 1 the daemon refused, 2 usage, or no daemon answered.\n"
        "\n"
        "Examples:\n"
        "  heapwatch ctl add api-1=/var/tmp/api.eventlog\n"
        "  heapwatch ctl history api-1 live --from 5m --step 10s\n"
        "  heapwatch ctl silence leak api-1 2h --why 'known, fix is on its way'\n";

static int run(int argc, char **argv);

const struct command command_ctl = {
        .name = "ctl",
        .summary = "ask a daemon: status, targets, add, remove, history, silence",
        .help = help,
        .run = run,
};

/* ---------------------------------------------------------------- requests */

static int refuse_timeout(const char *endpoint, int r)
{
        if (r == -ETIMEDOUT)
                command_error(&command_ctl, "no daemon answers at %s; start one with: heapwatchd FILE", endpoint);
        else
                command_error(&command_ctl, "asking %s failed: %s", endpoint, strerror(-r));
        return EXIT_USAGE;
}

static int send_request(struct ctl *c, Hw__Request *request)
{
        char publish[256], ask[256];
        const char *endpoint = c->endpoint;
        int r;

        if (!endpoint) {
                if (hw_default_endpoints(publish, ask, sizeof(publish)) < 0) {
                        command_error(&command_ctl, "the default socket's path is too long; give --connect");
                        return EXIT_USAGE;
                }
                endpoint = publish;
        }
        r = hw_request(endpoint, request, TIMEOUT_MS, print_reply, &c->print);
        if (r < 0)
                return refuse_timeout(endpoint, r);
        if (c->print.refused)
                command_error(&command_ctl, "%s", c->print.refusal);
        return c->print.refused ? EXIT_FINDING : EXIT_OK;
}

static int ask_status(struct ctl *c, const struct verb *v)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;

        request.what_case = HW__REQUEST__WHAT_STATUS;
        request.status = &status;
        c->print.targets_only = !strcmp(v->name, "targets");
        return send_request(c, &request);
}

/* A name before the first '=' that looks like one; else all of it is the URI. */
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
                if (!strncmp(uri, "tcp", 3) || !strncmp(uri, "stdin:", 6))
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

static int ask_add(struct ctl *c, const struct verb *v)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__AddTargetRequest add = HW__ADD_TARGET_REQUEST__INIT;
        char *uri;
        int status;

        (void)v;
        split_name(c->words[1], &add.name, &uri);
        if (!*uri)
                return command_usage_error(&command_ctl, "no source after '='; expected [NAME=]URI");
        add.uri = absolute_uri(uri);
        if (!add.uri)
                return command_usage_error(&command_ctl, "out of memory");
        request.what_case = HW__REQUEST__WHAT_ADD_TARGET;
        request.add_target = &add;
        status = send_request(c, &request);
        free(add.uri);
        return status;
}

static int ask_remove(struct ctl *c, const struct verb *v)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__RemoveTargetRequest remove = HW__REMOVE_TARGET_REQUEST__INIT;

        (void)v;
        remove.name = c->words[1];
        request.what_case = HW__REQUEST__WHAT_REMOVE_TARGET;
        request.remove_target = &remove;
        return send_request(c, &request);
}

static int ask_reload(struct ctl *c, const struct verb *v)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__ReloadRequest reload = HW__RELOAD_REQUEST__INIT;

        (void)v;
        request.what_case = HW__REQUEST__WHAT_RELOAD;
        request.reload = &reload;
        return send_request(c, &request);
}

static int unknown_series(const char *name)
{
        const char *names[64], *meant;
        size_t n = 0;

        for (int s = 1; s < 64; s++) {
                if (hw_series_name((Hw__Series)s))
                        names[n++] = hw_series_name((Hw__Series)s);
        }
        meant = nearest(name, names, n);
        return command_usage_error(&command_ctl, "unknown series '%s'; %s%s%s", name, meant ? "did you mean '" : "",
                                   meant ? meant : "expected a series, e.g. live, rss or band:3", meant ? "'?" : "");
}

static int parse_series(const char *text, Hw__HistoryRequest *h)
{
        char *end;
        unsigned long id;

        if (strncmp(text, "band:", 5)) {
                h->series = hw_series_parse(text);
                h->has_series = 1;
                return h->series == HW__SERIES__SERIES_NONE ? unknown_series(text) : 0;
        }
        errno = 0;
        id = strtoul(text + 5, &end, 10);
        if (errno || end == text + 5 || *end || text[5] == '-' || !id || id > UINT32_MAX)
                return command_usage_error(&command_ctl, "'%s': expected band: and its number, from 1", text);
        h->has_band = 1;
        h->band = (uint32_t)id;
        return 0;
}

static int ask_history(struct ctl *c, const struct verb *v)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__HistoryRequest h = HW__HISTORY_REQUEST__INIT;

        (void)v;
        h.target = c->words[1];
        if (parse_series(c->words[2], &h))
                return EXIT_USAGE;
        h.has_from_ns = c->has_from;
        h.from_ns = c->from_ns;
        h.has_to_ns = c->has_to;
        h.to_ns = c->to_ns;
        h.has_step_ns = c->has_step;
        h.step_ns = c->step_ns;
        request.what_case = HW__REQUEST__WHAT_HISTORY;
        request.history = &h;
        return send_request(c, &request);
}

static int ask_silence(struct ctl *c, const struct verb *v)
{
        struct silence_words words;

        (void)v;
        if (silence_parse(&command_ctl, &words, c->words, c->n_words, c->why))
                return EXIT_USAGE;
        return send_request(c, &words.request);
}

static const struct verb verbs[] = {
        { "status", "", 0, 0, ask_status },
        { "targets", "", 0, 0, ask_status },
        { "add", " [NAME=]URI", 1, 0, ask_add },
        { "remove", " NAME", 1, 0, ask_remove },
        { "reload", "", 0, 0, ask_reload },
        { "history", " TARGET SERIES|band:ID", 2, 0, ask_history },
        { "silence", " RULE [TARGET] TIME [--why TEXT]", 2, 1, ask_silence },
        { "unsilence", " ID, or RULE [TARGET]", 1, 1, ask_silence },
        { "silences", "", 0, 0, ask_silence },
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

/* ----------------------------------------------------------------- options */

static int parse_option(struct ctl *c, int o)
{
        switch (o) {
        case 'c':
                c->endpoint = optarg;
                return 0;
        case 'f':
                c->json = !strcmp(optarg, "json");
                if (c->json || !strcmp(optarg, "text"))
                        return 0;
                return command_usage_error(&command_ctl, "unknown format '%s'; expected text or json", optarg);
        case 'a':
                c->has_from = true;
                return options_duration(&command_ctl, "--from", optarg, &c->from_ns);
        case 'b':
                c->has_to = true;
                return options_duration(&command_ctl, "--to", optarg, &c->to_ns);
        case 'w':
                c->why = optarg;
                return 0;
        case 's':
                c->has_step = true;
                return options_duration(&command_ctl, "--step", optarg, &c->step_ns);
        default:
                return command_usage_error(&command_ctl, "unknown option or missing value");
        }
}

static int parse(struct ctl *c, int argc, char **argv)
{
        static const struct option options[] = {
                { "connect", required_argument, NULL, 'c' },
                { "format", required_argument, NULL, 'f' },
                { "from", required_argument, NULL, 'a' },
                { "to", required_argument, NULL, 'b' },
                { "step", required_argument, NULL, 's' },
                { "why", required_argument, NULL, 'w' },
                { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "c:f:", options, NULL)) != -1)
                bad = parse_option(c, o);
        for (int i = optind; !bad && i < argc; i++) {
                if (c->n_words == 4)
                        return command_usage_error(&command_ctl, "too many arguments");
                c->words[c->n_words++] = argv[i];
        }
        return bad;
}

static int unknown_verb(const char *name)
{
        const char *names[VERBS], *meant;

        for (size_t i = 0; i < VERBS; i++)
                names[i] = verbs[i].name;
        meant = nearest(name, names, VERBS);
        if (meant)
                return command_usage_error(&command_ctl, "unknown verb '%s'; did you mean '%s'?", name, meant);
        return command_usage_error(&command_ctl, "unknown verb '%s'", name);
}

static int perform(struct ctl *c)
{
        if (!c->n_words)
                return command_usage_error(&command_ctl,
                                           "what? expected status, targets, add, remove, reload, "
                                           "history, silence, unsilence or silences");
        for (size_t i = 0; i < VERBS; i++) {
                if (strcmp(verbs[i].name, c->words[0]))
                        continue;
                int given = c->n_words - 1 - verbs[i].n_arguments;
                if (given < 0 || given > verbs[i].n_optional)
                        return command_usage_error(&command_ctl, "expected: heapwatch ctl %s%s", verbs[i].name,
                                                   verbs[i].arguments);
                c->print.json = c->json;
                return verbs[i].ask(c, &verbs[i]);
        }
        return unknown_verb(c->words[0]);
}

static int run(int argc, char **argv)
{
        struct ctl c = { .n_words = 0 };

        if (parse(&c, argc, argv))
                return EXIT_USAGE;
        return perform(&c);
}

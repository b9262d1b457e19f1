/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events.c - `heapwatch events`: what a finished log holds, event by event.
 *
 * DESIGN: `heapwatchd --once --events` decodes and sends, we choose and print.
 * Only for a count of the whole log no event travels: the decoder has counted.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/events/print.h"
#include "client/events/types.h"
#include "client/feed/feed.h"
#include "proto/base/nearest.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "heapwatch/eventlog.h"

static const char help[] =
        "usage: heapwatch events LOG [OPTION]...\n"
        "\n"
        "Prints every event of a finished eventlog as decoded, one a line, in the order in\n"
        "which they stand in the file; or how many of each type there are.\n"
        "\n"
        "  --count            only the number of events of each type\n"
        "  --format text      time in seconds, capability (- for none), name, fields (default)\n"
        "  --format json      one object a line; binary messages in base64\n"
        "  --kind NAME,...    only these types, by the runtime's names or numbers; may be\n"
        "                     repeated\n"
        "  --from TIME        from this event time on (500ms, 30s, 2m)\n"
        "  --to TIME          up to and including this event time\n"
        "  --show-arguments   the program's own arguments too; they may hold secrets\n"
        "\n"
        "Event times count from the start of the program's runtime. Each capability writes\n"
        "its own blocks, so times do not rise from line to line.\n"
        "The program's environment is never shown.\n"
        "\n"
        "Ends with 0 when the log was read, 2 on bad input.\n"
        "\n"
        "Examples:\n"
        "  heapwatch events run.eventlog --count\n"
        "  heapwatch events run.eventlog --kind GC_STATS_GHC,HEAP_LIVE --from 10s --to 20s\n"
        "  heapwatch events run.eventlog --format json --kind USER_MARKER | jq .fields.text\n";

struct request {
        const char *log;
        bool count, json, show_arguments;
        bool any_kind; /* some --kind was given: only `kinds` */
        bool kinds[EVENT_IDS];
        uint64_t from_ns, to_ns;
        bool any_time;
        struct event_types types;
};

static int run(int argc, char **argv);

const struct command command_events = {
        .name = "events",
        .summary = "every event of a finished log as decoded, or how many of each type",
        .help = help,
        .run = run,
};

/* -------------------------------------------------------------- options */

static int unknown_kind(const char *name)
{
        const char *names[HW_KNOWN_IDS], *meant;
        size_t n = 0;

        for (uint16_t id = 0; id < HW_KNOWN_IDS; id++)
                if (hw_event_info(id))
                        names[n++] = hw_event_info(id)->name;
        meant = nearest(name, names, n);
        if (meant)
                return command_usage_error(&command_events, "unknown kind of event '%s'; did you mean '%s'?", name,
                                           meant);
        return command_usage_error(&command_events,
                                   "unknown kind of event '%s'; expected a name, e.g. GC_START, or a "
                                   "number below 65536",
                                   name);
}

static int add_kind(struct request *r, const char *name)
{
        char *end;
        unsigned long id = strtoul(name, &end, 10);

        if (*name >= '0' && *name <= '9' && !*end && id < EVENT_IDS) {
                r->kinds[id] = true;
                return 0;
        }
        for (uint16_t known = 0; known < HW_KNOWN_IDS; known++) {
                if (hw_event_info(known) && !strcasecmp(hw_event_info(known)->name, name)) {
                        r->kinds[known] = true;
                        return 0;
                }
        }
        return unknown_kind(name);
}

static int add_kinds(struct request *r, char *text)
{
        struct text_list names = { .n = 0 };
        int bad = options_split(&command_events, &names, text);

        r->any_kind = true;
        for (size_t i = 0; !bad && i < names.n; i++)
                bad = add_kind(r, names.items[i]);
        return bad;
}

static int set_format(struct request *r, const char *text)
{
        r->json = !strcmp(text, "json");
        if (r->json || !strcmp(text, "text"))
                return 0;
        return command_usage_error(&command_events, "unknown format '%s'; expected text or json", text);
}

static int set_time(struct request *r, const char *option, const char *text, uint64_t *ret_ns)
{
        r->any_time = true;
        return options_duration(&command_events, option, text, ret_ns);
}

static int parse(struct request *r, int argc, char **argv)
{
        static const struct option options[] = {
                { "count", no_argument, NULL, 'c' },          { "format", required_argument, NULL, 'o' },
                { "kind", required_argument, NULL, 'k' },     { "kinds", required_argument, NULL, 'k' },
                { "from", required_argument, NULL, 'f' },     { "to", required_argument, NULL, 't' },
                { "show-arguments", no_argument, NULL, 'a' }, { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        r->to_ns = UINT64_MAX;
        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "ck:", options, NULL)) != -1) {
                if (o == 'c')
                        r->count = true;
                else if (o == 'o')
                        bad = set_format(r, optarg);
                else if (o == 'k')
                        bad = add_kinds(r, optarg);
                else if (o == 'f')
                        bad = set_time(r, "--from", optarg, &r->from_ns);
                else if (o == 't')
                        bad = set_time(r, "--to", optarg, &r->to_ns);
                else if (o == 'a')
                        r->show_arguments = true;
                else
                        bad = command_usage_error(&command_events, "unknown option or missing value");
        }
        if (!bad && argc - optind != 1)
                bad = command_usage_error(&command_events, "expected one LOG, got %d", argc - optind);
        if (!bad)
                r->log = argv[optind];
        return bad;
}

/* --------------------------------------------------------------- output */

static bool is_wanted(const struct request *r, const struct event *e)
{
        return (!r->any_kind || r->kinds[e->type->id]) && e->time_ns >= r->from_ns && e->time_ns <= r->to_ns;
}

/* Prints, or counts, the wanted events of one message. 0, or -errno. */
static int take_events(struct request *r, const Hw__Update *u)
{
        struct event_cursor cursor = { .types = &r->types, .message = u->events };
        struct event e;

        event_types_define(&r->types, u->events);
        while (event_cursor_next(&cursor, &e)) {
                if (!is_wanted(r, &e))
                        continue;
                e.run = u->run;
                if (r->count)
                        r->types.count[e.type->id]++;
                else if (r->json)
                        event_print_json(stdout, &e);
                else
                        event_print_text(stdout, &e);
        }
        if (cursor.broken)
                return -EBADMSG;
        return ferror(stdout) ? -(errno ? errno : EIO) : 0;
}

static bool counts_alone(const struct request *r)
{
        return r->count && !r->any_time;
}

static int take(struct request *r, const Hw__Update *u)
{
        if (u->body_case != HW__UPDATE__BODY_EVENTS)
                return 0;
        if (u->events->n_type || counts_alone(r))
                return take_events(r, u);
        return 0; /* the log's own counts: ours are of the chosen time */
}

static int finish(struct request *r)
{
        const bool *wanted = r->any_kind ? r->kinds : NULL;

        if (r->count && r->json)
                event_counts_print_json(stdout, &r->types, wanted);
        else if (r->count)
                event_counts_print_text(stdout, &r->types, wanted);
        return fflush(stdout) || ferror(stdout) ? -(errno ? errno : EIO) : 0;
}

static int fail(int r)
{
        if (r == -EPIPE) /* the reader has seen enough */
                return EXIT_OK;
        command_error(&command_events, "%s",
                      r == -EBADMSG ? "heapwatchd sent events that do not fit their types" : strerror(-r));
        return EXIT_USAGE;
}

static int read_log(struct request *r)
{
        const char *arguments[3] = { counts_alone(r) ? "--event-counts" : "--events" };
        const Hw__Update *update;
        char error[512];
        int status = 0;

        if (r->show_arguments)
                arguments[1] = "--show-arguments";
        struct feed *feed = feed_files(&r->log, 1, arguments, error, sizeof(error));
        if (!feed) {
                command_error(&command_events, "%s", error);
                return EXIT_USAGE;
        }
        enum feed_event event = FEED_NOTHING;
        while (!signals_stop() && status == 0 && event != FEED_END && event != FEED_FAILED) {
                event = feed_next(feed, 500, &update);
                if (event == FEED_UPDATE)
                        status = take(r, update);
        }
        if (event == FEED_FAILED)
                command_error(&command_events, "%s", feed_error(feed));
        feed_close(&feed);
        if (event != FEED_FAILED && status == 0 && !signals_stop())
                status = finish(r);
        if (status)
                return fail(status);
        return event == FEED_FAILED ? EXIT_USAGE : EXIT_OK;
}

static int run(int argc, char **argv)
{
        struct request *r = calloc(1, sizeof(*r));
        int status = EXIT_USAGE;

        if (r && !parse(r, argc, argv)) {
                signals_catch();
                status = read_log(r);
                event_types_done(&r->types);
        }
        free(r);
        signals_die();
        return status;
}

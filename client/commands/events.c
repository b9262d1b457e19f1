/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events.c - `heapwatch events`: what a finished log contains, event by event.
 *
 * DESIGN: the events of the feed are selected and printed. For a count of the whole log there are none of them: the
 * decoder has counted them.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/out/convert/event_types.h"
#include "client/world/feed/feed.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "heapwatch/eventlog.h"
#include "proto/base/digits.h"
#include "proto/base/error.h"

struct request {
        const char *log;
        bool count, json, show_arguments;
        bool any_kind; /* some --kind was given: only `kinds` */
        bool kinds[EVENT_IDS];
        uint64_t from_ns, to_ns;
        struct event_types *types;
};

/* -------------------------------------------------------------- options */

static const char *nth_event(size_t n)
{
        for (uint16_t id = 0; id < HW_KNOWN_IDS; id++)
                if (hw_event_info(id) && !n--)
                        return hw_event_info(id)->name;
        return NULL;
}

static int add_kind(const struct command *c, const struct option *o, struct request *r, const char *name)
{
        char meant[128];
        uint64_t id;

        if (digits_parse(name, EVENT_IDS - 1, &id)) {
                r->kinds[id] = true;
                return 0;
        }
        for (uint16_t known = 0; known < HW_KNOWN_IDS; known++) {
                if (hw_event_info(known) && !strcasecmp(hw_event_info(known)->name, name)) {
                        r->kinds[known] = true;
                        return 0;
                }
        }
        return option_error(
                c, o, "unknown kind of event '%s'; %s", name,
                option_meant(o, name, "expected a name, e.g. GC_START, or a number below 65536", meant, sizeof(meant)));
}

static int add_kinds(const struct command *c, const struct option *o, void *filled, char *value)
{
        struct request *r = filled;
        char *part;
        int bad = 0;

        r->any_kind = true;
        while (!bad && (part = strsep(&value, ",")))
                bad = add_kind(c, o, r, part);
        return bad;
}

#define KIND_HELP "only these types, by the runtime's names or numbers; may be repeated"

static const struct option options[] = {
        OPERAND_TEXT("LOG", struct request, log, COMPLETE_FILE, NULL),
        OPTION_FLAG("count", 'c', struct request, count, "only the number of events of each type"),
        OPTION_JSON(struct request, json,
                    "text: time in seconds, capability (- for none), name, fields (default); json: one object a line, "
                    "binary messages in base64"),
        OPTION_CALLBACK_OF("kind", 'k', "NAME,...", add_kinds, nth_event, KIND_HELP),
        OPTION_CALLBACK_OF("kinds", 0, "NAME,...", add_kinds, nth_event, NULL),
        OPTION_DURATION("from", 0, struct request, from_ns, 0, 0, "from this event time on (500ms, 30s, 2m)"),
        OPTION_DURATION("to", 0, struct request, to_ns, 0, 0, "up to and including this event time"),
        OPTION_FLAG("show-arguments", 0, struct request, show_arguments,
                    "show the program's own arguments, too; they may contain secrets"),
        OPTIONS_END,
};

/* --------------------------------------------------------------- output */

static bool is_wanted(const struct request *r, const struct event *e)
{
        return (!r->any_kind || r->kinds[e->type->id]) && e->time_ns >= r->from_ns && e->time_ns <= r->to_ns;
}

/* Prints, or counts, the wanted events of one message. 0, or -errno. */
static int print_events(struct request *r, const Hw__Update *u)
{
        struct event_cursor cursor = { .types = r->types, .message = u->events };
        struct event e;

        event_types_define(r->types, u->events);
        while (event_cursor_next(&cursor, &e)) {
                if (!is_wanted(r, &e))
                        continue;
                e.run = u->run;
                if (r->count)
                        r->types->count[e.type->id]++;
                else if (r->json)
                        event_print_json(stdout, &e);
                else
                        event_print_text(stdout, &e);
        }
        if (cursor.broken)
                return -EBADMSG;
        return ferror(stdout) ? stream_flush(stdout) : 0;
}

static bool counts_alone(const struct request *r)
{
        return r->count && !r->from_ns && r->to_ns == UINT64_MAX;
}

static int read_log(struct request *r)
{
        const Hw__Update *update;
        struct error error;
        int status = 0;

        struct feed *feed = feed_events(r->log, counts_alone(r) ? FEED_EVENT_COUNTS : FEED_EVENTS,
                                        r->any_kind ? r->kinds : NULL, r->show_arguments, &error);

        if (!feed)
                return command_error(&command_events, "%s", error.text);
        enum feed_event event = FEED_NOTHING;
        while (!signals_stop() && status == 0 && event != FEED_END && event != FEED_FAILED) {
                event = feed_next(feed, 500, &update);
                /* Counts that come beside events are the whole log's, not those of the chosen time. */
                if (event == FEED_UPDATE && update->body_case == HW__UPDATE__BODY_EVENTS &&
                    (update->events->n_type || counts_alone(r)))
                        status = print_events(r, update);
        }
        if (event == FEED_FAILED)
                command_error(&command_events, "%s", feed_error(feed));
        feed_close(&feed);
        if (event != FEED_FAILED && status == 0 && !signals_stop()) {
                const bool *wanted = r->any_kind ? r->kinds : NULL;

                if (r->count && r->json)
                        event_counts_print_json(stdout, r->types, wanted);
                else if (r->count)
                        event_counts_print_text(stdout, r->types, wanted);
                status = stream_flush(stdout);
        }
        if (status == -EPIPE) /* the reader of the pipe has exited */
                return EXIT_OK;
        if (status == -EBADMSG)
                return command_error(&command_events, "the log's events do not fit their types");
        if (status)
                return command_error(&command_events, "cannot write to standard output: %s", strerror(-status));
        return event == FEED_FAILED ? EXIT_USAGE : EXIT_OK;
}

static int run_events(void *filled)
{
        struct request *r = filled;

        if (!(r->types = calloc(1, sizeof(*r->types))))
                return command_error(&command_events, "out of memory");
        const int status = read_log(r);
        event_types_done(r->types);
        free(r->types);
        return status;
}

const struct command command_events = {
        .name = "events",
        .summary = "every event of a finished log as decoded, or how many of each type",
        .usage = TEXTS("LOG [OPTION]..."),
        .about = "Prints every event of a finished eventlog as decoded, one per line, in the order of the file; or how "
                 "many of each type there are.",
        .options = options,
        .notes = "Event times count from the start of the program's runtime. Each capability writes its own blocks, so "
                 "times do not always rise from line to line. The program's environment is never shown.",
        .status = "0 the log was read, 2 bad input.",
        .examples = TEXTS("heapwatch events run.eventlog --count",
                          "heapwatch events run.eventlog --kind GC_STATS_GHC --from 10s --to 20s",
                          "heapwatch events run.eventlog --format json --kind USER_MARKER | jq .fields.text"),
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .to_ns = UINT64_MAX },
        .run = run_events,
        .stops = true,
        .offline = true,
};

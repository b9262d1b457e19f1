/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipe.c - `heapwatch pipe`: updates to standard output, a line each.
 *
 * DESIGN: every update is written and flushed at once, so that the next program
 * of the pipe sees it live. When the reader exits, so do we, quietly: `| head`
 * relies on that.
 */
#include "client/cli/absent.h"
#include "client/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/feed/selection.h"
#include "client/cli/options.h"
#include "client/out/convert/update_csv.h"
#include "client/cli/signals.h"
#include "proto/base/error.h"

enum format { FORMAT_JSON, FORMAT_CSV, FORMAT_NONE };

struct pipe {
        struct selection from;
        struct kind_list kinds;    /* to print; empty: all */
        struct kind_list followed; /* to subscribe to; empty: all */
        int format;                /* enum format */
        bool numbers;
        struct world *world; /* CSV only */
        struct csv_out rows;
        bool checked; /* that the daemon has the targets */
};

/* ----------------------------------------------------------------- options */

static int parse_kinds(const struct command *c, const struct option *o, void *filled, char *value)
{
        return options_kinds(c, o, &((struct pipe *)filled)->kinds, value);
}

static const char *const formats[] = { "json", "csv", NULL };

static const struct option options[] = {
        OPERAND_LIST("TARGET|FILE...", 0, struct pipe, from.operands, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_CHOICE("format", 'f', "json|csv", int, struct pipe, format, formats,
                      "json: every update as one JSON object (the messages of heapwatch.proto, in their canonical JSON "
                      "form); csv: one number a row, for spreadsheets and awk (see below)"),
        OPTION_FLAG("numbers", 'n', struct pipe, numbers, "JSON: 64-bit integers as numbers, not as strings"),
        OPTION_CALLBACK_OF("kinds", 'k', "A,B", parse_kinds, options_nth_kind,
                           "only these: daemon target heap gc census band note profile ticky sched health trend alert"),
        OPTION_WORDS("targets", 't', "X,Y", struct pipe, from.targets, COMPLETE_TARGET, "only these targets"),
        OPTION_CONNECT(struct pipe, from.endpoints),
        OPTIONS_END,
};

static int check_request(void *filled)
{
        struct pipe *p = filled;

        if (p->format == FORMAT_NONE)
                return command_usage_error(&command_pipe, "which format? add --format json or --format csv");
        return selection_check(&command_pipe, &p->from);
}

static bool is_kind_listed(const struct kind_list *list, Hw__Kind kind)
{
        for (size_t i = 0; i < list->n; i++) {
                if (list->items[i] == kind)
                        return true;
        }
        return false;
}

/* ------------------------------------------------------------------ output */

static bool is_update_wanted(const struct pipe *p, const Hw__Update *u)
{
        if (p->kinds.n && !is_kind_listed(&p->kinds, hw_update_kind(u)))
                return false;
        return u->target ? selection_has_target(&p->from, u->target) : p->from.targets.n == 0;
}

static int print_json(const struct pipe *p, const Hw__Update *u)
{
        char *json = hw_json(&u->base, p->numbers);
        size_t n;

        if (!json)
                return -ENOMEM;
        n = strlen(json);
        json[n] = '\n'; /* in place of the NUL, so that a line is one write */
        (void)fwrite(json, 1, n + 1, stdout);
        free(json);
        return stream_flush(stdout);
}

static int print_update(struct pipe *p, size_t daemon, const Hw__Update *u)
{
        if (p->format == FORMAT_JSON)
                return is_update_wanted(p, u) ? print_json(p, u) : 0;
        if (world_apply(p->world, daemon, u) < 0)
                return -ENOMEM;
        if (!is_update_wanted(p, u))
                return 0;
        csv_update(&p->rows, p->world, daemon, u);
        return p->rows.no_memory ? -ENOMEM : stream_flush(stdout);
}

static void print_notice(const struct feed *feed, const char *what)
{
        command_error(&command_pipe, "%s %s", feed_endpoint(feed, feed_daemon(feed)), what);
}

/* Whether to go on after printing returned `r`; otherwise sets the exit status. */
static bool check_written(int r, int *ret_status)
{
        if (r == 0)
                return true;
        if (r != -EPIPE)
                command_error(&command_pipe, "cannot write: %s", strerror(-r));
        *ret_status = r == -EPIPE ? EXIT_OK : EXIT_USAGE;
        return false;
}

/* Whether the daemon has none of the targets that were named: of a misspelled one nothing would ever come. */
static bool none_found(struct pipe *p, const struct feed *feed)
{
        size_t missing = 0;

        if (p->checked || feed_daemons(feed) != 1)
                return false;
        p->checked = true;
        for (size_t i = 0; i < p->from.targets.n; i++)
                missing += absent_check_target(&command_pipe, feed_endpoint(feed, 0), p->from.targets.items[i]);
        return missing > 0 && missing == p->from.targets.n;
}

/* One event. Returns false at the end, with the exit status. */
static bool handle_feed(struct pipe *p, struct feed *feed, int *ret_status)
{
        const Hw__Update *update = NULL;
        int r = 0;

        switch (feed_next(feed, 500, &update)) {
        case FEED_UPDATE:
                r = print_update(p, feed_daemon(feed), update);
                break;
        case FEED_RESET:
                world_reset(p->world, feed_daemon(feed));
                break;
        case FEED_STALE:
                print_notice(feed, "is silent; waiting for it");
                break;
        case FEED_ALIVE:
                print_notice(feed, "is back");
                break;
        case FEED_READY:
                if (!feed_is_live(feed) || !none_found(p, feed))
                        break;
                *ret_status = EXIT_USAGE;
                return false;
        case FEED_END:
                *ret_status = EXIT_OK;
                return false;
        case FEED_FAILED:
                command_error(&command_pipe, "%s", feed_error(feed));
                *ret_status = EXIT_USAGE;
                return false;
        default:
                break;
        }
        return check_written(r, ret_status);
}

static int follow_feed(struct pipe *p)
{
        struct error error;
        struct feed *feed = selection_open(&p->from, p->followed.items, p->followed.n, &error);
        int status = EXIT_OK;

        if (!feed)
                return command_error(&command_pipe, "%s", error.text);
        if (p->format == FORMAT_CSV)
                (void)fputs(CSV_HEADER, stdout);
        if (check_written(stream_flush(stdout), &status))
                while (!signals_stop() && handle_feed(p, feed, &status))
                        continue;
        feed_close(&feed);
        return status;
}

static int run_pipe(void *filled)
{
        struct pipe *p = filled;
        int status = EXIT_USAGE;

        /* What to request from a daemon: what is printed, and the names of bands when censuses become rows. */
        p->followed = p->kinds;
        if (p->format == FORMAT_CSV && is_kind_listed(&p->kinds, HW__KIND__KIND_CENSUS) &&
            !is_kind_listed(&p->kinds, HW__KIND__KIND_BAND) && p->followed.n < OPTIONS_MAX)
                p->followed.items[p->followed.n++] = HW__KIND__KIND_BAND;
        p->rows = (struct csv_out){ .to = stdout, .headed = true };
        p->world = world_new(NULL);
        if (p->world)
                status = follow_feed(p);
        world_destroy(&p->world);
        return status;
}

static const struct help_section sections[] = {
        { "The columns of CSV; those that do not apply are empty",
          (const struct term[]){
                  { "target,run", NULL, "where the number is from" },
                  { "time_s", NULL, "event time, seconds since the program's runtime started" },
                  { "wall_time", NULL, "the same in UTC; empty until the log has said when it started" },
                  { "series", NULL,
                    "heap: live heap_size rss gc_pause ... and allocation_rate (B/s); gc: gc_share (of 1); census: "
                    "band, and bands_left_out (bytes of the bands beyond the daemon's limit); note: note; health: "
                    "lost_bytes, lag" },
                  { "unit", NULL, "B, ns, B/s, 1 or nothing" },
                  { "value", NULL, "the number" },
                  { "band,label", NULL,
                    "of a band row: its number and name; label of a note row: its text (control characters are "
                    "written as \\n, \\t, \\xNN)" },
                  { NULL, NULL, NULL },
          } },
        { NULL, NULL },
};

const struct command command_pipe = {
        .name = "pipe",
        .summary = "updates as JSON lines or CSV on standard output, live or from files",
        .usage = TEXTS("[TARGET...] --format json|csv [OPTION]...", "FILE... --format json|csv [OPTION]..."),
        .about =
                "Writes updates to standard output as they come, one per line: live from the daemon, or from finished "
                "eventlogs (FILE) to their end. An argument with a slash, one that ends in .eventlog or one that names "
                "an existing file is a FILE.",
        .options = options,
        .sections = sections,
        .status = "0 the files ended or the reader exited, 2 bad input.",
        .examples = TEXTS("heapwatch pipe --format json --kinds heap --numbers | jq .heap.liveBytes",
                          "heapwatch pipe --format csv --kinds census run.eventlog > bands.csv"),
        .size = sizeof(struct pipe),
        .defaults = &(const struct pipe){ .format = FORMAT_NONE },
        .check = check_request,
        .run = run_pipe,
        .stops = true,
        .offline = true,
};

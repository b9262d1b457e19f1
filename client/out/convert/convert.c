/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * convert.c - `heapwatch convert`: a finished log in a format of other tools.
 *
 * DESIGN: one run of the log goes to one format, update by update, so memory
 * does not depend on the log's length. A failed conversion leaves an old file
 * as it was.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/cli/out_file.h"
#include "client/cli/progress.h"
#include "client/cli/signals.h"
#include "client/out/convert/format.h"
#include "client/world/feed/feed.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

static const struct format *const formats[] = {
        &format_hp,         &format_csv,   &format_csv_wide, &format_json,        &format_collapsed,
        &format_speedscope, &format_pprof, &format_perfetto, &format_openmetrics, &format_resid,
};

enum { FORMATS = ARRAY_SIZE(formats) };

struct request {
        const char *log, *output;
        const char *to; /* name of the format */
        const struct format *format;
        struct format_options options;
        uint32_t run;       /* which, from 1 */
        uint32_t runs_seen; /* in the log so far */
};

/* -------------------------------------------------------------- options */

static const char *nth_format(size_t n)
{
        return n < FORMATS ? formats[n]->name : NULL;
}

static int parse_at(const struct command *c, const struct option *o, void *filled, char *value)
{
        struct format_options *options = &((struct request *)filled)->options;
        char *end;
        double seconds = strtod(value, &end);

        options->at_given = true;
        if (!strcmp(value, "peak"))
                options->at_ns = AT_PEAK;
        else if (!strcmp(value, "all"))
                options->at_ns = AT_ALL;
        else if (end != value && !*end && seconds >= 0 && seconds < 1e9)
                options->at_ns = (uint64_t)(seconds * 1e9);
        else if (!hw_parse_duration(value, &options->at_ns))
                return option_error(c, o, "'%s': expected an event time such as 12.5, 90s or 5m, or peak, or all",
                                    value);
        return 0;
}

static const char *const profiles[] = { "any", "time", "heap", NULL };

static const struct option options[] = {
        OPERAND_TEXT("LOG", struct request, log, COMPLETE_FILE, NULL),
        OPTION_NAME("to", 't', "FORMAT", struct request, to, nth_format, "{}, see above"),
        OPTION_CALLBACK("at", 0, "TIME", parse_at, COMPLETE_NOTHING,
                        "collapsed, speedscope, pprof: the heap at this event time (12.5, 90s, 5m), at its `peak` "
                        "(default), or, speedscope and pprof, `all` of its censuses"),
        OPTION_CHOICE("profile", 0, "time|heap", int, struct request, options.of, profiles,
                      "which profile, if the log has both (default: heap with --at, otherwise time; speedscope: both)"),
        OPTION_NUMBER(
                "bands", 'n', uint32_t, struct request, options.n_bands, 0, UINT32_MAX,
                "csv-wide: columns for the N largest bands, one more for all others (default: 0, all); openmetrics: "
                "at most N bands at a time (default: 20)"),
        OPTION_DURATION("step", 0, struct request, options.step_ns, UINT64_C(1000000), 0,
                        "openmetrics: from one sample to the next (default: 1s)"),
        OPTION_FLAG("names", 0, struct request, options.names,
                    "hp: info tables (-hi) by name and source instead of their address"),
        OPTION_NUMBER("run", 0, uint32_t, struct request, run, 1, UINT32_MAX,
                      "the N-th run of a log with several (default: the first)"),
        OPTION_TEXT("output", 'o', "FILE", struct request, output, COMPLETE_FILE,
                    "write to FILE (default: standard output)"),
        OPTIONS_END,
};

static const struct term format_terms[] = {
        { "hp", NULL,
          "the runtime's own heap profile text, for hp2ps, hp2pretty and other readers of .hp files. Two things "
          "differ from the .hp file of the same run: times are elapsed seconds (the runtime writes mutator CPU "
          "seconds, which are not in the log), and cost-centre stacks have numbers of our own and are not cut at 25 "
          "characters" },
        { "csv", NULL, "one number per row, the rows of `heapwatch pipe --format csv`" },
        { "csv-wide", NULL,
          "a row for each census, a column for each band, largest first, beside residency, heap, blocks and RSS" },
        { "json", NULL,
          "one object per line: each band, census, sample, collection and note once, then stacks of the time profile, "
          "ticky counters and the run; plain numbers, times in nanoseconds" },
        { "collapsed", NULL,
          "stacks for flamegraph.pl, inferno and speedscope: ticks of the time profile, or bytes of one census" },
        { "speedscope", NULL,
          "for speedscope.app: the time profile of each capability in order and at the times of its samples, and the "
          "heap of one census, or all" },
        { "pprof", NULL,
          "for pprof and other tools that read its format, compressed: inuse_space of the bands of one census (of "
          "all: each sample with the label `time`), or the time profile" },
        { "perfetto", NULL,
          "a trace for ui.perfetto.dev: threads on capabilities, collections with their pauses, notes, and memory and "
          "larger bands as counters" },
        { "openmetrics", NULL,
          "all metrics of docs/METRICS.md with their times, a sample each `--step`, for `promtool tsdb "
          "create-blocks-from "
          "openmetrics`, which takes them into Prometheus" },
        { "resid", NULL, "residency and heap over time in columns for gnuplot, as stat2resid drew them" },
        { NULL, NULL, NULL },
};

static const struct help_section sections[] = { { "Formats", format_terms }, { NULL, NULL } };

static int check_request(void *filled)
{
        struct request *r = filled;

        for (size_t i = 0; i < FORMATS; i++)
                if (r->to && !strcmp(r->to, formats[i]->name))
                        r->format = formats[i];
        if (!r->format)
                return command_usage_error(&command_convert,
                                           "expected a format: add --to hp, csv, json, speedscope, pprof or another");
        if ((r->options.at_given || r->options.of != OF_ANY) && r->format->profiles == NO_PROFILE)
                return command_usage_error(
                        &command_convert,
                        "%s has all of the log; --at and --profile are for collapsed, speedscope and "
                        "pprof",
                        r->to);
        if (r->options.at_ns == AT_ALL && r->format->profiles == ONE_PROFILE)
                return command_usage_error(&command_convert, "%s shows one moment; --at takes a time or peak", r->to);
        if (out_file_is_input(r->output, r->log))
                return command_usage_error(&command_convert, "-o %s: it is the log that is converted", r->output);
        return 0;
}

/* ----------------------------------------------------------- conversion */

/* Passes on updates of the run. Other runs are only counted. */
static int pass_update(struct request *r, const struct format *f, struct conversion *c, struct world *world,
                       const Hw__Update *u)
{
        if (u->has_run && u->run > r->runs_seen)
                r->runs_seen = u->run;
        if (!u->has_run || u->run != r->run || !u->target)
                return 0;
        int status = u->body_case == HW__UPDATE__BODY_EVENTS ? 0 : world_apply(world, 0, u);
        c->t = world_find(world, u->target);
        if (status || !c->t) /* events come first, when nothing is known of the run yet */
                return status;
        const Hw__Run *run = c->t->target ? c->t->target->run_info : NULL;
        if (run && run->has_start_wall_ns) {
                c->has_start = true;
                c->start_wall_ns = run->start_wall_ns;
        }
        return f->update(c, u);
}

/* 0, -errno of the format or the output, -EINTR after a signal, or 1: the log cannot be read, which was reported. */
static int read_log(struct request *r, const struct format *f, struct conversion *c, struct world *world)
{
        struct error error;
        struct progress progress;
        const Hw__Update *update;
        enum feed_event event = FEED_NOTHING;
        int status = 0;
        struct feed *feed = f->events ? feed_events(r->log, FEED_EVENTS_AND_STATE, NULL, false, &error)
                                      : feed_files_wanted(&r->log, 1, NULL, f->wish, &error);

        if (!feed) {
                command_error(&command_convert, "%s", error.text);
                return 1;
        }
        progress_begin(&progress, command_convert.name, &r->log, 1);
        while (status == 0 && event != FEED_END && event != FEED_FAILED) {
                event = feed_next(feed, 500, &update);
                if (event == FEED_UPDATE && update->body_case == HW__UPDATE__BODY_HEALTH)
                        progress_show(&progress, update->health->bytes);
                if (event == FEED_UPDATE)
                        status = pass_update(r, f, c, world, update);
                if (signals_stop())
                        status = -EINTR;
                else if (status == 0 && ferror(c->out))
                        status = stream_flush(c->out);
        }
        progress_end(&progress);
        if (event == FEED_FAILED)
                command_error(&command_convert, "%s", feed_error(feed));
        feed_close(&feed);
        return status == 0 && event == FEED_FAILED ? 1 : status;
}

static int stop_at_start(void *state, const Hw__Update *u)
{
        return ((const struct conversion *)state)->has_start ? -ECANCELED : 0;
}

/* Reads no further than to the run's start, of a log that can be read again. As read_log(). */
static int find_start(struct request *r, struct conversion *c)
{
        static const struct update_wish wish = { .kinds = WISH(TARGET) | WISH(HEALTH), .unjudged = true };
        static const struct format start = { .wish = &wish, .update = stop_at_start };
        struct conversion found = { .out = c->out, .options = c->options };
        struct world *world;
        struct stat st;
        int status = -ENOMEM;

        if (stat(r->log, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        world = world_new(NULL);
        if (world)
                status = read_log(r, &start, &found, world);
        world_destroy(&world);
        c->has_start = found.has_start;
        c->start_wall_ns = found.start_wall_ns;
        return status == -ECANCELED ? 0 : status;
}

static int convert_log(struct request *r, FILE *out)
{
        const struct format *f = r->format;
        struct world *world = world_new(NULL);
        struct conversion *c = calloc(1, f->size);
        int status = world && c ? 0 : -ENOMEM;

        if (status == 0) {
                *c = (struct conversion){ .out = out, .options = &r->options, .world = world };
                if (f->begin)
                        status = f->begin(c);
                if (status == 0 && f->dated)
                        status = find_start(r, c);
                if (status == 0)
                        status = read_log(r, f, c, world);
                if (status == 0)
                        status = c->t ? f->finish(c) : -ENODATA;
                if (f->done)
                        f->done(c);
                if (c->census)
                        hw_message_unref(&c->census->base);
        }
        free(c);
        world_destroy(&world);
        return status;
}

static int explain_failure(const struct request *r, int status)
{
        if (status == 0 || status == -EPIPE) /* -EPIPE: the reader of the pipe has exited */
                return EXIT_OK;
        if (status == -ENODATA && r->runs_seen < r->run)
                command_error(&command_convert, "%s has %u run%s, not %u", r->log, r->runs_seen,
                              r->runs_seen == 1 ? "" : "s", r->run);
        else if (status == -ENODATA)
                command_error(&command_convert, "%s %s", r->log, r->format->no_data);
        else if (status == -EBADMSG)
                command_error(&command_convert, "%s: its events do not fit their types", r->log);
        else if (status < 0 && status != -EINTR)
                command_error(&command_convert, "cannot write%s%s: %s", r->output ? " " : "",
                              r->output ? r->output : "", strerror(-status));
        return EXIT_USAGE;
}

static int run_convert(void *filled)
{
        struct request *r = filled;
        struct out_file out;
        int status = out_file_open(&out, r->output);

        if (status == 0)
                status = out_file_close(&out, convert_log(r, out.to));
        if (status == 0 && r->runs_seen > 1)
                command_error(&command_convert, "%s has %u runs; this is run %u (--run chooses)", r->log, r->runs_seen,
                              r->run);
        return explain_failure(r, status);
}

const struct command command_convert = {
        .name = "convert",
        .summary = "a finished log in a format of other tools: hp, csv, json, speedscope, pprof, perfetto ...",
        .usage = TEXTS("LOG --to FORMAT [-o FILE] [OPTION]..."),
        .about = "Writes a finished eventlog in a format that other tools read.",
        .sections = sections,
        .options = options,
        .notes = "A log with several runs is converted one run at a time. If a log does not have the data, one "
                 "sentence says so, "
                 "and nothing is written to FILE. In hp, white space in a label becomes an underscore.",
        .status = "0 all was written, 2 bad input, or the log has nothing to convert.",
        .examples = TEXTS("heapwatch convert run.eventlog --to hp -o run.hp && hp2ps -c run.hp",
                          "heapwatch convert run.eventlog --to hp --names | hp2pretty",
                          "heapwatch convert run.eventlog --to collapsed | flamegraph.pl > run.svg",
                          "heapwatch convert run.eventlog --to pprof --at 90s -o heap.pb.gz && pprof -top heap.pb.gz",
                          "heapwatch convert run.eventlog --to speedscope -o run.speedscope.json"),
        .size = sizeof(struct request),
        .defaults =
                &(const struct request){ .run = 1, .options = { .at_ns = AT_PEAK, .step_ns = UINT64_C(1000000000) } },
        .check = check_request,
        .run = run_convert,
        .stops = true,
        .offline = true,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - `heapwatch report`: finished logs, or targets as they are now, as one file: a page, its data, a picture.
 *
 * DESIGN: what was selected is read as by any client, into the world and, of a picture, into what is drawn of its run.
 * Of targets the daemon's snapshot is taken, and what it remembers of the time before. Then the file is written in
 * its format, under a temporary name, and renamed when it is complete.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/absent.h"
#include "client/cli/command.h"
#include "client/cli/front.h"
#include "client/cli/options.h"
#include "client/cli/out_file.h"
#include "client/cli/progress.h"
#include "client/world/feed/feed.h"
#include "client/world/feed/gather.h"
#include "client/world/feed/selection.h"
#include "client/page/assets.h"
#include "client/out/report/compose.h"
#include "client/out/report/plot.h"
#include "client/out/report/profiles.h"
#include "client/world/state/recall.h"
#include "client/world/state/world.h"
#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

/* ------------------------------------------------------ targets of daemons */

/* All or nothing, since a report from which a part is missing would look whole. */
static bool all_there(const struct feed *feed, const struct world *world, const struct text_list *targets)
{
        for (size_t i = 0; i < targets->n; i++) {
                const struct world_target *t = world_find(world, targets->items[i]);

                if (!t)
                        (void)absent_target(&command_report, feed_endpoint(feed, 0), targets->items[i]);
                else if (!t->run)
                        command_error(&command_report, "%s has no run yet", t->name);
                if (!t || !t->run)
                        return false;
        }
        return true;
}

static bool remember_history(const struct feed *feed, struct world *world)
{
        struct recall *recall = recall_new(feed_requester(feed));
        size_t missing = recall ? recall_all(recall, world) : 0;

        if (!recall)
                command_error(&command_report, "out of memory");
        else if (missing)
                command_error(&command_report,
                              "%zu histories are missing: the daemon is too busy, or a new run began; "
                              "try again",
                              missing);
        bool good = recall && !missing;
        recall_destroy(&recall);
        return good;
}

/* ------------------------------------------------------------------ report */

#define HISTORY_POINTS  8192              /* of a series, while reading */
#define HISTORY_COLUMNS 1024              /* no more are written */
#define HISTORY_CELLS   ((size_t)4 << 20) /* 128 MiB at most */

#define LEAST_SIZE   300 /* of a picture, in points */
#define MOST_SIZE    10000
#define PAGE_BANDS   15
#define PLOT_LARGEST 20
#define NOT_GIVEN    UINT32_MAX

struct reporter {
        struct selection from;
        const char *out;    /* NULL: made from the name of the first file or target */
        const char *format; /* one of formats[] */
        bool force;
        uint32_t bands;                /* NOT_GIVEN: as the format has it */
        const char *sort;              /* NULL: by size */
        struct report_options options; /* of a page */
        uint64_t profile_ns;           /* page: of the profiles that are taken; 0: none */
        bool by_allocation;            /* of these: in place of CPU time */
        struct report_profiles profiles;
        bool with_heap, with_threads; /* page: that are read */
        struct report_inspected heaps, threads;
        struct plot_options plot;    /* of a picture */
        uint32_t width, height, run; /* of a picture; 0: not given */
        const char *save_order;
        struct feed *feed;
        struct world *world;
        struct report_notes *notes; /* page */
        struct pair *pair;          /* page; NULL: there are not exactly two logs */
        struct plot_data *data;     /* picture */
        uint32_t runs_seen;         /* picture: of the log */
        struct progress progress;
};

/* ------------------------------------------------------------------- options */

static const char *const formats[] = { "html", "json", "svg", "png", "pdf", "eps", "ps" };

static const char *nth_format(size_t n)
{
        return n < ARRAY_SIZE(formats) ? formats[n] : NULL;
}

static const char *nth_order(size_t n)
{
        static const char *const orders[] = { "size", "stddev", "name", "number", "gradient", NULL };

        return orders[n];
}

static const char *const themes[] = { "light", "dark", "print", NULL };

static int parse_lines(const struct command *c, const struct option *o, void *filled, char *value)
{
        static const char *const names[PLOT_LINES] = { "live", "heap", "rss" };
        struct reporter *r = filled;
        char *part;

        r->plot.lines_given = true;
        memset(r->plot.lines, 0, sizeof(r->plot.lines));
        while ((part = strsep(&value, ","))) {
                bool known = !strcmp(part, "none");
                for (int i = 0; i < PLOT_LINES; i++) {
                        r->plot.lines[i] |= !strcmp(part, names[i]);
                        known |= !strcmp(part, names[i]);
                }
                if (!known)
                        return option_error(c, o, "unknown '%s'; expected live, heap, rss or none", part);
        }
        return 0;
}

static int parse_threshold(const struct command *c, const struct option *o, void *filled, char *value)
{
        char *end;
        double percent = strtod(value, &end);

        if (end == value || *end || !(percent >= 0 && percent <= 100))
                return option_error(c, o, "'%s': expected percent, 0 to 100", value);
        ((struct reporter *)filled)->plot.threshold = percent;
        return 0;
}

static const struct option options[] = {
        OPERAND_LIST("LOG|TARGET...", 1, struct reporter, from.operands, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_TEXT("output", 'o', "FILE", struct reporter, out, COMPLETE_FILE,
                    "the output file, whose ending is the format: .html, .json, .svg, .png, .pdf, .eps, .ps (default: "
                    "LOG or TARGET with .html; - is standard output)"),
        OPTION_NAME("format", 0, "FORMAT", struct reporter, format, nth_format,
                    "where no ending says so: html (default), json (the page's data alone, docs/WEB.md), svg, png, "
                    "pdf, eps, ps"),
        OPTION_DURATION("profile", 0, struct reporter, profile_ns, PROFILE_LEAST_NS, PROFILE_MOST_NS,
                        "page of targets: also take a profile of their CPU time for so long"),
        OPTION_FLAG("allocation", 0, struct reporter, by_allocation,
                    "with --profile: by the bytes that Haskell threads allocate, in place of CPU time"),
        OPTION_FLAG("heap", 0, struct reporter, with_heap, "page of targets: also read their heaps: who holds what"),
        OPTION_FLAG("threads", 0, struct reporter, with_threads,
                    "page of targets: also read what their threads wait for"),
        OPTION_FLAG("force", 'f', struct reporter, force,
                    "overwrite a file of that name that is not a report of heapwatch"),
        OPTION_NUMBER(
                "bands", 'n', uint32_t, struct reporter, bands, 0, 100000,
                "bands drawn at first, the largest (0: all; default 15, in a picture 20 of at most 60; hp2ps -m)"),
        OPTION_NAME("sort", 0, "FIELD", struct reporter, sort, nth_order,
                    "their order: size (default), stddev (the most variable first, hp2ps -d), name (hp2ps -i); on the "
                    "page also number, gradient"),
        OPTION_FLAG("no-notes", 0, struct reporter, options.no_notes,
                    "draw none of the program's markers and messages (hp2ps -y)"),
        OPTION_BYTES("y-axis", 0, struct reporter, options.y_axis_bytes, 1,
                     "fixed top of the heap chart: 512M, 1.5GiB"),
        OPTION_FLAG("reverse", 0, struct reporter, options.reverse, "page: reverse the order"),
        OPTION_LIST("include", 'i', "TEXT", struct reporter, options.include, COMPLETE_NOTHING,
                    "page: draw only notes that contain TEXT; may be repeated"),
        OPTION_LIST("exclude", 'x', "TEXT", struct reporter, options.exclude, COMPLETE_NOTHING,
                    "page: draw no notes that contain TEXT; may be repeated"),
        OPTION_FLAG("include-trace-events", 0, struct reporter, options.trace_events,
                    "page: draw messages (traceEvent), too, not only markers"),
        OPTION_CALLBACK("threshold", 0, "PERCENT", parse_threshold, COMPLETE_NOTHING,
                        "picture: a band with less of the sum of all censuses is one of (other), on top (default 1; "
                        "hp2ps -t)"),
        OPTION_CHOICE("theme", 0, "light|dark|print", int, struct reporter, plot.theme, themes,
                      "picture: light (default), dark, or print: greys and hatching, for black ink"),
        OPTION_CALLBACK("lines", 0, "LIST", parse_lines, COMPLETE_NOTHING,
                        "picture: live, heap, rss: which of them are drawn if known (default: live, or all if there "
                        "are no censuses), or none"),
        OPTION_FLAG("traces", 0, struct reporter, plot.traces, "picture: each band as a line of its own, not stacked"),
        OPTION_FLAG("small-title", 0, struct reporter, plot.small_title,
                    "picture: the title in one small line (hp2ps -s)"),
        OPTION_NUMBER("width", 0, uint32_t, struct reporter, width, LEAST_SIZE + 300, MOST_SIZE,
                      "picture: in points, 72 per inch; a PNG has two pixels per point (default 960; hp2ps -e)"),
        OPTION_NUMBER("height", 0, uint32_t, struct reporter, height, LEAST_SIZE, MOST_SIZE,
                      "picture: in points (default 540)"),
        OPTION_TEXT("save-order", 0, "FILE", struct reporter, save_order, COMPLETE_FILE,
                    "picture: write its scales and order to FILE, as hp2ps does to its .aux"),
        OPTION_TEXT("order", 0, "FILE", struct reporter, plot.order, COMPLETE_FILE,
                    "picture: scales and order of another one, so that the two can be compared (hp2ps -p)"),
        OPTION_NUMBER("run", 0, uint32_t, struct reporter, run, 1, UINT32_MAX,
                      "picture: the N-th run of a log with several (default: the first)"),
        OPTION_RULES(struct reporter, from.judging),
        OPTIONS_OF_TREND(struct reporter, from.judging),
        OPTION_CONNECT(struct reporter, from.endpoints),
        OPTIONS_END,
};

static bool is_picture(const struct reporter *r)
{
        return plot_is_format(r->format);
}

/* The file's ending decides, otherwise --format; without either it is a page. */
static int choose_format(struct reporter *r)
{
        const char *slash = r->out ? strrchr(r->out, '/') : NULL, *ending = NULL;
        const char *dot = r->out ? strrchr(slash ? slash : r->out, '.') : NULL;

        for (size_t i = 0; dot && i < ARRAY_SIZE(formats); i++)
                if (!strcmp(dot + 1, formats[i]))
                        ending = formats[i];
        if (dot && !ending && !r->format)
                return command_usage_error(&command_report,
                                           "%s: unknown ending; expected .html, .json, .svg, .png, .pdf, .eps or .ps, "
                                           "or a --format",
                                           r->out);
        if (ending && r->format && strcmp(ending, r->format) != 0)
                return command_usage_error(&command_report, "%s is not %s by its ending; leave out --format", r->out,
                                           r->format);
        if (ending)
                r->format = ending;
        else if (!r->format)
                r->format = formats[0];
        return 0;
}

/* The first given option that inspects a program; NULL: none. */
static const char *option_of_targets(const struct reporter *r)
{
        return r->profile_ns ? "--profile" : r->with_heap ? "--heap" : r->with_threads ? "--threads" : NULL;
}

/* The first given option that only a page has, or only a picture; NULL: none. */
static const char *option_of_page(const struct reporter *r)
{
        return r->options.reverse        ? "--reverse"
               : option_of_targets(r)    ? option_of_targets(r)
               : r->options.include.n    ? "--include"
               : r->options.exclude.n    ? "--exclude"
               : r->options.trace_events ? "--include-trace-events"
                                         : judging_given(&r->from.judging);
}

static const char *option_of_picture(const struct reporter *r)
{
        return r->plot.threshold >= 0 ? "--threshold"
               : r->plot.theme >= 0   ? "--theme"
               : r->plot.lines_given  ? "--lines"
               : r->plot.traces       ? "--traces"
               : r->plot.small_title  ? "--small-title"
               : r->width             ? "--width"
               : r->height            ? "--height"
               : r->save_order        ? "--save-order"
               : r->plot.order        ? "--order"
               : r->run               ? "--run"
                                      : NULL;
}

static int check_picture(struct reporter *r)
{
        static const char *const orders[] = { [SORT_SIZE] = "size", [SORT_STDDEV] = "stddev", [SORT_NAME] = "name" };
        struct plot_options *o = &r->plot;

        if (r->from.targets.n)
                return command_usage_error(&command_report,
                                           "%s is not a file, and a picture is drawn from a finished log; if it is "
                                           "recorded, give recording:%s",
                                           r->from.targets.items[0], r->from.targets.items[0]);
        if (r->from.files.n > 1)
                return command_usage_error(&command_report, "a picture shows one log, not %zu", r->from.files.n);
        if (option_of_page(r))
                return command_usage_error(&command_report, "%s belongs to a page, not to a picture",
                                           option_of_page(r));
        if (r->bands != NOT_GIVEN && r->bands > PLOT_BANDS)
                return command_usage_error(&command_report, "--bands: a picture has at most %d", PLOT_BANDS);
        o->bands = r->bands == NOT_GIVEN ? PLOT_LARGEST : r->bands ? r->bands : PLOT_BANDS;
        for (o->sort = 0; r->sort && strcmp(r->sort, orders[o->sort]) != 0;)
                if (++o->sort == (int)ARRAY_SIZE(orders))
                        return command_usage_error(&command_report,
                                                   "--sort %s belongs to a page; a picture has size, stddev or name",
                                                   r->sort);
        o->threshold = o->threshold < 0 ? 1 : o->threshold;
        o->theme = o->theme < 0 ? THEME_LIGHT : o->theme;
        o->width = r->width ? r->width : 960;
        o->height = r->height ? r->height : 540;
        o->no_notes = r->options.no_notes;
        o->y_axis_bytes = r->options.y_axis_bytes;
        r->run = r->run ? r->run : 1;
        return 0;
}

static int check_page(struct reporter *r)
{
        if (option_of_picture(r))
                return command_usage_error(&command_report, "%s belongs to a picture: -o FILE.svg",
                                           option_of_picture(r));
        if (r->by_allocation && !r->profile_ns)
                return command_usage_error(&command_report, "--allocation belongs to a profile: --profile 10s");
        if (option_of_targets(r) && (r->from.files.n || r->from.targets.n > REPORT_PROFILES))
                return command_usage_error(&command_report, "%s is for targets that run, at most %u",
                                           option_of_targets(r), REPORT_PROFILES);
        r->options.bands = r->bands == NOT_GIVEN ? PAGE_BANDS : r->bands;
        r->options.sort = r->sort ? r->sort : nth_order(0);
        if (strcmp(r->format, "html") != 0 || page_size())
                return 0;
        return command_error(&command_report, "%s, or use --format json", PAGE_MISSING);
}

static int check_request(void *filled)
{
        struct reporter *r = filled;

        if (selection_check(&command_report, &r->from) || choose_format(r))
                return EXIT_USAGE;
        return is_picture(r) ? check_picture(r) : check_page(r);
}

/* ------------------------------------------------------------------- reading */

/* Of a picture's log, one run; others are only counted. */
static int apply_update(void *ctx, size_t daemon, const Hw__Update *u)
{
        struct reporter *r = ctx;
        int status;

        if (u->has_run && u->run > r->runs_seen)
                r->runs_seen = u->run;
        if (r->data && (!u->has_run || u->run != r->run))
                return 0;
        status = world_apply(r->world, daemon, u);
        if (status == 0 && r->data)
                status = plot_data_add(r->data, u);
        if (status == 0 && r->notes)
                status = report_notes_add(r->notes, u);
        if (status == 0 && r->pair)
                status = pair_add(r->pair, u);
        uint64_t done = 0;

        for (size_t i = 0; r->progress.terminal && i < world_targets(r->world); i++)
                done += world_target(r->world, i)->health ? world_target(r->world, i)->health->bytes : 0;
        progress_show(&r->progress, done);
        return status;
}

/* Reads all that was selected. False after printing a message, or when a signal came. */
static bool read_all(struct reporter *r)
{
        const struct gatherer g = { &command_report, r->world, apply_update, r, &r->progress };

        if (gather(r->feed, &g) == GATHERED_FAILED || (r->pair && pair_end(r->pair) < 0))
                return false;
        return r->from.targets.n == 0 ||
               (all_there(r->feed, r->world, &r->from.targets) && remember_history(r->feed, r->world));
}

/* What a reader of the report should know before opening it. */
static void warn_of_losses(const struct reporter *r)
{
        for (size_t i = 0; i < world_targets(r->world); i++) {
                const struct world_target *t = world_target(r->world, i);

                if (t->health && t->health->lost_bytes)
                        command_error(&command_report, "%s: %s could not be read", t->name,
                                      BYTES_TEXT(t->health->lost_bytes));
                if (t->health && t->health->unread)
                        command_error(&command_report, "%s: not all of it was read: %s", t->name, t->health->unread);
        }
}

/* ------------------------------------------------------------------- writing */

/* Of targets they are taken now, of recordings those are shown that were kept. */
static void add_profiles(struct reporter *r)
{
        if (r->profile_ns && isatty(STDERR_FILENO))
                (void)fprintf(stderr, "taking samples for %s; Ctrl-C ends it before\n", DURATION_TEXT(r->profile_ns));
        if (r->profile_ns)
                report_profiles_sample(&r->profiles, r->world, r->feed,
                                       r->by_allocation ? INSPECTING_ALLOCATION : INSPECTING_PROFILE, r->profile_ns);
        else
                report_profiles_read(&r->profiles, r->world, r->from.files.items, r->from.files.n);
        for (size_t i = 0; i < r->profiles.n; i++)
                if (!r->profiles.items[i].trees.running.n_sentences)
                        command_error(&command_report, "%s: no profile: %s", r->profiles.items[i].target->name,
                                      r->profiles.items[i].error.text);
}

static void add_inspected(struct reporter *r, struct report_inspected *to, enum inspecting_what what, const char *name)
{
        report_inspect(to, r->world, r->feed, what);
        for (size_t i = 0; i < to->n; i++)
                if (!to->items[i].json)
                        command_error(&command_report, "%s: no %s: %s", to->items[i].target->name, name,
                                      to->items[i].error.text);
}

static int write_page(const struct reporter *r, FILE *to)
{
        bool watched = r->from.targets.n > 0;
        struct state_source state = { .world = r->world,
                                      .feed = r->feed,
                                      .n_daemons = watched ? feed_daemons(r->feed) : 1,
                                      .watched = watched,
                                      .files = watched ? NULL : r->from.files.items,
                                      .targets = watched ? r->from.targets.items : NULL,
                                      .put_notes = watched ? NULL : report_notes_put,
                                      .ctx = r->notes };
        struct report report = { .options = &r->options,
                                 .state = &state,
                                 .pair = r->pair,
                                 .profiles = r->profile_ns || r->profiles.n ? &r->profiles : NULL,
                                 .heaps = r->with_heap ? &r->heaps : NULL,
                                 .threads = r->with_threads ? &r->threads : NULL,
                                 .world = r->world,
                                 .watched = watched };
        const bool alone = !strcmp(r->format, "json");
        FILE *data = alone ? to : page_begin(to);

        if (!data)
                return -errno;
        const bool good = compose_report(&(struct json_out){ .to = data }, &report);
        if (!alone)
                page_end(to, data);
        return good ? 0 : -ENOMEM;
}

/* 0, -errno, or 1 when what is wrong was printed. */
static int draw_chart(const struct reporter *r, struct plot_picture *p, struct plot_chart *c, FILE *to)
{
        int status = plot_choose(c, r->data, p->t, &r->plot);

        if (status == -ENODATA) {
                command_error(&command_report,
                              "%s has neither censuses nor the lines of --lines; run the program with "
                              "+RTS -l -hT -i1 (or another -h)",
                              r->from.files.items[0]);
                return 1;
        }
        if (status == -ENOENT || status == -EACCES) {
                command_error(&command_report, "%s: %s", r->plot.order, strerror(-status));
                return 1;
        }
        status = status ? status : plot_write(p, r->format, to);
        if (status == 0 && r->save_order && plot_save_order(c, r->save_order)) {
                command_error(&command_report, "cannot write %s", r->save_order);
                return 1;
        }
        return status;
}

static int write_picture(const struct reporter *r, FILE *to)
{
        struct plot_picture *p = calloc(1, sizeof(*p));
        struct plot_chart *c = calloc(1, sizeof(*c));
        int status = -ENOMEM;

        if (p && c && world_targets(r->world)) {
                *p = (struct plot_picture){
                        .options = &r->plot, .data = r->data, .chart = c, .t = world_target(r->world, 0)
                };
                status = draw_chart(r, p, c, to);
                plot_chart_done(c);
        } else if (p && c) {
                command_error(&command_report, "%s has %u run%s, not %u", r->from.files.items[0], r->runs_seen,
                              r->runs_seen == 1 ? "" : "s", r->run);
                status = 1;
        }
        free(p);
        free(c);
        return status;
}

static int write_all(const struct reporter *r, FILE *to)
{
        int status = is_picture(r) ? write_picture(r, to) : write_page(r, to);

        return status ? status : stream_flush(to);
}

/* "run.eventlog" and "run.eventlog.gz" become "run.html", as does the target "run". NULL: out of memory. */
static char *out_name(const struct reporter *r)
{
        static const char *const endings[] = { ".gz", ".zst",
                                               ".eventlog" }; /* by the order in which they are taken off */
        const char *log = r->from.operands.items[0];
        size_t n = strlen(log);
        char *name = NULL;

        if (r->out)
                return strdup(r->out);
        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                const size_t tail = strlen(endings[i]);
                if (n > tail && !strncmp(log + n - tail, endings[i], tail))
                        n -= tail;
        }
        return asprintf(&name, "%.*s.%s", (int)n, log, r->format) < 0 ? NULL : name;
}

static int write_file(const struct reporter *r, const char *name)
{
        struct out_file file;
        const int status = out_file_open(&file, name);

        return status < 0 ? status : out_file_close(&file, write_all(r, file.to));
}

static int deliver_report(struct reporter *r)
{
        char *name = out_name(r), text[HW_NUMBER_MAX];
        struct stat st;
        int status;

        if (!name)
                return EXIT_USAGE;
        warn_of_losses(r);
        status = strcmp(name, "-") ? write_file(r, name) : write_all(r, stdout);
        if (status == -EPIPE && !strcmp(name, "-"))
                status = EXIT_OK; /* the reader of the pipe has exited */
        else if (status < 0)
                command_error(&command_report, "cannot write %s: %s", name, strerror(-status));
        else if (status == 0 && strcmp(name, "-") && stat(name, &st) == 0 && S_ISREG(st.st_mode))
                (void)printf("%s  %s\n", name, hw_bytes_text(text, sizeof(text), (double)st.st_size));
        free(name);
        return status ? EXIT_USAGE : EXIT_OK;
}

/* A file that was not named with -o and is not ours is kept: LOG.json beside a log may be anything. */
static bool may_write(const struct reporter *r)
{
        char *name = r->out || r->force ? NULL : out_name(r);
        bool good = !name || page_may_replace(name);

        if (!good)
                command_error(&command_report, "%s exists and is not a report of heapwatch; give -o FILE, or --force",
                              name);
        free(name);
        return good;
}

/* What is filled while reading. False: out of memory, or no room for what a picture keeps on disk. */
static bool prepare_reporter(struct reporter *r)
{
        static const struct history_options past = {
                .points = HISTORY_POINTS, .columns = HISTORY_COLUMNS, .cells = HISTORY_CELLS, .collections = true
        };
        const bool picture = is_picture(r), two = !picture && r->from.files.n == 2;
        int status = -ENOMEM;

        r->world = world_new(picture ? NULL : &past);
        r->data = picture ? calloc(1, sizeof(*r->data)) : NULL;
        r->notes = picture || r->from.targets.n ? NULL : report_notes_new();
        r->pair = two ? pair_new(r->from.files.items[0], r->from.files.items[1]) : NULL;
        if (r->world && (r->data || r->notes || r->from.targets.n) && (r->pair || !two))
                status = r->data ? plot_data_init(r->data) : 0;
        if (status)
                command_error(&command_report, "%s", strerror(-status));
        return status == 0;
}

static int run_report(void *filled)
{
        struct reporter *r = filled;
        struct error error;
        int status = EXIT_USAGE;

        if (front_is_this() && (is_picture(r) || r->from.targets.n)) /* a page of logs needs no library that it lacks */
                front_continue();
        if (may_write(r) && prepare_reporter(r)) {
                if (r->from.files.n)
                        progress_begin(&r->progress, command_report.name, r->from.files.items, r->from.files.n);
                r->from.wish.ends_alone = true; /* samples carry their times */
                r->feed = selection_open(&r->from, NULL, 0, &error);
                if (!r->feed)
                        command_error(&command_report, "%s", error.text);
                else if (read_all(r)) {
                        if (!is_picture(r))
                                add_profiles(r);
                        if (r->with_heap)
                                add_inspected(r, &r->heaps, INSPECTING_HELD, "heap");
                        if (r->with_threads)
                                add_inspected(r, &r->threads, INSPECTING_THREADS, "threads");
                        status = deliver_report(r);
                }
        }
        feed_close(&r->feed);
        report_notes_destroy(&r->notes);
        pair_destroy(&r->pair);
        report_profiles_done(&r->profiles);
        report_inspected_done(&r->heaps);
        report_inspected_done(&r->threads);
        if (r->data)
                plot_data_done(r->data);
        free(r->data);
        world_destroy(&r->world);
        return status;
}

const struct command command_report = {
        .name = "report",
        .summary = "finished logs, or targets up to now, as one page; a log as a picture",
        .usage = TEXTS("LOG... [-o FILE] [OPTION]...", "TARGET... [--connect EP]... [OPTION]...",
                       "LOG -o FILE.svg|.png|.pdf|.eps|.ps [OPTION]..."),
        .about = "Writes one HTML file with the page of `heapwatch web` and the data of finished eventlogs, or of "
                 "targets up to now as their daemon remembers them. It works from the disk, offline. Several logs can "
                 "be compared in it. Large logs are thinned for display with minima and maxima kept; the file says so. "
                 "An argument that names a file is one. "
                 "As a picture: the heap of a finished log by band over time, as hp2ps draws a .hp file, with live "
                 "data and the program's notes. The key has the bytes of each band in the census with the most bytes.",
        .options = options,
        .notes = "For a page these are first settings: it can change all of them. Its statistics are over all samples, "
                 "however many are drawn. The colours of a picture are distinguishable with any colour vision. Of more "
                 "than 4096 censuses it has the largest of each few. For a log without censuses only lines are drawn.",
        .status =
                "0, or 2 when a log cannot be read or has nothing to draw, there is no such target, or the file "
                "cannot be written.",
        .examples = TEXTS("heapwatch report run.eventlog",
                          "heapwatch report before.eventlog after.eventlog -o compare.html",
                          "heapwatch report api -o api-now.html", "heapwatch report api --profile 10s --heap --threads",
                          "heapwatch report run.eventlog -o run.svg",
                          "heapwatch report run.hp -o run.pdf --theme print --bands 10 --threshold 2",
                          "heapwatch report before.eventlog -o before.png --save-order b.aux",
                          "heapwatch report after.eventlog -o after.png --order b.aux"),
        .size = sizeof(struct reporter),
        .defaults = &(const struct reporter){ .bands = NOT_GIVEN, .plot = { .threshold = -1, .theme = -1 } },
        .check = check_request,
        .offline = true,
        .run = run_report,
        .stops = true,
};

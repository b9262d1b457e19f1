/* SPDX-License-Identifier: BSD-3-Clause */
/* history.c - `heapwatch archive history`: runs of a target, or a series over them, from an archive. */
#include "client/cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/read.h"
#include "client/cli/options.h"
#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/json_out.h"
#include "proto/base/utf8.h"
#include "proto/base/time.h"

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

#define ALL UINT64_MAX /* as until_ns: no end */

struct request {
        const char *target, *series, *db;
        uint64_t since_ns, until_ns, step_ns;
        int format;
        unsigned id; /* of the series; 0: list runs */
};

/* Printing the points of one run; with --step a point may cover several rows. */
struct printing {
        const struct request *request;
        const struct archived_run *run;
        struct archived_value point; /* not printed yet */
        bool any;
        size_t printed;
};

static const char *const formats[] = { "text", "csv", "json", NULL };

static const struct option options[] = {
        OPERAND(OPTION_IS_TEXT, "TARGET", const char *, 1, 1, struct request, target, COMPLETE_TARGET, NULL),
        OPERAND(OPTION_IS_TEXT, "SERIES", const char *, 0, 1, struct request, series, COMPLETE_SERIES, NULL),
        OPTION_DURATION("since", 0, struct request, since_ns, UINT64_C(60000000000), 0,
                        "from this long ago on; default 30d"),
        OPTION_DURATION("until", 0, struct request, until_ns, 0, 0,
                        "up to this long ago; default: all, also what a wrong clock dates later"),
        OPTION_DURATION("step", 0, struct request, step_ns, UINT64_C(60000000000), 0,
                        "least width of a point; default: as it is kept, a minute or an hour"),
        OPTION_TEXT("db", 0, "FILE", struct request, db, COMPLETE_FILE,
                    "the archive; default: that of `heapwatch archive`"),
        OPTION_CHOICE("format", 'f', "text|csv|json", int, struct request, format, formats,
                      "for people (default), for spreadsheets, or one object per line"),
        OPTIONS_END,
};

static int check_request(void *filled)
{
        static const struct option series = { .nth_word = options_nth_series };
        struct request *r = filled;
        char meant[512];

        if (r->until_ns != ALL && r->until_ns >= r->since_ns)
                return command_usage_error(&command_history, "--until is before --since");
        if (!r->series)
                return 0;
        r->id = !strcmp(r->series, "collections") ? SERIES_COLLECTIONS : (unsigned)hw_series_parse(r->series);
        if (r->id)
                return 0;
        return command_usage_error(
                &command_history, "unknown series '%s'; %s", r->series,
                option_meant(&series, r->series, "expected a series, e.g. live or rss", meant, sizeof(meant)));
}

/* ---------------------------------------------------------------------------- runs */

static void put_time(struct json_out *j, const char *key, uint64_t ns)
{
        if (ns)
                json_member_text(j, key, TIME_TEXT(ns));
}

static void run_json(const struct archived_run *run)
{
        struct json_out j = { .to = stdout };

        json_open(&j, '{');
        json_member_i64(&j, "run", run->id);
        json_known_text(&j, "target", run->target);
        json_known_text(&j, "host", run->host);
        json_known_text(&j, "program", run->program);
        json_known_text(&j, "buildId", run->build_id);
        json_known_text(&j, "ghc", run->ghc);
        json_known_text(&j, "labels", run->labels);
        put_time(&j, "start", run->start_ns);
        put_time(&j, "seen", run->seen_ns);
        put_time(&j, "end", run->end_ns);
        json_known_text(&j, "state", run->state);
        json_known_text(&j, "growth", run->growth);
        json_known_text(&j, "until", run->until);
        json_close(&j, '}');
        (void)putchar('\n');
}

/* CSV: quotes doubled. */
static void put_field(const char *text, bool last)
{
        (void)putchar('"');
        for (const char *c = text ? text : ""; *c; c++)
                (void)printf(*c == '"' ? "\"\"" : "%c", *c);
        (void)printf(last ? "\"\n" : "\",");
}

static void run_line(const struct request *r, const struct archived_run *run)
{
        char start[HW_NUMBER_MAX], labels[256], build[64];
        uint64_t end = run->seen_ns > run->start_ns ? run->seen_ns - run->start_ns : 0;

        hw_time_text(start, sizeof(start), run->start_ns);
        if (r->format == FORMAT_CSV) {
                (void)printf("%lld,%s,%llu,", (long long)run->id, start, (unsigned long long)(end / NS_PER_S));
                put_field(run->state, false);
                put_field(run->program, false);
                put_field(run->build_id, false);
                put_field(run->labels, false);
                put_field(run->growth, true);
                return;
        }
        (void)safe_text(labels, sizeof(labels), run->labels);
        (void)safe_text(build, sizeof(build), run->build_id);
        (void)printf("%5lld  %.19sZ  %8s  %-8s  %-12.12s  %-20s  %s\n", (long long)run->id, start, DURATION_TEXT(end),
                     run->state ? run->state : "?", *build ? build : "-", *labels ? labels : "-",
                     SAFE_TEXT(512, run->growth));
}

/* -------------------------------------------------------------------------- a series */

static void format_number(char *out, size_t size, const char *unit, double value)
{
        if (isnan(value))
                (void)snprintf(out, size, "-");
        else if (!strcmp(unit, "B"))
                hw_bytes_text(out, size, value);
        else if (!strcmp(unit, "ns"))
                hw_duration_text(out, size, value);
        else
                (void)snprintf(out, size, "%.0f", value);
}

static void point_json(const struct printing *p, const char *time)
{
        const struct archived_value *v = &p->point;
        const struct cell *c = &v->cell;
        const struct {
                const char *key;
                double value;
        } numbers[] = { { "min", c->min }, { "mean", c->mean }, { "max", c->max }, { "last", c->last } };
        struct json_out j = { .to = stdout };

        json_open(&j, '{');
        json_known_text(&j, "time", time);
        json_member_u64(&j, "seconds", v->width_s);
        json_member_i64(&j, "run", p->run->id);
        json_member_u64(&j, "n", c->n);
        for (size_t i = 0; c->n && i < ARRAY_SIZE(numbers); i++)
                json_member_double(&j, numbers[i].key, numbers[i].value);
        json_member_double(&j, "rise", v->rise);
        json_close(&j, '}');
        (void)putchar('\n');
}

static void point_line(const struct printing *p, const char *time)
{
        const struct archived_value *v = &p->point;
        const struct cell *c = &v->cell;
        const double numbers[] = { c->min, c->mean, c->max, c->last, v->rise };
        const char *unit = p->request->id == SERIES_COLLECTIONS ? "" : hw_series_unit((Hw__Series)p->request->id);
        char text[HW_NUMBER_MAX];

        if (p->request->format == FORMAT_CSV)
                (void)printf("%s,%llu,%lld,%llu", time, (unsigned long long)v->width_s, (long long)p->run->id,
                             (unsigned long long)c->n);
        else
                (void)printf("%.16sZ  %5lld  %8llu", time, (long long)p->run->id, (unsigned long long)c->n);
        for (size_t i = 0; i < 5; i++) {
                bool none = i < 4 && !c->n;
                if (p->request->format == FORMAT_CSV && !none)
                        (void)printf(",%.17g", numbers[i]);
                else if (p->request->format == FORMAT_CSV)
                        (void)printf(",");
                else if (i == 4 && numbers[i] <= 0)
                        continue;
                else {
                        format_number(text, sizeof(text), unit, none ? NAN : numbers[i]);
                        (void)printf("  %10s", text);
                }
        }
        (void)putchar('\n');
}

static void flush_row(struct printing *p)
{
        char time[HW_NUMBER_MAX];

        if (!p->any)
                return;
        if (!p->printed && p->request->format == FORMAT_CSV)
                (void)printf("time,seconds,run,n,min,mean,max,last,rise\n");
        else if (!p->printed && p->request->format == FORMAT_TEXT)
                (void)printf("%-17s  %5s  %8s  %10s  %10s  %10s  %10s  %10s\n", "time (UTC)", "run", "samples", "min",
                             "mean", "max", "last", "rise");
        hw_time_text(time, sizeof(time), p->point.time_s * NS_PER_S);
        if (p->request->format == FORMAT_JSON)
                point_json(p, time);
        else
                point_line(p, time);
        p->any = false;
        p->printed++;
}

static void add_value(void *ctx, const struct archived_value *v)
{
        struct printing *p = ctx;
        uint64_t step = p->request->step_ns / NS_PER_S, width = step > v->width_s ? step : v->width_s;

        if (!v->cell.n && v->rise <= 0) /* no sample, only a line through it */
                return;
        if (p->any && (p->point.width_s != width || p->point.time_s / width != v->time_s / width))
                flush_row(p);
        if (!p->any) {
                p->point = (struct archived_value){ .time_s = v->time_s - v->time_s % width, .width_s = width };
                p->any = true;
        }
        cell_merge(&p->point.cell, &v->cell);
        p->point.rise += v->rise;
}

static bool print_series(const struct request *r, struct database *d, const struct archived_runs *runs,
                         struct error *error)
{
        struct printing p = { .request = r };

        for (size_t i = 0; i < runs->n; i++) {
                p.run = &runs->items[i];
                int result = archived_series(d, p.run, r->id, false, add_value, &p);
                flush_row(&p);
                if (result != SQLITE_OK)
                        return error_set(error, "cannot read %s: %s", d->path, sqlite3_errstr(result));
        }
        return p.printed || error_set(error, "%s has no %s of %s in that time", d->path, r->series, r->target);
}

/* ----------------------------------------------------------------------------- main */

static int run_history(void *filled)
{
        const struct request *r = filled;
        uint64_t now = clock_wall_ns(), from = now > r->since_ns ? now - r->since_ns : 0;
        uint64_t to = r->until_ns == ALL ? INT64_MAX : now - r->until_ns;
        struct archived_runs runs = { .n = 0 };
        struct database d = { .lock = -1 };
        struct error error;
        char path[PATH_MAX];
        bool good = r->db || database_default_path(path, sizeof(path)) ||
                    error_set(&error, "there is no home directory with an archive; give --db FILE");

        good = good && database_open_to_read(&d, r->db ? r->db : path, &error) &&
               select_between(&d, r->target, from, to, &runs, &error);
        if (good && !runs.n)
                good = error_set(&error, "%s has no run of %s in that time", d.path, r->target);
        if (good && r->id)
                good = print_series(r, &d, &runs, &error);
        else if (good) {
                if (r->format == FORMAT_CSV)
                        (void)printf("run,start,seconds,state,program,build_id,labels,growth\n");
                else if (r->format == FORMAT_TEXT)
                        (void)printf("  run  %-20s  %8s  %-8s  %-12s  %-20s  %s\n", "started (UTC)", "lasted", "state",
                                     "build", "labels", "memory");
                for (size_t i = 0; i < runs.n; i++) {
                        if (r->format == FORMAT_JSON)
                                run_json(&runs.items[i]);
                        else
                                run_line(r, &runs.items[i]);
                }
        }
        if (!good)
                command_error(&command_history, "%s", error.text);
        archived_runs_done(&runs);
        database_close(&d);
        return good ? EXIT_OK : EXIT_USAGE;
}

const struct command command_history = {
        .name = "archive history",
        .summary = "runs and series of an archive, over months",
        .usage = TEXTS("[--db FILE] TARGET [SERIES] [OPTION]..."),
        .about = "Without a series: the runs of a target, oldest first, with build, labels and how each ended. With "
                 "one: its points over all of these runs, in UTC, as the archive keeps them: one per minute, or one "
                 "per hour where minutes are forgotten. What was not seen has no line. What a daemon remembers: "
                 "heapwatch ctl history.",
        .options = options,
        .notes = "Counters (allocated, cpu, collections) have a rise. Bands are in the tables bands_10m and bands_1h "
                 "(docs/ARCHIVE.md).",
        .status = "0, or 2 when there is nothing to read.",
        .examples = TEXTS("heapwatch archive history api", "heapwatch archive history api live --since 7d --step 1h",
                          "heapwatch archive history api rss --since 90d --step 1d --format csv > rss.csv"),
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .since_ns = 30 * DAY_S * NS_PER_S, .until_ns = ALL },
        .check = check_request,
        .run = run_history,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_reader.c - DESIGN: a log goes through four stages. Its length is measured first, which decides the resolution
 * of its verdicts, if there are any; of one that begins late it is sought whether its clock is the machine's; then it
 * is opened again and read through a pipeline of its own, piece by piece; at its end the pipeline reports what it could
 * not know before. Each step does a bounded part of one stage, and nothing is kept between logs but the failures. A
 * list of events goes into its pipeline in blocks, as a program would write them.
 */
#include "daemon/watch/targets/log_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/publish/encode.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "daemon/source/limits.h"
#include "daemon/source/log_length.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/judge/trend/tracker.h"
#include "proto/base/bytes.h"
#include "proto/eventlog/archive/log_file.h"
#include "proto/eventlog/recording/stretch.h"

#define EPOCH 1u /* constant: finished logs give the same messages every time */

struct target {
        char name[TARGET_NAME_MAX + 1];
        struct source_uri uri;
};

enum stage { MEASURING, SEEKING_ORIGIN, READING, FINISHED };

#define BLOCK_EVENTS    4096u /* of a list */
#define MEASURED_BLOCKS 64u

struct log_reader {
        struct log_reader_options options; /* without its rules */
        struct rulebook rulebook;
        struct target *targets; /* options.n of them */
        size_t at;              /* the log that is being read */
        enum stage stage;
        struct log_file *file;    /* of that log; NULL: not opened yet */
        struct log_length length; /* while measuring */
        struct log_origin origin; /* while seeking it */
        uint64_t origin_ns;
        size_t events_at; /* the first event of the list that has not been passed on */
        struct pipeline *pipeline;
        uint8_t buffer[READ_BUFFER_BYTES];
        struct error first_failure; /* of the first log that could not be read */
        size_t n_failures;
        char failure[ERROR_TEXT_MAX + 64]; /* of all */
        struct error warning;              /* of the log that the newest step finished; "": none */
};

/* ----------------------------------------------------------------------- names */

static size_t count_named(const struct target *targets, size_t n, const char *name)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
                count += !strcmp(targets[i].name, name);
        return count;
}

/*
 * Logs may share a base name (before/run.eventlog, after/run.eventlog): the folder tells them apart if there is one;
 * names that are still equal get numbers.
 */
static bool make_names_unique(struct target *targets, size_t n)
{
        bool *shared = calloc(n, sizeof(*shared));

        if (!shared)
                return false;
        for (size_t i = 0; i < n; i++)
                shared[i] = count_named(targets, n, targets[i].name) > 1;
        for (size_t i = 0; i < n; i++)
                if (shared[i])
                        target_name_from_folder(source_uri_path(&targets[i].uri), targets[i].name);
        for (size_t i = 1; i < n; i++) {
                char base[TARGET_NAME_MAX + 1];
                unsigned number = 1;

                memcpy(base, targets[i].name, sizeof(base));
                while (count_named(targets, i, targets[i].name))
                        (void)snprintf(targets[i].name, sizeof(base), "%.*s-%u", TARGET_NAME_MAX - 8, base, ++number);
        }
        free(shared);
        return true;
}

/* A name for each path. A '=' in a path is part of it. */
static bool name_targets(struct log_reader *r, struct error *error)
{
        const size_t n = r->options.n;
        char spec[SOURCE_PATH_MAX + 8];

        error_set(error, "out of memory");
        r->targets = calloc(n, sizeof(*r->targets));
        for (size_t i = 0; r->targets && i < n; i++) {
                struct target *t = &r->targets[i];

                if (r->options.lists) {
                        (void)snprintf(t->name, sizeof(t->name), "%s", r->options.lists[i].name);
                        (void)snprintf(t->uri.text, sizeof(t->uri.text), "archive:%s", t->name);
                        t->uri.path_at = sizeof("archive:") - 1;
                        continue;
                }
                (void)snprintf(spec, sizeof(spec), "file:%s", r->options.paths[i]);
                if (!target_spec_parse(spec, t->name, &t->uri, error))
                        return false;
        }
        return r->targets && make_names_unique(r->targets, n);
}

/* ----------------------------------------------------------------- create, destroy */

static bool load_rules(struct log_reader *r, const struct log_reader_options *options, struct error *error)
{
        struct diagnostics diagnostics;
        const struct error_sink says = diagnostics_gather(&diagnostics);

        if (options->wish.unjudged || (options->lists && options->n_rules == 0))
                return true; /* the built-in ones would miss what a list does not have, as collections */
        return rulebook_open(&r->rulebook, (char *const *)options->rules, options->n_rules, &says) ||
               error_set(error, "%s", diagnostics.text);
}

struct log_reader *log_reader_new(const struct log_reader_options *options, struct error *error)
{
        struct log_reader *r = calloc(1, sizeof(*r));

        if (!r) {
                error_set(error, "out of memory");
                return NULL;
        }
        watchdog_disable(); /* nobody waits for a turn */
        r->options = *options;
        if (!config_trend_check(&options->trend, error) || !name_targets(r, error) || !load_rules(r, options, error))
                log_reader_destroy(&r);
        return r;
}

void log_reader_destroy(struct log_reader **o)
{
        struct log_reader *r = *o;

        *o = NULL;
        if (!r)
                return;
        pipeline_destroy(&r->pipeline);
        log_file_close(&r->file);
        (void)log_origin_end(&r->origin);
        rulebook_close(&r->rulebook);
        free(r->targets);
        free(r);
}

/* ------------------------------------------------------------------------- one log */

static const char *path_of(const struct log_reader *r)
{
        return source_uri_path(&r->targets[r->at].uri);
}

static void note_failure(struct log_reader *r, const char *why)
{
        const size_t others = r->n_failures++;

        if (others == 0) {
                error_set(&r->first_failure, "%s: %s", path_of(r), why);
                (void)snprintf(r->failure, sizeof(r->failure), "%s", r->first_failure.text);
        } else {
                (void)snprintf(r->failure, sizeof(r->failure), "%s; %zu other%s could not be read either",
                               r->first_failure.text, others, others > 1 ? "s" : "");
        }
}

static void close_log(struct log_reader *r)
{
        pipeline_destroy(&r->pipeline);
        log_file_close(&r->file);
        r->stage = ++r->at < r->options.n ? MEASURING : FINISHED;
}

/* Whether the file can be read twice: only then it is measured. */
static bool is_rereadable(const char *path)
{
        struct stat st;

        return stretch_is(path) || (stat(path, &st) == 0 && S_ISREG(st.st_mode));
}

/*
 * Where nothing is judged, a log's length is not needed, only whether its times begin with the program, and whether it
 * is in order: one that is not is so from the beginning.
 */
static bool is_measured(const struct log_reader *r)
{
        return (r->options.events == EVENTS_ALONE ||
                (r->options.wish.unjudged && (r->length.overlap_ns > 0 || r->length.hops >= MEASURED_BLOCKS))) &&
               r->length.first_ns < LOG_ORIGIN_LEAST_NS;
}

static void measure_log(struct log_reader *r)
{
        if (!r->file) {
                r->length = (struct log_length){ 0 };
                r->origin_ns = 0;
                r->length.first_ns = UINT64_MAX;
                r->file = !r->options.lists && r->options.events != EVENTS_COUNTED && is_rereadable(path_of(r))
                                  ? log_file_open(path_of(r), NULL)
                                  : NULL;
                if (r->file)
                        log_length_begin(&r->length, r->file);
        }
        if (r->file && !is_measured(r) && log_length_step(&r->length))
                return;
        log_file_close(&r->file);
        r->stage = READING;
        if (r->length.first_ns == UINT64_MAX || r->length.first_ns < LOG_ORIGIN_LEAST_NS)
                return;
        r->file = log_file_open(path_of(r), NULL);
        log_origin_begin(&r->origin, r->length.first_ns);
        r->stage = SEEKING_ORIGIN;
}

static void seek_origin(struct log_reader *r)
{
        const ssize_t n = r->file ? log_file_read(r->file, r->buffer, sizeof(r->buffer)) : 0;

        if (n > 0 && log_origin_bytes(&r->origin, r->buffer, (size_t)n))
                return;
        r->origin_ns = log_origin_end(&r->origin);
        log_file_close(&r->file);
        r->stage = READING;
}

/* How it is judged. */
static struct tracker_config config_of_log(const struct log_reader *r)
{
        struct config_trend as_given = r->options.trend;

        const struct run_end *judged = r->file ? log_file_judged(r->file) : NULL; /* while it lived */

        if (judged && !as_given.resolution_ns && !as_given.leak_after_ns)
                as_given.resolution_ns = judged->step_ns;
        struct tracker_config c = config_trend_tracker(&as_given, r->length.longest_ns - r->origin_ns);
        if (judged && judged->limit_bytes)
                c.recorded = (struct memory_limit){ judged->limit_bytes, (enum limit_source)judged->limit_source };
        if (judged && judged->reserved_bytes)
                c.recorded_heap = (struct memory_limit){ judged->reserved_bytes, LIMIT_SOURCE_RESERVED };
        return c;
}

static bool open_pipeline(struct log_reader *r, struct error *error)
{
        const struct target *target = &r->targets[r->at];
        const struct tracker_config trend = config_of_log(r);
        const struct pipeline_options options = {
                .trend = &trend,
                .name = target->name,
                .uri = &target->uri,
                .epoch = EPOCH,
                .sink = r->options.sink,
                .wish = &r->options.wish,
                .show_arguments = r->options.show_arguments,
                .events = r->options.events,
                .origin_ns = r->origin_ns,
                .event_ids = r->options.event_ids,
                .rules = r->rulebook.rules,
        };

        r->pipeline = pipeline_new(&options, error);
        return r->pipeline != NULL;
}

/*
 * Lists of events are of the file as it is; all else is of what happened, in that order. What is judged can wait for a
 * buffer: a log that needs no more patience than that is read as the daemon read it while its program ran.
 */
static struct log_file *open_in_order(struct log_reader *r, struct error *error)
{
        const struct tracker_config trend = config_of_log(r);
        const uint64_t wait_ns = r->options.wish.unjudged ? 0 : TRACKER_WAIT_MINUTES * trend.trend.resolution_ns;
        const bool list = r->options.events == EVENTS_ALONE || r->options.events == EVENTS_COUNTED;
        struct log_file *file = log_file_open(path_of(r), error);

        if (!file || list || r->length.overlap_ns <= wait_ns || log_file_put_in_order(file) == 0)
                return file;
        log_file_close(&file); /* too long, when unpacked, or no room for it */
        return log_file_open(path_of(r), error);
}

/* Nothing more of the log is read; `unread`: because of that, NULL: it is over. 0, or the sink's error. */
static int finish_log(struct log_reader *r, const char *unread)
{
        const char *damage = unread ? unread : log_file_damage(r->file);
        int status = pipeline_finish(r->pipeline, damage, unread || log_file_is_cut(r->file));

        if (!pipeline_has_run(r->pipeline))
                note_failure(r, damage ? damage : pipeline_why_no_run(r->pipeline));
        else if (status == 0 && damage)
                error_set(&r->warning, "%s: %s; what could be read is shown", path_of(r), damage);
        return status;
}

/*
 * Reads a piece, to the end of the log or until it is mostly damaged: a small archive may unpack to any number of
 * bytes. 0, or the sink's error.
 */
static int read_piece(struct log_reader *r)
{
        char unread[PIPELINE_UNREAD_SIZE];
        const struct in_order_place *place;
        struct error error;
        size_t taken = 0;
        ssize_t n;
        int status = 0;

        if (!r->pipeline) {
                r->file = open_in_order(r, &error);
                if (!r->file || !open_pipeline(r, &error)) {
                        note_failure(r, error.text);
                        close_log(r);
                }
                return 0; /* a pipe may have to be waited for */
        }
        do {
                n = log_file_read(r->file, r->buffer, sizeof(r->buffer));
                if (n <= 0)
                        break;
                place = log_file_place(r->file);
                if (place)
                        pipeline_place(r->pipeline, place);
                status = pipeline_bytes(r->pipeline, r->buffer, (size_t)n);
                taken += (size_t)n;
        } while (place && status == 0 && taken < sizeof(r->buffer)); /* pieces of some milliseconds are small */
        if (n > 0 && (status < 0 || !pipeline_is_mostly_damaged(r->pipeline, unread)))
                return status;
        if (n < 0)
                note_failure(r, strerror((int)-n));
        else
                status = finish_log(r, n > 0 ? unread : NULL);
        close_log(r);
        return status;
}

/* ------------------------------------------------------------------------ one list */

/* A block that begins with its first event and ends with its last one. */
static int pass_block(struct log_reader *r, const struct hw_event *events, size_t n)
{
        uint8_t bytes[BLOCK_MARKER_BYTES];
        const struct hw_event marker = {
                .time_ns = events[0].time_ns,
                .offset = events[0].offset,
                .id = HW_BLOCK_MARKER,
                .payload = bytes + 10,
                .size = sizeof(bytes) - 10,
        };

        block_marker_write(bytes, events[0].time_ns, events[n - 1].time_ns, n, 0); /* n: as offsets count it */
        const int status = pipeline_events(r->pipeline, HW_EVENTLOG_OK, &marker, 1);
        return status < 0 ? status : pipeline_events(r->pipeline, HW_EVENTLOG_OK, events, n);
}

/* Passes on the next block of the list; after the last one, its end. 0, or the sink's error. */
static int read_block(struct log_reader *r)
{
        const struct event_list *list = &r->options.lists[r->at];
        const size_t left = list->n - r->events_at, n = left < BLOCK_EVENTS ? left : BLOCK_EVENTS;
        struct error error;
        int status = 0;

        if (!r->pipeline) {
                r->events_at = 0;
                if (open_pipeline(r, &error))
                        return pipeline_events(r->pipeline, HW_EVENTLOG_RUN, NULL, 0);
                note_failure(r, error.text);
                close_log(r);
                return 0;
        }
        if (n > 0) {
                status = pass_block(r, list->events + r->events_at, n);
                r->events_at += n;
                return status;
        }
        status = list->continues ? pipeline_finish_part(r->pipeline) : pipeline_finish(r->pipeline, NULL, false);
        close_log(r);
        return status;
}

/* ------------------------------------------------------------------------ all logs */

int log_reader_step(struct log_reader *r)
{
        int status = 0;

        r->warning.text[0] = '\0';
        switch (r->stage) {
        case MEASURING:
                measure_log(r);
                return 1;
        case SEEKING_ORIGIN:
                seek_origin(r);
                return 1;
        case READING:
                status = r->options.lists ? read_block(r) : read_piece(r);
                if (status == 0 && r->stage == FINISHED) {
                        Hw__Update update = HW__UPDATE__INIT;
                        Hw__DaemonState state = HW__DAEMON_STATE__INIT;

                        PUT(&update, epoch, EPOCH);
                        PUT(&update, sequence, 1);
                        update.target = (char *)"";
                        update.body_case = HW__UPDATE__BODY_DAEMON;
                        update.daemon = &state;
                        state.version = (char *)HEAPWATCH_VERSION;
                        PUT(&state, finished, true);
                        status = r->options.sink.send(r->options.sink.ctx, &update);
                }
                break;
        case FINISHED:
                return 0;
        }
        return status < 0 ? status : r->stage != FINISHED;
}

void log_reader_want_band(struct log_reader *r, uint32_t run, uint32_t band, bool wanted)
{
        if (r->pipeline)
                pipeline_want_band(r->pipeline, run, band, wanted);
}

int log_reader_fd(const struct log_reader *r)
{
        return r->stage == READING && r->file ? log_file_fd(r->file) : -1;
}

const char *log_reader_failure(const struct log_reader *r)
{
        return r->failure;
}

const char *log_reader_warning(const struct log_reader *r)
{
        return r->warning.text;
}

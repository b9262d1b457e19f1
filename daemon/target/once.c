/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: no event loop: read a piece, pass it through, and wait for the client if it is slower. A file that cannot be
 * read is listed in the last message, for the client to report, and the others go on.
 */
#include "daemon/target/once.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/loop/watchdog.h"
#include "daemon/source/limits.h"
#include "daemon/target/pipeline.h"
#include "daemon/transport/push.h"
#include "daemon/source/log_length.h"
#include "daemon/source/procfs.h"
#include "daemon/trend/tracker.h"
#include "proto/archive/log_file.h"
#include "proto/recording/stretch.h"
#include "proto/base/error.h"

#define LIMIT_FAILURES 100u

#define ONCE_EPOCH 1u /* constant: finished logs give the same messages every time */

/* What could not be read, one sentence each. */
struct failures {
        char *text[LIMIT_FAILURES];
        size_t n, all;
};

static void note_failure(struct failures *f, const char *path, const char *why)
{
        if (f->n < LIMIT_FAILURES && asprintf(&f->text[f->n], "%s: %s", path, why) >= 0)
                f->n++;
        f->all++;
}

/*
 * Reads the file into the pipeline, to its end or until it is mostly damaged: a small archive may unpack to any number
 * of bytes. Returns 0, -errno of read, or the sink's error; `ret_damage` gets why more may be in it (NULL: all was
 * read), `ret_cut` whether its end was not read.
 */
static int read_through(struct pipeline *p, struct log_file *file, uint8_t *buffer, const char **ret_damage,
                        bool *ret_cut)
{
        static char damage[PIPELINE_UNREAD_SIZE];
        ssize_t n = 0;
        int r = 0;

        *ret_damage = NULL;
        while (r == 0 && !*ret_damage && (n = log_file_read(file, buffer, READ_BUFFER_BYTES)) > 0) {
                r = pipeline_bytes(p, buffer, (size_t)n);
                if (pipeline_is_mostly_damaged(p, damage))
                        *ret_damage = damage;
        }
        *ret_cut = *ret_damage || log_file_is_cut(file);
        if (!*ret_damage)
                *ret_damage = log_file_damage(file);
        return r == 0 && n < 0 ? (int)n : r;
}

/* Event time that the file spans; 0: not a file that can be read twice. */
static uint64_t length_ns(const char *path)
{
        struct stat st;

        if (!stretch_is(path) && (stat(path, &st) != 0 || !S_ISREG(st.st_mode)))
                return 0;
        struct log_file *file = log_file_open(path, NULL);
        struct log_length length = { .longest_ns = 0 };
        if (file)
                log_length_begin(&length, file);
        while (file && log_length_step(&length))
                ;
        log_file_close(&file);
        return length.longest_ns;
}

static int read_file(struct pipeline *p, struct log_file *file, const char *path, uint8_t *buffer,
                     struct failures *failures)
{
        const char *damage;
        bool cut;
        int r = read_through(p, file, buffer, &damage, &cut);

        if (r == 0) {
                r = pipeline_finish(p, damage, cut);
                if (r == 0 && damage && pipeline_has_run(p))
                        (void)fprintf(stderr, "heapwatchd: %s: %s; what could be read is shown\n", path, damage);
        }
        if (r == -EPIPE)
                return r; /* the client is gone and needs no reason */
        if (r != 0) {
                note_failure(failures, path, strerror(-r));
        } else if (!pipeline_has_run(p)) {
                note_failure(failures, path, damage ? damage : pipeline_why_no_run(p));
                r = -EINVAL;
        }
        return r;
}

/* How a recording's run ended. False: not known, or the stretch stops before its end. */
static bool find_recorded_end(const char *path, struct run_end *ret)
{
        struct recorded_run run;
        struct cutout_range range;
        struct stretch s;
        struct error error;

        if (!stretch_is(path) || !stretch_parse(path, &s, &error) ||
            recorded_run_find(s.directory, s.which, &run, &error) != 0 || !stretch_range(&s, &run, &range, &error))
                return false;
        *ret = run.end;
        return ret->state != RUN_END_UNKNOWN && range.to_ns >= run.end_ns;
}

static int one_file(const struct config *config, const struct ruleset *rules, const struct config_target *target,
                    const struct update_sink *sink, uint8_t *buffer, struct failures *failures)
{
        struct error error;
        const char *path = source_uri_path(&target->uri);
        struct run_end end;
        struct tracker_config trend = config_trend_tracker(&config->trend, length_ns(path));
        struct pipeline_options options = {
                .trend = &trend,
                .name = target->name,
                .uri = &target->uri,
                .epoch = ONCE_EPOCH,
                .sink = *sink,
                .show_arguments = config->show_arguments,
                .events = config->events,
                .rules = rules,
                .recorded_end = find_recorded_end(path, &end) ? &end : NULL,
        };
        struct log_file *file = log_file_open(path, &error);
        struct pipeline *p = file ? pipeline_new(&options, &error) : NULL;
        int r = -EINVAL;

        if (p)
                r = read_file(p, file, path, buffer, failures);
        else
                note_failure(failures, path, error.text);
        pipeline_destroy(&p);
        log_file_close(&file);
        return r;
}

static void say_finished(const struct update_sink *sink, uint64_t sequence, const struct failures *failures)
{
        Hw__Update update = HW__UPDATE__INIT;
        Hw__DaemonState state = HW__DAEMON_STATE__INIT;

        update.has_epoch = update.has_sequence = true;
        update.epoch = ONCE_EPOCH;
        update.sequence = sequence;
        update.target = (char *)"";
        update.body_case = HW__UPDATE__BODY_DAEMON;
        update.daemon = &state;
        state.version = (char *)HEAPWATCH_VERSION;
        state.has_finished = state.finished = true;
        state.rss_bytes = procfs_own_rss();
        state.has_rss_bytes = state.rss_bytes > 0;
        state.failed = (char **)failures->text;
        state.n_failed = failures->n;
        (void)sink->send(sink->ctx, &update); /* if it fails, the client is gone */
}

int once_run(const struct config *config, const struct ruleset *rules)
{
        struct error error;
        uint8_t *buffer = malloc(READ_BUFFER_BYTES);
        struct push *push = push_new(config->push_endpoint, &error);
        struct failures failures = { .n = 0 };

        watchdog_quiet(); /* its log lines would mix with the output of the command that started us */
        if (!buffer || !push) {
                fprintf(stderr, "heapwatchd: %s\n", push ? "out of memory" : error.text);
                free(buffer);
                push_destroy(&push);
                return 1;
        }
        struct update_sink sink = push_sink(push);
        for (size_t i = 0; i < config->n_targets; i++) {
                if (one_file(config, rules, &config->targets[i], &sink, buffer, &failures) == -EPIPE) {
                        failures.all++;
                        break;
                }
        }
        say_finished(&sink, 1, &failures);
        push_destroy(&push);
        for (size_t i = 0; i < failures.n; i++)
                free(failures.text[i]);
        free(buffer);
        return failures.all ? 1 : 0;
}

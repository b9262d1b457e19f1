/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: no event loop: read a piece, push it through, and wait for the
 * client when it is slower than we are. A file that cannot be read is reported
 * as a failed target and the others go on.
 */
#include "daemon/target/once.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/limits.h"
#include "daemon/target/pipeline.h"
#include "daemon/transport/push.h"
#include "daemon/source/log_length.h"
#include "daemon/source/procfs.h"
#include "daemon/trend/tracker.h"
#include "proto/base/error.h"

#define ONCE_EPOCH 1u /* finished logs give the same messages every time */

/* Reads the whole file into the pipeline. Returns 0, or -errno of open or read, or the sink's error. */
static int read_through(struct pipeline *p, const char *path, uint8_t *buffer)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = 0;
        int r = 0;

        if (fd < 0)
                return -errno;
        while (r == 0 && (n = read(fd, buffer, READ_BUFFER_BYTES)) != 0) {
                if (n > 0)
                        r = pipeline_bytes(p, buffer, (size_t)n);
                else if (errno != EINTR)
                        r = -errno;
        }
        close(fd);
        return r;
}

/* Event time that the file spans; 0: not a file that can be looked through first. */
static uint64_t length_ns(const char *path)
{
        struct stat st;
        uint64_t length = 0;

        if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
                return 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
                length = log_length_ns(fd);
                close(fd);
        }
        return length;
}

static int one_file(const struct config *config, const struct ruleset *rules, const struct config_target *target,
                    const struct update_sink *sink, uint8_t *buffer)
{
        struct error error;
        struct tracker_config trend = config_trend_tracker(&config->trend, length_ns(target->uri.path));
        struct pipeline_options options = {
                .trend = &trend,
                .name = target->name,
                .uri = &target->uri,
                .epoch = ONCE_EPOCH,
                .sink = *sink,
                .show_arguments = config->show_arguments,
                .events = config->events,
                .rules = rules,
        };
        struct pipeline *p = pipeline_new(&options, &error);

        if (!p) {
                fprintf(stderr, "heapwatchd: %s: %s\n", target->uri.path, error.text);
                return -ENOMEM;
        }
        int r = read_through(p, target->uri.path, buffer);
        if (r != 0 && r != -EPIPE)
                fprintf(stderr, "heapwatchd: %s: %s\n", target->uri.path, strerror(-r));
        if (r == 0)
                r = pipeline_finish(p);
        if (r == 0 && !pipeline_has_run(p)) {
                fprintf(stderr,
                        "heapwatchd: %s: this is no eventlog: there is no header ('hdrb') in it; "
                        "expected a file that a program wrote with +RTS -l\n",
                        target->uri.path);
                r = -EINVAL;
        }
        pipeline_destroy(&p);
        return r;
}

static void say_finished(const struct update_sink *sink, uint64_t sequence)
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
        (void)sink->send(sink->ctx, &update); /* a client that is gone needs no end */
}

int once_run(const struct config *config, const struct ruleset *rules)
{
        struct error error;
        uint8_t *buffer = malloc(READ_BUFFER_BYTES);
        struct push *push = push_new(config->push_endpoint, &error);
        int failed = 0;

        if (!buffer || !push) {
                fprintf(stderr, "heapwatchd: %s\n", push ? "out of memory" : error.text);
                free(buffer);
                push_destroy(&push);
                return 1;
        }
        struct update_sink sink = push_sink(push);
        for (size_t i = 0; i < config->n_targets; i++) {
                int r = one_file(config, rules, &config->targets[i], &sink, buffer);
                failed += r != 0;
                if (r == -EPIPE)
                        break;
        }
        say_finished(&sink, 1);
        push_destroy(&push);
        free(buffer);
        return failed ? 1 : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dump.c - `heapwatch recording dump`: a stretch of a recording as an eventlog.
 *
 * DESIGN: the daemon writes out what it still has in memory, then the files are
 * read here, so that a dump costs the daemon nothing.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/signals.h"
#include "client/commands/bundles.h"
#include "client/world/feed/locate.h"
#include "proto/base/number_text.h"
#include "proto/base/ckd.h"
#include "client/cli/options.h"
#include "proto/cli/options.h"
#include "proto/eventlog/recording/stretch.h"

#define LOOK_MS 500 /* between checks of a recording that is not far enough yet */

struct dump {
        struct locate where;
        const char *which, *from, *to, *output;
        bool force;
};

/* ------------------------------------------------------------------ output */

static int open_output(const struct dump *d)
{
        int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (d->force ? O_TRUNC : O_EXCL);

        if (!strcmp(d->output, "-")) {
                int out = dup(STDOUT_FILENO);
                if (out < 0)
                        command_error(&command_dump, "-: %s", strerror(errno));
                return out;
        }
        int fd = open(d->output, flags, 0600);
        if (fd < 0 && errno == EEXIST)
                command_error(&command_dump, "%s already exists; give another name, or --force", d->output);
        else if (fd < 0)
                command_error(&command_dump, "%s: %s", d->output, strerror(errno));
        return fd;
}

/* ----------------------------------------------------------------- stretch */

static bool find_run(const struct dump *d, const char *directory, struct recorded_run *run, struct error *error)
{
        return locate_seal(&d->where, d->which, error) && recorded_run_find(directory, d->which, run, error) == 0;
}

/* Until the run has got that far, is over, or the user interrupts. */
static bool wait_until(const struct dump *d, const char *directory, struct recorded_run *run, uint64_t to_ns,
                       struct error *error)
{
        while (run->live && run->end_ns < to_ns && !signals_stop()) {
                if (isatty(STDERR_FILENO))
                        (void)fprintf(stderr, "\rwaiting for another %s of %s ... ",
                                      DURATION_TEXT(sub_sat(to_ns, run->end_ns)), run->target);
                (void)poll(NULL, 0, LOOK_MS);
                if (!find_run(d, directory, run, error))
                        return false;
        }
        if (isatty(STDERR_FILENO))
                (void)fputc('\n', stderr);
        return true;
}

/* Which run, and which part. False with a message. */
static bool choose_range(const struct dump *d, const char *directory, struct recorded_run *run,
                         struct cutout_range *range, struct error *error)
{
        struct stretch s = { .directory = "" };

        snprintf(s.from, sizeof(s.from), "%s", d->from ? d->from : "");
        snprintf(s.to, sizeof(s.to), "%s", d->to ? d->to : "now");
        if (!find_run(d, directory, run, error) || !stretch_range(&s, run, range, error))
                return false;
        return s.to[0] != '+' || wait_until(d, directory, run, range->to_ns, error);
}

/* Half of a file would look like a whole one. 0; -EPIPE: nobody reads the rest; or -errno with a message. */
static int write_stretch(const struct dump *d, struct cutout *c, uint64_t *ret_bytes)
{
        const bool is_file = strcmp(d->output, "-") != 0;
        int fd = open_output(d);

        if (fd < 0)
                return -EIO;
        int r = stretch_file_copy(c, fd, ret_bytes);
        if (close(fd) != 0 && r == 0)
                r = -errno;
        if (r == 0 || r == -EPIPE)
                return r;
        command_error(&command_dump, "%s: %s", d->output, strerror(-r));
        if (is_file)
                (void)unlink(d->output);
        return r;
}

/* -------------------------------------------------------------------- report */

/* Of the stretch that was asked for: a block of it may have been opened long before. */
static uint64_t length_of(const struct cutout_stats *stats, const struct cutout_range *range)
{
        const uint64_t from = stats->begin_ns > range->from_ns ? stats->begin_ns : range->from_ns;

        return sub_sat(stats->end_ns < range->to_ns ? stats->end_ns : range->to_ns, from);
}

static void print_result(const struct dump *d, const struct recorded_run *run, const struct cutout_range *range,
                         const struct cutout_stats *stats, uint64_t bytes)
{
        (void)fprintf(stderr, "%s@%s: %s, %s of events and the rest of their blocks\n", run->target, run->name,
                      BYTES_TEXT(bytes), DURATION_TEXT(length_of(stats, range)));
        if (stats->lost_bytes)
                (void)fprintf(stderr, "%s of that is missing: they were not written to disk\n",
                              BYTES_TEXT(stats->lost_bytes));
        if (stats->missing)
                (void)fprintf(stderr, "%u part%s of it %s missing: removed for the budget, or damaged\n",
                              stats->missing, stats->missing == 1 ? "" : "s", stats->missing == 1 ? "is" : "are");
        if (stats->end_ns == 0)
                (void)fprintf(stderr, "there is no event in that stretch; the run has %s to %s\n",
                              DURATION_TEXT(run->begin_ns), DURATION_TEXT(run->end_ns));
        if (strcmp(d->output, "-") != 0)
                (void)fprintf(stderr, "heapwatch report %s -o report.html\n", d->output);
}

static int run_dump(void *filled)
{
        const struct dump *d = filled;
        char directory[RECORDED_PATH_MAX];
        struct recorded_run run;
        struct cutout_range range;
        struct error error;
        uint64_t bytes;

        if (!d->output)
                return command_usage_error(&command_dump,
                                           "expected an output file: -o FILE, or -o - for standard output");
        struct cutout *c = NULL;
        if (locate_directory(&d->where, directory, &error) && choose_range(d, directory, &run, &range, &error))
                c = cutout_open(directory, &run, range, &error);
        if (!c)
                return command_error(&command_dump, "%s", error.text);
        const int r = write_stretch(d, c, &bytes);
        if (r == 0)
                print_result(d, &run, &range, cutout_stats(c), bytes);
        cutout_close(&c);
        return r == 0 || r == -EPIPE ? EXIT_OK : EXIT_USAGE;
}

static const struct option options[] = {
        OPERAND(OPTION_IS_TEXT, "TARGET[~N|@RUN]", const char *, 1, 1, struct dump, which, COMPLETE_TARGET,
                "the newest run of that target; RUN: one by the beginning of its name, or -1 for the one before"),
        OPTION_TEXT(
                "from", 0, "MOMENT", struct dump, from, COMPLETE_NOTHING,
                "from this moment on: 5m after the program's start, or -10m: before the recording's end; default: all"),
        OPTION_TEXT("to", 0, "MOMENT", struct dump, to, COMPLETE_NOTHING,
                    "up to this moment; +5m waits for that long; default: now"),
        OPTION_TEXT("output", 'o', "FILE", struct dump, output, COMPLETE_FILE,
                    "a new file, which only you can read; - is standard output"),
        OPTION_FLAG("force", 'f', struct dump, force, "overwrite FILE if it exists"),
        OPTION_CONNECT_ONE(struct dump, where.endpoint, "the daemon that records, by its publish endpoint"),
        OPTION_TEXT("dir", 'd', "DIR", struct dump, where.directory, COMPLETE_FILE,
                    "the directory of recordings; no daemon is needed then"),
        OPTIONS_END,
};

const struct command command_dump = {
        .name = "recording dump",
        .summary = "write a stretch of a recording as an eventlog",
        .usage = TEXTS("TARGET[~N|@RUN] [--from MOMENT] [--to MOMENT] -o FILE"),
        .about = "Writes what `heapwatchd --record` has kept of a target as a valid eventlog: header, what the stretch "
                 "refers to, and its blocks, with up to a second or 128 KiB more at both ends. Times are those of the "
                 "run. Where the stretch reaches the run's end, a log message tells how it ended. heapwatch, "
                 "ghc-events and "
                 "eventlog2html read it.",
        .options = options,
        .status = "0 written, 2 usage, no such recording, no daemon, or FILE cannot be written.",
        .examples = TEXTS("heapwatch recording dump api --from -10m -o now.eventlog",
                          "heapwatch recording dump api~1 -o - | zstd > last-run.eventlog.zst"),
        .size = sizeof(struct dump),
        .run = run_dump,
        .stops = true,
};

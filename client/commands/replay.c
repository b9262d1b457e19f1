/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the log is a stream of bytes with arrival times; nothing here knows
 * what the bytes mean. A loop sends what is due, then waits for the next
 * arrival. When the reader is slow, what became due meanwhile follows at once,
 * as it would from a program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "client/commands/replay_output.h"
#include "client/commands/replay_schedule.h"
#include "proto/archive/log_file.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

#define CHUNK_BYTES    65536
#define TIMING_BYTES   (16u << 20) /* longest timing file */
#define BETWEEN_RUNS_S 0.01        /* of --loop: an empty log must not spin */
#define PROGRESS_S     0.25        /* how often progress is drawn on a terminal */

struct replay {
        struct schedule schedule;
        struct output output;
        const char *log_path, *to, *timing;
        struct log_file *log; /* open while it is played */
        struct stat stat;
        uint64_t size; /* UINT64_MAX: compressed, known once its end is reached */
        bool loop;
        bool progress;  /* stderr is a terminal */
        double drawn_s; /* when progress was last drawn */
};

static double now_s(void)
{
        return (double)clock_mono_ns() / 1e9;
}

/* ---------------------------------------------------------------- playing it */

static void draw_progress(struct replay *r, uint64_t played)
{
        double now = now_s();

        if (!r->progress || (now - r->drawn_s < PROGRESS_S && played < r->size))
                return;
        r->drawn_s = now;
        if (r->size == UINT64_MAX)
                fprintf(stderr, "\r%llu bytes", (unsigned long long)played);
        else
                fprintf(stderr, "\r%5.1f %%  %llu of %llu bytes",
                        r->size ? 100.0 * (double)played / (double)r->size : 100.0, (unsigned long long)played,
                        (unsigned long long)r->size);
}

/* Sends bytes [*played, due). */
static int send_due(struct replay *r, uint64_t *played, uint64_t due)
{
        static char chunk[CHUNK_BYTES];

        while (*played < due) {
                uint64_t left = due - *played;
                ssize_t n = log_file_read(r->log, chunk, left < sizeof(chunk) ? (size_t)left : sizeof(chunk));
                if (n < 0)
                        return (int)n;
                if (n == 0 && !log_file_is_packed(r->log))
                        return -ENODATA; /* the log was truncated meanwhile */
                if (n == 0) {
                        r->size = *played;
                        return 0;
                }
                int e = output_write(&r->output, chunk, (size_t)n);
                if (e < 0)
                        return e;
                *played += (uint64_t)n;
                draw_progress(r, *played);
        }
        return 0;
}

static int play_once(struct replay *r)
{
        uint64_t played = 0;
        int e = output_begin(&r->output, &r->stat);
        double start = now_s();

        if (e == 0 && !(r->log = log_file_open(r->log_path, NULL)) /* from the beginning, for each run */)
                e = -EIO;
        while (e == 0) {
                e = send_due(r, &played, schedule_due(&r->schedule, now_s() - start, r->size));
                if (e < 0 || played == r->size)
                        break;
                double pause = schedule_next(&r->schedule, played, r->size) - (now_s() - start);
                e = output_wait(-1, 0, pause > 0 ? pause : 0);
        }
        if (e == 0 && log_file_damage(r->log))
                command_error(&command_replay, "%s: %s; what could be read was played", r->log_path,
                              log_file_damage(r->log));
        log_file_close(&r->log);
        int closed = output_end(&r->output);
        return e < 0 ? e : closed;
}

static int play(struct replay *r)
{
        int e;

        do {
                e = play_once(r);
                if (e == -EPIPE && r->loop && r->output.kind == OUTPUT_LISTEN)
                        e = 0; /* the next reader may come */
                if (e == 0 && r->loop)
                        e = output_wait(-1, 0, BETWEEN_RUNS_S);
        } while (e == 0 && r->loop);
        if (r->progress && r->drawn_s > 0)
                fputc('\n', stderr);
        return e;
}

/* ------------------------------------------------------------------ arguments */

static int open_log(struct replay *r)
{
        struct error error;

        if (stat(r->log_path, &r->stat) < 0)
                return command_error(&command_replay, "%s cannot be read: %s", r->log_path, strerror(errno));
        if (!S_ISREG(r->stat.st_mode))
                return command_error(&command_replay, "%s is not a regular file; record it into one first",
                                     r->log_path);
        struct log_file *log = log_file_open(r->log_path, &error);
        if (!log)
                return command_error(&command_replay, "%s cannot be read: %s", r->log_path, error.text);
        r->size = log_file_is_packed(log) ? UINT64_MAX : (uint64_t)r->stat.st_size;
        log_file_close(&log);
        return EXIT_OK;
}

/* The whole file as text; NULL with errno. */
static char *read_text(const char *path)
{
        FILE *f = fopen(path, "re");
        char *text = f ? malloc(TIMING_BYTES) : NULL;

        if (text) {
                size_t n = fread(text, 1, TIMING_BYTES - 1, f);
                text[n] = '\0';
                if (ferror(f) || !feof(f)) {
                        errno = ferror(f) ? errno : EFBIG;
                        free(text);
                        text = NULL;
                }
        }
        if (f) {
                int kept = errno;
                (void)fclose(f); /* opened for reading only */
                errno = kept;
        }
        return text;
}

static int load_timing(struct replay *r, const char *path)
{
        struct error error;
        char *text = read_text(path);

        if (!text)
                return command_error(&command_replay, "%s cannot be read: %s", path, strerror(errno));
        bool ok = schedule_parse(&r->schedule, text, &error);
        free(text);
        if (!ok)
                command_error(&command_replay, "%s: %s", path, error.text);
        return ok ? EXIT_OK : EXIT_USAGE;
}

static const struct option options[] = {
        OPERAND_TEXT("LOG", struct replay, log_path, COMPLETE_FILE, NULL),
        OPTION_TEXT("to", 0, "DESTINATION", struct replay, to, COMPLETE_NOTHING,
                    "fifo:PATH writes to a FIFO (made if it is missing), waiting for its reader; file:PATH writes to a "
                    "growing file, truncated first; unix-listen:PATH serves it on a socket to one reader at a time"),
        OPTION_TEXT("timing", 0, "FILE", struct replay, timing, COMPLETE_FILE,
                    "when the bytes arrived: lines `seconds offset`"),
        OPTION_POSITIVE("rate", "N", struct replay, schedule.bytes_per_s,
                        "without --timing: N bytes/s; without both: as fast as it is read"),
        OPTION_POSITIVE("speed", "X", struct replay, schedule.speed, "X times as fast (default 1)"),
        OPTION_FLAG("loop", 0, struct replay, loop, "repeat forever, each time as a new run of the same program"),
        OPTIONS_END,
};

static int check(void *filled)
{
        struct replay *r = filled;

        if (!r->to)
                return command_usage_error(&command_replay, "--to is missing");
        if (!output_parse(&r->output, r->to))
                return command_usage_error(&command_replay,
                                           "--to: '%s': expected fifo:PATH, file:PATH or unix-listen:PATH", r->to);
        if (r->timing && r->schedule.bytes_per_s > 0)
                return command_usage_error(&command_replay, "--timing and --rate exclude each other");
        return 0;
}

static int exit_status(const struct replay *r, int e)
{
        if (e == 0 || e == -EPIPE || e == -EINTR)
                return EXIT_OK; /* played, or ended by the reader or the user */
        if (e == -EDEADLK)
                command_error(&command_replay, "%s is the log itself; write to another file", r->output.path);
        else if (e == -ENODATA)
                command_error(&command_replay, "%s became shorter while it was played", r->log_path);
        else
                command_error(&command_replay, "%s: %s", r->output.path, strerror(-e));
        return EXIT_USAGE;
}

static int run(void *filled)
{
        struct replay *r = filled;
        int status = open_log(r);

        if (status == EXIT_OK && r->timing)
                status = load_timing(r, r->timing);
        if (status == EXIT_OK) {
                r->progress = isatty(STDERR_FILENO);
                output_catch_signals();
                status = exit_status(r, play(r));
                output_close(&r->output);
        }
        schedule_done(&r->schedule);
        return status;
}

const struct command command_replay = {
        .name = "replay",
        .summary = "play a recorded log back with its real arrival times",
        .usage = (const char *const[]){ "LOG --to DESTINATION [OPTION]...", NULL },
        .about = "Plays a recorded eventlog as the program wrote it, for demonstrations and tests.",
        .options = options,
        .status =
                "0 all was played, its reader left or it was interrupted; 2 bad usage, or a file cannot be read or "
                "written.",
        .examples =
                (const char *const[]){
                        "heapwatchd demo=fifo:/tmp/demo.fifo &",
                        "heapwatch replay run.eventlog --timing run.timing --speed 4 --to fifo:/tmp/demo.fifo",
                        NULL,
                },
        .size = sizeof(struct replay),
        .defaults = &(const struct replay){ .schedule = { .speed = 1 }, .output = { .fd = -1, .listener = -1 } },
        .check = check,
        .run = run,
};

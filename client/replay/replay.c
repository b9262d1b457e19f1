/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the log is a stream of bytes with arrival times; nothing here knows
 * what the bytes mean. A loop sends what is due, then waits for the next
 * arrival. When the reader is slow, time goes on, and what became due meanwhile
 * follows at once, as it would from a program.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "client/replay/output.h"
#include "client/replay/schedule.h"
#include "proto/base/clock.h"

#define CHUNK_BYTES    65536
#define TIMING_BYTES   (16u << 20) /* a timing file may be this long */
#define BETWEEN_RUNS_S 0.01        /* of --loop: an empty log must not spin */
#define PROGRESS_S     0.25        /* how often progress is drawn on a terminal */

struct replay {
        struct schedule schedule;
        struct output output;
        const char *log_path;
        struct stat log;
        int fd;
        uint64_t size;
        bool loop;
        bool progress;  /* stderr is a terminal */
        double drawn_s; /* when progress was drawn last */
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
        fprintf(stderr, "\r%5.1f %%  %llu of %llu bytes", r->size ? 100.0 * (double)played / (double)r->size : 100.0,
                (unsigned long long)played, (unsigned long long)r->size);
}

/* Sends bytes [*played, due). */
static int send_due(struct replay *r, uint64_t *played, uint64_t due)
{
        static char chunk[CHUNK_BYTES];

        while (*played < due) {
                uint64_t left = due - *played;
                ssize_t n = pread(r->fd, chunk, left < sizeof(chunk) ? (size_t)left : sizeof(chunk), (off_t)*played);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -ENODATA; /* the log became shorter under us */
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
        int e = output_begin(&r->output, &r->log);
        double start = now_s();

        while (e == 0) {
                e = send_due(r, &played, schedule_due(&r->schedule, now_s() - start, r->size));
                if (e < 0 || played == r->size)
                        break;
                double pause = schedule_next(&r->schedule, played, r->size) - (now_s() - start);
                e = output_wait(-1, 0, pause > 0 ? pause : 0);
        }
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
        r->fd = open(r->log_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (r->fd < 0 || fstat(r->fd, &r->log) < 0) {
                command_error(&command_replay, "%s cannot be read: %s", r->log_path, strerror(errno));
                return EXIT_USAGE;
        }
        if (!S_ISREG(r->log.st_mode)) {
                command_error(&command_replay, "%s is not a regular file; record it into one first", r->log_path);
                return EXIT_USAGE;
        }
        r->size = (uint64_t)r->log.st_size;
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
        char error[160];
        char *text = read_text(path);

        if (!text) {
                command_error(&command_replay, "%s cannot be read: %s", path, strerror(errno));
                return EXIT_USAGE;
        }
        bool ok = schedule_parse(&r->schedule, text, error, sizeof(error));
        free(text);
        if (!ok)
                command_error(&command_replay, "%s: %s", path, error);
        return ok ? EXIT_OK : EXIT_USAGE;
}

static bool parse_positive(const char *text, double *ret_number)
{
        char *end;
        double number = strtod(text, &end);

        if (end == text || *end || !isfinite(number) || number <= 0)
                return false;
        *ret_number = number;
        return true;
}

static int parse_options(struct replay *r, int argc, char **argv, const char **ret_timing)
{
        static const struct option options[] = { { "timing", required_argument, NULL, 't' },
                                                 { "speed", required_argument, NULL, 's' },
                                                 { "rate", required_argument, NULL, 'r' },
                                                 { "loop", no_argument, NULL, 'l' },
                                                 { "to", required_argument, NULL, 'o' },
                                                 { "help", no_argument, NULL, 'h' },
                                                 { NULL, 0, NULL, 0 } };
        const struct command *c = &command_replay;
        const char *to = NULL;
        int option;

        optind = 0; /* glibc: start afresh, main has used getopt before */
        opterr = 0;
        while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
                switch (option) {
                case 't':
                        *ret_timing = optarg;
                        break;
                case 's':
                        if (!parse_positive(optarg, &r->schedule.speed))
                                return command_usage_error(c, "--speed: '%s' is not a number above 0", optarg);
                        break;
                case 'r':
                        if (!parse_positive(optarg, &r->schedule.bytes_per_s))
                                return command_usage_error(c, "--rate: '%s' is not a number above 0", optarg);
                        break;
                case 'l':
                        r->loop = true;
                        break;
                case 'o':
                        to = optarg;
                        break;
                case 'h':
                        fputs(c->help, stdout);
                        return -1;
                case ':':
                        return command_usage_error(c, "%s needs a value", argv[optind - 1]);
                default:
                        return command_usage_error(c, "unknown option %s", argv[optind - 1]);
                }
        }
        if (optind != argc - 1)
                return command_usage_error(c, "expected one LOG, got %d", argc - optind);
        r->log_path = argv[optind];
        if (!to)
                return command_usage_error(c, "--to is missing");
        if (!output_parse(&r->output, to))
                return command_usage_error(c, "--to: '%s' is not fifo:PATH, file:PATH or unix-listen:PATH", to);
        if (*ret_timing && r->schedule.bytes_per_s > 0)
                return command_usage_error(c, "--timing and --rate exclude each other");
        return EXIT_OK;
}

static int exit_status(const struct replay *r, int e)
{
        if (e == 0 || e == -EPIPE || e == -EINTR)
                return EXIT_OK; /* played, or the reader or the user had enough */
        if (e == -EDEADLK)
                command_error(&command_replay, "%s is the log itself; write to another file", r->output.path);
        else if (e == -ENODATA)
                command_error(&command_replay, "%s became shorter while it was played", r->log_path);
        else
                command_error(&command_replay, "%s: %s", r->output.path, strerror(-e));
        return EXIT_USAGE;
}

static int replay_run(int argc, char **argv)
{
        struct replay r = { .fd = -1, .output = { .fd = -1, .listener = -1 } };
        const char *timing = NULL;

        schedule_init(&r.schedule);
        int status = parse_options(&r, argc, argv, &timing);
        if (status == EXIT_OK)
                status = open_log(&r);
        if (status == EXIT_OK && timing)
                status = load_timing(&r, timing);
        if (status == EXIT_OK) {
                r.progress = isatty(STDERR_FILENO);
                output_catch_signals();
                status = exit_status(&r, play(&r));
                output_close(&r.output);
        }
        if (r.fd >= 0)
                (void)close(r.fd); /* opened for reading only */
        schedule_done(&r.schedule);
        return status < 0 ? EXIT_OK : status; /* < 0: help was shown */
}

const struct command command_replay = {
        .name = "replay",
        .summary = "play a recorded log back with its real arrival times",
        .help = "usage: heapwatch replay LOG [--timing FILE] [--speed X] [--loop] --to DESTINATION\n"
                "\n"
                "Plays a recorded eventlog as the program wrote it, for demonstrations and tests.\n"
                "\n"
                "  --to fifo:PATH         write to a FIFO (made if it is missing), waiting for its reader\n"
                "  --to file:PATH         write to a growing file, truncated first\n"
                "  --to unix-listen:PATH  serve it on a socket to one reader at a time\n"
                "  --timing FILE          when the bytes arrived: lines `seconds offset`\n"
                "  --rate N               without --timing: N bytes/s; without both: as fast as it is taken\n"
                "  --speed X              X times as fast (default 1)\n"
                "  --loop                 again and again: each time a new run of the same program\n"
                "\n"
                "Ends with status 0 when all was played, its reader left or it was interrupted; 2 for bad usage\n"
                "or a file that cannot be read or written.\n"
                "\n"
                "example:\n"
                "  heapwatchd demo=fifo:/tmp/demo.fifo &\n"
                "  heapwatch replay run.eventlog --timing run.timing --speed 4 --to fifo:/tmp/demo.fifo\n",
        .run = replay_run,
};

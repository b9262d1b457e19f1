/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_commands.c - what the client makes of a finished log: the commands that need no daemon, with their whole output.
 *
 * Byte 0 is the command line in the table. Byte 1, bit 0: the rest are events after a header that declares every known
 * kind; else the rest is the whole log. What must hold: the command ends with one of the three statuses, JSON is JSON,
 * and text is UTF-8 without characters that steer a screen, whatever names the log has.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "daemon/log.h"
#include "proto/base/array.h"
#include "proto/base/utf8.h"
#include "tests/fuzz/full_header.h"

#define WORDS_MAX 10

enum output { TEXT, JSON_LINES, JSON_WHOLE, BYTES };

static const struct command_line {
        const struct command *command;
        enum output output;
        const char *words[WORDS_MAX]; /* LOG stands for the log's path */
} lines[] = {
        { &command_convert, TEXT, { "LOG", "--to", "hp", "--names" } },
        { &command_convert, TEXT, { "LOG", "--to", "csv" } },
        { &command_convert, TEXT, { "LOG", "--to", "csv-wide", "--bands", "3" } },
        { &command_convert, JSON_LINES, { "LOG", "--to", "json" } },
        { &command_convert, TEXT, { "LOG", "--to", "collapsed" } },
        { &command_convert, JSON_WHOLE, { "LOG", "--to", "speedscope", "--at", "all" } },
        { &command_convert, BYTES, { "LOG", "--to", "pprof", "--at", "all" } },
        { &command_convert, BYTES, { "LOG", "--to", "perfetto" } },
        { &command_convert, BYTES, { "LOG", "--to", "openmetrics" } }, /* labels as they are, by the format */
        { &command_convert, TEXT, { "LOG", "--to", "resid" } },
        { &command_summary, TEXT, { "LOG" } },
        { &command_summary, JSON_LINES, { "LOG", "--format", "json" } },
        { &command_diff, TEXT, { "LOG", "LOG" } },
        { &command_diff, JSON_LINES, { "LOG", "LOG", "--format", "json" } },
        { &command_diff, TEXT, { "LOG", "LOG", "--no-worse-than", "peak(live) 5%" } },
        { &command_trend, TEXT, { "LOG" } },
        { &command_trend, JSON_LINES, { "LOG", "--format", "json" } },
        { &command_post_mortem, TEXT, { "LOG" } },
        { &command_post_mortem, JSON_LINES, { "LOG", "--format", "json" } },
        { &command_report, TEXT, { "LOG", "--output", "-", "--format", "svg" } },
        { &command_report, JSON_WHOLE, { "LOG", "--output", "-", "--format", "json" } },
        { &command_query, TEXT, { "SELECT * FROM top_growing", "LOG", "--timeout", "2" } },
        { &command_query, JSON_LINES, { "SELECT * FROM bands", "LOG", "--format", "ndjson", "--timeout", "2" } },
        { &command_query, JSON_LINES, { "SELECT * FROM events", "LOG", "--format", "ndjson", "--timeout", "2" } },
        { &command_query, TEXT, { "SELECT * FROM threads", "LOG", "--format", "csv", "--timeout", "2" } },
        { &command_query,
          TEXT,
          { "SELECT * FROM cost_centres JOIN band_names", "LOG", "--format", "tsv", "--timeout", "2" } },
        { &command_query, TEXT, { "SELECT time, name, bytes FROM bands", "LOG", "--chart", "area", "--timeout", "2" } },
        { &command_query, TEXT, { "SELECT * FROM phases", "LOG", "--format", "markdown", "--timeout", "2" } },
};

/* ------------------------------------------------------------------- the log */

static void write_all(int fd, const uint8_t *bytes, size_t n)
{
        if (write(fd, bytes, n) != (ssize_t)n)
                abort();
}

static int open_log(const uint8_t *bytes, size_t n, bool with_header)
{
        const int fd = memfd_create("fuzz", MFD_CLOEXEC);

        if (fd < 0)
                abort();
        if (with_header)
                write_all(fd, full_header()->bytes, full_header()->n);
        write_all(fd, bytes, n);
        return fd;
}

/* ---------------------------------------------------------------- the output */

struct printed {
        char *bytes;
        size_t n;
};

static void check_json(const char *bytes, size_t n)
{
        const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
        json_t *value = json_loadb(bytes, n, flags, NULL);

        if (!value)
                abort();
        json_decref(value);
}

static void check_json_lines(const struct printed *p)
{
        const char *at = p->bytes, *end = p->bytes + p->n;

        while (at < end) {
                const char *feed = memchr(at, '\n', (size_t)(end - at));
                if (!feed)
                        abort();
                check_json(at, (size_t)(feed - at));
                at = feed + 1;
        }
}

static void check_text(const struct printed *p)
{
        uint32_t code;
        size_t n;

        for (size_t i = 0; i < p->n; i += n) {
                n = utf8_decode(p->bytes + i, p->n - i, &code);
                if (n == 0 || (utf8_is_control(code) && code != '\n' && code != '\t'))
                        abort();
        }
}

static void check(enum output output, const struct printed *p)
{
        if (output == TEXT)
                check_text(p);
        else if (output == JSON_LINES)
                check_json_lines(p);
        else if (output == JSON_WHOLE && p->n > 0)
                check_json(p->bytes, p->n);
}

/* --------------------------------------------------------------- the command */

static int run(const struct command_line *line, const char *path, struct printed *ret)
{
        FILE *terminal = stdout;
        char *argv[WORDS_MAX + 2], name[16];
        int argc = 1;

        (void)snprintf(name, sizeof(name), "%s", line->command->name);
        argv[0] = name;
        for (const char *const *word = line->words; *word; word++)
                argv[argc++] = strdup(!strcmp(*word, "LOG") ? path : *word);
        argv[argc] = NULL;
        stdout = open_memstream(&ret->bytes, &ret->n);
        if (!stdout)
                abort();
        const int status = command_main(line->command, argc, argv);
        if (fclose(stdout) != 0)
                abort();
        stdout = terminal;
        while (argc > 1)
                free(argv[--argc]);
        return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct printed printed;
        char path[32];

        if (size < 2)
                return 0;
        log_set_level(LOG_ERROR);
        const struct command_line *line = &lines[data[0] % ARRAY_SIZE(lines)];
        const int fd = open_log(data + 2, size - 2, data[1] & 1);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        const int status = run(line, path, &printed);
        if (status != EXIT_OK && status != EXIT_FINDING && status != EXIT_USAGE)
                abort();
        check(line->output, &printed);
        free(printed.bytes);
        (void)close(fd);
        return 0;
}

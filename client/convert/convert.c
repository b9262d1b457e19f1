/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * convert.c - `heapwatch convert`: a finished log in a format of other tools.
 *
 * DESIGN: one run of the log goes to one format, update by update, so memory
 * does not depend on the log's length. A file is written beside its name and
 * renamed when it is whole: a failed conversion leaves the old one as it was.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/convert/format.h"
#include "client/feed/feed.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "proto/base/error.h"

static const struct format *const formats[] = {
        &format_hp,
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

struct request {
        const char *log, *output;
        const char *to; /* name of the format */
        const struct format *format;
        struct format_options options;
        uint32_t run, runs_seen;
};

/* -------------------------------------------------------------- options */

static const char *nth_format(size_t n)
{
        return n < FORMATS ? formats[n]->name : NULL;
}

static const struct option options[] = {
        OPERAND_TEXT("LOG", struct request, log, COMPLETE_FILE, NULL),
        OPTION_NAME("to", 't', "FORMAT", struct request, to, nth_format,
                    "hp: the runtime's own heap profile text, for hp2ps, hp2pretty and whatever reads .hp files. Two "
                    "things differ from the .hp file of the same run: times are elapsed seconds (the runtime writes "
                    "mutator CPU seconds, which are not in the log), and cost centre stacks have numbers of our own "
                    "and are not cut at 25 characters"),
        OPTION_FLAG("names", 0, struct request, options.names,
                    "info tables (-hi) by name and source instead of their address"),
        OPTION_NUMBER("run", 0, uint32_t, struct request, run, 1, UINT32_MAX,
                      "the N-th run of a log that holds several (default: the first)"),
        OPTION_TEXT("output", 'o', "FILE", struct request, output, COMPLETE_FILE,
                    "write to FILE (default: standard output)"),
        OPTIONS_END,
};

static int check(void *filled)
{
        struct request *r = filled;

        for (size_t i = 0; i < FORMATS; i++)
                if (r->to && !strcmp(r->to, formats[i]->name))
                        r->format = formats[i];
        return r->format ? 0 : command_usage_error(&command_convert, "to which format? add --to hp");
}

/* --------------------------------------------------------------- output */

/* Where the conversion is written: standard output, a device, or a new file that will get its name at the end. */
struct output {
        FILE *to;
        const char *name; /* NULL: standard output */
        char *temporary;  /* NULL: written in place */
};

static bool is_device(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int output_open(struct output *o, const char *name)
{
        *o = (struct output){ .to = stdout, .name = name };
        if (!name)
                return 0;
        if (is_device(name)) {
                o->to = fopen(name, "we");
                return o->to ? 0 : -errno;
        }
        if (asprintf(&o->temporary, "%s.XXXXXX", name) < 0) {
                o->temporary = NULL;
                return -ENOMEM;
        }
        int fd = mkstemp(o->temporary);
        mode_t mask = umask(0);
        (void)umask(mask);
        if (fd >= 0 && fchmod(fd, 0666 & ~mask) == 0)
                o->to = fdopen(fd, "w");
        if (fd >= 0 && o->to && o->to != stdout)
                return 0;
        int r = -errno;
        if (fd >= 0) {
                (void)unlink(o->temporary);
                (void)close(fd);
        }
        free(o->temporary);
        o->temporary = NULL;
        o->to = NULL;
        return r;
}

/* Closes; with status 0 the file gets its name, otherwise it is removed. Returns the first error. */
static int output_close(struct output *o, int status)
{
        errno = 0;
        bool bad = fflush(o->to) != 0 || ferror(o->to);

        if (status == 0 && bad)
                status = errno ? -errno : -EIO;
        if (o->to != stdout && fclose(o->to) != 0 && status == 0)
                status = -errno;
        if (o->temporary && status == 0 && rename(o->temporary, o->name) != 0)
                status = -errno;
        if (o->temporary && status != 0)
                (void)unlink(o->temporary);
        free(o->temporary);
        return status;
}

/* ----------------------------------------------------------- conversion */

/* Passes on what belongs to the run. Of runs before and after only their number is noted. */
static int take(struct request *r, void *state, const Hw__Update *u)
{
        if (u->has_run && u->run > r->runs_seen)
                r->runs_seen = u->run;
        return u->has_run && u->run == r->run ? r->format->update(state, u) : 0;
}

/* 0, -errno of the format or the output, or 1 when the feed failed and said so. */
static int feed_format(struct request *r, FILE *out, void *state)
{
        const Hw__Update *update;
        struct error error;
        struct feed *feed = feed_files(&r->log, 1, NULL, &error);
        enum feed_event event = FEED_NOTHING;
        int status = 0;

        if (!feed) {
                command_error(&command_convert, "%s", error.text);
                return 1;
        }
        while (status == 0 && event != FEED_END && event != FEED_FAILED) {
                event = feed_next(feed, 500, &update);
                if (event == FEED_UPDATE)
                        status = take(r, state, update);
                if (signals_stop())
                        status = -EINTR;
                else if (status == 0 && ferror(out))
                        status = errno ? -errno : -EIO;
        }
        if (event == FEED_FAILED)
                command_error(&command_convert, "%s", feed_error(feed));
        feed_close(&feed);
        return status == 0 && event == FEED_FAILED ? 1 : status;
}

static int explain(const struct request *r, int status)
{
        if (status == 0 || status == -EPIPE) /* -EPIPE: the reader has seen enough */
                return EXIT_OK;
        if (status == -ENODATA && r->runs_seen < r->run)
                command_error(&command_convert, "%s has %u run%s, not %u", r->log, r->runs_seen,
                              r->runs_seen == 1 ? "" : "s", r->run);
        else if (status == -ENODATA)
                command_error(&command_convert, "%s %s", r->log, r->format->no_data);
        else if (status < 0 && status != -EINTR)
                command_error(&command_convert, "cannot write%s%s: %s", r->output ? " " : "",
                              r->output ? r->output : "", strerror(-status));
        return EXIT_USAGE;
}

static int convert(struct request *r)
{
        struct output out;
        int status = output_open(&out, r->output);

        if (status)
                return explain(r, status);
        void *state = r->format->begin(out.to, &r->options);
        status = state ? feed_format(r, out.to, state) : -ENOMEM;
        if (status == 0)
                status = r->format->finish(state);
        r->format->destroy(state);
        status = output_close(&out, status);
        if (status == 0 && r->runs_seen > 1)
                command_error(&command_convert, "%s holds %u runs; this is run %u (--run chooses)", r->log,
                              r->runs_seen, r->run);
        return explain(r, status);
}

static int run(void *filled)
{
        signals_catch();
        int status = convert(filled);
        signals_die();
        return status;
}

const struct command command_convert = {
        .name = "convert",
        .summary = "a finished log in a format of other tools: hp for hp2ps",
        .usage = (const char *const[]){ "LOG --to FORMAT [-o FILE] [OPTION]...", NULL },
        .about = "Writes a finished eventlog in a format that other tools read.",
        .options = options,
        .notes =
                "White space in a label becomes an underscore. A log that holds several runs is converted one run at a "
                "time.",
        .status = "0 all was written, 2 bad input, or the log has nothing to convert.",
        .examples =
                (const char *const[]){
                        "heapwatch convert run.eventlog --to hp -o run.hp && hp2ps -c run.hp",
                        "heapwatch convert run.eventlog --to hp --names | hp2pretty",
                        NULL,
                },
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .run = 1 },
        .check = check,
        .run = run,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: zlib and zstd have the same shape: bytes in, bytes out, as much as
 * there is room for. A method is one function that moves what it can; all else
 * (reading, the end, errors) is the same for both. Uncompressed files are read(2)
 * into the caller's buffer; only their first bytes, read to detect the format,
 * come from ours.
 *
 * Whether the unpacked bytes are text is known from the first piece of them; if so, the log is what text_log makes of
 * them.
 *
 * Several archives one after the other are one log, as `cat a.gz b.gz` means.
 */
#include "proto/eventlog/archive/log_file.h"
#include "proto/base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "proto/eventlog/archive/in_order.h"
#include "proto/eventlog/recording/stretch.h"
#include "proto/eventlog/texts/texts.h"

#define INPUT_BYTES 65536u
#define MAGIC_BYTES 4u /* the longest beginning that identifies a method */

struct log_file {
        int fd;
        struct stat stat;
        uint8_t input[INPUT_BYTES];
        size_t at, n;    /* of the input: used so far, available */
        bool input_over; /* the file has no more */
        bool inside;     /* an archive has begun and is not complete */
        bool ended;      /* one was complete: another one, or padding, may follow */
        bool over;       /* no more bytes of the log */
        const char *damage;
        char damage_text[224];

        struct cutout *cutout; /* of a recording: then there is no file */
        struct run_end judged; /* as it was when it was recorded */
        bool (*unpack)(struct log_file *f, void *buffer, size_t size, size_t *ret_n); /* NULL: not packed */
        z_stream zlib;
        ZSTD_DStream *zstd;

        bool begun;  /* whether it is an archive has been checked: of a pipe with the first bytes that are wanted */
        bool looked; /* and whether it is text */
        bool text_over;
        bool text_stopped; /* before its end: it says nothing any more */
        bool broken;       /* its archive cannot be read to its end */
        struct text_log *text;
        size_t text_at, text_n; /* of the piece: used, available */
        char piece[INPUT_BYTES];

        FILE *unpacked;         /* all of it, to be put in order; NULL: not so */
        struct in_order *order; /* NULL: as it lies there */
        struct in_order_place place;
};

/* -------------------------------------------------------------------- reading */

static ssize_t read_fd(int fd, void *buffer, size_t size)
{
        ssize_t n;

        do
                n = read(fd, buffer, size);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

/* Makes sure that some input is there, unless it is over. 0 or -errno. */
static int fill_buffer(struct log_file *f)
{
        if (f->at < f->n || f->input_over)
                return 0;
        ssize_t n = read_fd(f->fd, f->input, sizeof(f->input));
        if (n < 0)
                return (int)n;
        f->at = 0;
        f->n = (size_t)n;
        f->input_over = n == 0;
        return 0;
}

/* Makes sure that the beginning of an archive is there, if it is not cut. 0 or -errno. */
static int fill_magic(struct log_file *f)
{
        while (f->n - f->at < MAGIC_BYTES && !f->input_over) {
                memmove(f->input, f->input + f->at, f->n - f->at);
                f->n -= f->at;
                f->at = 0;
                ssize_t n = read_fd(f->fd, f->input + f->n, sizeof(f->input) - f->n);
                if (n < 0)
                        return (int)n;
                f->n += (size_t)n;
                f->input_over = n == 0;
        }
        return 0;
}

/* ------------------------------------------------------------------- methods */

/* Nothing more can be read, because of `why`. */
static bool report_damaged(struct log_file *f, const char *method, const char *why)
{
        (void)snprintf(f->damage_text, sizeof(f->damage_text), "its %s archive %s", method, why);
        f->damage = f->damage_text;
        f->broken = true;
        return false;
}

static bool unpack_gzip(struct log_file *f, void *buffer, size_t size, size_t *ret_n)
{
        z_stream *z = &f->zlib;

        z->next_in = f->input + f->at;
        z->avail_in = (uInt)(f->n - f->at);
        z->next_out = buffer;
        z->avail_out = (uInt)(size < INPUT_BYTES ? size : INPUT_BYTES);
        uInt room = z->avail_out;
        f->inside = true;
        int r = inflate(z, Z_NO_FLUSH);
        f->at = f->n - z->avail_in;
        *ret_n = room - z->avail_out;
        if (r == Z_STREAM_END) {
                f->inside = false;
                f->ended = true;
                return true;
        }
        return r == Z_OK || r == Z_BUF_ERROR || report_damaged(f, "gzip", "is damaged");
}

static bool unpack_zstd(struct log_file *f, void *buffer, size_t size, size_t *ret_n)
{
        ZSTD_inBuffer in = { f->input, f->n, f->at };
        ZSTD_outBuffer out = { buffer, size, 0 };
        size_t r = ZSTD_decompressStream(f->zstd, &out, &in);

        f->at = in.pos;
        *ret_n = out.pos;
        if (ZSTD_isError(r) && ZSTD_getErrorCode(r) == ZSTD_error_frameParameter_windowTooLarge)
                return report_damaged(f, "zstd", "needs a window of more than 128 MiB (made with --long or --ultra)");
        f->inside = r != 0;
        f->ended = f->ended || r == 0;
        return !ZSTD_isError(r) || report_damaged(f, "zstd", "is damaged");
}

static bool begin_gzip(struct log_file *f)
{
        f->unpack = unpack_gzip;
        return f->zlib.state ? inflateReset(&f->zlib) == Z_OK : inflateInit2(&f->zlib, 15 + 16) == Z_OK;
}

static bool begin_zstd(struct log_file *f)
{
        f->unpack = unpack_zstd;
        if (f->zstd)
                return true; /* ready for the next frame */
        f->zstd = ZSTD_createDStream();
        return f->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, LIMIT_ZSTD_WINDOW_LOG));
}

/* How archives begin. */
static const struct method {
        const char *name, *magic;
        size_t n;
        bool (*begin)(struct log_file *f); /* also another time. False when out of memory */
} methods[] = {
        { "gzip", "\x1f\x8b", 2, begin_gzip },
        { "zstd", "\x28\xb5\x2f\xfd", 4, begin_zstd },
};

/* A frame of zstd that is to be skipped may come first: 50 to 5f 2a 4d 18. */
static bool is_skippable(const uint8_t *p, size_t n)
{
        return n >= 4 && (p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3);
}

/* That of the archive that begins here in the input; NULL: none does. */
static const struct method *method_here(const struct log_file *f)
{
        const uint8_t *p = f->input + f->at;
        const size_t n = f->n - f->at;

        for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
                if ((n >= methods[i].n && !memcmp(p, methods[i].magic, methods[i].n)) ||
                    (methods[i].begin == begin_zstd && is_skippable(p, n)))
                        return &methods[i];
        return NULL;
}

/* ------------------------------------------------------------------------ open */

static bool open_recording(struct log_file *f, const char *path, struct error *error)
{
        struct recorded_run run;
        struct cutout_range range;
        struct stretch s;

        f->fd = -1;
        if (!stretch_parse(path, &s, error))
                return false;
        if (!s.directory[0])
                return error_set(error, "in which directory? expected recording:DIRECTORY/TARGET");
        if (recorded_run_find(s.directory, s.which, &run, error) == 0 && stretch_range(&s, &run, &range, error))
                f->cutout = cutout_open(s.directory, &run, range, error);
        if (f->cutout && range.to_ns >= run.end_ns)
                f->judged = run.end;
        return f->cutout != NULL;
}

/* Finds out how it is packed. 0 or -errno. */
static int begin_input(struct log_file *f)
{
        int r = fill_magic(f);
        const struct method *method = r == 0 ? method_here(f) : NULL;

        f->begun = r == 0;
        return method && !method->begin(f) ? -ENOMEM : r;
}

/* A pipe that nobody has opened for writing yet is waited for in poll(2), not here. 0 or -errno. */
static int open_input(struct log_file *f, const char *path)
{
        f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (f->fd < 0 || fstat(f->fd, &f->stat) < 0 || fcntl(f->fd, F_SETFL, 0) < 0)
                return -errno;
        return S_ISFIFO(f->stat.st_mode) ? 0 : begin_input(f);
}

struct log_file *log_file_open(const char *path, struct error *error)
{
        struct log_file *f = calloc(1, sizeof(*f));
        int r;

        if (!f) {
                error_set(error, "out of memory");
                return NULL;
        }
        if (stretch_is(path)) {
                if (!open_recording(f, path, error))
                        log_file_close(&f);
                return f;
        }
        r = open_input(f, path);
        if (r < 0) {
                if (r == -EISDIR)
                        error_set(error,
                                  "it is a directory; `heapwatch recording --dir %.400s` lists recordings in it, which "
                                  "are read as recording:%.400s/NAME",
                                  path, path);
                else
                        error_set(error, "%s", strerror(-r));
                log_file_close(&f);
        }
        return f;
}

void log_file_close(struct log_file **fp)
{
        struct log_file *f = *fp;

        *fp = NULL;
        if (!f)
                return;
        (void)inflateEnd(&f->zlib); /* refuses one that was never begun */
        cutout_close(&f->cutout);
        text_log_destroy(&f->text);
        in_order_close(&f->order);
        if (f->unpacked)
                (void)fclose(f->unpacked); /* nobody reads it any more */
        (void)ZSTD_freeDStream(f->zstd);   /* NULL is allowed */
        if (f->fd >= 0)
                (void)close(f->fd); /* opened for reading only */
        free(f);
}

/* ------------------------------------------------------------------------ read */

static ssize_t read_plain(struct log_file *f, void *buffer, size_t size)
{
        size_t n = f->n - f->at;

        if (n == 0)
                return read_fd(f->fd, buffer, size);
        n = n < size ? n : size;
        memcpy(buffer, f->input + f->at, n);
        f->at += n;
        return (ssize_t)n;
}

/* Zeros behind an archive fill the blocks of tapes and disks, and mean nothing. 0 or -errno. */
static int skip_padding(struct log_file *f)
{
        int r;

        while ((r = fill_buffer(f)) == 0 && f->at < f->n && f->input[f->at] == 0)
                f->at++;
        return r;
}

/* Behind an archive: begins the next one, or ends the log. 0 or -errno. */
static int begin_next(struct log_file *f)
{
        int r = skip_padding(f);

        if (r == 0)
                r = fill_magic(f);
        f->over = r == 0 && f->at == f->n;
        if (r < 0 || f->over)
                return r;
        const struct method *method = method_here(f);
        f->over = !method;
        if (!method)
                (void)report_damaged(f, f->unpack == unpack_zstd ? "zstd" : "gzip",
                                     "is followed by something else, which is not read");
        return !method || method->begin(f) ? 0 : -ENOMEM;
}

static ssize_t read_unpacked(struct log_file *f, void *buffer, size_t size)
{
        size_t n = 0;

        if (!f->unpack)
                return read_plain(f, buffer, size);
        while (n == 0 && !f->over) {
                int r = f->ended && !f->inside ? begin_next(f) : fill_buffer(f);
                if (r < 0)
                        return r;
                if (f->over || (f->at == f->n && f->input_over && !f->inside)) {
                        f->over = true;
                        break;
                }
                size_t before = f->at;
                f->over = !f->unpack(f, buffer, size, &n);
                if (n == 0 && f->at == before && f->input_over && !f->over) {
                        (void)report_damaged(f, f->unpack == unpack_zstd ? "zstd" : "gzip", "breaks off");
                        f->over = true;
                }
        }
        return (ssize_t)n;
}

/* ------------------------------------------------------------------------ text */

/* Checks in the first piece whether it is text. 0 or -errno. */
static int detect_format(struct log_file *f)
{
        f->looked = true;
        if (!f->unpack) { /* its beginning is already in the buffer */
                enum text_kind kind = text_kind_of(f->input, f->n);
                f->text = kind ? text_log_new(kind) : NULL;
                return kind && !f->text ? -ENOMEM : 0;
        }
        ssize_t n = read_unpacked(f, f->piece, sizeof(f->piece));
        if (n < 0)
                return (int)n;
        f->text_n = (size_t)n;
        enum text_kind kind = text_kind_of(f->piece, f->text_n);
        f->text = kind ? text_log_new(kind) : NULL;
        return kind && !f->text ? -ENOMEM : 0;
}

static void report_text_damage(struct log_file *f)
{
        const struct text_damage *d = text_log_damage(f->text);
        char lines[160] = "", stopped[64] = "";

        if ((!d->lines && !f->text_stopped) || f->damage)
                return;
        if (d->lines)
                (void)snprintf(lines, sizeof(lines),
                               "%llu line%s of its text could not be read, the first is line %llu: expected %s",
                               (unsigned long long)d->lines, d->lines > 1 ? "s" : "", (unsigned long long)d->first,
                               d->expected);
        if (f->text_stopped)
                (void)snprintf(stopped, sizeof(stopped), "%sreading stopped after %u MiB of text that say nothing",
                               lines[0] ? "; " : "", TEXT_IDLE_BYTES >> 20);
        (void)snprintf(f->damage_text, sizeof(f->damage_text), "%s%s", lines, stopped);
        f->damage = f->damage_text;
}

static ssize_t read_text(struct log_file *f, void *buffer, size_t size)
{
        size_t n;

        while ((n = text_log_fetch(f->text, buffer, size)) == 0 && !f->text_over) {
                if (f->text_at == f->text_n) {
                        ssize_t got = read_unpacked(f, f->piece, sizeof(f->piece));
                        if (got < 0)
                                return got;
                        f->text_at = 0;
                        f->text_n = (size_t)got;
                        f->text_over = got == 0;
                }
                if (text_log_is_idle(f->text)) {
                        f->text_over = f->text_stopped = true;
                        f->text_at = f->text_n;
                }
                f->text_at += text_log_parse(f->text, f->piece + f->text_at, f->text_n - f->text_at);
                if (f->text_over)
                        text_log_end(f->text);
        }
        if (n == 0)
                report_text_damage(f);
        return (ssize_t)n;
}

/* ------------------------------------------------------------------- recording */

static size_t read_recording(struct log_file *f, void *buffer, size_t size)
{
        const size_t n = cutout_read(f->cutout, buffer, size);
        const struct cutout_stats *stats = cutout_stats(f->cutout);

        if (n == 0 && (stats->missing || stats->lost_bytes)) {
                const size_t parts = stats->missing == 0
                                             ? 0
                                             : (size_t)snprintf(f->damage_text, sizeof(f->damage_text),
                                                                "%u part%s of the recording %s missing, "
                                                                "removed for its budget or damaged",
                                                                stats->missing, stats->missing == 1 ? "" : "s",
                                                                stats->missing == 1 ? "is" : "are");
                if (stats->lost_bytes)
                        (void)snprintf(f->damage_text + parts, sizeof(f->damage_text) - parts,
                                       "%s%llu bytes of the log were not written to the recording", parts ? "; " : "",
                                       (unsigned long long)stats->lost_bytes);
                f->damage = f->damage_text;
        }
        return n;
}

static int begin_pipe(struct log_file *f)
{
        struct pollfd p = { .fd = f->fd, .events = POLLIN };

        return poll(&p, 1, -1) < 0 ? -errno : begin_input(f); /* until somebody writes, or has written and closed it */
}

ssize_t log_file_read(struct log_file *f, void *buffer, size_t size)
{
        int r;

        if (f->order)
                return in_order_read(f->order, buffer, size, &f->place);
        if (f->unpacked)
                return read_fd(fileno(f->unpacked), buffer, size);
        if (f->cutout)
                return (ssize_t)read_recording(f, buffer, size);
        if (!f->begun && (r = begin_pipe(f)) < 0)
                return r;
        if (!f->looked && (r = detect_format(f)) < 0)
                return r;
        if (f->text)
                return read_text(f, buffer, size);
        if (f->text_at == f->text_n)
                return read_unpacked(f, buffer, size);
        size_t n = f->text_n - f->text_at < size ? f->text_n - f->text_at : size;
        memcpy(buffer, f->piece + f->text_at, n);
        f->text_at += n;
        return (ssize_t)n;
}

int log_file_put_in_order(struct log_file *f)
{
        int r = 0;

        if (f->cutout || !S_ISREG(f->stat.st_mode))
                return 0;
        if (f->unpack) {
                /* Unpacks all of it. 0 or -errno. */
                FILE *to = tmpfile();
                uint64_t bytes = 0;
                uint8_t buffer[BUFSIZ];
                ssize_t n = to ? 1 : -errno;

                while (n > 0 && (n = log_file_read(f, buffer, sizeof(buffer))) > 0) {
                        bytes += (uint64_t)n;
                        if (bytes > LIMIT_UNPACKED_BYTES)
                                n = -EFBIG;
                        else if (fwrite(buffer, 1, (size_t)n, to) != (size_t)n)
                                n = -errno;
                }
                if (n == 0 && (fflush(to) != 0 || lseek(fileno(to), 0, SEEK_SET) < 0))
                        n = -errno;
                if (n == 0)
                        f->unpacked = to;
                else if (to)
                        (void)fclose(to);
                r = (int)n;
        }
        if (r == 0)
                f->order = in_order_open(f->unpacked ? fileno(f->unpacked) : f->fd);
        return r;
}

const struct in_order_place *log_file_place(const struct log_file *f)
{
        return f->order ? &f->place : NULL;
}

bool log_file_skip(struct log_file *f, uint64_t n)
{
        static uint8_t waste[INPUT_BYTES];
        bool plain = !f->unpack && f->looked && !f->text;
        uint64_t here = plain ? f->n - f->at : 0;

        if (plain && n > here && S_ISREG(f->stat.st_mode) && n - here <= INT64_MAX) {
                f->at = f->n;
                return lseek(f->fd, (off_t)(n - here), SEEK_CUR) >= 0;
        }
        while (n > 0) {
                ssize_t got = log_file_read(f, waste, n < sizeof(waste) ? (size_t)n : sizeof(waste));
                if (got <= 0)
                        return false;
                n -= (uint64_t)got;
        }
        return true;
}

const char *log_file_damage(const struct log_file *f)
{
        return f->damage;
}

const struct run_end *log_file_judged(const struct log_file *f)
{
        return &f->judged;
}

bool log_file_is_cut(const struct log_file *f)
{
        return f->broken || f->text_stopped;
}

bool log_file_is_packed(struct log_file *f)
{
        if (!f->begun && !f->cutout && begin_pipe(f) < 0)
                return false; /* reading says why */
        return f->unpack || f->cutout || f->text || text_kind_of(f->input, f->looked ? 0 : f->n);
}

int log_file_fd(const struct log_file *f)
{
        return f->fd;
}

const struct stat *log_file_stat(const struct log_file *f)
{
        return &f->stat;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/record/run_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/record/limits.h"
#include "proto/base/error.h"
#include "proto/base/whole_file.h"
#include "proto/eventlog/recording/run_dir.h"

#define NAME_STEP_NS UINT64_C(1000000) /* of names */

/* A file of frames; anything after `size` bytes is not a whole frame. */
struct appended {
        int fd; /* -1: not open */
        uint64_t size;
};

/* Definitions not written yet. */
struct pending {
        struct pending *next;
        struct frame_head head;
        uint8_t blocks[];
};

struct run_writer {
        char directory[RECORDED_PATH_MAX];
        char target[RUN_TARGET_MAX + 1];
        char path[RECORDED_PATH_MAX]; /* "" until it is created */
        uint64_t wall_ns;
        uint8_t *header; /* NULL: no longer needed */
        size_t header_size;
        bool has_header; /* it is written */
        struct appended definitions, segment;
        uint32_t number; /* of the segment */
        struct pending *pending, **pending_end;
        size_t pending_bytes;
        uint64_t lost_bytes; /* since the last frame written */
        uint32_t lost_frames;
};

/* ------------------------------------------------------------------- files */

/* Appends all or nothing. */
static bool append_all(struct appended *f, const uint8_t *bytes, size_t size, struct error *error)
{
        for (size_t done = 0; done < size;) {
                ssize_t n = pwrite(f->fd, bytes + done, size - done, (off_t)(f->size + done));
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        int cause = n < 0 ? errno : ENOSPC;
                        if (ftruncate(f->fd, (off_t)f->size) != 0)
                                return error_set(error, "%s, and then %s", strerror(cause), strerror(errno));
                        return error_set(error, "%s", strerror(cause));
                }
                done += (size_t)n;
        }
        f->size += size;
        return true;
}

static void close_file(struct appended *f)
{
        if (f->fd >= 0)
                close(f->fd);
        *f = (struct appended){ .fd = -1 };
}

static bool open_new(struct appended *f, const char *directory, const char *name, struct error *error)
{
        char path[RECORDED_PATH_MAX];
        int n = snprintf(path, sizeof(path), "%s/%s", directory, name);

        if (n < 0 || n >= (int)sizeof(path))
                return error_set(error, "the path is too long");
        f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        f->size = 0;
        return f->fd >= 0 || error_set(error, "%s: %s", name, strerror(errno));
}

/*
 * The time by which the next run in a target's directory is named. Names tell which run is the newest, so it is after
 * all of them, also where the clock has been set back.
 */
static uint64_t next_run_name(const char *path, uint64_t wall_ns)
{
        DIR *dir = opendir(path);
        struct dirent *entry;
        uint64_t other_ns;

        while (dir && (entry = readdir(dir)))
                if (run_name_read(entry->d_name, &other_ns) && wall_ns < other_ns + NAME_STEP_NS)
                        wall_ns = other_ns + NAME_STEP_NS;
        if (dir)
                closedir(dir);
        return wall_ns;
}

/* Creates DIRECTORY/TARGET/RUN. */
static bool make_run_directory(struct run_writer *w, struct error *error)
{
        char path[RECORDED_PATH_MAX], name[RUN_NAME_MAX + 1];
        int n = snprintf(path, sizeof(path), "%s/%s", w->directory, w->target);

        if (n < 0 || n + 2 + (int)RUN_NAME_MAX >= (int)sizeof(path))
                return error_set(error, "the path is too long");
        const int r = whole_file_directories(path);
        if (r != 0)
                return error_set(error, "%s: %s", w->directory, strerror(-r));
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
                return error_set(error, "%s: %s", path, strerror(errno));
        w->wall_ns = next_run_name(path, w->wall_ns);
        run_name_make(name, w->wall_ns);
        path[n] = '/';
        memcpy(path + n + 1, name, strlen(name) + 1);
        if (mkdir(path, 0700) != 0)
                return error_set(error, "%s: %s", path, strerror(errno));
        memcpy(w->path, path, sizeof(path));
        return true;
}

/* ------------------------------------------------------------- definitions */

static bool write_frame(struct appended *f, struct frame_packer *packer, const struct frame_head *head,
                        const uint8_t *blocks, struct error *error)
{
        size_t size;
        const uint8_t *bytes = frame_pack(packer, head, blocks, &size);

        return bytes ? append_all(f, bytes, size, error) : error_set(error, "out of memory");
}

static bool copy_all(struct appended *to, const struct appended *from, struct error *error)
{
        uint8_t piece[16384];
        ssize_t n = 1;

        while (to->size < from->size && (n = pread(from->fd, piece, sizeof(piece), (off_t)to->size)) > 0)
                if (!append_all(to, piece, (size_t)n, error))
                        return false;
        return n > 0 || error_set(error, "%s", strerror(errno));
}

/* The run's directory was removed: makes it again, with its definitions, which blocks to come refer to. */
static bool restore_directory(struct run_writer *w, struct error *error)
{
        struct appended again = { .fd = -1 };
        struct stat st;

        if (w->definitions.fd < 0 || fstat(w->definitions.fd, &st) != 0 || st.st_nlink > 0)
                return true;
        if (!make_run_directory(w, error) || !open_new(&again, w->path, RUN_DEFINITIONS, error))
                return false;
        if (!copy_all(&again, &w->definitions, error)) {
                close_file(&again);
                return false;
        }
        close_file(&w->segment);
        close_file(&w->definitions);
        w->definitions = again;
        (void)flock(again.fd, LOCK_EX | LOCK_NB);
        return true;
}

/* Makes directory, lock and header, as far as they are missing. */
static bool begin_file(struct run_writer *w, struct frame_packer *packer, struct error *error)
{
        if (!restore_directory(w, error))
                return false;
        if (!w->path[0] && !make_run_directory(w, error))
                return false;
        if (w->definitions.fd < 0) {
                if (!open_new(&w->definitions, w->path, RUN_DEFINITIONS, error))
                        return false;
                (void)flock(w->definitions.fd, LOCK_EX | LOCK_NB); /* cannot fail: nobody else knows the name yet */
        }
        if (!w->has_header) {
                struct frame_head head = { .raw = (uint32_t)w->header_size, .wall_ns = w->wall_ns };
                if (!write_frame(&w->definitions, packer, &head, w->header, error))
                        return false;
                w->has_header = true;
        }
        free(w->header);
        w->header = NULL;
        return true;
}

static bool write_pending(struct run_writer *w, struct frame_packer *packer, struct error *error)
{
        while (w->pending) {
                struct pending *p = w->pending;
                if (!write_frame(&w->definitions, packer, &p->head, p->blocks, error))
                        return false;
                w->pending = p->next;
                if (!w->pending)
                        w->pending_end = &w->pending;
                w->pending_bytes -= p->head.raw;
                free(p);
        }
        return true;
}

static void lose_blocks(struct run_writer *w, const struct frame_head *head)
{
        w->lost_bytes += head->lost_bytes + head->raw;
        w->lost_frames += head->lost_frames + 1;
}

static void keep_blocks(struct run_writer *w, const struct frame_head *head, const uint8_t *blocks)
{
        struct pending *p = w->pending_bytes + head->raw > PENDING_BYTES ? NULL : malloc(sizeof(*p) + head->raw);

        if (!p) {
                lose_blocks(w, head);
                return;
        }
        p->next = NULL;
        p->head = *head;
        memcpy(p->blocks, blocks, head->raw);
        *w->pending_end = p;
        w->pending_end = &p->next;
        w->pending_bytes += head->raw;
}

size_t run_writer_pending_bytes(const struct run_writer *w)
{
        return w->pending_bytes;
}

void run_writer_skip(struct run_writer *w, const struct frame_head *head, const uint8_t *blocks, bool definitions)
{
        if (definitions)
                keep_blocks(w, head, blocks);
        else
                lose_blocks(w, head);
}

bool run_writer_definitions(struct run_writer *w, struct frame_packer *packer, const struct frame_head *head,
                            const uint8_t *blocks, struct error *error)
{
        bool good = begin_file(w, packer, error) && write_pending(w, packer, error) &&
                    write_frame(&w->definitions, packer, head, blocks, error);

        if (!good)
                keep_blocks(w, head, blocks);
        return good;
}

/* ---------------------------------------------------------------- segments */

static bool need_segment(struct run_writer *w, uint32_t number, struct error *error)
{
        char name[SEGMENT_NAME_BYTES];

        if (w->segment.fd >= 0 && w->number == number)
                return true;
        close_file(&w->segment);
        segment_name_make(name, number);
        w->number = number;
        return open_new(&w->segment, w->path, name, error);
}

bool run_writer_blocks(struct run_writer *w, struct frame_packer *packer, uint32_t segment,
                       const struct frame_head *head, const uint8_t *blocks, struct error *error)
{
        struct frame_head h = *head;

        h.lost_bytes += w->lost_bytes;
        h.lost_frames += w->lost_frames;
        if (begin_file(w, packer, error) && write_pending(w, packer, error) && need_segment(w, segment, error) &&
            write_frame(&w->segment, packer, &h, blocks, error)) {
                w->lost_bytes = 0;
                w->lost_frames = 0;
                return true;
        }
        lose_blocks(w, head);
        return false;
}

/* ------------------------------------------------------------------ going on */

/* The recorded run named by the writer's time. False: there is none, or somebody is writing it. */
static bool find_recorded(const struct run_writer *w, struct recorded_run *ret)
{
        char name[RUN_NAME_MAX + 1], which[RUN_TARGET_MAX + RUN_NAME_MAX + 2];
        struct error error;

        run_name_make(name, w->wall_ns);
        (void)snprintf(which, sizeof(which), "%s@%s", w->target, name);
        return recorded_run_find(w->directory, which, ret, &error) == 0 && !strcmp(ret->name, name) && !ret->live;
}

static bool is_header(const struct run_writer *w, struct frame_file *f, struct frame_unpacker *unpacker)
{
        const uint8_t *header =
                frame_file_next(f) && f->head.raw == w->header_size ? frame_file_blocks(f, unpacker) : NULL;

        return header && !memcmp(header, w->header, w->header_size);
}

/* Walks over the definitions; ret_size: of their whole frames on disk. False: they are of another header. */
static bool read_definitions(const struct run_writer *w, int fd, struct recorded_end *end, uint64_t *ret_size)
{
        struct frame_unpacker *unpacker = frame_unpacker_new();
        struct frame_file f = { .fd = -1 };
        const int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        bool same = unpacker && again >= 0 && frame_file_adopt(&f, again) == 0 && is_header(w, &f, unpacker);

        frame_unpacker_destroy(&unpacker);
        if (same)
                *ret_size = f.at;
        while (same && frame_file_next(&f)) {
                *ret_size = f.at;
                end->definition_bytes += f.head.raw;
                if (f.head.ordinal > end->ordinal)
                        end->ordinal = f.head.ordinal;
        }
        frame_file_close(&f);
        return same;
}

/* Opens them. False: somebody else has them, or they are of another header. */
static bool open_definitions(struct run_writer *w, struct recorded_end *end)
{
        struct appended *f = &w->definitions;
        char path[RECORDED_PATH_MAX + sizeof(RUN_DEFINITIONS) + 1];

        (void)snprintf(path, sizeof(path), "%s/" RUN_DEFINITIONS, w->path);
        f->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        return f->fd >= 0 && flock(f->fd, LOCK_EX | LOCK_NB) == 0 && read_definitions(w, f->fd, end, &f->size) &&
               ftruncate(f->fd, (off_t)f->size) == 0;
}

bool run_writer_resume(struct run_writer *w, struct recorded_end *ret_end)
{
        struct recorded_run run;

        if (w->path[0] || !find_recorded(w, &run) || recorded_run_path(w->path, w->directory, &run) != 0) {
                w->path[0] = '\0';
                return false;
        }
        *ret_end = (struct recorded_end){ .ordinal = run.last_frame, .segment = run.last, .offset = run.end_offset };
        if (!open_definitions(w, ret_end)) {
                run_writer_start_anew(w);
                return false;
        }
        w->has_header = true;
        /* The run that had ended goes on. */
        char path[RECORDED_PATH_MAX + sizeof(RUN_END) + 1];
        (void)snprintf(path, sizeof(path), "%s/" RUN_END, w->path);
        (void)unlink(path);
        return true;
}

void run_writer_start_anew(struct run_writer *w)
{
        close_file(&w->definitions);
        w->path[0] = '\0';
        w->has_header = false;
}

/* ------------------------------------------------------------------- whole */

uint64_t run_writer_begin_ns(const struct run_writer *w)
{
        return w->wall_ns;
}

struct run_writer *run_writer_new(const char *directory, const char *target, uint64_t wall_ns, uint8_t *header,
                                  size_t header_size)
{
        struct run_writer *w = calloc(1, sizeof(*w));

        if (!w) {
                free(header);
                return NULL;
        }
        snprintf(w->directory, sizeof(w->directory), "%s", directory);
        snprintf(w->target, sizeof(w->target), "%s", target);
        w->wall_ns = wall_ns;
        w->header = header;
        w->header_size = header_size;
        w->definitions.fd = w->segment.fd = -1;
        w->pending_end = &w->pending;
        return w;
}

void run_writer_destroy(struct run_writer **wp)
{
        struct run_writer *w = *wp;

        *wp = NULL;
        if (!w)
                return;
        while (w->pending) {
                struct pending *p = w->pending;
                w->pending = p->next;
                free(p);
        }
        close_file(&w->segment);
        close_file(&w->definitions);
        free(w->header);
        free(w);
}

/* ---------------------------------------------------------------- whether the disk can be written */

static int write_probe(int fd)
{
        static const uint8_t zeros[4096];

        for (size_t done = 0; done < PROBE_BYTES;) {
                ssize_t n = write(fd, zeros, sizeof(zeros));
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? errno : ENOSPC;
                done += (size_t)n;
        }
        return 0;
}

bool probe_write(const char *directory, struct error *error)
{
        char path[RECORDED_PATH_MAX];
        int n = snprintf(path, sizeof(path), "%s/.probe", directory);

        if (n < 0 || n >= (int)sizeof(path))
                return error_set(error, "the path is too long");
        (void)mkdir(directory, 0700); /* somebody may have removed it */
        (void)unlink(path);           /* of a daemon that was killed */
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return error_set(error, "%s", strerror(errno));
        const int cause = write_probe(fd);
        (void)close(fd);
        (void)unlink(path);
        return cause == 0 || error_set(error, "%s", strerror(cause));
}

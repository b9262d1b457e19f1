/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/record/run_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/record/limits.h"
#include "proto/recording/run_dir.h"

#define NAME_TRIES 1000u /* runs of one target that begin within a second */

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
        uint8_t *header; /* NULL once written */
        size_t header_size;
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
        f->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        f->size = 0;
        return f->fd >= 0 || error_set(error, "%s: %s", name, strerror(errno));
}

static bool make_directory(const char *path, struct error *error)
{
        return mkdir(path, 0700) == 0 || errno == EEXIST || error_set(error, "%s: %s", path, strerror(errno));
}

/* Creates DIRECTORY/TARGET/RUN with the first free name. */
static bool make_run_directory(struct run_writer *w, struct error *error)
{
        char path[RECORDED_PATH_MAX], name[RUN_NAME_MAX + 1];
        int n = snprintf(path, sizeof(path), "%s/%s", w->directory, w->target);

        if (n < 0 || n + 2 + (int)RUN_NAME_MAX >= (int)sizeof(path))
                return error_set(error, "the path is too long");
        if (!make_directory(w->directory, error) || !make_directory(path, error))
                return false;
        for (unsigned i = 0; i < NAME_TRIES; i++) {
                run_name_make(name, w->wall_ns + i * UINT64_C(1000000));
                path[n] = '/';
                memcpy(path + n + 1, name, strlen(name) + 1);
                if (mkdir(path, 0700) == 0) {
                        memcpy(w->path, path, sizeof(path));
                        return true;
                }
                if (errno != EEXIST)
                        break;
        }
        return error_set(error, "%s: %s", path, strerror(errno));
}

/* ------------------------------------------------------------- definitions */

static bool write_frame(struct appended *f, struct frame_packer *packer, const struct frame_head *head,
                        const uint8_t *blocks, struct error *error)
{
        size_t size;
        const uint8_t *bytes = frame_pack(packer, head, blocks, &size);

        return bytes ? append_all(f, bytes, size, error) : error_set(error, "out of memory");
}

/* Makes directory, lock and header, as far as they are missing. */
static bool begin(struct run_writer *w, struct frame_packer *packer, struct error *error)
{
        if (!w->path[0] && !make_run_directory(w, error))
                return false;
        if (w->definitions.fd < 0) {
                if (!open_new(&w->definitions, w->path, RUN_DEFINITIONS, error))
                        return false;
                (void)flock(w->definitions.fd, LOCK_EX | LOCK_NB); /* cannot fail: nobody else knows the name yet */
        }
        if (w->header) {
                struct frame_head head = { .raw = (uint32_t)w->header_size, .wall_ns = w->wall_ns };
                if (!write_frame(&w->definitions, packer, &head, w->header, error))
                        return false;
                free(w->header);
                w->header = NULL;
        }
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

static void lose(struct run_writer *w, const struct frame_head *head)
{
        w->lost_bytes += head->lost_bytes + head->raw;
        w->lost_frames += head->lost_frames + 1;
}

static void keep(struct run_writer *w, const struct frame_head *head, const uint8_t *blocks)
{
        struct pending *p = w->pending_bytes + head->raw > PENDING_BYTES ? NULL : malloc(sizeof(*p) + head->raw);

        if (!p) {
                lose(w, head);
                return;
        }
        p->next = NULL;
        p->head = *head;
        memcpy(p->blocks, blocks, head->raw);
        *w->pending_end = p;
        w->pending_end = &p->next;
        w->pending_bytes += head->raw;
}

void run_writer_skip(struct run_writer *w, const struct frame_head *head, const uint8_t *blocks, bool definitions)
{
        if (definitions)
                keep(w, head, blocks);
        else
                lose(w, head);
}

bool run_writer_definitions(struct run_writer *w, struct frame_packer *packer, const struct frame_head *head,
                            const uint8_t *blocks, struct error *error)
{
        bool good = begin(w, packer, error) && write_pending(w, packer, error) &&
                    write_frame(&w->definitions, packer, head, blocks, error);

        if (!good)
                keep(w, head, blocks);
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
        if (begin(w, packer, error) && write_pending(w, packer, error) && need_segment(w, segment, error) &&
            write_frame(&w->segment, packer, &h, blocks, error)) {
                w->lost_bytes = 0;
                w->lost_frames = 0;
                return true;
        }
        lose(w, head);
        return false;
}

/* ------------------------------------------------------------------- whole */

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

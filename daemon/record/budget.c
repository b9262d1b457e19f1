/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: all files in one list, by age; then, from the oldest, each file that some exceeded limit applies to is
 * removed. That the disk is full is no such limit: others may have filled it, and what they fill would cost all
 * recordings and still not be enough.
 */
#include "daemon/record/recorder.h"
#include "proto/base/array.h"

#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/base/ckd.h"
#include "proto/base/time.h"
#include "proto/eventlog/recording/run_dir.h"

enum { LEVEL_TARGET = 1, LEVEL_RUN, LEVEL_FILE };

struct file {
        char *path;
        uint64_t written_ns; /* Unix time */
        uint64_t bytes;
        size_t target; /* index in the survey */
        size_t run;
        uint32_t segment; /* 0: definitions, or another file that stays as long as its run */
        bool is_profile;  /* which may go before */
};

struct run {
        char *path;
        uint32_t newest;   /* segment */
        uint32_t segments; /* remaining */
        uint32_t pinned;   /* from this one on; 0: none is */
        bool live;
};

struct survey {
        struct file *files;
        struct run *runs;
        uint64_t *targets; /* bytes of each */
        size_t n_files, n_runs, n_targets;
        uint64_t total;
        bool out_of_memory;
};

/* ----------------------------------------------------------------- looking */

/* False: it is no pin. */
static bool see_pin(struct survey *s, const FTSENT *e)
{
        const uint32_t from = pin_name_read(e->fts_name);
        struct run *run = &s->runs[s->n_runs - 1];

        if (from == 0)
                return false;
        if (!pin_is_held(e->fts_path))
                (void)unlink(e->fts_path);
        else if (run->pinned == 0 || from < run->pinned)
                run->pinned = from;
        return true;
}

static void see_file(struct survey *s, const FTSENT *e)
{
        if (see_pin(s, e))
                return;
        uint32_t segment = segment_name_read(e->fts_name);
        const bool is_profile = profile_name_is(e->fts_name);
        char *own = segment || is_profile || !strcmp(e->fts_name, RUN_DEFINITIONS) || run_end_is(e->fts_name)
                            ? strdup(e->fts_path)
                            : NULL;

        if (!own)
                return;
        s->out_of_memory |= !ARRAY_RESERVE_NEXT(s->files, s->n_files);
        if (s->out_of_memory) {
                free(own);
                return;
        }
        struct run *run = &s->runs[s->n_runs - 1];
        s->files[s->n_files++] = (struct file){
                .path = own,
                .written_ns =
                        (uint64_t)e->fts_statp->st_mtim.tv_sec * NS_PER_S + (uint64_t)e->fts_statp->st_mtim.tv_nsec,
                .bytes = (uint64_t)e->fts_statp->st_size,
                .target = s->n_targets - 1,
                .run = s->n_runs - 1,
                .segment = segment,
                .is_profile = is_profile,
        };
        s->total += (uint64_t)e->fts_statp->st_size;
        s->targets[s->n_targets - 1] += (uint64_t)e->fts_statp->st_size;
        run->segments += segment ? 1 : 0;
        if (segment > run->newest)
                run->newest = segment;
}

static int survey_directory(struct survey *s, const char *directory)
{
        char *paths[] = { (char *)directory, NULL };
        FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
        uint64_t ignored;
        FTSENT *e;

        if (!walk)
                return -errno;
        while (!s->out_of_memory && (e = fts_read(walk))) {
                if (e->fts_info == FTS_D && e->fts_level == LEVEL_TARGET) {
                        s->out_of_memory |= !ARRAY_RESERVE_NEXT(s->targets, s->n_targets);
                        if (!s->out_of_memory)
                                s->targets[s->n_targets++] = 0;
                } else if (e->fts_info == FTS_D && e->fts_level == LEVEL_RUN && run_name_read(e->fts_name, &ignored)) {
                        char *own = strdup(e->fts_path);
                        s->out_of_memory |= !own || !ARRAY_RESERVE_NEXT(s->runs, s->n_runs);
                        if (s->out_of_memory)
                                free(own);
                        else
                                s->runs[s->n_runs++] =
                                        (struct run){ .path = own, .live = recorded_run_is_live(e->fts_path) };
                } else if (e->fts_info == FTS_D && e->fts_level > 0) {
                        fts_set(walk, e, FTS_SKIP);
                } else if (e->fts_info == FTS_F && e->fts_level == LEVEL_FILE) {
                        see_file(s, e);
                }
        }
        fts_close(walk);
        return s->out_of_memory ? -ENOMEM : 0;
}

static int by_age(const void *a, const void *b)
{
        const struct file *x = a, *y = b;

        return (x->written_ns > y->written_ns) - (x->written_ns < y->written_ns);
}

/* ---------------------------------------------------------------- removing */

static bool must_go(const struct survey *s, const struct file *f, const struct budget *b, uint64_t wall_ns)
{
        return (b->total_bytes && s->total > b->total_bytes) ||
               (b->target_bytes && s->targets[f->target] > b->target_bytes) ||
               (b->age_ns && sub_sat(wall_ns, f->written_ns) > b->age_ns);
}

static void remove_file(struct survey *s, const struct file *f)
{
        if (unlink(f->path) != 0)
                return;
        s->total -= f->bytes;
        s->targets[f->target] -= f->bytes;
        s->runs[f->run].segments -= f->segment ? 1 : 0;
}

/* Removes the rest of a run that is over and has no segment left. */
static void remove_empty_run(struct survey *s, size_t run)
{
        char *slash;

        for (size_t i = 0; i < s->n_files; i++)
                if (s->files[i].run == run && s->files[i].segment == 0)
                        remove_file(s, &s->files[i]);
        if (rmdir(s->runs[run].path) != 0 || !(slash = strrchr(s->runs[run].path, '/')))
                return;
        *slash = '\0';
        (void)rmdir(s->runs[run].path); /* the target's; fails while other runs are in it */
}

int budget_enforce(const char *directory, const struct budget *budget, uint64_t wall_ns, struct budget_use *ret_use)
{
        struct survey s = { .files = NULL };
        int r = survey_directory(&s, directory);

        *ret_use = (struct budget_use){ .bytes = s.total };
        ARRAY_SORT(s.files, s.n_files, by_age);
        for (size_t i = 0; i < s.n_files; i++) {
                const struct file *f = &s.files[i];
                struct run *run = &s.runs[f->run];
                if ((f->segment == 0 && !f->is_profile) || (run->live && f->segment == run->newest) ||
                    (run->pinned && f->segment >= run->pinned) || !must_go(&s, f, budget, wall_ns))
                        continue;
                remove_file(&s, f);
                ret_use->removed++;
                if (run->segments == 0 && !run->live)
                        remove_empty_run(&s, f->run);
        }
        ret_use->bytes = s.total;
        /* Whether this user has less than free_bytes left; false when not known. */
        struct statvfs v;

        ret_use->no_room = budget->free_bytes && statvfs(directory, &v) == 0 &&
                           (uint64_t)v.f_bavail * v.f_frsize < budget->free_bytes;
        for (size_t i = 0; i < s.n_files; i++)
                free(s.files[i].path);
        for (size_t i = 0; i < s.n_runs; i++)
                free(s.runs[i].path);
        free(s.files);
        free(s.runs);
        free(s.targets);
        return r;
}

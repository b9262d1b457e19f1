/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/target/rebuild.h"

#include <stdlib.h>

#include "daemon/target/pipeline_checkpoint.h"
#include "daemon/target/pipeline_internal.h"
#include "proto/base/clock.h"
#include "proto/recording/cutout.h"

#define PIECE_BYTES (64u << 10)

/* The first of the newest streams that are within the limit. */
static int first_of(const struct recorded_run *runs, int n)
{
        uint64_t bytes = 0;

        while (n > 0 && runs[n - 1].bytes <= REBUILD_RECORDED_BYTES - bytes)
                bytes += runs[--n].bytes;
        return n;
}

static bool read_again(struct pipeline *p, struct cutout *c, uint64_t until_ns, struct error *error)
{
        uint8_t *piece = malloc(PIECE_BYTES);
        bool good = piece || error_set(error, "out of memory");
        uint32_t gaps = 0;
        size_t n;

        while (good && (n = cutout_read(c, piece, PIECE_BYTES)) > 0) {
                if (cutout_stats(c)->gaps != gaps)
                        pipeline_interrupt(p, "the recording has a gap here");
                gaps = cutout_stats(c)->gaps;
                bool all = pipeline_decode(p, piece, n);
                while (!all)
                        all = pipeline_go_on(p);
                if (clock_mono_ns() > until_ns)
                        good = error_set(error, "only in the first %u s of the daemon is there time to read it",
                                         REBUILD_S);
        }
        free(piece);
        return good;
}

/* One stream, which continues the run before it or begins another. */
static bool take_stream(struct pipeline *p, const char *directory, const struct recorded_run *run, uint64_t until_ns,
                        struct error *error)
{
        struct cutout *c = cutout_open(directory, run, CUTOUT_ALL, error);
        bool good = c && read_again(p, c, until_ns, error);

        cutout_close(&c);
        if (!good)
                return false;
        if (p->in_run)
                pipeline_lose_run(p, "the daemon was started again");
        if (p->same_run) { /* too short to show whose it is, it adds nothing */
                same_run_destroy(&p->same_run);
                p->same_run = same_run_new(p->model);
        }
        p->last_bytes_wall_ns = run->end_wall_ns ? run->end_wall_ns : UNKNOWN_U64;
        return true;
}

/* ret_newest_ns: by which the newest recording is named. */
static bool take_streams(struct pipeline *p, const char *directory, uint64_t until_ns, uint64_t *ret_newest_ns,
                         struct error *error)
{
        struct recorded_run *runs = NULL;
        int n = recorded_runs(directory, p->name, &runs, error);
        bool good = n > 0 || (n == 0 && error_set(error, "there is none"));

        for (int i = good ? first_of(runs, n) : n; good && i < n; i++)
                good = take_stream(p, directory, &runs[i], until_ns, error);
        *ret_newest_ns = good ? runs[n - 1].begin_wall_ns : 0;
        free(runs);
        return good && (p->runs > 0 || error_set(error, "nothing of it can be read"));
}

bool pipeline_rebuild(struct pipeline *p, const char *directory, uint64_t until_ns, struct error *error)
{
        struct recording *recording = p->recording;
        void (*next_run)(void *ctx, struct pipeline *p) = p->next_run;
        uint64_t newest_ns = 0;

        if (p->uri.kind == SOURCE_FILE)
                return error_set(error, "its file is read again instead");
        p->recording = NULL; /* it is not recorded once more */
        p->next_run = NULL;  /* only the newest run is of interest */
        bool good = take_streams(p, directory, until_ns, &newest_ns, error);
        if (recording && good)
                recording_recall(recording, newest_ns);
        p->recording = recording;
        p->next_run = next_run;
        p->was_open = good;
        return good;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/targets/rebuild.h"

#include <stdlib.h>

#include "daemon/log.h"
#include "proto/eventlog/recording/stretch.h"

bool recorded_streams_find(struct recorded_streams *s, const char *directory, const char *target, uint64_t most_bytes,
                           struct error *error)
{
        *s = (struct recorded_streams){ .directory = directory, .most_bytes = most_bytes };
        s->n = recorded_runs(directory, target, &s->runs, error);
        if (s->n <= 0)
                return s->n == 0 && error_set(error, "there is none");
        /* The first of the newest streams that are within the limit; of one that is larger, there is a part. */
        uint64_t bytes = 0;
        int n = s->n;
        while (n > 0 && s->runs[n - 1].bytes <= s->most_bytes - bytes)
                bytes += s->runs[--n].bytes;
        s->at = n < s->n ? n : n - 1;
        return true;
}

bool recorded_streams_more(const struct recorded_streams *s)
{
        return s->at < s->n;
}

/* About as much of its end as is within the limit. */
static struct cutout_range newest_of(const struct recorded_run *run, uint64_t most_bytes)
{
        const double share = (double)most_bytes / (double)run->bytes;

        if (share >= 1)
                return CUTOUT_ALL;
        return (struct cutout_range){ run->end_ns - (uint64_t)((double)(run->end_ns - run->begin_ns) * share),
                                      UINT64_MAX };
}

static bool open_current(struct recorded_streams *s)
{
        const struct recorded_run *run = &s->runs[s->at];
        struct error error;

        s->gaps = 0;
        s->current = cutout_open(s->directory, run, newest_of(run, s->most_bytes), &error);
        if (!s->current)
                log_warning("target=%s is rebuilt without a part: %s", run->target, error.text);
        return s->current;
}

size_t recorded_streams_read(struct recorded_streams *s, uint8_t *bytes, size_t size, bool *ret_gap)
{
        const size_t n = s->current || open_current(s) ? cutout_read(s->current, bytes, size) : 0;
        const uint32_t gaps = n > 0 ? cutout_stats(s->current)->gaps : s->gaps;

        *ret_gap = gaps != s->gaps;
        s->gaps = gaps;
        return n;
}

const struct recorded_run *recorded_streams_next(struct recorded_streams *s)
{
        cutout_close(&s->current);
        return &s->runs[s->at++];
}

const struct recorded_run *recorded_streams_newest(const struct recorded_streams *s)
{
        return &s->runs[s->n - 1];
}

void recorded_streams_done(struct recorded_streams *s)
{
        cutout_close(&s->current);
        free(s->runs);
        s->runs = NULL;
}

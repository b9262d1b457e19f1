/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_findings.h - the alerts that fired in finished logs, collected from alert
 * messages: each once, with its evidence from when it began to fire.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/severity.h"
#include "heapwatch/wire.h"

struct finding {
        size_t target; /* index into findings.targets */
        uint32_t run;
        enum severity severity;
        bool is_part;              /* of another alert of the target: counted with it */
        char *rule, *group, *band; /* band NULL: of the whole target */
        char *band_source;         /* where in the program's source; NULL: unknown */
        uint32_t band_id;          /* 0: of the whole target */
        uint64_t fired_ns;         /* event time; UINT64_MAX: unknown */
        uint64_t fired_wall_ns;    /* Unix time; UINT64_MAX: unknown */
        uint64_t resolved_ns;      /* event time; UINT64_MAX: it still fired at the end */
        char *sentence;
        char **evidence; /* "where: ...", one per annotation but the summary */
        size_t n_evidence;
};

/* What of a log was left out of what was judged. */
struct unjudged {
        uint64_t lost_bytes, places; /* that are damaged */
        bool of_several;             /* processes, whose events are together in the log */
        char *not_completed;         /* how a run's log ends that has no end marker; NULL: each has one */
        char *unread;                /* why not all of it was read; NULL: it was */
};

struct findings {
        char **targets;            /* in order of appearance, which is that of the files */
        struct unjudged *unjudged; /* of each target */
        size_t n_targets;
        struct finding *items;
        size_t n;
        const char *refused; /* why not all of them are here; NULL: they are */
};

/* Takes one update; all but alerts and the health of the stream are ignored. */
void findings_add(struct findings *f, const Hw__Update *update);

/* After the last update: damage that no rule could report, for want of a moment to be judged, is a finding, too. */
void findings_add_unjudged(struct findings *f);
void findings_done(struct findings *f);

/* How many of a target are at least this severe. */
size_t findings_count(const struct findings *f, size_t target, enum severity least);

/* How many of a target are part of another one. */
size_t findings_parts(const struct findings *f, size_t target);

#define FINDING_TIMES_MAX 160u

/*
 * " at 2026-11-25T23:31:26Z (2m 05s into the run), for 30.0 s, run 2": what is known of when it fired; may be empty.
 * Returns `out`.
 */
char *finding_times(const struct finding *item, char out[FINDING_TIMES_MAX]);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h - the state of all targets, rebuilt from messages. Every client that
 * shows something draws from it. It does no input or output.
 *
 * A message of an older run than the target's current one is ignored. A new
 * run keeps the target and clears everything of the run before.
 * Memory is bounded: the past by what world_new is given, notes WORLD_NOTES.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/world/history/history.h"
#include "heapwatch/wire.h"
#include "proto/base/error.h"
#include "proto/base/json_out.h"
#include "proto/facts/facts.h"

#define WORLD_NOTES       512
#define WORLD_PAST_POINTS ((size_t)4 << 20) /* of all series of all targets */
#define WORLD_PAST_LEAST  256               /* of one series, even with many targets */
#define WORLD_WHOLE       16                /* targets: of more, that many have a whole past, see world_focus() */
#define WORLD_CELLS_LEAST 4096              /* the same for cells, of one target */
#define WORLD_TARGETS     10000             /* of all daemons; messages of further ones are counted as left out */
#define WORLD_DAEMONS     256               /* messages of further ones are ignored */
#define WORLD_NAME_MAX    64                /* bytes of a target's name; longer ones are ignored */

struct world_band {
        uint32_t id;
        bool seen;                        /* some census had a row of it */
        const Hw__Band *def;              /* label is always set */
        uint64_t bytes;                   /* in the newest census; 0 when it had no row */
        uint64_t closures;                /* likewise, where the census has them */
        const Hw__BandContents *contents; /* what most of it is, in the newest census; NULL: not known */
        uint64_t first_bytes;             /* in the first census that had it */
        uint64_t max_bytes;
        uint64_t census;        /* newest census with a row */
        const Hw__Trend *trend; /* NULL until it came */
};

/* A note as Hw__Note has it, in one block: a thousand targets have half a million. */
struct world_note {
        Hw__Note__What what;
        uint32_t capability, thread;
        uint64_t number, time_ns, size_bytes;
        bool has_time_ns, has_what, has_capability, has_thread, has_size_bytes, has_text;
        char text[]; /* "" without one */
};

/* The newest message of each kind, kept by reference; NULL until it came. */
struct world_target {
        char name[WORLD_NAME_MAX + 1];
        size_t daemon; /* index of its daemon in the feed */
        uint32_t run;
        uint64_t event_time_ns;     /* newest */
        uint64_t published_wall_ns; /* newest */
        const Hw__Target *target;
        const Hw__Heap *heap; /* without samples */
        const Hw__Gc *gc;     /* without collections */
        const Hw__Census *census;
        const Hw__Sched *sched;
        const Hw__Health *health;
        const struct history *history; /* of this run; NULL if none is kept */
        struct world_band **bands;     /* by id - 1; entries may be NULL */
        uint32_t n_bands;
        struct world_note **notes;        /* ring of WORLD_NOTES; NULL before the first; see world_note() */
        uint64_t notes_first, notes_last; /* numbers kept; 0 when none */
        uint64_t ticks;                   /* time profile */
        bool is_sampled;                  /* its ticks are samples of stacks, by ghc-stack-profiler */
        const Hw__Stack **stacks;         /* by id - 1 */
        uint32_t n_stacks;
        const Hw__TickyCounter **ticky; /* in order of first appearance */
        uint32_t n_ticky;
        const Hw__Trend *trends[SERIES_COUNT]; /* of series, by Hw__Series; NULL until it came. Of bands: world_band */
        const Hw__Trends *trend_state;         /* newest message without `trends`: growth, time to limit, scale */
        const Hw__Alerts *alerts;              /* outlives runs */
};

struct world_daemon {
        const Hw__DaemonState *state; /* NULL until it came */
        bool stale;                   /* silent for 3 s */
        uint64_t heard_wall_ns;       /* published_wall_ns of its newest message */
        uint64_t left_out;            /* messages of targets beyond WORLD_TARGETS */
};

struct world;

/*
 * `past`: what is kept of each target's past (NULL: nothing). Its `cells` are for all targets together and shared
 * evenly, like WORLD_PAST_POINTS. Of more than WORLD_WHOLE targets live data alone is kept, and of trends what answers
 * look at, but of those of world_focus(): with `brief` from the beginning, else from the first of these on. NULL when
 * out of memory.
 */
struct world *world_new(const struct history_options *past);
void world_destroy(struct world **w);

/*
 * Applies one update of daemon `daemon`, a message of the library (wire.h): what is kept of it is kept by reference.
 * Returns 0 or -ENOMEM. Pointers into the world are valid until the next call that changes it.
 */
int world_apply(struct world *world, size_t daemon, const Hw__Update *update);

/*
 * What a daemon remembers of a series or, with SERIES_NONE, of a band (0: the total of all), of the target's current
 * run. Takes over `points`. 0, also when there is no such target or run any more, or -ENOMEM.
 */
int world_recall(struct world *world, size_t daemon, const char *target, uint32_t run, Hw__Series series, uint32_t band,
                 struct past *points);

/*
 * From now on all of the past, notes and trends are kept of this target, and once WORLD_WHOLE others were named live
 * data again, of more than that many targets: for who can have the rest recalled. True: what was kept of this one until
 * now lacks the rest.
 */
bool world_focus(struct world *world, const struct world_target *t);

/* Forgets a daemon's targets (new epoch). */
void world_reset(struct world *world, size_t daemon);

/* The same, but what is forgotten goes on as a world of its own. NULL: out of memory, nothing is forgotten. */
struct world *world_detach(struct world *world, size_t daemon);
void world_set_stale(struct world *world, size_t daemon, bool stale);

/* Targets in order of name, then daemon: where this one is against another; below 0: before it. */
int world_target_order(const struct world_target *t, const char *name, size_t daemon);
size_t world_targets(const struct world *world);
bool world_has_run(const struct world *world); /* any of them: a file that is not a log has none */
const struct world_target *world_target(const struct world *world, size_t index);
struct history *world_remove_history(struct world *world, size_t index); /* from a target; for history_destroy() */
const struct world_target *world_find(const struct world *world, const char *name); /* first of that name, or NULL */
const struct world_target *world_find_of(const struct world *world, size_t daemon, const char *name); /* or NULL */
const struct world_daemon *world_daemon(const struct world *world, size_t daemon); /* NULL: no message yet */

/* Whether its program is read from outside: what the runtime's own log would tell is not known. */
bool world_from_outside(const struct world_target *t);

/*
 * The newest of a series in bytes where the daemon says more than its samples do: live data and the heap's size, of a
 * run that is over the program's last, not its shutdown's. False: of other series.
 */
bool world_newest(const struct world_target *t, Hw__Series series, double *ret);

/* What a band has in the newest census; NaN where that is an estimate from a sample, in which nothing of it was. */
double world_band_bytes(const struct world_target *t, const struct world_band *b);

/* Why its pauses are not known though its collections are; NULL: each collection is known. */
const char *world_untimed(const struct world_target *t);

/* Whether its program is known to have ended, in whichever way. */
bool run_has_ended(const Hw__Target *t);

/* Whether nothing comes of its run now: it has ended, its stream is lost, or its source is gone or cannot be read. */
bool run_is_over(const Hw__Target *t);

/*
 * Whether its last numbers are those at its end. `followed`: by a daemon; of a log they are, unless it is the recording
 * of a run that goes on.
 */
bool world_is_over(const struct world_target *t, bool followed);

/* Its process runs or is stopped. */
bool world_is_alive(const struct world_target *t);

/*
 * The newest moment of its run of which something is known, as event time: the now of every age that a face shows.
 * While its process is there, that of its daemon's newest message, by the daemon's clock, or the one up to which its
 * daemon has judged a rise, whose sentence has ages, too; else of its newest event, of its process, which is sampled
 * while no event comes, and of its end, where the program's parent has told it at once.
 */
uint64_t world_known_until_ns(const struct world_target *t);

/* ", 2.03 s ago": when live data was measured that is a part of RSS, which is divided less often; "": lately. */
#define WORLD_AGE_TEXT 48
char *world_parts_age(char ret[WORLD_AGE_TEXT], const struct world_target *t);

/* Its process, which runs on its daemon's machine. False with a sentence. */
bool world_process(const struct world_target *t, pid_t *ret, struct error *error);

/* Note by number, or NULL. */
const struct world_note *world_note(const struct world_target *t, uint64_t number);

/* The band of an id, which may be any; NULL: there is none. */
static inline struct world_band *world_band_of(const struct world_target *t, uint32_t id)
{
        return id > 0 && id <= t->n_bands ? t->bands[id - 1] : NULL;
}

/* Fills `order` with indices of bands by bytes in the newest census, largest first; returns how many (at most max). */
size_t world_top_bands(const struct world_target *t, const struct world_band **bands, size_t max);

/*
 * facts.c: the newest value of each number of proto/facts/facts.def, of a target. Nothing else in the client knows
 * where a number is. `place` in the table is FIELD(message, field) of struct world_target, INNER(message, message in
 * it, field), CALL(function) of facts.c, or CARRIED.
 */

/* The newest value, NAN: unknown. */
double facts_get(const struct world_target *t, enum fact id);

/* The same as an integer; `otherwise` when it is unknown. */
uint64_t facts_get_u64(const struct world_target *t, enum fact id, uint64_t otherwise);
bool facts_is_known(const struct world_target *t, enum fact id);

/* For people, in its unit; "–" when it is unknown. Returns `out`, of HW_NUMBER_MAX bytes. */
char *facts_text(char *out, const struct world_target *t, enum fact id);

/*
 * A member of a JSON object: the number as such under `key`; nothing when it is unknown.
 */
void facts_print(struct json_out *j, const char *key, const struct world_target *t, enum fact id);

/* The lowest known memory limit of a target, and what sets it; false when none is known. */
bool world_limit(const struct world_target *t, uint64_t *ret_bytes, Hw__TimeToLimit__Source *ret_source);

/* The limit of its heap alone: -M, or what is reserved for it where that is less; *ret_bytes 0: none is known. */
Hw__TimeToLimit__Source world_heap_limit(const struct world_target *t, uint64_t *ret_bytes);

/* The number that its limit counts, as far as it is known. */
enum fact world_limit_counts(const struct world_target *t);

/*
 * kept.c: what a part of the client keeps of each target, while the world's targets come and go: a list of entries
 * that can be brought in line with the world.
 */

/* An entry begins with this. */
struct kept_of {
        char name[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run; /* the owner's: of the run that it is about; 0 in a new entry */
};

struct kept {
        size_t size;               /* of an entry */
        void (*drop)(void *entry); /* frees what an entry has; NULL: nothing */
        void *entries;             /* in the world's order */
        size_t n;
};

/*
 * One entry for each target of the world, at its index: those of targets that are still there move, those of new ones
 * are zeroed but for name and daemon, the others are dropped. False: out of memory, and nothing has changed.
 */
bool kept_follow(struct kept *k, const struct world *w);

void *kept_entry(const struct kept *k, size_t index);

/* Drops all; it can be used again. */
void kept_clear(struct kept *k);

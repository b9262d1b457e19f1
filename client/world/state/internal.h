/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - what the files of this room share. Private to it. */
#pragma once

#include "client/world/state/world.h"
#include "proto/base/idtable.h"

/* Keeps a message by reference in place of what was in the slot; and forgets one. */
#define KEEP(slot, message)                                                                                            \
        do {                                                                                                           \
                const void *kept = hw_message_ref((message) ? &(message)->base : NULL);                                \
                FORGET(slot);                                                                                          \
                (slot) = kept;                                                                                         \
        } while (0)
#define FORGET(slot) (hw_message_unref((slot) ? &(slot)->base : NULL), (slot) = NULL)

/*
 * A target with what only the world needs. `t` is the part that others see. Some messages are shown without some of
 * their fields: then `t` points to the copy here, whose pointers belong to the message kept in `whole`.
 */
struct target_state {
        struct world_target t;
        Hw__Target target;
        Hw__Heap heap;
        Hw__Gc gc;
        struct {
                const Hw__Target *target;
                const Hw__Heap *heap;
                const Hw__Gc *gc;
        } whole;
        uint64_t trends_ns;      /* event time of t.trend_state */
        struct history *history; /* t.history */
        uint64_t focus;          /* number of its world_focus(); 0: none */
        uint32_t cap_bands, cap_stacks, cap_ticky;
        struct idtable ticky_ids; /* place + 1, by the counter's id */
};

/* Nobody looks at it, and what is not kept of it can be recalled. */
static inline bool target_is_brief(const struct target_state *ts)
{
        return ts->history && ts->history->options.brief && !ts->history->options.keeps_notes;
}

/* world_target.c: one target's life */
struct target_state *target_new(size_t daemon, const char *name, const struct history_options *past);
void target_destroy(struct target_state **ts);
int target_apply(struct target_state *ts, const Hw__Update *update);

/* world_bands.c: bands, censuses, the derived total */
int bands_define(struct target_state *ts, const Hw__Bands *bands);
int bands_census(struct target_state *ts, const Hw__Census *census);
bool id_valid(uint32_t id);
struct world_band *world_bands_entry(struct target_state *ts, uint32_t id); /* a new one is called "band N" */
void world_bands_clear(struct target_state *ts);

/* world_lists.c: notes, time profile, ticky */
int notes_add(struct target_state *ts, const Hw__Notes *notes);
void world_notes_clear(struct target_state *ts);
int profile_add(struct target_state *ts, const Hw__Profile *profile);
int ticky_add(struct target_state *ts, const Hw__Ticky *ticky);
void lists_done(struct target_state *ts);

/* world_trend.c: trends of series and bands, growth, time to limit */
int trends_apply(struct target_state *ts, const Hw__Update *update);
int trends_shorten(struct target_state *ts); /* once it is brief */
void trends_done(struct target_state *ts);

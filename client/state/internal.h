/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - what the files of the view share. Not for others. */
#ifndef HW_CLIENT_STATE_INTERNAL_H
#define HW_CLIENT_STATE_INTERNAL_H

#include "client/state/message_copy.h"
#include "client/state/world.h"

/* Open addressing from a 64-bit id to a position in an array. */
struct id_slot {
        uint64_t id;
        uint32_t position_1;
}; /* position + 1; 0 = free */
struct id_index {
        struct id_slot *slots;
        uint32_t n_slots, n_used; /* n_slots is a power of two */
};

/* A target with what only the view needs. `t` is the part that others see. */
struct target_state {
        struct world_target t;
        bool sampled[WORLD_SERIES]; /* the daemon sends this series itself: nothing is derived */
        uint32_t cap_bands, cap_stacks, cap_ticky;
        struct id_index ticky_index;
};

/* world_arrays.c: growing arrays, and the index of ids */
void *array_grow(void *array, uint32_t *capacity, uint32_t need, size_t size);
int id_index_add(struct id_index *x, uint64_t id, uint32_t position);
bool id_index_find(const struct id_index *x, uint64_t id, uint32_t *ret_position);
void id_index_done(struct id_index *x);

/* world_target.c: one target's life */
struct target_state *target_new(size_t daemon, const char *name);
void target_destroy(struct target_state **ts);
void target_begin_run(struct target_state *ts, uint32_t run);
int target_apply(struct target_state *ts, const Hw__Update *update);

/* world_freeze.c: a copy that shares nothing; NULL when out of memory. */
struct target_state *target_copy(const struct world_target *from);

/* world_bands.c: bands, censuses, the derived total */
int bands_define(struct target_state *ts, const Hw__Bands *bands);
int bands_census(struct target_state *ts, const Hw__Census *census);
bool id_valid(uint32_t id);
struct world_band *bands_entry(struct target_state *ts, uint32_t id);
void bands_done(struct target_state *ts);

/* world_lists.c: notes, time profile, ticky */
int notes_add(struct target_state *ts, const Hw__Notes *notes);
int profile_add(struct target_state *ts, const Hw__Profile *profile);
int ticky_add(struct target_state *ts, const Hw__Ticky *ticky);
void lists_done(struct target_state *ts);

/* world_trend.c: trends of series and bands, growth, time to limit */
int trends_apply(struct target_state *ts, const Hw__Trends *trends);
void trends_done(struct target_state *ts);

#endif

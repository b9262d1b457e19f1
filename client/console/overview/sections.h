/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.h - the parts of the overview. Each draws into exactly the area it is given. */
#pragma once

#include "client/console/draw/canvas.h"
#include "client/console/scene/scene.h"

struct section {
        int least; /* with fewer rows it says nothing useful */
        int (*whole)(const struct scene *s, const struct world_target *t, int width); /* NULL, or: more than least */
        int greedy; /* share of the spare rows; 0: none */
        bool air;   /* likes a blank row above */
        int most;   /* rows wanted, where that is always the same number; else 0, and: */
        int (*rows)(const struct scene *s, const struct world_target *t, int width); /* 0: nothing to say */
        void (*draw)(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);
};

/* identity.c: which program it is; and how it was built and started */
void draw_identity(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);
int facts_rows(const struct scene *s, const struct world_target *t, int width);
void draw_facts(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* answers.c: is anything wrong, in a line or two; then since when, what grows, where, until when, what next */
int headline_rows(const struct scene *s, const struct world_target *t, int width);
void draw_headline(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);
int answers_rows(const struct scene *s, const struct world_target *t, int width);
int answers_whole_rows(const struct scene *s, const struct world_target *t, int width); /* no answer is cut */
void draw_answers(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* memory.c: live, heap, RSS, allocation */
void draw_memory(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* resident.c: what RSS is made of */
int resident_rows(const struct scene *s, const struct world_target *t, int width);
void draw_resident(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* collections.c: share of time, pauses by generation */
int gc_rows(const struct scene *s, const struct world_target *t, int width);
void draw_gc(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* bands.c: the largest bands of the newest census */
int bands_rows(const struct scene *s, const struct world_target *t, int width);
void draw_bands(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* notes.c: what the program said, newest at the bottom */
int notes_rows(const struct scene *s, const struct world_target *t, int width);
void draw_notes(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* stream.c: health of the stream, and advice */
int stream_rows(const struct scene *s, const struct world_target *t, int width);
void draw_stream(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* overview.c: one target on one screen. */

/* Draws one target in full into an area. */
void draw_overview(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* How many rows it would like. */
int overview_rows(const struct scene *s, const struct world_target *t, int width);

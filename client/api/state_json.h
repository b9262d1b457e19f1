/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state_json.h - all that a world knows, as one JSON object in the form of
 * docs/WEB.md ("The state"): the messages that would make the same world.
 */
#ifndef HW_CLIENT_API_STATE_JSON_H
#define HW_CLIENT_API_STATE_JSON_H

#include "client/feed/feed.h"
#include "client/state/world.h"
#include "proto/base/json_out.h"

#define DETAIL_MAX 32

/* For which targets the large bodies (bands, census, notes, profile, ticky, trends of bands) are wanted. */
struct detail {
        bool all;
        bool series_trends; /* leave out trends of bands everywhere: they are by far the largest */
        size_t n;
        struct {
                bool any_daemon;
                size_t daemon;
                char name[WORLD_NAME_MAX + 1];
        } targets[DETAIL_MAX];
};

/* "D:NAME" or "NAME" into the list. False: not a target, or too many. */
bool detail_add(struct detail *d, const char *text);

/* ?detail=A&detail=B; without it, all. &trends=series: no trends of bands. False: malformed. */
bool detail_parse(struct detail *ret, const char *query);

/* Whether an update of this kind and target is wanted. */
bool detail_wants(const struct detail *d, const struct world *world, size_t daemon, const char *target, Hw__Kind kind);

/* `trends` without those of bands, in a copy that borrows from it; `list` has room for all of them. */
Hw__Trends trends_of_series(const Hw__Trends *trends, Hw__Trend **list);

struct state_source {
        const struct world *world;
        const struct feed *feed; /* names of the daemons */
        size_t n_daemons;        /* endpoints that are followed */
        bool live, control;
        /* Unless NULL: writes an update with all notes of a target, if any, instead of the newest. */
        void (*put_notes)(void *ctx, struct json_out *j, const struct world_target *t);
        void *ctx;
};

/* A short list for scripts, with its newline. */
void state_print_targets(struct json_out *j, const struct state_source *s);

/* The whole state, with its newline. */
void state_print(struct json_out *j, const struct state_source *s, const struct detail *detail);

/* {"daemon":0,"endpoint":...,"stale":...,"heardWallNs":...} */
void state_print_daemon(struct json_out *j, const struct state_source *s, size_t daemon);

/* {"daemon":0,"update":{...}} on a line of its own. */
void state_print_update(struct json_out *j, size_t daemon, const Hw__Update *u);

#endif

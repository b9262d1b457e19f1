/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state_json.h - all that a world knows, as one JSON object in the form of
 * docs/WEB.md ("The state"): the messages that would make the same world.
 */
#pragma once

#include "client/answers/answers.h"
#include "client/world/feed/feed.h"
#include "client/world/state/cpu_tree.h"
#include "client/world/state/world.h"
#include "proto/base/json_out.h"

#define DETAIL_MAX 32

struct evkeyvalq; /* libevent's */

/* For which targets all is wanted; of the others their state and alerts. */
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

/* The i-th in the world, or NULL. */
const struct world_target *detail_find(const struct detail *d, size_t i, const struct world *world);

/* Its targets get their whole past, of which a daemon may be asked for the rest: world_focus(). */
void detail_focus(const struct detail *d, struct world *world);

/*
 * Parameters of a query or form (NULL: none), to evhttp_clear_headers(). One without "=" has an empty value. False:
 * they are malformed, and there are none.
 */
bool query_parameters(const char *query, struct evkeyvalq *ret);

/* ?detail=A&detail=B; without it, all. &trends=series: no trends of bands. False: malformed. */
bool detail_parse(struct detail *ret, const char *query);

/* Whether an update of this kind and target is wanted. */
bool detail_wants(const struct detail *d, const struct world *world, size_t daemon, const char *target, Hw__Kind kind);

struct state_source {
        const struct world *world;
        const struct feed *feed; /* names of the daemons */
        size_t n_daemons;        /* endpoints that are followed */
        bool live, control;
        bool watched; /* a report of what a daemon watches: the answers speak of now */
        /* Each as given and in that order, NULL-terminated, or NULL. */
        const char *const *files;   /* finished logs */
        const char *const *targets; /* of a report of targets */
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

/* answers_json.c: the answers about a target (client/answers) in the form of docs/WEB.md, "Answers". */

/* Member `key` of an object: the account's rows, {"key":...,"tone":...,"text":...,"timeNs":...,"after":...} each. */
void account_rows_print(struct json_out *j, const char *key, const struct account *a);

/*
 * {"daemon":0,"target":...,"answers":[...],...} on a line of its own. Unless `whole`, only what a table of many
 * targets shows; otherwise with the account of a bad end.
 */
void answers_print(struct json_out *j, const struct world_target *t, bool live, bool whole);

/* cpu_json.c: a profile of CPU time and of what waits, or of allocation, as JSON (docs/WEB.md, "Profiles"). */

/* Its members, into an object that is open. */
void cpu_json_members(struct json_out *j, const struct cpu_trees *t);

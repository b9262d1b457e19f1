/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.h - the HTTP server: libevent's evhttp, guards, and the paths of
 * docs/WEB.md.
 */
#pragma once

#include <event2/event.h>
#include <event2/http.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/answers/api/state_json.h"
#include "client/cli/inspecting.h"
#include "client/cli/options.h"
#include "client/out/http/connections.h"
#include "client/out/http/guard.h"
#include "client/world/state/world.h"
#include "heapwatch/requester.h"
#include "proto/base/document.h"
#include "proto/base/error.h"
#include "proto/base/json_out.h"

/*
 * worker.c: a thread of its own for requests whose answers take long: files, daemons. One after the other; the
 * loop, which HTTP belongs to, never waits.
 */

struct worker;

/* The first member of a request's own struct, which is from malloc and is freed after the answer. */
struct worker_job {
        /* In the thread: writes the answer. False with a message. */
        bool (*work)(struct worker_job *job, struct json_out *to, struct error *error);
        /* The rest is the worker's. */
        struct worker_job *next;
        struct evhttp_request *req;
        struct document text; /* unless failed */
        struct error error;
        bool failed;
        int status; /* of the answer when it has failed; 0: 503 */
};

/* NULL with a message. */
struct worker *worker_new(struct event_base *base, struct error *error);

/* Answers all that still waits. Before the server is destroyed. NULL: nothing. */
void worker_destroy(struct worker **w);

/* Answers now, that there are too many or no memory (`job` is NULL), or when the work is done. */
void worker_queue(struct worker *w, struct worker_job *job, struct evhttp_request *req);

/* control.c: POST /api/control: requests that change a daemon. Only if the server was started with --allow-control. */

struct inspections;
struct world;

/* Where requests go. */
struct control_parts {
        struct hw_requester *requester; /* outlives the requests; NULL: there is no daemon */
        size_t n_daemons;
        const struct world *world;     /* where targets are read from */
        const struct feed *feed;       /* and where their daemons are */
        struct worker *program_worker; /* a program may take seconds to come to what it is asked for */
        struct inspections *inspections;
};

/*
 * Answers now or later, if the role of the token's `holder` allows it; one line of audit either way.
 */
void control_answer(struct evhttp_request *req, const struct control_parts *parts, const struct guard_token *holder);

/*
 * stream.c: server-sent events for the browsers that follow, in the form of
 * docs/WEB.md ("The stream").
 *
 * Nothing waits for a browser. What is queued for one is bounded; one that is
 * too far behind misses updates and gets the whole state when it has caught up;
 * one that reads nothing at all is closed.
 */

#define STREAMS_MOST           64
#define STREAM_BEHIND_BYTES    ((size_t)8 << 20) /* queued for one browser; then it misses updates */
#define STREAM_CAUGHT_UP_BYTES ((size_t)64 << 10)
#define STREAM_BATCH_BYTES     ((size_t)8 << 20) /* updates of one tenth of a second; beyond, all get the state */
#define STREAM_STALLED_S       30                /* without reading anything; then closed */

struct streams;

/* `source` and `connections` are borrowed and outlive it. NULL: out of memory. */
struct streams *streams_new(struct event_base *base, const struct state_source *source,
                            struct connections *connections);

/* Ends all streams. Call before evhttp_free. */
void streams_destroy(struct streams **s);

/* Begins a stream on this request, starting with the state; or answers 503. */
void streams_begin(struct streams *s, struct evhttp_request *req, const struct detail *detail);

/* What happened. Cheap when nobody listens. */
void streams_update(struct streams *s, size_t daemon, const Hw__Update *update);
void streams_daemon(struct streams *s, size_t daemon);   /* it went silent, or is back */
void streams_forget(struct streams *s, size_t daemon);   /* it was restarted */
void streams_end(struct streams *s, const char *reason); /* files: everything was read */

/*
 * update_batch.c: updates printed once, collected until they go out to all
 * browsers that want them. Knows nothing of connections.
 */

struct batched_update;

/* Zeroed by update_batch_init; freed by update_batch_clear, after which it is empty and can be used again. */
struct update_batch {
        struct batched_update *first, **last;
        size_t bytes; /* of all texts */
};

void update_batch_init(struct update_batch *p);
void update_batch_clear(struct update_batch *p);

/* Prints an update and adds it; of trends also the part for browsers that do not want the trends of bands.
   False: out of memory, and some browsers may miss it. */
bool update_batch_add(struct update_batch *p, size_t daemon, const Hw__Update *update);

/* A printed element about a target: for browsers that want its details, or (`instead`) for all others. */
bool update_batch_add_text(struct update_batch *p, size_t daemon, const char *target, const char *text, size_t size,
                           bool instead);

/* Writes what `detail` wants as a JSON array. False: there is nothing in it, and nothing was written. */
bool update_batch_print(const struct update_batch *p, struct json_out *j, const struct detail *detail,
                        const struct world *world);

/*
 * Answers /api/history: from daemons, all queried at once, or from
 * the world (files). The same query within a second gets the same answer.
 */

struct api_history;

/* Both outlive it; without a requester, of files, the world has everything. NULL: out of memory. */
struct api_history *api_history_new(struct world *world, struct hw_requester *requester);

/* The requester must have been destroyed before, which answers all queries. */
void api_history_destroy(struct api_history **p);

/* Answers now or later. */
void api_history_answer(struct api_history *p, struct evhttp_request *req, const char *query);

/* What a comparison or a query can be about: targets of daemons, or finished logs. */
struct web_subjects {
        const struct world *world;
        const struct feed *feed;
        const struct text_list *files; /* none: live */
        const struct text_list *logs;  /* their targets, in the same order */
        const char *archive;           /* NULL: files, or no home for one */
};

struct web_subject {
        char endpoint[256], target[WORLD_NAME_MAX + 1];
        const char *file; /* NULL: live */
};

/* By "NAME" or "D:NAME". False with a sentence. */
bool web_subject_find(const struct web_subjects *among, const char *text, struct web_subject *ret, struct error *error);

/*
 * Answers /api/diff?a=TARGET&b=TARGET, now or later: the whole runs of two targets, compared by the code of
 * `heapwatch diff`. Live targets are measured from what their daemons know, finished logs are read. The subjects
 * outlive the answer.
 */
void api_diff_answer(const struct web_subjects *among, struct worker *worker, struct evhttp_request *req,
                     const char *query);

/*
 * Answers /api/query: rows of a SELECT over targets, by `heapwatch query` as a child. It can read what the page shows
 * already, and nothing else; time, rows and bytes are bounded.
 */
void api_query_answer(const struct web_subjects *among, struct worker *worker, struct evhttp_request *req,
                      const char *query);

/*
 * Answers /api/archive: what an archive has of a target, besides what its daemon remembers.
 */

struct archive_source {
        const char *path;        /* NULL: files, or no home for one */
        const struct feed *feed; /* names the daemons */
        struct worker *worker;
};

/* Answers now or later. No such file: {"archive":false} and no runs. All of the source outlives the answer. */
void api_archive_answer(const struct archive_source *s, struct evhttp_request *req, const char *query);

struct server_options {
        struct listen_address place;
        struct guard guard;
        bool allow_control;
};

/* What it serves. All borrowed; must outlive the server. */
struct server_parts {
        struct world *world; /* what `state` has */
        const struct state_source *state;
        struct streams *streams;
        struct api_history *api_history;
        struct archive_source archive;
        struct web_subjects subjects;
        struct worker *diff_worker, *query_worker;
        struct connections *connections; /* outlives it */
        struct control_parts control;
};

struct server;

/* NULL with a message in `error`, for example that the address is in use. */
struct server *server_new(struct event_base *base, const struct server_options *options,
                          const struct server_parts *parts, struct error *error);

/* "http://127.0.0.1:8077/", with the actual port; or "unix:PATH". */
const char *server_url(const struct server *s);

/* Streams must have been ended before. */
void server_destroy(struct server **s);

/* How long a browser waits for a daemon. */

#define WEB_REQUEST_MS 5000 /* then it counts as no answer */

/*
 * inspections.c: what this server reads of targets on its machine: profiles, heaps, threads; and
 * /api/profile, /api/heap and /api/threads, which show the last one of a target. One of a kind at a time of each
 * target, and a few at all.
 */

struct feed;

/* NULL when out of memory. Both outlive it. */
struct inspections *inspections_new(const struct world *world, const struct feed *feed);
void inspections_destroy(struct inspections **p); /* ends those that go on */

/* `for_ns`: of a profile. False with a sentence. */
bool inspections_start(struct inspections *p, enum inspecting_what what, size_t daemon, const char *target,
                       uint64_t for_ns, struct error *error);

/* The profile that is being taken ends with the samples that it has. */
bool inspections_finish(struct inspections *p, size_t daemon, const char *target, struct error *error);

/* Answers ?target=TARGET: whether one goes on, or the last one. `what`: one that such an address is of. */
void inspections_answer(struct inspections *p, enum inspecting_what what, struct evhttp_request *req,
                        const char *query);

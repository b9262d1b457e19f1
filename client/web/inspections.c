/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/web/server.h"

#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>

#include "client/answers/api/state_json.h"
#include "client/cli/endpoints.h"
#include "client/world/feed/feed.h"
#include "client/out/http/answer.h"
#include "client/world/state/world.h"
#include "proto/base/clock.h"
#include "proto/base/json_out.h"

#define KEPT_MOST 8 /* of a kind, of different targets */

/* A heap is copied: not two at a time. */
enum kind { KIND_PROFILE, KIND_HEAP, KIND_THREADS, KINDS };

static const struct {
        const char *several; /* of it */
        size_t running_most;
} kinds[KINDS] = { { "profiles", 4 }, { "heaps", 1 }, { "lists of threads", 4 } };

struct item {
        char target[WORLD_NAME_MAX + 1]; /* "": none */
        size_t daemon;
        uint32_t run; /* of the target */
        uint64_t begin_wall_ns, begin_ns, for_ns;
        struct inspecting *inspecting; /* NULL: done */
        struct cpu_trees trees;        /* of a profile, the newest; no sentences: none yet, or it failed */
        char *json;                    /* else; NULL: none yet, or it failed */
        struct error error;
};

struct inspections {
        const struct world *world;
        const struct feed *feed;
        struct item items[KINDS][KEPT_MOST];
};

static enum kind kind_of(enum inspecting_what what)
{
        return what == INSPECTING_PROFILE || what == INSPECTING_ALLOCATION ? KIND_PROFILE
               : what == INSPECTING_THREADS                                ? KIND_THREADS
                                                                           : KIND_HEAP;
}

struct inspections *inspections_new(const struct world *world, const struct feed *feed)
{
        struct inspections *p = calloc(1, sizeof(*p));

        if (p)
                *p = (struct inspections){ .world = world, .feed = feed };
        return p;
}

static void empty_item(struct item *item)
{
        inspecting_destroy(&item->inspecting);
        cpu_trees_done(&item->trees);
        free(item->json);
        *item = (struct item){ .json = NULL };
}

void inspections_destroy(struct inspections **p)
{
        for (size_t k = 0; *p && k < KINDS; k++)
                for (size_t i = 0; i < KEPT_MOST; i++)
                        empty_item(&(*p)->items[k][i]);
        free(*p);
        *p = NULL;
}

static void collect_item(struct item *item, enum kind kind)
{
        const bool is_done = item->inspecting && inspecting_is_done(item->inspecting);
        char *text = item->inspecting ? inspecting_detach_text(item->inspecting) : NULL;
        struct cpu_trees trees;

        if (text && kind != KIND_PROFILE) {
                free(item->json);
                item->json = text;
        } else if (text && cpu_trees_read(&trees, text, &item->error)) {
                cpu_trees_done(&item->trees);
                item->trees = trees;
        }
        if (!is_done)
                return;
        if (!inspecting_is_good(item->inspecting, &item->error)) {
                cpu_trees_done(&item->trees);
                free(item->json);
                item->json = NULL;
        }
        inspecting_destroy(&item->inspecting);
}

static struct item *find_item(struct inspections *p, enum kind kind, size_t daemon, const char *target)
{
        struct item *ret = NULL;

        for (size_t i = 0; i < KEPT_MOST; i++) {
                struct item *item = &p->items[kind][i];
                collect_item(item, kind);
                if (item->daemon == daemon && item->target[0] && !strcmp(item->target, target))
                        ret = item;
        }
        return ret;
}

/* An empty one, or the oldest that is done; NULL: too many go on. */
static struct item *find_room(struct inspections *p, enum kind kind)
{
        struct item *oldest = NULL;
        size_t running = 0;

        for (size_t i = 0; i < KEPT_MOST; i++) {
                struct item *item = &p->items[kind][i];
                running += item->inspecting != NULL;
                if (!item->inspecting && (!oldest || item->begin_ns < oldest->begin_ns))
                        oldest = item;
        }
        return running < kinds[kind].running_most ? oldest : NULL;
}

bool inspections_start(struct inspections *p, enum inspecting_what what, size_t daemon, const char *target,
                       uint64_t for_ns, struct error *error)
{
        const struct world_target *t = world_find_of(p->world, daemon, target);
        struct inspecting_options o = { .what = what, .for_ns = for_ns, .most_bytes = INSPECTING_BYTES };
        const enum kind kind = kind_of(what);
        struct item *item = find_item(p, kind, daemon, target), *room = find_room(p, kind);
        struct inspecting *inspecting;

        if (kind == KIND_PROFILE)
                o.most_bytes = CPU_TREE_BYTES;
        if (!t)
                return error_set(error, "there is no target '%.80s'", target);
        if (!endpoint_is_here(feed_endpoint(p->feed, daemon), error) || !world_process(t, &o.pid, error))
                return false;
        if (item && item->inspecting)
                return error_set(error, "one of %s is being taken", target);
        if (!room)
                return error_set(error, "%zu %s are being taken, as many as are allowed; try again when one is done",
                                 kinds[kind].running_most, kinds[kind].several);
        if (!(inspecting = inspecting_new(&o, error)))
                return false;
        item = item ? item : room;
        empty_item(item);
        *item = (struct item){ .daemon = daemon,
                               .run = t->run,
                               .begin_wall_ns = clock_wall_ns(),
                               .begin_ns = clock_mono_ns(),
                               .for_ns = for_ns,
                               .inspecting = inspecting };
        (void)snprintf(item->target, sizeof(item->target), "%s", target);
        return true;
}

bool inspections_finish(struct inspections *p, size_t daemon, const char *target, struct error *error)
{
        struct item *item = find_item(p, KIND_PROFILE, daemon, target);

        if (!item || !item->inspecting)
                return error_set(error, "no profile of '%.80s' is being taken", target);
        inspecting_finish(item->inspecting);
        return true;
}

/* ---------------------------------------------------------------------- the answer */

static void write_item(struct json_out *j, enum kind kind, const struct item *item)
{
        const bool is_there = item && (item->trees.running.n_sentences || item->json);

        json_open(j, '{');
        json_member_text(j, "state", !item ? "none" : item->inspecting ? "running" : is_there ? "done" : "failed");
        if (item) {
                json_member_u64(j, "run", item->run);
                json_member_u64_string(j, "beginWallNs", item->begin_wall_ns);
                json_known_u64(j, "forNs", kind == KIND_PROFILE, item->for_ns);
        }
        if (item && item->inspecting)
                json_member_u64(j, "elapsedNs", clock_mono_ns() - item->begin_ns);
        else if (item && !is_there)
                json_member_text(j, "error", item->error.text);
        if (item && item->trees.running.n_sentences)
                cpu_json_members(j, &item->trees);
        if (item && item->json) {
                json_key(j, "result");
                json_raw(j, item->json);
        }
        json_close(j, '}');
}

void inspections_answer(struct inspections *p, enum inspecting_what what, struct evhttp_request *req, const char *query)
{
        const enum kind kind = kind_of(what);
        struct evkeyvalq parameters;
        struct detail one = { .n = 0 };
        const struct item *found = NULL;
        struct document d;

        if (query_parameters(query, &parameters)) {
                const char *text = evhttp_find_header(&parameters, "target");
                if (text)
                        (void)detail_add(&one, text);
                evhttp_clear_headers(&parameters);
        }
        if (one.n != 1) {
                answer_error(req, 400, "expected target=NAME or target=DAEMON:NAME");
                return;
        }
        const struct world_target *t = one.targets[0].any_daemon ? world_find(p->world, one.targets[0].name) : NULL;
        if (t || !one.targets[0].any_daemon)
                found = find_item(p, kind, t ? t->daemon : one.targets[0].daemon, one.targets[0].name);
        document_open(&d);
        if (d.to)
                write_item(&(struct json_out){ .to = d.to }, kind, found);
        answer_document(req, &d);
}

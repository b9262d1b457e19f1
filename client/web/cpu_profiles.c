/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/web/cpu_profiles.h"

#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>

#include "client/api/cpu_json.h"
#include "client/api/state_json.h"
#include "client/cli/endpoints.h"
#include "client/cli/profiler.h"
#include "client/feed/feed.h"
#include "client/http/answer.h"
#include "client/state/world.h"
#include "proto/base/clock.h"
#include "proto/base/json_out.h"

#define KEPT_MOST    8 /* of different targets */
#define RUNNING_MOST 4

struct profile {
        char target[WORLD_NAME_MAX + 1]; /* "": none */
        size_t daemon;
        uint32_t run; /* of the target */
        uint64_t begin_wall_ns, begin_ns, for_ns;
        struct profiler *profiler; /* NULL: done */
        struct cpu_tree tree;      /* the newest; n_sentences 0: none yet, or it failed */
        struct error error;
};

struct cpu_profiles {
        const struct world *world;
        const struct feed *feed;
        struct profile items[KEPT_MOST];
};

struct cpu_profiles *cpu_profiles_new(const struct world *world, const struct feed *feed)
{
        struct cpu_profiles *p = calloc(1, sizeof(*p));

        if (p)
                *p = (struct cpu_profiles){ .world = world, .feed = feed };
        return p;
}

static void empty(struct profile *item)
{
        profiler_destroy(&item->profiler);
        cpu_tree_done(&item->tree);
        *item = (struct profile){ .profiler = NULL };
}

void cpu_profiles_destroy(struct cpu_profiles **p)
{
        for (size_t i = 0; *p && i < KEPT_MOST; i++)
                empty(&(*p)->items[i]);
        free(*p);
        *p = NULL;
}

static void collect(struct profile *item)
{
        const bool is_done = item->profiler && profiler_is_done(item->profiler);
        char *text = item->profiler ? profiler_detach_text(item->profiler) : NULL;
        struct cpu_tree tree;

        if (text && cpu_tree_read(&tree, text, &item->error)) {
                cpu_tree_done(&item->tree);
                item->tree = tree;
        }
        if (!is_done)
                return;
        if (!profiler_is_good(item->profiler, &item->error))
                cpu_tree_done(&item->tree);
        profiler_destroy(&item->profiler);
}

static struct profile *find(struct cpu_profiles *p, size_t daemon, const char *target)
{
        for (size_t i = 0; i < KEPT_MOST; i++) {
                collect(&p->items[i]);
                if (p->items[i].daemon == daemon && p->items[i].target[0] && !strcmp(p->items[i].target, target))
                        return &p->items[i];
        }
        return NULL;
}

/* An empty one, or the oldest that is done; NULL: too many are being taken. */
static struct profile *find_room(struct cpu_profiles *p)
{
        struct profile *oldest = NULL;
        size_t running = 0;

        for (size_t i = 0; i < KEPT_MOST; i++) {
                struct profile *item = &p->items[i];
                running += item->profiler != NULL;
                if (!item->profiler && (!oldest || item->begin_ns < oldest->begin_ns))
                        oldest = item;
        }
        return running < RUNNING_MOST ? oldest : NULL;
}

bool cpu_profiles_start(struct cpu_profiles *p, size_t daemon, const char *target, uint64_t for_ns, struct error *error)
{
        const struct world_target *t = world_find_of(p->world, daemon, target);
        struct profile *item = find(p, daemon, target);
        struct profiler *profiler;
        pid_t pid;

        if (!t)
                return error_set(error, "there is no target '%.80s'", target);
        if (!endpoint_is_here(feed_endpoint(p->feed, daemon), error) || !world_process(t, &pid, error))
                return false;
        if (item && item->profiler)
                return error_set(error, "a profile of %s is being taken", target);
        if (!item && !(item = find_room(p)))
                return error_set(error, "%d profiles are being taken; try again when one is done", RUNNING_MOST);
        if (!(profiler = profiler_new(&(struct profiler_options){ pid, for_ns, CPU_TREE_BYTES }, error)))
                return false;
        empty(item);
        *item = (struct profile){ .daemon = daemon,
                                  .run = t->run,
                                  .begin_wall_ns = clock_wall_ns(),
                                  .begin_ns = clock_mono_ns(),
                                  .for_ns = for_ns,
                                  .profiler = profiler };
        (void)snprintf(item->target, sizeof(item->target), "%s", target);
        return true;
}

bool cpu_profiles_finish(struct cpu_profiles *p, size_t daemon, const char *target, struct error *error)
{
        struct profile *item = find(p, daemon, target);

        if (!item || !item->profiler)
                return error_set(error, "no profile of '%.80s' is being taken", target);
        profiler_finish(item->profiler);
        return true;
}

/* ---------------------------------------------------------------------- the answer */

static void write_profile(struct json_out *j, const struct profile *item)
{
        const char *state = !item ? "none" : item->profiler ? "running" : item->tree.n_sentences ? "done" : "failed";

        json_open(j, '{');
        json_member_text(j, "state", state);
        if (item) {
                json_member_u64(j, "run", item->run);
                json_member_u64_string(j, "beginWallNs", item->begin_wall_ns);
                json_member_u64(j, "forNs", item->for_ns);
        }
        if (item && item->profiler)
                json_member_u64(j, "elapsedNs", clock_mono_ns() - item->begin_ns);
        else if (item && !item->tree.n_sentences)
                json_member_text(j, "error", item->error.text);
        if (item && item->tree.n_sentences)
                cpu_json_members(j, &item->tree);
        json_close(j, '}');
}

void cpu_profiles_answer(struct cpu_profiles *p, struct evhttp_request *req, const char *query)
{
        struct evkeyvalq parameters;
        struct detail one = { .n = 0 };
        const struct profile *found = NULL;
        struct document d;

        if (evhttp_parse_query_str(query ? query : "", &parameters) == 0) {
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
                found = find(p, t ? t->daemon : one.targets[0].daemon, one.targets[0].name);
        document_open(&d);
        if (d.to)
                write_profile(&(struct json_out){ .to = d.to }, found);
        answer_document(req, &d);
}

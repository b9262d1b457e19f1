/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/report/profiles.h"

#include <time.h>

#include "client/answers/api/state_json.h"
#include "client/cli/endpoints.h"
#include "client/world/feed/feed.h"
#include "client/world/feed/locate.h"
#include "proto/base/clock.h"

#define PAUSE_NS 50000000L

void report_profiles_sample(struct report_profiles *ret, const struct world *world, const struct feed *feed,
                            enum inspecting_what what, uint64_t for_ns)
{
        *ret = (struct report_profiles){ .n = 0 };
        for (size_t i = 0; i < world_targets(world) && i < REPORT_PROFILES; i++) {
                struct report_profile *p = &ret->items[ret->n++];
                *p = (struct report_profile){ .target = world_target(world, i),
                                              .begin_wall_ns = clock_wall_ns(),
                                              .for_ns = for_ns };
                struct inspecting_options asked = { .what = what, .for_ns = p->for_ns, .most_bytes = CPU_TREE_BYTES };

                if (endpoint_is_here(feed_endpoint(feed, p->target->daemon), &p->error) &&
                    world_process(p->target, &asked.pid, &p->error))
                        p->profiler = inspecting_new(&asked, &p->error);
        }
        for (size_t i = 0; i < ret->n; i++) {
                struct report_profile *p = &ret->items[i];
                static const struct timespec pause = { .tv_nsec = PAUSE_NS };
                char *text;

                while (p->profiler && !inspecting_is_done(p->profiler))
                        (void)nanosleep(&pause, NULL);
                if (p->profiler && inspecting_is_good(p->profiler, &p->error) &&
                    (text = inspecting_detach_text(p->profiler)))
                        (void)cpu_trees_read(&p->trees, text, &p->error);
                inspecting_destroy(&p->profiler);
        }
}

void report_profiles_read(struct report_profiles *ret, const struct world *world, const char *const *paths, size_t n)
{
        *ret = (struct report_profiles){ .n = 0 };
        for (size_t i = 0; i < n && i < world_targets(world) && ret->n < REPORT_PROFILES; i++) {
                struct report_profile p = { .target = world_target(world, i) };
                char *text = locate_profile(paths[i], &p.begin_wall_ns, &p.error);
                if (text)
                        (void)cpu_trees_read(&p.trees, text, &p.error);
                if (text || p.error.text[0])
                        ret->items[ret->n++] = p;
        }
}

void report_profiles_done(struct report_profiles *p)
{
        for (size_t i = 0; i < p->n; i++)
                cpu_trees_done(&p->items[i].trees);
        p->n = 0;
}

void report_profiles_put(struct json_out *j, const struct report_profiles *all)
{
        json_open(j, '[');
        for (size_t i = 0; i < all->n; i++) {
                const struct report_profile *p = &all->items[i];
                const bool is_good = p->trees.running.n_sentences > 0;

                json_line(j);
                json_open(j, '{');
                json_member_u64(j, "daemon", p->target->daemon);
                json_member_text(j, "target", p->target->name);
                json_member_text(j, "state", is_good ? "done" : "failed");
                json_member_u64(j, "run", p->target->run);
                json_member_u64_string(j, "beginWallNs", p->begin_wall_ns);
                json_known_u64(j, "forNs", p->for_ns > 0, p->for_ns);
                if (is_good)
                        cpu_json_members(j, &p->trees);
                else
                        json_member_text(j, "error", p->error.text);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspections.h - what this server reads of targets on its machine: profiles, heaps, threads; and
 * /api/profile, /api/heap and /api/threads, which show the last one of a target. One of a kind at a time of each
 * target, and a few at all.
 */
#ifndef HW_CLIENT_WEB_INSPECTIONS_H
#define HW_CLIENT_WEB_INSPECTIONS_H

#include <event2/http.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/cli/inspecting.h"
#include "proto/base/error.h"

struct feed;
struct inspections;
struct world;

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

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_profiles.h - profiles of CPU time that this server takes of targets on its machine, and /api/profile, which shows
 * the last one of a target: one at a time of each, and a few at all.
 */
#ifndef HW_CLIENT_WEB_CPU_PROFILES_H
#define HW_CLIENT_WEB_CPU_PROFILES_H

#include <event2/http.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

struct feed;
struct cpu_profiles;
struct world;

/* NULL when out of memory. Both outlive it. */
struct cpu_profiles *cpu_profiles_new(const struct world *world, const struct feed *feed);
void cpu_profiles_destroy(struct cpu_profiles **p); /* ends those that are being taken */

/* False with a sentence. */
bool cpu_profiles_start(struct cpu_profiles *p, size_t daemon, const char *target, uint64_t for_ns,
                        struct error *error);

/* The one that is being taken ends with the samples that it has. */
bool cpu_profiles_finish(struct cpu_profiles *p, size_t daemon, const char *target, struct error *error);

/* Answers /api/profile?target=TARGET: whether one is being taken, or the last one. */
void cpu_profiles_answer(struct cpu_profiles *p, struct evhttp_request *req, const char *query);

#endif

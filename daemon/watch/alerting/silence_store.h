/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * silence_store.h - the silences of a daemon, kept across restarts.
 *
 * They are part of the alerts' state: an alert's message says whether it is
 * silenced, and whoever acts on alerts (heapwatch notify) obeys that. Used on
 * the daemon's loop; the file is read before the loop runs and written by
 * children, so the loop never waits for the disk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/watch/alerting/silence.h"

struct error;
struct event_base;
struct silence_store;

/*
 * `path` NULL: nothing is kept, as each answer then says. A broken file is renamed to NAME.broken and logged. NULL when
 * out of memory.
 */
struct silence_store *silence_store_new(struct event_base *base, const char *path);

/* Writes what is not written yet; waits for its part of STOP_S. */
void silence_store_destroy(struct silence_store **s);

/* The silence that an alert is under now, or NULL. Valid until the next call. */
const struct silence *silence_store_find(const struct silence_store *s, const char *rule, const char *target);

/* Makes a silence that begins now; its id and creation time are set. False with a sentence. */
bool silence_store_add(struct silence_store *s, struct silence *silence, struct error *error);

/* Ends silences, see silences_remove(). Returns how many. */
size_t silence_store_remove(struct silence_store *s, uint64_t id, const char *rule, const char *target);

const struct silences *silence_store_list(const struct silence_store *s);

/* Why silences are currently not kept across restarts, or NULL. */
const char *silence_store_not_kept(const struct silence_store *s);

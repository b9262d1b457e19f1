/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exporter.h - follows daemons and brings what they know to every sink of a plan.
 *
 * DESIGN: one loop with the feed, a timer a sink, and everything that travels. A sink that is pushed to walks the
 * tables at its own interval into its own batcher and queue; one that is scraped walks them when it is asked. They
 * share nothing but the world, so none waits for another.
 */
#ifndef HW_CLIENT_EXPORT_EXPORTER_H
#define HW_CLIENT_EXPORT_EXPORTER_H

#include "client/export/plan.h"

struct error;
struct exporter;

/* The plan is checked and outlives it. NULL with a sentence in `error`. */
struct exporter *exporter_new(const struct plan *plan, struct error *error);

/* Until a signal ends it. Returns an exit status. */
int exporter_run(struct exporter *e);
void exporter_destroy(struct exporter **e);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exporter.h - follows daemons and exports their state to every sink of a plan.
 *
 * DESIGN: one loop with the feed, a timer per sink, and all transfers. A push sink walks the tables at its own
 * interval into its own batcher and queue; a scraped one walks them on request. They share only the world, so none
 * waits for another.
 */
#ifndef HW_CLIENT_EXPORT_EXPORTER_H
#define HW_CLIENT_EXPORT_EXPORTER_H

#include "client/export/plan.h"

struct error;
struct exporter;

/*
 * The plan is checked and outlives it. `only_check`: everything that can be refused is looked at, but nothing is
 * listened at and no journal is opened; it cannot be run. NULL with a message in `error`.
 */
struct exporter *exporter_new(const struct plan *plan, bool only_check, struct error *error);

/* Runs until a signal. Returns an exit status. */
int exporter_run(struct exporter *e);
void exporter_destroy(struct exporter **e);

#endif

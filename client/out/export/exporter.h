/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exporter.h - follows daemons and exports their state to every sink of a plan.
 *
 * DESIGN: one loop with the feed, a timer per sink, and all transfers. A push sink walks the tables at its own
 * interval into its own batcher and queue; a scraped one walks them on request. They share only the world, so none
 * waits for another.
 */
#pragma once

#include "client/out/export/plan.h"
#include "client/out/http/connections.h"

struct exporter;

/*
 * The plan is checked and outlives it. `only_check`: everything that can be refused is looked at, but nothing is
 * listened at and no journal is opened; it cannot be run. NULL with a message in `error`.
 */
struct exporter *exporter_new(const struct plan *plan, bool only_check, struct error *error);

/* Runs until a signal. Returns an exit status. */
int exporter_run(struct exporter *e);
void exporter_destroy(struct exporter **e);

/*
 * scrape.c: samples on request: GET /metrics over HTTP, on an address with a token or on a Unix socket. Guards and
 * bounds are the same as for the page (client/out/http).
 */

struct scrape;

struct scrape_options {
        struct event_base *base;
        struct connections *connections; /* outlives it */
        const struct sink_plan *plan;
        bool only_check;                                   /* nothing is listened at */
        const struct metrics_source *(*source)(void *ctx); /* the current one */
        void *ctx;
};

/* NULL with a message in `error`. */
struct scrape *scrape_new(const struct scrape_options *options, struct error *error);
void scrape_destroy(struct scrape **s);

/* "http://127.0.0.1:9464/metrics" */
const char *scrape_url(const struct scrape *s);

uint64_t scrape_samples(const struct scrape *s); /* served since the start */
uint64_t scrape_answers(const struct scrape *s);

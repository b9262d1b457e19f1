/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scrape.h - samples on request: GET /metrics over HTTP, on an address with a token or on a Unix socket. Guards and
 * bounds are the same as for the page (client/http).
 */
#ifndef HW_CLIENT_EXPORT_SCRAPE_H
#define HW_CLIENT_EXPORT_SCRAPE_H

#include "client/export/plan.h"
#include "client/http/connections.h"

struct error;
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

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker.h - a thread of its own for requests whose answers take long: files, daemons. One after the other; the
 * loop, which HTTP belongs to, never waits.
 */
#ifndef HW_CLIENT_WEB_WORKER_H
#define HW_CLIENT_WEB_WORKER_H

#include <event2/event.h>
#include <event2/http.h>
#include <stdbool.h>

#include "proto/base/document.h"
#include "proto/base/error.h"
#include "proto/base/json_out.h"

struct worker;

/* The first member of a request's own struct, which is from malloc and is freed after the answer. */
struct worker_job {
        /* In the thread: writes the answer. False with a message. */
        bool (*work)(struct worker_job *job, struct json_out *to, struct error *error);
        /* The rest is the worker's. */
        struct worker_job *next;
        struct evhttp_request *req;
        struct document text; /* unless failed */
        struct error error;
        bool failed;
};

/* NULL with a message. */
struct worker *worker_new(struct event_base *base, struct error *error);

/* Answers all that still waits. Before the server is destroyed. NULL: nothing. */
void worker_destroy(struct worker **w);

/* Answers now, that there are too many or no memory (`job` is NULL), or when the work is done. */
void worker_queue(struct worker *w, struct worker_job *job, struct evhttp_request *req);

#endif

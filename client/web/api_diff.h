/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_diff.h - answers /api/diff?a=TARGET&b=TARGET: the whole runs of two targets, compared by the code of
 * `heapwatch diff`. Live targets are measured from what their daemons know, finished logs are read.
 */
#ifndef HW_CLIENT_WEB_API_DIFF_H
#define HW_CLIENT_WEB_API_DIFF_H

#include "client/api/state_json.h"
#include "client/cli/options.h"
#include "client/web/worker.h"

struct diff_parts {
        const struct command *command; /* in whose name unreadable logs are reported */
        const struct world *world;
        const struct feed *feed;
        const struct text_list *files; /* none: live */
        const struct text_list *logs;  /* their targets, in the same order */
        struct worker *worker;
};

/* Answers now or later. All of the parts outlive the answer. */
void api_diff_answer(const struct diff_parts *p, struct evhttp_request *req, const char *query);

#endif

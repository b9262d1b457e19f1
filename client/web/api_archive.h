/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_archive.h - answers /api/archive: what an archive has of a target, besides what its daemon remembers. Reading it
 * is a thread's work, one request after the other, so a slow disk keeps nobody from the other addresses.
 */
#ifndef HW_CLIENT_WEB_API_ARCHIVE_H
#define HW_CLIENT_WEB_API_ARCHIVE_H

#include <event2/event.h>
#include <event2/http.h>

#include "client/api/state_json.h"

struct api_archive;
struct error;

/* `path` is copied, the feed borrowed: it names the daemons. NULL with a message. */
struct api_archive *api_archive_new(struct event_base *base, const char *path, const struct feed *feed,
                                    struct error *error);

/* Answers all that still waits. Before the server is destroyed. */
void api_archive_destroy(struct api_archive **p);

/* Answers now or later. NULL, or no such file by now: {"archive":false} and no runs. */
void api_archive_answer(struct api_archive *p, struct evhttp_request *req, const char *query);

#endif

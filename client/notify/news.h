/* SPDX-License-Identifier: BSD-3-Clause */
/* news.h - a line of the daemon about one alert (daemon/control/alert_line.h says which), read. Pure. */
#ifndef HW_CLIENT_NOTIFY_NEWS_H
#define HW_CLIENT_NOTIFY_NEWS_H

#include "client/notify/alert_event.h"
#include "proto/wire/action_plan.h"

struct error;

struct news {
        struct alert_event *event;
        struct action_plan *plan; /* the actions of its rule; perhaps none */
        char *silenced;           /* until when and why; NULL: it is not */
};

/* False with a message: it is of another form, or out of memory. news_done in any case. */
bool news_read(struct news *news, const json_t *line, struct error *error);
void news_done(struct news *news);

#endif

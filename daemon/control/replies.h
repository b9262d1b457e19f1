/* SPDX-License-Identifier: BSD-3-Clause */
/* replies.h - the answers that requests of all kinds may get. */
#ifndef HW_DAEMON_CONTROL_REPLIES_H
#define HW_DAEMON_CONTROL_REPLIES_H

#include <stdbool.h>

struct bus_client;

extern const char out_of_memory[]; /* a sentence */

void reply_error(struct bus_client *client, const char *error);
void reply_done(struct bus_client *client, const char *target);
void reply_no_target(struct bus_client *client, const char *name);

/* An error that says to try again in a second. False: the client does not take it now. */
bool offer_retry(struct bus_client *client, const char *error);

/* Likewise, at the end of a request that is given up because of its client: it finds it when it reads again. */
void reply_too_late(struct bus_client *client);

#endif

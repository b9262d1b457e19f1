/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resend.h - repeatedly sends the firing alerts to Alertmanagers.
 *
 * Alertmanager forgets a firing alert when its endsAt has passed, so every open
 * one is sent again each `resend_ns` with an endsAt RESEND_LIVES intervals
 * ahead, so alerts of a notifier that died expire. Alerts for the same
 * Alertmanager go in one request. A failed request is not repeated: the next
 * interval is soon enough. The first failure is logged, and the first success
 * after it.
 */
#ifndef HW_CLIENT_NOTIFY_RESEND_H
#define HW_CLIENT_NOTIFY_RESEND_H

#include <stdbool.h>
#include <stdint.h>

#include "client/http/http.h"
#include "client/notify/alert_event.h"
#include "proto/wire/action_plan.h"

#define RESEND_LIVES     4u
#define RESEND_OPEN_MAX  4096u /* open alerts in total; further ones are only sent once, and counted */
#define RESEND_BATCH     64u   /* alerts in one request */
#define RESEND_PEERS_MAX 64u   /* different Alertmanagers */

struct event_base;
struct resend;

/* `http` is borrowed. NULL when out of memory. */
struct resend *resend_new(struct event_base *base, struct http *http);
void resend_destroy(struct resend **r);

/* From now on `event`, which fires, is sent repeatedly to the Alertmanager of `step`. False: no room; counted. */
bool resend_open(struct resend *r, const struct alert_event *event, const struct action_step *step);

/* Stops that; cancels a pending request with it, so that nothing overtakes the message of its end. */
void resend_close(struct resend *r, uint64_t fingerprint, const struct action_step *step);

/* The address that alerts are posted to, for a step's URL. ACTION_TEXT_MAX + 32 bytes are always enough. */
char *resend_url(char *out, size_t size, const char *base_url);

/* While held, nothing is sent again. */
void resend_hold(struct resend *r, bool held);

/* Forgets all alerts; sends nothing. */
void resend_clear(struct resend *r);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* outcomes.c - a chained hash table by fingerprint, from which alerts that are no longer published are swept. */
#include "daemon/alerting/outcomes.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/image/image.h"
#include "proto/base/ckd.h"
#include "proto/base/hash.h"

#define BUCKETS  1024u
#define SWEEP_NS (OUTCOME_KEEP_NS / 2)

struct entry {
        struct entry *chain;
        const Hw__AlertOutcome *outcome;
        uint64_t used_ns;
};

struct outcomes {
        struct entry *buckets[BUCKETS];
        size_t n;
        uint64_t swept_ns;
};

struct outcomes *outcomes_new(void)
{
        return calloc(1, sizeof(struct outcomes));
}

static void entry_destroy(struct entry *e)
{
        hw_message_unref(&e->outcome->base);
        free(e);
}

/* Drops all entries not used since `since_ns`. */
static void sweep(struct outcomes *o, uint64_t since_ns)
{
        for (size_t i = 0; i < BUCKETS; i++) {
                for (struct entry **link = &o->buckets[i]; *link;) {
                        struct entry *e = *link;
                        if (e->used_ns >= since_ns) {
                                link = &e->chain;
                                continue;
                        }
                        *link = e->chain;
                        o->n--;
                        entry_destroy(e);
                }
        }
}

void outcomes_destroy(struct outcomes **op)
{
        struct outcomes *o = *op;

        *op = NULL;
        if (!o)
                return;
        sweep(o, UINT64_MAX);
        free(o);
}

static struct entry **bucket_of(struct outcomes *o, uint64_t alert)
{
        return &o->buckets[hash_u64(alert, 0) % BUCKETS];
}

static struct entry *find(struct outcomes *o, uint64_t alert)
{
        struct entry *e = *bucket_of(o, alert);

        while (e && e->outcome->alert != alert)
                e = e->chain;
        return e;
}

static const char *wrong(const Hw__AlertOutcome *outcome)
{
        if (!outcome->has_alert)
                return "an outcome needs an alert";
        if (outcome->n_actions > OUTCOME_ACTIONS_MAX)
                return "an alert has at most 16 actions";
        for (size_t i = 0; i < outcome->n_actions; i++) {
                const Hw__ActionResult *r = outcome->actions[i];
                if ((r->detail && strlen(r->detail) > OUTCOME_DETAIL_BYTES) || (r->kind && strlen(r->kind) > 32))
                        return "the detail of an outcome is longer than 512 bytes";
        }
        return NULL;
}

static struct entry *add(struct outcomes *o, uint64_t alert)
{
        struct entry *e = o->n < OUTCOMES_MAX ? calloc(1, sizeof(*e)) : NULL;

        if (!e)
                return NULL;
        e->chain = *bucket_of(o, alert);
        *bucket_of(o, alert) = e;
        o->n++;
        return e;
}

const char *outcomes_set(struct outcomes *o, const Hw__AlertOutcome *outcome, uint64_t now_ns)
{
        const char *mistake = wrong(outcome);
        struct entry *e;

        if (mistake)
                return mistake;
        if (now_ns - o->swept_ns > SWEEP_NS) {
                sweep(o, sub_sat(now_ns, OUTCOME_KEEP_NS));
                o->swept_ns = now_ns;
        }
        e = find(o, outcome->alert);
        if (!e)
                e = add(o, outcome->alert);
        if (!e)
                return NULL; /* no room: not shown, but not the notifier's mistake */
        if (e->outcome)
                hw_message_unref(&e->outcome->base);
        e->outcome = hw_message_ref(&outcome->base);
        e->used_ns = now_ns;
        return NULL;
}

const Hw__AlertOutcome *outcomes_find(struct outcomes *o, uint64_t alert, uint64_t now_ns)
{
        struct entry *e = find(o, alert);

        if (!e)
                return NULL;
        e->used_ns = now_ns;
        return e->outcome;
}

/* ------------------------------------------------------------------- image */

/* As the request by which it was reported: so it is checked again when it is read. */
static void write_outcome(struct image *im, const Hw__AlertOutcome *outcome)
{
        Hw__AlertOutcome *all[] = { (Hw__AlertOutcome *)outcome };
        Hw__OutcomesRequest body = HW__OUTCOMES_REQUEST__INIT;
        Hw__Request request = HW__REQUEST__INIT;
        uint32_t size = 0;
        uint8_t *packed = NULL;

        body.alerts = all;
        body.n_alerts = outcome ? 1 : 0;
        request.what_case = HW__REQUEST__WHAT_OUTCOMES;
        request.outcomes = &body;
        if (outcome && (packed = malloc(hw__request__get_packed_size(&request))))
                size = (uint32_t)hw__request__pack(&request, packed);
        image_plain(im, &size, sizeof(size));
        image_block(im, &packed, size, size);
        free(packed);
}

static void read_outcome(struct image *im, struct outcomes *o, uint64_t now_ns)
{
        uint32_t size = 0;
        uint8_t *packed = NULL;
        const char *reason;

        image_plain(im, &size, sizeof(size));
        image_block(im, &packed, size, size);
        Hw__Request *request = packed ? hw_request_unpack(packed, size, &reason) : NULL;
        if (packed && (!request || request->what_case != HW__REQUEST__WHAT_OUTCOMES))
                image_refuse(im, "the results of an alert's actions are damaged");
        else
                for (size_t i = 0; request && i < request->outcomes->n_alerts; i++)
                        (void)outcomes_set(o, request->outcomes->alerts[i], now_ns);
        hw_request_destroy(&request);
        free(packed);
}

void outcomes_image(struct image *im, struct outcomes *o, uint64_t alert, uint64_t now_ns)
{
        if (im->reads)
                read_outcome(im, o, now_ns);
        else
                write_outcome(im, outcomes_find(o, alert, now_ns));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/requests.h"

#include "daemon/publish/transport/bus.h"
#include "proto/base/error.h"

#define RETRY_NS UINT64_C(1000000000)

const char out_of_memory[] = "the daemon is out of memory; retry later, or request less";

void reply_error(struct bus_client *client, const char *error)
{
        Hw__Reply reply = HW__REPLY__INIT;

        reply.error = (char *)error;
        bus_reply(client, &reply);
}

void reply_done(struct bus_client *client, const char *target, const char *run_before)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__Done done = HW__DONE__INIT;

        done.target = (char *)target;
        done.run_before = run_before[0] ? (char *)run_before : NULL;
        reply.what_case = HW__REPLY__WHAT_DONE;
        reply.done = &done;
        bus_reply(client, &reply);
}

void reply_no_target(struct bus_client *client, const char *name)
{
        struct error error;

        error_set(&error, "there is no target '%.64s'; `heapwatch status` lists them", name ? name : "");
        reply_error(client, error.text);
}

static Hw__Reply retry(const char *error)
{
        Hw__Reply reply = HW__REPLY__INIT;

        reply.error = (char *)error;
        reply.what_case = HW__REPLY__WHAT_RETRY_AFTER_NS;
        reply.retry_after_ns = RETRY_NS;
        return reply;
}

bool offer_retry(struct bus_client *client, const char *error)
{
        Hw__Reply reply = retry(error);

        return bus_offer(client, &reply) != BUS_TAKES_LATER;
}

void reply_too_late(struct bus_client *client)
{
        Hw__Reply reply = retry("you have read nothing of the answer for a minute; retry");

        (void)bus_offer_last(client, &reply);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/inspect_subject.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/attach/processes.h"
#include "client/feed/locate.h"
#include "heapwatch/requester.h"

#define TIMEOUT_MS 3000

static void see_reply(void *ctx, const Hw__Reply *reply)
{
        const Hw__Update *u = reply->what_case == HW__REPLY__WHAT_UPDATE ? reply->update : NULL;
        const Hw__Target *t = u && u->body_case == HW__UPDATE__BODY_TARGET_STATE ? u->target_state : NULL;

        if (t && t->run_info && t->run_info->has_pid && t->state == HW__TARGET__STATE__STATE_RUNNING)
                *(pid_t *)ctx = (pid_t)t->run_info->pid;
}

/* Of the daemon on this machine: another's processes are not here. 0: no such target runs, or there is no daemon. */
static pid_t find_pid_of_target(const char *name)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);
        char publish[256], ask[256];
        pid_t pid = 0;

        if (r && hw_request_add_target(r->snapshot, name) == 0 &&
            hw_request_add_kind(r->snapshot, HW__KIND__KIND_TARGET) == 0 &&
            hw_default_endpoints(publish, ask, sizeof(publish)) == 0)
                (void)hw_request(publish, r, TIMEOUT_MS, see_reply, &pid);
        hw_request_destroy(&r);
        return pid;
}

bool subject_find(struct inspectee *ret, const char *text, struct error *error)
{
        *ret = (struct inspectee){ .core = NULL };
        if (locate_is_log(text)) {
                ret->core = text;
                return access(text, R_OK) == 0 || error_set(error, "%s: %s", text, strerror(errno));
        }
        if (process_number(text, &ret->pid, error))
                return true;
        ret->pid = find_pid_of_target(text);
        return ret->pid != 0;
}

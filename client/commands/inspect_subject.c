/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/inspect_subject.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/answers/answers.h"
#include "client/launch/attach/processes.h"
#include "client/cli/absent.h"
#include "client/cli/endpoints.h"
#include "client/world/feed/locate.h"
#include "client/launch/run/daemon.h"
#include "client/world/state/band_name.h"
#include "client/world/state/world.h"

static void see_reply(void *ctx, const Hw__Reply *reply)
{
        if (reply->what_case == HW__REPLY__WHAT_UPDATE)
                (void)world_apply(ctx, 0, reply->update); /* without memory the target is not found */
}

/* By the name that the inspection has of it. */
static void set_band(struct inspectee *ret, const char *name)
{
        if (name && strlen(name) < sizeof(ret->band))
                (void)snprintf(ret->band, sizeof(ret->band), "%s", name);
}

#define LABEL_MOST 96u /* bytes of a thread's label */

static void read_labels(struct inspectee *ret, const struct world_target *t)
{
        size_t n = 0;

        for (uint64_t i = t->notes_first; i && i <= t->notes_last; i++) {
                const struct world_note *note = world_note(t, i);
                char line[160];

                if (!note || note->what != HW__NOTE__WHAT__WHAT_THREAD_LABEL || !note->has_text)
                        continue;
                const size_t most = strcspn(note->text, "\n");
                const int length = snprintf(line, sizeof(line), "%" PRIu32 "=%.*s\n", note->thread,
                                            (int)(most < LABEL_MOST ? most : LABEL_MOST), note->text);
                if (length > 0 && (size_t)length < sizeof(line) && n + (size_t)length < sizeof(ret->labels))
                        n += (size_t)snprintf(ret->labels + n, sizeof(ret->labels) - n, "%s", line);
        }
}

/*
 * Its process, and the type that grows most: the inspection has the names of a census by closure type, and the places
 * in the source of one by info table.
 */
static bool read_target(struct inspectee *ret, const struct world_target *t, struct error *error)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        struct answers a;

        if (!world_process(t, &ret->pid, error))
                return false;
        if (t->heap && t->heap->resident && t->heap->resident->has_foreign_bytes) {
                ret->foreign_bytes = t->heap->resident->foreign_bytes;
                ret->resident_bytes = t->heap->resident->rss_bytes;
        }
        read_labels(ret, t);
        answers_brief(&a, t, true);
        ret->foreign = !a.culprit && !strcmp(a.culprit_text, "foreign");
        const struct world_band *grows = a.culprit ? world_band_of(t, a.culprit) : NULL;
        if (grows && run->breakdown == HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE && grows->def->label)
                set_band(ret, package_label(grows->def->label).rest);
        else if (grows && run->breakdown == HW__BREAKDOWN__BREAKDOWN_INFO_TABLE)
                set_band(ret, band_source(grows->def));
        ret->band_bytes = ret->band[0] ? grows->bytes : 0;
        return true;
}

/* *ret_is_target: the daemon has one of that name, whatever is wrong with it. */
static bool find_target(struct inspectee *ret, const char *name, const char *endpoint, bool *ret_is_target,
                        struct error *error)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);
        struct world *world = world_new(NULL);
        const struct world_target *t = NULL;
        bool good = r && world && hw_request_add_target(r->snapshot, name) == 0;
        const bool answered =
                good ? absent_request(endpoint, r, see_reply, world, error) : error_set(error, "out of memory");

        if (!answered)
                good = false;
        else if (!(t = world_find(world, name)))
                good = error_set(error, "the daemon has no target %s", name);
        else
                good = read_target(ret, t, error);
        *ret_is_target = answered && t;
        world_destroy(&world);
        hw_request_destroy(&r);
        return good;
}

/* Of your own daemon, if it runs. The error is why a target of that name is of no use; "": there is none. */
static bool find_own_target(struct inspectee *ret, const char *name, struct error *error)
{
        struct daemon_link link;
        bool is_target = false;
        const bool good = daemon_link_init(&link, error) && daemon_reachable(&link) &&
                          find_target(ret, name, link.publish, &is_target, error);

        if (!is_target)
                error->text[0] = '\0';
        return good;
}

bool subject_find(struct inspectee *ret, const char *text, const char *endpoint, struct error *error)
{
        struct error why = { "" };
        bool is_target;

        *ret = (struct inspectee){ .file = NULL };
        if (endpoint && !endpoint_is_here(endpoint, error))
                return false;
        if (endpoint)
                return find_target(ret, text, endpoint, &is_target, error);
        const char *kept =
                strncmp(text, COREDUMP_PREFIX, strlen(COREDUMP_PREFIX)) ? NULL : text + strlen(COREDUMP_PREFIX);
        if (kept && !coredump_find(COREDUMP_DIRECTORY, kept, &ret->kept, error))
                return false;
        if (kept || locate_is_log(text)) {
                text = kept ? ret->kept.path : text;
                ret->file = text;
                return access(text, R_OK) == 0 || error_set(error, "%s: %s", text, strerror(errno));
        }
        if ((strspn(text, "0123456789") != strlen(text) && find_own_target(ret, text, &why)) ||
            process_number(text, &ret->pid, error))
                return true;
        if (why.text[0])
                *error = why;
        return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/record/recorder.h"

#include <stdio.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/record/limits.h"
#include "proto/base/ckd.h"

static const char too_slow[] = "the disk does not take the streams in time";
static const char hangs[] = "the disk has not answered for 10 s";

_Static_assert(SLOW_NS == 10 * UINT64_C(1000000000), "the text says 10 s");

static const char *reason(const struct pause *p)
{
        return p->disk[0] ? p->disk : p->slow;
}

/* Logs when a pause begins, has another reason, or ends; to be called with the lock held after each change. */
static void log_change(struct pause *p)
{
        const char *why = reason(p);

        if (why && strcmp(why, p->said) != 0)
                log_warning("recording=%s paused: %s; targets are watched as before; it resumes by itself",
                            p->directory, why);
        else if (!why && p->said[0])
                log_info("recording=%s resumed", p->directory);
        (void)snprintf(p->said, sizeof(p->said), "%s", why ? why : "");
}

void pause_init(struct pause *p, const char *directory)
{
        *p = (struct pause){ .directory = directory };
        pthread_mutex_init(&p->lock, NULL);
}

void pause_done(struct pause *p)
{
        pthread_mutex_destroy(&p->lock);
}

void pause_disk(struct pause *p, const char *trouble)
{
        pthread_mutex_lock(&p->lock);
        snprintf(p->disk, sizeof(p->disk), "%s", trouble);
        log_change(p);
        pthread_mutex_unlock(&p->lock);
}

void pause_refused(struct pause *p, uint64_t now_ns)
{
        pthread_mutex_lock(&p->lock);
        p->refused_ns = now_ns;
        p->slow = too_slow;
        log_change(p);
        pthread_mutex_unlock(&p->lock);
}

void pause_update(struct pause *p, size_t waiting, uint64_t done, uint64_t now_ns)
{
        pthread_mutex_lock(&p->lock);
        if (waiting == 0 || done != p->done || p->moved_ns == 0)
                p->moved_ns = now_ns;
        p->done = done;
        if (sub_sat(now_ns, p->moved_ns) >= SLOW_NS)
                p->slow = hangs;
        else if (p->refused_ns && sub_sat(now_ns, p->refused_ns) < SLOW_NS)
                p->slow = too_slow;
        else
                p->slow = NULL;
        log_change(p);
        pthread_mutex_unlock(&p->lock);
}

bool pause_is_by_disk(struct pause *p)
{
        pthread_mutex_lock(&p->lock);
        const bool refuses = p->disk[0] != '\0';
        pthread_mutex_unlock(&p->lock);
        return refuses;
}

bool pause_reason(struct pause *p, char out[PAUSE_DETAIL_BYTES])
{
        pthread_mutex_lock(&p->lock);
        const char *why = reason(p);
        snprintf(out, PAUSE_DETAIL_BYTES, "%s", why ? why : "");
        pthread_mutex_unlock(&p->lock);
        return why != NULL;
}

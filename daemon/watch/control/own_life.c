/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/service.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/publish/encode.h"
#include "daemon/source/loop/shutdown.h"
#include "proto/base/error.h"
#include "proto/base/event.h"
#include "proto/base/private_directory.h"
#include "proto/base/whole_file.h"

#define CHECK_S 5 /* between two checks that the file is still there */

/* A descriptor, or -errno with a sentence. */
static int begin_life(const struct own_life *own, struct daemon_life *ret_before, struct error *error)
{
        const int directory = private_directory_open(own->place, true, error);

        if (directory < 0)
                return -ENOENT;
        (void)close(directory);
        return daemon_life_begin(own->place, own->records, ret_before, error);
}

/* The directory may have been removed: makes it again, so that clients still learn how this daemon ends. */
static void restore_removed(evutil_socket_t fd, short what, void *ctx)
{
        struct own_life *own = ctx;
        struct daemon_life before;
        struct error error;
        struct stat st;

        if (fstat(own->fd, &st) != 0 || st.st_nlink > 0 || whole_file_directories(own->place) != 0)
                return;
        const int again = begin_life(own, &before, &error);
        if (again < 0)
                return;
        (void)close(own->fd);
        own->fd = again;
        crash_catch(again);
        log_warning("state=%s was removed; it is made again", own->place);
}

void own_life_watch(struct own_life *own, struct event_base *base)
{
        const struct timeval every = { .tv_sec = CHECK_S };

        own->check = own->fd >= 0 ? event_new(base, -1, EV_PERSIST, restore_removed, own) : NULL;
        if (own->check)
                (void)event_add(own->check, &every);
}

bool own_life_begin(struct own_life *own, const struct config *config)
{
        const char *place = config->state[0] ? config->state : config->checkpoint.directory;
        char older[LOG_PATH_MAX];
        struct daemon_life before = { 0 };
        struct error error;

        *own = (struct own_life){ .fd = -1, .place = place, .records = config->record.directory[0] };
        if (!place[0]) {
                crash_catch(-1);
                return true;
        }
        own->fd = begin_life(own, &before, &error);
        if (own->fd < 0 && own->fd != -EBUSY) {
                log_warning("how this daemon ends will not be known: %s", error.text); /* a full disk, for example */
                own->fd = -1;
                crash_catch(-1);
                return true;
        }
        if (own->fd < 0) {
                fprintf(stderr, "heapwatchd: --%s: %s\n", config->state[0] ? "state" : "checkpoint", error.text);
                return false;
        }
        crash_catch(own->fd);
        if (config->state[0]) {
                snprintf(older, sizeof(older), "%s/daemon.log.1", place);
                log_bound_file(older);
        }
        if (daemon_life_died(&before)) {
                (void)daemon_life_text(own->text, &before);
                log_warning("the daemon before this one, process %ld, %s", (long)before.pid, own->text);
                hw__daemon_before__init(&own->before);
                if (before.end == LIFE_SIGNAL)
                        PUT(&own->before, signal, (uint32_t)before.signal);
                PUT(&own->before, started_wall_ns, before.began_ns);
                if (before.ended_ns)
                        PUT(&own->before, ended_wall_ns, before.ended_ns);
                PUT(&own->before, in_a_row, daemon_life_failures(&before));
                own->before.text = own->text;
        }
        return true;
}

void own_life_end(struct own_life *own)
{
        free_event(&own->check);
        if (own->fd >= 0)
                daemon_life_stopped(own->fd);
}

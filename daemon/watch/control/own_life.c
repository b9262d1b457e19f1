/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/service.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/loop/shutdown.h"
#include "proto/base/error.h"
#include "proto/base/private_directory.h"

static void report_before(struct own_life *own, const struct daemon_life *before)
{
        if (!daemon_life_died(before))
                return;
        (void)daemon_life_text(own->text, before);
        log_warning("the daemon before this one, process %ld, %s", (long)before->pid, own->text);
        hw__daemon_before__init(&own->before);
        own->before.has_signal = before->end == LIFE_SIGNAL;
        own->before.signal = (uint32_t)before->signal;
        own->before.has_started_wall_ns = true;
        own->before.started_wall_ns = before->began_ns;
        own->before.has_ended_wall_ns = before->ended_ns != 0;
        own->before.ended_wall_ns = before->ended_ns;
        own->before.has_in_a_row = true;
        own->before.in_a_row = daemon_life_failures(before);
        own->before.text = own->text;
}

bool own_life_begin(struct own_life *own, const struct config *config)
{
        const char *place = config->state[0] ? config->state : config->checkpoint.directory;
        char older[LOG_PATH_MAX];
        struct daemon_life before = { 0 };
        struct error error;
        int directory;

        *own = (struct own_life){ .fd = -ENOENT };
        if (!place[0]) {
                own->fd = -1;
                crash_catch(-1);
                return true;
        }
        directory = private_directory_open(place, true, &error);
        if (directory >= 0) {
                (void)close(directory);
                own->fd = daemon_life_begin(place, config->record.directory[0], &before, &error);
        }
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
        report_before(own, &before);
        return true;
}

void own_life_end(const struct own_life *own)
{
        if (own->fd >= 0)
                daemon_life_stopped(own->fd);
}

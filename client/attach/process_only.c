/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/attach/process_only.h"

#include <stdio.h>
#include <string.h>

#include "client/program/process_uri.h"
#include "heapwatch/text.h"
#include "proto/base/limits.h"

#define PATIENCE_MS 8000 /* for the daemon to answer, also a new one */

/* Its program, as the kernel names it: the file may not be readable. */
static void program_of(pid_t pid, char *ret, size_t size)
{
        char path[64], text[64] = "";

        snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
        FILE *f = fopen(path, "re");
        if (f && fgets(text, sizeof(text), f))
                text[strcspn(text, "\n")] = '\0';
        if (f)
                (void)fclose(f);
        (void)hw_terminal_text(ret, size, text[0] ? text : "process");
}

static void print(pid_t pid, const char *program, const char *target, enum obstacle obstacle)
{
        if (obstacle == OBSTACLE_NONE)
                printf("watching the process alone of %s, %ld: heapwatch top %s\n", program, (long)pid, target);
        else
                printf("watching the process alone of %s, %ld, because %s: heapwatch top %s\n", program, (long)pid,
                       obstacle_reason(obstacle), target);
        printf("live data, bands and collections are not known%s%s; `heapwatch detach %ld` stops watching\n",
               obstacle_remedy(obstacle)[0] ? "; to see them, " : "", obstacle_remedy(obstacle), (long)pid);
}

bool process_only_attach(pid_t pid, const struct process_wish *wish, struct error *error)
{
        struct daemon_wish target = wish->target;
        struct daemon_link link;
        char uri[PROCESS_URI_SIZE], program[64], name[DAEMON_NAME_MAX], given[DAEMON_NAME_MAX];
        char reason[PROCESS_REASON_SIZE], started[OWN_DAEMON_TEXT];

        if (!process_uri(pid, uri))
                return error_set(error, "there is no process %ld", (long)pid);
        if (!daemon_link_init(&link, error))
                return false;
        link.wait_ms = PATIENCE_MS;
        program_of(pid, program, sizeof(program));
        daemon_name_of(program, name);
        obstacle_sentence(wish->obstacle, reason, sizeof(reason));
        target.process_only_reason = reason;
        link.no_record = target.no_record;
        enum daemon_outcome ensured = daemon_ensure(&link, PATIENCE_MS, started, error);
        if (started[0])
                printf("%s\n", started);
        if (ensured != DAEMON_OK || daemon_add(&link, wish->name ? wish->name : name, wish->name != NULL, uri, &target,
                                               given, error) != DAEMON_OK)
                return false;
        print(pid, program, given, wish->obstacle);
        return true;
}

bool process_only_detach(pid_t pid)
{
        struct daemon_link link;
        struct daemon_target there;
        struct error error;
        char uri[PROCESS_URI_SIZE];

        if (!process_uri(pid, uri) || !daemon_link_init(&link, &error))
                return false;
        link.wait_ms = PATIENCE_MS;
        if (!daemon_find(&link, uri, &there) || !there.name[0] || !daemon_remove(&link, there.name))
                return false;
        printf("its process, %ld, is no longer watched as %s\n", (long)pid, there.name);
        return true;
}

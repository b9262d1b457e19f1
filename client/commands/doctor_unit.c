/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heapwatch doctor --systemd UNIT - the drop-in that puts the agent before a
 * service. Nothing is read of the unit and nothing is changed: the text is
 * printed, with what to do with it.
 *
 * DESIGN: the socket is in a directory that systemd makes for the service's
 * user (RuntimeDirectory=), with its name from the specifier %N, so that one
 * text holds for each instance of a template, too.
 */
#include "client/commands/doctor.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "client/cli/command.h"
#include "client/launch/program/agent_fit.h"
#include "proto/base/text_out.h"

#define SUFFIX      ".service"
#define SERVICE     "heapwatch" /* the user of heapwatchd.service */
#define UNIT_MAX    256         /* as systemd has it */
#define DIRECTORY   "heapwatch-agent-"
#define SOCKET_NAME "agent.sock"

/* The unit's name without its suffix. False: that is no name of a service. */
static bool service_name(const char *unit, char name[UNIT_MAX])
{
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-_.\\@";
        size_t n = strlen(unit);

        if (text_has_suffix(unit, SUFFIX))
                n -= strlen(SUFFIX);
        if (n == 0 || n + strlen(SUFFIX) >= UNIT_MAX || strspn(unit, letters) < n || unit[0] == '.' || unit[0] == '@')
                return false;
        (void)snprintf(name, UNIT_MAX, "%.*s", (int)n, unit);
        return true;
}

static void print_steps(const char *name)
{
        const bool is_template = name[strlen(name) - 1] == '@';
        const char *instance = is_template ? "INSTANCE" : "";
        char target[65];

        /* A name that a target can have, of up to 64 bytes. */
        (void)snprintf(target, sizeof(target), "%.64s", name);
        for (char *c = target; *c; c++)
                if (strchr(":\\@", *c))
                        *c = '-';
        printf("# The agent of heapwatch in "
               "%s" SUFFIX
               ", which is watched from inside then. Save this as\n"
               "#     /etc/systemd/system/%s" SUFFIX
               ".d/heapwatch.conf\n"
               "# then: sudo systemctl daemon-reload && sudo systemctl restart %s%s" SUFFIX
               "\n"
               "# To undo it, remove the file and do the same.\n"
               "#\n"
               "# heapwatchd" SUFFIX
               " reads it with this in /etc/heapwatch/heapwatchd.yaml, after a restart of it:\n"
               "#     targets:\n"
               "#       - {name: %s%s, uri: \"unix:/run/" DIRECTORY "%s%s/" SOCKET_NAME
               "\"}\n"
               "#\n"
               "# With an LD_PRELOAD of its own, the unit needs both in one, separated by a colon. "
               "RestrictAddressFamilies= must\n"
               "# allow AF_UNIX. A program whose file has capabilities, or is set-user-ID, ignores LD_PRELOAD.\n",
               name, name, name, instance, target, instance, name, instance);
}

int doctor_unit(const char *unit)
{
        const struct passwd *service = getpwnam(SERVICE);
        char name[UNIT_MAX], library[4096];
        struct error error;

        if (!service_name(unit, name))
                return command_error(&command_doctor,
                                     "%s is not the name of a service: expected one such as api" SUFFIX, unit);
        if (!agent_fit_library(library, sizeof(library), &error))
                return command_error(&command_doctor, "%s", error.text);
        if (strpbrk(library, " \t\n\"\\%%:"))
                return command_error(&command_doctor,
                                     "%s: a path with spaces, quotes, colons, \\ or %% cannot be preloaded by a unit",
                                     library);
        print_steps(name);
        if (!service)
                printf("# There is no user " SERVICE
                       " here, so only the service's own user and root can read it: install the\n"
                       "# packages, or add ;reader=UID, the number of the user that heapwatchd runs as.\n");
        printf("[Service]\n"
               "RuntimeDirectory=" DIRECTORY
               "%%N\n"
               "Environment=LD_PRELOAD=%s\n"
               "Environment=\"HEAPWATCH_AGENT=socket=%%t/" DIRECTORY "%%N/" SOCKET_NAME,
               library);
        if (service)
                printf(";reader=%lu", (unsigned long)service->pw_uid);
        puts("\"");
        return EXIT_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/program/process_uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/process_stat.h"

bool process_uri(pid_t pid, char ret[PROCESS_URI_SIZE])
{
        uint64_t start;

        return process_stat_read(pid, STAT_START_TICKS, &start) && start != 0 &&
               snprintf(ret, PROCESS_URI_SIZE, "pid:%ld@%" PRIu64, (long)pid, start) < PROCESS_URI_SIZE;
}

void process_uri_outside(const char *process, char ret[PROCESS_URI_SIZE])
{
        (void)snprintf(ret, PROCESS_URI_SIZE, "outside:%s", process + strlen("pid:"));
}

bool process_uri_is_outside(const char *uri)
{
        return uri && !strncmp(uri, "outside:", strlen("outside:"));
}

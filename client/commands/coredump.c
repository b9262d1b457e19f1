/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the names of the files say all that is needed (systemd-coredump(8)):
 * core.COMM.UID.BOOT.PID.MICROSECONDS, and .zst where it is compressed. COMM may have dots, so fields are counted from
 * the end. What COMM has that a name must not is there as \xNN.
 */
#include "client/commands/inspect_subject.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS     4u  /* behind COMM */
#define COMM_BYTES 15u /* as long as the kernel keeps a name */
#define NAME_BYTES 256u

struct core_name {
        char comm[NAME_BYTES];
        const char *pid; /* digits */
        uint64_t time_us;
};

static bool is_number(const char *text)
{
        return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* "core.my\x20server.1000.0123abcd.4711.1790000000000000.zst". False: it is none of these. */
static bool read_name(const char *name, struct core_name *ret)
{
        char *fields[FIELDS], *at;

        if (strncmp(name, "core.", 5) != 0 || strlen(name + 5) >= sizeof(ret->comm))
                return false;
        (void)snprintf(ret->comm, sizeof(ret->comm), "%s", name + 5);
        if ((at = strrchr(ret->comm, '.')) && !is_number(at + 1))
                *at = '\0';
        for (size_t i = FIELDS; i-- > 0; *at = '\0') {
                if (!(at = strrchr(ret->comm, '.')))
                        return false;
                fields[i] = at + 1;
        }
        ret->pid = fields[2];
        ret->time_us = strtoull(fields[3], NULL, 10);
        return is_number(fields[0]) && is_number(fields[2]) && is_number(fields[3]);
}

bool coredump_find(const char *directory, const char *which, struct coredump *ret, struct error *error)
{
        DIR *d = opendir(directory);
        const struct dirent *e;
        struct core_name c;

        if (!d)
                return error_set(error, "%s: %s; there systemd-coredump keeps core files", directory, strerror(errno));
        *ret = (struct coredump){ .time_us = 0 };
        while ((e = readdir(d)))
                if (read_name(e->d_name, &c) && c.time_us > ret->time_us &&
                    (!strcmp(c.pid, which) || !strncmp(c.comm, which, COMM_BYTES))) {
                        ret->time_us = c.time_us;
                        (void)snprintf(ret->path, sizeof(ret->path), "%.200s/%s", directory, e->d_name);
                }
        (void)closedir(d);
        return ret->time_us > 0 ||
               error_set(error, "no core file of %.200s is in %s; `coredumpctl list` names them", which, directory);
}

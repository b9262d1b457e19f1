/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/sibling.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/text_out.h"

static bool find_beside(const char *name, int mode, char *ret_path, size_t size)
{
        char self[PATH_MAX];
        const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        char *slash;

        if (n <= 0)
                return false;
        self[n] = '\0';
        slash = strrchr(self, '/');
        if (!slash)
                return false;
        *slash = '\0';
        const int printed = snprintf(ret_path, size, "%s/%s", self, name);
        return printed > 0 && (size_t)printed < size && access(ret_path, mode) == 0;
}

void sibling_program(const char *name, char *ret_path, size_t size)
{
        if (!find_beside(name, X_OK, ret_path, size))
                (void)snprintf(ret_path, size, "%s", name);
}

bool sibling_file(const char *name, char *ret_path, size_t size)
{
        return find_beside(name, R_OK, ret_path, size);
}

bool sibling_signatures(char *ret_path, size_t size)
{
        const char *named = getenv("HEAPWATCH_SIGNATURES");

        return named ? strlen(text_join(ret_path, size, named, NULL)) == strlen(named)
                     : sibling_file("../share/heapwatch/signatures", ret_path, size);
}

static int set_attributes(posix_spawnattr_t *attributes)
{
        sigset_t none, all;
        int err;

        (void)sigemptyset(&none);
        (void)sigfillset(&all);
        if ((err = posix_spawnattr_setsigmask(attributes, &none)) ||
            (err = posix_spawnattr_setsigdefault(attributes, &all)) || (err = posix_spawnattr_setpgroup(attributes, 0)))
                return err;
        return posix_spawnattr_setflags(attributes,
                                        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

static int set_files(posix_spawn_file_actions_t *actions, const int files[3])
{
        int err = 0;

        for (int fd = 0; !err && fd < 3; fd++)
                err = files[fd] == SIBLING_NULL
                              ? posix_spawn_file_actions_addopen(actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0)
                              : posix_spawn_file_actions_adddup2(actions, files[fd], fd);
        return err;
}

int sibling_spawn(char *const argv[], const int files[3], pid_t *ret_pid)
{
        char path[PATH_MAX];
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_t actions;

        sibling_program(argv[0], path, sizeof(path));
        descriptors_close_at_exec(STDERR_FILENO + 1);
        int err = posix_spawnattr_init(&attributes);
        if (!err) {
                err = posix_spawn_file_actions_init(&actions);
                if (!err) {
                        if (!(err = set_attributes(&attributes)) && !(err = set_files(&actions, files)))
                                err = posix_spawnp(ret_pid, path, &actions, &attributes, argv, environ);
                        (void)posix_spawn_file_actions_destroy(&actions);
                }
                (void)posix_spawnattr_destroy(&attributes);
        }
        if (err)
                *ret_pid = 0;
        return err;
}

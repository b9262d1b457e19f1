/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "proto/base/descriptors.h"
#include "proto/base/sibling.h"

static int set_attributes(posix_spawnattr_t *attributes, enum child_place place)
{
        sigset_t none, defaults;
        int err;

        (void)sigemptyset(&none);
        (void)sigemptyset(&defaults);
        if (place == CHILD_APART)
                (void)sigfillset(&defaults);
        else {
                (void)sigaddset(&defaults, SIGPIPE);
                (void)sigaddset(&defaults, SIGXFSZ);
        }
        if ((err = posix_spawnattr_setsigmask(attributes, &none)) ||
            (err = posix_spawnattr_setsigdefault(attributes, &defaults)) ||
            (err = posix_spawnattr_setpgroup(attributes, 0)))
                return err;
        return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                            (place == CHILD_APART ? POSIX_SPAWN_SETPGROUP : 0));
}

static int set_files(posix_spawn_file_actions_t *actions, const int files[3])
{
        int err = 0;

        for (int fd = 0; !err && fd < 3; fd++)
                err = files[fd] == CHILD_NULL
                              ? posix_spawn_file_actions_addopen(actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0)
                              : posix_spawn_file_actions_adddup2(actions, files[fd], fd);
        return err;
}

int child_spawn(char *const argv[], const int files[3], enum child_place place, pid_t *ret_pid)
{
        char path[PATH_MAX];
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_t actions;

        sibling_program(argv[0], path, sizeof(path));
        if (place == CHILD_APART)
                descriptors_close_at_exec(STDERR_FILENO + 1);
        int err = posix_spawnattr_init(&attributes);
        if (!err) {
                err = posix_spawn_file_actions_init(&actions);
                if (!err) {
                        if (!(err = set_attributes(&attributes, place)) && !(err = set_files(&actions, files)))
                                err = posix_spawnp(ret_pid, path, &actions, &attributes, argv, environ);
                        (void)posix_spawn_file_actions_destroy(&actions);
                }
                (void)posix_spawnattr_destroy(&attributes);
        }
        if (err)
                *ret_pid = 0;
        return err;
}

int child_pipes(int first[2], int first_flags, int second[2], int second_flags)
{
        int err;

        if (pipe2(first, O_CLOEXEC | first_flags) < 0)
                return -errno;
        if (pipe2(second, O_CLOEXEC | second_flags) == 0)
                return 0;
        err = errno;
        (void)close(first[0]);
        (void)close(first[1]);
        return -err;
}

int child_wait(pid_t pid)
{
        int status;
        pid_t r;

        while ((r = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
                ;
        return r == pid ? status : -1;
}

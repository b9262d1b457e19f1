/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a process has mapped are found, whatever root it and we have. */
#include "tests/unit/test.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/whole_file.h"

enum outcome { FOUND, NOT_FOUND, NOT_PERMITTED };

/* The C library's path in a file of maps. */
static bool find_libc(pid_t pid, char *path, size_t size)
{
        char name[64], line[4600];
        bool found = false;

        (void)snprintf(name, sizeof(name), "/proc/%ld/maps", (long)pid);
        FILE *f = fopen(name, "re");
        while (f && !found && fgets(line, sizeof(line), f)) {
                const char *at = strchr(line, '/');
                line[strcspn(line, "\n")] = '\0';
                found = at && strstr(at, "/libc") && (size_t)snprintf(path, size, "%s", at) < size;
        }
        if (f)
                (void)fclose(f);
        return found;
}

static enum outcome look(pid_t other, const struct stat *wanted)
{
        char path[4200];
        struct stat st;
        const int fd = find_libc(other, path, sizeof(path)) ? mapped_file_open(other, path) : -1;
        const enum outcome outcome = fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == wanted->st_ino ? FOUND : NOT_FOUND;

        if (outcome == NOT_FOUND)
                print_error("%s of process %ld is not found\n", path, (long)other);
        if (fd >= 0)
                (void)close(fd);
        return outcome;
}

/* In a child: as if the tree were started in a chroot, where `root` is its folder; NULL: not in one. */
static enum outcome look_from(const char *root, bool own_mounts, const struct stat *wanted)
{
        if (root && (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
                     mount("/", root, NULL, MS_BIND | MS_REC, NULL) != 0 || chroot(root) != 0 || chdir("/") != 0))
                return NOT_PERMITTED;
        /* A process with mounts of its own where `own_mounts`, which waits until it is killed. */
        int ready[2];
        char byte;

        assert_int_equal(pipe(ready), 0);
        const pid_t pid = fork();
        if (pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                if ((own_mounts && unshare(CLONE_NEWNS) != 0) || write(ready[1], "", 1) != 1)
                        _exit(1);
                for (;;)
                        (void)pause();
        }
        (void)close(ready[1]);
        const bool is_ready = read(ready[0], &byte, 1) == 1;
        (void)close(ready[0]);
        const pid_t other = is_ready ? pid : -1;
        if (other < 0)
                return NOT_PERMITTED;
        const enum outcome outcome = look(other, wanted);
        (void)kill(other, SIGKILL);
        (void)waitpid(other, NULL, 0);
        return outcome;
}

static void check(bool in_chroot, bool own_mounts)
{
        char root[] = "/tmp/hw-root-XXXXXX", path[4200];
        struct stat wanted;
        int status;

        assert_true(find_libc(getpid(), path, sizeof(path)) && stat(path, &wanted) == 0);
        assert_non_null(mkdtemp(root));
        const pid_t pid = fork();
        if (pid == 0)
                _exit((int)look_from(in_chroot ? root : NULL, own_mounts, &wanted));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(rmdir(root), 0);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == NOT_PERMITTED)
                skip();
        assert_int_equal(WEXITSTATUS(status), FOUND);
}

TEST(of_a_process_like_ours)
{
        check(false, false);
}

TEST(of_one_with_mounts_of_its_own)
{
        check(false, true);
}

TEST(in_the_same_chroot)
{
        check(true, false);
}

TEST(in_the_same_chroot_with_mounts_of_its_own)
{
        check(true, true);
}

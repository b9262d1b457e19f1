/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trust.c - DESIGN: a directory that is ours (or root's, or the user's whose
 * daemon was named) in which nobody else may write, below directories that
 * nobody else can rename, holds nobody else's socket, now or later. So one check
 * before connecting is enough, although ZeroMQ connects again and again. The user
 * of the process that listens now is checked as well.
 *
 * The default directory may be another user's only where nobody else could have
 * made it: /run/heapwatch is the service's, and root's clients use it.
 *
 * A missing directory could be made by anybody where others may write: our own
 * default one is then created, another is refused.
 *
 * In a user namespace without the machine's root, root's directories belong to the overflow uid, as do those of all
 * users that are not mapped. Only directories that are root's on every machine are taken for root's then.
 *
 * A volume of a container, as an emptyDir of Kubernetes, is the root of a mount that
 * belongs to root and is writable for all: whoever mounts it is let in by that.
 */
#include "proto/wire/endpoints.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwatch/wire.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/kernel_file.h"
#include "proto/base/error.h"
#include "proto/base/private_directory.h"

#define IPC "ipc://"

static bool is_one_of_us(uid_t uid, uid_t owner)
{
        return uid == 0 || uid == geteuid() || uid == owner;
}

/* ------------------------------------------------------- the directories above */

/* The directory that `path` is in, without links. False with errno. */
static bool parent_of(const char *path, char out[PATH_MAX])
{
        char copy[PATH_MAX];
        char *slash;

        if ((size_t)snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy)) {
                errno = ENAMETOOLONG;
                return false;
        }
        slash = strrchr(copy, '/');
        if (slash == copy)
                slash++;
        if (slash)
                *slash = '\0';
        return realpath(slash ? copy : ".", out) != NULL;
}

/* The uid by which the kernel shows users that this process's namespace does not have; 0: it has them all. */
static uid_t unmapped_uid(void)
{
        unsigned long count;
        uint64_t uid = 0;
        char text[256];

        if (kernel_file_read(text, sizeof(text), "/proc/self/uid_map") > 0 &&
            sscanf(text, "%*u %*u %lu", &count) == 1 && count < UINT32_MAX &&
            kernel_file_read(text, sizeof(text), "/proc/sys/kernel/overflowuid") > 0)
                (void)kernel_number(text, &uid);
        return (uid_t)uid;
}

/* The machine's own, such as those above a runtime directory, in a namespace that does not have root. */
static bool is_of_unmapped_root(const char *path, uid_t uid)
{
        static const char *const own[] = { "/",         "/dev", "/dev/shm", "/home",    "/run",
                                           "/run/user", "/tmp", "/var",     "/var/lib", "/var/tmp" };
        bool listed = false;

        for (size_t i = 0; i < ARRAY_SIZE(own); i++)
                listed |= !strcmp(path, own[i]);
        return listed && uid != 0 && uid == unmapped_uid();
}

/* The root of a mount that root made, as far as the kernel tells (Linux 5.8). */
static bool is_volume(const char *path)
{
        struct statx s;

        return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_UID, &s) == 0 && s.stx_uid == 0 &&
               (s.stx_attributes_mask & s.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

bool trust_parents(const char *directory, uid_t owner, struct error *error)
{
        char at[PATH_MAX];
        struct stat st;

        if (!parent_of(directory, at))
                return error_set(error, "%s: %s", directory, strerror(errno));
        for (;;) {
                if (stat(at, &st) < 0)
                        return error_set(error, "%s: %s", at, strerror(errno));
                if (!is_one_of_us(st.st_uid, owner) && !is_of_unmapped_root(at, st.st_uid))
                        return error_set(error, "%s: %s above it belongs to %s, who may replace it", directory, at,
                                         st.st_uid != 0 && st.st_uid == unmapped_uid()
                                                 ? "a user whom this user namespace does not have"
                                                 : "another user");
                if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX) && !is_volume(at))
                        return error_set(error, "%s is in %s, where anyone may rename it", directory, at);
                char *slash = strrchr(at, '/');
                if (!slash || !slash[1])
                        return true;
                slash[slash == at] = '\0'; /* "/" stays */
        }
}

/* ------------------------------------------------------------- the directory */

/* Whether the endpoint is the one that a client takes when none is named. */
static bool is_default(const char *endpoint)
{
        char publish[ENDPOINT_MAX], request[ENDPOINT_MAX];

        return hw_default_endpoints(publish, request, sizeof(publish)) == 0 &&
               (!strcmp(endpoint, publish) || !strcmp(endpoint, request));
}

static bool may_be_written_by_others(const char *directory)
{
        char parent[PATH_MAX];
        struct stat st;

        return parent_of(directory, parent) && stat(parent, &st) == 0 && (st.st_mode & S_IWOTH);
}

/* A directory that does not exist yet could become anybody's. 0, or a negative errno. */
static int check_missing(const char *directory, bool ours, struct error *error)
{
        if (!may_be_written_by_others(directory) || (ours && mkdir(directory, 0700) == 0))
                return 0;
        return error_code(error, -EPERM, "%s: does not exist, and anyone could make it; start its daemon first",
                          directory);
}

static int refuse_entry(const char *directory, struct error *error)
{
        return error_code(error, -EACCES,
                          "%s: may not be entered by you; ask as the user whose daemon it is (for that of the system: "
                          "sudo)",
                          directory);
}

/* 0 with the directory's owner, 1 when there is none, or a negative errno. */
static int check_directory(const char *directory, bool ours, uid_t *ret_owner, struct error *error)
{
        struct stat st;

        if (lstat(directory, &st) < 0) {
                if (errno == EACCES)
                        return refuse_entry(directory, error);
                int r = errno == ENOENT ? check_missing(directory, ours, error) : 0; /* connecting says what is wrong */
                return r < 0 ? r : 1;
        }
        if (!S_ISDIR(st.st_mode))
                return error_code(error, -EPERM, "%s: is not a directory", directory);
        if (ours && st.st_uid != geteuid() && st.st_uid != 0 && may_be_written_by_others(directory))
                return error_code(error, -EPERM, "%s: belongs to another user, whose daemon is not yours", directory);
        if (st.st_mode & (S_IWGRP | S_IWOTH))
                return error_code(error, -EPERM, "%s: others may write to it; " PRIVATE_DIRECTORY_REMEDY, directory);
        if (!trust_parents(directory, st.st_uid, error))
                return -EPERM;
        *ret_owner = st.st_uid;
        return faccessat(AT_FDCWD, directory, X_OK, AT_EACCESS) < 0 ? refuse_entry(directory, error) : 0;
}

/* ------------------------------------------------------------------ the peer */

/* The user of the process that listens there. False when nobody does, or it is not known. */
static bool peer_of(const char *path, uid_t *ret_uid)
{
        struct ucred peer = { .uid = 0 };
        socklen_t size = sizeof(peer);
        int fd = unix_connect(path);
        bool known;

        if (fd < 0)
                return false;
        known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
        (void)close(fd);
        *ret_uid = peer.uid;
        return known;
}

int trust_endpoint(const char *endpoint, struct error *error)
{
        const char *path = endpoint + strlen(IPC), *slash = strrchr(endpoint, '/');
        char directory[ENDPOINT_MAX];
        uid_t owner = 0, peer;
        int r;

        if (strncmp(endpoint, IPC, strlen(IPC)) != 0)
                return 0; /* tcp: nothing distinguishes one user of the machine from another */
        if (*path != '/' || slash == path || (size_t)(slash - path) >= sizeof(directory))
                return error_code(error, -EPERM, "%s: expected ipc:///DIRECTORY/NAME with an absolute path", endpoint);
        (void)snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
        r = check_directory(directory, is_default(endpoint), &owner, error);
        if (r != 0)
                return r < 0 ? r : 0;
        if (peer_of(path, &peer) && !is_one_of_us(peer, owner))
                return error_code(error, -EPERM, "%s: the daemon there belongs to another user (uid %lu)", path,
                                  (unsigned long)peer);
        return 0;
}

int hw_endpoint_check(const char *publish, char *reason, size_t size)
{
        char request[ENDPOINT_MAX];
        struct error error;
        int r = trust_endpoint(publish, &error);

        const int found = r == 0 ? endpoint_request(request, sizeof(request), publish) : r;

        if (r == 0 && found == 0)
                r = trust_endpoint(request, &error);
        else if (r == 0 && found == -EINVAL && strncmp(publish, IPC, strlen(IPC)) == 0)
                r = error_code(&error, found,
                               "%s: expected a path with the word publish, such as ipc:///DIRECTORY/publish: the "
                               "endpoint for requests is the one with the word request in its place",
                               publish);
        if (r < 0)
                (void)snprintf(reason, size, "%s", error.text);
        return r;
}

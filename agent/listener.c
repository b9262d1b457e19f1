/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/listener.h"
#include "proto/base/agent_socket.h"
#include "proto/base/own_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG   4    /* connections that wait to be accepted */
#define LEFT_S    10   /* a younger socket may not have got its listener yet */
#define LEFT_MOST 4096 /* names looked at in one directory */

static void directory_of(const char *path, char out[AGENT_PATH_MAX])
{
        snprintf(out, AGENT_PATH_MAX, "%.*s", (int)(strrchr(path, '/') - path), path);
}

static bool is_own_directory(const char *path, struct error *error)
{
        char directory[AGENT_PATH_MAX];
        struct stat st;

        directory_of(path, directory);
        const int why = lstat(directory, &st) < 0 ? errno : 0;
        if (why == ENOENT || why == ENOTDIR)
                return error_set(error,
                                 "the directory %s, where its socket is to be, does not exist in the file system that "
                                 "it sees (a container or chroot has its own: start heapwatch in there, or attach to "
                                 "it as root)",
                                 directory);
        if (why)
                return error_set(error, "%s, where its socket is to be, cannot be examined: %s", directory,
                                 strerror(why));
        return (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0) ||
               error_set(error, "%s must be a directory that belongs to you and that nobody else can write to",
                         directory);
}

/* Found as heapwatch's own directory is, so that `heapwatch ps` and `attach` find the socket. */
static bool default_path(char *out, size_t size, struct error *error)
{
        char directory[AGENT_PATH_MAX];

        if (own_directory(directory, sizeof(directory), SESSION_DIRECTORIES, geteuid()) < 0 ||
            (size_t)snprintf(out, size, "%s/" AGENT_SOCKET_NAME, directory, (long)getpid()) >= size)
                return error_set(error, "the path of the socket's directory is too long");
        /* The modes are set: umask is the whole program's. */
        return (mkdir(directory, 0700) == 0 && chmod(directory, 0700) == 0) || errno == EEXIST ||
               error_set(error, "%s cannot be made for its socket: %s", directory, strerror(errno));
}

/*
 * Twice: for as long as this process lives, with a lock that a child does not inherit, and by flock(2), until the last
 * child that it has forked is gone or executes another program.
 */
static void lock_claim(struct listener *l, int fd)
{
        (void)descriptor_adopt(&l->lock, fd); /* first: closing another descriptor of the file would end the lock */
        (void)flock(l->lock.fd, LOCK_SH);
        (void)fcntl(l->lock.fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET });
}

/* Only the first program that claims this socket gets it, even after it has ended. */
static bool claim_socket(struct listener *l, struct error *error)
{
        char pid[AGENT_FILE_BYTES];
        int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
        int fd;

        error->text[0] = '\0';
        snprintf(l->claim, sizeof(l->claim), "%s" LISTENER_CLAIM, l->path);
        fd = open(l->claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
                if (errno != EEXIST) /* otherwise another program has it: not an error */
                        error_set(error, "cannot make %s: %s", l->claim, strerror(errno));
                l->claim[0] = '\0';
                return false;
        }
        (void)fchmod(fd, 0600); /* as above */
        if (write(fd, pid, (size_t)n) != n) {
                (void)error_set(error, "cannot write %s: %s", l->claim, strerror(errno));
                (void)close(fd);
                (void)unlink(l->claim); /* what cannot be watched from inside has none */
                l->claim[0] = '\0';
                return false;
        }
        lock_claim(l, fd);
        return true;
}

/* For who has started both: the claim tells that this program is not served, since another one was first. */
static void record_unserved(const struct listener *l)
{
        char path[sizeof(l->claim)], line[96];
        struct rlimit limit;
        struct stat st;

        snprintf(path, sizeof(path), "%s" LISTENER_CLAIM, l->path);
        const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        size_t n = (size_t)snprintf(line, sizeof(line), "%ld %.64s\n", (long)getpid(), program_invocation_short_name);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && getrlimit(RLIMIT_FSIZE, &limit) == 0) {
                const rlim_t most = limit.rlim_cur < LISTENER_CLAIM_BYTES ? limit.rlim_cur : LISTENER_CLAIM_BYTES;
                const rlim_t size = (rlim_t)st.st_size;
                const bool is_named = size < LISTENER_CLAIM_NAMES && size + n <= most;
                n = is_named ? n : 1;
                if (size + n <= most) /* else it would end by SIGXFSZ */
                        (void)!write(fd, is_named ? line : "\n", n);
        }
        if (fd >= 0)
                (void)close(fd);
}

/* Whether a process listens there; also when that cannot be found out. */
static bool is_served(const struct sockaddr_un *address)
{
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool yes = fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
                   (errno != ECONNREFUSED && errno != ENOENT);

        if (fd >= 0)
                (void)close(fd);
        return yes;
}

/* Of a process that is gone: it ended by a signal, or in a chroot, which hid the name from it. */
static bool is_left(const char *directory, const char *name)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        char same[64], process[64];
        struct stat st;
        long pid;

        if (sscanf(name, AGENT_SOCKET_NAME, &pid) != 1 || pid <= 0)
                return false;
        snprintf(same, sizeof(same), AGENT_SOCKET_NAME, pid);
        snprintf(process, sizeof(process), "/proc/%ld", pid);
        if (strcmp(name, same) != 0 || access(process, F_OK) == 0 ||
            strlen(directory) + 1 + strlen(name) >= sizeof(address.sun_path))
                return false;
        stpcpy(stpcpy(stpcpy(address.sun_path, directory), "/"), name);
        /* In another namespace the number may be in use: then somebody listens, or will soon. */
        return lstat(address.sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_mtime + LEFT_S < time(NULL) &&
               !is_served(&address);
}

/* What is at the path already goes only if it is a socket of ours that no process listens on. */
static bool remove_old(const struct sockaddr_un *address, struct error *error)
{
        const char *path = address->sun_path;
        struct stat st;

        if (lstat(path, &st) < 0)
                return errno == ENOENT || error_set(error, "%s cannot be examined: %s", path, strerror(errno));
        if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
                return error_set(error,
                                 "%s is there already, and is not a socket of yours: it is left as it is; "
                                 "the socket needs another path",
                                 path);
        if (is_served(address))
                return error_set(error, "another process listens on %s", path);
        return unlink(path) == 0 || error_set(error, "cannot remove %s: %s", path, strerror(errno));
}

static bool open_socket(struct listener *l, struct error *error)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        struct stat st;

        memcpy(address.sun_path, l->path, sizeof(address.sun_path));
        if (!remove_old(&address, error))
                return false;
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        /* The mode is set before anybody can connect. */
        if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
            chmod(address.sun_path, 0600) < 0 || listen(fd, BACKLOG) < 0) {
                (void)error_set(error, "cannot listen on %s: %s", l->path, strerror(errno));
                if (fd >= 0)
                        (void)close(fd);
                return false;
        }
        if (stat(l->path, &st) < 0 || !descriptor_adopt(&l->socket, fd)) {
                (void)unlink(l->path);
                descriptor_close(&l->socket);
                return error_set(error, "cannot listen on %s: %s", l->path, strerror(errno));
        }
        l->inode = st.st_ino;
        return true;
}

bool listener_choose_path(struct listener *l, const struct agent_settings *s, struct error *error)
{
        struct rlimit limit;

        /* below that limit the program would miss the descriptors that the socket and its readers use */
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < AGENT_OPEN_FILES)
                return error_set(error,
                                 "its limit of open files is %lu, and the agent needs some: raise it to %u or more "
                                 "(ulimit -n)",
                                 (unsigned long)limit.rlim_cur, AGENT_OPEN_FILES);
        /* the claim would be its end, by SIGXFSZ */
        if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < AGENT_FILE_BYTES)
                return error_set(error, "it may not write to any file, and the agent needs to (ulimit -f)");
        l->reader = s->reader;
        memcpy(l->path, s->socket, sizeof(l->path));
        if (l->path[0] == '\0' && !default_path(l->path, sizeof(l->path), error))
                return false;
        if (!is_own_directory(l->path, error))
                return false;
        if (!s->once || claim_socket(l, error))
                return true;
        if (!s->follow || error->text[0]) {
                if (!error->text[0])
                        record_unserved(l);
                return false;
        }
        const size_t n = strlen(l->path); /* it is another program's: one beside it */
        return (size_t)snprintf(l->path + n, sizeof(l->path) - n, "-%ld", (long)getpid()) < sizeof(l->path) - n ||
               error_set(error, "the path of the socket's directory is too long");
}

bool listener_open(struct listener *l, struct error *error)
{
        if (open_socket(l, error)) {
                char directory[AGENT_PATH_MAX];
                const struct dirent *e;

                directory_of(l->path, directory);
                DIR *d = opendir(directory);
                for (unsigned n = 0; d && n < LEFT_MOST && (e = readdir(d)) != NULL; n++)
                        if (is_left(directory, e->d_name))
                                (void)unlinkat(dirfd(d), e->d_name, 0);
                if (d)
                        (void)closedir(d);
                return true;
        }
        if (l->claim[0])
                (void)unlink(l->claim);
        return false;
}

void listener_open_again(struct listener *l)
{
        struct error unused;
        const int claim = l->claim[0] && !descriptor_ours(&l->lock)
                                  ? open(l->claim, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                                  : -1;

        if (claim >= 0)
                lock_claim(l, claim);
        if (is_own_directory(l->path, &unused))
                (void)open_socket(l, &unused);
}

int listener_accept(struct listener *l)
{
        int fd = -1;

        while (descriptor_ours(&l->socket) &&
               (fd = accept4(l->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
                struct ucred peer;
                socklen_t size = sizeof(peer);

                if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                    (peer.uid == geteuid() || peer.uid == 0 || (l->reader != AGENT_NO_READER && peer.uid == l->reader)))
                        return fd;
                (void)close(fd);
        }
        return -1;
}

void listener_remove_path(const struct listener *l)
{
        struct stat st;

        if (l->path[0] && lstat(l->path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_ino == l->inode)
                (void)unlink(l->path);
}

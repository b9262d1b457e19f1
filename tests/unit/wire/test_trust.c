/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose sockets a client connects to: the directory, those above it, and who listens. */
#include "tests/unit/test.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/error.h"
#include "proto/wire/endpoints.h"
#include "tests/unit/another_user.h"

struct fixture {
        char top[32], directory[64], endpoint[128], path[96];
        struct error error;
};

static int set_up(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        *state = f;
        (void)snprintf(f->top, sizeof(f->top), "/tmp/hw-trust-XXXXXX");
        assert_non_null(mkdtemp(f->top));
        (void)snprintf(f->directory, sizeof(f->directory), "%s/d", f->top);
        (void)snprintf(f->path, sizeof(f->path), "%s/publish", f->directory);
        (void)snprintf(f->endpoint, sizeof(f->endpoint), "ipc://%s", f->path);
        assert_int_equal(mkdir(f->directory, 0700), 0);
        return 0;
}

static int tear_down(void **state)
{
        struct fixture *f = *state;

        unsetenv("HEAPWATCH_DIR");
        (void)unlink(f->path);
        if (rmdir(f->directory) != 0)
                (void)unlink(f->directory);
        (void)rmdir(f->top);
        free(f);
        return 0;
}

static void refused(struct fixture *f, int code, const char *word)
{
        assert_int_equal(trust_endpoint(f->endpoint, &f->error), code);
        if (!strstr(f->error.text, word))
                fail_msg("expected '%s' in: %s", word, f->error.text);
}

TEST_WITH(ours, set_up, tear_down)
{
        struct fixture *f = *state;

        assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0);
        assert_int_equal(chmod(f->directory, 0755), 0); /* opened to readers on purpose */
        assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0);
        assert_int_equal(trust_endpoint("tcp://127.0.0.1:7777", &f->error), 0);
        assert_int_equal(trust_endpoint("ipc://publish", &f->error), -EPERM);
        assert_int_equal(trust_endpoint("ipc://@hidden/publish", &f->error), -EPERM);
}

TEST_WITH(writable, set_up, tear_down)
{
        struct fixture *f = *state;

        assert_int_equal(chmod(f->directory, 0770), 0);
        refused(f, -EPERM, "others may write to it");
        assert_int_equal(chmod(f->directory, 0707), 0);
        refused(f, -EPERM, "others may write to it");
        assert_int_equal(chmod(f->directory, 0700), 0);
        assert_int_equal(chmod(f->top, 0777), 0);
        refused(f, -EPERM, "anyone may rename it");
        assert_int_equal(chmod(f->top, 01777), 0);
        assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0);
}

/* As a container sees an emptyDir. */
static int trust_in_volume(struct fixture *f)
{
        if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount(f->top, f->top, NULL, MS_BIND, NULL) != 0)
                return 77;
        return trust_endpoint(f->endpoint, &f->error) == 0 ? 0 : 1;
}

TEST_WITH(volumes, set_up, tear_down)
{
        struct fixture *f = *state;
        int status = 0;

        assert_int_equal(chmod(f->top, 0777), 0);
        const pid_t child = fork();
        if (child == 0)
                _exit(trust_in_volume(f));
        assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
                skip(); /* no right to mount */
        assert_int_equal(WEXITSTATUS(status), 0);
        refused(f, -EPERM, "anyone may rename it");
}

TEST_WITH(links_and_files, set_up, tear_down)
{
        struct fixture *f = *state;

        assert_int_equal(rmdir(f->directory), 0);
        assert_int_equal(symlink("/tmp", f->directory), 0);
        refused(f, -EPERM, "is not a directory");
}

TEST_WITH(missing, set_up, tear_down)
{
        struct fixture *f = *state;
        struct stat st;

        assert_int_equal(rmdir(f->directory), 0);
        assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0); /* only we could make it */
        assert_int_equal(chmod(f->top, 01777), 0);
        refused(f, -EPERM, "anyone could make it");
        setenv("HEAPWATCH_DIR", f->directory, 1);
        assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0);
        assert_int_equal(stat(f->directory, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
}

/* What another user planted, with that user's daemon behind it. */
TEST_WITH(planted, set_up, tear_down)
{
        struct fixture *f = *state;

        if (geteuid() != 0) {
                skip();
                return;
        }
        assert_int_equal(chown(f->directory, OTHER_USER, OTHER_USER), 0);
        assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0); /* named: that user's daemon is meant */
        setenv("HEAPWATCH_DIR", f->directory, 1);
        assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0); /* only we could have put it there */
        assert_int_equal(chmod(f->top, 01777), 0);
        refused(f, -EPERM, "belongs to another user");
        assert_int_equal(chmod(f->top, 0700), 0);
        assert_int_equal(chown(f->directory, 0, 0), 0);
        assert_int_equal(chown(f->top, OTHER_USER, OTHER_USER), 0);
        refused(f, -EPERM, "belongs to another user, who may replace it");
        assert_int_equal(chmod(f->top, 01777), 0);
        refused(f, -EPERM, "belongs to another user, who may replace it");
        assert_int_equal(chown(f->top, 0, 0), 0);
}

static bool write_map(const char *path, unsigned inside, unsigned outside)
{
        FILE *f = fopen(path, "w");

        return f && fprintf(f, "%u %u 1\n", inside, outside) > 0 && fclose(f) == 0;
}

/* As its root: /tmp is the overflow uid's then, and so is what root has made. 77: no right to make one. */
static int trust_in_user_namespace(struct fixture *f)
{
        const uid_t uid = geteuid();
        char directory[] = "/tmp/trust-XXXXXX", endpoint[64], of_root[128];
        struct error error;

        if (!mkdtemp(directory))
                return 1;
        if (unshare(CLONE_NEWUSER) < 0 || !write_map("/proc/self/uid_map", 0, uid)) {
                (void)rmdir(directory);
                return 77;
        }
        (void)snprintf(endpoint, sizeof(endpoint), "ipc://%s/request", directory);
        (void)snprintf(of_root, sizeof(of_root), "%s/x", f->directory);
        const int r = trust_endpoint(endpoint, &error);
        const bool refuses = !trust_parents(of_root, geteuid(), &error) && strstr(error.text, "user namespace");
        (void)rmdir(directory);
        return r != 0 ? 2 : refuses ? 0 : 3;
}

/* In a child of another user: no right to enter, and who listens. */
static int as_another_user(int (*act)(struct fixture *f), struct fixture *f)
{
        int status = 0;
        pid_t child = fork();

        if (child == 0)
                _exit(become_another_user() ? act(f) : 99);
        assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        return WEXITSTATUS(status);
}

TEST_WITH(user_namespaces, set_up, tear_down)
{
        struct fixture *f = *state;

        if (!another_user_is_possible()) {
                skip();
                return;
        }
        assert_int_equal(chmod(f->top, 0755), 0);
        assert_int_equal(chmod(f->directory, 0755), 0);
        const int r = as_another_user(trust_in_user_namespace, f);
        if (r == 77)
                skip(); /* no right to make one */
        assert_int_equal(r, 0);
}

static int may_not_enter(struct fixture *f)
{
        return trust_endpoint(f->endpoint, &f->error) == -EACCES && strstr(f->error.text, "may not be entered") ? 0 : 1;
}

TEST_WITH(entry, set_up, tear_down)
{
        struct fixture *f = *state;

        if (!another_user_is_possible()) {
                skip();
                return;
        }
        assert_int_equal(chmod(f->top, 0755), 0);
        assert_int_equal(as_another_user(may_not_enter, f), 0);
        assert_int_equal(chmod(f->top, 0700), 0); /* nor what is above it */
        assert_int_equal(as_another_user(may_not_enter, f), 0);
}

static int listening = -1;

static int listen_there(struct fixture *f)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", f->path);
        return bind(listening, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(listening, 5) == 0 ? 0 : 1;
}

TEST_WITH(listeners, set_up, tear_down)
{
        struct fixture *f = *state;

        listening = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_true(listening >= 0);
        if (!another_user_is_possible()) {
                assert_int_equal(listen_there(f), 0);
                assert_int_equal(trust_endpoint(f->endpoint, &f->error), 0);
        } else {
                assert_int_equal(chmod(f->top, 0755), 0);
                assert_int_equal(chmod(f->directory, 0777), 0); /* for a moment ... */
                assert_int_equal(as_another_user(listen_there, f), 0);
                assert_int_equal(chmod(f->directory, 0755), 0);
                refused(f, -EPERM, "another user (uid 54321)");
        }
        (void)close(listening);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/limits.h"
#include "agent/server.h"
#include "agent/symbols.h"
#include "agent/syscall_filter.h"

static struct {
        char stem[AGENT_PATH_MAX + 16], link[AGENT_PATH_MAX + 32];
        char *program; /* NULL: not diverted */
        bool is_null;  /* the link is one to /dev/null; else the runtime makes a file there */
} f;

/* Of an agent before, in a process of this number; anything else there is not ours. */
static bool is_link_to_null(const char *path)
{
        char to[16];
        ssize_t n = readlink(path, to, sizeof(to));

        return n == 9 && !memcmp(to, "/dev/null", 9);
}

/* In a sandbox it may be missing, or be a device that may not be used. */
static bool can_open_null(void)
{
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

        if (fd < 0)
                return false;
        (void)close(fd);
        return true;
}

static ssize_t drop_text(void *cookie, const char *text, size_t size)
{
        return (ssize_t)size;
}

bool profile_file_divert(struct error *error)
{
        if (!rts.prog_name.address) {
                return error_set(error, "the name of the heap profile's file cannot be set");
        }
        if (syscall_filter_is_new())
                return error_set(error,
                                 "no heap profile: the program has installed a system call filter since its start");
        /* The runtime takes what follows the last slash in some releases; ours has its own directory before it. */
        snprintf(f.stem, sizeof(f.stem), "%s", server_path());
        snprintf(f.link, sizeof(f.link), "%s.hp", f.stem);
        f.is_null = can_open_null();
        if (f.is_null && symlink("/dev/null", f.link) < 0 && (errno != EEXIST || !is_link_to_null(f.link))) {
                return error_set(error, "cannot make %s: %s", f.link, strerror(errno));
        }
        f.program = *(char **)rts.prog_name.address;
        *(char **)rts.prog_name.address = f.stem;
        return true;
}

void profile_file_restore(FILE **stream)
{
        FILE *nothing;

        if (!f.program)
                return;
        if (!f.is_null && *stream &&
            (nothing = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = drop_text }))) {
                (void)fclose(*stream);
                *stream = nothing;
        }
        *(char **)rts.prog_name.address = f.program;
        f.program = NULL;
        (void)unlink(f.link);
}

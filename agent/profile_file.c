/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/profile_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/limits.h"
#include "agent/server.h"
#include "agent/symbols.h"

static struct {
        char stem[AGENT_PATH_MAX + 16], link[AGENT_PATH_MAX + 32];
        char *program; /* NULL: not diverted */
} f;

bool profile_file_divert(struct error *error)
{
        if (!rts.prog_name.address) {
                return error_set(error, "the name of the heap profile's file cannot be set");
        }
        if (access("/dev/null", W_OK) < 0) {
                return error_set(error, "no heap profile: there is no /dev/null here for its file");
        }
        /* The runtime takes what follows the last slash in some releases; ours has its own directory before it. */
        snprintf(f.stem, sizeof(f.stem), "%s", server_path());
        snprintf(f.link, sizeof(f.link), "%s.hp", f.stem);
        if (symlink("/dev/null", f.link) < 0 && errno != EEXIST) {
                return error_set(error, "cannot make %s: %s", f.link, strerror(errno));
        }
        f.program = *(char **)rts.prog_name.address;
        *(char **)rts.prog_name.address = f.stem;
        return true;
}

void profile_file_restore(void)
{
        if (!f.program)
                return;
        *(char **)rts.prog_name.address = f.program;
        f.program = NULL;
        (void)unlink(f.link);
}

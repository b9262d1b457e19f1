/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/own_directory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int own_directory(char *out, size_t size, const char *sessions, uid_t user)
{
        const char *own = getenv("HEAPWATCH_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
        struct stat st;
        char session[64];
        int n = snprintf(session, sizeof(session), "%s/%lu", sessions, (unsigned long)user);
        const bool has_session =
                (size_t)n < sizeof(session) && lstat(session, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == user;

        if (own && *own)
                n = snprintf(out, size, "%s", own);
        else if (runtime && runtime[0] == '/') /* a relative one is to be ignored, says its specification */
                n = snprintf(out, size, "%s/heapwatch", runtime);
        else if (user == 0)
                n = snprintf(out, size, "/run/heapwatch");
        else if (has_session)
                n = snprintf(out, size, "%s/heapwatch", session);
        else
                n = snprintf(out, size, "/tmp/heapwatch-%lu", (unsigned long)user);
        return n >= 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allow.c - DESIGN: what a user may read is for the kernel to decide, with its modes, groups and access lists. So the
 * kernel is asked, after this thread has dropped the capabilities that override them. It is asked once, when a target
 * is added: whoever may put a link into a folder of the path can change it later, and then the daemon reads what the
 * link points to, if that is an eventlog.
 */
#include "daemon/source/allow.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/agent_peer.h"
#include "proto/base/array.h"

/* ------------------------------------------------------------------ patterns */

bool source_allow_add(struct source_allow *allow, const char *pattern, struct error *error)
{
        static const char *const schemes[] = { "file:/", "fifo:/",      "unix:/",  "unix-listen:/",
                                               "tcp:",   "tcp-listen:", "outside:" };
        char text[SOURCE_PATH_MAX + 16];
        bool known = false;

        if (snprintf(text, sizeof(text), "%s%s", *pattern == '/' ? "file:" : "", pattern) >= (int)sizeof(text))
                return error_set(error, "longer than %zu bytes", sizeof(text) - 1);
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
                known = known || !strncmp(text, schemes[i], strlen(schemes[i]));
        if (!known)
                return error_set(error,
                                 "'%.80s'; expected a path from the root or a source, such as /var/log/app/*.eventlog "
                                 "or unix-listen:/run/heapwatch/*",
                                 pattern);
        if (allow->n == LIMIT_ALLOW_PATTERNS || !(allow->patterns[allow->n] = strdup(text)))
                return error_set(error, "more than %d patterns, or out of memory", LIMIT_ALLOW_PATTERNS);
        allow->n++;
        return true;
}

void source_allow_done(struct source_allow *allow)
{
        while (allow->n > 0)
                free(allow->patterns[--allow->n]);
}

static bool is_matching(const struct source_allow *allow, const struct source_uri *uri)
{
        /* Whether a path has a "." or ".." part. */
        const char *path = source_uri_path(uri);
        for (const char *part = path; part; part = strchr(part, '/')) {
                part += *part == '/';
                size_t n = strcspn(part, "/");
                if ((n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
                        return false;
        }
        for (size_t i = 0; allow && i < allow->n; i++)
                if (fnmatch(allow->patterns[i], uri->text, FNM_PATHNAME) == 0)
                        return true;
        return false;
}

/* --------------------------------------------------------------------- reach */

/* The capabilities of this thread, in version 3 of the kernel's interface. */
struct capabilities {
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static long call_capabilities(long number, struct capabilities *c)
{
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

        return syscall(number, &header, c->data);
}

static bool is_reachable(const char *path, int mode)
{
        if (getuid() == 0) {
                /* For root, whose access(2) does not leave capabilities out. */
                struct capabilities before, without;
                bool privileged = call_capabilities(SYS_capget, &before) == 0;

                without = before;
                without.data[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
                privileged = privileged && without.data[0].effective != before.data[0].effective;
                if (privileged && call_capabilities(SYS_capset, &without) != 0)
                        return false;
                bool reached =
                        faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 || errno == ENOENT; /* it may come later */
                if (privileged && call_capabilities(SYS_capset, &before) != 0)
                        abort(); /* cannot fail: these were effective a moment ago */
                return reached;
        }
        return access(path, mode) == 0 || errno == ENOENT; /* access(2) drops capabilities unless root */
}

/* An agent serves its own user and root: no other daemon could read it. */
static bool is_agent_for_root(const struct source_uri *uri)
{
        return getuid() == 0 && uri->kind == SOURCE_UNIX && agent_peer_process(source_uri_path(uri)) != 0;
}

static bool is_own_process(uint32_t pid)
{
        char path[32];
        struct stat st;

        (void)snprintf(path, sizeof(path), "/proc/%lu", (unsigned long)pid);
        return stat(path, &st) == 0 && st.st_uid == getuid();
}

bool source_allowed(const struct source_allow *allow, const struct source_uri *uri, bool by_root, struct error *error)
{
        if (is_matching(allow, uri) || (by_root && is_agent_for_root(uri)))
                return true;
        switch (uri->kind) {
        case SOURCE_UNIX_LISTEN:
        case SOURCE_TCP_LISTEN:
                return error_set(error,
                                 "a request may not make the daemon listen at %.200s; name the target in the daemon's "
                                 "configuration, or allow it there with sources.allow (heapwatchd.yaml(5))",
                                 uri->text);
        case SOURCE_TCP:
        case SOURCE_STDIN:
        case SOURCE_PROCESS: /* what anybody on this machine sees of it */
                return true;
        case SOURCE_OUTSIDE: /* it is read with the daemon's rights, and not everybody on this machine has them */
                return by_root || (getuid() != 0 && is_own_process(uri->pid)) ||
                       error_set(error,
                                 "a request may not have the daemon read the memory of process %lu, which is of "
                                 "another user; ask as root, or allow it with sources.allow (heapwatchd.yaml(5))",
                                 (unsigned long)uri->pid);
        default:
                break;
        }
        if (is_reachable(source_uri_path(uri), uri->kind == SOURCE_UNIX ? W_OK : R_OK))
                return true;
        return error_set(
                error,
                "a request may not add %.200s, which the daemon's user could not read without privileges; name "
                "it in the daemon's configuration, or allow it there with sources.allow (heapwatchd.yaml(5))",
                source_uri_path(uri));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/run/inside.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/settings.h"
#include "client/launch/program/agent_fit.h"
#include "client/launch/program/hidden_symbols.h"
#include "heapwatch/text.h"
#include "proto/base/descriptors.h"
#include "proto/base/whole_file.h"
#include "proto/base/process_stat.h"

#define CLASSES "gusp" /* what -l alone gives */

/* The value of the last -iSECONDS among these words; "1" when there is none. */
static void interval_of(const char *words, char *out, size_t size)
{
        snprintf(out, size, "1");
        while (*(words += strspn(words, " \t\n\r\v\f")) != '\0') {
                size_t n = strcspn(words, " \t\n\r\v\f");
                if (n > 2 && n - 2 < size && !strncmp(words, "-i", 2) && isdigit((unsigned char)words[2]))
                        snprintf(out, size, "%.*s", (int)(n - 2), words + 2);
                words += n;
        }
}

bool inside_makes_profile(const char *kind)
{
        return !kind || !strcmp(kind, "T") || !strcmp(kind, "i") || !strcmp(kind, "none");
}

/*
 * LAUNCHERS start the program to watch. Programs whose names begin with one of TOOLS, which they build with,
 * are skipped.
 */
#define LAUNCHERS "stack:cabal"
#define TOOLS     "ghc:runghc:hsc2hs:alex:happy:hpack"

static bool is_named(const char *path, const char *names)
{
        struct agent_settings s;
        const char *slash = strrchr(path, '/');

        snprintf(s.skip, sizeof(s.skip), "%s", names);
        return settings_skip(&s, slash ? slash + 1 : path);
}

bool inside_skips(const char *name)
{
        return is_named(name, LAUNCHERS ":" TOOLS);
}

static bool plan_settings(struct inside *in, const char *path, const char *socket, const struct inside_wish *wish,
                          const char *symbols, struct error *error)
{
        const char *kind = wish->heap_profile, *rts = wish->rts;
        const bool ours = inside_makes_profile(kind), follow = wish->follow;
        char interval[32], own[64] = "", censuses[64];
        int n;

        interval_of(rts, interval, sizeof(interval));
        if (!ours)
                snprintf(own, sizeof(own), "-h%s -i%s ", kind, interval);
        if (strchr(rts, ';') || strlen(own) + strlen(rts) > 250)
                return error_set(error, "the flags of --rts are too long, or have a semicolon");
        n = snprintf(in->settings, sizeof(in->settings),
                     "socket=%s;once=1;follow=%d;skip=%s;await=%d;linger=2;classes=" CLASSES
                     ";interval=%s;%sheap=%s;%s;rts=%s%s",
                     socket, follow, in->wrapper && !is_named(path, TOOLS) ? LAUNCHERS ":" TOOLS : "", follow ? 1 : 3,
                     interval, census_options_settings(wish->censuses, censuses, sizeof(censuses)),
                     !ours  ? "none"
                     : kind ? kind
                            : "T",
                     symbols, own, rts);
        return (size_t)n < sizeof(in->settings) || error_set(error, "the path of the socket is too long");
}

static bool plan_preload(struct inside *in, struct error *error)
{
        char library[4096];
        const char *others = getenv("LD_PRELOAD");

        if (!agent_fit_library(library, sizeof(library), error))
                return false;
        if (strpbrk(library, " :"))
                return error_set(error, "the path %s has a space or a colon, which LD_PRELOAD cannot carry", library);
        return (size_t)snprintf(in->preload, sizeof(in->preload), "%s%s%s", library, others && *others ? ":" : "",
                                others ? others : "") < sizeof(in->preload) ||
               error_set(error, "LD_PRELOAD is too long");
}

bool inside_plan(struct inside *ret, const char *path, const char *socket, const struct inside_wish *wish,
                 struct error *error)
{
        struct agent_fit fit;

        if (!plan_preload(ret, error) || !agent_fit_check(path, &fit, error))
                return false;
        ret->wrapper = !fit.ghc || is_named(path, LAUNCHERS);
        ret->skips = ret->wrapper && !is_named(path, TOOLS);
        char *symbols = ret->wrapper ? NULL : hidden_symbols_find(path, &fit);
        ret->obstacle = fit.ghc ? fit.obstacle : OBSTACLE_NONE;
        const bool good = (ret->wrapper || ret->obstacle == OBSTACLE_NONE) &&
                          plan_settings(ret, path, socket, wish, symbols ? symbols : "", error);
        free(symbols);
        return good;
}

bool inside_enter(const struct inside *inside)
{
        return setenv("LD_PRELOAD", inside->preload, 1) == 0 && setenv("HEAPWATCH_AGENT", inside->settings, 1) == 0;
}

static const char *path_beside(const char *socket, const char *tail)
{
        static char path[512];

        snprintf(path, sizeof(path), "%s%s", socket, tail);
        return path;
}

const char *inside_claim(const char *socket)
{
        return path_beside(socket, INSIDE_CLAIM);
}

bool inside_claimed(const char *socket)
{
        return access(inside_claim(socket), F_OK) == 0;
}

static int open_claim(const char *socket)
{
        return open(inside_claim(socket), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

bool inside_forked_lives(const char *socket)
{
        int fd = open_claim(socket);
        bool lives = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

        close_fd(&fd);
        return lives;
}

pid_t inside_owner(const char *socket)
{
        char text[32] = "";
        int fd = open_claim(socket);

        if (fd >= 0 && read(fd, text, sizeof(text) - 1) <= 0)
                text[0] = '\0';
        close_fd(&fd);
        return (pid_t)strtol(text, NULL, 10);
}

struct inside_others inside_others(const char *socket)
{
        struct inside_others others = { .name = "another program" };
        char line[128], name[65];
        int fd = open_claim(socket);
        FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
        long pid;

        for (bool first = true; file && fgets(line, sizeof(line), file); first = false) {
                others.count += !first;
                if (first || others.pid || sscanf(line, "%ld %64[^\n]", &pid, name) != 2)
                        continue;
                others.pid = (pid_t)pid;
                (void)hw_terminal_text(others.name, sizeof(others.name), name);
        }
        if (file)
                (void)fclose(file);
        else
                close_fd(&fd);
        return others;
}

bool inside_has_executed(const char *socket, pid_t pid)
{
        /* A program that closes all descriptors loses the claim's lock for a moment, but keeps the agent. */
        static const char *const agent = AGENT_LIBRARY;
        bool keeps_agent;

        return inside_owner(socket) == pid && !inside_owner_lives(socket) && process_has_program(pid) &&
               mapped_file_find(pid, &agent, 1, &keeps_agent) == 0 && !keeps_agent;
}

bool inside_owner_lives(const char *socket)
{
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        int fd = open_claim(socket);
        bool lives = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

        close_fd(&fd);
        return lives;
}

void inside_clean(const char *socket)
{
        (void)unlink(socket);
        (void)unlink(inside_claim(socket));
        (void)unlink(path_beside(socket, ".hp"));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the agent calls the functions and writes the variables, so nothing here is likely: each must have been found
 * at one place, with all that this way of the runtime has. Where one is missing the program is watched from outside.
 */
#include "client/launch/program/hidden_symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/limits.h"
#include "agent/symbols.h"
#include "client/cli/inspecting.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

#define MOST_NS UINT64_C(20000000000)

enum { IF_THREADED = 1, IF_LOG = 2, IF_OLD = 4, IF_RECENT = 8, IF_FOUND = 16 }; /* recent: 9.2 and later */

/* When the agent gets a name: where all of it holds. Those that are not here: always. */
static const struct {
        const char *name;
        unsigned when;
} needs[] = {
        { "rtsSupportsBoundThreads", IF_FOUND }, /* a function that is too small to be told from others; */
        { "rts_isThreaded", IF_FOUND },          /* the way of the runtime says the same as these */
        { "rts_isProfiled", IF_FOUND },
        { "MallocFailHook", IF_FOUND },
        { "pending_sync", IF_THREADED },
        { "all_tasks_mutex", IF_THREADED },
        { "startEventLogging", IF_LOG },
        { "eventlog_enabled", IF_LOG },
        { "event_log_writer", IF_LOG },
        { "flushEventLog", IF_LOG },
        { "capEventBuf", IF_LOG },
        { "eventBuf", IF_LOG },
        { "eventBufMutex", IF_LOG | IF_THREADED },
        { "moreCapEventBufs", IF_LOG | IF_FOUND },
        { "TRACE_sched", IF_LOG },
        { "TRACE_gc", IF_LOG },
        { "TRACE_nonmoving_gc", IF_LOG },
        { "TRACE_spark_sampled", IF_LOG },
        { "TRACE_spark_full", IF_LOG },
        { "TRACE_user", IF_LOG },
        { "TRACE_cap", IF_LOG },
        { "rts_pause", IF_RECENT },
        { "rts_resume", IF_RECENT },
        { "newBoundTask", IF_OLD | IF_THREADED },
        { "boundTaskExiting", IF_OLD | IF_THREADED },
        { "waitForCapability", IF_OLD | IF_THREADED },
        { "releaseCapability", IF_OLD | IF_THREADED },
        { "stopAllCapabilitiesWith", IF_OLD | IF_THREADED },
        { "releaseAllCapabilities", IF_OLD | IF_THREADED },
};

static unsigned when_given(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
                if (!strcmp(needs[i].name, name))
                        return needs[i].when;
        return 0;
}

/* "thr_l": of the runtime's ways those that the agent knows without asking it. False: another. */
static bool read_way(const struct agent_fit *f, unsigned *ret)
{
        const bool is_old = !strncmp(f->version, "9.0.", 4);
        char way[sizeof(f->way)], *rest = NULL;

        *ret = is_old ? IF_OLD : IF_RECENT;
        *ret |= is_old || !strncmp(f->version, "9.2.", 4) ? 0 : IF_LOG;
        (void)text_join(way, sizeof(way), f->way, NULL);
        for (char *part = strtok_r(way, "_", &rest); part; part = strtok_r(NULL, "_", &rest))
                if (!strcmp(part, "thr"))
                        *ret |= IF_THREADED;
                else if (!strcmp(part, "l"))
                        *ret |= IF_LOG;
                else if (strcmp(part, "v") != 0)
                        return false;
        return f->version[0] && f->way[0];
}

/* What the inspection has printed; malloc'd. NULL: it failed. */
static char *inspect_program(const char *path)
{
        const char *fixed[] = { "heapwatch-inspect", "symbols", "--file", path };
        const char **arguments = calloc(ARRAY_SIZE(fixed) + rts_symbol_count + 1, sizeof(*arguments));
        char *text = NULL;
        size_t size;
        FILE *to = arguments ? open_memstream(&text, &size) : NULL;
        bool good = to != NULL;

        if (good) {
                memcpy(arguments, fixed, sizeof(fixed));
                memcpy(arguments + ARRAY_SIZE(fixed), rts_symbol_names, rts_symbol_count * sizeof(*arguments));
                good = inspector_run(&(struct inspection){ .arguments = arguments, .most_ns = MOST_NS, .to = to },
                                     NULL) == INSPECTOR_GOOD;
                good &= fclose(to) == 0;
        }
        free(arguments);
        if (good)
                return text;
        free(text);
        return NULL;
}

/* The same, as it was the last time if nothing has changed since. */
static char *find_kept(const char *path)
{
        const uint64_t key = symbol_cache_key(path, rts_symbol_names, rts_symbol_count);
        char *text = key ? symbol_cache_read(key) : NULL;

        if (text)
                return text;
        text = inspect_program(path);
        if (text && key && key == symbol_cache_key(path, rts_symbol_names, rts_symbol_count))
                symbol_cache_write(key, text);
        return text;
}

/* Lines "NAME 0xADDRESS BYTES PLACES", into `rts`, of a program of this way. False: a symbol is missing. */
static bool read_all(char *text, unsigned has)
{
        char name[64], *rest = NULL;
        uint64_t address;
        size_t bytes;

        memset(&rts, 0, sizeof(rts));
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                const bool good = sscanf(line, "%63s %" SCNx64 " %zu", name, &address, &bytes) == 3;
                struct rts_symbol *s = good ? rts_symbol_named(name) : NULL;
                if (s)
                        *s = (struct rts_symbol){ (void *)(uintptr_t)address, bytes };
        }
        for (unsigned i = 0; i < rts_symbol_count; i++)
                if (!rts_symbol_at(i)->address && !(when_given(rts_symbol_names[i]) & ~has))
                        return false;
        return true;
}

/* The setting, with all that is needed; malloc'd. */
static char *compose_settings(const char *path, const struct agent_fit *f, unsigned has)
{
        char *text = NULL;
        size_t size;
        struct stat st;
        FILE *to = stat(path, &st) == 0 ? open_memstream(&text, &size) : NULL;

        if (!to)
                return NULL;
        fprintf(to, "symbols=%s,%jx,%jx", f->version, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
        for (unsigned i = 0; i < rts_symbol_count; i++)
                if (rts_symbol_at(i)->address && !(when_given(rts_symbol_names[i]) & ~(has | IF_FOUND)))
                        fprintf(to, ",%s,%" PRIxPTR ",%zx", rts_symbol_names[i], (uintptr_t)rts_symbol_at(i)->address,
                                rts_symbol_at(i)->size);
        if (fclose(to) == 0 && size < AGENT_SYMBOLS_BYTES)
                return text;
        free(text);
        return NULL;
}

char *hidden_symbols_find(const char *path, struct agent_fit *fit)
{
        unsigned has;
        char *text = fit->obstacle == OBSTACLE_STRIPPED && fit->loader && read_way(fit, &has) ? find_kept(path) : NULL;
        char *ret = text && read_all(text, has) ? compose_settings(path, fit, has) : NULL;

        free(text);
        if (!ret)
                return NULL;
        fit->eventlog = (has & IF_LOG) != 0;
        fit->obstacle = OBSTACLE_NONE;
        fit->fits = true;
        return ret;
}

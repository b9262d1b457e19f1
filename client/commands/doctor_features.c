/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a table of what each feature needs, tried on the program itself: the
 * flags in `try` are given to its own RTS, which accepts or refuses them. Where
 * that is not enough (the interval on the non-threaded RTS, -p beside other
 * events there) a condition is added in code.
 */
#include "client/commands/doctor.h"

#include <stdio.h>
#include <string.h>

#include "proto/eventlog/advice.h"
#include "client/launch/program/inquire.h"
#include "proto/base/array.h"
#include "proto/base/rts_options.h"

struct wanted {
        const char *name, *try, *use, *build;
        bool needed;
};

static const struct wanted table[] = {
        { "collections, heap size, allocation, live bytes", "-l -olx", "+RTS -l", "-eventlog", true },
        { "heap by closure type", "-hT -i1", "+RTS -l -hT -i1", "-rtsopts", true },
        { "heap by info table", "-hi -i1", "+RTS -l -hi -i1",
          "GHC 9.2 or newer with -finfo-table-map -fdistinct-constructor-tables", false },
        { "heap by cost centre", "-hc -i1", "+RTS -l -hc -i1", "-prof", false },
        { "heap by module, description, type", "-hm -i1", "+RTS -l -hm -i1 (or -hd, -hy)", "-prof", false },
        { "heap by retainer", "-hr -i1", "+RTS -l -hr -i1", "-prof", false },
        { "heap by biography", "-hb -i1", "+RTS -l -hb -i1, at exit only", "-prof", false },
        { "heap by era", "-he -i1", "+RTS -l -he -i1", "GHC 9.10 or newer with -prof", false },
        { "messages, markers, threads", "-l", "+RTS -l", "-eventlog", false },
        { "non-moving collector", "--nonmoving-gc", "+RTS -l -ln --nonmoving-gc", "-rtsopts", false },
};

void features_add(struct features *f, const char *name, bool seen, bool needed, const char *add)
{
        if (f->n == FEATURES_MAX)
                return;
        struct feature *row = &f->rows[f->n++];
        *row = (struct feature){ .name = name, .seen = seen, .needed = needed };
        snprintf(row->add, sizeof(row->add), "%s", add);
}

bool features_complete(const struct features *f)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->rows[i].needed && !f->rows[i].seen)
                        return false;
        return true;
}

/* Whether the collector that it is linked with ends it when it makes a heap profile. */
static bool refuses_profile(const struct rtsinfo *info, struct rts_collector *ret_collector)
{
        *ret_collector = (struct rts_collector){ false };
        for (const char *at = info->with_rtsopts; *(at += strspn(at, " ")) != '\0'; at += strcspn(at, " "))
                rts_collector_option(ret_collector, at, strcspn(at, " "));
        return rts_collector_refuses_profile(ret_collector, info->version, info->profiled);
}

void features_of_program(struct features *f, const char *path, const struct rtsinfo *info, const struct agent_fit *fit)
{
        char add[768], use[128], reason[256];
        struct rts_collector collector;

        features_add(f, "eventlog", info->eventlog, true, info->eventlog ? "" : hw_advice_text(HW_ADVICE_NO_EVENTLOG));
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                const struct wanted *w = &table[i];
                bool seen = info->eventlog && inquire_accepts(path, w->try, reason, sizeof(reason));
                /*
                 * Any runtime accepts -hi, even if it then finds nothing; in a stripped file the tables have
                 * no names.
                 */
                if (!strncmp(w->try, "-hi", 3) && rtsinfo_at_least(info, 9, 4) && !fit->stripped)
                        seen = seen && fit->tables;
                const bool refused = !strncmp(w->try, "-h", 2) && refuses_profile(info, &collector);
                snprintf(use, sizeof(use), "%s%s", w->use,
                         !refused                ? ""
                         : collector.mark_region ? ", linked without -w, which ends it"
                                                 : " --copying-gc");
                if (seen)
                        snprintf(add, sizeof(add), "%s", use);
                else if (info->eventlog && strstr(reason, "-rtsopts") != NULL)
                        snprintf(add, sizeof(add), "add -rtsopts%s%s; then %s",
                                 !strcmp(w->build, "-rtsopts") ? "" : " and ",
                                 !strcmp(w->build, "-rtsopts") ? "" : w->build, use);
                else
                        snprintf(add, sizeof(add), "add %s%s; then %s",
                                 info->eventlog || !strcmp(w->build, "-prof") ? "" : "-eventlog and ",
                                 info->eventlog || strcmp(w->build, "-eventlog") != 0 ? w->build : "-rtsopts", use);
                features_add(f, w->name, seen, w->needed, add);
        }
        /* How soon bytes leave the program. */
        bool can = rtsinfo_at_least(info, 9, 2);
        const char *how = "call Debug.Trace.flushEventLog once a second in a thread of the program";

        features_add(f, "live, not only at exit", can, true, can ? how : hw_advice_text(HW_ADVICE_OLD_GHC));
        features_add(f, "live without a change of the program", can && info->threaded, false,
                     can && info->threaded ? hw_advice_text(HW_ADVICE_FLUSH_EXIT_DEADLOCK)
                                           : "GHC 9.2 or newer with -threaded: +RTS --eventlog-flush-interval=1");
        bool takes = inquire_accepts(path, "-p", reason, sizeof(reason));
        features_add(f, "time profile", takes && info->threaded, false,
                     !takes           ? "add -prof -threaded"
                     : info->threaded ? "+RTS -l -p"
                                      : hw_advice_text(HW_ADVICE_PROFILE_NOT_THREADED));
        features_add(f, "sparks, parallel collections", info->eventlog && info->threaded, false,
                     info->threaded ? "+RTS -l -N" : "add -threaded; then +RTS -l -N");
}

void features_print(const struct features *f)
{
        size_t width = 0;

        for (size_t i = 0; i < f->n; i++)
                if (strlen(f->rows[i].name) > width)
                        width = strlen(f->rows[i].name);
        printf("%-*s  seen  what to add\n", (int)width, "feature");
        for (size_t i = 0; i < f->n; i++)
                printf("%-*s  %-4s  %s\n", (int)width, f->rows[i].name,
                       f->rows[i].seen     ? "yes"
                       : f->rows[i].needed ? "NO"
                                           : "no",
                       f->rows[i].add);
}

void features_put_json(struct json_out *j, const struct features *f)
{
        json_open(j, '[');
        for (size_t i = 0; i < f->n; i++) {
                json_open(j, '{');
                json_member_text(j, "feature", f->rows[i].name);
                json_member_bool(j, "seen", f->rows[i].seen);
                json_member_bool(j, "needed", f->rows[i].needed);
                json_member_text(j, "add", f->rows[i].add);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save.c - the `s` key: the view's table as CSV, in the
 * current directory. Files are named after target, view and time; an existing
 * file is never overwritten.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/console/console.h"
#include "proto/base/error.h"

enum { NAME = 200 };

/* Its name is "heapwatch-api-1-bands-20261120-140230.csv". 0 or an errno. */
static int save_table(const struct console *c, const struct table *table, char *name, size_t size)
{
        time_t now = (time_t)(c->scene.now_wall_ns / 1000000000);
        const char *target = c->shown->class->all_targets ? "all" : c->scene.target->name;
        char when[32] = "";
        struct tm t;

        if (localtime_r(&now, &t))
                (void)strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &t);
        (void)snprintf(name, size, "heapwatch-%s-%s-%s.csv", target, table->class->name, when);
        for (char *p = name; *p; p++) {
                if (*p == '/')
                        *p = '_'; /* a target's name comes from outside */
        }
        FILE *f = fopen(name, "wxe"); /* x: not a file that is there */
        if (!f)
                return errno;
        table_csv(f, &c->scene, table);
        const int failed = -stream_flush(f);
        return fclose(f) && !failed ? errno : failed;
}

void console_save(struct console *c)
{
        char name[NAME];

        if (!c->scene.target)
                return;
        if (!c->table) {
                console_notify(c, false, "this view has no table to save");
                return;
        }
        int bad = save_table(c, c->table, name, sizeof(name));
        if (bad)
                console_notify(c, true, "cannot write %s: %s", name, strerror(bad));
        else
                console_notify(c, false, "saved %s", name);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save.c - the `s` key: the view's table as CSV, in the
 * current directory. Files are named after target, view and time; an existing
 * file is never overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/console/console.h"

enum { NAME = 200 };

/* "heapwatch-api-1-bands-20261120-140230.csv" */
static void name_file(const struct console *c, char *out, size_t size, const char *what, const char *suffix)
{
        time_t now = (time_t)(c->scene.now_wall_ns / 1000000000);
        const char *target = c->shown->class->all_targets ? "all" : c->scene.target->name;
        char when[32] = "";
        struct tm t;

        if (localtime_r(&now, &t))
                (void)strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &t);
        (void)snprintf(out, size, "heapwatch-%s-%s-%s.%s", target, what, when, suffix);
        for (char *p = out; *p; p++) {
                if (*p == '/')
                        *p = '_'; /* a target's name comes from outside */
        }
}

static FILE *create(const char *name)
{
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

        if (fd >= 0 && !f)
                (void)close(fd);
        return f;
}

/* 0 or an errno. */
static int save_table(const struct console *c, const struct table *t, char *name, size_t size)
{
        FILE *f;

        name_file(c, name, size, t->class->name, "csv");
        f = create(name);
        if (!f)
                return errno;
        table_csv(f, &c->scene, t);
        int bad = ferror(f) ? EIO : 0;
        return fclose(f) ? errno : bad;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an open memory stream would need a second pass to find the lines, so
 * the strings are gathered one by one into a fixed table and then put into one
 * block behind it. A label becomes HEAPWATCH_LABEL_<NAME>: letters in upper case,
 * everything that is no letter or digit as '_'.
 */
#include "daemon/act/exec_env.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"

#define FIXED_MAX 24u
#define LINES_MAX (FIXED_MAX + LIMIT_NOTICE_PAIRS)

struct lines {
        char *line[LINES_MAX];
        size_t n, bytes;
        bool failed;
};

__attribute__((format(printf, 2, 3))) static void add(struct lines *l, const char *format, ...)
{
        va_list args;
        char *line = NULL;

        va_start(args, format);
        int n = vasprintf(&line, format, args);
        va_end(args);
        if (n < 0 || l->n == LINES_MAX) {
                l->failed = true;
                if (n >= 0)
                        free(line);
                return;
        }
        l->line[l->n++] = line;
        l->bytes += (size_t)n + 1;
}

static void add_text(struct lines *l, const char *name, const char *text)
{
        if (text)
                add(l, "HEAPWATCH_%s=%s", name, text);
}

static void add_wall(struct lines *l, const char *name, uint64_t wall_ns)
{
        char text[HW_NUMBER_MAX];

        if (wall_ns != NOTICE_NO_TIME)
                add_text(l, name, hw_time_text(text, sizeof(text), wall_ns));
}

static void add_label(struct lines *l, const struct notice_pair *p)
{
        char name[128];
        size_t n = 0;

        if (!p->name || !p->value)
                return;
        for (; p->name[n] && n < sizeof(name) - 1; n++) {
                unsigned char c = (unsigned char)p->name[n];
                name[n] = c < 0x80 && isalnum(c) ? (char)toupper(c) : '_';
        }
        name[n] = '\0';
        add(l, "HEAPWATCH_LABEL_%s=%s", name, p->value);
}

static void add_all(struct lines *l, const struct notice *n)
{
        add(l, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        add(l, "LANG=C.UTF-8");
        add_text(l, "ALERT", n->rule);
        add_text(l, "GROUP", n->group);
        add_text(l, "TARGET", n->target);
        if (n->run)
                add(l, "HEAPWATCH_RUN=%" PRIu32, n->run);
        add_text(l, "BAND", n->band);
        add_text(l, "BAND_SOURCE", n->band_source);
        add_text(l, "BAND_NAME", n->band_name);
        add_text(l, "STATE", notice_state_name(n->state));
        add_text(l, "SEVERITY", notice_severity_name(n->severity));
        if (n->has_value)
                add(l, "HEAPWATCH_VALUE=%.17g", n->value);
        add_text(l, "VALUE_TEXT", n->value_text);
        add_text(l, "SENTENCE", n->sentence);
        add_wall(l, "ACTIVE_AT", n->active_wall_ns);
        add_wall(l, "STARTS_AT", n->fired_wall_ns);
        add_wall(l, "AT", n->wall_ns);
        add(l, "HEAPWATCH_FINGERPRINT=%016" PRIx64, n->fingerprint);
        for (size_t i = 0; i < n->n_labels && i < LIMIT_NOTICE_PAIRS; i++)
                add_label(l, &n->labels[i]);
}

static char **join(const struct lines *l)
{
        size_t table = (l->n + 1) * sizeof(char *);
        char **env = malloc(table + l->bytes);

        if (!env)
                return NULL;
        char *at = (char *)env + table;
        for (size_t i = 0; i < l->n; i++) {
                size_t size = strlen(l->line[i]) + 1;
                env[i] = memcpy(at, l->line[i], size);
                at += size;
        }
        env[l->n] = NULL;
        return env;
}

char **exec_env(const struct notice *notice)
{
        struct lines l = { .n = 0 };
        char **env = NULL;

        add_all(&l, notice);
        if (!l.failed)
                env = join(&l);
        while (l.n > 0)
                free(l.line[--l.n]);
        return env;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a memory stream would need a second pass to find the lines, so the
 * strings are collected in a fixed table and then copied into one block after the
 * pointers. A label becomes HEAPWATCH_LABEL_<NAME>: in upper case, with '_' for
 * everything that is not a letter or digit.
 */
#include "client/notify/exec_env.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"

#define FIXED_MAX 24u
#define LINES_MAX (FIXED_MAX + ALERT_EVENT_PAIRS)

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

static void add_wall(struct lines *l, const char *name, bool known, uint64_t wall_ns)
{
        char text[HW_NUMBER_MAX];

        if (known && wall_ns != UNKNOWN_U64)
                add_text(l, name, hw_time_text(text, sizeof(text), wall_ns));
}

static void add_label(struct lines *l, const Hw__Label *label)
{
        char name[128];
        size_t n = 0;

        if (!label->name || !label->value)
                return;
        for (; label->name[n] && n < sizeof(name) - 1; n++) {
                unsigned char c = (unsigned char)label->name[n];
                name[n] = c < 0x80 && isalnum(c) ? (char)toupper(c) : '_';
        }
        name[n] = '\0';
        add(l, "HEAPWATCH_LABEL_%s=%s", name, label->value);
}

static void add_all(struct lines *l, const struct alert_event *e)
{
        const Hw__Alert *a = e->alert;

        add(l, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        add(l, "LANG=C.UTF-8");
        add_text(l, "ALERT", a->rule);
        add_text(l, "GROUP", a->group);
        add_text(l, "TARGET", e->target);
        if (a->has_run && a->run)
                add(l, "HEAPWATCH_RUN=%" PRIu32, a->run);
        add_text(l, "BAND", a->band_label);
        add_text(l, "BAND_SOURCE", a->band_source);
        add_text(l, "BAND_NAME", a->band_name);
        add_text(l, "STATE", alert_event_state_name(e));
        add_text(l, "SEVERITY", a->severity);
        if (a->has_value)
                add(l, "HEAPWATCH_VALUE=%.17g", a->value);
        add_text(l, "VALUE_TEXT", a->value_text);
        add_text(l, "SENTENCE", a->sentence);
        add_wall(l, "ACTIVE_AT", a->has_since_wall_ns, a->since_wall_ns);
        add_wall(l, "STARTS_AT", a->has_fired_wall_ns, a->fired_wall_ns);
        add_wall(l, "AT", true, alert_event_wall_ns(e));
        add(l, "HEAPWATCH_FINGERPRINT=%016" PRIx64, a->fingerprint);
        for (size_t i = 0; i < a->n_labels && i < ALERT_EVENT_PAIRS; i++)
                add_label(l, a->labels[i]);
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

char **exec_env(const struct alert_event *event)
{
        struct lines l = { .n = 0 };
        char **env = NULL;

        add_all(&l, event);
        if (!l.failed)
                env = join(&l);
        while (l.n > 0)
                free(l.line[--l.n]);
        return env;
}

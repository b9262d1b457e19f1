/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/budget.h"

void settings_default(struct agent_settings *s)
{
        *s = (struct agent_settings){
                .reader = AGENT_NO_READER,
                .classes = "gu",
                .heap = 'T',
                .interval_ns = 1000000000,
                .flush_ns = 1000000000,
                .budget = BUDGET_SHARE,
                .max_pause_ns = BUDGET_PAUSE_NS,
                .queue_bytes = AGENT_QUEUE_BYTES,
                .linger_ns = 1000000000,
        };
}

static bool parse_number(const char *value, double least, double most, double *ret)
{
        char *end;
        double v = strtod(value, &end);

        if (end == value || *end != '\0' || !(v >= least && v <= most))
                return false;
        *ret = v;
        return true;
}

static bool parse_seconds(const char *value, double least, int64_t *ret_ns)
{
        double v;

        if (!parse_number(value, least, 86400, &v))
                return false;
        *ret_ns = (int64_t)(v * 1e9);
        return true;
}

static bool copy_text(const char *value, char *out, size_t size)
{
        return (size_t)snprintf(out, size, "%s", value) < size;
}

static bool parse_heap(const char *value, char *ret)
{
        *ret = value[0];
        if (!strcmp(value, "none"))
                *ret = 0;
        return !strcmp(value, "none") || ((*ret == 'T' || *ret == 'i') && value[1] == '\0');
}

static bool parse_bool(const char *value, bool *ret)
{
        *ret = value[0] == '1';
        return !strcmp(value, "1") || !strcmp(value, "0");
}

/* By number: names are the C library's to find, in files and services that the program has not asked for. */
static bool parse_user(const char *value, uid_t *ret)
{
        double v;

        if (value[strspn(value, "0123456789")] != '\0' || !parse_number(value, 0, AGENT_NO_READER - 1.0, &v))
                return false;
        *ret = (uid_t)v;
        return true;
}

static bool set_setting(struct agent_settings *s, const char *key, const char *value)
{
        double number;

        if (!strcmp(key, "socket"))
                return value[0] == '/' && copy_text(value, s->socket, sizeof(s->socket));
        if (!strcmp(key, "reader"))
                return parse_user(value, &s->reader);
        if (!strcmp(key, "once"))
                return parse_bool(value, &s->once);
        if (!strcmp(key, "follow"))
                return parse_bool(value, &s->follow);
        if (!strcmp(key, "skip"))
                return copy_text(value, s->skip, sizeof(s->skip));
        if (!strcmp(key, "off"))
                return parse_bool(value, &s->off);
        if (!strcmp(key, "classes"))
                return value[strspn(value, "sgnpfuTa-")] == '\0' && copy_text(value, s->classes, sizeof(s->classes));
        if (!strcmp(key, "rts"))
                return copy_text(value, s->options, sizeof(s->options));
        if (!strcmp(key, "symbols"))
                return copy_text(value, s->symbols, sizeof(s->symbols));
        if (!strcmp(key, "heap"))
                return parse_heap(value, &s->heap);
        if (!strcmp(key, "interval"))
                return parse_seconds(value, 0.01, &s->interval_ns);
        if (!strcmp(key, "flush"))
                return parse_seconds(value, 0.01, &s->flush_ns);
        if (!strcmp(key, "linger"))
                return parse_seconds(value, 0, &s->linger_ns);
        if (!strcmp(key, "await"))
                return parse_seconds(value, 0, &s->await_ns);
        if (!strcmp(key, "max-pause"))
                return parse_seconds(value, 0, &s->max_pause_ns);
        if (!strcmp(key, "budget") && parse_number(value, 0, 100, &number)) {
                s->budget = number / 100;
                return true;
        }
        if (!strcmp(key, "queue") && parse_number(value, 0.0625, 4096, &number)) {
                s->queue_bytes = (size_t)(number * (1 << 20));
                return true;
        }
        return false;
}

/* "ghc" skips ghc, ghc-9.6.6, ghc-pkg. */
bool settings_skip(const struct agent_settings *s, const char *program)
{
        for (const char *at = s->skip; *at != '\0';) {
                size_t n = strcspn(at, ":");
                if (n > 0 && !strncmp(at, program, n) && (program[n] == '\0' || program[n] == '-'))
                        return true;
                at += n + (at[n] == ':');
        }
        return false;
}

bool settings_parse(struct agent_settings *s, const char *text, struct error *error)
{
        char item[AGENT_SETTING_BYTES];

        while (*text != '\0') {
                size_t n = strcspn(text, ";");
                char *equals;

                if (n >= sizeof(item)) {
                        return error_set(error, "a setting is longer than %zu bytes", sizeof(item) - 1);
                }
                memcpy(item, text, n);
                item[n] = '\0';
                text += n + (text[n] == ';');
                if (n == 0)
                        continue;
                equals = strchr(item, '=');
                if (equals)
                        *equals = '\0';
                if (!equals || !set_setting(s, item, equals + 1)) {
                        return error_set(error, "%s=%s is not a setting of the agent (docs/AGENT.md)", item,
                                         equals ? equals + 1 : "");
                }
        }
        return true;
}

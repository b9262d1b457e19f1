/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: every text is checked for length and control characters before it is
 * copied. A URL is checked only as far as it takes to distinguish a mistake from an
 * address: libcurl parses it for good when it is used. Names and passwords in a
 * URL are refused: they would have to be hidden in too many places; a path that
 * holds a secret (many chat services) is never shown.
 */
#include "proto/wire/action_plan.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/wire/program_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct action_plan {
        unsigned refs;
        uint64_t serial;
        struct action_limits limits;
        size_t n;
        struct action_step steps[ACTION_STEPS_MAX];
};

static const char *const names[ACTION_KINDS] = {
        [ACTION_PUBLISH] = "publish",
        [ACTION_LOG] = "log",
        [ACTION_EXEC] = "exec",
        [ACTION_WEBHOOK] = "webhook",
        [ACTION_ALERTMANAGER] = "alertmanager",
        [ACTION_CENSUS] = "census",
        [ACTION_PROGRAM] = "program",
        [ACTION_DUMP] = "dump",
        [ACTION_WHY] = "why",
};

const char *action_kind_name(enum action_kind kind)
{
        return names[kind];
}

enum action_kind action_kind_parse(const char *name)
{
        enum action_kind kind = ACTION_PUBLISH;

        while (kind < ACTION_KINDS && strcmp(name, names[kind]) != 0)
                kind++;
        return kind;
}

/* ----------------------------------------------------------------- checks */

static bool refuse_plan(struct error *error, const char *kind, const char *what)
{
        return error_set(error, "%s: %s", kind, what);
}

static bool is_printable(const char *text)
{
        for (; *text; text++)
                if ((unsigned char)*text < 0x20 || *text == 0x7f)
                        return false;
        return true;
}

/* Where the host begins; NULL when it is not an http or https URL. */
static const char *host_of(const char *url)
{
        if (!strncmp(url, "http://", 7))
                return url + 7;
        if (!strncmp(url, "https://", 8))
                return url + 8;
        return NULL;
}

static const char *wrong_url(const char *url)
{
        const char *host = url ? host_of(url) : NULL;

        if (!host)
                return "expected a URL that begins with http:// or https://";
        size_t n = strcspn(host, "/?#");
        if (n == 0 || *host == ':')
                return "the URL has no host; expected e.g. http://127.0.0.1:9093/path";
        if (memchr(host, '@', n))
                return "the URL holds a user name or password; put a token into a file and name it as bearer_file";
        if (strlen(url) >= ACTION_TEXT_MAX || !is_printable(url) || strchr(url, ' '))
                return "the URL is too long, or has blanks or control characters in it";
        return NULL;
}

static const char *wrong_path(const char *path, const char *what)
{
        return !path || (path[0] == '/' && strlen(path) < ACTION_TEXT_MAX && is_printable(path)) ? NULL : what;
}

static const char *wrong_argv(const char *const *argv)
{
        size_t n = 0;

        if (!argv || !argv[0])
                return "expected a list: the program and its arguments";
        if (wrong_path(argv[0], ""))
                return "expected the program's absolute path first (there is no shell and no search path)";
        for (; argv[n]; n++)
                if (strlen(argv[n]) >= ACTION_TEXT_MAX)
                        return "an argument is longer than 4095 bytes";
        return n <= ACTION_ARGV_MAX ? NULL : "more than 64 words";
}

/* Pairs of an option and its value, for a command of ours: here only that nothing else gets there. */
static const char *wrong_pairs(const char *const *argv, const char *const *known, size_t n, const char *expected)
{
        for (size_t i = 0; argv && argv[i]; i += 2) {
                size_t k = 0;
                while (k < n && strcmp(argv[i], known[k]) != 0)
                        k++;
                if (k == n || i >= 2 * n || !argv[i + 1] || argv[i + 1][0] == '-')
                        return expected;
                if (strlen(argv[i + 1]) >= ACTION_TEXT_MAX || !is_printable(argv[i + 1]))
                        return "a value is too long, or has control characters in it";
        }
        return NULL;
}

static const char *wrong_step(const struct action_step *s)
{
        const char *wrong = NULL;

        if (s->kind == ACTION_PROGRAM && (!s->argv || !s->argv[0] || s->argv[1] || !program_command_find(s->argv[0])))
                return "expected a command such as heap-profile on; `heapwatch ctl --help` lists them";
        if (s->kind == ACTION_DUMP) {
                static const char *const known[] = { "--before",  "--after", "--apart",
                                                     "--per-day", "--keep",  "--directory" };

                if (s->timeout_ns > ACTION_DUMP_WAIT_NS + ACTION_DUMP_WORK_NS)
                        return "after: expected at most 30m";
                return wrong_pairs(s->argv, known, ARRAY_SIZE(known),
                                   "expected before, after, apart, per_day, keep or directory, each with a value");
        }
        if (s->kind == ACTION_WHY) {
                static const char *const known[] = { "--max-pause", "--memory" };

                wrong = wrong_pairs(s->argv, known, ARRAY_SIZE(known),
                                    "expected max_pause or memory, each with a value");
        }
        if (s->timeout_ns > ACTION_TIMEOUT_MAX_NS)
                return "timeout: expected at most 5m";
        if (s->attempts > ACTION_ATTEMPTS_MAX)
                return "attempts: expected 1 to 10";
        if (s->resend_ns && (s->resend_ns < 1000000000u || s->resend_ns > ACTION_LIMIT_WINDOW_NS))
                return "resend: expected 1s to 1h";
        if (s->kind == ACTION_EXEC)
                wrong = wrong_argv(s->argv);
        if (s->kind == ACTION_WEBHOOK || s->kind == ACTION_ALERTMANAGER)
                wrong = wrong_url(s->url);
        if (s->kind == ACTION_ALERTMANAGER && s->firing_only)
                return "resolved: false has no meaning here: it keeps the alert until it is notified that it is over";
        if (!wrong)
                wrong = wrong_path(s->bearer_file, "bearer_file: expected an absolute path");
        return wrong ? wrong : wrong_path(s->ca_file, "ca_file: expected an absolute path");
}

/* ------------------------------------------------------------------ steps */

static char **copy_argv(const char *const *argv)
{
        char **copy = calloc(ACTION_ARGV_MAX + 1, sizeof(*copy));

        for (size_t i = 0; copy && argv[i]; i++) {
                copy[i] = strdup(argv[i]);
                if (!copy[i]) {
                        while (i > 0)
                                free(copy[--i]);
                        free(copy);
                        return NULL;
                }
        }
        return copy;
}

static void step_done(struct action_step *s)
{
        for (size_t i = 0; s->argv && s->argv[i]; i++)
                free((char *)s->argv[i]);
        free((char **)s->argv);
        free((char *)s->url);
        free((char *)s->bearer_file);
        free((char *)s->ca_file);
}

static bool copy_step(struct action_step *to, const struct action_step *from)
{
        *to = *from;
        to->argv = from->argv ? (const char *const *)copy_argv(from->argv) : NULL;
        to->url = from->url ? strdup(from->url) : NULL;
        to->bearer_file = from->bearer_file ? strdup(from->bearer_file) : NULL;
        to->ca_file = from->ca_file ? strdup(from->ca_file) : NULL;
        const bool is_asked = to->kind == ACTION_CENSUS || to->kind == ACTION_PROGRAM; /* of the program */
        if (to->kind == ACTION_DUMP || to->kind == ACTION_WHY || is_asked)
                to->firing_only = true;
        if (!to->timeout_ns)
                to->timeout_ns = to->kind == ACTION_DUMP  ? ACTION_DUMP_AFTER_NS + ACTION_DUMP_WORK_NS
                                 : to->kind == ACTION_WHY ? ACTION_WHY_NS
                                 : is_asked               ? ACTION_CENSUS_NS
                                                          : ACTION_TIMEOUT_NS;
        if (!to->attempts)
                to->attempts = from->kind == ACTION_WEBHOOK || from->kind == ACTION_ALERTMANAGER ? ACTION_ATTEMPTS : 1;
        if (!to->resend_ns)
                to->resend_ns = ACTION_RESEND_NS;
        if (!to->argv == !from->argv && !to->url == !from->url && !to->bearer_file == !from->bearer_file &&
            !to->ca_file == !from->ca_file)
                return true;
        step_done(to);
        return false;
}

bool action_plan_add(struct action_plan *plan, const struct action_step *step, struct error *error)
{
        const char *wrong = wrong_step(step);

        if (wrong)
                return refuse_plan(error, names[step->kind], wrong);
        if (plan->n == ACTION_STEPS_MAX)
                return refuse_plan(error, "do", "more than 16 actions");
        if (!copy_step(&plan->steps[plan->n], step))
                return refuse_plan(error, names[step->kind], "out of memory");
        plan->n++;
        return true;
}

bool action_plan_limit(struct action_plan *plan, const struct action_limits *limits, struct error *error)
{
        if (limits->window_ns && (limits->window_ns < 1000000000u || limits->window_ns > 30 * 86400000000000u))
                return refuse_plan(error, "limits", "window: expected 1s to 30d");
        if (limits->count > 1000 || limits->per_alert > 1000)
                return refuse_plan(error, "limits", "count, per_alert: expected 1 to 1000");
        if (limits->count)
                plan->limits.count = limits->count;
        if (limits->per_alert)
                plan->limits.per_alert = limits->per_alert;
        if (limits->window_ns)
                plan->limits.window_ns = limits->window_ns;
        return true;
}

/* ------------------------------------------------------------------- plan */

struct action_plan *action_plan_new(void)
{
        static uint64_t serial;
        struct action_plan *plan = calloc(1, sizeof(*plan));

        if (!plan)
                return NULL;
        plan->refs = 1;
        plan->serial = ++serial;
        plan->limits = (struct action_limits){
                .count = ACTION_LIMIT_COUNT,
                .per_alert = ACTION_LIMIT_PER_ALERT,
                .window_ns = ACTION_LIMIT_WINDOW_NS,
        };
        return plan;
}

struct action_plan *action_plan_ref(struct action_plan *plan)
{
        plan->refs++;
        return plan;
}

void action_plan_unref(struct action_plan **planp)
{
        struct action_plan *plan = *planp;

        *planp = NULL;
        if (!plan || --plan->refs > 0)
                return;
        for (size_t i = 0; i < plan->n; i++)
                step_done(&plan->steps[i]);
        free(plan);
}

size_t action_plan_steps(const struct action_plan *plan)
{
        return plan->n;
}

const struct action_step *action_plan_step(const struct action_plan *plan, size_t index)
{
        return &plan->steps[index];
}

uint64_t action_plan_serial(const struct action_plan *plan)
{
        return plan->serial;
}

const struct action_limits *action_plan_limits(const struct action_plan *plan)
{
        return &plan->limits;
}

bool action_plan_has_work(const struct action_plan *plan)
{
        for (size_t i = 0; i < plan->n; i++)
                if (plan->steps[i].kind != ACTION_PUBLISH)
                        return true;
        return false;
}

bool action_plan_keeps_state(const struct action_plan *plan)
{
        for (size_t i = 0; i < plan->n; i++)
                if (plan->steps[i].kind == ACTION_ALERTMANAGER)
                        return true;
        return false;
}

bool action_step_applies(const struct action_step *s, bool resolved, bool known)
{
        if (s->kind == ACTION_PUBLISH || (known && s->kind != ACTION_ALERTMANAGER))
                return false;
        return !(s->firing_only && resolved);
}

char *action_step_text(char *out, size_t size, const struct action_step *s)
{
        const char *host = s->url ? host_of(s->url) : NULL;

        if (host)
                snprintf(out, size, "%.*s", (int)((size_t)(host - s->url) + strcspn(host, "/?#")), s->url);
        else
                snprintf(out, size, "%s", s->argv && s->kind == ACTION_EXEC ? s->argv[0] : names[s->kind]);
        return out;
}

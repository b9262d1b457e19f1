/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: every text is checked for length and control characters before it is
 * copied. A URL is checked only as far as it takes to tell a mistake from an
 * address: libcurl parses it for good when it is used. Names and passwords in a
 * URL are refused: they would have to be hidden in too many places; a path that
 * holds a secret (many chat services) is never shown.
 *
 * The count of references is atomic, because the last one may be dropped by the
 * thread that runs the actions.
 */
#include "daemon/act/plan.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct act_plan {
        atomic_uint refs;
        struct act_limits limits;
        size_t n;
        struct act_step steps[ACT_STEPS_MAX];
};

static const char *const names[ACT_KINDS] = {
        [ACT_PUBLISH] = "publish",           [ACT_LOG] = "log",       [ACT_EXEC] = "exec", [ACT_WEBHOOK] = "webhook",
        [ACT_ALERTMANAGER] = "alertmanager", [ACT_CENSUS] = "census", [ACT_DUMP] = "dump",
};

const char *act_kind_name(enum act_kind kind)
{
        return names[kind];
}

enum act_kind act_kind_parse(const char *name)
{
        enum act_kind kind = ACT_PUBLISH;

        while (kind < ACT_KINDS && strcmp(name, names[kind]) != 0)
                kind++;
        return kind;
}

/* ----------------------------------------------------------------- checks */

static bool refuse(char *error, size_t size, const char *kind, const char *what)
{
        snprintf(error, size, "%s: %s", kind, what);
        return false;
}

static bool printable(const char *text)
{
        for (; *text; text++)
                if ((unsigned char)*text < 0x20 || *text == 0x7f)
                        return false;
        return true;
}

/* Where the host begins; NULL when it is no http or https URL. */
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
        if (strlen(url) >= ACT_TEXT_MAX || !printable(url) || strchr(url, ' '))
                return "the URL is too long, or has blanks or control characters in it";
        return NULL;
}

static const char *wrong_path(const char *path, const char *what)
{
        return !path || (path[0] == '/' && strlen(path) < ACT_TEXT_MAX && printable(path)) ? NULL : what;
}

static const char *wrong_argv(const char *const *argv)
{
        size_t n = 0;

        if (!argv || !argv[0])
                return "expected a list: the program and its arguments";
        if (wrong_path(argv[0], ""))
                return "expected the program's absolute path first (there is no shell and no search path)";
        for (; argv[n]; n++)
                if (strlen(argv[n]) >= ACT_TEXT_MAX)
                        return "an argument is longer than 4095 bytes";
        return n <= ACT_ARGV_MAX ? NULL : "more than 64 words";
}

static const char *wrong_step(const struct act_step *s)
{
        const char *wrong = NULL;

        if (s->timeout_ns > ACT_TIMEOUT_MAX_NS)
                return "timeout: expected at most 5m";
        if (s->attempts > ACT_ATTEMPTS_MAX)
                return "attempts: expected 1 to 10";
        if (s->resend_ns && (s->resend_ns < 1000000000u || s->resend_ns > ACT_LIMIT_WINDOW_NS))
                return "resend: expected 1s to 1h";
        if (s->kind == ACT_EXEC)
                wrong = wrong_argv(s->argv);
        if (s->kind == ACT_WEBHOOK || s->kind == ACT_ALERTMANAGER)
                wrong = wrong_url(s->url);
        if (s->kind == ACT_ALERTMANAGER && s->firing_only)
                return "resolved: false has no meaning here: it keeps the alert until it is told that it is over";
        if (s->kind == ACT_CENSUS || s->kind == ACT_DUMP)
                wrong = "this version cannot do that yet";
        if (!wrong)
                wrong = wrong_path(s->bearer_file, "bearer_file: expected an absolute path");
        return wrong ? wrong : wrong_path(s->ca_file, "ca_file: expected an absolute path");
}

/* ------------------------------------------------------------------ steps */

static char **copy_argv(const char *const *argv)
{
        char **copy = calloc(ACT_ARGV_MAX + 1, sizeof(*copy));

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

static void step_done(struct act_step *s)
{
        for (size_t i = 0; s->argv && s->argv[i]; i++)
                free((char *)s->argv[i]);
        free((char **)s->argv);
        free((char *)s->url);
        free((char *)s->bearer_file);
        free((char *)s->ca_file);
}

static bool copy_step(struct act_step *to, const struct act_step *from)
{
        *to = *from;
        to->argv = from->argv ? (const char *const *)copy_argv(from->argv) : NULL;
        to->url = from->url ? strdup(from->url) : NULL;
        to->bearer_file = from->bearer_file ? strdup(from->bearer_file) : NULL;
        to->ca_file = from->ca_file ? strdup(from->ca_file) : NULL;
        if (!to->timeout_ns)
                to->timeout_ns = ACT_TIMEOUT_NS;
        if (!to->attempts)
                to->attempts = from->kind == ACT_WEBHOOK || from->kind == ACT_ALERTMANAGER ? ACT_ATTEMPTS : 1;
        if (!to->resend_ns)
                to->resend_ns = ACT_RESEND_NS;
        if (!to->argv == !from->argv && !to->url == !from->url && !to->bearer_file == !from->bearer_file &&
            !to->ca_file == !from->ca_file)
                return true;
        step_done(to);
        return false;
}

bool act_plan_add(struct act_plan *plan, const struct act_step *step, char *error, size_t error_size)
{
        const char *wrong = wrong_step(step);

        if (wrong)
                return refuse(error, error_size, names[step->kind], wrong);
        if (plan->n == ACT_STEPS_MAX)
                return refuse(error, error_size, "do", "more than 16 actions");
        if (!copy_step(&plan->steps[plan->n], step))
                return refuse(error, error_size, names[step->kind], "out of memory");
        plan->n++;
        return true;
}

bool act_plan_limit(struct act_plan *plan, const struct act_limits *limits, char *error, size_t error_size)
{
        if (limits->window_ns && (limits->window_ns < 1000000000u || limits->window_ns > 30 * 86400000000000u))
                return refuse(error, error_size, "limits", "window: expected 1s to 30d");
        if (limits->count > 1000 || limits->per_alert > 1000)
                return refuse(error, error_size, "limits", "count, per_alert: expected 1 to 1000");
        if (limits->count)
                plan->limits.count = limits->count;
        if (limits->per_alert)
                plan->limits.per_alert = limits->per_alert;
        if (limits->window_ns)
                plan->limits.window_ns = limits->window_ns;
        return true;
}

/* ------------------------------------------------------------------- plan */

struct act_plan *act_plan_new(void)
{
        struct act_plan *plan = calloc(1, sizeof(*plan));

        if (!plan)
                return NULL;
        atomic_init(&plan->refs, 1);
        plan->limits = (struct act_limits){
                .count = ACT_LIMIT_COUNT,
                .per_alert = ACT_LIMIT_PER_ALERT,
                .window_ns = ACT_LIMIT_WINDOW_NS,
        };
        return plan;
}

struct act_plan *act_plan_ref(struct act_plan *plan)
{
        atomic_fetch_add(&plan->refs, 1);
        return plan;
}

void act_plan_unref(struct act_plan **planp)
{
        struct act_plan *plan = *planp;

        *planp = NULL;
        if (!plan || atomic_fetch_sub(&plan->refs, 1) != 1)
                return;
        for (size_t i = 0; i < plan->n; i++)
                step_done(&plan->steps[i]);
        free(plan);
}

size_t act_plan_steps(const struct act_plan *plan)
{
        return plan->n;
}

const struct act_step *act_plan_step(const struct act_plan *plan, size_t index)
{
        return &plan->steps[index];
}

const struct act_limits *act_plan_limits(const struct act_plan *plan)
{
        return &plan->limits;
}

bool act_plan_has_work(const struct act_plan *plan)
{
        for (size_t i = 0; i < plan->n; i++)
                if (plan->steps[i].kind != ACT_PUBLISH)
                        return true;
        return false;
}

bool act_plan_keeps_state(const struct act_plan *plan)
{
        for (size_t i = 0; i < plan->n; i++)
                if (plan->steps[i].kind == ACT_ALERTMANAGER)
                        return true;
        return false;
}

bool act_step_applies(const struct act_step *s, bool resolved, bool known)
{
        if (s->kind == ACT_PUBLISH || (known && s->kind != ACT_ALERTMANAGER))
                return false;
        return !(s->firing_only && resolved);
}

char *act_step_text(char *out, size_t size, const struct act_step *s)
{
        const char *host = s->url ? host_of(s->url) : NULL;

        if (host)
                snprintf(out, size, "%.*s", (int)((size_t)(host - s->url) + strcspn(host, "/?#")), s->url);
        else
                snprintf(out, size, "%s", s->argv ? s->argv[0] : names[s->kind]);
        return out;
}

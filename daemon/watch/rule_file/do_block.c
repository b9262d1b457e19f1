/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an action is a word (`- log`) or a mapping of one word to its settings, in short form (an argv, a URL) or in
 * full. Values are checked by action_plan_add, which knows what they mean.
 */
#include "daemon/watch/rule_file/rulebook.h"

#include <string.h>

#include "proto/wire/action_plan.h"
#include "proto/base/nearest.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

/* ----------------------------------------------------------------- small values */

static bool read_time(struct yaml_file *f, const yaml_node_t *node, uint64_t *ret_ns)
{
        const char *text = yaml_text(f, node, "a time such as 10s");

        if (!node)
                return true;
        if (!text)
                return false;
        if (!hw_parse_duration(text, ret_ns))
                return yaml_error(f, node, 0, "'%s'; expected a time such as 30s, 5m or 2h", text);
        return true;
}

static bool read_count(struct yaml_file *f, const yaml_node_t *node, uint32_t *ret)
{
        const char *text = yaml_text(f, node, "a number");
        uint64_t number;

        if (!node)
                return true;
        if (!text)
                return false;
        if (strspn(text, "0123456789") != strlen(text) || !hw_parse_bytes(text, &number) || number == 0 ||
            number > 1000000)
                return yaml_error(f, node, 0, "'%s'; expected a number from 1 to 1000000", text);
        *ret = (uint32_t)number;
        return true;
}

static bool read_text(struct yaml_file *f, const yaml_node_t *node, const char *what, const char **ret)
{
        *ret = yaml_text(f, node, what);
        return !node || *ret;
}

/* A list of words, or one word. `argv` has room for ACTION_ARGV_MAX words and a NULL. */
static bool read_argv(struct yaml_file *f, const yaml_node_t *node, const char **argv)
{
        static const char what[] = "a program and its arguments, such as [/usr/bin/logger, leak]";
        const yaml_node_t *item;
        size_t n = 0;

        if (node->type == YAML_SCALAR_NODE) {
                argv[n++] = yaml_text(f, node, what);
                argv[n] = NULL;
                return argv[0] != NULL;
        }
        if (!yaml_is_sequence(f, node, what))
                return false;
        for (size_t i = 0; (item = yaml_item_at(f, node, i)); i++) {
                if (n == ACTION_ARGV_MAX)
                        return yaml_error(f, item, 0, "a command has at most %u words", ACTION_ARGV_MAX);
                argv[n] = yaml_text(f, item, "a word of the command");
                if (!argv[n++])
                        return false;
        }
        argv[n] = NULL;
        return true;
}

/* --------------------------------------------------------------------- one step */

static bool read_common(struct yaml_file *f, const yaml_node_t *body, struct action_step *step)
{
        const yaml_node_t *resolved = yaml_get(f, body, "resolved");
        bool too = true;

        if (resolved && !yaml_boolean(f, resolved, &too))
                return false;
        step->firing_only = !too;
        return read_time(f, yaml_get(f, body, "timeout"), &step->timeout_ns) &&
               read_count(f, yaml_get(f, body, "attempts"), &step->attempts);
}

static bool read_exec(struct yaml_file *f, const yaml_node_t *body, struct action_step *step, const char **argv)
{
        static const char *const keys[] = { "command", "timeout", "attempts", "resolved" };
        const yaml_node_t *command;

        step->argv = argv;
        if (body->type != YAML_MAPPING_NODE)
                return read_argv(f, body, argv);
        command = yaml_get(f, body, "command");
        if (!yaml_check_keys(f, body, keys, ARRAY_SIZE(keys)))
                return false;
        if (!command)
                return yaml_error(f, body, 0, "exec needs command: [PROGRAM, ARGUMENT...]");
        return read_argv(f, command, argv) && read_common(f, body, step);
}

/* A setting as an option of a command of ours: checked here, where its line is known. */
static bool read_option(struct yaml_file *f, const yaml_node_t *node, const char *option, bool good,
                        const char *expected, const char ***argv)
{
        if (!node)
                return true;
        const char *text = yaml_text(f, node, expected);
        if (!text)
                return false;
        if (!good)
                return yaml_error(f, node, 0, "'%s'; expected %s", text, expected);
        *(*argv)++ = option;
        *(*argv)++ = text;
        return true;
}

static bool is_time(struct yaml_file *f, const yaml_node_t *node, uint64_t most_ns, uint64_t *ret_ns)
{
        const char *text = node && node->type == YAML_SCALAR_NODE ? yaml_text(f, node, "a time") : NULL;

        return text && hw_parse_duration(text, ret_ns) && *ret_ns <= most_ns;
}

static bool read_dump(struct yaml_file *f, const yaml_node_t *body, struct action_step *step, const char **argv)
{
        static const char *const keys[] = { "before", "after", "apart", "per_day", "keep", "directory" };
        const yaml_node_t *before, *after, *apart, *per_day, *keep, *directory;
        uint64_t after_ns = ACTION_DUMP_AFTER_NS, ignored;
        const char *text;

        if (!yaml_is_mapping(f, body, "settings such as before: 10m") ||
            !yaml_check_keys(f, body, keys, ARRAY_SIZE(keys)))
                return false;
        before = yaml_get(f, body, "before");
        after = yaml_get(f, body, "after");
        apart = yaml_get(f, body, "apart");
        per_day = yaml_get(f, body, "per_day");
        keep = yaml_get(f, body, "keep");
        directory = yaml_get(f, body, "directory");
        step->argv = argv;
        const bool good_after = is_time(f, after, ACTION_DUMP_WAIT_NS, &after_ns);
        step->timeout_ns = (good_after ? after_ns : 0) + ACTION_DUMP_WORK_NS;
        if (!read_option(f, before, "--before", is_time(f, before, ACTION_DUMP_MOST_NS, &ignored),
                         "a time of at most 24h, such as 10m", &argv) ||
            !read_option(f, after, "--after", good_after, "a time of at most 30m, such as 2m", &argv) ||
            !read_option(f, apart, "--apart", is_time(f, apart, UINT64_MAX, &ignored), "a time such as 2h", &argv))
                return false;
        uint32_t count;
        if (!read_count(f, per_day, &count) || !read_option(f, per_day, "--per-day", true, "a number", &argv))
                return false;
        text = keep ? yaml_text(f, keep, "bytes such as 1GiB") : NULL;
        if (!read_option(f, keep, "--keep", text && hw_parse_bytes(text, &ignored) && ignored > 0, "bytes such as 1GiB",
                         &argv))
                return false;
        text = directory ? yaml_text(f, directory, "a path") : NULL;
        return read_option(f, directory, "--directory", text && text[0] == '/', "an absolute path", &argv);
}

static bool read_why(struct yaml_file *f, const yaml_node_t *body, struct action_step *step, const char **argv)
{
        static const char *const keys[] = { "max_pause", "memory", "timeout" };
        const yaml_node_t *pause, *memory;
        uint64_t number;

        if (!yaml_is_mapping(f, body, "settings such as max_pause: 50ms") ||
            !yaml_check_keys(f, body, keys, ARRAY_SIZE(keys)) ||
            !read_time(f, yaml_get(f, body, "timeout"), &step->timeout_ns))
                return false;
        pause = yaml_get(f, body, "max_pause");
        memory = yaml_get(f, body, "memory");
        step->argv = argv;
        if (!read_option(f, pause, "--max-pause",
                         is_time(f, pause, ACTION_WHY_PAUSE_MOST_NS, &number) && number >= ACTION_WHY_PAUSE_LEAST_NS,
                         "a time from 1ms to 1m, such as 50ms", &argv))
                return false;
        const char *text = memory ? yaml_text(f, memory, "bytes such as 1GiB") : NULL;
        return read_option(f, memory, "--memory", text && hw_parse_bytes(text, &number) && number >= 64 << 20,
                           "at least 64MiB, such as 1GiB", &argv);
}

static bool read_http(struct yaml_file *f, const yaml_node_t *body, struct action_step *step)
{
        static const char *const keys[] = {
                "url", "bearer_file", "ca_file", "timeout", "attempts", "resolved", "resend"
        };
        bool resends = step->kind == ACTION_ALERTMANAGER;

        if (body->type == YAML_SCALAR_NODE)
                return read_text(f, body, "a URL", &step->url);
        return yaml_is_mapping(f, body, "a URL, or url: and further settings") &&
               yaml_check_keys(f, body, keys, ARRAY_SIZE(keys) - !resends) &&
               read_text(f, yaml_get(f, body, "url"), "a URL", &step->url) &&
               read_text(f, yaml_get(f, body, "bearer_file"), "a path", &step->bearer_file) &&
               read_text(f, yaml_get(f, body, "ca_file"), "a path", &step->ca_file) &&
               read_time(f, yaml_get(f, body, "resend"), &step->resend_ns) && read_common(f, body, step);
}

static bool unknown_kind(struct yaml_file *f, const yaml_node_t *at, const char *word)
{
        struct nearest near = { .typed = word };

        for (unsigned i = 0; i < ACTION_KINDS; i++)
                nearest_try(&near, action_kind_name(i));
        if (near.found)
                return yaml_error(f, at, 0, "unknown action '%s'; did you mean '%s'?", word, near.found);
        return yaml_error(
                f, at, 0,
                "unknown action '%s'; expected publish, log, exec, webhook, alertmanager, census, program, dump or "
                "why",
                word);
}

static bool add_step(struct yaml_file *f, struct action_plan *plan, const struct action_step *step,
                     const yaml_node_t *at)
{
        struct error error;

        return action_plan_add(plan, step, &error) || yaml_error(f, at, 0, "%s", error.text);
}

static bool read_step(struct yaml_file *f, struct action_plan *plan, const yaml_node_t *item)
{
        const char *argv[ACTION_ARGV_MAX + 1] = { NULL };
        struct action_step step = { .kind = ACTION_KINDS };
        struct yaml_entry e = { .key = "", .key_node = item }, second;

        if (item->type == YAML_SCALAR_NODE)
                e.key = yaml_text(f, item, "an action");
        else if (!yaml_is_mapping(f, item, "an action such as log, or exec: [PROGRAM]"))
                return false;
        else if (!yaml_entry_at(f, item, 0, &e) || yaml_entry_at(f, item, 1, &second))
                return yaml_error(f, item, 0, "expected one action here; each begins with its own '-'");
        step.kind = e.key ? action_kind_parse(e.key) : ACTION_KINDS;
        if (step.kind == ACTION_KINDS)
                return unknown_kind(f, e.key_node, e.key ? e.key : "");
        if (!e.value)
                return add_step(f, plan, &step, item);
        bool good = true;
        if (step.kind == ACTION_EXEC || (step.kind == ACTION_PROGRAM && e.value->type == YAML_SCALAR_NODE))
                good = read_exec(f, e.value, &step, argv);
        else if (step.kind == ACTION_WEBHOOK || step.kind == ACTION_ALERTMANAGER)
                good = read_http(f, e.value, &step);
        else if (step.kind == ACTION_DUMP && e.value->type == YAML_MAPPING_NODE)
                good = read_dump(f, e.value, &step, argv);
        else if (step.kind == ACTION_WHY && e.value->type == YAML_MAPPING_NODE)
                good = read_why(f, e.value, &step, argv);
        else if (e.value->type != YAML_SCALAR_NODE || e.value->data.scalar.length > 0)
                good = yaml_error(f, e.value, 0, "%s takes no settings", e.key);
        return good && add_step(f, plan, &step, e.value);
}

static bool read_limits(struct yaml_file *f, struct action_plan *plan, const yaml_node_t *node)
{
        static const char *const keys[] = { "count", "per_alert", "window" };
        struct action_limits limits = { 0 };
        struct error error;

        if (!yaml_is_mapping(f, node, "limits such as count: 60") ||
            !yaml_check_keys(f, node, keys, ARRAY_SIZE(keys)) ||
            !read_count(f, yaml_get(f, node, "count"), &limits.count) ||
            !read_count(f, yaml_get(f, node, "per_alert"), &limits.per_alert) ||
            !read_time(f, yaml_get(f, node, "window"), &limits.window_ns))
                return false;
        return action_plan_limit(plan, &limits, &error) || yaml_error(f, node, 0, "%s", error.text);
}

bool rules_read_do(struct yaml_file *f, const yaml_node_t *todo, const yaml_node_t *limits,
                   struct action_plan **ret_plan)
{
        const yaml_node_t *item;
        bool good = true, good_list = true;

        *ret_plan = NULL;
        if (!todo && !limits)
                return true;
        struct action_plan *plan = action_plan_new();
        if (!plan)
                return yaml_error(f, todo ? todo : limits, 0, "out of memory");
        if (todo)
                good = good_list = yaml_is_sequence(f, todo, "a list of actions");
        for (size_t i = 0; todo && good_list && (item = yaml_item_at(f, todo, i)); i++)
                good = read_step(f, plan, item) && good;
        if (limits)
                good = read_limits(f, plan, limits) && good;
        if (good)
                *ret_plan = plan;
        else
                action_plan_unref(&plan);
        return good;
}

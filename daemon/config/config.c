/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: getopt fills the struct; the file (config_file.c) only fills what is
 * still empty. Every value is checked where it enters, so nothing downstream
 * has to.
 */
#include "daemon/config/config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/limits.h"
#include "heapwatch/wire.h"
#include "daemon/trend/tracker.h"

static const char help[] =
        "usage: heapwatchd [OPTIONS] [NAME=]URI...\n"
        "       heapwatchd --once --push ENDPOINT FILE...\n"
        "\n"
        "Reads the eventlogs of running Haskell programs and publishes what their heaps do.\n"
        "\n"
        "sources:\n"
        "  file:PATH or PATH        a growing file       stdin:                 standard input\n"
        "  fifo:PATH                a named pipe         tcp:HOST:PORT          connect\n"
        "  unix:PATH                connect              tcp-listen:HOST:PORT   accept, loopback only\n"
        "  unix-listen:PATH         accept\n"
        "\n"
        "options:\n"
        "  -c, --config FILE        YAML with the same settings (see heapwatchd.yaml(5))\n"
        "      --publish ENDPOINT   where updates are published\n"
        "      --request ENDPOINT   where requests are answered\n"
        "                           default: ipc sockets in $XDG_RUNTIME_DIR/heapwatch, or /run/heapwatch as root\n"
        "      --show-arguments     publish the programs' own arguments too (they may hold secrets)\n"
        "      --resolution TIME    step in which growth is judged, 100ms to 1h (default 1m;\n"
        "                           with --once by the log's length)\n"
        "      --leak-after TIME    growth that lasts so long and does not slow down is called\n"
        "                           a leak (default 180 steps: 3h)\n"
        "      --limit BYTES        memory the programs may use, if less than what the system says (such as 2GiB)\n"
        "      --keep-ended N       targets of `heapwatch run` kept after their end, 0 to 500 (default 16)\n"
        "      --keep-ended-for TIME  how long (default 48h)\n"
        "      --rules FILE         rules for alerts, beside the built-in ones; may be given several times\n"
        "                           (see heapwatch-rules(5)); read again on SIGHUP and `heapwatch ctl reload`\n"
        "      --log-level LEVEL    error, warning, info (default) or debug; by room: info,source=debug\n"
        "      --print-config       show the effective configuration and end\n"
        "      --once               read finished files at full speed and end (used by heapwatch FILE commands)\n"
        "      --push ENDPOINT      with --once: the ipc socket of the client that started it\n"
        "      --events             with --once: send every event as decoded, too\n"
        "      --event-counts       with --once: send how many events of each type there were, too\n"
        "      --check-rules FILE...        check rule files and end (used by heapwatch rules)\n"
        "      --list-rules [FILE...]       list the built-in rules and those of the files\n"
        "      --explain-rules [FILE...]    the same in words\n"
        "      --test-rules FILE...         run tests of rules\n"
        "  -h, --help               this text\n"
        "  -V, --version            version\n"
        "\n"
        "exit status: 0 ended as asked, 1 a file could not be read or a socket not be opened, 2 bad usage\n"
        "\n"
        "example: heapwatchd api-1=/var/log/api/api.eventlog worker=unix:/run/worker/eventlog.sock\n";

static bool refuse(const char *what)
{
        fprintf(stderr, "heapwatchd: %s\nTry 'heapwatchd --help'.\n", what);
        return false;
}

bool config_add_target(struct config *c, const char *name, const char *spec, char *error, size_t error_size)
{
        struct config_target t;

        if (!target_spec_parse(spec, t.name, &t.uri, error, error_size))
                return false;
        if (name) {
                if (!target_name_valid(name)) {
                        snprintf(error, error_size, "'%.80s' is not a valid target name: 1 to 64 of A-Z a-z 0-9 . _ -",
                                 name);
                        return false;
                }
                snprintf(t.name, sizeof(t.name), "%s", name);
        }
        if (c->n_targets == LIMIT_TARGETS) {
                snprintf(error, error_size, "more than %u targets", LIMIT_TARGETS);
                return false;
        }
        struct config_target *grown = realloc(c->targets, (c->n_targets + 1) * sizeof(*grown));
        if (!grown) {
                snprintf(error, error_size, "out of memory");
                return false;
        }
        c->targets = grown;
        c->targets[c->n_targets++] = t;
        return true;
}

/* Files of --once may share a base name (run.eventlog): numbers the later ones. */
static void make_names_unique(struct config *c)
{
        for (size_t i = 1; i < c->n_targets; i++) {
                char base[TARGET_NAME_MAX + 1];
                unsigned number = 1;
                memcpy(base, c->targets[i].name, sizeof(base));
                for (size_t j = 0; j < i; j++) {
                        if (strcmp(c->targets[j].name, c->targets[i].name) != 0)
                                continue;
                        snprintf(c->targets[i].name, sizeof(base), "%.*s-%u", TARGET_NAME_MAX - 8, base, ++number);
                        j = (size_t)-1; /* look from the start again */
                }
        }
}

static bool set_endpoint(char *endpoint, const char *value, const char *option)
{
        char what[128];

        if (strlen(value) >= CONFIG_ENDPOINT_MAX) {
                snprintf(what, sizeof(what), "%s: an endpoint has at most %d bytes", option, CONFIG_ENDPOINT_MAX - 1);
                return refuse(what);
        }
        snprintf(endpoint, CONFIG_ENDPOINT_MAX, "%s", value);
        return true;
}

static bool set_log_level(struct config *c, const char *value)
{
        char what[LOG_LEVELS_TEXT + 192];

        c->has_log_level = log_parse_level(value, &c->log_level);
        if (c->has_log_level)
                return true;
        snprintf(what, sizeof(what),
                 "--log-level: '%.40s'; expected error, warning, info or debug, or by room, e.g. info,source=debug;"
                 " rooms: %s",
                 value, log_room_names());
        return refuse(what);
}

typedef bool trend_setter(struct config_trend *c, const char *value, char *error, size_t error_size);

static bool set_trend(struct config *c, trend_setter *set, const char *option)
{
        char error[160], what[192];

        if (set(&c->trend, optarg, error, sizeof(error)))
                return true;
        snprintf(what, sizeof(what), "%s: %s", option, error);
        return refuse(what);
}

static bool bad_value(char *error, size_t size, const char *value, const char *expected)
{
        snprintf(error, size, "'%.40s'; expected %s", value, expected);
        return false;
}

bool config_keep_most(struct config_keep *c, const char *value, char *error, size_t error_size)
{
        char *end;
        unsigned long n = strtoul(value, &end, 10);

        if (*value < '0' || *value > '9' || *end || n > LIMIT_TARGETS / 2)
                return bad_value(error, error_size, value, "a number of targets from 0 to 500");
        c->most = (uint32_t)n;
        c->has_most = true;
        return true;
}

bool config_keep_for(struct config_keep *c, const char *value, char *error, size_t error_size)
{
        if (!hw_parse_duration(value, &c->for_ns))
                return bad_value(error, error_size, value, "a time such as 12h or 48h");
        c->has_for = true;
        return true;
}

static bool set_keep(struct config *c, bool (*set)(struct config_keep *, const char *, char *, size_t),
                     const char *option)
{
        char error[160], what[192];

        if (set(&c->keep_ended, optarg, error, sizeof(error)))
                return true;
        snprintf(what, sizeof(what), "%s: %s", option, error);
        return refuse(what);
}

bool config_add_rules(struct config *c, const char *path, char *error, size_t error_size)
{
        char *own = c->n_rules < CONFIG_RULES_MAX ? strdup(path) : NULL;

        if (!own) {
                snprintf(error, error_size, "more than %d rule files, or no memory for them", CONFIG_RULES_MAX);
                return false;
        }
        c->rules[c->n_rules++] = own;
        return true;
}

static bool add_rules(struct config *c, const char *path)
{
        char error[128];

        return config_add_rules(c, path, error, sizeof(error)) || refuse(error);
}

enum option_id {
        OPT_PUBLISH = 256,
        OPT_REQUEST,
        OPT_SHOW_ARGUMENTS,
        OPT_LOG_LEVEL,
        OPT_PRINT_CONFIG,
        OPT_ONCE,
        OPT_PUSH,
        OPT_EVENTS,
        OPT_EVENT_COUNTS,
        OPT_RESOLUTION,
        OPT_LEAK_AFTER,
        OPT_LIMIT,
        OPT_KEEP_ENDED,
        OPT_KEEP_ENDED_FOR,
        OPT_RULES,
        OPT_CHECK_RULES,
        OPT_LIST_RULES,
        OPT_EXPLAIN_RULES,
        OPT_TEST_RULES
};

static const struct option options[] = {
        { "config", required_argument, NULL, 'c' },
        { "publish", required_argument, NULL, OPT_PUBLISH },
        { "request", required_argument, NULL, OPT_REQUEST },
        { "show-arguments", no_argument, NULL, OPT_SHOW_ARGUMENTS },
        { "resolution", required_argument, NULL, OPT_RESOLUTION },
        { "leak-after", required_argument, NULL, OPT_LEAK_AFTER },
        { "limit", required_argument, NULL, OPT_LIMIT },
        { "keep-ended", required_argument, NULL, OPT_KEEP_ENDED },
        { "keep-ended-for", required_argument, NULL, OPT_KEEP_ENDED_FOR },
        { "rules", required_argument, NULL, OPT_RULES },
        { "check-rules", no_argument, NULL, OPT_CHECK_RULES },
        { "list-rules", no_argument, NULL, OPT_LIST_RULES },
        { "explain-rules", no_argument, NULL, OPT_EXPLAIN_RULES },
        { "test-rules", no_argument, NULL, OPT_TEST_RULES },
        { "log-level", required_argument, NULL, OPT_LOG_LEVEL },
        { "print-config", no_argument, NULL, OPT_PRINT_CONFIG },
        { "once", no_argument, NULL, OPT_ONCE },
        { "push", required_argument, NULL, OPT_PUSH },
        { "events", no_argument, NULL, OPT_EVENTS },
        { "event-counts", no_argument, NULL, OPT_EVENT_COUNTS },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
};

/* Options into *c, the config file's name into *ret_file. */
static enum config_result parse_options(struct config *c, int argc, char **argv, const char **ret_file)
{
        int o;

        while ((o = getopt_long(argc, argv, "c:hV", options, NULL)) != -1) {
                bool good = true;
                switch (o) {
                case 'c':
                        *ret_file = optarg;
                        break;
                case OPT_PUBLISH:
                        good = set_endpoint(c->publish_endpoint, optarg, "--publish");
                        break;
                case OPT_REQUEST:
                        good = set_endpoint(c->request_endpoint, optarg, "--request");
                        break;
                case OPT_SHOW_ARGUMENTS:
                        c->show_arguments = true;
                        break;
                case OPT_LOG_LEVEL:
                        good = set_log_level(c, optarg);
                        break;
                case OPT_RESOLUTION:
                        good = set_trend(c, config_trend_resolution, "--resolution");
                        break;
                case OPT_LEAK_AFTER:
                        good = set_trend(c, config_trend_leak_after, "--leak-after");
                        break;
                case OPT_LIMIT:
                        good = set_trend(c, config_trend_limit, "--limit");
                        break;
                case OPT_KEEP_ENDED:
                        good = set_keep(c, config_keep_most, "--keep-ended");
                        break;
                case OPT_KEEP_ENDED_FOR:
                        good = set_keep(c, config_keep_for, "--keep-ended-for");
                        break;
                case OPT_RULES:
                        good = add_rules(c, optarg);
                        break;
                case OPT_CHECK_RULES:
                        c->task = TASK_CHECK_RULES;
                        break;
                case OPT_LIST_RULES:
                        c->task = TASK_LIST_RULES;
                        break;
                case OPT_EXPLAIN_RULES:
                        c->task = TASK_EXPLAIN_RULES;
                        break;
                case OPT_TEST_RULES:
                        c->task = TASK_TEST_RULES;
                        break;
                case OPT_PRINT_CONFIG:
                        c->print_config = true;
                        break;
                case OPT_ONCE:
                        c->once = true;
                        break;
                case OPT_PUSH:
                        good = set_endpoint(c->push_endpoint, optarg, "--push");
                        break;
                case OPT_EVENTS:
                        c->events = EVENTS_FULL;
                        break;
                case OPT_EVENT_COUNTS:
                        c->events = c->events ? c->events : EVENTS_COUNTED;
                        break;
                case 'h':
                        fputs(help, stdout);
                        return CONFIG_DONE;
                case 'V':
                        puts("heapwatchd " HEAPWATCH_VERSION);
                        return CONFIG_DONE;
                default:
                        fputs("Try 'heapwatchd --help'.\n", stderr);
                        return CONFIG_BAD;
                }
                if (!good)
                        return CONFIG_BAD;
        }
        return CONFIG_RUN;
}

/* With a task about rules the arguments are rule files (or files of tests). */
static bool parse_rule_files(struct config *c, int argc, char **argv)
{
        for (int i = optind; i < argc; i++)
                if (!add_rules(c, argv[i]))
                        return false;
        if (c->n_rules == 0 && c->task != TASK_LIST_RULES && c->task != TASK_EXPLAIN_RULES)
                return refuse("which file? expected FILE...");
        return true;
}

static bool parse_targets(struct config *c, int argc, char **argv)
{
        char error[SOURCE_PATH_MAX + 256];

        for (int i = optind; i < argc; i++) {
                /* --once takes plain file names: a '=' in one is not a valid target name. */
                char spec[SOURCE_PATH_MAX + 8];
                snprintf(spec, sizeof(spec), "%s%s", c->once ? "file:" : "", argv[i]);
                if (!config_add_target(c, NULL, c->once ? spec : argv[i], error, sizeof(error)))
                        return refuse(error);
        }
        return true;
}

static bool check(struct config *c)
{
        char what[160];

        if (!config_trend_check(&c->trend, what, sizeof(what)))
                return refuse(what);
        if (c->once) {
                make_names_unique(c);
                if (!c->push_endpoint[0] || c->n_targets == 0)
                        return refuse("--once needs --push ENDPOINT and at least one file");
                return true;
        }
        if (c->push_endpoint[0])
                return refuse("--push belongs to --once");
        if (c->events)
                return refuse("--events and --event-counts belong to --once");
        for (size_t i = 0; i < c->n_targets; i++) {
                for (size_t j = 0; j < i; j++) {
                        if (strcmp(c->targets[i].name, c->targets[j].name) != 0)
                                continue;
                        snprintf(what, sizeof(what), "two targets are called '%s'; name one of them: NAME=URI",
                                 c->targets[i].name);
                        return refuse(what);
                }
        }
        return true;
}

static bool fill_endpoints(struct config *c)
{
        char publish[CONFIG_ENDPOINT_MAX], request[CONFIG_ENDPOINT_MAX];

        if (c->publish_endpoint[0] && c->request_endpoint[0])
                return true;
        if (c->publish_endpoint[0] || c->request_endpoint[0])
                return refuse("--publish and --request go together: give both or neither");
        if (hw_default_endpoints(publish, request, sizeof(publish)) != 0)
                return refuse("the runtime directory's path is too long for a socket; give --publish and --request");
        memcpy(c->publish_endpoint, publish, sizeof(publish));
        memcpy(c->request_endpoint, request, sizeof(request));
        return true;
}

static void print_config(const struct config *c)
{
        char levels[LOG_LEVELS_TEXT];

        log_print_levels(levels, &c->log_level);
        struct tracker_config t = config_trend_tracker(&c->trend, 0);

        printf("publish: %s\nrequest: %s\nlog_level: %s\nshow_arguments: %s\n", c->publish_endpoint,
               c->request_endpoint, levels, c->show_arguments ? "true" : "false");
        printf("trend:\n  resolution: %" PRIu64 "ms\n  leak_after: %" PRIu64 "ms\n", t.trend.resolution_ns / 1000000,
               t.trend.leak_after_ns / 1000000);
        if (c->trend.limit_bytes)
                printf("  limit: %" PRIu64 "\n", c->trend.limit_bytes);
        printf("keep_ended:\n  targets: %" PRIu32 "\n  time: %" PRIu64 "ms\n", c->keep_ended.most,
               c->keep_ended.for_ns / 1000000);
        printf("rules:%s\n", c->n_rules ? "" : " []");
        for (size_t i = 0; i < c->n_rules; i++)
                printf("  - %s\n", c->rules[i]);
        printf("targets:%s\n", c->n_targets ? "" : " []");
        for (size_t i = 0; i < c->n_targets; i++)
                printf("  - name: %s\n    uri: %s\n", c->targets[i].name, c->targets[i].uri.text);
}

enum config_result config_parse(struct config *c, int argc, char **argv)
{
        const char *file = NULL;

        *c = (struct config){ .log_level = log_level_everywhere(LOG_INFO) };
        enum config_result result = parse_options(c, argc, argv, &file);
        if (result != CONFIG_RUN)
                return result;
        if (c->task != TASK_WATCH)
                return parse_rule_files(c, argc, argv) ? CONFIG_RUN : CONFIG_BAD;
        if (!parse_targets(c, argc, argv) || (file && !config_read_file(c, file)) || !check(c) ||
            (!c->once && !fill_endpoints(c)))
                return CONFIG_BAD;
        if (!c->keep_ended.has_most)
                c->keep_ended.most = CONFIG_KEEP_ENDED;
        if (!c->keep_ended.has_for)
                c->keep_ended.for_ns = CONFIG_KEEP_ENDED_FOR;
        if (c->print_config) {
                print_config(c);
                return CONFIG_DONE;
        }
        return CONFIG_RUN;
}

void config_done(struct config *c)
{
        for (size_t i = 0; i < c->n_rules; i++)
                free(c->rules[i]);
        c->n_rules = 0;
        free(c->targets);
        c->targets = NULL;
        c->n_targets = 0;
}

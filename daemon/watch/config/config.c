/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: defaults, then the command line, then what the file (config_file.c) gives beside it. Every value is checked
 * where it enters, so that nothing downstream has to.
 */
#include "daemon/watch/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "heapwatch/wire.h"
#include "proto/base/array.h"
#include "proto/cli/command.h"
#include "proto/cli/complete.h"
#include "proto/cli/keys/key.h"

static const struct command command_heapwatchd;

static bool refuse_option(const char *what)
{
        (void)command_usage_error(&command_heapwatchd, "%s", what);
        return false;
}

bool config_add_target(struct config *c, const char *name, const char *spec, struct error *error)
{
        struct config_target t = { 0 };

        if (!target_spec_parse(spec, t.name, &t.uri, error))
                return false;
        if (name) {
                if (!target_name_valid(name)) {
                        return error_set(error, "'%.80s' is not a valid target name: 1 to 64 of A-Z a-z 0-9 . _ -",
                                         name);
                }
                snprintf(t.name, sizeof(t.name), "%s", name);
        }
        if (c->n_targets == LIMIT_TARGETS) {
                return error_set(error, "more than %u targets", LIMIT_TARGETS);
        }
        if (!ARRAY_RESERVE_NEXT(c->targets, c->n_targets))
                return error_set(error, "out of memory");
        c->targets[c->n_targets++] = t;
        return true;
}

bool config_add_rules(struct config *c, const char *path, struct error *error)
{
        char *own = c->n_rules < CONFIG_RULES_MAX ? strdup(path) : NULL;

        if (!own) {
                return error_set(error, "more than %d rule files, or out of memory", CONFIG_RULES_MAX);
        }
        c->rules[c->n_rules++] = own;
        return true;
}

/* ----------------------------------------------------------------- options */

/* What is parsed into; the words are borrowed from argv. */
struct arguments {
        struct config *config;
        const char *file;
        char **words; /* targets, or files of rules */
        size_t n_words;
};

static int parse_word(const struct command *c, const struct option *o, void *filled, char *value)
{
        struct arguments *a = filled;

        a->words[a->n_words++] = value;
        return 0;
}

static int parse_setting(const struct command *c, const struct option *o, void *filled, char *value)
{
        struct error error;

        return setting_give(((struct arguments *)filled)->config, o->name, value, &error)
                       ? 0
                       : option_error(c, o, "%s", error.text);
}

/* Options without a value that set one field of the configuration. */
static int parse_flag(const struct command *c, const struct option *o, void *filled, char *value)
{
        static const struct {
                const char *name;
                enum config_task task;
        } tasks[] = {
                { "check-rules", TASK_CHECK_RULES },
                { "list-rules", TASK_LIST_RULES },
                { "explain-rules", TASK_EXPLAIN_RULES },
        };
        struct config *config = ((struct arguments *)filled)->config;

        for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
                if (!strcmp(tasks[i].name, o->name))
                        config->task = tasks[i].task;
        config->show_arguments = config->show_arguments || !strcmp(o->name, "show-arguments");
        config->print_config = config->print_config || !strcmp(o->name, "print-config");
        return 0;
}

#define FLAG(n, t)          OPTION_CALLBACK(n, 0, NULL, parse_flag, COMPLETE_NOTHING, t)
#define SETTING(n, v, c, t) OPTION_CALLBACK(n, 0, v, parse_setting, c, t)

static const struct option options[] = {
        OPTION_TEXT("config", 'c', "FILE", struct arguments, file, COMPLETE_FILE,
                    "YAML with the same settings (see heapwatchd.yaml(5)); the command line wins over the file"),
        SETTING("publish", "ENDPOINT", COMPLETE_NOTHING,
                "where updates are published: ipc in a directory that only the user can enter, or tcp on a "
                "loopback address; others are refused, because nothing would keep strangers out"),
        SETTING("request", "ENDPOINT", COMPLETE_NOTHING,
                "where requests are answered; default of both: ipc sockets in $XDG_RUNTIME_DIR/heapwatch, or "
                "/run/heapwatch as root"),
        SETTING("listen", "ENDPOINT", COMPLETE_NOTHING,
                "also listen at tcp://ADDRESS:PORT and at the port above it, for other machines: encrypted, and "
                "for those alone whose key is authorised (see `heapwatch keys`)"),
        SETTING("keys", "DIR", COMPLETE_FILE,
                "with --listen: the directory of this daemon's key, server.key, and of authorized.yaml (default "
                "~/.config/heapwatch/keys); read again on SIGHUP and `heapwatch ctl reload`"),
        FLAG("show-arguments",
             "publish the programs' own arguments too; they may hold secrets, so only RTS options are published "
             "otherwise. The programs' environment is never published"),
        SETTING("resolution", "TIME", COMPLETE_NOTHING, "step in which growth is judged, 100ms to 1h (default 1m)"),
        SETTING("leak-after", "TIME", COMPLETE_NOTHING,
                "growth that lasts this long without slowing down is called a leak (default 180 steps, which is 3h; at "
                "least 20 steps; given alone, it sets the step to a 180th)"),
        SETTING("limit", "BYTES", COMPLETE_NOTHING,
                "memory the programs may use, such as 2GiB, if less than what their control group, -M or the "
                "machine allow"),
        SETTING("memory", "BYTES", COMPLETE_NOTHING,
                "the daemon's own memory, such as 256MiB (default: what its control group allows): above 80 % "
                "of it targets above their share get no new bands, above 95 % none does, and no target is added"),
        SETTING("census-memory", "BYTES|off", COMPLETE_NOTHING,
                "memory that reading the heap of a program from outside may need, a quarter more than the heap "
                "(default 1GiB): the bands of a larger heap are estimated from a sample; off: no heap of a "
                "program with the agent is read"),
        SETTING("keep-ended", "NUMBER", COMPLETE_NOTHING,
                "how many ended runs are kept, with all that was seen of them, 0 to 500: targets of `heapwatch run`, "
                "and of any target the run before its newest, as NAME~1; the oldest go first, and of one name at most "
                "4 stay (default 16)"),
        SETTING("keep-ended-for", "TIME", COMPLETE_NOTHING, "how long they are kept (default 48h)"),
        SETTING("allow-source", "PATTERN", COMPLETE_NOTHING,
                "sources that requests may add, such as /srv/*/log/*.eventlog or unix-listen:/run/heapwatch/*, "
                "where * does not match a '/'; may be given several times. Without it they may add what the "
                "daemon's user could read without privileges, and nothing that listens"),
        SETTING("record", "DIR", COMPLETE_FILE,
                "keep the streams of all targets in DIR, compressed, within a budget: what was seen outlives "
                "program and daemon; see `heapwatch recording` and `heapwatch recording dump`. Never the programs' "
                "environment, their arguments with --show-arguments only"),
        SETTING("record-budget", "BYTES", COMPLETE_NOTHING,
                "disk space for recordings (default 4GiB; of one target 1GiB, see heapwatchd.yaml(5)): the "
                "oldest go first. Recording pauses where less than 1GiB would be left free"),
        SETTING("record-for", "TIME", COMPLETE_NOTHING, "how long recordings are kept (default 7d)"),
        SETTING("checkpoint", "DIR", COMPLETE_FILE,
                "keep what is known of all targets in DIR, so that a daemon that is started again goes on: "
                "verdicts, windows, alerts and their clocks, history, and the targets that requests had added"),
        SETTING("checkpoint-every", "TIME", COMPLETE_NOTHING,
                "how often checkpoints are written, from 100ms to 30s (default 20s); a daemon that is asked to "
                "end writes all of them, within 5 s"),
        SETTING("state", "DIR", COMPLETE_FILE,
                "as the daemon that `heapwatch run` starts: keep in DIR how this daemon ends, for the one after "
                "it and for those who start it again, and the older part of its log, which is then at most "
                "1MiB where standard error is a file. One daemon at a time has DIR (default: that of "
                "--checkpoint, if given)"),
        SETTING("rules", "FILE", COMPLETE_FILE,
                "rules for alerts, beside the built-in ones; may be given several times (see "
                "heapwatch-rules(5)); read again on SIGHUP and `heapwatch ctl reload`: alerts of rules that "
                "have not changed keep their state, and with a mistake in any file the old rules go on"),
        SETTING("notify", "WHEN", COMPLETE_NOTHING,
                "whether alerts are acted on; on (default): by `heapwatch notify`, which the daemon starts "
                "when a rule has actions, starts again when it ends, and ends with itself; off: they are "
                "published alone"),
        SETTING("log-level", "LEVEL", COMPLETE_NOTHING,
                "error, warning, info (default) or debug, for all of the daemon or by room, as in "
                "info,source=debug,target=debug; the rooms are the folders of its source. Lines go to standard "
                "error, which never makes the daemon wait: what is not read is dropped and counted. A message "
                "that repeats more than 20 times a second is left out and counted"),
        FLAG("print-config", "show the effective configuration and exit"),
        FLAG("check-rules", "check the rule FILEs and exit (used by heapwatch rules)"),
        FLAG("list-rules", "list the built-in rules and those of the FILEs"),
        FLAG("explain-rules", "the same in words"),
        { .argument = "[NAME=]URI...", .type = OPTION_IS_CALLBACK, .take = parse_word, .complete = COMPLETE_FILE },
        OPTIONS_END,
};

static const struct help_section sections[] = {
        { "Sources",
          (const struct term[]){
                  { "file:PATH, PATH", NULL,
                    "a growing file, which may be missing at first; when it is written anew, replaced or removed, "
                    "the next bytes are a new run of the same target; what goes on in a rotated one is read" },
                  { "fifo:PATH", NULL, "a named pipe; it stays open while writers come and go" },
                  { "stdin:", NULL, "standard input, until it ends" },
                  { "unix:PATH, tcp:HOST:PORT", NULL,
                    "connects to a program that serves its eventlog, and reconnects with backoff when the connection "
                    "is lost" },
                  { "unix-listen:PATH, tcp-listen:HOST:PORT", NULL,
                    "accepts one writer at a time; TCP on loopback addresses only" },
                  { "pid:PID", NULL,
                    "a process alone, of a program whose log cannot be read: its memory, faults, processor time, "
                    "threads and limits, until it is gone" },
                  { "outside:PID", NULL,
                    "a GHC-compiled program without a log, stripped or not, until it is gone: live data, heap size and "
                    "bands, read from its memory while it runs by heapwatch-inspect, with the rights of the daemon" },
                  { NULL, NULL, NULL },
          } },
        { NULL, NULL },
};

static const struct command command_heapwatchd = {
        .program = "heapwatchd",
        .usage = (const char *const[]){ "[OPTION]... [NAME=]URI...", NULL },
        .about = "Reads the eventlogs of running Haskell programs and publishes what their heaps do.",
        .sections = sections,
        .options = options,
        .status =
                "0 ended as asked, 1 a socket could not be opened, 2 bad usage or a bad "
                "configuration.",
        .examples =
                (const char *const[]){
                        "heapwatchd api=/var/log/api.eventlog worker=unix:/run/worker.sock",
                        NULL,
                },
        .size = sizeof(struct arguments),
};

static bool fill_endpoints(struct config *c)
{
        char publish[CONFIG_ENDPOINT_MAX], request[CONFIG_ENDPOINT_MAX];

        if (c->publish_endpoint[0] && c->request_endpoint[0])
                return true;
        if (c->publish_endpoint[0] || c->request_endpoint[0])
                return refuse_option("--publish and --request go together: give both or neither");
        if (hw_default_endpoints(publish, request, sizeof(publish)) != 0)
                return refuse_option(
                        "the runtime directory's path is too long for a socket; give --publish and --request");
        memcpy(c->publish_endpoint, publish, sizeof(publish));
        memcpy(c->request_endpoint, request, sizeof(request));
        return true;
}

/* With keys there is no TCP without them. */
static bool check_keys(struct config *c)
{
        struct error error;

        if (!c->listen[0])
                return !c->keys[0] || refuse_option("--keys belongs to --listen tcp://ADDRESS:PORT");
        if (!strncmp(c->publish_endpoint, "tcp:", 4) || !strncmp(c->request_endpoint, "tcp:", 4))
                return refuse_option(
                        "--publish and --request by tcp are without keys; with --listen give them ipc endpoints");
        return c->keys[0] || keys_directory(c->keys, sizeof(c->keys), &error) || refuse_option(error.text);
}

/* Takes the arguments, which are rule files for a task about rules, then the file. */
static enum config_result fill_config(struct config *c, const struct arguments *a)
{
        struct error error;

        for (size_t i = 0; i < a->n_words; i++)
                if (!(c->task == TASK_WATCH ? config_add_target(c, NULL, a->words[i], &error)
                                            : config_add_rules(c, a->words[i], &error))) {
                        refuse_option(error.text);
                        return CONFIG_BAD;
                }
        if (c->task != TASK_WATCH) {
                const bool needs_file = c->task != TASK_LIST_RULES && c->task != TASK_EXPLAIN_RULES;
                return c->n_rules > 0 || !needs_file || refuse_option("which file? expected FILE...") ? CONFIG_RUN
                                                                                                      : CONFIG_BAD;
        }
        if (a->file && !config_read_file(c, a->file))
                return CONFIG_BAD;
        bool good = config_trend_check(&c->trend, &error);
        for (size_t i = 0; good && i < c->n_targets; i++)
                for (size_t j = 0; good && j < i; j++)
                        good = strcmp(c->targets[i].name, c->targets[j].name) != 0 ||
                               error_set(&error, "two targets are called '%s'; name one of them: NAME=URI",
                                         c->targets[i].name);
        if (!good)
                refuse_option(error.text);
        if (!good || !fill_endpoints(c) || !check_keys(c))
                return CONFIG_BAD;
        if (!c->print_config)
                return CONFIG_RUN;
        config_print(c);
        return CONFIG_DONE;
}

enum config_result config_parse(struct config *c, int argc, char **argv)
{
        struct arguments a = { .config = c, .words = calloc((size_t)argc + 1, sizeof(*a.words)) };
        enum config_result result = CONFIG_BAD;

        *c = (struct config){
                .log_level = log_level_everywhere(LOG_INFO),
                .keep_ended = { CONFIG_KEEP_ENDED, CONFIG_KEEP_ENDED_FOR },
                .census_memory_bytes = CONFIG_CENSUS_MEMORY,
                .record = { .total_bytes = CONFIG_RECORD_TOTAL,
                            .target_bytes = CONFIG_RECORD_TARGET,
                            .for_ns = CONFIG_RECORD_FOR,
                            .free_bytes = CONFIG_RECORD_FREE },
                .checkpoint = { .every_ns = CONFIG_CHECKPOINT_EVERY },
        };
        if (!a.words) {
                command_error(&command_heapwatchd, "out of memory");
        } else if (argc > 1 && !strcmp(argv[1], "--complete")) {
                complete_words(stdout, &command_heapwatchd, argc - 2, argv + 2, NULL);
                result = CONFIG_DONE;
        } else if (argc > 1 && !strcmp(argv[1], "--man")) {
                help_print_man(stdout, &command_heapwatchd);
                result = CONFIG_DONE;
        } else {
                enum options_result parsed = options_parse(&command_heapwatchd, &a, argc, argv);

                result = parsed == OPTIONS_GO ? fill_config(c, &a) : parsed == OPTIONS_DONE ? CONFIG_DONE : CONFIG_BAD;
        }
        free(a.words);
        return result;
}

void config_done(struct config *c)
{
        for (size_t i = 0; i < c->n_rules; i++)
                free(c->rules[i]);
        c->n_rules = 0;
        source_allow_done(&c->allow);
        for (size_t i = 0; i < c->n_targets; i++)
                free(c->targets[i].labels);
        free(c->targets);
        c->targets = NULL;
        c->n_targets = 0;
}

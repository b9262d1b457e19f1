/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heapwatchd - reads eventlogs of running programs and publishes what their heaps do. Parts are created in order and
 * destroyed in reverse.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/watch/alerting/silence_store.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/record/checkpoint/store.h"
#include "daemon/watch/config/config.h"
#include "daemon/log.h"
#include "daemon/source/loop/shutdown.h"
#include "daemon/source/loop/memory.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/publish/transport/bus.h"
#include "daemon/watch/control/notifier.h"
#include "daemon/watch/control/requests.h"
#include "daemon/watch/control/service.h"
#include "daemon/watch/control/pending.h"
#include "daemon/record/recorder.h"
#include "daemon/source/loop/descriptors.h"
#include "daemon/source/census_reader.h"
#include "daemon/source/procfs.h"
#include "daemon/watch/targets/targets.h"
#include "proto/cli/command.h"
#include "proto/cli/version.h"
#include "proto/base/error.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"
#include "proto/wire/endpoints.h"

#define LOOP_ROUND_US 10000 /* 10 ms */

static void on_signal(evutil_socket_t signal_number, short what, void *base)
{
        log_info("signal=%d stopping", (int)signal_number);
        event_base_loopbreak(base);
}

static void on_hangup(evutil_socket_t signal_number, short what, void *ctx)
{
        struct requests *requests = ctx;
        struct diagnostics diagnostics;
        struct error error;

        (void)bus_reload_keys(requests->bus, &error);
        (void)reload_rules(requests->rulebook, requests->targets, requests->notifier,
                           &diagnostics); /* errors are in the log */
}

static size_t count_targets(const void *targets)
{
        return targets_count(targets);
}

/* Adds the targets of the configuration. A source that can never work is a mistake in the configuration. */
static int add_targets(struct targets *targets, const struct config *config)
{
        struct error error;

        for (size_t i = 0; i < config->n_targets; i++) {
                const struct config_target *t = &config->targets[i];
                const struct target_wish wish = { .no_record = t->no_record, .labels = t->labels };
                if (targets_add(targets, t->name, &t->uri, &wish, NULL, &error) == 0)
                        continue;
                fprintf(stderr, "heapwatchd: %s: %s\n", t->uri.text, error.text);
                return -1;
        }
        return 0;
}

static struct notifier *open_notifier(struct event_base *base, const struct config *config,
                                      const struct silence_store *silences)
{
        const struct notifier_options options = { .base = base,
                                                  .start = !config->notify_off,
                                                  .silences = silences,
                                                  .publish_endpoint = config->publish_endpoint,
                                                  .log_level = log_level_names[config->log_level.common] };

        return notifier_new(&options);
}

/* False after reporting why: recording was requested but is not possible. */
static bool open_recorder(const struct config *config, struct recorder **ret)
{
        const struct config_record *c = &config->record;
        const struct recorder_options options = {
                .directory = c->directory,
                .budget = { c->total_bytes, c->target_bytes, c->for_ns, c->free_bytes },
                .keep_arguments = config->show_arguments,
        };
        struct error error;

        *ret = c->directory[0] ? recorder_new(&options, &error) : NULL;
        if (*ret || !c->directory[0])
                return true;
        fprintf(stderr, "heapwatchd: --record: %s\n", error.text);
        return false;
}

/* With the checkpoints that are there so many daemons in a row have crashed soon: the next one begins without. */
#define CRASHES_MAX 3u

/* False after reporting why: checkpoints were requested but are not possible. */
static bool open_checkpoints(const struct config *config, const struct own_life *life, struct checkpoint_store **ret)
{
        struct error error;

        *ret = config->checkpoint.directory[0] ? checkpoint_store_new(config->checkpoint.directory, &error) : NULL;
        if (*ret && life->before.has_signal && life->before.in_a_row >= CRASHES_MAX) {
                checkpoint_store_set_aside(*ret);
                log_warning(
                        "checkpoint=%s with these checkpoints %u daemons in a row crashed soon after their start: "
                        "this one begins without them; they are beside it, as NAME" CHECKPOINT_SUFFIX ".aside",
                        config->checkpoint.directory, life->before.in_a_row);
        }
        if (*ret || !config->checkpoint.directory[0])
                return true;
        fprintf(stderr, "heapwatchd: --checkpoint: %s\n", error.text);
        return false;
}

/*
 * A loop that polls the kernel again after LOOP_ROUND_US, not only when all sources have had their turn: with many logs
 * to catch up with, a round of all turns is long, and requests must not wait for it.
 */
static struct event_base *new_loop(void)
{
        static const struct timeval round = { .tv_usec = LOOP_ROUND_US };
        struct event_config *config = event_config_new();
        struct event_base *base = NULL;

        if (config && event_config_set_max_dispatch_interval(config, &round, -1, LOOP_FIRST + 1) == 0)
                base = event_base_new_with_config(config);
        if (base && event_base_priority_init(base, LOOP_PRIORITIES) != 0) {
                event_base_free(base);
                base = NULL;
        }
        if (config)
                event_config_free(config);
        return base;
}

/* An event for a signal, with priority over all sources. NULL when out of memory. */
static struct event *add_signal(struct event_base *base, int number, event_callback_fn callback, void *ctx)
{
        struct event *event = evsignal_new(base, number, callback, ctx);

        if (event && (event_priority_set(event, LOOP_FIRST) != 0 || event_add(event, NULL) != 0)) {
                event_free(event);
                event = NULL;
        }
        return event;
}

/* The memory limit: the lower of the configured one and the control group's; UNKNOWN_U64: none. */
static uint64_t own_memory(const struct config *config)
{
        struct process_sample own;

        cgroup_memory("", (uint32_t)getpid(), &own);
        return config->memory_bytes && config->memory_bytes < own.cgroup_max_bytes ? config->memory_bytes
                                                                                   : own.cgroup_max_bytes;
}

/* Runs until a signal ends it, then logs the longest turn. Returns 1 after a failure, or 0. */
static int run_loop(struct event_base *base)
{
        int going;

        do {
                going = event_base_loop(base, EVLOOP_ONCE);
                watchdog_round();
        } while (going == 0 && !event_base_got_break(base));
        const struct watchdog_turn *t = watchdog_longest();
        log_info("longest_turn_us=%llu cpu_us=%llu kind=%s target=%s of the loop",
                 (unsigned long long)t->wall_ns / 1000, (unsigned long long)t->cpu_ns / 1000,
                 watchdog_kind_name(t->kind), t->target[0] ? t->target : "-");
        return going < 0;
}

static int serve_targets(const struct config *config, struct rulebook *rulebook)
{
        int status = 1;
        struct own_life life;
        struct error error;
        struct requests requests = { .publish_endpoint = config->publish_endpoint,
                                     .rulebook = rulebook,
                                     .allow = &config->allow };
        struct event *interrupt = NULL, *terminate = NULL, *hangup = NULL;
        struct targets *targets = NULL;
        struct bus *bus = NULL;
        struct recorder *recorder = NULL;
        struct checkpoint_store *store = NULL;
        struct checkpoints *checkpoints = NULL;
        struct service *service = NULL;

        if (!descriptors_suffice(&error)) {
                fprintf(stderr, "heapwatchd: %s\n", error.text);
                return 1;
        }
        if (!own_life_begin(&life, config))
                return 1;
        memory_begin();
        log_adopt_libevent();
        struct event_base *base = new_loop();
        if (!base) {
                fprintf(stderr, "heapwatchd: cannot create an event loop\n");
                own_life_end(&life);
                return 1;
        }
        log_attach(base);
        own_life_watch(&life, base);
        struct bus_options options = {
                .publish_endpoint = config->publish_endpoint,
                .request_endpoint = config->request_endpoint,
                .listen = config->listen[0] ? config->listen : NULL,
                .keys = config->keys,
                .memory = own_memory(config),
        };
        struct bus_handler handler = { .ctx = &requests, .request = requests_handle };
        bus = bus_new(base, &options, &handler, &error);
        if (!bus) {
                fprintf(stderr, "heapwatchd: %s\n", error.text);
                goto out;
        }
        /* Silences are kept in the user's or system's directory for state, if there is one. */
        char path[SOURCE_PATH_MAX];
        bool kept = state_path(path, sizeof(path), "state", config->publish_endpoint) == 0;
        requests.silences = silence_store_new(base, kept ? path : NULL);
        requests.notifier = requests.silences ? open_notifier(base, config, requests.silences) : NULL;
        if (!requests.notifier) {
                fprintf(stderr, "heapwatchd: out of memory\n");
                goto out;
        }
        if (!open_recorder(config, &recorder) || !open_checkpoints(config, &life, &store))
                goto out;
        requests.recorder = recorder;
        struct targets_options common = {
                .show_arguments = config->show_arguments,
                .rules = rulebook->rules,
                .alert_hooks = notifier_hooks(requests.notifier),
                .before = life.before.text ? &life.before : NULL,
                .fill_state = notifier_fill_state,
                .fill_ctx = requests.notifier,
                .trend = config_trend_tracker(&config->trend, 0),
                .keep = { config->keep_ended.most, config->keep_ended.for_ns },
                .recorder = recorder,
                .checkpoints = store,
        };
        common.trend.memory_bytes = procfs_memory_total("");
        memory_set_budget(own_memory(config));
        census_reader_allow(config->census_memory_bytes != UINT64_MAX);
        if (config->census_memory_bytes != UINT64_MAX)
                inspector_set_memory(config->census_memory_bytes);
        (void)descriptors_left(0);
        targets = targets_new(base, bus, &common);
        requests.targets = targets;
        requests.bus = bus;
        const struct bus_handler again = { .ctx = &requests, .request = requests_again };
        requests.pending = targets ? pending_new(base, targets, bus, &again) : NULL;
        interrupt = add_signal(base, SIGINT, on_signal, base);
        terminate = add_signal(base, SIGTERM, on_signal, base);
        hangup = add_signal(base, SIGHUP, on_hangup, &requests);
        if (!requests.pending || !interrupt || !terminate || !hangup) {
                fprintf(stderr, "heapwatchd: out of memory\n");
                goto out;
        }
        if (add_targets(targets, config) != 0) {
                status = 2;
                goto out;
        }
        if (store) {
                checkpoints_add_targets(targets, store);
                checkpoints = checkpoints_new(base, targets, store, recorder, config->checkpoint.every_ns);
        }
        service = service_new(base, count_targets, targets);
        log_info("publish=%s request=%s targets=%zu ready", config->publish_endpoint, config->request_endpoint,
                 config->n_targets);
        service_ready(service);
        notifier_rules(requests.notifier, targets, rulebook->rules);
        status = run_loop(base);
        shutdown_begin();
out:
        service_destroy(&service);
        if (requests.notifier)
                notifier_stop(requests.notifier); /* first: it must not see the targets removed */
        checkpoints_destroy(&checkpoints);
        pending_destroy(&requests.pending);
        targets_destroy(&targets);
        checkpoint_store_destroy(&store);
        recorder_destroy(&recorder);
        notifier_destroy(&requests.notifier);
        silence_store_destroy(&requests.silences);
        bus_destroy(&bus);
        free_event(&hangup);
        free_event(&terminate);
        free_event(&interrupt);
        log_detach();
        own_life_end(&life);
        event_base_free(base);
        return status;
}

static int run_daemon(const struct config *config)
{
        switch (config->task) {
        case TASK_WATCH: {
                /* Reads the rules; when they have a mistake nothing is started. */
                struct rulebook rulebook;
                int status;
                if (!rulebook_open(&rulebook, config->rules, config->n_rules, &diagnostics_to_stderr))
                        return 2;
                if (!rulebook_act(&rulebook, config->record.directory[0] && !config->record.no_bundles))
                        fprintf(stderr, "heapwatchd: out of memory\n");
                status = serve_targets(config, &rulebook);
                rulebook_close(&rulebook);
                return status;
        }
        case TASK_CHECK_RULES:
                return rules_tool_check(config->rules, config->n_rules);
        case TASK_LIST_RULES:
                return rules_tool_list(config->rules, config->n_rules, false);
        case TASK_EXPLAIN_RULES:
                break;
        }
        return rules_tool_list(config->rules, config->n_rules, true);
}

static void print_version_details(FILE *to)
{
        struct library_version libraries[DAEMON_LIBRARIES];

        libraries_list(libraries);
        version_print_details(to, &(struct version_details){ .commit = HEAPWATCH_COMMIT,
                                                             .libraries = libraries,
                                                             .n_libraries = DAEMON_LIBRARIES,
                                                             .ghc = EVENTLOG_RELEASES });
}

int main(int argc, char **argv)
{
        struct config config;
        int status = 2;

        command_standard_descriptors();
        descriptors_raise();
        command_set_up();
        version_print_more = print_version_details;
        switch (config_parse(&config, argc, argv)) {
        case CONFIG_RUN:
                log_set_levels(&config.log_level);
                status = run_daemon(&config);
                break;
        case CONFIG_DONE:
                status = 0;
                break;
        case CONFIG_BAD:
                break;
        }
        config_done(&config);
        return command_exit("heapwatchd", status);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_request.c - requests to the daemon, byte for byte, answered from two
 * targets that have read logs.
 *
 * The functions of targets.h and requests.h are replaced here, those of bus.h in no_bus.h, so that no socket is opened
 * and no target comes or goes. What must hold: see no_bus.h.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/watch/alerting/silence_store.h"
#include "daemon/watch/control/notifier.h"
#include "heapwatch/wire.h"
#include "daemon/log.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/watch/control/requests.h"
#include "daemon/watch/control/pending.h"
#include "proto/base/error.h"
#include "tests/fuzz/no_bus.h"

#define TARGETS 2u

struct targets {
        struct pipeline *pipelines[TARGETS];
};

static struct targets all;
static struct silence_store *silences;
static struct notifier *notifier;
static struct pending *pending;
static struct event_base *base;
static struct rulebook rulebook; /* the built-in rules */

/* --------------------------------------------------------------- targets */

struct pipeline *targets_find(const struct targets *t, const char *name)
{
        for (size_t i = 0; i < TARGETS; i++)
                if (!strcmp(pipeline_name(t->pipelines[i]), name))
                        return t->pipelines[i];
        return NULL;
}

size_t targets_count(const struct targets *t)
{
        return TARGETS;
}

struct pipeline *targets_get(const struct targets *t, size_t index)
{
        return t->pipelines[index];
}

uint64_t targets_epoch(const struct targets *t)
{
        return 1;
}

int targets_add(struct targets *t, const char *name, const struct source_uri *uri, const struct target_wish *wish,
                char ret_before[TARGET_NAME_MAX + 1], struct error *error)
{
        if (ret_before)
                ret_before[0] = '\0';
        if (!target_name_valid(name) || !uri->text[0])
                abort(); /* checked before */
        error_set(error, "no");
        return targets_find(t, name) ? -EEXIST : 0;
}

int targets_remove(struct targets *t, const char *name)
{
        return targets_find(t, name) ? 0 : -ENOENT;
}

const Hw__Update *targets_daemon_state(struct targets *t)
{
        static Hw__DaemonState state = HW__DAEMON_STATE__INIT;
        static Hw__Update update = HW__UPDATE__INIT;

        state.version = (char *)HEAPWATCH_VERSION;
        update.body_case = HW__UPDATE__BODY_DAEMON;
        update.daemon = &state;
        update.has_epoch = update.has_sequence = true;
        update.epoch = update.sequence = 1;
        update.target = (char *)"";
        return &update;
}

bool reload_rules(struct rulebook *book, struct targets *targets, struct notifier *reloaded,
                  struct diagnostics *ret_diagnostics)
{
        struct error_sink says = diagnostics_gather(ret_diagnostics);
        struct ruleset *rules = rulebook_read(book, &says);

        if (rules)
                rulebook_change(book, rules);
        return rules;
}

/* ----------------------------------------------------------------- set up */

static int nobody(void *ctx, const Hw__Update *update)
{
        return 0;
}

static struct pipeline *read_log(const char *name, const char *path)
{
        static uint8_t bytes[1u << 20];
        struct source_uri uri = { .kind = SOURCE_FILE };
        struct pipeline_options options = { .name = name, .uri = &uri, .epoch = 1, .sink = { .send = nobody } };
        struct error error;
        FILE *f = fopen(path, "rb");

        if (!f) {
                fprintf(stderr, "fuzz_request: %s: %s; run it where the project's files are\n", path, strerror(errno));
                exit(2);
        }
        size_t size = fread(bytes, 1, sizeof(bytes), f);
        fclose(f);
        struct pipeline *p = pipeline_new(&options, &error);
        if (!p || pipeline_bytes(p, bytes, size) != 0 || pipeline_finish(p, NULL, false) != 0)
                abort();
        return p;
}

static void set_up(void)
{
        const struct notifier_options options = { .base = base = event_base_new(),
                                                  .publish_endpoint = "ipc:///fuzz",
                                                  .log_level = "error" };

        log_set_level(LOG_ERROR);
        all.pipelines[0] = read_log("a", "tests/data/logs/cc-hc-ghc966/run.eventlog");
        all.pipelines[1] = read_log("b", "tests/data/logs/leaky-hT-ghc9103/run.eventlog");
        silences = silence_store_new(options.base, NULL);
        notifier = notifier_new(&options);
        pending = pending_new(base, &all, NULL, &(struct bus_handler){ .request = requests_again });
        if (!pending || !silences || !notifier || !rulebook_open(&rulebook, NULL, 0, &diagnostics_to_stderr))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct requests requests = { .targets = &all, .rulebook = &rulebook, .publish_endpoint = "ipc:///fuzz" };
        struct no_bus_answer answer = { .replies = 0 };
        struct bus_client client = { .answer = &answer };
        const char *reason = NULL;

        if (!silences)
                set_up();
        requests.pending = pending;
        requests.silences = silences;
        requests.notifier = notifier;
        Hw__Request *request = hw_request_unpack(data, size, &reason);
        if (!request)
                return reason ? 0 : (abort(), 0);
        requests_handle(&requests, request, &client);
        while (pending_count(pending) > 0) /* more than one turn was needed */
                (void)event_base_loop(base, EVLOOP_ONCE);
        if (answer.replies == 0 || !answer.over)
                abort();
        (void)silence_store_remove(silences, 0, "*", "*"); /* the next request meets the same daemon */
        hw_request_destroy(&request);
        return 0;
}

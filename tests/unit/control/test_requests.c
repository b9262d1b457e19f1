/* SPDX-License-Identifier: BSD-3-Clause */
/* Each request, valid and invalid, sent as a client does: through the socket. */
#include "tests/unit/publish/support.h"

#include "daemon/watch/alerting/silence_store.h"
#include "daemon/watch/control/notifier.h"
#include "daemon/watch/control/pending.h"
#include "daemon/watch/control/requests.h"
#include "daemon/log.h"
#include "daemon/watch/targets/pipeline.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

#define LOG         "file:tests/data/logs/leaky-hT-ghc9103/run.eventlog"
#define MAX_REPLIES 64

struct fixture {
        struct event_base *base;
        struct bus *bus;
        struct requests requests;
        struct rulebook rulebook;
        void *context, *socket;
        char dir[64], publish[96], request[96], rules[96];
        struct error error;
        char *rule_files[1];
        Hw__Reply *replies[MAX_REPLIES]; /* to the last request */
        size_t n;
};

static void write_rules(struct fixture *f, const char *text)
{
        FILE *file = fopen(f->rules, "w");

        assert_non_null(file);
        fputs(text, file);
        fclose(file);
}

static int set_up(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct bus_handler handler = { .ctx = &f->requests, .request = requests_handle };
        struct targets_options options = { .trend = tracker_config_scaled(TREND_MINUTE_NS) };

        *state = f;
        log_set_level(LOG_ERROR);
        make_dir(f->dir);
        (void)snprintf(f->publish, sizeof(f->publish), "ipc://%s/publish", f->dir);
        (void)snprintf(f->request, sizeof(f->request), "ipc://%s/request", f->dir);
        (void)snprintf(f->rules, sizeof(f->rules), "%s/rules.yaml", f->dir);
        write_rules(f, "groups: []\n");
        f->rule_files[0] = f->rules;
        assert_true(rulebook_open(&f->rulebook, f->rule_files, 1, &diagnostics_to_stderr));
        f->base = event_base_new();
        assert_int_equal(event_base_priority_init(f->base, 2), 0);
        struct bus_options endpoints = { .publish_endpoint = f->publish, .request_endpoint = f->request };
        f->bus = bus_new(f->base, &endpoints, &handler, &f->error);
        assert_non_null(f->bus);
        options.rules = f->rulebook.rules;
        const struct notifier_options notifier = { .base = f->base,
                                                   .publish_endpoint = f->publish,
                                                   .log_level = "error" };
        f->requests = (struct requests){
                .targets = targets_new(f->base, f->bus, &options),
                .bus = f->bus,
                .silences = silence_store_new(f->base, NULL),
                .notifier = notifier_new(&notifier),
                .rulebook = &f->rulebook,
                .publish_endpoint = f->publish,
        };
        const struct bus_handler again = { .ctx = &f->requests, .request = requests_again };
        f->requests.pending = pending_new(f->base, f->requests.targets, f->bus, &again);
        assert_true(f->requests.pending);
        assert_true(f->requests.targets && f->requests.silences && f->requests.notifier);
        f->context = zmq_ctx_new();
        f->socket = new_socket(f->context, ZMQ_DEALER, f->request);
        return 0;
}

static void forget(struct fixture *f)
{
        for (size_t i = 0; i < f->n; i++)
                hw_reply_unref(f->replies[i]);
        f->n = 0;
}

static int tear_down(void **state)
{
        struct fixture *f = *state;

        forget(f);
        zmq_close(f->socket);
        zmq_ctx_term(f->context);
        pending_destroy(&f->requests.pending);
        targets_destroy(&f->requests.targets);
        notifier_destroy(&f->requests.notifier);
        silence_store_destroy(&f->requests.silences);
        bus_destroy(&f->bus);
        rulebook_close(&f->rulebook);
        event_base_free(f->base);
        assert_int_equal(unlink(f->rules), 0);
        assert_int_equal(rmdir(f->dir), 0);
        free(f);
        return 0;
}

/* All replies to these bytes, read as a client reads them. */
static void ask_bytes(struct fixture *f, const void *bytes, size_t size)
{
        bool more = true;

        forget(f);
        assert_int_equal(zmq_send(f->socket, bytes, size, 0), size);
        while (more) {
                zmq_pollitem_t item = { .socket = f->socket, .events = ZMQ_POLLIN };
                const char *reason = NULL;
                zmq_msg_t msg;

                TURN_UNTIL(f->base, zmq_poll(&item, 1, 0) == 1);
                assert_int_equal(zmq_msg_init(&msg), 0);
                assert_true(zmq_msg_recv(&msg, f->socket, 0) >= 0);
                Hw__Reply *reply = hw_reply_unpack(zmq_msg_data(&msg), zmq_msg_size(&msg), &reason);
                assert_non_null(reply);
                zmq_msg_close(&msg);
                assert_true(f->n < MAX_REPLIES);
                f->replies[f->n++] = reply;
                more = reply->more;
        }
}

static const Hw__Reply *ask(struct fixture *f, Hw__Request *request)
{
        uint8_t bytes[2048];

        SET(*request, id, 7);
        assert_true(hw__request__get_packed_size(request) <= sizeof(bytes));
        ask_bytes(f, bytes, hw__request__pack(request, bytes));
        for (size_t i = 0; i < f->n; i++) /* what could not be read has no id to answer */
                assert_true(f->replies[i]->error || (f->replies[i]->has_id && f->replies[i]->id == 7));
        return f->replies[f->n - 1];
}

#define REQUEST(field, number)                                                                                         \
        Hw__Request request = { PROTOBUF_C_MESSAGE_INIT(&hw__request__descriptor),                                     \
                                .what_case = HW__REQUEST__WHAT_##number, .field = &field }

static const Hw__Reply *add(struct fixture *f, const char *name, const char *uri)
{
        Hw__AddTargetRequest add_target = HW__ADD_TARGET_REQUEST__INIT;
        REQUEST(add_target, ADD_TARGET);

        add_target.name = (char *)name;
        add_target.uri = (char *)uri;
        return ask(f, &request);
}

static const Hw__Reply *remove_target(struct fixture *f, const char *name)
{
        Hw__RemoveTargetRequest remove_target = HW__REMOVE_TARGET_REQUEST__INIT;
        REQUEST(remove_target, REMOVE_TARGET);

        remove_target.name = (char *)name;
        return ask(f, &request);
}

static const Hw__Reply *status(struct fixture *f)
{
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;
        REQUEST(status, STATUS);

        return ask(f, &request);
}

static const Hw__Reply *history(struct fixture *f, Hw__HistoryRequest *asked)
{
        Hw__HistoryRequest history = *asked;
        REQUEST(history, HISTORY);

        return ask(f, &request);
}

static const Hw__Reply *silence(struct fixture *f, const char *rule, uint64_t duration_ns)
{
        Hw__SilenceRequest silence = HW__SILENCE_REQUEST__INIT;
        REQUEST(silence, SILENCE);

        silence.rule = (char *)rule;
        silence.has_duration_ns = duration_ns > 0;
        silence.duration_ns = duration_ns;
        return ask(f, &request);
}

static const Hw__Reply *reload(struct fixture *f)
{
        Hw__ReloadRequest reload = HW__RELOAD_REQUEST__INIT;
        REQUEST(reload, RELOAD);

        return ask(f, &request);
}

static void assert_refused(const Hw__Reply *reply, const char *because)
{
        assert_non_null(reply->error);
        assert_int_equal(reply->what_case, HW__REPLY__WHAT__NOT_SET);
        if (!strstr(reply->error, because))
                fail_msg("'%s' does not say '%s'", reply->error, because);
}

/* Target `a`, with a whole log read. */
static void add_log(struct fixture *f)
{
        assert_null(add(f, "a", LOG)->error);
        const struct pipeline *p = targets_find(f->requests.targets, "a");
        TURN_UNTIL(f->base, pipeline_has_run(p) && bands_count(model_bands(pipeline_model(p))) > 0);
}

/* ------------------------------------------------------------- what is wrong */

TEST_WITH(bytes_that_are_no_request, set_up, tear_down)
{
        struct fixture *f = *state;
        static const uint8_t garbage[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, cut[] = { 0x8a, 0x01, 0x05, 0x0a };

        ask_bytes(f, garbage, sizeof(garbage));
        assert_refused(f->replies[0], "");
        ask_bytes(f, cut, sizeof(cut));
        assert_refused(f->replies[0], "");
        assert_int_equal(bus_stats(f->bus)->bad_requests, 2);
        assert_non_null(status(f)->status); /* and the daemon goes on */
}

TEST_WITH(a_request_of_a_newer_client, set_up, tear_down)
{
        struct fixture *f = *state;
        static const uint8_t id_only[] = { 0x08, 0x07 }, newer[] = { 0x08, 0x07, 0xfa, 0x06, 0x00 }; /* field 111 */

        ask_bytes(f, id_only, sizeof(id_only));
        assert_non_null(f->replies[0]->error);
        ask_bytes(f, newer, sizeof(newer));
        assert_non_null(f->replies[0]->error);
        assert_int_equal(targets_count(f->requests.targets), 0);
}

/* ------------------------------------------------------------------- targets */

TEST_WITH(add_and_remove, set_up, tear_down)
{
        struct fixture *f = *state;

        assert_string_equal(add(f, "a", "file:/nowhere/a")->done->target, "a");
        assert_string_equal(add(f, NULL, "file:/nowhere/b.eventlog")->done->target, "b");
        assert_string_equal(add(f, NULL, "c=file:/nowhere/x")->done->target, "c");
        assert_int_equal(targets_count(f->requests.targets), 3);
        assert_string_equal(remove_target(f, "b")->done->target, "b");
        assert_refused(remove_target(f, "b"), "there is no target 'b'");
        assert_refused(remove_target(f, NULL), "there is no target ''");
        assert_int_equal(targets_count(f->requests.targets), 2);
}

TEST_WITH(adding_what_cannot_be, set_up, tear_down)
{
        struct fixture *f = *state;
        Hw__AddTargetRequest add_target = HW__ADD_TARGET_REQUEST__INIT;
        REQUEST(add_target, ADD_TARGET);

        assert_refused(add(f, "a", NULL), "needs a uri");
        assert_refused(add(f, "a", "gopher:x"), "gopher");
        assert_refused(add(f, "a", "tcp:"), "expected HOST:PORT");
        assert_refused(add(f, "a", "stdin:"), "command line");
        assert_refused(add(f, "-a", "file:/x"), "a target's name is");
        assert_refused(add(f, "a b", "file:/x"), "a target's name is");
        assert_refused(add(f, "../a", "file:/x"), "a target's name is");
        assert_refused(add(f, "", "file:/x"), "a target's name is");
        assert_null(add(f, "a", "file:/x")->error);
        assert_refused(add(f, "a", "file:/y"), "already a target 'a'");
        add_target.uri = (char *)"file:/x";
        add_target.name = (char *)"r";
        SET(add_target, resolution_ns, 99999999);
        assert_refused(ask(f, &request), "100 ms to 1 h");
        add_target.resolution_ns = UINT64_MAX;
        assert_refused(ask(f, &request), "100 ms to 1 h");
        add_target.resolution_ns = 100000000;
        assert_null(ask(f, &request)->error);
        assert_int_equal(targets_count(f->requests.targets), 2);
}

TEST_WITH(what_status_says, set_up, tear_down)
{
        struct fixture *f = *state;

        const Hw__Status *s = status(f)->status;
        assert_int_equal(s->n_targets, 0);
        assert_string_equal(s->publish_endpoints[0], f->publish);
        assert_int_equal(s->daemon->pid, getpid());
        assert_int_equal(s->n_rules, f->rulebook.rules->n);
        assert_string_equal(s->rules[0], "leak");
        add_log(f);
        assert_null(add(f, "b", "file:/nowhere/b")->error);
        s = status(f)->status;
        assert_int_equal(s->daemon->n_targets, 2);
        assert_int_equal(s->n_targets, 4); /* state and health of each */
        assert_string_equal(s->targets[0]->target, "a");
        assert_int_equal(s->targets[0]->target_state->runs, 1);
        assert_true(s->targets[1]->health->bytes > 0);
        assert_string_equal(s->targets[3]->target, "b");
}

/* ------------------------------------------------------------ what is known */

TEST_WITH(what_a_snapshot_holds, set_up, tear_down)
{
        struct fixture *f = *state;
        Hw__SnapshotRequest snapshot = HW__SNAPSHOT_REQUEST__INIT;
        REQUEST(snapshot, SNAPSHOT);
        char *only[] = { (char *)"b", (char *)"not-there" };
        Hw__Kind kinds[] = { HW__KIND__KIND_TARGET };

        add_log(f);
        assert_null(add(f, "b", "file:/nowhere/b")->error);
        const Hw__Reply *last = ask(f, &request);
        assert_int_equal(last->what_case, HW__REPLY__WHAT_SNAPSHOT_END);
        assert_true(last->snapshot_end->epoch == targets_epoch(f->requests.targets));
        assert_int_equal(f->replies[0]->update->body_case, HW__UPDATE__BODY_DAEMON);
        bool heap = false, bands = false;
        for (size_t i = 0; i + 1 < f->n; i++) {
                heap |= f->replies[i]->update->body_case == HW__UPDATE__BODY_HEAP;
                bands |= f->replies[i]->update->body_case == HW__UPDATE__BODY_BANDS;
        }
        assert_true(heap && bands);

        SET_LIST(snapshot, targets, only, 2);
        SET_LIST(snapshot, kinds, kinds, 1);
        (void)ask(f, &request);
        assert_int_equal(f->n, 3); /* the daemon, b's state, the end */
        assert_string_equal(f->replies[1]->update->target, "b");
        assert_int_equal(f->replies[1]->update->body_case, HW__UPDATE__BODY_TARGET_STATE);
}

TEST_WITH(history_of_a_series, set_up, tear_down)
{
        struct fixture *f = *state;
        Hw__HistoryRequest h = HW__HISTORY_REQUEST__INIT;

        add_log(f);
        h.target = (char *)"a";
        assert_refused(history(f, &h), "name a series or a band");
        SET(h, series, HW__SERIES__SERIES_LIVE);
        const Hw__History *got = history(f, &h)->history;
        assert_int_equal(got->run, 1);
        assert_true(got->n_points > 2);
        uint64_t second = got->points[1]->time_ns;
        size_t all = got->n_points;
        SET(h, from_ns, second);
        got = history(f, &h)->history;
        assert_int_equal(got->n_points, all - 1);
        assert_true(got->points[0]->time_ns == second && got->points[0]->count > 0);
        SET(h, to_ns, second);
        assert_int_equal(history(f, &h)->history->n_points, 0);
        h.target = (char *)"b";
        assert_refused(history(f, &h), "there is no target 'b'");
        h.target = NULL;
        assert_refused(history(f, &h), "there is no target ''");
}

TEST_WITH(history_of_a_band, set_up, tear_down)
{
        struct fixture *f = *state;
        Hw__HistoryRequest h = HW__HISTORY_REQUEST__INIT;

        add_log(f);
        h.target = (char *)"a";
        SET(h, band, 1);
        const Hw__History *got = history(f, &h)->history;
        assert_true(got->has_band && got->band == 1);
        assert_true(got->n_points > 0);
        h.band = 4000000000u;
        assert_refused(history(f, &h), "no band of that number");
}

/* ------------------------------------------------------------ rules, silences */

TEST_WITH(reload_is_all_or_nothing, set_up, tear_down)
{
        struct fixture *f = *state;
        static const char good[] = "groups:\n  - name: g\n    rules:\n      - alert: mine\n        expr: live > 1GiB\n";
        uint32_t before = (uint32_t)f->rulebook.rules->n;

        add_log(f);
        write_rules(f, good);
        assert_int_equal(reload(f)->reloaded->rules, before + 1);
        write_rules(f, "groups:\n  - name: g\n    rules:\n      - alert: mine\n        expr: live >\n");
        assert_refused(reload(f), "rules.yaml:5:");
        assert_int_equal(f->rulebook.rules->n, before + 1);
        write_rules(f, "groups: []\n");
        assert_int_equal(reload(f)->reloaded->rules, before);
}

TEST_WITH(silences, set_up, tear_down)
{
        struct fixture *f = *state;
        static char long_name[400];
        Hw__SilencesRequest silences = HW__SILENCES_REQUEST__INIT;
        REQUEST(silences, SILENCES);

        assert_refused(silence(f, NULL, 1), "needs a rule and a duration_ns");
        assert_refused(silence(f, "*", 0), "needs a rule and a duration_ns");
        assert_refused(silence(f, "no_such_rule", 1), "there is no rule 'no_such_rule'");
        memset(long_name, 'x', sizeof(long_name) - 1);
        assert_refused(silence(f, long_name, 1), "at most 256 bytes");
        const Hw__Reply *made = silence(f, "gc_*", 3600u * UINT64_C(1000000000));
        assert_int_equal(made->silences->n_silences, 1);
        uint64_t id = made->silences->silences[0]->id;
        assert_string_equal(made->silences->silences[0]->target, "*");
        assert_int_equal(ask(f, &request)->silences->n_silences, 1);

        Hw__UnsilenceRequest unsilence = HW__UNSILENCE_REQUEST__INIT;
        Hw__Request end = HW__REQUEST__INIT;
        end.what_case = HW__REQUEST__WHAT_UNSILENCE;
        end.unsilence = &unsilence;
        assert_refused(ask(f, &end), "needs an id or a rule");
        SET(unsilence, id, id + 1);
        assert_refused(ask(f, &end), "there is no such silence");
        unsilence.id = id;
        assert_true(ask(f, &end)->silences->silences[0]->id == id);
        assert_int_equal(ask(f, &request)->silences->n_silences, 0);
}

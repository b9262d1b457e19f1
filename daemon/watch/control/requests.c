/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one function per request. The form of requests has been checked (hw_request_unpack); names in them are
 * checked here, and a wrong name gets a sentence that tells what would be right. Replies borrow from the state and are
 * packed by the bus before the next one is made.
 */
#include "daemon/watch/control/requests.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/publish/encode.h"
#include "daemon/publish/limits.h"
#include "proto/base/limits.h"
#include "daemon/log.h"
#include "proto/base/clock.h"
#include "proto/base/probes.h"
#include "daemon/model/model.h"
#include "daemon/source/procfs.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/watch/control/pending.h"
#include "proto/base/error.h"
#include "proto/base/labels.h"
#include "proto/wire/program_command.h"

/* ----------------------------------------------------------------- history */

/* Points as messages: n of them, in one block to free(). */
static Hw__Point **points_to_messages(const struct point *points, size_t n)
{
        Hw__Point **list = malloc(n * (sizeof(*list) + sizeof(**list)) + 1);

        if (!list)
                return NULL;
        Hw__Point *messages = (Hw__Point *)(void *)(list + n);
        for (size_t i = 0; i < n; i++) {
                const struct cell *c = &points[i].cell;
                Hw__Point *m = list[i] = &messages[i];
                hw__point__init(m);
                PUT(m, time_ns, points[i].time_ns);
                PUT(m, width_ns, points[i].width_ns);
                PUT(m, count, c->n);
                PUT(m, min, c->min);
                PUT(m, max, c->max);
                PUT(m, mean, c->mean);
                PUT(m, last, c->last);
                if (c->last_ns > 0)
                        PUT(m, last_time_ns, c->last_ns);
        }
        return list;
}

/*
 * The history that a band keeps, as points of a range; NULL: the totals of all censuses, in the same steps, so that a
 * band's share of the same census can be computed.
 */
static size_t band_points(const struct band *band, const struct census_history *totals, struct time_range range,
                          struct point *points)
{
        const struct fold *h = band ? band->history : &totals->fold;
        size_t n = 0;

        for (uint32_t i = 0; h && i < h->n; i++) {
                struct point p = { fold_time_ns(h, i), h->width_ns, { .n = 0 } };
                if (band)
                        (void)band_point(band, i, &p.cell);
                else
                        p.cell = totals->cells[i];
                if (p.cell.n && p.time_ns >= range.from_ns && p.time_ns < range.to_ns)
                        points[n++] = p;
        }
        return n;
}

static void reply_history(const Hw__HistoryRequest *request, const struct model *m, const struct point *points,
                          size_t n, struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__History history = HW__HISTORY__INIT;

        history.points = points_to_messages(points, n);
        if (!history.points) {
                reply_error(client, out_of_memory);
                return;
        }
        history.n_points = n;
        history.target = request->target;
        PUT(&history, run, model_run(m)->ordinal);
        history.has_series = request->has_series;
        history.series = request->series;
        history.has_band = request->has_band;
        history.band = request->band;
        reply.what_case = HW__REPLY__WHAT_HISTORY;
        reply.history = &history;
        bus_reply(client, &reply);
        free(history.points);
}

static void handle_history(struct requests *r, const Hw__HistoryRequest *request, struct bus_client *client)
{
        struct series_view room;
        struct pipeline *p = request->target ? targets_find(r->targets, request->target) : NULL;

        if (!p) {
                reply_no_target(client, request->target);
                return;
        }
        const struct model *m = pipeline_model(p);
        struct point *points = malloc(LIMIT_HISTORY_POINTS * sizeof(*points));
        if (!points) {
                reply_error(client, out_of_memory);
                return;
        }
        struct time_range range = { request->from_ns, request->has_to_ns ? request->to_ns : UINT64_MAX };
        const struct band *band = request->has_band ? bands_get(model_bands(m), request->band) : NULL;
        if (request->has_band && request->band && !band) {
                reply_error(client, "there is no band of that number in the current run");
        } else if (request->has_band) {
                reply_history(request, m, points, band_points(band, model_census_history(m), range, points), client);
        } else if (!request->has_series || request->series <= 0 || request->series >= (int)SERIES_COUNT) {
                reply_error(client, "name a series or a band");
        } else {
                size_t n = series_history(model_series(m, (enum series_id)request->series, &room), range,
                                          request->step_ns, points, LIMIT_HISTORY_POINTS);
                reply_history(request, m, points, n, client);
                pipeline_keep_finely(p, (enum series_id)request->series);
        }
        free(points);
}

/* ------------------------------------------------------------------ status */

/* Copies of the updates of all targets, for one reply. */
struct gathered {
        Hw__Update **updates;
        size_t n, capacity;
};

static bool gather_update(void *ctx, const Hw__Update *update)
{
        struct gathered *g = ctx;
        size_t size = hw__update__get_packed_size(update);
        uint8_t *packed = malloc(size + 1);

        if (packed && g->n < g->capacity) {
                hw__update__pack(update, packed);
                Hw__Update *copy = hw__update__unpack(NULL, size, packed);
                if (copy)
                        g->updates[g->n++] = copy;
        }
        free(packed);
        return true;
}

static void handle_status(struct requests *r, struct bus_client *client)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_TARGET, HW__KIND__KIND_HEALTH };
        const struct ruleset *rules = r->rulebook->rules;
        struct gathered g = { .capacity = 2 * targets_count(r->targets) };
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__Status status = HW__STATUS__INIT;
        char *endpoints[] = { (char *)r->publish_endpoint };

        g.updates = calloc(g.capacity + 1, sizeof(*g.updates));
        status.rules = calloc(rules->n + 1, sizeof(*status.rules));
        for (size_t i = 0; status.rules && i < rules->n; i++)
                status.rules[i] = (char *)rules->rules[i]->name;
        if (!g.updates || !status.rules) {
                free(g.updates);
                free(status.rules);
                reply_error(client, out_of_memory);
                return;
        }
        for (size_t i = 0; i < targets_count(r->targets); i++) {
                struct snapshot s = { .kinds = kinds, .n_kinds = 2, .each = gather_update, .ctx = &g };
                (void)pipeline_snapshot(targets_get(r->targets, i), &s); /* a missing one shows */
        }
        status.daemon = targets_daemon_state(r->targets)->daemon;
        status.targets = g.updates;
        status.n_targets = g.n;
        status.publish_endpoints = endpoints;
        status.n_publish_endpoints = 1;
        status.n_rules = rules->n;
        reply.what_case = HW__REPLY__WHAT_STATUS;
        reply.status = &status;
        bus_reply(client, &reply);
        for (size_t i = 0; i < g.n; i++)
                hw__update__free_unpacked(g.updates[i], NULL);
        free(g.updates);
        free(status.rules);
}

/* ----------------------------------------------------------------- targets */

/* Whether there is such a process now; one of a configuration may also have ended. */
static bool has_process(const struct source_uri *uri, struct error *error)
{
        struct process_identity id;
        const int r = procfs_identity("", uri->pid, &id);

        if (r == -ENOTSUP)
                return error_set(error, "process %" PRIu32 " is a thread of the kernel, without memory of its own",
                                 uri->pid);
        if (r < 0)
                return error_set(error, "there is no process %" PRIu32 " on the daemon's machine", uri->pid);
        return uri->start_ticks == 0 || uri->start_ticks == id.start_ticks ||
               error_set(error, "process %" PRIu32 " started later than the one that is meant, which has ended",
                         uri->pid);
}

/* False with a sentence: what is requested cannot be a target. */
static bool check_target(const struct requests *r, const Hw__AddTargetRequest *request, const struct source_uri *uri,
                         bool is_root, struct error *error)
{
        if (uri->kind == SOURCE_STDIN)
                return error_set(error, "stdin: can only be given on the daemon's command line");
        if (!source_allowed(r->allow, uri, is_root, error) || (source_uri_is_process(uri) && !has_process(uri, error)))
                return false;
        if (request->name && request->name[0] && !target_name_valid(request->name))
                return error_set(error,
                                 "a target's name is 1 to 64 of A-Z a-z 0-9 . _ - and does not start with . or -");
        if (request->has_resolution_ns &&
            (request->resolution_ns < LIMIT_RESOLUTION_LEAST_NS || request->resolution_ns > LIMIT_RESOLUTION_MOST_NS))
                return error_set(error, "resolution_ns: expected 100 ms to 1 h");
        if (request->process_only_reason && strlen(request->process_only_reason) >= PROCESS_REASON_SIZE)
                return error_set(error, "process_only_reason: expected one line of less than 768 bytes");
        return true;
}

static void handle_add(struct requests *r, const Hw__AddTargetRequest *request, struct bus_client *client)
{
        char name[TARGET_NAME_MAX + 1], before[TARGET_NAME_MAX + 1], labels[LABELS_SIZE];
        struct error error;
        struct source_uri uri;

        if (!request->uri) {
                reply_error(client, "add_target needs a uri");
                return;
        }
        if (!target_spec_parse(request->uri, name, &uri, &error) ||
            !check_target(r, request, &uri, bus_client_is_root(client), &error) ||
            !labels_join((const char *const *)request->labels, request->n_labels, labels, &error)) {
                reply_error(client, error.text);
                return;
        }
        if (request->name && request->name[0])
                snprintf(name, sizeof(name), "%s", request->name);
        const struct target_wish wish = { .resolution_ns = request->resolution_ns,
                                          .one_run = request->one_run,
                                          .no_record = request->no_record,
                                          .labels = labels,
                                          .process_only_reason =
                                                  uri.kind == SOURCE_PROCESS ? request->process_only_reason : NULL };
        if (targets_add(r->targets, name, &uri, &wish, before, &error) != 0)
                reply_error(client, error.text);
        else
                reply_done(client, name, before);
}

static void handle_remove(struct requests *r, const Hw__RemoveTargetRequest *request, struct bus_client *client)
{
        if (!request->name || targets_remove(r->targets, request->name) != 0) {
                reply_no_target(client, request->name);
                return;
        }
        reply_done(client, request->name, "");
}

static void handle_end(struct requests *r, const Hw__EndTargetRequest *request, struct bus_client *client)
{
        struct pipeline *p = request->name ? targets_find(r->targets, request->name) : NULL;
        struct run_exit how = {
                .known = true,
                .pid = request->pid,
                .status = request->exit_status,
                .signal = request->exit_signal,
                .out_of_cpu = request->out_of_cpu,
        };

        if (!p) {
                reply_no_target(client, request->name);
                return;
        }
        if (request->has_exit_status == request->has_exit_signal) {
                reply_error(client, "end_target needs a status or a signal");
                return;
        }
        pipeline_exited(p, &how);
        reply_done(client, request->name, "");
}

static void handle_program(struct requests *r, const Hw__ProgramRequest *request, struct bus_client *client)
{
        struct pipeline *p = request->target ? targets_find(r->targets, request->target) : NULL;
        uint8_t message[PROGRAM_COMMAND_BYTES];
        const struct program_command *command = request->command ? program_command_find(request->command) : NULL;
        struct error error;

        if (!p)
                reply_no_target(client, request->target);
        else if (!command)
                reply_error(client, "unknown command; `heapwatch ctl --help` lists them");
        else if (!pipeline_send(p, message, program_command_message(command, message), &error))
                reply_error(client, error.text);
        else
                reply_done(client, request->target, "");
}

/* ------------------------------------------------------------------- rules */

static void handle_reload(struct requests *r, struct bus_client *client)
{
        struct diagnostics diagnostics;
        struct error error;
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__Reloaded reloaded = HW__RELOADED__INIT;

        if (!bus_reload_keys(r->bus, &error)) {
                reply_error(client, error.text);
                return;
        }
        if (!reload_rules(r->rulebook, r->targets, r->notifier, &diagnostics)) {
                reply_error(client, diagnostics.text);
                return;
        }
        PUT(&reloaded, rules, (uint32_t)r->rulebook->rules->n);
        reply.what_case = HW__REPLY__WHAT_RELOADED;
        reply.reloaded = &reloaded;
        bus_reply(client, &reply);
}

static void handle_request(struct requests *r, const Hw__Request *request, struct bus_client *client)
{
        switch (request->what_case) {
        case HW__REQUEST__WHAT_SNAPSHOT:
                pending_snapshot(r->pending, request, client);
                break;
        case HW__REQUEST__WHAT_HISTORY:
                handle_history(r, request->history, client);
                break;
        case HW__REQUEST__WHAT_STATUS:
                handle_status(r, client);
                break;
        case HW__REQUEST__WHAT_ADD_TARGET:
                handle_add(r, request->add_target, client);
                break;
        case HW__REQUEST__WHAT_END_TARGET:
                handle_end(r, request->end_target, client);
                break;
        case HW__REQUEST__WHAT_PROGRAM:
                handle_program(r, request->program, client);
                break;
        case HW__REQUEST__WHAT_REMOVE_TARGET:
                handle_remove(r, request->remove_target, client);
                break;
        case HW__REQUEST__WHAT_RELOAD:
                handle_reload(r, client);
                break;
        case HW__REQUEST__WHAT_SILENCE:
                silence_requests_add(r->silences, r->rulebook->rules, request->silence, client);
                break;
        case HW__REQUEST__WHAT_UNSILENCE:
                silence_requests_remove(r->silences, request->unsilence, client);
                break;
        case HW__REQUEST__WHAT_SILENCES:
                silence_requests_list(r->silences, client);
                break;
        case HW__REQUEST__WHAT_RECORDING:
                recording_requests_handle(r->recorder, r->targets, request->recording, client);
                break;
        default:
                reply_error(client, "this daemon (" HEAPWATCH_VERSION ") does not know that request");
        }
}

/* Of a request that changes nothing. */
void requests_again(void *ctx, const Hw__Request *request, struct bus_client *client)
{
        handle_request(ctx, request, client);
}

void requests_handle(void *ctx, const Hw__Request *request, struct bus_client *client)
{
        const ProtobufCFieldDescriptor *what =
                protobuf_c_message_descriptor_get_field(&hw__request__descriptor, (unsigned)request->what_case);
        struct requests *r = ctx;
        uint64_t began_ns = clock_mono_ns();
        struct error error;
        const bool allowed = role_allows(client, request, &error);

        if (allowed)
                handle_request(r, request, client);
        else
                reply_error(client, error.text);
        role_audit(r->bus, client, request, allowed);
        if (role_needed(request) == ROLE_READ && bus_client_again(client))
                pending_keep(r->pending, request, client);
        uint64_t took_ns = clock_mono_ns() - began_ns;
        PROBE_REQUEST_ANSWERED(request->what_case, took_ns);
        log_debug("request=%s id=%llu took_us=%llu", what ? what->name : "unknown", (unsigned long long)request->id,
                  (unsigned long long)took_ns / 1000);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_messages.c - what is known of a target beside its model, as the messages of the kinds target and health.
 *
 * A program's arguments may hold secrets and are published only on request.
 */
#include <string.h>

#include "daemon/publish/encode.h"
#include "daemon/model/sizing.h"
#include "daemon/source/loop/memory.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "proto/base/agent_peer.h"
#include "proto/base/bytes.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/labels.h"
#include "proto/eventlog/advice.h"

/* ------------------------------------------------------------------- target */

static void put_labels(struct encoder *e, Hw__Target *out, const char *labels)
{
        char **texts = labels ? encoder_calloc(e, LABELS_MOST, sizeof(char *)) : NULL;
        const char *label;
        size_t n;

        out->labels = texts;
        while (texts && out->n_labels < LABELS_MOST && (label = labels_next(&labels, &n)) != NULL) {
                char *text = encoder_calloc(e, n + 1, 1);
                if (!text)
                        return;
                memcpy(text, label, n);
                texts[out->n_labels++] = text;
        }
}

static Hw__ActionResult *encode_why(struct encoder *e, const struct run_why *why)
{
        Hw__ActionResult *out = why->state == RUN_WHY_NONE ? NULL : encoder_message(e, &hw__action_result__descriptor);

        if (!out)
                return NULL;
        out->kind = encoder_text(e, "why");
        if (why->state != RUN_WHY_UNDER_WAY)
                PUT(out, ok, why->state == RUN_WHY_FOUND);
        if (why->text[0])
                out->detail = encoder_text(e, why->text);
        if (why->wall_ns)
                PUT(out, wall_ns, why->wall_ns);
        return out;
}

static void fill_target(void *ctx, struct encoder *e, Hw__Target *out)
{
        const struct pipeline *p = ctx;
        const struct pipeline_state *s = &p->state;
        const struct hw_eventlog_stats *decoded = p->decoder ? hw_eventlog_stats(p->decoder) : &s->left_stats;

        PUT(out, state, p->removed ? HW__TARGET__STATE__STATE_REMOVED : life_shown(s->life));
        out->uri = encoder_text(e, p->uri.text);
        out->detail = encoder_text(e, p->removed ? p->removed : s->detail);
        if (model_run(p->model)->ordinal)
                out->run_info = encode_run(e, model_run(p->model), p->show_arguments, s->process.seen);
        PUT(out, runs, s->runs);
        PUT_U64(out, state_since_wall_ns, s->state_since_wall_ns);
        if (s->kept)
                PUT(out, kept, true);
        if (s->ended.known && s->ended.signal)
                PUT(out, exit_signal, s->ended.signal);
        else if (s->ended.known)
                PUT(out, exit_status, s->ended.status);
        if (s->life == LIFE_STOPPED && model_heap(p->model)->process.stop == PROCESS_STOPPED)
                PUT(out, stopped_by_signal, true); /* SIGCONT resumes it */
        if (s->ended.oom_killed)
                PUT(out, oom_killed, true);
        if (s->ended.out_of_cpu)
                PUT(out, out_of_cpu, true);
        if (s->joined_late)
                PUT(out, joined_late, true);
        if (decoded->passed_bytes)
                PUT(out, passed_bytes, decoded->passed_bytes);
        put_labels(e, out, p->labels);
        out->why = encode_why(e, &s->why);
        if (p->process_only_reason[0])
                out->process_only_reason = encoder_text(e, p->process_only_reason);
}

/* ------------------------------------------------------------------- health */

/* How long a running program has sent nothing. */
static uint64_t silent_ns(const struct pipeline *p)
{
        if (!p->live || !pipeline_in_run(p) || !p->open || p->state.last_bytes_wall_ns == UNKNOWN_U64)
                return 0;
        return sub_sat(clock_wall_ns(), p->state.last_bytes_wall_ns);
}

/* Without what an agent makes untrue: it flushes the log itself. */
static size_t advice_of(const struct pipeline *p, enum hw_advice *codes)
{
        size_t n = model_advice(p->model, silent_ns(p), codes, HW_ADVICE_COUNT - 1), kept = 0;

        if (!agent_peer_is_uri(p->uri.text)) {
                if (p->headless || model_run(p->model)->n_pids > 1)
                        codes[n++] = HW_ADVICE_SEVERAL_PROCESSES;
                return n;
        }
        for (size_t i = 0; i < n; i++)
                if (codes[i] != HW_ADVICE_OLD_GHC && codes[i] != HW_ADVICE_NOT_FLUSHED)
                        codes[kept++] = codes[i];
        return kept;
}

static void put_advice(struct encoder *e, Hw__Health *out, const struct pipeline *p)
{
        enum hw_advice codes[HW_ADVICE_COUNT];
        const size_t n = advice_of(p, codes);

        PUT_ROWS(e, out, advice, &hw__advice__descriptor, n);
        for (size_t i = 0; i < out->n_advice; i++) {
                PUT(out->advice[i], code, codes[i]);
                out->advice[i]->text = encoder_text(e, hw_advice_text(codes[i]));
        }
}

static Hw__Recording *encode_recording(struct encoder *e, struct recording *recording)
{
        Hw__Recording *out = encoder_message(e, &hw__recording__descriptor);
        struct recording_state s;

        if (!out)
                return NULL;
        recording_state(recording, &s);
        PUT(out, active, s.recording);
        PUT(out, paused, s.paused);
        out->detail = encoder_copy(e, s.detail);
        PUT(out, bytes, s.bytes);
        PUT(out, lost_bytes, s.lost_bytes);
        PUT(out, lost_frames, s.lost_frames);
        PUT(out, disk_bytes, s.disk_bytes);
        return out;
}

static void fill_health(void *ctx, struct encoder *e, Hw__Health *out)
{
        const struct pipeline *p = ctx;
        const struct bands *bands = model_bands(p->model);
        const struct hw_eventlog_stats *decoded = p->decoder ? hw_eventlog_stats(p->decoder) : &p->state.left_stats;
        const uint64_t made = p->place[0].markers;

        PUT(out, bytes, decoded->bytes - made * BLOCK_MARKER_BYTES);
        PUT(out, events, decoded->events - made);
        PUT(out, blocks, decoded->blocks - made);
        PUT(out, unknown_events, decoded->unknown);
        PUT(out, short_events, decoded->short_payload);
        PUT(out, lost_bytes, decoded->lost_bytes);
        if (p->state.gaps) {
                PUT(out, gaps, p->state.gaps);
                PUT(out, gap_ns, p->state.gap_ns);
        }
        PUT(out, resyncs, decoded->resyncs);
        PUT(out, late_samples, model_late_samples(p->model));
        PUT(out, time_anomalies, model_time_anomalies(p->model));
        PUT(out, reconnects, p->source ? sub_sat(source_stats(p->source)->attaches, 1) : 0);
        if (p->live)
                PUT_U64(out, last_bytes_wall_ns, p->state.last_bytes_wall_ns);
        PUT_U64(out, lag_ns, pipeline_lag_ns(p));
        PUT(out, bands_left_out, bands_left_out(bands));
        PUT(out, info_tables, bands_info_tables(bands));
        PUT(out, info_tables_left_out, bands_info_tables_left_out(bands));
        PUT(out, cost_centres_left_out, bands_cost_centres_left_out(bands));
        PUT(out, state_bytes, pipeline_held_bytes(p));
        if (p->unread[0])
                out->unread = encoder_text(e, p->unread);
        if (bands_closed(bands))
                out->memory_pressure = encoder_text(e, memory_words());
        PUT_U64(out, watermark_ns, model_watermark_ns(p->model));
        if (p->recording)
                out->recording = encode_recording(e, p->recording);
        const struct damages *damages = &p->state.damages;
        PUT_ROWS(e, out, damages, &hw__damage__descriptor, damages->n);
        for (size_t i = 0; i < out->n_damages; i++) {
                PUT(out->damages[i], offset, damages->places[i].offset);
                PUT(out->damages[i], lost_bytes, damages->places[i].lost_bytes);
                out->damages[i]->reason = encoder_text(e, damages->places[i].reason);
        }
        if (p->state.runs > 0)
                put_advice(e, out, p);
}

struct target_messages pipeline_messages(struct pipeline *p)
{
        return (struct target_messages){ .ctx = p, .target = fill_target, .health = fill_health };
}

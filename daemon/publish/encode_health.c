/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: counters one to one, the newest damage, and advice with its sentence. */
#include "daemon/publish/encode.h"

static void put_damages(struct encoder *e, Hw__Health *out, const struct health *health)
{
        PUT_ROWS(e, out, damages, &hw__damage__descriptor, health->n_damages);
        for (size_t i = 0; i < out->n_damages; i++) {
                PUT(out->damages[i], offset, health->damages[i].offset);
                PUT(out->damages[i], lost_bytes, health->damages[i].lost_bytes);
                out->damages[i]->reason = encoder_text(e, health->damages[i].reason);
        }
}

static void put_advice(struct encoder *e, Hw__Health *out, const struct health *health)
{
        PUT_ROWS(e, out, advice, &hw__advice__descriptor, health->n_advice);
        for (size_t i = 0; i < out->n_advice; i++) {
                PUT(out->advice[i], code, health->advice[i]);
                out->advice[i]->text = encoder_text(e, hw_advice_text(health->advice[i]));
        }
}

static void put_recording(struct encoder *e, Hw__Health *out, const struct recording_state *s)
{
        Hw__Recording *r = encoder_message(e, &hw__recording__descriptor);

        if (!r)
                return;
        r->has_active = r->has_paused = true;
        r->active = s->recording;
        r->paused = s->paused;
        r->detail = encoder_text(e, s->detail);
        PUT(r, bytes, s->bytes);
        PUT(r, lost_bytes, s->lost_bytes);
        PUT(r, lost_frames, s->lost_frames);
        PUT(r, disk_bytes, s->disk_bytes);
        out->recording = r;
}

Hw__Health *encode_health(struct encoder *e, const struct health *health)
{
        Hw__Health *out = encoder_message(e, &hw__health__descriptor);

        if (!out)
                return NULL;
        PUT(out, bytes, health->decoder.bytes);
        PUT(out, events, health->decoder.events);
        PUT(out, blocks, health->decoder.blocks);
        PUT(out, unknown_events, health->decoder.unknown);
        PUT(out, short_events, health->decoder.short_payload);
        PUT(out, lost_bytes, health->decoder.lost_bytes);
        if (health->gaps) {
                PUT(out, gaps, health->gaps);
                PUT(out, gap_ns, health->gap_ns);
        }
        PUT(out, resyncs, health->decoder.resyncs);
        PUT_U64(out, late_samples, health->late_samples);
        PUT_U64(out, time_anomalies, health->time_anomalies);
        PUT_U64(out, reconnects, health->reconnects);
        PUT_U64(out, last_bytes_wall_ns, health->last_bytes_wall_ns);
        PUT_U64(out, lag_ns, health->lag_ns);
        PUT_U64(out, bands_left_out, health->bands_left_out);
        PUT_U64(out, info_tables, health->info_tables);
        PUT_U64(out, info_tables_left_out, health->info_tables_left_out);
        PUT_U64(out, cost_centres_left_out, health->cost_centres_left_out);
        PUT_U64(out, state_bytes, health->state_bytes);
        if (health->unread)
                out->unread = encoder_text(e, health->unread);
        if (health->memory_pressure)
                out->memory_pressure = encoder_text(e, health->memory_pressure);
        PUT_U64(out, watermark_ns, health->watermark_ns);
        if (health->has_recording)
                put_recording(e, out, &health->recording);
        put_damages(e, out, health);
        put_advice(e, out, health);
        return out;
}

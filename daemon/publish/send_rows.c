/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: messages of many rows, sent in parts: a part ends when it has its number of rows or of bytes, so a message
 * stays below 1 MiB whatever the program defines, and is never too large for a reader. All totals are absolute: sending
 * a row twice does no harm, and after a failure all that changed is simply sent again.
 */
#include <string.h>

#include "daemon/publish/limits.h"
#include "daemon/publish/send.h"

#define NOTE_BYTES 64u /* at most, of a note but its text */

static bool is_part_full(size_t rows, size_t bytes)
{
        return rows == LIMIT_ROWS_PER_UPDATE || bytes >= LIMIT_ROW_BYTES_PER_UPDATE;
}

static void *new_rows(struct publisher *p)
{
        return encoder_calloc(p->encoder, LIMIT_ROWS_PER_UPDATE, sizeof(void *));
}

/* -------------------------------------------------------------- bands */

/* The bands at..n, those of `ids` or (NULL) all; *at follows what was sent. */
static bool send_bands_from(struct publisher *p, const uint32_t *ids, uint32_t *at, uint32_t n, struct snapshot *to)
{
        const struct bands *bands = model_bands(p->model);

        while (*at < n) {
                if (!may_make_part(to))
                        return false;
                Hw__Update update = HW__UPDATE__INIT;
                Hw__Bands body = HW__BANDS__INIT;
                size_t bytes = 0;
                uint32_t i = *at;

                update.body_case = HW__UPDATE__BODY_BANDS;
                update.bands = &body;
                for (body.bands = new_rows(p); body.bands && i < n && !is_part_full(body.n_bands, bytes); i++) {
                        const struct band *band = bands_get(bands, ids ? ids[i] : i + 1);
                        Hw__Band *row = band ? encode_band(p->encoder, bands, band, !ids) : NULL;
                        if (!row)
                                continue;
                        body.bands[body.n_bands++] = row;
                        bytes += protobuf_c_message_get_packed_size(&row->base);
                }
                if (!send_update(p, &update, to))
                        return false;
                *at = i;
        }
        return true;
}

bool send_bands(struct publisher *p, const uint32_t *ids, uint32_t n)
{
        uint32_t at = 0;

        return send_bands_from(p, ids, &at, n, NULL);
}

bool send_all_bands(struct publisher *p, struct snapshot *to)
{
        return send_bands_from(p, NULL, &to->band, bands_count(model_bands(p->model)), to);
}

/* -------------------------------------------------------------- notes */

static uint64_t notes_not_kept(const struct notes *notes)
{
        uint64_t oldest = notes_oldest(notes);

        return oldest ? oldest - 1 : notes_total(notes);
}

static void fill_notes(struct publisher *p, Hw__Notes *out, uint64_t *at, uint64_t last)
{
        const struct notes *notes = model_notes(p->model);
        size_t bytes = 0;

        out->notes = new_rows(p);
        for (; !p->encoder->failed && *at <= last && !is_part_full(out->n_notes, bytes); ++*at) {
                const struct note *note = notes_get(notes, *at);
                if (!note)
                        continue;
                Hw__Note *row = encode_note(p->encoder, note);
                if (!row)
                        return;
                out->notes[out->n_notes++] = row;
                bytes += NOTE_BYTES + (row->text ? strlen(row->text) : 0);
        }
        PUT(out, dropped, notes_not_kept(notes));
}

bool send_notes(struct publisher *p, uint64_t first, uint64_t last, struct snapshot *to)
{
        uint64_t oldest = notes_oldest(model_notes(p->model)), at = first > oldest ? first : oldest;

        if (to && to->row > at)
                at = to->row;
        while (at <= last) {
                if (!may_make_part(to))
                        return false;
                Hw__Update update = HW__UPDATE__INIT;
                Hw__Notes body = HW__NOTES__INIT;
                update.body_case = HW__UPDATE__BODY_NOTES;
                update.notes = &body;
                fill_notes(p, &body, &at, last);
                if (!send_update(p, &update, to))
                        return false;
                if (to)
                        to->row = at;
        }
        return true;
}

/* ----------------------------------------------------- profile, ticky */

/* Makes a message of rows from *at on, all of them or those that changed; returns how many it has. */
typedef size_t fill_fn(struct publisher *p, Hw__Update *update, uint32_t *at, bool all);

static size_t fill_profile(struct publisher *p, Hw__Update *update, uint32_t *at, bool all)
{
        const struct profile *profile = model_profile(p->model);
        Hw__Profile *out = encoder_message(p->encoder, &hw__profile__descriptor);
        size_t bytes = 0;

        update->body_case = HW__UPDATE__BODY_PROFILE;
        update->profile = out;
        if (!out || !(out->stacks = new_rows(p)))
                return 0;
        for (; *at < profile_stacks(profile) && !is_part_full(out->n_stacks, bytes); ++*at) {
                const struct profile_stack *stack = profile_get(profile, *at + 1);
                if (!stack || (!all && stack->changed <= p->profile_seen))
                        continue;
                Hw__Stack *row = encode_stack(p->encoder, model_bands(p->model), stack);
                if (!row)
                        return 0;
                out->stacks[out->n_stacks++] = row;
                bytes += protobuf_c_message_get_packed_size(&row->base);
        }
        PUT(out, ticks, profile_ticks(profile));
        PUT(out, stacks_left_out, profile_left_out(profile));
        if (profile_is_sampled(profile))
                PUT(out, sampled, true);
        return out->n_stacks;
}

static size_t fill_ticky(struct publisher *p, Hw__Update *update, uint32_t *at, bool all)
{
        const struct ticky *ticky = model_ticky(p->model);
        Hw__Ticky *out = encoder_message(p->encoder, &hw__ticky__descriptor);
        size_t bytes = 0;

        update->body_case = HW__UPDATE__BODY_TICKY;
        update->ticky = out;
        if (!out || !(out->counters = new_rows(p)))
                return 0;
        for (; *at < ticky_count(ticky) && !is_part_full(out->n_counters, bytes); ++*at) {
                const struct ticky_counter *counter = ticky_get(ticky, *at);
                if (!counter || (!all && counter->changed <= p->ticky_seen))
                        continue;
                Hw__TickyCounter *row = encode_ticky(p->encoder, counter);
                if (!row)
                        return 0;
                out->counters[out->n_counters++] = row;
                bytes += protobuf_c_message_get_packed_size(&row->base);
        }
        return out->n_counters;
}

/* `first`: a message also without rows, if it is the first. */
static bool send_rows(struct publisher *p, fill_fn *fill, uint32_t n, bool first, struct snapshot *to)
{
        uint32_t at = to ? (uint32_t)to->row : 0;

        for (first = first && at == 0; first || at < n; first = false) {
                if (!may_make_part(to))
                        return false;
                Hw__Update update = HW__UPDATE__INIT;
                if (!fill(p, &update, &at, to != NULL) && !first && !p->encoder->failed) {
                        encoder_reset(p->encoder); /* nothing changed after the last part */
                        return true;
                }
                if (!send_update(p, &update, to))
                        return false;
                if (to)
                        to->row = at;
        }
        return true;
}

/* At least once: the total may have risen by samples of stacks left out. */
bool send_profile(struct publisher *p, struct snapshot *to)
{
        const struct profile *profile = model_profile(p->model);

        if (!send_rows(p, fill_profile, profile_stacks(profile), true, to))
                return false;
        if (!to)
                p->profile_seen = profile_changes(profile);
        return true;
}

bool send_ticky(struct publisher *p, struct snapshot *to)
{
        const struct ticky *ticky = model_ticky(p->model);

        if (!send_rows(p, fill_ticky, ticky_count(ticky), false, to))
                return false;
        if (!to)
                p->ticky_seen = ticky_events(ticky);
        return true;
}

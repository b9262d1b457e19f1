/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: messages of many rows, sent in parts: a part ends when it has its number of rows or of bytes, so a message
 * stays below 1 MiB whatever the program defines, and is never too large for a reader. All totals are absolute: sending
 * a row twice does no harm, and after a failure all that changed is simply sent again.
 */
#include <string.h>

#include "daemon/publish/limits.h"
#include "daemon/publish/packer.h"
#include "daemon/publish/send.h"

#define BAND_BYTES  256u /* approximate size of a definition */
#define NOTE_BYTES  64u  /* at most, of a note but its text */
#define BANDS_AHEAD 8u   /* how far ahead texts of bands are prefetched */

static bool is_part_full(size_t rows, size_t bytes)
{
        return rows == LIMIT_ROWS_PER_UPDATE || bytes >= LIMIT_ROW_BYTES_PER_UPDATE;
}

static void *new_rows(struct publisher *p)
{
        return encoder_calloc(p->encoder, LIMIT_ROWS_PER_UPDATE, sizeof(void *));
}

/* -------------------------------------------------------------- bands */

/* Puts as many of the last of the bands at..*end into one message as fit; *end becomes where they begin. */
static void fill_bands(struct publisher *p, Hw__Bands *out, const uint32_t *ids, uint32_t at, uint32_t *end)
{
        const struct bands *bands = model_bands(p->model);
        struct packer rows;
        uint32_t i = *end;

        packer_init(&rows, p->encoder, (size_t)(i - at) * BAND_BYTES);
        while (i > at && packer_used(&rows) < LIMIT_ROW_BYTES_PER_UPDATE) {
                i--;
                const struct band *band = bands_get(bands, ids ? ids[i] : i + 1);
                if (i >= at + BANDS_AHEAD)
                        prefetch_band(bands_get(bands, ids ? ids[i - BANDS_AHEAD] : i - BANDS_AHEAD + 1));
                if (band)
                        pack_band(&rows, bands, band, !ids);
        }
        *end = i;
        (void)packer_attach(&rows, BANDS_BANDS, &out->base);
}

/* The packer writes backwards, so a part that is too large for one message is sent from its end. */
static bool send_band_part(struct publisher *p, const uint32_t *ids, uint32_t at, uint32_t end, struct snapshot *to)
{
        while (end > at) {
                if (!may_make_part(to))
                        return false;
                Hw__Update update = HW__UPDATE__INIT;
                Hw__Bands body = HW__BANDS__INIT;
                update.body_case = HW__UPDATE__BODY_BANDS;
                update.bands = &body;
                fill_bands(p, &body, ids, at, &end);
                if (!send_update(p, &update, to))
                        return false;
                if (to)
                        to->end = end;
        }
        return true;
}

static uint32_t part_end(uint32_t at, uint32_t n)
{
        return n - at < LIMIT_BANDS_PER_UPDATE ? n : at + LIMIT_BANDS_PER_UPDATE;
}

bool send_bands(struct publisher *p, const uint32_t *ids, uint32_t n)
{
        for (uint32_t at = 0; at < n; at = part_end(at, n))
                if (!send_band_part(p, ids, at, part_end(at, n), NULL))
                        return false;
        return true;
}

/* A part that was begun stays as long as it was, also when there are more bands by now. */
bool send_all_bands(struct publisher *p, struct snapshot *to)
{
        const uint32_t n = bands_count(model_bands(p->model));

        while (to->band < n) {
                if (to->end == 0) {
                        to->part = part_end(to->band, n);
                        to->end = to->part;
                }
                if (!send_band_part(p, NULL, to->band, to->end, to))
                        return false;
                to->band = to->part;
                to->end = 0;
        }
        return true;
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
                p->profile_seen = profile_ticks(profile);
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

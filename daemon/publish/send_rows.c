/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: messages of many rows, sent in parts: a part ends when it has its number of rows or of bytes, so a message
 * stays below 1 MiB whatever the program defines, and is never too large for a reader. All totals are absolute: sending
 * a row twice does no harm, and after a failure all that changed is simply sent again.
 */
#include "daemon/publish/limits.h"
#include "daemon/publish/send.h"

/* What there are many of. `all`: for a late joiner; else only what is new. */
struct row_list {
        void *(*row)(struct publisher *p, uint64_t i, bool all); /* NULL: it is not sent, or there is no memory */
        void (*put)(struct publisher *p, Hw__Update *update, void *rows, size_t n); /* the message of a part */
};

/* The rows *at..end; *at follows what was sent. `first`: a part also without rows, if it is the first. */
static bool send_list(struct publisher *p, const struct row_list *l, uint64_t *at, uint64_t end, bool first,
                      struct snapshot *to)
{
        for (; first || *at < end; first = false) {
                if (!may_make_part(to))
                        return false;
                Hw__Update update = HW__UPDATE__INIT;
                void **rows = encoder_calloc(p->encoder, LIMIT_ROWS_PER_UPDATE, sizeof(*rows));
                size_t n = 0, bytes = 0;
                uint64_t i = *at;

                for (;
                     !p->encoder->failed && i < end && n < LIMIT_ROWS_PER_UPDATE && bytes < LIMIT_ROW_BYTES_PER_UPDATE;
                     i++) {
                        ProtobufCMessage *row = l->row(p, i, to != NULL);

                        if (!row)
                                continue;
                        rows[n++] = row;
                        bytes += protobuf_c_message_get_packed_size(row);
                }
                if (n == 0 && !first && !p->encoder->failed) {
                        encoder_reset(p->encoder); /* nothing changed after the last part */
                        return true;
                }
                l->put(p, &update, rows, n);
                if (!send_update(p, &update, to))
                        return false;
                *at = i;
        }
        return true;
}

/* -------------------------------------------------------------- bands */

static void *band_row(struct publisher *p, uint64_t i, bool all)
{
        const struct bands *bands = model_bands(p->model);
        const struct band *band = bands_get(bands, all ? (uint32_t)i + 1 : p->gathered.bands[i]);

        return band ? encode_band(p->encoder, bands, band, all) : NULL;
}

static void put_bands(struct publisher *p, Hw__Update *update, void *rows, size_t n)
{
        update->body_case = HW__UPDATE__BODY_BANDS;
        update->bands = encoder_message(p->encoder, &hw__bands__descriptor);
        if (update->bands) {
                update->bands->bands = rows;
                update->bands->n_bands = n;
        }
}

static const struct row_list band_list = { band_row, put_bands };

bool send_new_bands(struct publisher *p)
{
        uint64_t at = 0;

        return send_list(p, &band_list, &at, p->gathered.n_bands, false, NULL);
}

bool send_all_bands(struct publisher *p, struct snapshot *to)
{
        return send_list(p, &band_list, &to->band, bands_count(model_bands(p->model)), false, to);
}

/* -------------------------------------------------------------- notes */

static void *note_row(struct publisher *p, uint64_t i, bool all)
{
        const struct note *note = notes_get(model_notes(p->model), i);

        return note ? encode_note(p->encoder, note) : NULL;
}

static void put_notes(struct publisher *p, Hw__Update *update, void *rows, size_t n)
{
        const struct notes *notes = model_notes(p->model);
        const uint64_t oldest = notes_oldest(notes);

        update->body_case = HW__UPDATE__BODY_NOTES;
        update->notes = encoder_message(p->encoder, &hw__notes__descriptor);
        if (update->notes) {
                update->notes->notes = rows;
                update->notes->n_notes = n;
                PUT(update->notes, dropped, oldest ? oldest - 1 : notes_total(notes));
        }
}

bool send_notes(struct publisher *p, uint64_t first, uint64_t last, struct snapshot *to)
{
        static const struct row_list list = { note_row, put_notes };
        const uint64_t oldest = notes_oldest(model_notes(p->model));
        uint64_t live = 0, *at = to ? &to->row : &live;

        first = first > oldest ? first : oldest;
        *at = *at > first ? *at : first;
        return send_list(p, &list, at, last + 1, *at <= last, to);
}

/* ----------------------------------------------------- profile, ticky */

static void *stack_row(struct publisher *p, uint64_t i, bool all)
{
        const struct profile_stack *stack = profile_get(model_profile(p->model), (uint32_t)i + 1);

        return stack && (all || stack->changed > p->profile_seen)
                       ? encode_stack(p->encoder, model_bands(p->model), stack)
                       : NULL;
}

static void put_profile(struct publisher *p, Hw__Update *update, void *rows, size_t n)
{
        const struct profile *profile = model_profile(p->model);
        Hw__Profile *out = encoder_message(p->encoder, &hw__profile__descriptor);

        update->body_case = HW__UPDATE__BODY_PROFILE;
        update->profile = out;
        if (!out)
                return;
        out->stacks = rows;
        out->n_stacks = n;
        PUT(out, ticks, profile_ticks(profile));
        PUT(out, stacks_left_out, profile_left_out(profile));
        if (profile_is_sampled(profile))
                PUT(out, sampled, true);
}

/* At least once: the total may have risen by samples of stacks left out. */
bool send_profile(struct publisher *p, struct snapshot *to)
{
        static const struct row_list list = { stack_row, put_profile };
        const struct profile *profile = model_profile(p->model);
        uint64_t live = 0, *at = to ? &to->row : &live;

        if (!send_list(p, &list, at, profile_stacks(profile), *at == 0, to))
                return false;
        if (!to)
                p->profile_seen = profile_changes(profile);
        return true;
}

static void *ticky_row(struct publisher *p, uint64_t i, bool all)
{
        const struct ticky_counter *counter = ticky_get(model_ticky(p->model), (uint32_t)i);

        return counter && (all || counter->changed > p->ticky_seen) ? encode_ticky(p->encoder, counter) : NULL;
}

static void put_ticky(struct publisher *p, Hw__Update *update, void *rows, size_t n)
{
        update->body_case = HW__UPDATE__BODY_TICKY;
        update->ticky = encoder_message(p->encoder, &hw__ticky__descriptor);
        if (update->ticky) {
                update->ticky->counters = rows;
                update->ticky->n_counters = n;
        }
}

bool send_ticky(struct publisher *p, struct snapshot *to)
{
        static const struct row_list list = { ticky_row, put_ticky };
        const struct ticky *ticky = model_ticky(p->model);
        uint64_t live = 0, *at = to ? &to->row : &live;

        if (!send_list(p, &list, at, ticky_count(ticky), false, to))
                return false;
        if (!to)
                p->ticky_seen = ticky_events(ticky);
        return true;
}

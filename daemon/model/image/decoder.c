/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/image/containers.h"

#include <string.h>

#include "proto/eventlog/internal.h"
#include "proto/eventlog/limits.h"

#include "daemon/model/image/decoder_layouts.inc"

/* The event cut by the end of the input. A decoder that searches for a run starts over. */
static void image_carry(struct image *im, struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;
        uint64_t offset = cursor_offset(v);
        size_t n = log->stage == STAGE_JOIN ? 0 : (size_t)(v->end - v->p);

        image_plain(im, &offset, sizeof(offset));
        image_plain(im, &n, sizeof(n));
        if (!im->reads) {
                image_plain(im, (void *)v->p, n);
                return;
        }
        cursor_reset(v);
        if (n >= CURSOR_NEED_MAX)
                image_refuse(im, "an event of it is too long");
        image_plain(im, v->carry, n);
        if (!image_fine(im))
                return;
        v->end = v->carry + n;
        v->origin_offset = offset;
        v->carried = n;
}

static bool is_sound(const struct hw_eventlog *log)
{
        return log->stage <= STAGE_JOIN && log->item <= ITEM_DATA_BEGIN && log->max_id < HW_EVENT_IDS &&
               (log->block.cap < LIMIT_CAPS || log->block.cap == HW_CAP_NONE);
}

void image_decoder(struct image *im, struct hw_eventlog *log)
{
        static const char before[] = "it was before the daemon was started again";

        image_carry(im, log);
        image_struct(im, log, IMAGE_TYPE(hw_eventlog)); /* all between the cursor and the tables by id */
        if (im->reads) {
                log->damage.reason = before;
                if (!is_sound(log))
                        image_refuse(im, "the decoder's numbers contradict each other");
                if (!image_fine(im)) {
                        log->max_id = HW_EVENT_IDS - 1;
                        hw_eventlog_reset(log);
                        return;
                }
        }
        image_plain(im, log->kinds, (log->max_id + 1) * sizeof(log->kinds[0]));
        if (log->max_id >= HW_QUICK_IDS)
                image_plain(im, log->counts, (log->max_id + 1) * sizeof(log->counts[0]));
        if (im->reads && log->stage == STAGE_JOIN)
                hw_eventlog_reset(log);
}

void decoder_gap(struct hw_eventlog *log)
{
        uint64_t offset = cursor_offset(&log->cursor);

        if (log->stage != STAGE_EVENTS && log->stage != STAGE_LOST) {
                hw_eventlog_reset(log);
                return;
        }
        cursor_reset(&log->cursor);
        log->cursor.origin_offset = offset;
        log->block = (struct block){ .cap = HW_CAP_NONE };
        if (log->stage != STAGE_LOST)
                (void)lose_bytes(log, offset, "bytes that were written while the daemon was away are missing", false);
        log->cursor.p = log->cursor.origin; /* nothing to skip */
}

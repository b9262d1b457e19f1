/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. The length that event 169 announces is one more than the bytes that
 * follow (in every one seen, GHC 9.6 and 9.10). The payload is 8 bytes and six
 * NUL-terminated strings, so its true end is after the sixth NUL:
 *
 *     announced L      |--------------------------------|
 *     key, 6 strings   |-------------------------------0|next event
 *
 * At L-1 (the known bug) or L (the bug fixed) the sixth NUL decides.
 * Earlier, both ends are possible - later releases may add fields - and the
 * end is the one at which an event begins.
 */
#include <string.h>

#include "proto/eventlog/internal.h"

#define IPE_KEY_BYTES 8u
#define IPE_STRINGS   6u

uint32_t ipe_strings_end(const uint8_t *p, uint32_t size)
{
        uint32_t at = IPE_KEY_BYTES;
        for (unsigned i = 0; i < IPE_STRINGS; i++) {
                const uint8_t *nul = at < size ? memchr(p + at, 0, size - at) : NULL;
                if (!nul)
                        return 0;
                at = (uint32_t)(nul - p) + 1;
        }
        return at;
}

enum answer ipe_size(struct hw_eventlog *log, const struct frame *frame, uint32_t *ret_size)
{
        struct cursor *v = &log->cursor;
        uint32_t announced = frame->size;
        *ret_size = announced;
        if (announced <= IPE_KEY_BYTES + IPE_STRINGS)
                return ANSWER_YES;
        if (!cursor_need(v, frame->head + announced - 1))
                return ANSWER_MORE;
        uint32_t end = ipe_strings_end(v->p + frame->head, announced - 1);
        if (end == 0)
                return ANSWER_YES;
        enum answer fits = end == announced - 1 ? ANSWER_YES : next_fits(log, frame->head + end, &log->block);
        if (fits == ANSWER_YES)
                *ret_size = end;
        return fits == ANSWER_MORE ? ANSWER_MORE : ANSWER_YES;
}

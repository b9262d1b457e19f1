/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. A header declares which event ids a run may use and how long they
 * are. It is read item by item, so it may be cut anywhere; texts are skipped,
 * never kept. What it says becomes one word per id (kinds[]), which is all that
 * the decoder looks at per event.
 *
 * Damage inside a header makes the run unreadable: the decoder says so at once
 * and looks for the next header. Guessing sizes from the event table instead
 * would turn a refused log into a wrong one.
 */
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/bytes.h"
#include "proto/eventlog/limits.h"
#include "proto/eventlog/internal.h"

#define SNIFF_BYTES      16u
#define TYPE_FIXED_BYTES 8u /* id, size, length of the description */

void header_forget(struct hw_eventlog *log)
{
        memset(log->kinds, 0, (log->max_id + 1) * sizeof(log->kinds[0]));
        memset(log->quick, 0, sizeof(log->quick));
        log->max_id = 0;
        log->has_table = log->joined = false;
}

/* Nothing of a run has been seen. */
static void forget_events(struct hw_eventlog *log)
{
        log->block = (struct block){ .cap = HW_CAP_NONE };
        log->has_blocks = log->adrift = false;
        log->last_ns = 0;
        log->floor_ns = UINT64_MAX;
}

static void enter_item(struct hw_eventlog *log, enum header_item item)
{
        log->header_offset = cursor_offset(&log->cursor);
        log->stage = STAGE_HEADER;
        log->item = item;
        log->n_types = 0;
        forget_events(log);
}

void events_begin(struct hw_eventlog *log)
{
        forget_events(log);
        log->stage = STAGE_EVENTS;
        log->has_table = true;
        log->stats.runs++;
}

void header_begin(struct hw_eventlog *log)
{
        header_forget(log);
        enter_item(log, ITEM_TYPES_BEGIN);
        log->cursor.p += 4;
}

void header_resume(struct hw_eventlog *log)
{
        enter_item(log, ITEM_TYPE);
}

/* ---------------------------------------------------- what is not an eventlog */

static const char no_header[] = "not an eventlog: it does not begin with hdrb";

#define PACKED ", which cannot be followed as it grows: `heapwatch top FILE` reads it, unless it is packed twice"

/* Names what `p` (SNIFF_BYTES) is the start of, if not of an eventlog. */
static const char *sniff_format(const uint8_t *p)
{
        static const struct {
                const char *start;
                size_t size;
                const char *reason;
        } forms[] = {
                { "version https://", 16, "not an eventlog but a git-lfs pointer: run git lfs pull" },
                { "\x1f\x8b", 2, "gzip data" PACKED },
                { "\x28\xb5\x2f\xfd", 4, "zstd data" PACKED },
                { "\x04\x22\x4d\x18", 4, "not an eventlog but lz4 data: unpack it first" },
                { "\xfd"
                  "7zXZ",
                  5, "not an eventlog but xz data: unpack it first" },
                { "BZh", 3, "not an eventlog but bzip2 data: unpack it first" },
                { "PK\x03\x04", 4, "not an eventlog but a zip archive: unpack it first" },
                { "\x7f"
                  "ELF",
                  4,
                  "not an eventlog but a program: give the log that it writes; for a watched target of that name: "
                  "`heapwatch trend`, `summary` or `report`" },
                { "JOB \"", 5, "not an eventlog but a heap profile (.hp)" },
        };
        for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
                if (!memcmp(p, forms[i].start, forms[i].size))
                        return forms[i].reason;
        return no_header;
}

const char after_end[] = "neither a header nor the end after an end marker";

enum step header_expect(struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;
        if (!cursor_need(v, 4))
                return STEP_MORE;
        if (be32(v->p) == HEADER_BEGIN) {
                header_begin(log);
                return STEP_AGAIN;
        }
        if (be16(v->p) == HW_BLOCK_MARKER) {
                if (!cursor_need(v, STRAY_MARKER_BYTES + 4))
                        return STEP_MORE;
                if (be32(v->p + STRAY_MARKER_BYTES) == HEADER_BEGIN) {
                        v->p += STRAY_MARKER_BYTES;
                        return STEP_AGAIN;
                }
        }
        if (!cursor_need(v, SNIFF_BYTES))
                return STEP_MORE;
        if (log->stage == STAGE_START) {
                const char *what = sniff_format(v->p);
                if (what == no_header && log->may_join && join_begin(log))
                        return STEP_AGAIN;
                return lose_bytes(log, cursor_offset(v), what, false);
        }
        return lose_bytes(log, cursor_offset(v), after_end, false);
}

bool header_is_expected(const struct hw_eventlog *log)
{
        const struct cursor *v = &log->cursor;

        return v->end - v->p >= STRAY_MARKER_BYTES && be16(v->p) == HW_BLOCK_MARKER;
}

/* ------------------------------------------------------------ event types */

static enum step refuse_header(struct hw_eventlog *log, const char *reason, bool limit)
{
        header_forget(log);
        return lose_bytes(log, log->header_offset, reason, limit);
}

/* The word for one declared type. */
static uint32_t kind_of(uint16_t id, uint16_t size)
{
        const struct hw_event_info *info = hw_event_info(id);
        uint32_t kind = KIND_DECLARED;
        if (event_has_own_time(id))
                kind |= KIND_EARLY;
        if (!info)
                kind |= KIND_UNKNOWN;
        if (size == 0xffff && id == HW_SPARK_STEAL) /* a text, which Mercury's runtime writes under this number */
                return kind | KIND_VARIABLE | KIND_DROP;
        if (size == 0xffff)
                return kind | KIND_VARIABLE |
                       (id == HW_IPE ? KIND_IPE
                        : info       ? KIND_PLAIN
                                     : 0) |
                       (info ? info->min_size : 0);
        if (info && size < info->min_size)
                return kind | KIND_DROP | size;
        if (id == HW_BLOCK_MARKER)
                return kind | KIND_MARKER | size;
        return kind | size | (info ? KIND_PLAIN : 0);
}

/* What the fast path needs to know of a kind. */
static uint16_t quick_of(uint32_t kind)
{
        uint32_t size = kind & KIND_SIZE;

        if (!(kind & KIND_PLAIN) || size > QUICK_SIZE - EVENT_HEAD_VARIABLE_BYTES)
                return 0;
        return (uint16_t)(kind & KIND_VARIABLE ? QUICK_VARIABLE | size : EVENT_HEAD_BYTES + size);
}

/* Logs whose headers are known to lie: sizes cannot be trusted, so nothing can. */
static const char *known_liar(uint16_t id, uint16_t size)
{
        if (id == HW_CREATE_THREAD && size == 8)
                return "written by GHC 6.12, whose header declares wrong event sizes: not supported";
        if (id == HW_IPE && size != 0xffff)
                return "written by a GHC 9.3 snapshot, whose header declares wrong event sizes: not supported";
        return NULL;
}

static enum step read_type(struct hw_eventlog *log, const uint8_t *p)
{
        uint16_t id = be16(p), size = be16(p + 2);
        uint32_t text = be32(p + 4);
        /* Whether a newline was turned into two bytes in a type's numbers, or across their end and the text's start. */
        for (unsigned i = 0; i < TYPE_FIXED_BYTES; i++)
                if (p[i] == '\r' && p[i + 1] == '\n')
                        return refuse_header(log, "text-mode damage: newlines were translated as this log was written",
                                             false);
        if (text > LIMIT_HEADER_TEXT_BYTES)
                return refuse_header(log, "header: description of an event type is too long", true);
        const char *lie = known_liar(id, size);
        if (lie)
                return refuse_header(log, lie, false);
        if (log->n_types++ == LIMIT_HEADER_TYPES)
                return refuse_header(log, "header: more event types than ids exist", true);
        log->type_id = id;
        log->type_size = size;
        log->skip = text;
        log->item = ITEM_TYPE_DESCRIPTION;
        return STEP_AGAIN;
}

void header_declare(struct hw_eventlog *log, uint16_t id, uint16_t size)
{
        const uint32_t kind = kind_of(id, size);
        log->kinds[id] = kind;
        if (id < HW_QUICK_IDS)
                log->quick[id] = quick_of(kind);
        if (id > log->max_id)
                log->max_id = id;
}

/* ------------------------------------------------------------------- items */

/* Skips the `skip` bytes. A description with a NUL in it has a wrong length. */
static enum step skip_text(struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;
        while (log->skip > 0) {
                if (!cursor_need(v, 1))
                        return STEP_MORE;
                size_t have = (size_t)(v->end - v->p);
                uint32_t step = have < log->skip ? (uint32_t)have : log->skip;
                const uint8_t *nul = log->item == ITEM_TYPE_DESCRIPTION ? memchr(v->p, 0, step) : NULL;
                if (nul) {
                        v->p = nul;
                        return refuse_header(log, "header: description of an event type has a wrong length", false);
                }
                v->p += step;
                log->skip -= step;
        }
        log->item = log->item == ITEM_TYPE_DESCRIPTION ? ITEM_TYPE_EXTENSION_SIZE : ITEM_TYPE_END;
        return STEP_AGAIN;
}

/* A four-byte marker that must come next. */
static enum step expect_marker(struct hw_eventlog *log, uint32_t found, uint32_t wanted, enum header_item next)
{
        if (found != wanted)
                return refuse_header(log, "header: a marker is missing (hetb, ete, hdre or datb)", false);
        log->item = next;
        return STEP_AGAIN;
}

enum step header_step(struct hw_eventlog *log)
{
        struct cursor *v = &log->cursor;
        if (log->item == ITEM_TYPE_DESCRIPTION || log->item == ITEM_TYPE_EXTENSION)
                return skip_text(log);
        bool fixed = log->item == ITEM_TYPE_FIXED;
        if (!cursor_need(v, fixed ? TYPE_FIXED_BYTES + 1 : 4))
                return STEP_MORE;
        const uint8_t *p = v->p;
        v->p += fixed ? TYPE_FIXED_BYTES : 4;
        switch (log->item) {
        case ITEM_TYPES_BEGIN:
                return expect_marker(log, be32(p), TYPES_BEGIN, ITEM_TYPE);
        case ITEM_TYPE: {
                const uint32_t found = be32(p);
                if (found == TYPE_BEGIN)
                        log->item = ITEM_TYPE_FIXED;
                else if (found == TYPES_END)
                        log->item = ITEM_HEADER_END;
                else
                        return refuse_header(log, "header: neither an event type nor the end of all types", false);
                return STEP_AGAIN;
        }
        case ITEM_TYPE_FIXED:
                return read_type(log, p);
        case ITEM_TYPE_EXTENSION_SIZE: {
                const uint32_t size = be32(p);
                if (size > LIMIT_HEADER_TEXT_BYTES)
                        return refuse_header(log, "header: extension of an event type is too long", true);
                log->skip = size;
                log->item = ITEM_TYPE_EXTENSION;
                return STEP_AGAIN;
        }
        case ITEM_TYPE_END:
                header_declare(log, log->type_id, log->type_size);
                return expect_marker(log, be32(p), TYPE_END, ITEM_TYPE);
        case ITEM_HEADER_END:
                return expect_marker(log, be32(p), HEADER_END, ITEM_DATA_BEGIN);
        case ITEM_DATA_BEGIN:
        case ITEM_TYPE_DESCRIPTION:
        case ITEM_TYPE_EXTENSION:
                break;
        }
        if (be32(p) != DATA_BEGIN)
                return refuse_header(log, "header: a marker is missing (hetb, ete, hdre or datb)", false);
        events_begin(log);
        return STEP_RUN;
}

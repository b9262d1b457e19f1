/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the runtime is trusted to write its own format, but every length is
 * checked against what is there, and reading of a chunk ends at the first thing
 * that is odd. Labels are the one kind of definition that grows with time (a
 * thread for each request): they have a list and a limit of their own, and at
 * the limit the older half is dropped.
 */
#include "agent/preamble.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/bytes.h"

#define VARIABLE  0xffff
#define LABELS_OF 0xfffe /* lists[].capability of labels: they belong to no particular block */

enum event_number {
        EVENT_GC_BEGIN = 9,
        EVENT_GC_END = 10,
        EVENT_GC_REQUEST_SEQUENTIAL = 11,
        EVENT_GC_REQUEST_PARALLEL = 12,
        EVENT_THREAD_LABEL = 44,
        EVENT_HEAP_LIVE = 51,
        EVENT_GC_STATS = 53,
        EVENT_INFO_TABLE = 169,
        EVENT_END = 0xffff,
};

/* The program's environment (31) is not among them. */
static bool is_definition(unsigned type)
{
        static const uint16_t list[] = { 25, 26, 27, 28, 29, 30,  32,  33,  43,  44,
                                         45, 46, 47, 48, 52, 160, 161, 168, 169, 210 };

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                if (list[i] == type)
                        return true;
        return false;
}

/* ------------------------------------------------------------------- header */

void preamble_reset(struct preamble *p)
{
        for (unsigned i = 0; i < p->count; i++)
                free(p->lists[i].bytes);
        free(p->lists);
        free(p->header);
        table_names_reset(&p->tables);
        memset(p, 0, sizeof(*p));
        for (unsigned i = 0; i < AGENT_EVENT_TYPES; i++)
                p->event_size[i] = -1;
}

/* Event types until the end of the list. False: not a valid list. */
static bool read_types(struct preamble *p, const uint8_t *bytes, size_t size)
{
        size_t at = 8;

        while (size - at >= 12 && !memcmp(bytes + at, "etb", 4)) {
                uint64_t type = be16(bytes + at + 4), fixed = be16(bytes + at + 6);
                uint64_t text = be32(bytes + at + 8), extra;
                at += 12;
                if (size - at < 4 || text > size - at - 4)
                        return false;
                at += text;
                extra = be32(bytes + at);
                at += 4;
                if (size - at < 4 || extra > size - at - 4 || type >= AGENT_EVENT_TYPES)
                        return false;
                at += extra + 4;
                p->event_size[type] = (int32_t)fixed;
        }
        return size - at >= 12 && !memcmp(bytes + at, "hetehdredatb", 12);
}

/* -------------------------------------------------------------- definitions */

static struct definitions *list_of(struct preamble *p, uint16_t capability)
{
        struct definitions *longer;

        for (unsigned i = 0; i < p->count; i++)
                if (p->lists[i].capability == capability)
                        return &p->lists[i];
        if (p->count >= AGENT_CAPABILITIES || !(longer = realloc(p->lists, (p->count + 1) * sizeof(*longer))))
                return NULL;
        p->lists = longer;
        longer[p->count] = (struct definitions){ .capability = capability, .first_ns = UINT64_MAX };
        return &longer[p->count++];
}

static bool has_room(struct definitions *d, size_t size)
{
        size_t room = d->room ? d->room : 1024;
        uint8_t *bytes;

        while (room < d->size + size)
                room *= 2;
        if (room == d->room)
                return true;
        bytes = realloc(d->bytes, room);
        if (!bytes)
                return false;
        d->bytes = bytes;
        d->room = room;
        return true;
}

/* Buffers are flushed one after the other, so an event may be older than what has come before it. */
static void store_event(struct preamble *p, unsigned type, uint16_t capability, uint64_t at_ns, const uint8_t *bytes,
                        size_t size)
{
        struct definitions *d = list_of(p, type == EVENT_THREAD_LABEL ? LABELS_OF : capability);

        if (d && type == EVENT_THREAD_LABEL && d->size + size > AGENT_LABELS_BYTES) {
                /* The older half of the labels, at an event's boundary: all are of variable size. */
                size_t at = 0;

                while (at < d->size / 2)
                        at += 12 + be16(d->bytes + at + 10);
                memmove(d->bytes, d->bytes + at, d->size - at);
                d->size -= at;
                p->bytes -= at;
                p->left_out++;
        }
        if (!d || size > AGENT_DEFINITIONS_BYTES - p->bytes || !has_room(d, size)) {
                p->left_out++;
                p->tables_left_out |= type == EVENT_INFO_TABLE;
                return;
        }
        memcpy(d->bytes + d->size, bytes, size);
        d->size += size;
        p->bytes += size;
        if (at_ns < d->first_ns)
                d->first_ns = at_ns;
        if (at_ns > d->last_ns)
                d->last_ns = at_ns;
}

/* ------------------------------------------------------------------- events */

/* Info tables announce one byte too many (GHC 9.2 to 9.10): they end with their sixth string. */
static size_t info_table_size(const uint8_t *event, size_t left)
{
        size_t at = 20;

        for (unsigned strings = 0; strings < 6 && at < left; at++)
                strings += event[at] == 0;
        return at;
}

/* Bytes of the event at `event`; 0 when it is not whole or not known. */
static size_t event_bytes(const struct preamble *p, const uint8_t *event, size_t left, unsigned type)
{
        size_t n;

        if (type >= AGENT_EVENT_TYPES || p->event_size[type] < 0 || left < 10)
                return 0;
        if (p->event_size[type] != VARIABLE)
                n = 10 + (size_t)p->event_size[type];
        else if (left < 12)
                return 0;
        else
                n = type == EVENT_INFO_TABLE ? info_table_size(event, left) : 12 + (size_t)be16(event + 10);
        return n <= left ? n : 0;
}

static void add_event(struct preamble *p, unsigned type, uint16_t capability, const uint8_t *event, size_t size)
{
        uint64_t at_ns = be64(event + 2);

        if (at_ns > p->now_ns)
                p->now_ns = at_ns;
        if (type == EVENT_GC_REQUEST_SEQUENTIAL || type == EVENT_GC_REQUEST_PARALLEL)
                meter_gc_request(&p->meter, capability, at_ns);
        else if (type == EVENT_GC_BEGIN)
                meter_gc_begin(&p->meter, capability, at_ns);
        else if (type == EVENT_GC_END)
                meter_gc_end(&p->meter, capability, at_ns);
        else if (type == EVENT_CENSUS_END)
                p->in_census = false;
        else if (type == EVENT_CENSUS) {
                p->in_census = true;
                meter_census(&p->meter, at_ns);
        } else if (type == EVENT_BAND && size > 21)
                table_names_see(&p->tables, (const char *)event + 21, size - 21);
        else if (type == EVENT_GC_STATS && size >= 24)
                meter_copied(&p->meter, be16(event + 14), be64(event + 16));
        else if (type == EVENT_HEAP_LIVE && size >= 22)
                meter_live(&p->meter, be64(event + 14));
        else if (is_definition(type))
                store_event(p, type, capability, at_ns, event, size);
}

void preamble_add(struct preamble *p, const uint8_t *bytes, size_t size)
{
        uint16_t capability = NO_CAPABILITY;

        if (size >= 8 && !memcmp(bytes, "hdrbhetb", 8)) {
                preamble_reset(p);
                if (size > AGENT_HEADER_BYTES || !read_types(p, bytes, size) || !(p->header = malloc(size))) {
                        p->not_understood++;
                        return;
                }
                memcpy(p->header, bytes, size);
                p->header_size = size;
                return;
        }
        for (size_t at = 0; p->header && size - at >= 2;) {
                unsigned type = be16(bytes + at);
                if (type == EVENT_END) {
                        p->ended = true;
                        at += 2;
                        continue;
                }
                size_t n = event_bytes(p, bytes + at, size - at, type);
                if (n == 0 || (type == BLOCK_MARKER && n != BLOCK_MARKER_BYTES)) {
                        p->not_understood++;
                        return;
                }
                if (type == BLOCK_MARKER) {
                        const uint64_t end_ns = be64(bytes + at + 14);
                        capability = be16(bytes + at + 22);
                        if (capability == MESSAGES_OF && end_ns > p->message_ns)
                                p->message_ns = end_ns;
                } else {
                        add_event(p, type, capability, bytes + at, n);
                }
                at += n;
        }
}

bool preamble_allows_census(const struct preamble *p)
{
        return p->header && !p->ended && !p->in_census && p->event_size[EVENT_CENSUS] == 8 &&
               p->event_size[EVENT_BAND] == VARIABLE && p->event_size[EVENT_CENSUS_END] == 8;
}

/* ----------------------------------------------------------------- info tables */

static void skip_described(struct preamble *p, const struct definitions *d)
{
        size_t n;

        for (size_t at = 0; d->size - at >= 20; at += n) {
                unsigned type = be16(d->bytes + at);
                n = event_bytes(p, d->bytes + at, d->size - at, type);
                if (n == 0)
                        return;
                if (type == EVENT_INFO_TABLE)
                        table_names_known(&p->tables, be64(d->bytes + at + 12));
        }
}

/* Where definitions of the program's own had no room, it is not known what it describes. */
bool preamble_has_unnamed(struct preamble *p)
{
        if (p->tables.n_pending == 0 || p->tables_left_out || p->event_size[EVENT_INFO_TABLE] < 0)
                return false;
        table_names_sort(&p->tables);
        for (unsigned i = 0; i < p->count; i++)
                skip_described(p, &p->lists[i]);
        return true;
}

/* ------------------------------------------------------------------ for readers */

struct chunk *preamble_chunk(const struct preamble *p)
{
        size_t size = p->header_size + p->count * BLOCK_MARKER_BYTES + p->bytes;
        struct chunk *c = p->header ? chunk_new(CHUNK_LOG, NULL, size) : NULL;
        uint8_t *at;

        if (!c)
                return NULL;
        at = c->bytes;
        memcpy(at, p->header, p->header_size);
        at += p->header_size;
        for (unsigned i = 0; i < p->count; i++) {
                const struct definitions *d = &p->lists[i];
                block_marker_write(at, d->first_ns, d->last_ns, BLOCK_MARKER_BYTES + d->size,
                                   d->capability == LABELS_OF ? NO_CAPABILITY : d->capability);
                at += BLOCK_MARKER_BYTES;
                if (d->size > 0)
                        memcpy(at, d->bytes, d->size);
                at += d->size;
        }
        return c;
}

static void put_message(uint8_t *at, uint64_t begin_ns, uint64_t end_ns, const char *text, size_t size)
{
        block_marker_write(at, begin_ns, end_ns, BLOCK_MARKER_BYTES + 12 + size, MESSAGES_OF);
        at += BLOCK_MARKER_BYTES;
        put_be(at, EVENT_MESSAGE, 2);
        put_be(at + 2, begin_ns, 8);
        put_be(at + 10, size, 2);
        memcpy(at + 12, text, size);
}

struct chunk *preamble_message(const struct preamble *p, const char *text, size_t size)
{
        struct chunk *c;

        if (size > AGENT_MESSAGE_BYTES)
                size = AGENT_MESSAGE_BYTES;
        c = chunk_new(CHUNK_LOG, NULL, BLOCK_MARKER_BYTES + 12 + size);
        if (c) /* not past its newest block: what may still come of that time would be late */
                put_message(c->bytes, p->message_ns, p->message_ns, text, size);
        return c;
}

struct chunk *preamble_message_log(const char *text, size_t size)
{
        static const uint8_t header[] =
                "hdrbhetb"
                "etb\0\0\x10\xff\xff\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\x12\0\x0e\0\0\0\0\0\0\0\0ete\0"
                "hetehdredatb";
        size_t header_size = sizeof(header) - 1, whole;
        struct chunk *c;

        if (size > AGENT_MESSAGE_BYTES)
                size = AGENT_MESSAGE_BYTES;
        whole = header_size + BLOCK_MARKER_BYTES + 12 + size + 2;
        c = chunk_new(CHUNK_LOG, NULL, whole);
        if (c) {
                memcpy(c->bytes, header, header_size);
                put_message(c->bytes + header_size, 0, 0, text, size);
                put_be(c->bytes + whole - 2, EVENT_END, 2);
        }
        return c;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN - the bytes are received behind the room for a block's marker, checked there, and written as they are. */
#include "agent/reader.h"

#include <stdlib.h>
#include <string.h>

#include "agent/control.h"
#include "agent/limits.h"
#include "agent/preamble.h"
#include "proto/base/bytes.h"
#include "proto/base/outside_census.h"

#define EVENT_HEAD   10 /* number and time */
#define CENSUS_BYTES 18 /* an event that begins or ends one */

static struct {
        struct chunk *chunk; /* NULL: none waits */
        uint32_t id;
        bool has_after;
        uint64_t after_ns; /* it is written once there is a block beyond this */
        uint64_t made_ns;  /* when it was read, by the log's clock; 0: not known */
} w;

/* ------------------------------------------------------------------ receiving */

enum given_line given_begin(struct given *g, const char *line)
{
        static const char verb[] = " given ";
        char *end;
        const unsigned long id = strtoul(line, &end, 10);

        if (line[0] < '0' || line[0] > '9' || id > UINT32_MAX || strncmp(end, verb, sizeof(verb) - 1) != 0)
                return GIVEN_OTHER;
        const char *number = end + sizeof(verb) - 1;
        const unsigned long size = strtoul(number, &end, 10);
        if (number[0] < '0' || number[0] > '9' || *end || size == 0 || size > AGENT_GIVEN_BYTES)
                return GIVEN_BAD;
        *g = (struct given){ chunk_new(CHUNK_LOG, NULL, BLOCK_MARKER_BYTES + size), size, (uint32_t)id };
        return g->chunk ? GIVEN_BEGUN : GIVEN_BAD;
}

uint8_t *given_place(const struct given *g)
{
        return g->chunk->bytes + g->chunk->size - g->left;
}

void given_forget(struct given *g)
{
        chunk_release(g->chunk);
        *g = (struct given){ 0 };
}

static void refuse_census(uint32_t id, const char *why)
{
        control_reply(&(struct request){ .id = id }, false, why);
}

void given_add(struct given *g, size_t n, uint64_t now_ns)
{
        struct error error = { "" };

        g->left -= n;
        if (g->left > 0)
                return;
        if (!given_check(g->chunk->bytes + BLOCK_MARKER_BYTES, g->chunk->size - BLOCK_MARKER_BYTES, &error)) {
                refuse_census(g->id, error.text);
                given_forget(g);
                return;
        }
        chunk_release(w.chunk); /* an older one that was not written yet */
        w.chunk = g->chunk;
        w.id = g->id;
        w.has_after = false;
        const uint64_t age_ns = be64(w.chunk->bytes + BLOCK_MARKER_BYTES + 2);
        w.made_ns = age_ns < now_ns ? now_ns - age_ns : 0;
        *g = (struct given){ 0 };
}

/* ------------------------------------------------------------------- checking */

static bool is_of_census(const char *message, size_t size)
{
        const char *at = message, *end = message + size;

        return (outside_message_begins(&at, end, OUTSIDE_SAYS_THREADS) ||
                outside_message_begins(&at, end, OUTSIDE_SAYS_CLOSURES) ||
                outside_message_begins(&at, end, OUTSIDE_SAYS_CONTENTS)) &&
               at < end;
}

/* Bytes of the event at `at`; 0: it is none of a census, or not whole. */
static size_t event_bytes(const uint8_t *at, size_t left)
{
        if (left < CENSUS_BYTES)
                return 0;
        switch (be16(at)) {
        case EVENT_CENSUS:
        case EVENT_CENSUS_END:
                return CENSUS_BYTES;
        case EVENT_BAND: {
                /* the profile, which is 0, its bytes, and a name with one NUL, at its end */
                const size_t size = be16(at + EVENT_HEAD), n = EVENT_HEAD + 2 + size;
                const uint8_t *name = at + EVENT_HEAD + 2 + 9;
                return size > 9 && n <= left && at[EVENT_HEAD + 2] == 0 && memchr(name, 0, size - 9) == at + n - 1 ? n
                                                                                                                   : 0;
        }
        case EVENT_MESSAGE: {
                const size_t size = be16(at + EVENT_HEAD), n = EVENT_HEAD + 2 + size;
                return n <= left && is_of_census((const char *)at + EVENT_HEAD + 2, size) ? n : 0;
        }
        default:
                return 0;
        }
}

bool given_check(const uint8_t *events, size_t size, struct error *error)
{
        size_t at = 0, n;

        for (; (n = event_bytes(events + at, size - at)) > 0; at += n) {
                const uint64_t type = be16(events + at);
                if ((at == 0) != (type == EVENT_CENSUS))
                        break;
                if (type == EVENT_CENSUS_END && at + n == size)
                        return true;
                if (type == EVENT_CENSUS_END)
                        break;
        }
        return error_set(error, "what was given is not one census: byte %zu of %zu does not belong there", at, size);
}

/* -------------------------------------------------------------------- writing */

struct chunk *given_make_block(uint64_t block_ns)
{
        struct chunk *c = w.chunk;

        if (!c || !w.has_after) {
                w.has_after = c != NULL;
                w.after_ns = block_ns;
                return NULL;
        }
        if (block_ns <= w.after_ns)
                return NULL;
        w.chunk = NULL;
        uint8_t *events = c->bytes + BLOCK_MARKER_BYTES;
        const size_t size = c->size - BLOCK_MARKER_BYTES;
        /* it says that it was read from outside: as it was given, or that of a whole census */
        uint64_t number = be64(events + EVENT_HEAD);
        double unused;

        if (!outside_census_spread(number, &unused))
                number = OUTSIDE_CENSUS;

        /* never before what the log had when it came: that is judged */
        const uint64_t made_ns = w.made_ns == 0 || w.made_ns > block_ns ? block_ns
                                 : w.made_ns < w.after_ns               ? w.after_ns
                                                                        : w.made_ns;
        block_marker_write(c->bytes, made_ns, block_ns, c->size, MESSAGES_OF);
        for (size_t at = 0; at < size; at += event_bytes(events + at, size - at)) {
                put_be(events + at + 2, made_ns, 8);
                const uint64_t type = be16(events + at);
                if (type == EVENT_CENSUS || type == EVENT_CENSUS_END)
                        put_be(events + at + EVENT_HEAD, number, 8);
        }
        return c;
}

void given_refuse(const char *why)
{
        if (!w.chunk)
                return;
        refuse_census(w.id, why);
        chunk_release(w.chunk);
        w.chunk = NULL;
}

void given_fork_child(void)
{
        w.chunk = NULL;
}

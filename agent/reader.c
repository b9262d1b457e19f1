/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/control.h"
#include "agent/runtime.h"

#define REQUEST_TURNS 8 /* reads of one connection; then it is the others' turn */

static void ring_add(struct reader *r, struct chunk *c)
{
        c->holders++;
        r->ring[(r->first + r->count++) % AGENT_READER_CHUNKS] = c;
        r->bytes += c->size;
}

static void ring_drop_first(struct reader *r)
{
        r->bytes -= r->ring[r->first]->size;
        chunk_release(r->ring[r->first]);
        r->first = (r->first + 1) % AGENT_READER_CHUNKS;
        r->count--;
        r->sent = 0;
}

void reader_begin(struct reader *r, size_t limit, struct chunk *definitions)
{
        *r = (struct reader){ .used = true, .socket = { .fd = -1 }, .limit = limit };
        if (definitions)
                ring_add(r, definitions);
        r->definitions = r->bytes;
}

void reader_end(struct reader *r)
{
        while (r->count > 0)
                ring_drop_first(r);
        descriptor_close(&r->socket);
        given_forget(&r->given);
        *r = (struct reader){ .socket = { .fd = -1 } };
}

bool reader_has_room(const struct reader *r, size_t size)
{
        return r->count < AGENT_READER_CHUNKS - 1 && r->bytes + size <= r->limit + r->definitions;
}

bool reader_give(struct reader *r, struct chunk *c, const struct preamble *p)
{
        if (r->lost_blocks > 0 &&
            reader_has_room(r, c->size)) { /* what was left out before this is said in the stream */
                char text[AGENT_MESSAGE_BYTES];
                int n = snprintf(text, sizeof(text),
                                 AGENT_SAYS "left out %llu blocks, %llu bytes: the reader was too slow",
                                 (unsigned long long)r->lost_blocks, (unsigned long long)r->lost_bytes);
                struct chunk *message = preamble_message(p, text, (size_t)n);
                if (message && reader_has_room(r, message->size)) {
                        ring_add(r, message);
                        r->lost_blocks = r->lost_bytes = 0;
                }
                chunk_release(message);
        }
        if (reader_has_room(r, c->size)) {
                ring_add(r, c);
                return true;
        }
        r->lost_blocks++;
        r->lost_bytes += c->size;
        return false;
}

/* What has come in whole lines, and behind one that gives a census, its bytes. False: the connection ends. */
static bool process_lines(struct reader *r)
{
        enum given_line is = GIVEN_OTHER;
        size_t at = 0;
        char *end;

        while (is == GIVEN_OTHER && (end = memchr(r->line + at, '\n', r->line_size - at)) != NULL) {
                *end = '\0';
                is = given_begin(&r->given, r->line + at);
                if (is == GIVEN_OTHER) {
                        r->asks = true;
                        control_post(r->line + at, r->socket.fd);
                }
                at = (size_t)(end + 1 - r->line);
        }
        r->line_size -= at;
        memmove(r->line, r->line + at, r->line_size);
        return is != GIVEN_BAD;
}

static bool process_received(struct reader *r, size_t n)
{
        if (r->given.left > 0) {
                given_add(&r->given, n, runtime_elapsed_ns());
                return true;
        }
        r->line_size += n;
        do {
                if (!process_lines(r))
                        return false;
                if (r->given.left > 0) { /* bytes of a census that came together with its line */
                        n = r->line_size < r->given.left ? r->line_size : r->given.left;
                        memcpy(given_place(&r->given), r->line, n);
                        r->line_size -= n;
                        memmove(r->line, r->line + n, r->line_size);
                        given_add(&r->given, n, runtime_elapsed_ns());
                }
        } while (r->line_size > 0 && r->given.left == 0 && memchr(r->line, '\n', r->line_size));
        return r->line_size < sizeof(r->line) - 1;
}

bool reader_receive_requests(struct reader *r)
{
        for (unsigned turn = 0; turn < REQUEST_TURNS; turn++) {
                const bool gives = r->given.left > 0;
                ssize_t n = recv(r->socket.fd, gives ? (char *)given_place(&r->given) : r->line + r->line_size,
                                 gives ? r->given.left : sizeof(r->line) - 1 - r->line_size, MSG_DONTWAIT);
                if (n < 0)
                        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
                if (n == 0 || !process_received(r, (size_t)n))
                        return false;
        }
        return true;
}

bool reader_send(struct reader *r)
{
        while (r->count > 0) {
                const struct chunk *c = r->ring[r->first];
                ssize_t n = send(r->socket.fd, c->bytes + r->sent, c->size - r->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == EAGAIN || errno == EWOULDBLOCK;
                r->sent += (size_t)n;
                if (r->sent == c->size)
                        ring_drop_first(r);
        }
        return true;
}

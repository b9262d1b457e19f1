/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: behind a header's end ("hdre" "datb") blocks follow each other. Each
 * begins with a marker (event 18) that says how many bytes it has and when it
 * ends:
 *
 *      u16 18 | u64 begin | u32 size, marker included | u64 end | u16 capability
 *
 * so the file can be walked marker by marker. What is not a marker ends the
 * walk, unless it is the log's end mark with another header behind it. Many
 * blocks are small: the file is read in pieces that cost no more than a short
 * read, and often hold the next markers too. It only walks forward, because a
 * compressed log cannot be read otherwise; and not further than a log can become
 * small by compression, because then its blocks are made up.
 */
#include "daemon/source/log_length.h"

#include <stdbool.h>
#include <string.h>

#include "proto/archive/log_file.h"

#define MARKER_BYTES 24u
#define MARKER_ID    18u
#define END_ID       0xffffu
#define HEADER_MOST  131072u /* bytes searched for a header's end */
#define PIECE        4096u
#define HOPS_MOST    10000000u

#define UNPACKED_MOST(packed) ((256u << 20) + 256 * (packed)) /* real logs become 4 to 20 times as small */

static uint64_t number(const uint8_t *p, unsigned bytes)
{
        uint64_t v = 0;

        for (unsigned i = 0; i < bytes; i++)
                v = v << 8 | p[i];
        return v;
}

struct piece {
        struct log_file *file;
        uint64_t from;
        size_t n; /* bytes of it, from `from` on */
        uint8_t bytes[PIECE];
};

/*
 * The bytes at a place of the file, never before the place last asked for: *ret_n of them, PIECE at most, and fewer
 * than `least` only at the end of the file.
 */
static const uint8_t *look(struct piece *p, uint64_t at, size_t least, size_t *ret_n)
{
        if (at - p->from > p->n) {
                (void)log_file_skip(p->file, at - p->from - p->n); /* past its end there is nothing to read */
                p->n = 0;
                p->from = at;
        } else if (p->n - (at - p->from) < least) {
                p->n -= at - p->from;
                memmove(p->bytes, p->bytes + (at - p->from), p->n);
                p->from = at;
        }
        while (p->n - (at - p->from) < least) {
                ssize_t n = log_file_read(p->file, p->bytes + p->n, sizeof(p->bytes) - p->n);
                if (n <= 0)
                        break;
                p->n += (size_t)n;
        }
        *ret_n = p->n - (at - p->from);
        return p->bytes + (at - p->from);
}

/* The place behind the end of a header that begins at `at`; 0 when there is none. */
static uint64_t behind_header(struct piece *p, uint64_t at)
{
        static const uint8_t end[8] = "hdredatb";

        for (uint64_t seen = 0; seen < HEADER_MOST; seen += PIECE - sizeof(end)) {
                size_t n;
                const uint8_t *bytes = look(p, at + seen, PIECE, &n);
                if (n < sizeof(end) || (seen == 0 && memcmp(bytes, "hdrb", 4) != 0))
                        return 0;
                const uint8_t *found = memmem(bytes, n, end, sizeof(end));
                if (found)
                        return at + seen + (uint64_t)(found - bytes) + sizeof(end);
        }
        return 0;
}

uint64_t log_length_ns(struct log_file *file)
{
        struct piece p = { .file = file };
        const uint64_t packed = (uint64_t)log_file_stat(file)->st_size;
        const uint64_t most = log_file_is_packed(file) ? UNPACKED_MOST(packed) : UINT64_MAX;
        uint64_t at = behind_header(&p, 0), longest = 0;

        for (unsigned hops = 0; at && at < most && hops < HOPS_MOST; hops++) {
                size_t n;
                const uint8_t *m = look(&p, at, MARKER_BYTES, &n);
                if (n >= 2 && number(m, 2) == END_ID) {
                        at = behind_header(&p, at + 2);
                        continue;
                }
                if (n < MARKER_BYTES || number(m, 2) != MARKER_ID)
                        break;
                uint64_t begin = number(m + 2, 8), size = number(m + 10, 4), end = number(m + 14, 8);
                if (size < MARKER_BYTES || end < begin)
                        break;
                if (end > longest)
                        longest = end;
                at += size;
        }
        return longest;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: behind a header's end ("hdre" "datb") blocks follow each other. Each
 * begins with a marker (event 18) that says how many bytes it has and when it
 * ends:
 *
 *      u16 18 | u64 begin | u32 size, marker included | u64 end | u16 capability
 *
 * so the file can be walked marker by marker. What is not a marker ends the
 * walk, unless it is the log's end mark with another header behind it.
 */
#include "source/log_length.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MARKER_BYTES 24u
#define MARKER_ID 18u
#define END_ID 0xffffu
#define HEADER_MOST 131072u             /* bytes looked through for a header's end */
#define PIECE 4096u
#define HOPS_MOST 10000000u

static uint64_t number(const uint8_t *p, unsigned bytes)
{
        uint64_t v = 0;

        for (unsigned i = 0; i < bytes; i++)
                v = v << 8 | p[i];
        return v;
}

/* The place behind the end of a header that begins at `at`; 0 when there is none. */
static uint64_t behind_header(int fd, uint64_t at)
{
        static const uint8_t end[8] = "hdredatb";
        uint8_t piece[PIECE];

        for (uint64_t seen = 0; seen < HEADER_MOST; seen += PIECE - sizeof(end)) {
                ssize_t n = pread(fd, piece, sizeof(piece), (off_t)(at + seen));
                if (n < (ssize_t)sizeof(end) || (seen == 0 && memcmp(piece, "hdrb", 4) != 0))
                        return 0;
                const uint8_t *found = memmem(piece, (size_t)n, end, sizeof(end));
                if (found)
                        return at + seen + (uint64_t)(found - piece) + sizeof(end);
        }
        return 0;
}

uint64_t log_length_ns(int fd)
{
        uint64_t at = behind_header(fd, 0), longest = 0;
        uint8_t m[MARKER_BYTES];

        for (unsigned hops = 0; at && hops < HOPS_MOST; hops++) {
                ssize_t n = pread(fd, m, sizeof(m), (off_t)at);
                if (n >= 2 && number(m, 2) == END_ID) {
                        at = behind_header(fd, at + 2);
                        continue;
                }
                if (n < (ssize_t)sizeof(m) || number(m, 2) != MARKER_ID)
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

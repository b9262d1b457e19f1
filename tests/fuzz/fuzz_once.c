/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_once.c - the whole path of a finished log: decoder, model, publisher, in
 * this process and without sockets.
 *
 * Byte 0, bit 0: the rest are events after a header that declares every known
 * kind; else the rest is the whole stream. Bytes 0-3 seed the pieces it comes
 * in. What must hold: every message is one that our own readers accept, its
 * topic's sequence has no gap, and the messages do not depend on the pieces.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/wire.h"
#include "daemon/log.h"
#include "daemon/watch/targets/pipeline.h"
#include "proto/base/error.h"
#include "tests/fuzz/full_header.h"

#define SEED_BYTES    4u
#define MESSAGE_BYTES ((size_t)1 << 22)

struct said {
        uint64_t hash;
        uint64_t sequences[64];
};

static int hear(void *ctx, const Hw__Update *u)
{
        static uint8_t packed[MESSAGE_BYTES];
        struct said *s = ctx;
        const char *reason = NULL;
        size_t size = hw__update__get_packed_size(u);

        if (size > sizeof(packed) || hw__update__pack(u, packed) != size)
                abort();
        Hw__Update *read = hw_update_unpack(packed, size, &reason);
        if (!read)
                abort();
        unsigned kind = (unsigned)hw_update_kind(read);
        if (kind >= 64 || read->sequence <= s->sequences[kind])
                abort();
        s->sequences[kind] = read->sequence;
        hw_update_unref(read);
        for (size_t i = 0; i < size; i++)
                s->hash = (s->hash ^ packed[i]) * UINT64_C(0x9e3779b97f4a7c15) + (s->hash >> 29);
        return 0;
}

/* ----------------------------------------------------------------- a run */

/* Pieces of 1 to `largest` bytes, each lent in a buffer of its own size. */
static void feed(struct pipeline *p, const uint8_t *data, size_t size, uint32_t seed, size_t largest)
{
        while (size > 0) {
                seed = seed * 1664525u + 1013904223u;
                size_t piece = 1 + (seed >> 8) % largest;
                if (piece > size)
                        piece = size;
                uint8_t *copy = malloc(piece);
                if (!copy)
                        abort();
                memcpy(copy, data, piece);
                (void)pipeline_bytes(p, copy, piece);
                free(copy);
                data += piece;
                size -= piece;
        }
}

static uint64_t tell(const uint8_t *data, size_t size, bool with_header, uint32_t seed, size_t largest)
{
        static const struct source_uri uri = { .kind = SOURCE_FILE, .text = "file:fuzz", .path_at = 5 };
        struct said said = { .hash = 1 };
        struct pipeline_options options = {
                .name = "fuzz",
                .uri = &uri,
                .epoch = 1,
                .sink = { .ctx = &said, .send = hear },
                .show_arguments = true,
        };
        struct error error;
        struct pipeline *p = pipeline_new(&options, &error);

        if (!p)
                abort();
        if (with_header)
                feed(p, full_header()->bytes, full_header()->n, seed, largest);
        feed(p, data, size, seed, largest);
        (void)pipeline_finish(p, NULL, false);
        pipeline_destroy(&p);
        return said.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < SEED_BYTES)
                return 0;
        log_set_level(LOG_ERROR);
        uint32_t seed = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
        size_t largest = 1 + (size_t)(data[1] * data[1]);
        bool with_header = data[0] & 1;
        uint64_t whole = tell(data + SEED_BYTES, size - SEED_BYTES, with_header, 0, SIZE_MAX >> 1);
        if (whole != tell(data + SEED_BYTES, size - SEED_BYTES, with_header, seed, largest))
                abort();
        return 0;
}

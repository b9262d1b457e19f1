/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/sender.h"

#include <snappy-c.h>
#include <stdint.h>
#include <stdlib.h>

#include "client/out/export/batcher.h"
#include "client/out/export/limits.h"
#include "client/out/export/remote_write.pb-c.h"
#include "proto/base/arena.h"

void *remote_write_seal(const ProtobufCMessage *message, size_t *ret_size)
{
        size_t size = protobuf_c_message_get_packed_size(message);
        size_t room = snappy_max_compressed_length(size);
        uint8_t *packed = malloc(size ? size : 1);
        char *block = malloc(room);

        if (packed && block) {
                (void)protobuf_c_message_pack(message, packed);
                if (snappy_compress((const char *)packed, size, block, &room) == SNAPPY_OK) {
                        free(packed);
                        *ret_size = room;
                        return block;
                }
        }
        free(packed);
        free(block);
        return NULL;
}

/* The message in a batch; malloc'ed, NULL: not a block, too large, or out of memory. */
static uint8_t *unseal(const struct batch *b, size_t *ret_size)
{
        size_t size = 0;

        if (snappy_uncompressed_length(b->bytes, b->size, &size) != SNAPPY_OK || size > BATCHER_BYTES_MAX)
                return NULL;
        char *bytes = malloc(size ? size : 1);
        if (bytes && snappy_uncompress(b->bytes, b->size, bytes, &size) == SNAPPY_OK) {
                *ret_size = size;
                return (uint8_t *)bytes;
        }
        free(bytes);
        return NULL;
}

/* --------------------------------------------------------------------- to 1.0 */

/* The text, or NULL: there is no such one. */
static char *symbol(const HwRw__Request *from, uint32_t ref)
{
        return ref < from->n_symbols ? from->symbols[ref] : NULL;
}

static HwRw__TimeSeries *to_series(struct arena *a, const HwRw__Request *from, const HwRw__Series *s)
{
        HwRw__TimeSeries *t = arena_alloc(a, sizeof(*t));
        size_t n = s->n_labels_refs / 2;
        HwRw__Label *labels = arena_calloc(a, n, sizeof(*labels));

        if (!t || !labels)
                return NULL;
        hw_rw__time_series__init(t);
        t->labels = arena_calloc(a, n, sizeof(HwRw__Label *));
        if (!t->labels)
                return NULL;
        for (; t->n_labels < n; t->n_labels++) {
                HwRw__Label *label = &labels[t->n_labels];

                hw_rw__label__init(label);
                label->name = symbol(from, s->labels_refs[t->n_labels * 2]);
                label->value = symbol(from, s->labels_refs[t->n_labels * 2 + 1]);
                if (!label->name || !label->value)
                        return NULL;
                t->labels[t->n_labels] = label;
        }
        t->samples = s->samples;
        t->n_samples = s->n_samples;
        return t;
}

static void *seal_as_1(const HwRw__Request *from, size_t *ret_size)
{
        HwRw__WriteRequest to = HW_RW__WRITE_REQUEST__INIT;
        struct arena a;
        void *sealed = NULL;

        arena_init(&a, BATCHER_BYTES_MAX);
        to.timeseries = arena_calloc(&a, from->n_timeseries + 1, sizeof(HwRw__TimeSeries *));
        bool whole = to.timeseries != NULL;
        for (size_t i = 0; whole && i < from->n_timeseries; i++) {
                if (!from->timeseries[i]->n_samples)
                        continue;
                to.timeseries[to.n_timeseries] = to_series(&a, from, from->timeseries[i]);
                whole = to.timeseries[to.n_timeseries++] != NULL;
        }
        if (whole)
                sealed = remote_write_seal(&to.base, ret_size);
        arena_done(&a);
        return sealed;
}

/* --------------------------------------------------------------------- in 2.0 */

static void *seal_without_native(HwRw__Request *from, size_t *ret_size)
{
        HwRw__Request to = HW_RW__REQUEST__INIT;
        void *sealed = NULL;

        to.symbols = from->symbols;
        to.n_symbols = from->n_symbols;
        to.timeseries = calloc(from->n_timeseries + 1, sizeof(HwRw__Series *));
        if (to.timeseries) {
                for (size_t i = 0; i < from->n_timeseries; i++)
                        if (from->timeseries[i]->n_samples)
                                to.timeseries[to.n_timeseries++] = from->timeseries[i];
                sealed = remote_write_seal(&to.base, ret_size);
        }
        free(to.timeseries);
        return sealed;
}

void *remote_write_recode(const struct batch *batch, enum remote_write_form form, size_t *ret_size)
{
        size_t size = 0;
        uint8_t *bytes = unseal(batch, &size);
        HwRw__Request *from = bytes ? hw_rw__request__unpack(NULL, size, bytes) : NULL;
        void *sealed = NULL;

        free(bytes);
        if (from)
                sealed = form == REMOTE_WRITE_1 ? seal_as_1(from, ret_size) : seal_without_native(from, ret_size);
        if (from)
                hw_rw__request__free_unpacked(from, NULL);
        return sealed;
}

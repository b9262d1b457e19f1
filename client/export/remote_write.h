/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_write.h - the forms of a Prometheus remote write, and a batch in another of them.
 *
 * Batches are made and queued in the richest form: a receiver may take it when the batch is sent at last. A batch of
 * 1.0, which a journal of heapwatch 1.x may have, stays as it is.
 */
#ifndef HW_CLIENT_EXPORT_REMOTE_WRITE_H
#define HW_CLIENT_EXPORT_REMOTE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

struct batch;
struct ProtobufCMessage;

enum remote_write_form {
        REMOTE_WRITE_NATIVE, /* 2.0; pauses also as native histograms */
        REMOTE_WRITE_2,      /* 2.0 without them */
        REMOTE_WRITE_1,      /* 1.0: no types, no native histograms */
};

/* A message as a snappy block; malloc'ed, NULL when out of memory. */
void *remote_write_seal(const struct ProtobufCMessage *message, size_t *ret_size);

/* Whether the bytes of a batch are of 1.0. */
bool remote_write_is_1(const struct batch *batch);

/* A batch of 2.0 in one of the lesser forms; malloc'ed, NULL when it cannot be decoded or memory is out. */
void *remote_write_recode(const struct batch *batch, enum remote_write_form form, size_t *ret_size);

#endif

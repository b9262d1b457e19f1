/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encode.h - the model's state as messages of the wire.
 *
 * Everything is made in the encoder's arena or borrowed from the model, and is
 * valid until encoder_reset or the model's next change, whichever comes first.
 * What is not known is absent. Text is made valid UTF-8 of at most
 * LIMIT_PUBLISHED_TEXT_BYTES: one program's labels must not crowd out the
 * others'. A cut text ends with "... (65524 bytes, 1f00ba7e55aa90c3)".
 *
 * Functions that return a pointer return NULL when out of memory; encoder->failed is then true, also when only rows
 * or a text inside are missing, and send_update() sends nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/publish/limits.h"
#include "daemon/judge/trend/tracker.h"
#include "proto/base/arena.h"
#include "heapwatch/wire.h"
#include "daemon/model/model.h"
#include "daemon/publish/publisher.h"

struct encoder {
        struct arena arena;
        bool failed; /* since the last reset */
};

void encoder_init(struct encoder *e);
void encoder_done(struct encoder *e);

/*
 * The encoder of all publishers: messages are made on one thread, one at a time, so they need the memory of one. It is
 * freed when as many have given it back.
 */
struct encoder *encoder_share(void);
void encoder_unshare(void);

/* Frees everything made. Memory above LIMIT_ENCODER_KEEP_BYTES goes back to the system. */
void encoder_reset(struct encoder *e);

/* n zeroed objects. */
void *encoder_calloc(struct encoder *e, size_t n, size_t size);

/* An empty message of a type, allocated likewise. */
void *encoder_message(struct encoder *e, const ProtobufCMessageDescriptor *type);

/* Makes n empty messages of a type the rows of a repeated field; none when out of memory. */
#define PUT_ROWS(encoder, message, field, type, n)                                                                     \
        ((message)->field = encoder_rows(encoder, type, n), (message)->n_##field = (message)->field ? (n) : 0)
void *encoder_rows(struct encoder *e, const ProtobufCMessageDescriptor *type, size_t n);

/* Valid UTF-8 of a C string: the string itself when it is valid already. NULL gives NULL. */
char *encoder_text(struct encoder *e, const char *text);

/* The same for a text of known size that a NUL follows; a NUL inside becomes U+FFFD. */
char *encoder_sized_text(struct encoder *e, const char *text, size_t size);

/* The same, always a copy. */
char *encoder_copy(struct encoder *e, const char *text);

/* The same for raw bytes, always a copy; a NUL among them becomes U+FFFD. */
char *encoder_bytes(struct encoder *e, const char *bytes, size_t size);

/* Sets an optional field. */
#define PUT(message, field, value) ((message)->field = (value), (void)((message)->has_##field = 1))

/* Sets an optional field from a u64 that may be unknown (PUT_U32: or too large for the field, thus wrong). */
#define PUT_U64(message, field, value)                                                                                 \
        do {                                                                                                           \
                if ((value) != UNKNOWN_U64)                                                                            \
                        PUT(message, field, value);                                                                    \
        } while (0)
#define PUT_U32(message, field, value)                                                                                 \
        do {                                                                                                           \
                if ((value) <= UINT32_MAX)                                                                             \
                        PUT(message, field, (uint32_t)(value));                                                        \
        } while (0)

/* Sets an optional field from a double that is negative or NaN when not known. */
#define PUT_DOUBLE(message, field, value)                                                                              \
        do {                                                                                                           \
                if ((value) >= 0)                                                                                      \
                        PUT(message, field, value);                                                                    \
        } while (0)

Hw__Run *encode_run(struct encoder *e, const struct run *run, bool show_arguments, bool local);
Hw__Heap *encode_heap(struct encoder *e, const struct run *run, const struct heap *heap);
Hw__Gc *encode_gc(struct encoder *e, const struct gc *gc);
void put_collection(Hw__Collection *out, const struct collection *collection);
Hw__Census *encode_census(struct encoder *e, const struct census *census);
void put_cost_centre(struct encoder *e, Hw__CostCentre *out, const struct bands *bands, uint32_t id);
/* `snapshot`: with what the censuses told that a late joiner missed. */
Hw__Band *encode_band(struct encoder *e, const struct bands *bands, const struct band *band, bool snapshot);
Hw__Note *encode_note(struct encoder *e, const struct note *note);
Hw__Stack *encode_stack(struct encoder *e, const struct bands *bands, const struct profile_stack *stack);
Hw__TickyCounter *encode_ticky(struct encoder *e, const struct ticky_counter *counter);
Hw__Sched *encode_sched(struct encoder *e, const struct sched *sched);

/* encode_trend.c: the tracker's answers as messages of the wire; as in encode.h, NULL when out of memory. */

/*
 * With statistics of its windows, up to the newest event. The verdict on live data is that of `growth`, and its word is
 * by what rises, of the same moment. `growth` NULL: without a verdict.
 */
Hw__Trend *encode_trend(struct encoder *e, const struct tracker *t, struct subject subject, const struct growth *growth,
                        const struct rising_subjects *rising);
Hw__Growth *encode_no_growth(struct encoder *e, const char *key, const char *why);
Hw__Growth *encode_growth(struct encoder *e, const struct bands *bands, const struct growth *growth);
Hw__ThreadRise *encode_threads(struct encoder *e, const struct bands *bands, const struct thread_rise *r);
Hw__EarlyWarning *encode_early(struct encoder *e, const struct tracker *t, const struct bands *bands,
                               const struct tracked_early *r);
Hw__TimeToLimit *encode_time_to_limit(struct encoder *e, const struct limit_time *limit);
Hw__TrendScale *encode_scale(struct encoder *e, const struct tracker_config *config);

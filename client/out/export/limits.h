/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - how much an exporter sends at once, keeps and waits. */
#pragma once

#define EXPORT_SINKS_MAX     32
#define EXPORT_LABELS_MAX    16
#define SERIES_STORED_MAX    (1u << 18)           /* of one sink: those whose ends are sent */
#define BATCH_SAMPLES_MAX    4000                 /* further samples go into another batch */
#define OTLP_BYTES_MAX       ((size_t)768 << 10)  /* the same: about so many as JSON; web servers take 1 MiB */
#define BATCHER_BYTES_MAX    ((size_t)16 << 20)   /* memory of a batch while it is made */
#define QUEUE_BYTES_DEFAULT  ((uint64_t)16 << 20) /* of one sink; beyond that the oldest batch is lost */
#define QUEUE_BYTES_MOST     ((uint64_t)1 << 30)
#define QUEUE_TIME_DEFAULT   UINT64_C(3600000000000) /* older batches are lost */
#define RETRY_FIRST_MS       1000u                   /* doubles with each failure, up to */
#define RETRY_MOST_MS        60000u
#define RETRY_AFTER_MOST_MS  300000u               /* the most that a receiver can request */
#define SEND_TIMEOUT_DEFAULT UINT64_C(10000000000) /* ns, of one attempt */

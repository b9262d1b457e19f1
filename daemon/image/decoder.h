/* SPDX-License-Identifier: BSD-3-Clause */
/* decoder.h - the image of a decoder that has been given all of its input: it goes on inside the stream. Pure. */
#ifndef HW_DAEMON_IMAGE_DECODER_H
#define HW_DAEMON_IMAGE_DECODER_H

#include "daemon/image/image.h"
#include "heapwatch/eventlog.h"

void image_decoder(struct image *im, struct hw_eventlog *log);

/* Bytes are missing, nobody knows how many, between what it was given and what it will be: it looks for events. */
void decoder_gap(struct hw_eventlog *log);

#endif

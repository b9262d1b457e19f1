/* SPDX-License-Identifier: BSD-3-Clause */
/* decoder.h - the image of a decoder that has consumed all of its input, to go on inside the stream. Pure. */
#ifndef HW_DAEMON_IMAGE_DECODER_H
#define HW_DAEMON_IMAGE_DECODER_H

#include "daemon/image/image.h"
#include "heapwatch/eventlog.h"

void image_decoder(struct image *im, struct hw_eventlog *log);

/* An unknown number of bytes is missing before the next input: the decoder resyncs. */
void decoder_gap(struct hw_eventlog *log);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model_image.h - the image of a model, see daemon/image/image.h.
 *
 * Reading needs a new model, which must be destroyed after an error. Its sink
 * stays; nothing restored is passed to it.
 */
#ifndef HW_DAEMON_MODEL_MODEL_IMAGE_H
#define HW_DAEMON_MODEL_MODEL_IMAGE_H

#include "daemon/image/image.h"
#include "daemon/model/model.h"

/* `arguments`, when writing: include the program's; else only its name and the RTS options. */
void model_image(struct image *im, struct model *m, bool arguments);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model_image.h - the image of a model, see daemon/image/image.h.
 *
 * Reading, the model must be a new one, and is to be destroyed when there was trouble. Its sink stays and hears of
 * nothing that was before.
 */
#ifndef HW_DAEMON_MODEL_MODEL_IMAGE_H
#define HW_DAEMON_MODEL_MODEL_IMAGE_H

#include "daemon/image/image.h"
#include "daemon/model/model.h"

/* `arguments`: writing, whether the program's are in it; else only its name and the RTS options. */
void model_image(struct image *im, struct model *m, bool arguments);

#endif

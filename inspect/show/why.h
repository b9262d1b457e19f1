/* SPDX-License-Identifier: BSD-3-Clause */
/* why.h - `heapwatch why`: what keeps the closures of a band alive, as paths of types to the roots. */
#ifndef HW_INSPECT_SHOW_WHY_H
#define HW_INSPECT_SHOW_WHY_H

#include "inspect/show/request.h"

/* Of the band that the request names, or of the largest. False with a sentence. */
bool show_why(const struct graph_subject *s, struct error *error);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* update_wish.h - which updates of a finished log a command reads, for those that make them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/wire.h"

/* What of a finished log is read: nothing else is made. All 0: everything, as a daemon sends it. */
struct update_wish {
        uint32_t kinds;  /* WISH() of each; 0: all */
        bool no_samples; /* none of single samples and collections, though their kinds are read for the rest */
        bool last_notes; /* of notes those that are kept when a run ends, not all */
        bool ends_alone; /* state is read as it is when a run ends, not in between */
        bool unjudged;   /* neither growth nor rules, which are most of the work: of all kinds what needs none */
};

#define WISH(kind) (UINT32_C(1) << HW__KIND__KIND_##kind)

static inline bool update_wish_has(const struct update_wish *w, uint32_t any_of)
{
        return !w->kinds || (w->kinds & any_of);
}

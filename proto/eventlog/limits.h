/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what the decoder accepts in a log; beyond it: LIMIT, resynchronise. */
#pragma once

#define LIMIT_HEADER_TEXT_BYTES 65536u      /* one description or extension in the header: LIMIT, resynchronise */
#define LIMIT_HEADER_TYPES      65536u      /* event types in one header: LIMIT, resynchronise */
#define LIMIT_BLOCK_BYTES       (64u << 20) /* one block (the RTS uses 2 MiB): LIMIT, resynchronise */
#define LIMIT_CAPS              4096u       /* capabilities: a block marker that names a higher one is damage */
#define JOIN_BLOCK_BYTES        (2u << 20)  /* one block of a run that is joined late, as the RTS writes them */
#define JOIN_DOUBT_BYTES        (6u << 20)  /* without such a block: reported, it may not be an eventlog */
#define JOIN_FREE_STEPS         (1u << 18)  /* events tried in vain: so many, and ... */
#define JOIN_STEPS_A_BYTE       32u         /* ... for each byte passed; beyond, only headers count */

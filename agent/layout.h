/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - places in the runtime's own structures that no symbol names.
 *
 * None is guessed. RtsConfig is understood when the addresses of the known
 * default hooks are found in it in the known order; RtsFlags when its size is
 * that of a measured release, or its default values are found exactly once;
 * event buffers when the first one has the values it must have. Otherwise the
 * agent does less. Pure: memory in, offsets out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/symbols.h"

#define RTS_CONFIG_WORDS 14 /* 112 bytes from 9.0 to 9.10 */

/* The runtime passes it by value: a struct of this size has the same calling convention. */
struct rts_config {
        void *word[RTS_CONFIG_WORDS];
};

/* Words of struct rts_config. */
enum rts_config_word {
        CONFIG_OPTIONS_ENABLED = 0, /* a 32-bit enumeration */
        CONFIG_OPTIONS = 2,         /* -with-rtsopts */
        CONFIG_WRITER = 5,
        CONFIG_DEFAULTS_HOOK = 6,
        CONFIG_ON_EXIT_HOOK = 7,
        CONFIG_MALLOC_FAIL_HOOK = 10,
        CONFIG_GC_DONE_HOOK = 11,
};

#define RTS_OPTIONS_IGNORE_ALL 2u
#define RTS_OPTIONS_SAFE_ONLY  3u

/* Whether the runtime's defaultRtsConfig has the layout above. */
bool layout_config_known(const struct rts_symbols *symbols);

/* Of which the size of RtsFlags was measured: the table in layout.c has a row for each. */
#define LAYOUT_RELEASES "9.0.2, 9.6.6, 9.10.3"

/* Byte offsets in RtsFlags. */
struct flags_layout {
        size_t heap_profile; /* u32: 0 none, 8 closure type, 9 info table */
        size_t interval;     /* i64 ns */
        size_t ticks;        /* u32: the interval in ticks of the runtime's timer; 0: it asks for no census */
};

/* `flags`: `size` bytes as they are now. `defaults`: nobody has set a flag yet, so that the values may be searched. */
bool layout_flags(const uint8_t *flags, size_t size, bool defaults, struct flags_layout *ret);

/* What the runtime's collector was set to. */
struct gc_flags {
        uint32_t generations;
        uint64_t max_heap_bytes;   /* -M; 0: unlimited */
        uint64_t alloc_area_bytes; /* -A */
};

/* Reads `flags` of `size` bytes once all options are parsed; false: the release is not known, or a value cannot be. */
bool layout_gc_flags(const uint8_t *flags, size_t size, struct gc_flags *ret);

#define RTS_BLOCK_BYTES     4096u
#define RTS_MEGABLOCK_BYTES (1u << 20)

/* An event buffer of the runtime (rts/eventlog/EventLog.c). */
struct event_buffer {
        uint8_t *begin, *position, *marker; /* marker: of the block that is open */
        uint64_t size;
        uint16_t capability;
};

#define EVENT_BUFFER_BYTES (2u << 20)

/* Whether that is what capEventBuf points to. */
bool layout_buffers_known(const struct event_buffer *first);

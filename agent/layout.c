/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/layout.h"
#include "proto/base/array.h"

#include <string.h>

bool layout_config_known(const struct rts_symbols *symbols)
{
        struct rts_config config;
        uint32_t enabled;
        bool hooks_named = symbols->FlagDefaultsHook.address && symbols->OnExitHook.address;

        if (!symbols->defaultRtsConfig.address || symbols->defaultRtsConfig.size != sizeof(config))
                return false;
        memcpy(&config, symbols->defaultRtsConfig.address, sizeof(config));
        memcpy(&enabled, config.word, sizeof(enabled));
        if (enabled != RTS_OPTIONS_SAFE_ONLY || config.word[CONFIG_OPTIONS] || config.word[CONFIG_GC_DONE_HOOK])
                return false;
        if (config.word[CONFIG_WRITER] && config.word[CONFIG_WRITER] != symbols->FileEventLogWriter.address)
                return false;
        if (!hooks_named) /* a shared runtime hides them: then the writer must be in its place */
                return config.word[CONFIG_WRITER] && config.word[CONFIG_DEFAULTS_HOOK] &&
                       config.word[CONFIG_ON_EXIT_HOOK];
        return config.word[CONFIG_DEFAULTS_HOOK] == symbols->FlagDefaultsHook.address &&
               config.word[CONFIG_ON_EXIT_HOOK] == symbols->OnExitHook.address &&
               (!symbols->MallocFailHook.address ||
                config.word[CONFIG_MALLOC_FAIL_HOOK] == symbols->MallocFailHook.address);
}

/* ---------------------------------------------------------------- RtsFlags */

/* The struct's size identifies the release; measured on Debian's amd64 packages. */
static const struct {
        size_t size, heap_profile;
} measured[] = {
        { 440, 272 }, /* 9.0.2 */
        { 472, 280 }, /* 9.6.6 */
        { 496, 288 }, /* 9.10.3 */
};

#define DEFAULT_INTERVAL_NS 100000000
#define DEFAULT_TICKS       10
#define LONGEST_INTERVAL_NS (86400 * INT64_C(1000000000))

static uint32_t u32_at(const uint8_t *at)
{
        uint32_t v;

        memcpy(&v, at, sizeof(v));
        return v;
}

static int64_t i64_at(const uint8_t *at)
{
        int64_t v;

        memcpy(&v, at, sizeof(v));
        return v;
}

/* u32 profile; i64 interval; u32 ticks */
static bool plausible(const uint8_t *at)
{
        int64_t interval = i64_at(at + 8);

        return u32_at(at) <= 16 && interval >= 0 && interval <= LONGEST_INTERVAL_NS && u32_at(at + 16) <= 100000000;
}

static bool search(const uint8_t *flags, size_t size, size_t *ret)
{
        unsigned hits = 0;

        for (size_t at = 0; at + 24 <= size; at += 8)
                if (u32_at(flags + at) == 0 && i64_at(flags + at + 8) == DEFAULT_INTERVAL_NS &&
                    u32_at(flags + at + 16) == DEFAULT_TICKS) {
                        *ret = at;
                        hits++;
                }
        return hits == 1;
}

bool layout_flags(const uint8_t *flags, size_t size, bool defaults, struct flags_layout *ret)
{
        size_t at = 0;
        bool known = false;

        if (!flags || size < 256 || size > 1024)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(measured); i++)
                if (measured[i].size == size) {
                        at = measured[i].heap_profile;
                        known = plausible(flags + at);
                }
        if (!known && !(defaults && search(flags, size, &at)))
                return false;
        *ret = (struct flags_layout){ .heap_profile = at, .interval = at + 8, .ticks = at + 16 };
        return true;
}

/* Offsets in RtsFlags of 9.0.2; RtsFlags begins with the flags of the collector. */
#define GC_FLAGS_SIZE     440
#define MAX_HEAP_BLOCKS   28
#define ALLOC_AREA_BLOCKS 32
#define GENERATIONS       76
#define GENERATIONS_MAX   100u

bool layout_gc_flags(const uint8_t *flags, size_t size, struct gc_flags *ret)
{
        if (!flags || size != GC_FLAGS_SIZE)
                return false;
        *ret = (struct gc_flags){
                .generations = u32_at(flags + GENERATIONS),
                .max_heap_bytes = (uint64_t)u32_at(flags + MAX_HEAP_BLOCKS) * RTS_BLOCK_BYTES,
                .alloc_area_bytes = (uint64_t)u32_at(flags + ALLOC_AREA_BLOCKS) * RTS_BLOCK_BYTES,
        };
        return ret->generations > 0 && ret->generations <= GENERATIONS_MAX && ret->alloc_area_bytes > 0;
}

bool layout_buffers_known(const struct event_buffer *first)
{
        return first && first->size == EVENT_BUFFER_BYTES && first->capability == 0 && first->begin &&
               first->position >= first->begin && first->position <= first->begin + first->size;
}

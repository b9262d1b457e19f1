/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: budgets of the parts (bands, subscribers' queues, messages) are in the limits.h of their rooms and bound each
 * of them alone; this bounds their sum, by the number that the OOM killer goes by.
 *
 * glibc keeps what is freed below the newest block that is in use. malloc_trim() gives back whole free pages wherever
 * they are. Its walk is over those free blocks that are larger than a page: 1.3 ms of 52,000 free ones, which 1,000
 * targets have after ten minutes, and 0.2 to 0.35 ms for each MiB that it gives back. mallinfo2() could tell whether
 * that is worth it, but it visits each free block: 100 ms there.
 *
 * Blocks of MMAP_BYTES and more are mapped one by one. glibc would raise that threshold to the size of the largest one
 * ever freed: after the first target was removed, the decoder of each new one (0.9 MB, of which 10 kB are ever used)
 * would come from the heap and be cleared, 0.9 MB resident.
 */
#include "daemon/source/loop/memory.h"

#include <malloc.h>
#include <stdio.h>

#include "daemon/log.h"
#include "heapwatch/text.h"
#include "proto/base/clock.h"
#include "proto/base/process.h"

static struct {
        uint64_t budget, resident;
        uint64_t trim_ns;      /* when freed memory is given back next */
        uint64_t unseen_bytes; /* read since the last look */
        size_t targets;
        enum memory_state state;
        char words[256];
} m = { .budget = UNKNOWN_U64, .targets = 1 };

#define MMAP_BYTES (128 << 10) /* glibc's first */
#define GROWS      64u         /* an estimate from above: bytes of memory that a byte of a log takes */
#define TRIM_PART  100u        /* giving back takes at most this part of the time */

void memory_begin(void)
{
        (void)mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
}

void memory_set_budget(uint64_t bytes)
{
        m.budget = bytes;
        m.state = MEMORY_PLENTY;
}

uint64_t memory_budget(void)
{
        return m.budget;
}

enum memory_state memory_now(void)
{
        return m.state;
}

bool memory_is_due(size_t read_bytes)
{
        const uint64_t tight = m.budget / 100 * MEMORY_TIGHT_PCT;

        if (m.budget == UNKNOWN_U64 || m.state == MEMORY_FULL)
                return false;
        m.unseen_bytes += read_bytes;
        return m.resident > tight || m.unseen_bytes > (tight - m.resident) / GROWS;
}

void memory_set_targets(size_t n)
{
        m.targets = n > 0 ? n : 1;
}

bool memory_closes(size_t bytes)
{
        return m.state == MEMORY_FULL ||
               (m.state == MEMORY_TIGHT && bytes > m.budget / 100 * MEMORY_TIGHT_PCT / 2 / m.targets);
}

const char *memory_words(void)
{
        return m.state == MEMORY_PLENTY ? NULL : m.words;
}

/* Above a threshold; with hysteresis. */
static int is_above(unsigned pct, enum memory_state state)
{
        return m.resident / 100 >= m.budget / 10000 * (m.state >= state ? pct - MEMORY_BACK_PCT : pct);
}

void memory_update_usage(uint64_t resident_bytes, uint64_t mono_ns)
{
        const enum memory_state before = m.state;

        m.resident = resident_bytes;
        m.unseen_bytes = 0;
        if (mono_ns >= m.trim_ns) {
                const uint64_t began_ns = clock_mono_ns();
                (void)malloc_trim(0);
                const uint64_t pause_ns = (clock_mono_ns() - began_ns) * TRIM_PART;
                m.trim_ns = mono_ns + (pause_ns > MEMORY_TRIM_NS ? pause_ns : MEMORY_TRIM_NS);
        }
        if (m.budget == UNKNOWN_U64 || resident_bytes == 0)
                return;
        m.state = is_above(MEMORY_FULL_PCT, MEMORY_FULL)     ? MEMORY_FULL
                  : is_above(MEMORY_TIGHT_PCT, MEMORY_TIGHT) ? MEMORY_TIGHT
                                                             : MEMORY_PLENTY;
        char resident[HW_NUMBER_MAX], budget[HW_NUMBER_MAX];

        (void)hw_bytes_text(resident, sizeof(resident), (double)m.resident);
        (void)hw_bytes_text(budget, sizeof(budget), (double)m.budget);
        (void)snprintf(m.words, sizeof(m.words),
                       "%s of its %s of memory is in use: %s; give it more (--memory, MemoryMax=) or remove targets",
                       resident, budget,
                       m.state == MEMORY_FULL ? "no new bands are followed, and no target is added"
                                              : "targets that hold more than their share get no new bands");
        if (m.state == before)
                return;
        if (m.state == MEMORY_PLENTY)
                log_info("memory=%s budget=%s there is room again", resident, budget);
        else
                log_warning("memory=%s budget=%s %s", resident, budget, m.words);
}

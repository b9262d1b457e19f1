/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: budgets of the parts (bands, subscribers' queues, messages) are in the limits.h of their rooms and bound each
 * of them alone; this bounds their sum, by the number that the OOM killer goes by.
 *
 * glibc keeps what is freed below the newest block that is in use. malloc_trim() gives back whole free pages wherever
 * they are: a walk over the free blocks, 2 ms for 6,500 of them, and 0.2 to 0.35 ms for each MiB that it gives back.
 * A thousand targets that grow for ten minutes leave 1 MiB free in 12,000 blocks: nothing to give back.
 *
 * Blocks of MMAP_BYTES and more are mapped one by one. glibc would raise that threshold to the size of the largest one
 * ever freed: after the first target was removed, the decoder of each new one (0.9 MB, of which 10 kB are ever used)
 * would come from the heap and be cleared, 0.9 MB resident.
 */
#include "daemon/loop/memory.h"

#include <malloc.h>
#include <stdio.h>

#include "daemon/log.h"
#include "heapwatch/text.h"
#include "proto/base/process.h"

static struct {
        uint64_t budget, resident, trimmed_ns;
        uint64_t unseen_bytes; /* read since the last look */
        size_t targets;
        size_t free_bytes; /* of the heap, after the last trim or when there was less */
        enum memory_state state;
        char words[192];
} m = { .budget = UNKNOWN_U64, .targets = 1 };

#define MMAP_BYTES (128 << 10) /* glibc's first */
#define GROWS      64u         /* an estimate from above: bytes of memory that a byte of a log takes */

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

static void give_back(uint64_t mono_ns)
{
        if (mono_ns - m.trimmed_ns < MEMORY_TRIM_NS)
                return;
        m.trimmed_ns = mono_ns;
        const struct mallinfo2 heap = mallinfo2(); /* what was given back stays free in its numbers */
        const size_t least = heap.arena / 64 > MEMORY_TRIM_BYTES ? heap.arena / 64 : MEMORY_TRIM_BYTES;
        if (heap.fordblks < m.free_bytes)
                m.free_bytes = heap.fordblks;
        if (heap.fordblks - m.free_bytes < least)
                return;
        (void)malloc_trim(0);
        m.free_bytes = heap.fordblks;
}

/* Above a threshold; with hysteresis. */
static int is_above(unsigned pct, enum memory_state state)
{
        return m.resident / 100 >= m.budget / 10000 * (m.state >= state ? pct - MEMORY_BACK_PCT : pct);
}

static void say(enum memory_state before)
{
        char resident[HW_NUMBER_MAX], budget[HW_NUMBER_MAX];

        (void)hw_bytes_text(resident, sizeof(resident), (double)m.resident);
        (void)hw_bytes_text(budget, sizeof(budget), (double)m.budget);
        (void)snprintf(m.words, sizeof(m.words), "%s of its %s of memory are in use: %s", resident, budget,
                       m.state == MEMORY_FULL ? "no new bands are followed, and no target is added"
                                              : "targets that hold more than their share get no new bands");
        if (m.state == before)
                return;
        if (m.state == MEMORY_PLENTY)
                log_info("memory=%s budget=%s there is room again", resident, budget);
        else
                log_warning("memory=%s budget=%s %s", resident, budget, m.words);
}

void memory_look(uint64_t resident_bytes, uint64_t mono_ns)
{
        const enum memory_state before = m.state;

        m.resident = resident_bytes;
        m.unseen_bytes = 0;
        give_back(mono_ns);
        if (m.budget == UNKNOWN_U64 || resident_bytes == 0)
                return;
        m.state = is_above(MEMORY_FULL_PCT, MEMORY_FULL)     ? MEMORY_FULL
                  : is_above(MEMORY_TIGHT_PCT, MEMORY_TIGHT) ? MEMORY_TIGHT
                                                             : MEMORY_PLENTY;
        say(before);
}

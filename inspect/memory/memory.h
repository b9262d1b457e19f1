/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h - bytes at addresses, whoever has them: a process, a core file, a file (its addresses are offsets), a test.
 *
 * What is read may be anything: addresses come from the bytes themselves. A read is whole or fails.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MEMORY_PAGE_BYTES 16384u
#define MEMORY_PAGES      4096u /* kept at most: 64 MiB */

struct memory_page {
        uint64_t number; /* of the page, plus 1; 0: free */
        uint32_t valid;  /* a bit for each quarter that could be read */
        uint8_t *bytes;
};

struct memory {
        bool (*read)(void *ctx, uint64_t at, void *to, size_t n);
        bool (*find_touched)(void *ctx, uint64_t *start, uint64_t *end); /* NULL: all may be */
        void *ctx;                                                       /* borrowed */
        struct memory_page *pages; /* made by the first read that may be answered from what was read before */
};

/* As it is now. */
bool memory_read(const struct memory *m, uint64_t at, void *to, size_t n);

/*
 * Of a range that is of no file, the next part that the program may have written to: what is before it, up to *end, is
 * zero. False: all is.
 */
bool memory_find_touched(const struct memory *m, uint64_t *start, uint64_t *end);

/* As it was when its page was first read, for what does not change; see memory_forget(). */
bool memory_read_kept(struct memory *m, uint64_t at, void *to, size_t n);

/* 0 when it cannot be read. */
uint64_t memory_u64(const struct memory *m, uint64_t at);
uint32_t memory_u32(const struct memory *m, uint64_t at);

/* Of bytes that were read. */
static inline uint64_t u64_at(const uint8_t *bytes, size_t at)
{
        uint64_t value;

        memcpy(&value, bytes + at, sizeof(value));
        return value;
}

static inline uint32_t u32_at(const uint8_t *bytes, size_t at)
{
        uint32_t value;

        memcpy(&value, bytes + at, sizeof(value));
        return value;
}

/* A text of printable characters, NUL included within `size`. False: longer, or something else. */
bool memory_text_kept(struct memory *m, uint64_t at, char *ret, size_t size);

/* Pages that were kept are read again when they are wanted. */
void memory_expire(struct memory *m);

/* The same, and frees them. */
void memory_forget(struct memory *m);

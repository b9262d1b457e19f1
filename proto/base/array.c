/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/array.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST = 16 };

/* The pointer is read and written as memory: it may be one to any type. */
static bool resize(void *array, size_t from, size_t to, size_t size, bool zeroed)
{
        char *elements;

        memcpy(&elements, array, sizeof(elements));
        elements = reallocarray(elements, to, size);
        if (!elements)
                return false;
        if (zeroed)
                memset(elements + from * size, 0, (to - from) * size);
        memcpy(array, &elements, sizeof(elements));
        return true;
}

bool array_reserve(void *array, size_t *capacity, size_t need, size_t size, bool zeroed)
{
        size_t doubled = *capacity > SIZE_MAX / 2 ? need : *capacity ? 2 * *capacity : FIRST;
        const size_t room = doubled > need ? doubled : need;

        if (need <= *capacity)
                return true;
        if (!resize(array, *capacity, room, size, zeroed))
                return false;
        *capacity = room;
        return true;
}

bool array_reserve_u32(void *array, uint32_t *capacity, size_t need, size_t size, bool zeroed)
{
        size_t room = *capacity;

        if (need > UINT32_MAX || !array_reserve(array, &room, need, size, zeroed))
                return false;
        *capacity = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
        return true;
}

bool array_reserve_next(void *array, size_t n, size_t size)
{
        if ((n & (n - 1)) != 0)
                return true;
        return n <= SIZE_MAX / 2 && resize(array, n, n ? 2 * n : 1, size, false);
}

void array_give_back(void *part, size_t bytes)
{
        const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)part % page;

        if (bytes >= before + page)
                (void)madvise((uint8_t *)part + before, (bytes - before) / page * page, MADV_DONTNEED);
}

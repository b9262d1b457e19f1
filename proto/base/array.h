/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * array.h - the size of an array, arrays that grow, and their order.
 *
 * A growable array is a pointer to elements from malloc (NULL while empty) and the number of elements there is room
 * for, `capacity`, a size_t or uint32_t; whoever owns it frees the pointer. The room at least doubles, so adding n
 * elements one by one copies fewer than 2 n. Each macro is true when the room is there; false when memory is short or
 * the size overflows, and then the array and its capacity are as before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Room for `need` elements in all, which may be evaluated twice; and the same, with what was added set to zero. */
#define ARRAY_RESERVE(array, capacity, need)        ARRAY_RESERVE_AS(array, capacity, need, false)
#define ARRAY_RESERVE_ZEROED(array, capacity, need) ARRAY_RESERVE_AS(array, capacity, need, true)

/*
 * Room for one more than the `n` elements there are, of an array without a capacity: its room is the power of two
 * above n. All elements must have been added this way.
 */
#define ARRAY_RESERVE_NEXT(array, n) array_reserve_next(&(array), (n), sizeof(*(array)))

#define ARRAY_RESERVE_AS(array, capacity, need, zeroed)                                                                \
        (array_has_room((capacity), (need)) ||                                                                         \
         _Generic((capacity), size_t                                                                                   \
                  : array_reserve, uint32_t                                                                            \
                  : array_reserve_u32)(&(array), &(capacity), (need), sizeof(*(array)), (zeroed)))

/* Mostly there is room, which takes no call. */
static inline bool array_has_room(size_t capacity, size_t need)
{
        return need <= capacity;
}

/* `array`: the address of the pointer. */
bool array_reserve(void *array, size_t *capacity, size_t need, size_t size, bool zeroed);
bool array_reserve_u32(void *array, uint32_t *capacity, size_t need, size_t size, bool zeroed);
bool array_reserve_next(void *array, size_t n, size_t size);

/* A part that is not read any more, of an array that stays: gives the system its whole pages back, which are 0 then. */
void array_give_back(void *part, size_t bytes);

/* qsort() may not be given NULL, which an array without elements may be. */
#define ARRAY_SORT(array, n, compare) array_sort((array), (n), sizeof(*(array)), (compare))
static inline void array_sort(void *array, size_t n, size_t size, int (*in_order)(const void *a, const void *b))
{
        if (n > 1)
                qsort(array, n, size, in_order);
}

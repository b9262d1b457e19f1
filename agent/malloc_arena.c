/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - glibc has no function for this; its thread-local pointer to the arena is found by what it points to, and
 * only if exactly one such pointer is there: a malloc_state, whose 127 bins are each empty (a list of themselves) or
 * not, most of them empty. Another allocator, or a glibc whose arenas look otherwise, has none, and nothing is changed.
 */
#include "agent/thread.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/patch.h"

/* Of malloc_state: `top`, with which the first bin begins as a chunk, and the bins. */
#define TOP        96u
#define BINS       127u
#define EMPTY_BINS 64u /* at least, at the start of a program as later on */

struct bin {
        const void *unused[2], *first, *last;
};

static bool is_arena(const char *p)
{
        const size_t size = TOP + 16u * (BINS + 1u);
        unsigned empty = 0;

        if (!p || (uintptr_t)p % sizeof(void *) != 0 || !memory_is_writable(p, size))
                return false;
        for (unsigned i = 0; i < BINS; i++) {
                const struct bin *b = (const struct bin *)(const void *)(p + TOP + 16 * (size_t)i);
                if (!b->first || !b->last || (b->first == b) != (b->last == b))
                        return false;
                empty += b->first == b;
        }
        return empty >= EMPTY_BINS;
}

struct search {
        const void *malloc;
        struct malloc_arena found;
        unsigned count;
};

/* Searches the calling thread's variables of the library that has malloc. */
static int search_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
        struct search *s = ctx;
        size_t variables = 0;
        bool has_malloc = false;

        for (unsigned i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *h = &info->dlpi_phdr[i];
                if (h->p_type == PT_TLS)
                        variables = h->p_memsz;
                else if (h->p_type == PT_LOAD)
                        has_malloc |= (uintptr_t)s->malloc - (info->dlpi_addr + h->p_vaddr) < h->p_memsz;
        }
        if (!has_malloc || !info->dlpi_tls_data)
                return has_malloc;
        char *at = info->dlpi_tls_data;
        for (size_t i = 0; i + sizeof(void *) <= variables; i += sizeof(void *)) {
                void *value = *(void **)(void *)(at + i);
                if (!is_arena(value))
                        continue;
                s->count++;
                s->found = (struct malloc_arena){ .state = value, .offset = at + i - (char *)pthread_self() };
        }
        return 1;
}

struct malloc_arena malloc_arena_find(void)
{
        struct search s = { .malloc = dlsym(RTLD_DEFAULT, "malloc") };

        free(malloc(1)); /* a thread has no arena before it allocates */
        (void)dl_iterate_phdr(search_library, &s);
        return s.count == 1 ? s.found : (struct malloc_arena){ .state = NULL };
}

static void **own_pointer(const struct malloc_arena *a)
{
        return (void **)(void *)((char *)pthread_self() + a->offset);
}

void malloc_arena_join(const struct malloc_arena *a)
{
        if (a->state && !*own_pointer(a))
                *own_pointer(a) = a->state;
}

void malloc_arena_leave(const struct malloc_arena *a)
{
        if (a->state && *own_pointer(a) == a->state)
                *own_pointer(a) = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: open addressing with linear probing over (hash, size, text); a slot's
 * hash decides nearly always, so a probe rarely touches the text itself. Texts
 * lie end to end in pieces of CHUNK_BYTES from the arena: names of info tables
 * are short and many, and rounding each up would cost a third of their memory.
 */
#include "base/strings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_SLOTS 64u
#define CHUNK_BYTES ((size_t)4096)

void strings_init(struct strings *s, size_t max_bytes)
{
        *s = (struct strings){ .seed = hash_seed(s) };
        arena_init(&s->arena, max_bytes);
}

void strings_done(struct strings *s)
{
        free(s->slots);
        arena_done(&s->arena);
        strings_init(s, s->arena.max_bytes);
}

void strings_clear(struct strings *s)
{
        strings_done(s);
}

static struct strings_slot *find(struct strings_slot *slots, uint32_t n_slots, const void *bytes, uint32_t size,
                                 uint32_t hash)
{
        uint32_t at = hash & (n_slots - 1);

        while (slots[at].text) {
                struct strings_slot *slot = &slots[at];
                if (slot->hash == hash && slot->size == size && (!size || memcmp(slot->text, bytes, size) == 0))
                        return slot;
                at = (at + 1) & (n_slots - 1);
        }
        return &slots[at];
}

/* Makes room for one more at a load of at most 3/4. */
static bool grow(struct strings *s)
{
        if (s->n_used < s->n_slots / 4 * 3)
                return true;
        if (s->n_slots > UINT32_MAX / 2)
                return false;
        uint32_t n_slots = s->n_slots ? s->n_slots * 2 : FIRST_SLOTS;
        struct strings_slot *slots = calloc(n_slots, sizeof(*slots));
        if (!slots)
                return false;
        for (uint32_t i = 0; i < s->n_slots; i++) {
                const struct strings_slot *old = &s->slots[i];
                uint32_t at = old->hash & (n_slots - 1);
                if (!old->text)
                        continue;
                while (slots[at].text)
                        at = (at + 1) & (n_slots - 1);
                slots[at] = *old;
        }
        free(s->slots);
        s->slots = slots;
        s->n_slots = n_slots;
        return true;
}

static char *copy(struct strings *s, const void *bytes, uint32_t size)
{
        size_t need = (size_t)size + 1;

        if (need > CHUNK_BYTES / 4)
                return arena_strndup(&s->arena, bytes, size);
        if (need > s->chunk_left) {
                char *chunk = arena_zalloc(&s->arena, CHUNK_BYTES);
                if (!chunk)
                        return NULL;
                s->chunk = chunk;
                s->chunk_left = CHUNK_BYTES;
        }
        char *text = s->chunk;
        if (size)
                memcpy(text, bytes, size);
        text[size] = '\0';
        s->chunk += need;
        s->chunk_left -= need;
        return text;
}

const char *strings_intern(struct strings *s, const void *bytes, size_t size)
{
        const char *nul = size ? memchr(bytes, '\0', size) : NULL;

        if (nul)
                size = (size_t)(nul - (const char *)bytes);
        if (size >= UINT32_MAX || !grow(s))
                return NULL;
        uint32_t hash = (uint32_t)hash_bytes(bytes, size, s->seed);
        struct strings_slot *slot = find(s->slots, s->n_slots, bytes, (uint32_t)size, hash);
        if (slot->text)
                return slot->text;
        const char *text = copy(s, bytes, (uint32_t)size);
        if (!text)
                return NULL;
        *slot = (struct strings_slot){ .text = text, .hash = hash, .size = (uint32_t)size };
        s->n_used++;
        return text;
}

size_t strings_held(const struct strings *s)
{
        return s->arena.held_bytes + s->n_slots * sizeof(*s->slots);
}

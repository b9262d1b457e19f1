/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: xxHash (XXH3) with a seed. Base may not ask the system for random
 * bytes, so the seed is made of addresses, which address space randomisation
 * moves from process to process: enough against prepared keys, but not a secret.
 */
#include "proto/base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_seed(const void *table)
{
        static uint64_t count;
        uint64_t seed = hash_u64((uintptr_t)&count, ++count);

        return hash_u64((uintptr_t)table, hash_u64((uintptr_t)&seed, seed));
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
        return XXH3_64bits_withSeed(bytes, size, seed);
}

uint64_t hash_text(const char *text, uint64_t seed)
{
        return hash_bytes(text ? text : "", text ? strlen(text) + 1 : 0, seed);
}

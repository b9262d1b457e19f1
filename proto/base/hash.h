/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - hashes for tables whose keys come from outside: seeded, so that nobody can prepare keys that collide. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Differs from process to process and from table to table. Not for secrets. */
uint64_t hash_seed(const void *table);

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* A text with its terminator, so that a sequence of texts is unambiguous; NULL differs from "". */
uint64_t hash_text(const char *text, uint64_t seed);

/* A bijection of 64 bits that mixes well (finaliser of splitmix64: Steele, Lea, Flood 2014). */
static inline uint64_t hash_u64(uint64_t key, uint64_t seed)
{
        uint64_t x = key + seed;

        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        return x ^ x >> 31;
}

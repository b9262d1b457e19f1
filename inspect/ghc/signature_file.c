/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/signature_file.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL       12
#define PLAIN_MOST  (UINT64_C(1) << 28)
#define HEAD_WORDS  4u
#define UNIT_WORDS  5u /* of 32 bits */
#define ENTRY_WORDS 4u
#define WORD        ((uint64_t)sizeof(uint32_t))

static const uint8_t magic[8] = { 'H', 'W', 'S', 'I', 'G', '0', '2', '\n' };

uint32_t signature_key(enum signature_front front, const uint8_t *table, const uint8_t *head, uint8_t n)
{
        const uint8_t first = (uint8_t)front;
        uint64_t h = signature_hash(SIGNATURE_HASH_START, &first, 1);

        if (front == FRONT_TABLE)
                h = signature_hash(h, table, 8);
        if (front != FRONT_NOTHING)
                h = signature_hash(h, table + 8, 4);
        return signature_key_end(signature_hash(h, head, n), n);
}

/* -------------------------------------------------------------------- relocations */

static bool get_number(const uint8_t *from, uint32_t n, uint32_t *at, uint64_t *ret)
{
        *ret = 0;
        for (unsigned shift = 0; *at < n && shift < 64; shift += 7) {
                const uint8_t byte = from[(*at)++];
                *ret |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return true;
        }
        return false;
}

static size_t put_number(uint8_t *to, uint64_t number)
{
        size_t n = 0;

        for (; number >= 0x80; number >>= 7)
                to[n++] = (uint8_t)(number | 0x80);
        to[n++] = (uint8_t)number;
        return n;
}

bool signature_relocation_next(const uint8_t *from, uint32_t n, uint32_t *at, uint32_t end,
                               struct signature_relocation *ret)
{
        uint64_t gap, name = 0, addend = 0, bytes = 0;

        if (!get_number(from, n, at, &gap) || *at == n)
                return false;
        const uint8_t what = from[(*at)++];
        *ret = (struct signature_relocation){ .bytes = (what & 7u) + 1,
                                              .place = (enum signature_place)(what >> 3 & 3),
                                              .target = (enum signature_target)(what >> 5) };
        if (gap > SIGNATURE_UNIT_MOST - end || ret->target > TARGET_VARIABLE ||
            (ret->place == PLACE_OPAQUE && ret->target != TARGET_NONE) ||
            (ret->place != PLACE_OPAQUE && ret->bytes != (ret->place == PLACE_ABSOLUTE_64 ? 8 : 4)))
                return false;
        ret->at = end + (uint32_t)gap;
        if (ret->target != TARGET_NONE && !get_number(from, n, at, &addend))
                return false;
        if (ret->target >= TARGET_CODE && (!get_number(from, n, at, &name) || name > UINT32_MAX))
                return false;
        if (ret->target == TARGET_VARIABLE && (!get_number(from, n, at, &bytes) || bytes > UINT32_MAX))
                return false;
        ret->name = (uint32_t)name;
        ret->size = (uint32_t)bytes;
        ret->addend = (int64_t)(addend >> 1 ^ (0 - (addend & 1)));
        return true;
}

size_t signature_relocation_put(uint8_t *to, uint32_t end, const struct signature_relocation *r)
{
        size_t n = put_number(to, r->at - end);

        to[n++] = (uint8_t)((r->bytes - 1) | (unsigned)r->place << 3 | (unsigned)r->target << 5);
        if (r->target != TARGET_NONE)
                n += put_number(to + n, (uint64_t)r->addend << 1 ^ (r->addend < 0 ? UINT64_MAX : 0));
        if (r->target >= TARGET_CODE)
                n += put_number(to + n, r->name);
        if (r->target == TARGET_VARIABLE)
                n += put_number(to + n, r->size);
        return n;
}

/* --------------------------------------------------------------------------- write */

static void put_word(uint8_t **to, uint32_t word)
{
        for (unsigned i = 0; i < sizeof(word); i++)
                *(*to)++ = (uint8_t)(word >> 8 * i);
}

static void put_all(uint8_t *to, const struct signature_table *t)
{
        put_word(&to, t->n_units);
        put_word(&to, t->n_entries);
        put_word(&to, t->n_relocations);
        put_word(&to, t->n_texts);
        for (uint32_t i = 0; i < t->n_units; i++) {
                const struct signature_unit *u = &t->units[i];
                put_word(&to, (uint32_t)u->hash);
                put_word(&to, (uint32_t)(u->hash >> 32));
                put_word(&to, u->size);
                put_word(&to, u->shape);
                put_word(&to, u->n_relocations);
        }
        for (uint32_t i = 0; i < t->n_entries; i++) {
                const struct signature_entry *e = &t->entries[i];
                put_word(&to, e->key);
                put_word(&to, e->unit);
                put_word(&to, e->offset);
                put_word(&to, e->name);
        }
        memcpy(to, t->relocations, t->n_relocations);
        memcpy(to + t->n_relocations, t->texts, t->n_texts);
}

static uint64_t plain_size(const struct signature_table *t)
{
        return WORD * (HEAD_WORDS + (uint64_t)t->n_units * UNIT_WORDS + (uint64_t)t->n_entries * ENTRY_WORDS) +
               t->n_relocations + t->n_texts;
}

uint8_t *signature_file_encode(const struct signature_table *t, size_t *ret_size)
{
        const uint64_t size = plain_size(t);
        uint8_t *plain = size <= PLAIN_MOST ? malloc((size_t)size) : NULL, *ret = NULL;
        const size_t room = ZSTD_compressBound((size_t)size);

        if (plain && (ret = malloc(sizeof(magic) + room))) {
                put_all(plain, t);
                memcpy(ret, magic, sizeof(magic));
                const size_t n = ZSTD_compress(ret + sizeof(magic), room, plain, (size_t)size, LEVEL);
                if (ZSTD_isError(n)) {
                        free(ret);
                        ret = NULL;
                } else {
                        *ret_size = sizeof(magic) + n;
                }
        }
        free(plain);
        return ret;
}

/* ---------------------------------------------------------------------------- read */

static uint32_t get_word(const uint8_t **from)
{
        uint32_t word = 0;

        for (unsigned i = 0; i < sizeof(word); i++)
                word |= (uint32_t) * (*from)++ << 8 * i;
        return word;
}

/* Its relocations are at *at, in order, and in the unit. */
static bool is_unit(const struct signature_table *t, struct signature_unit *u, uint32_t *at)
{
        struct signature_relocation r;
        uint32_t end = 0;

        if (u->size == 0 || u->size > SIGNATURE_UNIT_MOST)
                return false;
        u->relocations = *at;
        for (uint32_t i = 0; i < u->n_relocations; i++) {
                if (!signature_relocation_next(t->relocations, t->n_relocations, at, end, &r) || r.bytes > u->size ||
                    r.at > u->size - r.bytes || (r.target != TARGET_TEXT && r.name >= t->n_texts))
                        return false;
                end = r.at + r.bytes;
        }
        return true;
}

static bool get_all(struct signature_table *t, const uint8_t *from, uint64_t size)
{
        if (size < WORD * HEAD_WORDS)
                return false;
        t->n_units = get_word(&from);
        t->n_entries = get_word(&from);
        t->n_relocations = get_word(&from);
        t->n_texts = get_word(&from);
        if (plain_size(t) != size || !(t->units = calloc(t->n_units + 1u, sizeof(*t->units))) ||
            !(t->entries = calloc(t->n_entries + 1u, sizeof(*t->entries))) ||
            !(t->relocations = malloc(t->n_relocations + 1u)) || !(t->texts = malloc(t->n_texts + 1u)))
                return false;
        for (uint32_t i = 0; i < t->n_units; i++) {
                struct signature_unit *u = &t->units[i];
                u->hash = get_word(&from);
                u->hash |= (uint64_t)get_word(&from) << 32;
                u->size = get_word(&from);
                u->shape = get_word(&from);
                u->n_relocations = get_word(&from);
        }
        for (uint32_t i = 0; i < t->n_entries; i++) {
                struct signature_entry *e = &t->entries[i];
                e->key = get_word(&from);
                e->unit = get_word(&from);
                e->offset = get_word(&from);
                e->name = get_word(&from);
        }
        memcpy(t->relocations, from, t->n_relocations);
        memcpy(t->texts, from + t->n_relocations, t->n_texts);
        uint32_t at = 0;
        bool good = t->n_texts > 0 && t->texts[t->n_texts - 1] == '\0';

        for (uint32_t i = 0; good && i < t->n_units; i++)
                good = is_unit(t, &t->units[i], &at);
        for (uint32_t i = 0; good && i < t->n_entries; i++) {
                const struct signature_entry *e = &t->entries[i];
                good = e->unit < t->n_units && e->offset < t->units[e->unit].size && e->name < t->n_texts &&
                       (i == 0 || t->entries[i - 1].key <= e->key);
        }
        return good;
}

bool signature_file_decode(struct signature_table *ret, const uint8_t *bytes, size_t size, struct error *error)
{
        const size_t offset = sizeof(magic);

        *ret = (struct signature_table){ 0 };
        if (size < offset || memcmp(bytes, magic, offset) != 0)
                return error_set(error, "it has no signatures: `heapwatch-inspect signatures` writes such files");
        const unsigned long long n = ZSTD_getFrameContentSize(bytes + offset, size - offset);
        if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR || n > PLAIN_MOST)
                return error_set(error, "it is damaged: there is no zstd frame of a size up to 256 MiB in it");
        uint8_t *plain = malloc((size_t)n + 1);
        const size_t got = plain ? ZSTD_decompress(plain, (size_t)n, bytes + offset, size - offset) : 0;
        bool good = plain != NULL || error_set(error, "out of memory");
        if (good && (ZSTD_isError(got) || got != n))
                good = error_set(error, "it is damaged, or cut off: zstd: %s",
                                 ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it ends early");
        if (good && !get_all(ret, plain, got)) {
                signature_table_done(ret);
                good = error_set(error, "it is damaged: its tables contradict each other");
        }
        free(plain);
        return good;
}

uint32_t signature_table_first(const struct signature_table *t, uint32_t key)
{
        uint32_t low = 0, high = t->n_entries;

        while (low < high) {
                const uint32_t middle = low + (high - low) / 2;
                if (t->entries[middle].key < key)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

void signature_table_done(struct signature_table *t)
{
        free(t->units);
        free(t->entries);
        free(t->relocations);
        free(t->texts);
        *t = (struct signature_table){ 0 };
}

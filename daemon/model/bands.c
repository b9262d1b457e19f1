/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one id table for the three kinds of keys (text, stack, number), each
 * hashed with a seed of its kind. The runtime writes a census by walking its
 * own table, so its rows mostly come in the order of the previous census: each
 * band remembers which one followed it, and a row of that one costs a
 * comparison; any other a hash as well.
 *
 * A -hi label is a number as text ("0x4ab3c8", on Windows without the 0x). The
 * band's key is the number, so it matches its info table whatever the spelling;
 * its label is the table's name, which may come before or after the row. A
 * table points to its band, so a band whose table came first is found through
 * it and needs no entry in the id table.
 */
#include "daemon/model/bands_private.h"

#include <string.h>

#include "daemon/model/limits.h"
#include "proto/base/hash.h"
#include "daemon/model/state.h"
#include "proto/base/limits.h"

void bands_init(struct bands *b)
{
        *b = (struct bands){ .seed = hash_seed(b) };
        pool_init(&b->entries, sizeof(struct band_entry), 5);
        pool_init(&b->sums, sizeof(struct band_sums), 5);
        pool_init(&b->histories, sizeof(struct fold), 4);
        arena_init(&b->points, 0);
        pool_init(&b->centres, sizeof(struct cost_centre), 6);
        pool_init(&b->tables, sizeof(struct info_table), 7);
        arena_init(&b->stacks, LIMIT_STACK_BYTES);
        strings_init(&b->strings, LIMIT_STRING_BYTES);
}

void bands_done(struct bands *b)
{
        pool_done(&b->entries);
        pool_done(&b->sums);
        pool_done(&b->histories);
        pool_done(&b->centres);
        pool_done(&b->tables);
        idtable_done(&b->by_key);
        idtable_done(&b->centre_by_id);
        idtable_done(&b->table_by_key);
        arena_done(&b->points);
        arena_done(&b->stacks);
        strings_done(&b->strings);
}

size_t bands_held(const struct bands *b)
{
        return pool_held(&b->entries) + pool_held(&b->sums) + pool_held(&b->histories) + pool_held(&b->centres) +
               pool_held(&b->tables) + idtable_held(&b->by_key) + idtable_held(&b->centre_by_id) +
               idtable_held(&b->table_by_key) + b->points.held_bytes + b->stacks.held_bytes + strings_held(&b->strings);
}

const char *bands_keep_text(struct bands *b, const void *bytes, size_t size)
{
        return b->closed ? strings_find(&b->strings, bytes, size) : strings_intern(&b->strings, bytes, size);
}

const char *bands_string(struct bands *b, const struct hw_event *e, size_t *at)
{
        size_t left = e->size - *at;
        const uint8_t *text = e->payload + *at;
        size_t size = strnlen((const char *)text, left);

        *at += size < left ? size + 1 : size;
        return bands_keep_text(b, text, size);
}

/* A new band, with its kind, id and time set; NULL when it is left out. */
static struct band_entry *new_band(struct bands *b, enum band_kind kind, uint64_t time_ns)
{
        struct band_entry *entry = !b->closed && b->entries.count < LIMIT_BANDS ? pool_add(&b->entries) : NULL;

        if (!entry)
                return NULL;
        entry->band.kind = (uint8_t)kind;
        entry->band.id = b->entries.count;
        entry->band.first_seen_ns = time_ns;
        return entry;
}

/* The new band is complete. */
static struct band_entry *finish_entry(struct model *m, struct band_entry *entry)
{
        PASS_ON(m, band, &entry->band);
        return entry;
}

/* The same, and adds it to the hash table. */
static struct band_entry *finish_hashed(struct model *m, struct band_entry *entry, uint64_t hash)
{
        if (idtable_add(&m->bands.by_key, hash, entry->band.id) == 0)
                return finish_entry(m, entry);
        pool_undo(&m->bands.entries);
        return NULL;
}

static bool hex_digit(char c, uint64_t *ret)
{
        if (c >= '0' && c <= '9')
                *ret = (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
                *ret = (uint64_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
                *ret = (uint64_t)(c - 'A' + 10);
        else
                return false;
        return true;
}

bool bands_key(const char *label, size_t size, uint64_t *ret)
{
        uint64_t key = 0, digit;

        if (size > 2 && label[0] == '0' && (label[1] == 'x' || label[1] == 'X')) {
                label += 2;
                size -= 2;
        }
        if (size == 0 || size > 16)
                return false;
        for (size_t i = 0; i < size; i++) {
                if (!hex_digit(label[i], &digit))
                        return false;
                key = key << 4 | digit;
        }
        *ret = key;
        return true;
}

static uint64_t key_hash(const struct bands *b, uint64_t key)
{
        return hash_u64(key, b->seed + BAND_KEY);
}

/* The band of a key whose table was not defined when it was first seen. */
static struct band_entry *find_unresolved(const struct bands *b, uint64_t key)
{
        uint64_t hash = key_hash(b, key);
        uint32_t at = idtable_start(&b->by_key, hash), id;

        while ((id = idtable_next(&b->by_key, hash, &at))) {
                struct band_entry *entry = bands_entry(b, id);
                if (entry->band.kind == BAND_KEY && entry->band.key == key)
                        return entry;
        }
        return NULL;
}

static const char *table_name(const struct info_table *table)
{
        return table->named ? table->name : table->label;
}

static struct band_entry *of_table(struct model *m, struct info_table *table, uint64_t time_ns)
{
        struct band_entry *entry = new_band(&m->bands, BAND_KEY, time_ns);

        if (!entry)
                return NULL;
        entry->band.key = table->key;
        entry->band.label = table_name(table);
        entry->band.info_table = table;
        table->band = entry->band.id;
        return finish_entry(m, entry);
}

/* A new band whose table is not defined yet. */
static struct band_entry *new_unresolved(struct model *m, uint64_t key, const char *label, size_t size,
                                         uint64_t time_ns)
{
        struct bands *b = &m->bands;
        const char *text = bands_keep_text(b, label, size);
        struct band_entry *entry = text ? new_band(b, BAND_KEY, time_ns) : NULL;

        if (!entry)
                return NULL;
        entry->band.key = key;
        entry->band.label = text;
        return finish_hashed(m, entry, key_hash(b, key));
}

static struct band_entry *of_key(struct model *m, uint64_t key, const char *label, size_t size, uint64_t time_ns)
{
        struct bands *b = &m->bands;
        struct band_entry *entry = bands_expected(b);

        if (entry && entry->band.kind == BAND_KEY && entry->band.key == key)
                return entry;
        struct info_table *table = ipe_find(b, key);
        if (table)
                return table->band ? bands_entry(b, table->band) : of_table(m, table, time_ns);
        entry = find_unresolved(b, key);
        return entry ? entry : new_unresolved(m, key, label, size, time_ns);
}

static struct band_entry *of_text(struct model *m, const char *label, size_t size, uint64_t time_ns)
{
        struct bands *b = &m->bands;
        uint64_t hash = hash_bytes(label, size, b->seed + BAND_TEXT);
        uint32_t at = idtable_start(&b->by_key, hash), id;

        while ((id = idtable_next(&b->by_key, hash, &at))) {
                struct band_entry *entry = bands_entry(b, id);
                if (entry->band.kind == BAND_TEXT && strings_size(entry->band.label) == size &&
                    !memcmp(entry->band.label, label, size))
                        return entry;
        }
        const char *text = bands_keep_text(b, label, size);
        struct band_entry *entry = text ? new_band(b, BAND_TEXT, time_ns) : NULL;
        if (!entry)
                return NULL;
        entry->band.label = text;
        return finish_hashed(m, entry, hash);
}

struct band_entry *bands_of_text(struct model *m, const char *label, size_t size, uint64_t time_ns)
{
        uint64_t key;
        bool is_key = m->run.breakdown == BREAKDOWN_INFO_TABLE && bands_key(label, size, &key);

        /* Remembers the order of rows. */
        struct band_entry *entry = is_key ? of_key(m, key, label, size, time_ns) : of_text(m, label, size, time_ns);
        if (!entry)
                return NULL;
        if (m->bands.newest_row && m->bands.newest_row->follower != entry)
                m->bands.newest_row->follower = entry;
        m->bands.newest_row = entry;
        return entry;
}

struct band_entry *bands_of_stack(struct model *m, const uint32_t *centres, uint32_t depth, uint64_t time_ns)
{
        struct bands *b = &m->bands;
        size_t bytes = depth * sizeof(*centres);
        uint64_t hash = hash_bytes(centres, bytes, b->seed + BAND_STACK);
        uint32_t at = idtable_start(&b->by_key, hash), id;

        while ((id = idtable_next(&b->by_key, hash, &at))) {
                struct band_entry *entry = bands_entry(b, id);
                if (entry->band.kind == BAND_STACK && entry->band.depth == depth &&
                    !memcmp(entry->band.stack, centres, bytes))
                        return entry;
        }
        if (b->closed || b->entries.count >= LIMIT_BANDS)
                return NULL;
        const char *text = cost_centres_text(b, centres, depth);
        uint32_t *stack = text ? arena_calloc(&b->stacks, depth ? depth : 1, sizeof(*stack)) : NULL;
        if (!stack)
                return NULL;
        memcpy(stack, centres, bytes);
        cost_centres_check(b, stack, depth);
        struct band_entry *entry = new_band(b, BAND_STACK, time_ns);
        if (!entry)
                return NULL;
        entry->band.label = text;
        entry->band.stack = stack;
        entry->band.depth = (uint8_t)depth;
        return finish_hashed(m, entry, hash);
}

void bands_resolve(struct model *m, struct info_table *table)
{
        struct bands *b = &m->bands;
        struct band_entry *entry = table->band ? bands_entry(b, table->band) : find_unresolved(b, table->key);

        if (!entry)
                return;
        table->band = entry->band.id;
        entry->band.info_table = table;
        entry->band.label = table_name(table);
        PASS_ON(m, band, &entry->band);
}

void model_want_band(struct model *m, uint32_t band, bool wanted)
{
        struct band_entry *entry = band && band <= m->bands.entries.count ? bands_entry(&m->bands, band) : NULL;

        if (entry && wanted != (entry->row_census != BAND_UNWANTED))
                entry->row_census = wanted ? 0 : BAND_UNWANTED;
        m->bands.any_unwanted = m->bands.any_unwanted || (entry && !wanted);
}

uint32_t bands_count(const struct bands *b)
{
        return b->entries.count;
}

const struct band *bands_get(const struct bands *b, uint32_t id)
{
        return id && id <= b->entries.count ? &bands_entry(b, id)->band : NULL;
}

bool bands_closed(const struct bands *b)
{
        return b->closed;
}

uint64_t bands_left_out(const struct bands *b)
{
        return b->left_out;
}

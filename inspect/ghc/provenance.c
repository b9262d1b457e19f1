/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the runtime links the nodes of all modules in a list, and moves them into a hash table when something is
 * looked up in it. Neither is followed: a stripped program does not say where they are, and the nodes stay where the
 * linker has put them, in the data of the program's files. So these are searched for words that can be nothing else: a
 * count, that many tables of which the first and the last lead to code, an entry whose own text is the symbol of an
 * info table. Of each node only the range of its tables is kept; its entries and texts are read when a table in that
 * range is wanted, so a program with hundreds of thousands of them costs what its data cost to read once.
 */
#include "inspect/ghc/names.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "inspect/memory/sorted.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

#define NODES_MOST   (UINT32_C(1) << 16)
#define ENTRIES_MOST (UINT64_C(1) << 24) /* of all nodes */
#define NODE_MOST    (UINT64_C(1) << 22) /* entries of a node */
#define TEXTS_MOST   (UINT64_C(1) << 26) /* bytes of a node's texts */
#define KEPT_MOST    ((size_t)1 << 28)   /* bytes of entries and texts */
#define TEXT_MOST    65536u              /* bytes of one text */
#define WORDS_MOST   (UINT64_C(1) << 27) /* of data that are searched */
#define CHUNK_WORDS  32768u              /* of these, at a time */
#define PAGE_WORDS   512u
#define NODE_WORDS   9u
#define FIRST_ENTRY  3u     /* word of a node that has its entries in itself */
#define PIECE_BYTES  65536u /* of a compressed text that is read at a time */
#define ZSTD_MAGIC   UINT32_C(0xfd2fb528)
#define TABLE        "_info"

/* By offsetof in rts/IPE.h of each release. A node begins with a pointer to the next one. */
struct node_layout {
        uint8_t count, texts; /* words of a node */
        /* 0: its entries are in it, from FIRST_ENTRY on, each after the address of its table; else words of the node */
        uint8_t compressed, tables, entries, entries_bytes, texts_bytes;
        uint8_t module_at; /* bytes in the node; 0: each entry has its own */
        uint8_t entry_bytes;
        uint8_t table, type, label, module, file, span; /* bytes in an entry, of offsets in the texts */
        uint8_t zero;                                   /* bytes in an entry that are 0; 0: none are */
};

static const struct node_layout layouts[] = {
        /* 9.6 */
        { .texts = 1,
          .count = 2,
          .entry_bytes = 40,
          .table = 8,
          .type = 16,
          .label = 20,
          .module = 24,
          .file = 28,
          .span = 32,
          .zero = 36 },
        /* 9.10 */
        { .compressed = 1,
          .count = 2,
          .tables = 3,
          .entries = 4,
          .entries_bytes = 5,
          .texts = 6,
          .texts_bytes = 7,
          .module_at = 68,
          .entry_bytes = 24,
          .table = 0,
          .type = 8,
          .label = 12,
          .file = 16,
          .span = 20 },
};

struct provenance_key {
        uint64_t at;
        uint32_t index; /* of its entry */
};

struct provenance_node {
        uint64_t least, most; /* addresses of its tables */
        const struct node_layout *layout;
        uint64_t at;
        uint64_t words[NODE_WORDS];
        uint64_t most_so_far; /* of this node and those before it */
        bool opened, good;
        struct provenance_key *keys; /* by address */
        uint8_t *entries;
        char *texts; /* with a NUL behind */
        uint64_t n_texts;
};

/* ------------------------------------------------------------------- what a node is */

static uint64_t count_of(const struct provenance_node *n)
{
        return n->words[n->layout->count];
}

static bool is_compressed(const struct provenance_node *n)
{
        return n->layout->compressed && n->words[n->layout->compressed];
}

/* Where its entries are, or their compressed bytes. */
static uint64_t entries_at(const struct provenance_node *n)
{
        return n->layout->entries ? n->words[n->layout->entries] : n->at + UINT64_C(8) * FIRST_ENTRY;
}

/* Where the address of its table number `i` is. */
static uint64_t table_at(const struct provenance_node *n, uint64_t i)
{
        return n->layout->tables ? n->words[n->layout->tables] + 8 * i
                                 : entries_at(n) + (uint64_t)n->layout->entry_bytes * i;
}

static bool is_table(const struct program *p, uint64_t at)
{
        return at && !(at & 7) && program_is_code(p, at);
}

/* Decided by the node's own words: nearly nothing else passes. */
static bool may_be(const struct program *p, const struct node_layout *l, const uint64_t *words)
{
        const uint64_t count = words[l->count];

        if (count == 0 || count > NODE_MOST || (words[0] & 7))
                return false;
        return l->tables ? words[l->compressed] <= 1 && words[l->entries_bytes] == count * l->entry_bytes &&
                                   words[l->texts_bytes] - 1 < TEXTS_MOST
                         : is_table(p, words[FIRST_ENTRY]);
}

static uint32_t module_of(const struct provenance_node *n, const uint8_t *entry)
{
        const uint8_t at = n->layout->module_at;

        return at ? (uint32_t)(n->words[at / 8] >> at % 8 * 8) : u32_at(entry, n->layout->module);
}

/* Decided by what the node leads to: its first entry, its first and its last table. */
static bool is_node(const struct program *p, const struct provenance_node *n)
{
        const struct node_layout *l = n->layout;
        const uint64_t next = n->words[0], texts = n->words[l->texts];
        char name[PROGRAM_NAME_BYTES];
        uint8_t entry[64];

        if ((next && !program_is_data(p, next)) || !is_table(p, memory_u64(p->memory, table_at(n, 0))) ||
            !is_table(p, memory_u64(p->memory, table_at(n, count_of(n) - 1))))
                return false;
        if (is_compressed(n))
                return memory_u32(p->memory, entries_at(n)) == ZSTD_MAGIC && memory_u32(p->memory, texts) == ZSTD_MAGIC;
        return memory_read(p->memory, entries_at(n), entry, l->entry_bytes) &&
               (!l->zero || u32_at(entry, l->zero) == 0) &&
               memory_text_kept(p->memory, texts + u32_at(entry, l->table), name, sizeof(name)) &&
               text_has_suffix(name, TABLE) &&
               memory_text_kept(p->memory, texts + module_of(n, entry), name, sizeof(name)) && name[0] >= 'A' &&
               name[0] <= 'Z';
}

/* ------------------------------------------------------------------------- the search */

/* Calls `each` with the addresses of its tables. False: they cannot be read. */
static bool each_table(const struct program *p, const struct provenance_node *n,
                       void (*each)(struct provenance_node *n, uint64_t i, uint64_t at), struct provenance_node *to)
{
        const uint64_t stride = table_at(n, 1) - table_at(n, 0), whole = 8192 / stride;
        uint8_t bytes[8192];

        for (uint64_t from = 0; from < count_of(n); from += whole) {
                const uint64_t some = count_of(n) - from < whole ? count_of(n) - from : whole;
                if (!memory_read(p->memory, table_at(n, from), bytes, (size_t)((some - 1) * stride + 8)))
                        return false;
                for (uint64_t i = 0; i < some; i++)
                        each(to, from + i, u64_at(bytes, (size_t)(i * stride)));
        }
        return true;
}

static void see_range(struct provenance_node *n, uint64_t i, uint64_t at)
{
        n->least = i == 0 || at < n->least ? at : n->least;
        n->most = at > n->most ? at : n->most;
}

static void add_node(struct provenance *v, const struct program *p, struct provenance_node *n)
{
        if (!is_node(p, n))
                return;
        if (v->n == NODES_MOST || count_of(n) > ENTRIES_MOST - v->entries || !ARRAY_RESERVE_NEXT(v->nodes, v->n)) {
                (void)error_set(&v->why, "there are too many of them: %zu modules with %llu tables are used", v->n,
                                (unsigned long long)v->entries);
                return;
        }
        v->entries += count_of(n);
        if (each_table(p, n, see_range, n))
                v->nodes[v->n++] = *n;
        else
                (void)error_set(&v->why, "the list of tables at 0x%llx cannot be read",
                                (unsigned long long)table_at(n, 0));
}

/* Nodes that begin in `n` words, but for what cannot be read, a page at a time; the last one may reach behind. */
static void search_part(struct provenance *v, const struct program *p, uint64_t at, size_t n, uint64_t *words)
{
        if (memory_read(p->memory, at, words, 8 * (n + NODE_WORDS - 1))) {
                for (size_t i = 0; i < n; i++)
                        for (size_t k = 0; k < ARRAY_SIZE(layouts); k++) {
                                if (!may_be(p, &layouts[k], words + i))
                                        continue;
                                struct provenance_node node = { .layout = &layouts[k], .at = at + 8 * i };
                                memcpy(node.words, words + i, sizeof(node.words));
                                add_node(v, p, &node);
                        }
        } else if (n > PAGE_WORDS) {
                search_part(v, p, at, n / 2, words);
                search_part(v, p, at + 8 * (uint64_t)(n / 2), n - n / 2, words);
        }
}

static void search_range(struct provenance *v, const struct program *p, const struct range *r, uint64_t *words,
                         uint64_t *left)
{
        const uint64_t begin = (r->start + 7) & ~UINT64_C(7);

        for (uint64_t at = begin; at < r->end && r->end - at >= 8 * NODE_WORDS; at += 8 * CHUNK_WORDS) {
                const uint64_t rest = (r->end - at) / 8 - (NODE_WORDS - 1);
                const size_t n = (size_t)(rest < CHUNK_WORDS ? rest : CHUNK_WORDS);
                if (n > *left) {
                        (void)error_set(&v->why, "the program's data are larger than what is searched, 1 GiB");
                        return;
                }
                *left -= n;
                search_part(v, p, at, n, words);
        }
}

void provenance_search(struct provenance *v, const struct program *p)
{
        uint64_t *words = v->searched ? NULL : malloc(8 * ((size_t)CHUNK_WORDS + NODE_WORDS));
        uint64_t most = 0, left = WORDS_MOST;

        v->searched = true;
        if (!words)
                return;
        for (size_t i = 0; i < p->n_data; i++)
                search_range(v, p, &p->data[i], words, &left);
        free(words);
        const uint64_t list = v->n == 0 ? program_variable(p, "ipeBufferList") : 0; /* if it has one, it has nodes */
        if (list && memory_u64(p->memory, list))
                (void)error_set(&v->why, "they are laid out in another way than by GHC 9.6 and 9.10");
        ARRAY_SORT(v->nodes, v->n, sorted_compare);
        for (size_t i = 0; i < v->n; i++) {
                most = v->nodes[i].most > most ? v->nodes[i].most : most;
                v->nodes[i].most_so_far = most;
        }
}

/* ---------------------------------------------------------------------- what it holds */

/* Decompresses a frame of zstd, of which is known how long it is when it is decompressed. */
static bool decompress_section(const struct program *p, uint64_t at, uint8_t *to, size_t size)
{
        ZSTD_DCtx *zstd = ZSTD_createDCtx();
        uint8_t *piece = malloc(PIECE_BYTES);
        ZSTD_outBuffer out = { to, size, 0 };
        const uint64_t end = at + ZSTD_compressBound(size);
        size_t left = 1;

        while (zstd && piece && left != 0 && !ZSTD_isError(left) && at < end) {
                /* the last piece may reach beyond what can be read: what is not the frame's is not needed */
                size_t n = PIECE_BYTES;
                while (n > 1 && !memory_read(p->memory, at, piece, n))
                        n /= 2;
                ZSTD_inBuffer in = { piece, n, 0 };
                if (n == 1 && !memory_read(p->memory, at, piece, n))
                        break;
                do
                        left = ZSTD_decompressStream(zstd, &out, &in);
                while (left != 0 && !ZSTD_isError(left) && in.pos < n && out.pos < size);
                if (out.pos == size && in.pos < n)
                        break;
                at += n;
        }
        free(piece);
        (void)ZSTD_freeDCtx(zstd);
        return out.pos == size && !ZSTD_isError(left);
}

/* Malloc'd, with a NUL behind. NULL: it cannot be had. */
static uint8_t *read_part(struct provenance *v, const struct program *p, const struct provenance_node *n, uint64_t at,
                          uint64_t size)
{
        uint8_t *bytes;

        if (size > KEPT_MOST - v->kept_bytes || !(bytes = malloc((size_t)size + 1)))
                return NULL;
        if (is_compressed(n) ? decompress_section(p, at, bytes, (size_t)size)
                             : memory_read(p->memory, at, bytes, (size_t)size)) {
                bytes[size] = 0;
                v->kept_bytes += (size_t)size;
                return bytes;
        }
        free(bytes);
        return NULL;
}

/* Where texts end whose size the node does not have: behind the last one that an entry has. 0: it cannot be so. */
static uint64_t texts_end(const struct program *p, const struct provenance_node *n)
{
        const struct node_layout *l = n->layout;
        const uint8_t offsets[] = { l->table, l->type, l->label, l->module, l->file, l->span };
        const uint64_t begin = n->words[l->texts];
        uint32_t last = 0;
        char byte = 1;

        for (uint64_t i = 0; i < count_of(n); i++)
                for (size_t k = 0; k < ARRAY_SIZE(offsets); k++) {
                        const uint32_t offset = u32_at(n->entries, i * l->entry_bytes + offsets[k]);
                        last = offset > last ? offset : last;
                }
        for (uint64_t end = last; end < last + (uint64_t)TEXT_MOST && end < TEXTS_MOST; end++)
                if (!memory_read_kept(p->memory, begin + end, &byte, 1))
                        return 0;
                else if (byte == 0)
                        return end + 1;
        return 0;
}

static void see_key(struct provenance_node *n, uint64_t i, uint64_t at)
{
        n->keys[i] = (struct provenance_key){ at, (uint32_t)i };
}

static bool open_node(struct provenance *v, const struct program *p, struct provenance_node *n)
{
        const struct node_layout *l = n->layout;

        if (n->opened)
                return n->good;
        n->opened = true;
        n->entries = read_part(v, p, n, entries_at(n), count_of(n) * l->entry_bytes);
        n->n_texts = !n->entries ? 0 : l->texts_bytes ? n->words[l->texts_bytes] : texts_end(p, n);
        n->texts = n->n_texts ? (char *)read_part(v, p, n, n->words[l->texts], n->n_texts) : NULL;
        const size_t bytes = (size_t)count_of(n) * sizeof(*n->keys);
        n->good = n->texts && bytes <= KEPT_MOST - v->kept_bytes && (n->keys = malloc(bytes)) &&
                  each_table(p, n, see_key, n);
        if (n->good) {
                v->kept_bytes += bytes;
                qsort(n->keys, (size_t)count_of(n), sizeof(*n->keys), sorted_compare);
        } else
                (void)error_set(&v->why, "the %s of the module at 0x%llx cannot be read, or need too much memory",
                                n->texts     ? "tables"
                                : n->entries ? "texts"
                                             : "entries",
                                (unsigned long long)n->at);
        return n->good;
}

static const char *text_of(const struct provenance_node *n, uint32_t offset)
{
        return offset < n->n_texts ? n->texts + offset : "";
}

static void get_entry(const struct provenance_node *n, uint32_t index, struct provenance_entry *ret)
{
        const struct node_layout *l = n->layout;
        const uint8_t *e = n->entries + (size_t)index * l->entry_bytes;

        *ret = (struct provenance_entry){
                .table = text_of(n, u32_at(e, l->table)),
                .type = text_of(n, u32_at(e, l->type)),
                .label = text_of(n, u32_at(e, l->label)),
                .module = text_of(n, module_of(n, e)),
                .file = text_of(n, u32_at(e, l->file)),
                .span = text_of(n, u32_at(e, l->span)),
        };
}

bool provenance_find(struct provenance *v, const struct program *p, uint64_t at, struct provenance_entry *ret)
{
        const struct provenance_key wanted = { .at = at };

        provenance_search(v, p);
        for (size_t i = sorted_count(v->nodes, v->n, sizeof(*v->nodes), at);
             i-- > 0 && v->nodes[i].most_so_far >= at;) {
                struct provenance_node *n = &v->nodes[i];
                const struct provenance_key *found = NULL;
                if (n->most >= at && open_node(v, p, n))
                        found = bsearch(&wanted, n->keys, (size_t)count_of(n), sizeof(*n->keys), sorted_compare);
                if (found) {
                        get_entry(n, found->index, ret);
                        return true;
                }
        }
        return false;
}

void provenance_done(struct provenance *v)
{
        for (size_t i = 0; i < v->n; i++) {
                free(v->nodes[i].keys);
                free(v->nodes[i].entries);
                free(v->nodes[i].texts);
        }
        free(v->nodes);
        *v = (struct provenance){ .why = { "" } };
}

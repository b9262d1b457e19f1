/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - one pass over the file's symbol table whenever a census brings addresses that have not been met: a few
 * hundred with the first one, seldom any later. Each symbol costs a binary search among those. A program of half a
 * million symbols has 12 MB of them, which are read with the buffer below.
 *
 * A symbol of an info table is where the closure's code begins, which the table itself precedes: by 16 bytes, by 32 in
 * the profiled runtime (rts/storage/InfoTables.h). Its last two words are the closure's type and the SRT.
 */
#include "agent/preamble.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/descriptor.h"
#include "proto/base/bytes.h"
#include "proto/base/haskell_symbol.h"
#include "agent/limits.h"
#include "agent/queue.h"

#define TABLE_BYTES          16u
#define TABLE_BYTES_PROFILED 32u
#define TYPE_BEFORE_CODE     8u
#define CLOSURE_TYPES        128u /* more than any release has */

#define INFO_TABLE_EVENT 169u
#define EVENT_HEAD       12u
#define EVENT_BYTES      (EVENT_HEAD + 8u + 4u + 3u * SYMBOL_BYTES + sizeof(TABLE_NAMES_PLACE) + 2u)
#define SYMBOLS_AT_ONCE  1024u

static struct {
        ElfW(Sym) symbols[SYMBOLS_AT_ONCE];
        uint8_t block[BLOCK_MARKER_BYTES + 16u * EVENT_BYTES];
} buffer;

static struct descriptor file = { .fd = -1 };

/* ------------------------------------------------------------- which are met */

void table_names_reset(struct table_names *t)
{
        free(t->seen);
        free(t->pending);
        *t = (struct table_names){ 0 };
}

static uint64_t *place_of(uint64_t *seen, size_t room, uint64_t key)
{
        size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);

        while (seen[at] && seen[at] != key)
                at = (at + 1) & (room - 1);
        return &seen[at];
}

static bool make_room(struct table_names *t)
{
        size_t room = t->room ? 2 * t->room : 1024;
        uint64_t *seen;

        if (2 * t->count < t->room)
                return true;
        if (t->count >= AGENT_NAMED_TABLES || !(seen = calloc(room, sizeof(*seen))))
                return false;
        for (size_t i = 0; i < t->room; i++)
                if (t->seen[i])
                        *place_of(seen, room, t->seen[i]) = t->seen[i];
        free(t->seen);
        t->seen = seen;
        t->room = room;
        return true;
}

static bool add_pending(struct table_names *t, uint64_t key)
{
        size_t room = t->pending_room ? 2 * t->pending_room : 256;

        if (t->n_pending == t->pending_room) {
                struct table_name *more = realloc(t->pending, room * sizeof(*more));
                if (!more)
                        return false;
                t->pending = more;
                t->pending_room = room;
        }
        t->pending[t->n_pending++] = (struct table_name){ .key = key };
        return true;
}

/* "0x" and hexadecimal digits; 0: it is something else. */
static uint64_t address_of(const char *label, size_t size)
{
        uint64_t key = 0;

        if (size < 3 || size > 18 || label[0] != '0' || label[1] != 'x')
                return 0;
        for (size_t i = 2; i < size && label[i]; i++) {
                char c = label[i];
                if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
                        return 0;
                key = key << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        return key;
}

void table_names_see(struct table_names *t, const char *label, size_t size)
{
        uint64_t key = address_of(label, size), *place;

        if (key == 0 || !make_room(t) || *(place = place_of(t->seen, t->room, key)) || !add_pending(t, key))
                return;
        *place = key;
        t->count++;
}

static int by_key(const void *a, const void *b)
{
        uint64_t x = ((const struct table_name *)a)->key, y = ((const struct table_name *)b)->key;

        return x < y ? -1 : x > y;
}

void table_names_sort(struct table_names *t)
{
        if (t->n_pending > 1)
                qsort(t->pending, t->n_pending, sizeof(*t->pending), by_key);
}

static struct table_name *find_name(struct table_names *t, uint64_t key)
{
        struct table_name wanted = { .key = key };

        return t->n_pending ? bsearch(&wanted, t->pending, t->n_pending, sizeof(wanted), by_key) : NULL;
}

void table_names_known(struct table_names *t, uint64_t key)
{
        struct table_name *name = find_name(t, key);

        if (name)
                name->ambiguous = true; /* described already: nothing is sent */
}

/* ------------------------------------------------------------------- the file */

static bool read_at(void *out, size_t size, uint64_t at)
{
        for (size_t n = 0; n < size;) {
                ssize_t k = at + n <= INT64_MAX ? pread(file.fd, (char *)out + n, size - n, (off_t)(at + n)) : -1;
                if (k < 0 && errno == EINTR)
                        continue;
                if (k <= 0)
                        return false;
                n += (size_t)k;
        }
        return true;
}

/* Its symbols, and their names. */
struct sections {
        ElfW(Shdr) symbols, names;
};

static bool read_sections(struct sections *ret)
{
        ElfW(Ehdr) header;

        if (!read_at(&header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
            header.e_shentsize != sizeof(ElfW(Shdr)))
                return false;
        for (unsigned i = 0; i < header.e_shnum; i++)
                if (!read_at(&ret->symbols, sizeof(ret->symbols), header.e_shoff + i * sizeof(ElfW(Shdr))))
                        return false;
                else if (ret->symbols.sh_type == SHT_SYMTAB)
                        return ret->symbols.sh_link < header.e_shnum &&
                               read_at(&ret->names, sizeof(ret->names),
                                       header.e_shoff + ret->symbols.sh_link * sizeof(ElfW(Shdr))) &&
                               ret->names.sh_type == SHT_STRTAB;
        return false;
}

/* False when it does not end within the section, or is too long to be one of ours. */
static bool read_name(const struct sections *s, uint32_t at, char ret[SYMBOL_BYTES])
{
        uint64_t size = at < s->names.sh_size ? s->names.sh_size - at : 0;

        if (size > SYMBOL_BYTES)
                size = SYMBOL_BYTES;
        return size > 0 && read_at(ret, (size_t)size, s->names.sh_offset + at) && memchr(ret, '\0', (size_t)size);
}

/* shift: from a symbol's value in the file to the key of its table. */
static bool match_all(struct table_names *t, const struct sections *s, uint64_t shift)
{
        uint64_t n = s->symbols.sh_size / sizeof(ElfW(Sym));
        char text[SYMBOL_BYTES];

        for (uint64_t at = 0; at < n; at += SYMBOLS_AT_ONCE) {
                size_t some = n - at < SYMBOLS_AT_ONCE ? (size_t)(n - at) : SYMBOLS_AT_ONCE;
                if (!read_at(buffer.symbols, some * sizeof(ElfW(Sym)), s->symbols.sh_offset + at * sizeof(ElfW(Sym))))
                        return false;
                for (size_t i = 0; i < some; i++) {
                        const ElfW(Sym) *symbol = &buffer.symbols[i];
                        struct table_name *name;
                        if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
                            ELF64_ST_TYPE(symbol->st_info) > STT_FUNC ||
                            !(name = find_name(t, symbol->st_value + shift)) || name->ambiguous ||
                            name->name_at == symbol->st_name || !read_name(s, symbol->st_name, text) ||
                            !haskell_symbol_is_table(text))
                                continue;
                        name->ambiguous = name->name_at != 0;
                        name->name_at = symbol->st_name;
                }
        }
        return true;
}

/* --------------------------------------------------------------- definitions */

static uint8_t *put_text(uint8_t *at, const char *text)
{
        size_t n = strlen(text) + 1;

        memcpy(at, text, n);
        return at + n;
}

/* The fields of event 169: the table, its symbol, closure type, type, label, module, place. `code`: in the process. */
static uint8_t *put_definition(uint8_t *event, uint64_t at_ns, uint64_t key, uint64_t code, const char *symbol)
{
        struct haskell_symbol decoded;
        bool known = haskell_symbol_decode(&decoded, symbol);
        char type[12] = ""; /* where there is no closure type */
        uint8_t *at = event + EVENT_HEAD;
        uint32_t closure_type;

        memcpy(&closure_type, (const char *)(uintptr_t)code - TYPE_BEFORE_CODE, sizeof(closure_type));
        if (closure_type > 0 && closure_type < CLOSURE_TYPES)
                (void)snprintf(type, sizeof(type), "%u", closure_type);
        put_be(at, key, 8);
        at = put_text(at + 8, symbol);
        at = put_text(at, type);
        at = put_text(at, "");
        at = put_text(at, known ? decoded.name : "");
        at = put_text(at, known ? decoded.module : "");
        at = put_text(at, TABLE_NAMES_PLACE);
        put_be(event, INFO_TABLE_EVENT, 2);
        put_be(event + 2, at_ns, 8);
        put_be(event + 10, (uint64_t)(at - event) - EVENT_HEAD, 2);
        return at;
}

static void send_block(size_t size, uint64_t at_ns, void (*send)(struct chunk *c))
{
        struct chunk *c;

        block_marker_write(buffer.block, at_ns, at_ns, size, MESSAGES_OF);
        if (size > BLOCK_MARKER_BYTES && (c = chunk_new(CHUNK_LOG, buffer.block, size)))
                send(c);
}

static void send_definitions(const struct table_names *t, const struct sections *s, uint64_t table_bytes,
                             uint64_t at_ns, void (*send)(struct chunk *c))
{
        uint8_t *const first = buffer.block + BLOCK_MARKER_BYTES, *at = first;
        char symbol[SYMBOL_BYTES];

        for (size_t i = 0; i < t->n_pending; i++) {
                const struct table_name *name = &t->pending[i];
                if (!name->name_at || name->ambiguous || !read_name(s, name->name_at, symbol))
                        continue;
                if ((size_t)(buffer.block + sizeof(buffer.block) - at) < EVENT_BYTES) {
                        send_block((size_t)(at - buffer.block), at_ns, send);
                        at = first;
                }
                at = put_definition(at, at_ns, name->key, name->key + table_bytes, symbol);
        }
        send_block((size_t)(at - buffer.block), at_ns, send);
}

bool table_names_find(struct table_names *t, const char *path, uintptr_t bias, bool profiled, uint64_t at_ns,
                      void (*send)(struct chunk *c), struct error *error)
{
        uint64_t table_bytes = profiled ? TABLE_BYTES_PROFILED : TABLE_BYTES;
        struct sections s;
        bool good = true;

        if (!descriptor_adopt(&file, open(path, O_RDONLY | O_CLOEXEC)))
                good = error_set(error, "%s cannot be read: %s", path, strerror(errno));
        else if (!read_sections(&s))
                good = error_set(error, "the program has no symbol table: it is stripped");
        else if (!match_all(t, &s, bias - table_bytes))
                good = error_set(error, "the program's symbol table is damaged");
        else
                send_definitions(t, &s, table_bytes, at_ns, send);
        descriptor_close(&file);
        t->n_pending = 0;
        return good;
}

void table_names_fork_child(void)
{
        descriptor_close(&file);
}

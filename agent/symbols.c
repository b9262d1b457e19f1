/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - one pass over the symbol table. It may have half a million entries,
 * so names are first tried against a bit map of the first two letters; the 40
 * or so names are compared only for those that pass.
 *
 * A global name is unique, the linker sees to that. A local one may mean several
 * things: then none of them is taken.
 */
#include "agent/symbols.h"
#include "proto/base/array.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct rts_symbols rts;

const char *const rts_symbol_names[] = {
#define X(name) #name,
        RTS_SYMBOLS(X)
#undef X
};
const unsigned rts_symbol_count = ARRAY_SIZE(rts_symbol_names);

struct rts_symbol *rts_symbol_at(unsigned i)
{
        return (struct rts_symbol *)(void *)&rts + i;
}

struct rts_symbol *rts_symbol_named(const char *name)
{
        for (unsigned i = 0; i < rts_symbol_count; i++)
                if (!strcmp(name, rts_symbol_names[i]))
                        return rts_symbol_at(i);
        return NULL;
}

/* ------------------------------------------------------------------- ELF */

struct image {
        const uint8_t *bytes;
        size_t size;
        ElfW(Ehdr) header;
        uintptr_t bias;
};

static bool is_inside(const struct image *m, uint64_t offset, uint64_t size)
{
        return offset <= m->size && size <= m->size - offset;
}

static bool read_section(const struct image *m, unsigned i, ElfW(Shdr) * ret)
{
        uint64_t at = m->header.e_shoff + (uint64_t)i * sizeof(*ret);

        if (i >= m->header.e_shnum || !is_inside(m, at, sizeof(*ret)))
                return false;
        memcpy(ret, m->bytes + at, sizeof(*ret));
        return ret->sh_type == SHT_NOBITS || is_inside(m, ret->sh_offset, ret->sh_size);
}

static bool open_image(struct image *m, const uint8_t *bytes, size_t size, uintptr_t bias)
{
        *m = (struct image){ .bytes = bytes, .size = size, .bias = bias };
        if (size < sizeof(m->header))
                return false;
        memcpy(&m->header, bytes, sizeof(m->header));
        return !memcmp(m->header.e_ident, ELFMAG, SELFMAG) &&
               m->header.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
               m->header.e_shentsize == sizeof(ElfW(Shdr)) && m->header.e_shoff <= size;
}

static unsigned hash_letters(const char *name)
{
        return (unsigned)(uint8_t)name[0] << 8 | (uint8_t)name[1];
}

enum binding {
        FREE,
        LOCAL,
        GLOBAL,
        SHARED, /* a local name of several things */
};

static void bind_symbol(struct rts_symbol *s, enum binding *bound, const ElfW(Sym) * entry, uintptr_t bias)
{
        void *address = (void *)(bias + entry->st_value);
        bool local = ELF64_ST_BIND(entry->st_info) == STB_LOCAL;

        if (*bound == FREE && s->address) { /* the dynamic linker's address has precedence; it knows no sizes */
                if (s->address == address)
                        s->size = entry->st_size;
                return;
        }
        if (*bound == GLOBAL)
                return;
        if (local && *bound != FREE) {
                if (s->address != address)
                        *s = (struct rts_symbol){ NULL, 0 }, *bound = SHARED;
                return;
        }
        *s = (struct rts_symbol){ address, entry->st_size };
        *bound = local ? LOCAL : GLOBAL;
}

static void scan_table(const struct image *m, const ElfW(Shdr) * table, const ElfW(Shdr) * names)
{
        uint8_t sieve[65536 / 8] = { 0 }; /* names by their first two letters */
        enum binding bound[sizeof(rts) / sizeof(struct rts_symbol)] = { FREE };
        const char *text = (const char *)m->bytes + names->sh_offset;

        if (names->sh_size == 0 || text[names->sh_size - 1] != '\0')
                return; /* each name ends within the section */
        for (unsigned i = 0; i < rts_symbol_count; i++)
                sieve[hash_letters(rts_symbol_names[i]) / 8] |= (uint8_t)(1u << hash_letters(rts_symbol_names[i]) % 8);
        for (size_t k = 0; k < table->sh_size / sizeof(ElfW(Sym)); k++) {
                ElfW(Sym) entry;
                memcpy(&entry, m->bytes + table->sh_offset + k * sizeof(entry), sizeof(entry));
                if (entry.st_shndx == SHN_UNDEF || entry.st_shndx >= SHN_LORESERVE ||
                    entry.st_name + 1 >= names->sh_size || ELF64_ST_TYPE(entry.st_info) > STT_FUNC)
                        continue;
                const char *name = text + entry.st_name;
                if (!(sieve[hash_letters(name) / 8] & 1u << hash_letters(name) % 8))
                        continue;
                for (unsigned i = 0; i < rts_symbol_count; i++)
                        if (!strcmp(name, rts_symbol_names[i]))
                                bind_symbol(rts_symbol_at(i), &bound[i], &entry, m->bias);
        }
}

unsigned symbols_scan(const uint8_t *image, size_t size, uintptr_t bias)
{
        struct image m;
        ElfW(Shdr) table, names;
        unsigned found = 0;

        if (!open_image(&m, image, size, bias))
                return 0;
        for (int pass = 0; pass < 2; pass++)
                for (unsigned i = 0; i < m.header.e_shnum; i++)
                        if (read_section(&m, i, &table) && table.sh_type == (pass ? SHT_DYNSYM : SHT_SYMTAB) &&
                            read_section(&m, table.sh_link, &names) && names.sh_type == SHT_STRTAB)
                                scan_table(&m, &table, &names);
        for (unsigned i = 0; i < rts_symbol_count; i++)
                found += rts_symbol_at(i)->address != NULL;
        return found;
}

/* ------------------------------------------------------------- GHC's version */

/* Strings of the comment section, one after the other, each ending with NUL: "GHC 9.0.2". */
static bool version_in(const char *text, size_t size, char *ret, size_t ret_size)
{
        static const char word[] = "GHC ";
        bool known = false;

        for (size_t at = 0; at < size;) {
                size_t n = strnlen(text + at, size - at);
                if (n > sizeof(word) - 1 && !memcmp(text + at, word, sizeof(word) - 1)) {
                        const char *version = text + at + sizeof(word) - 1;
                        size_t length = n - (sizeof(word) - 1);
                        if (length >= ret_size ||
                            (known && (strlen(ret) != length || memcmp(ret, version, length) != 0)))
                                return false;
                        memcpy(ret, version, length);
                        ret[length] = '\0';
                        known = true;
                }
                at += n + 1;
        }
        return known;
}

bool symbols_ghc_version(const uint8_t *image, size_t size, char *ret, size_t ret_size)
{
        struct image m;
        ElfW(Shdr) names, s;

        if (!open_image(&m, image, size, 0) || !read_section(&m, m.header.e_shstrndx, &names) || names.sh_size == 0 ||
            m.bytes[names.sh_offset + names.sh_size - 1] != '\0')
                return false;
        for (unsigned i = 0; i < m.header.e_shnum; i++)
                if (read_section(&m, i, &s) && s.sh_type == SHT_PROGBITS && s.sh_name < names.sh_size &&
                    !strcmp((const char *)m.bytes + names.sh_offset + s.sh_name, ".comment"))
                        return version_in((const char *)m.bytes + s.sh_offset, s.sh_size, ret, ret_size);
        return false;
}

/* ------------------------------------------------------------ this process */

static uintptr_t own_bias;

struct search {
        bool first;
        char *version;
        size_t version_size;
};

/* The whole file; NULL when it cannot be mapped. */
static void *map_file(const char *path, size_t *ret_size)
{
        struct stat st;
        void *image = MAP_FAILED;
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return NULL;
        if (fstat(fd, &st) == 0 && st.st_size > 0) {
                *ret_size = (size_t)st.st_size;
                image = mmap(NULL, *ret_size, PROT_READ, MAP_PRIVATE, fd, 0);
        }
        (void)close(fd);
        return image == MAP_FAILED ? NULL : image;
}

static void scan_file(const char *path, uintptr_t bias, const struct search *search)
{
        size_t size;
        void *image = map_file(path, &size);

        if (!image)
                return;
        (void)symbols_scan(image, size, bias);
        if (search->version[0] == '\0' && !symbols_ghc_version(image, size, search->version, search->version_size))
                search->version[0] = '\0';
        (void)munmap(image, size);
}

/* The name is in two parts, so that what links this is not taken for a program with a shared runtime. */
static bool is_shared_runtime(const char *path)
{
        static const char package[] = "libHS", runtime[] = "rts";
        const char *at = path ? strstr(path, package) : NULL;

        return at && !strncmp(at + sizeof(package) - 1, runtime, sizeof(runtime) - 1);
}

static int each_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
        struct search *search = ctx;

        if (search->first)
                own_bias = info->dlpi_addr;
        if (search->first)
                scan_file(SYMBOLS_OWN_FILE, info->dlpi_addr, search);
        else if (is_shared_runtime(info->dlpi_name))
                scan_file(info->dlpi_name, info->dlpi_addr, search);
        search->first = false;
        return 0;
}

static int find_shared_runtime(struct dl_phdr_info *info, size_t size, void *ctx)
{
        *(bool *)ctx |= is_shared_runtime(info->dlpi_name);
        return *(bool *)ctx;
}

bool symbols_runtime_is_shared(void)
{
        bool found = false;

        (void)dl_iterate_phdr(find_shared_runtime, &found);
        return found;
}

uintptr_t symbols_bias(void)
{
        return own_bias;
}

bool symbols_find(char *ret_version, size_t version_size)
{
        struct search search = { true, ret_version, version_size };

        ret_version[0] = '\0';
        /* A shared runtime: variables copied into the program are found by the dynamic linker only. */
        for (unsigned i = 0; i < rts_symbol_count; i++)
                rts_symbol_at(i)->address = dlsym(RTLD_DEFAULT, rts_symbol_names[i]);
        (void)dl_iterate_phdr(each_object, &search);
        return rts.defaultRtsConfig.address && rts.RtsFlags.address;
}

/* The text up to the next comma, at *at, which is moved behind it. False: there is none, or it does not fit. */
static bool next_word(const char **at, char *ret, size_t size)
{
        const size_t n = strcspn(*at, ",");

        if (n == 0 || n >= size)
                return false;
        memcpy(ret, *at, n);
        ret[n] = '\0';
        *at += n + ((*at)[n] == ',');
        return true;
}

static bool next_number(const char **at, unsigned long *ret)
{
        char word[24], *end;

        if (!next_word(at, word, sizeof(word)))
                return false;
        *ret = strtoul(word, &end, 16);
        return *end == '\0';
}

bool symbols_find_given(const char *text, char *ret_version, size_t version_size)
{
        unsigned long device, inode, address, bytes;
        char version[32], name[40];
        struct stat st;

        if (!next_word(&text, version, sizeof(version)) || !next_number(&text, &device) ||
            !next_number(&text, &inode) || stat(SYMBOLS_OWN_FILE, &st) < 0 || st.st_dev != device || st.st_ino != inode)
                return false;
        (void)snprintf(ret_version, version_size, "%s", version);
        while (next_word(&text, name, sizeof(name)) && next_number(&text, &address) && next_number(&text, &bytes)) {
                struct rts_symbol *s = rts_symbol_named(name);
                if (s)
                        *s = (struct rts_symbol){ (void *)(own_bias + address), bytes };
        }
        return rts.defaultRtsConfig.address && rts.RtsFlags.address;
}

/* The text is put together here, so that it is not found in programs that this is linked into. */
bool symbols_have_runtime(const uint8_t *image, size_t size)
{
        char text[] = "GHC rts";

        memcpy(text + sizeof("GHC ") - 1, "RTS", sizeof("RTS") - 1);
        return memmem(image, size, text, sizeof(text) - 1) != NULL;
}

bool symbols_hidden(void)
{
        size_t size;
        void *image = map_file(SYMBOLS_OWN_FILE, &size);
        if (!image)
                image = map_file((const char *)getauxval(AT_EXECFN),
                                 &size); /* may have been replaced: only for words */
        bool have = image && symbols_have_runtime(image, size);

        if (image)
                (void)munmap(image, size);
        return have;
}

bool rts_flag(const struct rts_symbol *s, bool otherwise)
{
        return s->address ? __atomic_load_n((const uint8_t *)s->address, __ATOMIC_RELAXED) != 0 : otherwise;
}

void rts_set_flag(const struct rts_symbol *s, bool value)
{
        if (s->address)
                __atomic_store_n((uint8_t *)s->address, value, __ATOMIC_RELAXED);
}

int64_t rts_int64(const struct rts_symbol *s, int64_t otherwise)
{
        return s->address ? __atomic_load_n((const int64_t *)s->address, __ATOMIC_RELAXED) : otherwise;
}

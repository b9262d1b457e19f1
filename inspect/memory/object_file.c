/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/memory/object_file.h"

#include <stdlib.h>
#include <string.h>

#define ARCHIVE_MAGIC "!<arch>\n"

/* ------------------------------------------------------------------------ archives */

struct member_head {
        char name[16], date[12], user[6], group[6], mode[8], size[10], end[2];
};

bool archive_is_one(const uint8_t *bytes, size_t n)
{
        return n >= strlen(ARCHIVE_MAGIC) && !memcmp(bytes, ARCHIVE_MAGIC, strlen(ARCHIVE_MAGIC));
}

static bool get_decimal(const char *text, size_t n, size_t *ret)
{
        size_t digits = 0;

        for (*ret = 0; digits < n && text[digits] >= '0' && text[digits] <= '9'; digits++)
                *ret = *ret * 10 + (size_t)(text[digits] - '0');
        return digits > 0;
}

int archive_next(const uint8_t *bytes, size_t n, size_t *at, const uint8_t **ret, size_t *ret_size)
{
        struct member_head h;

        if (*at == 0)
                *at = strlen(ARCHIVE_MAGIC);
        for (; *at < n; *at += *ret_size + (*ret_size & 1)) {
                if (n - *at < sizeof(h))
                        return -1;
                memcpy(&h, bytes + *at, sizeof(h));
                *at += sizeof(h);
                if (h.end[0] != '`' || h.end[1] != '\n' || !get_decimal(h.size, sizeof(h.size), ret_size) ||
                    *ret_size > n - *at)
                        return -1;
                /* "/" and "//": the archive's own tables; "/12" is a file with a long name */
                if (h.name[0] == '/' && (h.name[1] < '0' || h.name[1] > '9'))
                        continue;
                *ret = bytes + *at;
                *at += *ret_size + (*ret_size & 1);
                return 1;
        }
        return 0;
}

/* --------------------------------------------------------------------------- object */

/* `count` structs at an offset of the file; malloc'd. */
static void *copy_table(const struct object_file *f, uint64_t offset, uint64_t count, size_t size)
{
        void *ret;

        if (offset > f->size || count > (f->size - offset) / size || !(ret = malloc((size_t)count * size + 1)))
                return NULL;
        memcpy(ret, f->bytes + offset, (size_t)count * size);
        return ret;
}

static bool read_symbols(struct object_file *f)
{
        for (size_t i = 0; i < f->n_sections; i++) {
                const Elf64_Shdr *s = &f->sections[i];
                if (s->sh_type != SHT_SYMTAB || s->sh_link >= f->n_sections)
                        continue;
                f->symbols = copy_table(f, s->sh_offset, s->sh_size / sizeof(Elf64_Sym), sizeof(Elf64_Sym));
                f->n_symbols = (size_t)(s->sh_size / sizeof(Elf64_Sym));
                f->symbol_names = &f->sections[s->sh_link];
                return f->symbols != NULL;
        }
        return true;
}

/* More sections than the header can count are counted in the first one. */
static bool read_sections(struct object_file *f)
{
        Elf64_Ehdr h;
        Elf64_Shdr first;

        memcpy(&h, f->bytes, sizeof(h));
        if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64 ||
            h.e_type != ET_REL || h.e_shentsize != sizeof(first) || h.e_shoff > f->size ||
            f->size - h.e_shoff < sizeof(first))
                return false;
        memcpy(&first, f->bytes + h.e_shoff, sizeof(first));
        const uint64_t n = h.e_shnum ? h.e_shnum : first.sh_size;
        const uint64_t names = h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx;
        if (!(f->sections = copy_table(f, h.e_shoff, n, sizeof(first))))
                return false;
        f->n_sections = (size_t)n;
        f->section_names = names < n ? &f->sections[names] : NULL;
        return true;
}

bool object_file_open(struct object_file *ret, const uint8_t *bytes, size_t n)
{
        *ret = (struct object_file){ .size = n };
        if (n < sizeof(Elf64_Ehdr) || !(ret->bytes = malloc(n + 1)))
                return false;
        memcpy(ret->bytes, bytes, n);
        ret->bytes[n] = '\0';
        if (read_sections(ret) && read_symbols(ret))
                return true;
        object_file_close(ret);
        return false;
}

void object_file_close(struct object_file *f)
{
        free(f->bytes);
        free(f->sections);
        free(f->symbols);
        *f = (struct object_file){ 0 };
}

const uint8_t *object_section_bytes(const struct object_file *f, const Elf64_Shdr *s)
{
        const bool inside = s->sh_type != SHT_NOBITS && s->sh_offset <= f->size && s->sh_size <= f->size - s->sh_offset;

        return inside ? f->bytes + s->sh_offset : NULL;
}

/* What a text runs into ends with the file. */
static const char *text_at(const struct object_file *f, const Elf64_Shdr *texts, uint32_t at)
{
        return texts && texts->sh_offset <= f->size && at < f->size - texts->sh_offset
                       ? (const char *)f->bytes + texts->sh_offset + at
                       : "";
}

const char *object_section_name(const struct object_file *f, size_t section)
{
        return section < f->n_sections ? text_at(f, f->section_names, f->sections[section].sh_name) : "";
}

const char *object_symbol_name(const struct object_file *f, const Elf64_Sym *symbol)
{
        return text_at(f, f->symbol_names, symbol->st_name);
}

bool object_relocation(const struct object_file *f, const Elf64_Shdr *s, size_t n, Elf64_Rela *ret,
                       const Elf64_Sym **ret_symbol)
{
        const uint8_t *bytes = object_section_bytes(f, s);

        if (s->sh_type != SHT_RELA || !bytes || n >= s->sh_size / sizeof(*ret))
                return false;
        memcpy(ret, bytes + n * sizeof(*ret), sizeof(*ret));
        if (ELF64_R_SYM(ret->r_info) >= f->n_symbols)
                return false;
        *ret_symbol = &f->symbols[ELF64_R_SYM(ret->r_info)];
        return true;
}

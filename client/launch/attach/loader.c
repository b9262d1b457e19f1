/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/attach/inject.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/whole_file.h"

#define LIBC_MAX_BYTES (64 << 20) /* 2 MiB, with debug information 20 MiB */

/* Where the file of the C library is mapped in the process; its path as seen there. */
static bool find_libc(pid_t pid, uint64_t *ret_base, char *path, size_t size)
{
        char line[4600], name[64];
        bool found = false;

        snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
        FILE *f = fopen(name, "re");
        while (f && !found && fgets(line, sizeof(line), f)) {
                unsigned long long from, offset;
                int at = 0;
                if (sscanf(line, "%llx-%*x %*s %llx %*s %*s %n", &from, &offset, &at) != 2 || at == 0 || offset != 0)
                        continue;
                line[strcspn(line, "\n")] = '\0';
                const char *slash = strrchr(line + at, '/');
                if (!slash || (strcmp(slash, "/libc.so.6") != 0 && strncmp(slash, "/libc-2.", 8) != 0))
                        continue;
                *ret_base = from;
                found = (size_t)snprintf(path, size, "%s", line + at) < size;
        }
        if (f)
                (void)fclose(f);
        return found;
}

static bool within(uint64_t offset, uint64_t n, size_t size)
{
        return offset <= size && n <= size - offset;
}

/* The value of a function in .dynsym; 0: not there. */
static uint64_t dynamic_symbol(const uint8_t *image, size_t size, const char *wanted)
{
        Elf64_Ehdr header;
        Elf64_Shdr s, names;

        if (size < sizeof(header))
                return 0;
        memcpy(&header, image, sizeof(header));
        if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
            !within(header.e_shoff, (uint64_t)header.e_shnum * sizeof(s), size))
                return 0;
        for (unsigned i = 0; i < header.e_shnum; i++) {
                memcpy(&s, image + header.e_shoff + i * sizeof(s), sizeof(s));
                if (s.sh_type != SHT_DYNSYM || s.sh_link >= header.e_shnum || !within(s.sh_offset, s.sh_size, size))
                        continue;
                memcpy(&names, image + header.e_shoff + s.sh_link * sizeof(s), sizeof(names));
                if (!within(names.sh_offset, names.sh_size, size) || names.sh_size == 0 ||
                    image[names.sh_offset + names.sh_size - 1] != '\0')
                        continue;
                for (uint64_t k = 0; k < s.sh_size / sizeof(Elf64_Sym); k++) {
                        Elf64_Sym symbol;
                        memcpy(&symbol, image + s.sh_offset + k * sizeof(symbol), sizeof(symbol));
                        if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.sh_size &&
                            !strcmp((const char *)image + names.sh_offset + symbol.st_name, wanted))
                                return symbol.st_value;
                }
        }
        return 0;
}

/* All of the file, read, not mapped: it may be cut meanwhile. NULL: it cannot be read, or is no C library. */
static uint8_t *read_image(int fd, size_t *ret_size)
{
        struct stat st;

        if (fstat(fd, &st) != 0 || st.st_size <= 0 || st.st_size > LIBC_MAX_BYTES)
                return NULL;
        const size_t size = (size_t)st.st_size;
        uint8_t *image = malloc(size);
        const ssize_t n = image ? read_full(fd, image, size) : 0;

        *ret_size = n > 0 ? (size_t)n : 0;
        return image;
}

bool loader_find(pid_t pid, struct loader *ret, struct error *error)
{
        char path[4096];
        uint64_t base = 0;
        size_t size = 0;
        int fd = find_libc(pid, &base, path, sizeof(path)) ? mapped_file_open(pid, path) : -1;

        *ret = (struct loader){ 0 };
        if (fd < 0)
                return error_set(error, "the file of its C library is not there any more, or cannot be read");
        uint8_t *image = read_image(fd, &size);
        (void)close(fd);
        const uint64_t open_value = image ? dynamic_symbol(image, size, "dlopen") : 0;
        const uint64_t symbol_value = image ? dynamic_symbol(image, size, "dlsym") : 0;
        free(image);
        if (!open_value || !symbol_value)
                return error_set(error, "its C library has no dlopen (glibc before 2.34, or another one)");
        *ret = (struct loader){ .dlopen_at = base + open_value, .dlsym_at = base + symbol_value };
        return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* build_id.c - DESIGN: of the file only headers and notes are read, by pread into buffers of a fixed size. */
#include "client/past/archive/observe.h"
#include "proto/base/descriptors.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOTES_MAX   4096u
#define HEADERS_MAX 64u

static bool read_at(int fd, void *out, size_t size, uint64_t at)
{
        return at <= INT64_MAX && pread(fd, out, size, (off_t)at) == (ssize_t)size;
}

static size_t aligned(size_t n)
{
        return (n + 3) & ~(size_t)3;
}

static bool find_in_notes(const uint8_t *notes, size_t n, char out[BUILD_ID_TEXT])
{
        Elf64_Nhdr h; /* the same in 32 bits */

        for (size_t at = 0; n - at >= sizeof(h);) {
                memcpy(&h, notes + at, sizeof(h));
                at += sizeof(h);
                if (h.n_namesz > n - at || aligned(h.n_namesz) > n - at || h.n_descsz > n - at - aligned(h.n_namesz))
                        return false;
                const uint8_t *name = notes + at, *id = name + aligned(h.n_namesz);
                if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && !memcmp(name, "GNU", 4)) {
                        if (h.n_descsz == 0 || h.n_descsz * 2 >= BUILD_ID_TEXT)
                                return false;
                        for (size_t i = 0; i < h.n_descsz; i++)
                                (void)snprintf(out + 2 * i, 3, "%02x", id[i]);
                        return true;
                }
                size_t next = aligned(h.n_namesz) + aligned(h.n_descsz);
                if (next > n - at)
                        return false;
                at += next;
        }
        return false;
}

static bool find_in_file(int fd, char out[BUILD_ID_TEXT])
{
        Elf64_Ehdr e;
        Elf64_Phdr p;
        uint8_t notes[NOTES_MAX];

        if (!read_at(fd, &e, sizeof(e), 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
            e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(p))
                return false;
        for (unsigned i = 0; i < e.e_phnum && i < HEADERS_MAX; i++) {
                if (!read_at(fd, &p, sizeof(p), e.e_phoff + i * sizeof(p)))
                        return false;
                if (p.p_type == PT_NOTE && p.p_filesz <= sizeof(notes) && read_at(fd, notes, p.p_filesz, p.p_offset) &&
                    find_in_notes(notes, p.p_filesz, out))
                        return true;
        }
        return false;
}

bool build_id_of(uint32_t pid, char out[BUILD_ID_TEXT])
{
        char path[64];

        (void)snprintf(path, sizeof(path), "/proc/%u/exe", pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        bool found = fd >= 0 && find_in_file(fd, out);
        close_fd(&fd);
        return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test.h"

#include "client/past/archive/observe.h"

/* Where the loader has the notes of this program, the first object that it names. */
static int take_notes(struct dl_phdr_info *info, size_t size, void *ctx)
{
        char *expected = ctx;

        for (int i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *p = &info->dlpi_phdr[i];
                const uint8_t *at = (const uint8_t *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
                while (p->p_type == PT_NOTE && at < end) {
                        ElfW(Nhdr) h;
                        memcpy(&h, at, sizeof(h));
                        const uint8_t *name = at + sizeof(h), *id = name + ((h.n_namesz + 3) & ~3u);
                        if (h.n_type == NT_GNU_BUILD_ID && !memcmp(name, "GNU", 4))
                                for (unsigned k = 0; k < h.n_descsz; k++)
                                        (void)snprintf(expected + 2 * k, 3, "%02x", id[k]);
                        at = id + ((h.n_descsz + 3) & ~3u);
                }
        }
        return 1;
}

TEST(a_process_has_the_build_id_of_its_file)
{
        char expected[BUILD_ID_TEXT] = "", got[BUILD_ID_TEXT];

        (void)dl_iterate_phdr(take_notes, expected);
        assert_int_equal(build_id_of((uint32_t)getpid(), got), expected[0] != '\0');
        if (expected[0])
                assert_string_equal(got, expected);
}

TEST(no_process_has_none)
{
        char got[BUILD_ID_TEXT];

        assert_false(build_id_of(UINT32_MAX, got));
}

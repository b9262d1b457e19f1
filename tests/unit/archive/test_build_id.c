/* SPDX-License-Identifier: BSD-3-Clause */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "client/past/archive/observe.h"

/* Where the loader has the notes of this program, the first object that it names. */
static int take_notes(struct dl_phdr_info *info, size_t size, void *ctx)
{
        char *expected = ctx;

        (void)size;
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

static void a_process_has_the_build_id_of_its_file(void **state)
{
        char expected[BUILD_ID_TEXT] = "", got[BUILD_ID_TEXT];

        (void)state;
        (void)dl_iterate_phdr(take_notes, expected);
        assert_int_equal(build_id_of((uint32_t)getpid(), got), expected[0] != '\0');
        if (expected[0])
                assert_string_equal(got, expected);
}

static void no_process_has_none(void **state)
{
        char got[BUILD_ID_TEXT];

        (void)state;
        assert_false(build_id_of(UINT32_MAX, got));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_process_has_the_build_id_of_its_file),
                cmocka_unit_test(no_process_has_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "client/commands/inspect_subject.h"

#define BOOT "0123456789abcdef0123456789abcdef"

static void make(const char *directory, const char *name)
{
        char path[512];
        FILE *f;

        (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
        assert_non_null(f = fopen(path, "w"));
        assert_int_equal(fclose(f), 0);
}

TEST(test_names)
{
        static const char *const names[] = {
                "core.api.1000." BOOT ".4711.1790000000000000.zst",
                "core.api.1000." BOOT ".4712.1790000000000001",
                "core.api.1000." BOOT ".4713.1789999999999999.zst",
                "core.my.server.0." BOOT ".99.1790000000000002.xz",
                "core.a-name-as-long-.0." BOOT ".100.1790000000000003.zst",
                "core.api.1000." BOOT ".4711", /* cut off */
                "core.4711",
                "cores",
        };
        static const struct {
                const char *which, *found; /* NULL: none */
        } asked[] = {
                { "api", "4712.1790000000000001" },
                { "4711", "4711.1790000000000000.zst" },
                { "my.server", "99.1790000000000002.xz" },
                { "a-name-as-long-as-this", "100.1790000000000003.zst" },
                { "99", "99.1790000000000002.xz" },
                { "server", NULL },
                { "1000", NULL },
                { "", NULL },
        };
        char directory[] = "/tmp/heapwatch-coredump-XXXXXX", path[512];
        struct coredump core;
        struct error error;

        assert_non_null(mkdtemp(directory));
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                make(directory, names[i]);
        for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
                const bool found = coredump_find(directory, asked[i].which, &core, &error);
                assert_int_equal(found, asked[i].found != NULL);
                if (found)
                        assert_string_equal(core.path + strlen(core.path) - strlen(asked[i].found), asked[i].found);
                else
                        assert_non_null(strstr(error.text, "no core file of"));
        }
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
                assert_int_equal(unlink(path), 0);
        }
        assert_int_equal(rmdir(directory), 0);
        assert_false(coredump_find(directory, "api", &core, &error));
        assert_non_null(strstr(error.text, "systemd-coredump keeps"));
}

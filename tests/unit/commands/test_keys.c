/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys, their files, and the file that says who is let in: mistakes are named by their place, secrets never shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/base/error.h"
#include "proto/cli/keys/key.h"
#include "proto/cli/yaml/yaml_file.h"

#define A "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define B "10112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char said[4096];

static void keep(void *ctx, const char *line)
{
        (void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static const struct error_sink says = { .say = keep };

TEST(test_hexadecimal)
{
        uint8_t key[KEY_BYTES], again[KEY_BYTES];
        char text[KEY_TEXT];

        assert_true(key_parse(A, key));
        key_print(key, text);
        assert_string_equal(text, A);
        assert_true(key_parse("00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff", again));
        assert_memory_equal(key, again, KEY_BYTES);
        assert_false(key_parse("", key));
        assert_false(key_parse(A "0", key));
        assert_false(key_parse("g0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", key));
        assert_false(key_parse("0 112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", key));
}

TEST(test_names)
{
        static const char *const bad[] = { "", ".a", "-a", "a/b", "a b", "\xc3\xa4", "a:b" };
        char longest[KEY_NAME_MAX + 2];

        memset(longest, 'a', sizeof(longest));
        longest[KEY_NAME_MAX + 1] = '\0';
        assert_false(key_name_valid(longest));
        longest[KEY_NAME_MAX] = '\0';
        assert_true(key_name_valid(longest));
        assert_true(key_name_valid("alice@prod-1.example"));
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                assert_false(key_name_valid(bad[i]));
}

static void write_file(const char *path, const char *text, mode_t mode)
{
        FILE *f = fopen(path, "w");

        assert_non_null(f);
        (void)fputs(text, f);
        (void)fclose(f);
        assert_int_equal(chmod(path, mode), 0);
}

TEST(test_key_files)
{
        char directory[] = "/tmp/hw-keys-XXXXXX", path[64];
        struct key_pair made, read;
        struct error error;
        struct stat st;

        assert_non_null(mkdtemp(directory));
        (void)snprintf(path, sizeof(path), "%s/a.key", directory);
        assert_true(key_pair_new(&made, "a", &error));
        assert_true(key_pair_write(&made, path, &error));
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_true(key_pair_read(&read, path, &error));
        assert_string_equal(read.name, "a");
        assert_memory_equal(read.public, made.public, KEY_BYTES);
        assert_memory_equal(read.secret, made.secret, KEY_BYTES);

        assert_int_equal(chmod(path, 0640), 0);
        assert_false(key_pair_read(&read, path, &error));
        assert_non_null(strstr(error.text, "chmod 600"));
        static const char *const bad[] = { "",
                                           "name: a\n",
                                           "name: a\nsecret: " A "\npublic: " B "\n",
                                           "name: a\nsecret: 12\n",
                                           "name: a b\nsecret: " A "\n",
                                           "secret: " A "\n" };
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                write_file(path, bad[i], 0600);
                assert_false(key_pair_read(&read, path, &error));
                assert_null(strstr(error.text, "0011")); /* nothing of a secret */
        }
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(directory), 0);
}

TEST(test_authorized)
{
        struct authorized a;

        said[0] = '\0';
        assert_true(authorized_parse(&a, "f", "", &says));
        assert_int_equal(a.n, 0);
        authorized_done(&a);
        assert_true(authorized_parse(&a, "f",
                                     "# who\n- { name: alice, role: control, public: " A
                                     " }\n- name: bob@h\n  role: read\n"
                                     "  public: \"" B "\"\n",
                                     &says));
        assert_int_equal(a.n, 2);
        assert_int_equal(authorized_by_name(&a, "alice")->role, ROLE_CONTROL);
        assert_int_equal(authorized_by_name(&a, "bob@h")->line, 2);
        assert_ptr_equal(authorized_by_key(&a, a.keys[1].public), &a.keys[1]);
        assert_null(authorized_by_name(&a, "eve"));
        assert_string_equal(said, "");
        authorized_done(&a);
}

TEST(test_mistakes_have_a_place)
{
        static const struct {
                const char *text, *line;
        } wrong[] = {
                { "alice: read\n", "f:1:1: " },
                { "- { name: alice, role: read }\n", "f:1:3: the key's public is missing" },
                { "- { name: alice, role: root, public: " A " }\n", "f:1:24: unknown role 'root'" },
                { "- { name: alice, role: read, public: 12 }\n", "f:1:38: expected a public key" },
                { "- { name: alice, rolle: read, public: " A " }\n", "f:1:18: " },
                { "- { name: a, role: read, public: " A " }\n- { name: a, role: read, public: " B " }\n",
                  "f:2:11: 'a' already has a key" },
                { "- { name: a, role: read, public: " A " }\n- { name: b, role: read, public: " A " }\n",
                  "f:2:34: this is already the key of 'a'" },
                { "- { name: a b, role: read, public: " A " }\n", "f:1:11: 'a b' cannot be" },
                { "- [", "f:" },
        };
        struct authorized a;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                said[0] = '\0';
                assert_false(authorized_parse(&a, "f", wrong[i].text, &says));
                assert_int_equal(a.n, 0);
                if (strncmp(said, wrong[i].line, strlen(wrong[i].line)) != 0)
                        fail_msg("expected '%s', found '%s'", wrong[i].line, said);
        }
}

TEST(test_too_many)
{
        char *text = malloc((AUTHORIZED_MAX + 1) * 128);
        struct authorized a;
        size_t n = 0;

        assert_non_null(text);
        for (unsigned i = 0; i <= AUTHORIZED_MAX; i++) {
                if (i == AUTHORIZED_MAX) {
                        assert_true(authorized_parse(&a, "f", text, &says));
                        assert_int_equal(a.n, AUTHORIZED_MAX);
                        authorized_done(&a);
                }
                n += (size_t)snprintf(text + n, 128, "- { name: k%u, role: read, public: \"%08x%s\" }\n", i, i, &A[8]);
        }
        said[0] = '\0';
        assert_false(authorized_parse(&a, "f", text, &says));
        assert_non_null(strstr(said, "f:1001:3: more than 1000 keys"));
        free(text);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of stripped programs: is there again, is never another's or damaged, and is bounded. */
#include "tests/unit/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/launch/program/hidden_symbols.h"
#include "tests/unit/thin.h"

#define TEXT "startEventLogging 0x4711 0 2\nRtsFlags 0x5a00 400 17\n"
#define KEY  UINT64_C(0x123456789abcdef0)

static char home[64], place[256], file[320];

static int set_up(void **state)
{
        (void)snprintf(home, sizeof(home), "/tmp/hw-symbols-XXXXXX");
        if (!mkdtemp(home) || setenv("HOME", home, 1) != 0 || unsetenv("XDG_CACHE_HOME") != 0)
                return -1;
        (void)snprintf(place, sizeof(place), "%s/.cache/heapwatch/symbols", home);
        (void)snprintf(file, sizeof(file), "%s/%016" PRIx64, place, KEY);
        return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        return remove(path);
}

static int tear_down(void **state)
{
        return nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void has(uint64_t key, const char *expected)
{
        char *text = symbol_cache_read(key);

        if (expected)
                assert_string_equal(text, expected);
        else
                assert_null(text);
        free(text);
}

TEST_WITH(answers_are_kept, set_up, tear_down)
{
        struct stat st;

        has(KEY, NULL);
        symbol_cache_write(KEY, TEXT);
        has(KEY, TEXT);
        has(KEY + 1, NULL);
        symbol_cache_write(KEY + 1, ""); /* nothing was found */
        has(KEY + 1, "");
        assert_int_equal(stat(file, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_int_equal(stat(place, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        symbol_cache_write(KEY, "another 0x1 0 1\n");
        has(KEY, "another 0x1 0 1\n");
}

TEST_WITH(another_keys_file_is_ignored, set_up, tear_down)
{
        char other[320];

        symbol_cache_write(KEY, TEXT);
        (void)snprintf(other, sizeof(other), "%s/%016" PRIx64, place, KEY + 2);
        assert_int_equal(rename(file, other), 0);
        has(KEY, NULL);
        has(KEY + 2, NULL);
}

static void put_byte(int fd, size_t at, char byte)
{
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

TEST_WITH(what_is_damaged_is_ignored, set_up, tear_down)
{
        const size_t step = thin(1, "changes of a byte"), n = 17 + strlen(TEXT);
        char bytes[512];

        symbol_cache_write(KEY, TEXT);
        const int fd = open(file, O_RDWR);
        assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), n);
        for (size_t i = 0; i < n; i++) {
                for (unsigned change = 1; change < 256; change += (unsigned)step) {
                        put_byte(fd, i, (char)(bytes[i] ^ (int)change));
                        has(KEY, NULL);
                }
                put_byte(fd, i, bytes[i]);
        }
        has(KEY, TEXT);
        put_byte(fd, n, 'x');
        has(KEY, NULL);
        put_byte(fd, 1 << 20, 'x');
        has(KEY, NULL);
        for (size_t i = n; i-- > 0;) {
                assert_int_equal(ftruncate(fd, (off_t)i), 0);
                has(KEY, NULL);
        }
        assert_int_equal(close(fd), 0);
        symbol_cache_write(KEY, TEXT);
        has(KEY, TEXT);
}

TEST_WITH(the_oldest_is_dropped, set_up, tear_down)
{
        char of_key[320];
        size_t n = 0;

        for (uint64_t key = 1; key <= SYMBOL_CACHE_MOST + 3; key++) {
                symbol_cache_write(key, TEXT);
                (void)snprintf(of_key, sizeof(of_key), "%s/%016" PRIx64, place, key);
                assert_int_equal(utimensat(AT_FDCWD, of_key, (struct timespec[]){ { 1, 0 }, { (time_t)key, 0 } }, 0),
                                 0);
        }
        DIR *d = opendir(place);
        assert_non_null(d);
        for (const struct dirent *e; (e = readdir(d)) != NULL;)
                n += e->d_name[0] != '.';
        (void)closedir(d);
        assert_int_equal(n, SYMBOL_CACHE_MOST);
        has(3, NULL);
        has(4, TEXT);
        has(SYMBOL_CACHE_MOST + 3, TEXT);
}

TEST_WITH(without_a_place_nothing_is_kept, set_up, tear_down)
{
        static const char *const homes[] = { "", "relative", "/proc/none", "/dev/null" };
        char *large = calloc(1, 1 << 16);

        assert_non_null(large);
        memset(large, 'x', (1 << 16) - 1);
        symbol_cache_write(KEY, large); /* of nothing that we asked for */
        has(KEY, NULL);
        free(large);
        symbol_cache_write(KEY, TEXT);
        assert_int_equal(chmod(place, 0755), 0); /* others could enter it */
        has(KEY, NULL);
        assert_int_equal(chmod(place, 0700), 0);
        has(KEY, TEXT);
        for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
                assert_int_equal(setenv("HOME", homes[i], 1), 0);
                symbol_cache_write(KEY, TEXT);
                has(KEY, NULL);
        }
        assert_int_equal(unsetenv("HOME"), 0);
        symbol_cache_write(KEY, TEXT);
        has(KEY, NULL);
        assert_int_equal(setenv("XDG_CACHE_HOME", home, 1), 0);
        symbol_cache_write(KEY, TEXT);
        has(KEY, TEXT);
}

TEST_WITH(what_another_user_owns_is_ignored, set_up, tear_down)
{
        if (geteuid() != 0)
                skip();
        symbol_cache_write(KEY, TEXT);
        assert_int_equal(chown(file, 65534, 65534), 0);
        has(KEY, NULL);
        assert_int_equal(chown(file, 0, 0), 0);
        has(KEY, TEXT);
        assert_int_equal(chown(home, 65534, 65534), 0); /* root, with the environment of another user */
        has(KEY, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.h - a fuzzer's findings, replayed to its target. The file that
 * includes this one includes the target first; a finding that comes back ends
 * the program, and its name is the last that was printed.
 */
#pragma once

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void replay_file(const char *path)
{
        static uint8_t bytes[1u << 20];
        FILE *f = fopen(path, "rb");

        assert_non_null(f);
        size_t size = fread(bytes, 1, sizeof(bytes), f);
        fclose(f);
        uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees the end */
        assert_non_null(exact);
        memcpy(exact, bytes, size);
        print_message("%s\n", path);
        (void)LLVMFuzzerTestOneInput(exact, size);
        free(exact);
}

/* All files of tests/data/fuzz/NAME, of which there is at least one. */
static void replay(const char *name)
{
        char dir[128], path[512];
        const struct dirent *entry;
        unsigned n = 0;

        snprintf(dir, sizeof(dir), "tests/data/fuzz/%s", name);
        DIR *d = opendir(dir);
        assert_non_null(d);
        while ((entry = readdir(d))) {
                if (entry->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
                replay_file(path);
                n++;
        }
        closedir(d);
        assert_true(n > 0);
}
